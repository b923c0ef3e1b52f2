"""The resources of apps. Upstream: pkg/registry/apps/rest/storage_apps.go."""

from fakekube.apis import late
from fakekube.apis.declaration import ALL, ALWAYS, SCALE, SPEC_TEMPLATE, STATUS, WHOLE_AND_UPDATE, WHOLE_UNNAMED, Group, Resource

GROUP = Group(
    "apps",
    17800,
    (
        Resource(
            plural="controllerrevisions",
            kind="ControllerRevision",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("apps.controllerrevision"),
            printer=late.printer("apps.printers:CONTROLLER_REVISION"),
        ),
        Resource(
            plural="daemonsets",
            kind="DaemonSet",
            pod_template=SPEC_TEMPLATE,
            strategy=late.strategy("apps.daemonset"),
            printer=late.printer("apps.printers:DAEMON_SET"),
            short_names=("ds",),
            field_annotation="deprecated.daemonset.template.generation",
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(STATUS,),
        ),
        Resource(
            plural="deployments",
            kind="Deployment",
            reset_fields={"": ("status",), "status": ("spec", "metadata.labels")},
            pod_template=SPEC_TEMPLATE,
            strategy=late.strategy("apps.deployment"),
            printer=late.printer("apps.printers:DEPLOYMENT"),
            short_names=("deploy",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(SCALE, STATUS),
        ),
        Resource(
            plural="replicasets",
            kind="ReplicaSet",
            pod_template=SPEC_TEMPLATE,
            strategy=late.strategy("apps.replicaset"),
            printer=late.printer("apps.printers:REPLICA_SET"),
            short_names=("rs",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(SCALE, STATUS),
        ),
        Resource(
            plural="statefulsets",
            kind="StatefulSet",
            pod_template=SPEC_TEMPLATE,
            metadata_checks=WHOLE_UNNAMED,
            strategy=late.strategy("apps.statefulset"),
            printer=late.printer("apps.printers:STATEFUL_SET"),
            short_names=("sts",),
            categories=ALL,
            generation_since=ALWAYS,
            name_rule="label",
            subresources=(SCALE, STATUS),
        ),
    ),
)
