"""The namespace controller: a namespace that is deleted loses its content, pods first, and then
itself.

Read ``controller.py`` first. Upstream: pkg/controller/namespace.
"""

from fakekube.apimachinery import meta
from fakekube.client.resources import NAMESPACES
from fakekube_controllers import kube_controller

component = (
    kube_controller("namespace", "namespace-controller")
    .starts_with((NAMESPACES, meta.is_deleting))
    .complete("fakekube_controllers.namespace.controller:NamespaceReconciler")
)
