"""Who a client is. Upstream: apiserver/pkg/authentication/serviceaccount."""

from fakekube.apimachinery.http import UserInfo


def service_account(namespace: str, name: str, uid: str = "") -> UserInfo:
    """A service account as the API server sees it."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return UserInfo(f"system:serviceaccount:{namespace}:{name}", groups, uid)


def controller_account(name: str) -> UserInfo:
    """What a controller of kube-controller-manager runs as: ``job-controller`` in kube-system."""
    return service_account("kube-system", name)


def named(name: str, groups: tuple[str, ...] = ()) -> UserInfo:
    """Somebody by name; a service account's name brings its groups."""
    kind, _, rest = name.partition("system:serviceaccount:")
    namespace, colon, account = rest.partition(":")
    if kind or not colon:
        return UserInfo(name, groups)
    own = service_account(namespace, account)
    return own._replace(groups=tuple(dict.fromkeys((*own.groups[:2], *groups, *own.groups[2:]))))


def component_user(name: str) -> UserInfo:
    """A component of the control plane that has no service account: ``kube-scheduler``."""
    return UserInfo(f"system:{name}", ("system:authenticated",))


def admin(name: str = "kubernetes-admin") -> UserInfo:
    """An administrator, who may do everything."""
    return UserInfo(name, ("system:masters", "system:authenticated"))


def node(name: str, *, privileged: bool = False) -> UserInfo:
    """A kubelet; a ``privileged`` one may do everything."""
    groups = ("system:nodes", *(("system:masters",) if privileged else ()), "system:authenticated")
    return UserInfo(f"system:node:{name}", groups)
