"""The namespace controller: a namespace that is deleted loses its content, pods first, and then itself.

Read ``controller.py`` first. Upstream: pkg/controller/namespace.
"""

from functools import partial

from fakekube.apimachinery import meta
from fakekube.client.resources import NAMESPACES
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "namespace", "fakekube_controllers.namespace.controller:NamespaceController", (NAMESPACES, meta.is_deleting))
