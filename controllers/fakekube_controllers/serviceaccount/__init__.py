"""What every namespace is given: the service account ``default`` and the cluster's CA in a ConfigMap.

Read ``controller.py`` first. Upstream: pkg/controller/serviceaccount, pkg/controller/certificates/rootcacertpublisher.
"""

from functools import partial

from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS
from fakekube.runtime.dormant import Dormant

component = partial(
    Dormant, "serviceaccount", "fakekube_controllers.serviceaccount.controller:ServiceAccountController",
    NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS)  # a new cluster is found with its first namespaces furnished
