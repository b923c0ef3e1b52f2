"""The resources of apps. Upstream: pkg/registry/apps/rest/storage_apps.go."""

from fakekube.apis.apps import printers
from fakekube.apis.declaration import ALL, ALWAYS, SCALE, STATUS, Group, Resource

GROUP = Group(
    "apps",
    17800,
    (
        Resource(
            plural="controllerrevisions",
            kind="ControllerRevision",
            printer=printers.CONTROLLER_REVISION,
        ),
        Resource(
            plural="daemonsets",
            kind="DaemonSet",
            printer=printers.DAEMON_SET,
            short_names=("ds",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(STATUS,),
        ),
        Resource(
            plural="deployments",
            kind="Deployment",
            printer=printers.DEPLOYMENT,
            short_names=("deploy",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(SCALE, STATUS),
        ),
        Resource(
            plural="replicasets",
            kind="ReplicaSet",
            printer=printers.REPLICA_SET,
            short_names=("rs",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(SCALE, STATUS),
        ),
        Resource(
            plural="statefulsets",
            kind="StatefulSet",
            printer=printers.STATEFUL_SET,
            short_names=("sts",),
            categories=ALL,
            generation_since=ALWAYS,
            name_rule="label",
            subresources=(SCALE, STATUS),
        ),
    ),
)
