"""The resources of apps. Upstream: pkg/registry/apps/rest/storage_apps.go."""

from fakekube.apis.declaration import ALL, ALWAYS, SCALE, STATUS, Group, Resource

GROUP = Group("apps", 17800, (
    Resource(plural="controllerrevisions", kind="ControllerRevision"),
    Resource(
        plural="daemonsets", kind="DaemonSet", short_names=("ds",), categories=ALL, generation_since=ALWAYS,
        subresources=(STATUS,),
    ),
    Resource(
        plural="deployments", kind="Deployment", short_names=("deploy",), categories=ALL, generation_since=ALWAYS,
        subresources=(SCALE, STATUS),
    ),
    Resource(
        plural="replicasets", kind="ReplicaSet", short_names=("rs",), categories=ALL, generation_since=ALWAYS,
        subresources=(SCALE, STATUS),
    ),
    Resource(
        plural="statefulsets", kind="StatefulSet", short_names=("sts",), categories=ALL, generation_since=ALWAYS,
        name_rule="label", subresources=(SCALE, STATUS),
    ),
))  # fmt: skip
