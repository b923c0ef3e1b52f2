"""The resources of the core group.

Upstream: pkg/registry/core/rest/storage_core.go and the strategies beside it.
"""

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis import late
from fakekube.apis.core.selectable import EVENT, POD
from fakekube.apis.declaration import (
    ALL,
    ALWAYS,
    CREATE,
    PROXY,
    SCALE,
    SPEC_TEMPLATE,
    STATUS,
    WHOLE,
    WHOLE_AND_UPDATE,
    WHOLE_UNNAMED,
    Deprecated,
    Group,
    Resource,
    Served,
    Sub,
)
from fakekube.apis.selecting import flag, number, selectable

CONNECT = ("create", "get")


def _v1(kind: str) -> GroupVersionKind:
    return GroupVersionKind("", "v1", kind)


PODS = Resource(
    plural="pods",
    kind="Pod",
    reset_fields={
        "": ("status",), "status": ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
    },
    metadata_checks=WHOLE_AND_UPDATE,
    strategy=late.strategy("core.pod"),
    printer=late.printer("core.pod_printer:PRINTER"),
    selectable=POD,
    short_names=("po",),
    categories=ALL,
    generation_since=33,
    delete_returns_object=True,
    subresources=(
        Sub("attach", CONNECT, _v1("PodAttachOptions")),
        Sub("binding", CREATE, _v1("Binding")),
        Sub("ephemeralcontainers", table=False, strategy=late.subresource("core.pod:ephemeralcontainers")),
        Sub("eviction", CREATE, GroupVersionKind("policy", "v1", "Eviction")),
        Sub("exec", CONNECT, _v1("PodExecOptions")),
        Sub("log", ("get",)),
        Sub("portforward", CONNECT, _v1("PodPortForwardOptions")),
        Sub("proxy", PROXY, _v1("PodProxyOptions")),
        Sub(
            "resize", since=32, gate="InPlacePodVerticalScaling", table=False,
            strategy=late.subresource("core.pod:resize"),
        ),
        STATUS,
    ),
)

NODES = Resource(
    plural="nodes",
    kind="Node",
    storage_path="minions",
    metadata_checks=WHOLE_AND_UPDATE,
    strategy=late.strategy("core.node"),
    selectable=selectable(special={"spec.unschedulable": flag("spec", "unschedulable")}),
    printer=late.printer("core.printers:NODE"),
    namespaced=False,
    short_names=("no",),
    subresources=(Sub("proxy", PROXY, _v1("NodeProxyOptions")), STATUS),
)

NAMESPACES = Resource(
    plural="namespaces",
    kind="Namespace",
    reset_fields={"": ("status",), "status": ("spec",), "finalize": ("status",)},
    metadata_checks=WHOLE_AND_UPDATE,
    strategy=late.strategy("core.namespace"),
    selectable=selectable("status.phase"),
    printer=late.columns(("Status", "status.phase")),
    namespaced=False,
    short_names=("ns",),
    name_rule="label",
    delete_returns_object=True,
    verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
    subresources=(Sub("finalize", ("update",), strategy=late.subresource("core.namespace:finalize")), STATUS),
)

SERVICES = Resource(
    plural="services",
    kind="Service",
    storage_path="services/specs",
    metadata_checks=WHOLE_UNNAMED,
    strategy=late.strategy("core.service"),
    selectable=selectable("spec.clusterIP", "spec.type"),
    printer=late.printer("core.printers:SERVICE"),
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
    metadata_checks=WHOLE_AND_UPDATE,
    strategy=late.strategy("core.serviceaccount"),
    printer=late.columns(),
    short_names=("sa",),
    delete_returns_object=True,
    subresources=(Sub("token", CREATE, GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")),),
)

EVENTS = Resource(
    plural="events",
    kind="Event",
    strategy=late.strategy("core.event"),
    selectable=EVENT,
    printer=late.printer("core.printers:EVENT"),
    short_names=("ev",),
    create_on_update=True,
    collects_dependents=False,
    name_rule="path_segment",
)

GROUP = Group(
    "",
    18000,
    (
        Resource(plural="bindings", kind="Binding", verbs=CREATE, table=False),
        Resource(
            plural="componentstatuses",
            kind="ComponentStatus",
            versions=(Served("v1", deprecated=Deprecated(19)),),
            printer=late.printer("core.printers:COMPONENT_STATUS"),
            namespaced=False,
            verbs=("get", "list"),
            short_names=("cs",),
        ),
        Resource(
            plural="configmaps",
            kind="ConfigMap",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("core.configmap"),
            printer=late.printer("core.printers:CONFIG_MAP"),
            short_names=("cm",),
        ),
        Resource(
            plural="endpoints",
            kind="Endpoints",
            versions=(Served("v1", deprecated=Deprecated(33, instead="discovery.k8s.io/v1 EndpointSlice")),),
            storage_path="services/endpoints",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("core.endpoints"),
            printer=late.printer("core.printers:ENDPOINTS"),
            short_names=("ep",),
            create_on_update=True,
        ),
        EVENTS,
        Resource(
            plural="limitranges",
            kind="LimitRange",
            metadata_checks=WHOLE,
            strategy=late.strategy("core.limitrange"),
            short_names=("limits",),
            create_on_update=True,
        ),
        NAMESPACES,
        NODES,
        Resource(
            plural="persistentvolumeclaims",
            kind="PersistentVolumeClaim",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("core.persistentvolumeclaim"),
            printer=late.printer("core.printers:PERSISTENT_VOLUME_CLAIM"),
            short_names=("pvc",),
            delete_returns_object=True,
            subresources=(STATUS,),
        ),
        Resource(
            plural="persistentvolumes",
            kind="PersistentVolume",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("core.persistentvolume"),
            printer=late.printer("core.printers:PERSISTENT_VOLUME"),
            namespaced=False,
            short_names=("pv",),
            delete_returns_object=True,
            subresources=(STATUS,),
        ),
        PODS,
        Resource(
            plural="podtemplates",
            kind="PodTemplate",
            pod_template=("template",),
            strategy=late.strategy("core.podtemplate"),
            printer=late.printer("core.printers:POD_TEMPLATE"),
            delete_returns_object=True,
            generation_since=ALWAYS,
        ),
        Resource(
            plural="replicationcontrollers",
            kind="ReplicationController",
            selector_is_map=True,
            pod_template=SPEC_TEMPLATE,
            storage_path="controllers",
            strategy=late.strategy("core.replicationcontroller"),
            selectable=selectable(special={"status.replicas": number("status", "replicas")}),
            printer=late.printer("core.printers:REPLICATION_CONTROLLER"),
            short_names=("rc",),
            categories=ALL,
            generation_since=ALWAYS,
            orphan_by_default=True,
            subresources=(SCALE, STATUS),
        ),
        Resource(
            plural="resourcequotas",
            kind="ResourceQuota",
            strategy=late.strategy("core.resourcequota"),
            printer=late.printer("core.printers:RESOURCE_QUOTA"),
            short_names=("quota",),
            delete_returns_object=True,
            subresources=(STATUS,),
        ),
        Resource(
            plural="secrets",
            kind="Secret",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("core.secret"),
            selectable=selectable("type"),
            printer=late.printer("core.printers:SECRET"),
        ),
        SERVICE_ACCOUNTS,
        SERVICES,
    ),
    version_priorities={"v1": 1},
)
