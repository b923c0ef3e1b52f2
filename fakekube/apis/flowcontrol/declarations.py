"""The resources of flowcontrol.apiserver.k8s.io.

Upstream: pkg/registry/flowcontrol/rest/storage_flowcontrol.go.
"""

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, STATUS, WHOLE, Deprecated, Group, Resource, Served

V1BETA2 = Deprecated(26, 29, "flowcontrol.apiserver.k8s.io/v1beta3")
VERSIONS = (
    Served("v1", since=29),
    Served("v1beta3", since=26, until=31, on=True, deprecated=Deprecated(29, 32, "flowcontrol.apiserver.k8s.io/v1")),
    Served(
        "v1beta2",
        since=26,
        until=28,
        on=True,
        to_stored=late.convert("flowcontrol.conversion:to_nominal"),
        from_stored=late.convert("flowcontrol.conversion:from_nominal"),
        deprecated=V1BETA2,
    ),
    Served("v1beta2", until=25, on=True, deprecated=V1BETA2),
    Served("v1beta1", until=25, on=True, deprecated=Deprecated(23, 26, "flowcontrol.apiserver.k8s.io/v1beta3")),
)

GROUP = Group(
    "flowcontrol.apiserver.k8s.io",
    16100,
    (
        Resource(
            plural="flowschemas",
            kind="FlowSchema",
            status_keeps_metadata=True,
            metadata_checks=WHOLE,
            strategy=late.strategy("flowcontrol.flowschema"),
            printer=late.printer("flowcontrol.printers:FLOW_SCHEMA"),
            namespaced=False,
            generation_since=ALWAYS,
            subresources=(STATUS,),
            versions=VERSIONS,
        ),
        Resource(
            plural="prioritylevelconfigurations",
            kind="PriorityLevelConfiguration",
            status_keeps_metadata=True,
            metadata_checks=WHOLE,
            strategy=late.strategy("flowcontrol.prioritylevelconfiguration"),
            printer=late.printer("flowcontrol.printers:PRIORITY_LEVEL_CONFIGURATION"),
            namespaced=False,
            generation_since=ALWAYS,
            subresources=(STATUS,),
            versions=VERSIONS,
        ),
    ),
    version_priorities={"v1": 21, "v1beta3": 18, "v1beta2": 15, "v1beta1": 12},
)
