"""The resources of flowcontrol.apiserver.k8s.io. Upstream: pkg/registry/flowcontrol/rest/storage_flowcontrol.go."""

from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource, Served
from fakekube.apis.flowcontrol import flowschema, printers, prioritylevelconfiguration
from fakekube.apis.flowcontrol.conversion import from_nominal, to_nominal

VERSIONS = (
    Served("v1", since=29),
    Served("v1beta3", since=26, until=31, on=True),
    Served("v1beta2", since=26, until=28, on=True, to_stored=to_nominal, from_stored=from_nominal),
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
            strategy=flowschema.STRATEGY,
            printer=printers.FLOW_SCHEMA,
            namespaced=False,
            generation_since=ALWAYS,
            subresources=(STATUS,),
            versions=VERSIONS,
        ),
        Resource(
            plural="prioritylevelconfigurations",
            kind="PriorityLevelConfiguration",
            strategy=prioritylevelconfiguration.STRATEGY,
            printer=printers.PRIORITY_LEVEL_CONFIGURATION,
            namespaced=False,
            generation_since=ALWAYS,
            subresources=(STATUS,),
            versions=VERSIONS,
        ),
    ),
)
