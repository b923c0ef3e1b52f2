"""The resources of flowcontrol.apiserver.k8s.io. Upstream: pkg/registry/flowcontrol/rest/storage_flowcontrol.go."""

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource, Served

VERSIONS = (
    Served("v1", since=29),
    Served("v1beta3", since=26, until=31, on=True),
    Served(
        "v1beta2",
        since=26,
        until=28,
        on=True,
        to_stored=late.convert("flowcontrol.conversion:to_nominal"),
        from_stored=late.convert("flowcontrol.conversion:from_nominal"),
    ),
    Served("v1beta2", until=25, on=True),
    Served("v1beta1", until=25, on=True),
)

GROUP = Group(
    "flowcontrol.apiserver.k8s.io",
    16100,
    (
        Resource(
            plural="flowschemas",
            kind="FlowSchema",
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
            strategy=late.strategy("flowcontrol.prioritylevelconfiguration"),
            printer=late.printer("flowcontrol.printers:PRIORITY_LEVEL_CONFIGURATION"),
            namespaced=False,
            generation_since=ALWAYS,
            subresources=(STATUS,),
            versions=VERSIONS,
        ),
    ),
)
