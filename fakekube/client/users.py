"""Who a client is. Upstream: apiserver/pkg/authentication/serviceaccount."""

from fakekube.apimachinery.http import UserInfo


def service_account(namespace: str, name: str, uid: str = "") -> UserInfo:
    """A service account as the API server sees it."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return UserInfo(f"system:serviceaccount:{namespace}:{name}", groups, uid)


def controller_account(name: str) -> UserInfo:
    """What a controller of kube-controller-manager runs as: ``job-controller`` in kube-system."""
    return service_account("kube-system", name)


def admin() -> UserInfo:
    """The administrator, who may do everything."""
    return UserInfo("kubernetes-admin", ("system:masters", "system:authenticated"))


def node(name: str) -> UserInfo:
    """A kubelet."""
    return UserInfo(f"system:node:{name}", ("system:nodes", "system:authenticated"))
