"""The resources of flowcontrol.apiserver.k8s.io. Upstream: pkg/registry/flowcontrol/rest/storage_flowcontrol.go."""

from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource, Served

VERSIONS = (
    Served("v1", since=29),
    Served("v1beta3", since=26, until=31, on=True),
    Served("v1beta2", until=28, on=True),
    Served("v1beta1", until=25, on=True),
)

GROUP = Group("flowcontrol.apiserver.k8s.io", 16100, (
    Resource(
        plural="flowschemas", kind="FlowSchema", namespaced=False, generation_since=ALWAYS, subresources=(STATUS,),
        versions=VERSIONS,
    ),
    Resource(
        plural="prioritylevelconfigurations", kind="PriorityLevelConfiguration", namespaced=False,
        generation_since=ALWAYS,
        subresources=(STATUS,), versions=VERSIONS,
    ),
))  # fmt: skip
