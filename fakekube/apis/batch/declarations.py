"""The resources of batch. Upstream: pkg/registry/batch/rest/storage_batch.go."""

from fakekube.apis import late, selecting
from fakekube.apis.declaration import ALL, ALWAYS, STATUS, Group, Resource

GROUP = Group(
    "batch",
    17400,
    (
        Resource(
            plural="cronjobs",
            kind="CronJob",
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
            strategy=late.strategy("batch.job"),
            selectable=selecting.JOB,
            printer=late.printer("batch.printers:JOB"),
            categories=ALL,
            generation_since=ALWAYS,
            orphan_by_default=True,
            subresources=(STATUS,),
        ),
    ),
)
