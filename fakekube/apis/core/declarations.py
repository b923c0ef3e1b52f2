"""The resources of the core group. Upstream: pkg/registry/core/rest/storage_core.go and the strategies beside it."""

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis.declaration import ALL, ALWAYS, CREATE, PROXY, SCALE, STATUS, Group, Resource, Sub

CONNECT = ("create", "get")


def _v1(kind: str) -> GroupVersionKind:
    return GroupVersionKind("", "v1", kind)


PODS = Resource(
    plural="pods", kind="Pod", short_names=("po",), categories=ALL, generation_since=33, delete_returns_object=True,
    subresources=(
        Sub("attach", CONNECT, _v1("PodAttachOptions")),
        Sub("binding", CREATE, _v1("Binding")),
        Sub("ephemeralcontainers"),
        Sub("eviction", CREATE, GroupVersionKind("policy", "v1", "Eviction")),
        Sub("exec", CONNECT, _v1("PodExecOptions")),
        Sub("log", ("get",)),
        Sub("portforward", CONNECT, _v1("PodPortForwardOptions")),
        Sub("proxy", PROXY, _v1("PodProxyOptions")),
        Sub("resize", since=32, gate="InPlacePodVerticalScaling"),
        STATUS,
    ),
)  # fmt: skip

NODES = Resource(
    plural="nodes", kind="Node", namespaced=False, short_names=("no",),
    subresources=(Sub("proxy", PROXY, _v1("NodeProxyOptions")), STATUS),
)  # fmt: skip

NAMESPACES = Resource(
    plural="namespaces", kind="Namespace", namespaced=False, short_names=("ns",), name_rule="label",
    delete_returns_object=True,
    verbs=("create", "delete", "get", "list", "patch", "update", "watch"), subresources=(Sub("finalize",
    ("update",)), STATUS),
)  # fmt: skip

SERVICES = Resource(
    plural="services", kind="Service", short_names=("svc",), categories=ALL, delete_returns_object=True,
    create_on_update=True,
    name_rule="label1035", relaxed_name=("RelaxedServiceNameValidation", "label"),
    subresources=(Sub("proxy", PROXY, _v1("ServiceProxyOptions")), STATUS),
)  # fmt: skip

SERVICE_ACCOUNTS = Resource(
    plural="serviceaccounts", kind="ServiceAccount", short_names=("sa",), delete_returns_object=True,
    subresources=(Sub("token", CREATE, GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")),),
)  # fmt: skip

EVENTS = Resource(plural="events", kind="Event", short_names=("ev",), create_on_update=True)

GROUP = Group("", 18000, (
    Resource(plural="bindings", kind="Binding", verbs=CREATE, table=False),
    Resource(
        plural="componentstatuses", kind="ComponentStatus", namespaced=False,
        verbs=("get", "list"), short_names=("cs",),
    ),
    Resource(plural="configmaps", kind="ConfigMap", short_names=("cm",)),
    Resource(plural="endpoints", kind="Endpoints", short_names=("ep",), create_on_update=True),
    EVENTS,
    Resource(plural="limitranges", kind="LimitRange", short_names=("limits",), create_on_update=True),
    NAMESPACES,
    NODES,
    Resource(
        plural="persistentvolumeclaims", kind="PersistentVolumeClaim", short_names=("pvc",),
        delete_returns_object=True,
        subresources=(STATUS,),
    ),
    Resource(
        plural="persistentvolumes", kind="PersistentVolume", namespaced=False, short_names=("pv",),
        delete_returns_object=True,
        subresources=(STATUS,),
    ),
    PODS,
    Resource(plural="podtemplates", kind="PodTemplate", delete_returns_object=True, generation_since=ALWAYS),
    Resource(
        plural="replicationcontrollers", kind="ReplicationController", short_names=("rc",), categories=ALL,
        generation_since=ALWAYS, orphan_by_default=True, subresources=(SCALE, STATUS),
    ),
    Resource(
        plural="resourcequotas", kind="ResourceQuota", short_names=("quota",), delete_returns_object=True,
        subresources=(STATUS,),
    ),
    Resource(plural="secrets", kind="Secret"),
    SERVICE_ACCOUNTS,
    SERVICES,
))  # fmt: skip
