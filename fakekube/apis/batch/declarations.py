"""The resources of batch. Upstream: pkg/registry/batch/rest/storage_batch.go."""

from fakekube.apis import late
from fakekube.apis.declaration import ALL, ALWAYS, SPEC_TEMPLATE, STATUS, WHOLE_UNNAMED, Group, Resource
from fakekube.apis.selecting import number, selectable

GROUP = Group(
    "batch",
    17400,
    (
        Resource(
            plural="cronjobs",
            kind="CronJob",
            pod_template=("spec", "jobTemplate", "spec", "template"),
            strategy=late.strategy("batch.cronjob"),
            printer=late.printer("batch.printers:CRON_JOB"),
            short_names=("cj",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(STATUS,),
        ),
        Resource(
            plural="jobs",
            kind="Job",
            orphan_warning=(
                "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
                "set propagationPolicy=Orphan to suppress this warning"
            ),
            pod_template=SPEC_TEMPLATE,
            metadata_checks=WHOLE_UNNAMED,
            strategy=late.strategy("batch.job"),
            selectable=selectable(
                unknown='field label "{label}" not supported for Job',
                special={"status.successful": number("status", "succeeded")},
            ),
            printer=late.printer("batch.printers:JOB"),
            categories=ALL,
            generation_since=ALWAYS,
            orphan_by_default=True,
            subresources=(STATUS,),
        ),
    ),
)
