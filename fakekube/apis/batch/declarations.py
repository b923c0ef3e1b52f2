"""The resources of batch. Upstream: pkg/registry/batch/rest/storage_batch.go."""

from fakekube.apis import selecting
from fakekube.apis.batch import cronjob, job, printers
from fakekube.apis.declaration import ALL, ALWAYS, STATUS, Group, Resource

GROUP = Group(
    "batch",
    17400,
    (
        Resource(
            plural="cronjobs",
            kind="CronJob",
            strategy=cronjob.STRATEGY,
            printer=printers.CRON_JOB,
            short_names=("cj",),
            categories=ALL,
            generation_since=ALWAYS,
            subresources=(STATUS,),
        ),
        Resource(
            plural="jobs",
            kind="Job",
            strategy=job.STRATEGY,
            selectable=selecting.JOB,
            printer=printers.JOB,
            categories=ALL,
            generation_since=ALWAYS,
            orphan_by_default=True,
            subresources=(STATUS,),
        ),
    ),
)
