"""What every namespace is given, the service account ``default`` and the cluster's CA in a ConfigMap; and tokens in Secrets.

Read ``controller.py`` first, then ``tokens.py``. Upstream: pkg/controller/serviceaccount,
pkg/controller/certificates/rootcacertpublisher.
"""

from functools import partial
from typing import Any

from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "serviceaccount", "fakekube_controllers.serviceaccount.controller:ServiceAccountController",
    NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS)  # a new cluster has the default objects of its first namespaces


def is_token(secret: dict[str, Any]) -> bool:
    """Whether a Secret is for a service account's token."""
    return bool(secret.get("type") == "kubernetes.io/service-account-token")


for_tokens = partial(
    LazyController, "serviceaccount-token", "fakekube_controllers.serviceaccount.tokens:TokenController", (SECRETS, is_token))
