"""The resources of the core group. Upstream: pkg/registry/core/rest/storage_core.go and the strategies beside it."""

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis import selecting
from fakekube.apis.core import (
    configmap,
    endpoints,
    event,
    limitrange,
    namespace,
    node,
    persistentvolume,
    persistentvolumeclaim,
    pod,
    pod_printer,
    podtemplate,
    printers,
    replicationcontroller,
    resourcequota,
    secret,
    service,
    serviceaccount,
)
from fakekube.apis.declaration import ALL, ALWAYS, CREATE, PROXY, SCALE, STATUS, Group, Resource, Sub

CONNECT = ("create", "get")


def _v1(kind: str) -> GroupVersionKind:
    return GroupVersionKind("", "v1", kind)


PODS = Resource(
    plural="pods",
    kind="Pod",
    strategy=pod.STRATEGY,
    printer=pod_printer.PRINTER,
    selectable=selecting.POD,
    short_names=("po",),
    categories=ALL,
    generation_since=33,
    delete_returns_object=True,
    subresources=(
        Sub("attach", CONNECT, _v1("PodAttachOptions")),
        Sub("binding", CREATE, _v1("Binding")),
        Sub("ephemeralcontainers", strategy=pod.SUBRESOURCES["ephemeralcontainers"]),
        Sub("eviction", CREATE, GroupVersionKind("policy", "v1", "Eviction")),
        Sub("exec", CONNECT, _v1("PodExecOptions")),
        Sub("log", ("get",)),
        Sub("portforward", CONNECT, _v1("PodPortForwardOptions")),
        Sub("proxy", PROXY, _v1("PodProxyOptions")),
        Sub("resize", since=32, gate="InPlacePodVerticalScaling", strategy=pod.SUBRESOURCES["resize"]),
        STATUS,
    ),
)

NODES = Resource(
    plural="nodes",
    kind="Node",
    strategy=node.STRATEGY,
    selectable=selecting.NODE,
    printer=printers.NODE,
    namespaced=False,
    short_names=("no",),
    subresources=(Sub("proxy", PROXY, _v1("NodeProxyOptions")), STATUS),
)

NAMESPACES = Resource(
    plural="namespaces",
    kind="Namespace",
    strategy=namespace.STRATEGY,
    selectable=selecting.NAMESPACE,
    printer=printers.NAMESPACE,
    namespaced=False,
    short_names=("ns",),
    name_rule="label",
    delete_returns_object=True,
    verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
    subresources=(Sub("finalize", ("update",), strategy=namespace.SUBRESOURCES["finalize"]), STATUS),
)

SERVICES = Resource(
    plural="services",
    kind="Service",
    strategy=service.STRATEGY,
    selectable=selecting.SERVICE,
    printer=printers.SERVICE,
    short_names=("svc",),
    categories=ALL,
    delete_returns_object=True,
    create_on_update=True,
    name_rule="label1035",
    relaxed_name=("RelaxedServiceNameValidation", "label"),
    subresources=(Sub("proxy", PROXY, _v1("ServiceProxyOptions")), STATUS),
)

SERVICE_ACCOUNTS = Resource(
    plural="serviceaccounts",
    kind="ServiceAccount",
    strategy=serviceaccount.STRATEGY,
    printer=printers.SERVICE_ACCOUNT,
    short_names=("sa",),
    delete_returns_object=True,
    subresources=(Sub("token", CREATE, GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")),),
)

EVENTS = Resource(
    plural="events",
    kind="Event",
    strategy=event.STRATEGY,
    selectable=selecting.EVENT,
    printer=printers.EVENT,
    short_names=("ev",),
    create_on_update=True,
)

GROUP = Group(
    "",
    18000,
    (
        Resource(plural="bindings", kind="Binding", verbs=CREATE, table=False),
        Resource(
            plural="componentstatuses",
            kind="ComponentStatus",
            printer=printers.COMPONENT_STATUS,
            namespaced=False,
            verbs=("get", "list"),
            short_names=("cs",),
        ),
        Resource(
            plural="configmaps",
            kind="ConfigMap",
            strategy=configmap.STRATEGY,
            printer=printers.CONFIG_MAP,
            short_names=("cm",),
        ),
        Resource(
            plural="endpoints",
            kind="Endpoints",
            strategy=endpoints.STRATEGY,
            printer=printers.ENDPOINTS,
            short_names=("ep",),
            create_on_update=True,
        ),
        EVENTS,
        Resource(
            plural="limitranges",
            kind="LimitRange",
            strategy=limitrange.STRATEGY,
            short_names=("limits",),
            create_on_update=True,
        ),
        NAMESPACES,
        NODES,
        Resource(
            plural="persistentvolumeclaims",
            kind="PersistentVolumeClaim",
            strategy=persistentvolumeclaim.STRATEGY,
            printer=printers.PERSISTENT_VOLUME_CLAIM,
            short_names=("pvc",),
            delete_returns_object=True,
            subresources=(STATUS,),
        ),
        Resource(
            plural="persistentvolumes",
            kind="PersistentVolume",
            strategy=persistentvolume.STRATEGY,
            printer=printers.PERSISTENT_VOLUME,
            namespaced=False,
            short_names=("pv",),
            delete_returns_object=True,
            subresources=(STATUS,),
        ),
        PODS,
        Resource(
            plural="podtemplates",
            kind="PodTemplate",
            strategy=podtemplate.STRATEGY,
            printer=printers.POD_TEMPLATE,
            delete_returns_object=True,
            generation_since=ALWAYS,
        ),
        Resource(
            plural="replicationcontrollers",
            kind="ReplicationController",
            strategy=replicationcontroller.STRATEGY,
            selectable=selecting.REPLICATION_CONTROLLER,
            printer=printers.REPLICATION_CONTROLLER,
            short_names=("rc",),
            categories=ALL,
            generation_since=ALWAYS,
            orphan_by_default=True,
            subresources=(SCALE, STATUS),
        ),
        Resource(
            plural="resourcequotas",
            kind="ResourceQuota",
            strategy=resourcequota.STRATEGY,
            printer=printers.RESOURCE_QUOTA,
            short_names=("quota",),
            delete_returns_object=True,
            subresources=(STATUS,),
        ),
        Resource(
            plural="secrets",
            kind="Secret",
            strategy=secret.STRATEGY,
            selectable=selecting.SECRET,
            printer=printers.SECRET,
        ),
        SERVICE_ACCOUNTS,
        SERVICES,
    ),
)
