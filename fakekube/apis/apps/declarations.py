"""The resources of apps. Upstream: pkg/registry/apps/rest/storage_apps.go."""

from fakekube.apis.apps import controllerrevision, daemonset, deployment, printers, replicaset, statefulset
from fakekube.apis.declaration import ALL, ALWAYS, SCALE, STATUS, Group, Resource

GROUP = Group(
    "apps",
    17800,
    (
        Resource(
            plural="controllerrevisions",
            kind="ControllerRevision",
            strategy=controllerrevision.STRATEGY,
            printer=printers.CONTROLLER_REVISION,
        ),
        Resource(
            plural="daemonsets",
            kind="DaemonSet",
            strategy=daemonset.STRATEGY,
            printer=printers.DAEMON_SET,
            short_names=("ds",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(STATUS,),
        ),
        Resource(
            plural="deployments",
            kind="Deployment",
            strategy=deployment.STRATEGY,
            printer=printers.DEPLOYMENT,
            short_names=("deploy",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(SCALE, STATUS),
        ),
        Resource(
            plural="replicasets",
            kind="ReplicaSet",
            strategy=replicaset.STRATEGY,
            printer=printers.REPLICA_SET,
            short_names=("rs",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(SCALE, STATUS),
        ),
        Resource(
            plural="statefulsets",
            kind="StatefulSet",
            strategy=statefulset.STRATEGY,
            printer=printers.STATEFUL_SET,
            short_names=("sts",),
            categories=ALL,
            generation_since=ALWAYS,
            name_rule="label",
            subresources=(SCALE, STATUS),
        ),
    ),
)
