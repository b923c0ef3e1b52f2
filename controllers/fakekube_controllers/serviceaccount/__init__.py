"""What every namespace is given, the service account ``default`` and the cluster's CA in a
ConfigMap; and tokens in Secrets.

Read ``controller.py`` first, then ``tokens.py``. Upstream: pkg/controller/serviceaccount,
pkg/controller/certificates/rootcacertpublisher.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS
from fakekube_controllers import kube_controller


def is_token(secret: Tree) -> bool:
    """Whether a Secret is for a service account's token."""
    return bool(secret.get("type") == "kubernetes.io/service-account-token")


component = (
    kube_controller("serviceaccount", "service-account-controller")
    # a new cluster has the default objects of its first namespaces
    .starts_with(NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS)
    .complete("fakekube_controllers.serviceaccount.controller:NamespaceDefaultsReconciler")
)
for_tokens = (
    kube_controller("serviceaccount-token")
    .starts_with((SECRETS, is_token))
    .with_options(queue="serviceaccount_tokens_secret")
    .complete("fakekube_controllers.serviceaccount.tokens:TokenReconciler")
)
