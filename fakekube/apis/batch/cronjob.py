"""CronJobs: a schedule, and a template that gets a Pod's defaults and none of a Job's.

Upstream: pkg/registry/batch/cronjob/strategy.go, pkg/apis/batch/validation,
pkg/apis/batch/v1/defaults.go.
"""

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative_fields, required_one_of
from fakekube.apis.base import StatusStrategy
from fakekube.apis.batch.job import NAME_WARNING, default_job_spec_patterns, drop_disabled, job_spec_warnings
from fakekube.apis.batch.job_scheduling import declared_scheduling
from fakekube.apis.batch.job_validation import validate_job_spec
from fakekube.apis.core.podspec_defaults import default_template
from fakekube.apis.core.podspec_validation import template_options
from fakekube.apis.workloads import shown_selector
from fakekube.registry.strategy import WriteContext
from fakekube.util import cron

SUCCESSFUL_LIMIT, FAILED_LIMIT = 3, 1
MAX_NAME_LENGTH = 52
POLICIES = ("Allow", "Forbid", "Replace")
ZONE_PART = r"[A-Za-z._0-9+\-]{1,14}"
ZONE_TWICE = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
ZONE_HERE = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
ZONE_EXPLICIT = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
ZONE_WARNING = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


class CronJobStrategy(StatusStrategy):
    """The kind's own endpoint and its status."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        spec = obj.setdefault("spec", {})
        job = spec.setdefault("jobTemplate", {}).setdefault("spec", {})
        default_template(job.setdefault("template", {}))
        default_job_spec_patterns(job)
        if not spec.get("concurrencyPolicy"):
            spec["concurrencyPolicy"] = "Allow"
        spec.setdefault("suspend", False)
        spec.setdefault("successfulJobsHistoryLimit", SUCCESSFUL_LIMIT)
        spec.setdefault("failedJobsHistoryLimit", FAILED_LIMIT)

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        super().prepare_for_create(obj, ctx)
        drop_disabled(obj["spec"]["jobTemplate"]["spec"], None, ctx.cluster)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_update(obj, old, ctx)
        drop_disabled(obj["spec"]["jobTemplate"]["spec"], old["spec"]["jobTemplate"]["spec"], ctx.cluster)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        name = obj["metadata"].get("name", "")
        found = _spec(obj["spec"], None, ctx)
        if len(name) > MAX_NAME_LENGTH:
            what = f"must be no more than {MAX_NAME_LENGTH} characters"
            found.append(field_errors.invalid("metadata.name", name, what))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        if obj["spec"] == old["spec"]:
            return []
        return _spec(obj["spec"], old["spec"], ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        found: list[str] = []
        if old is None:
            texts = names.dns1123_label(obj["metadata"].get("name", ""))
            found += [NAME_WARNING.format(" ".join(texts))] if texts else []
        if old is None or obj["metadata"].get("generation") != old["metadata"].get("generation"):
            found += job_spec_warnings(obj["spec"]["jobTemplate"]["spec"], "spec.jobTemplate.spec")
        if old is not None and "TZ" in obj["spec"].get("schedule", ""):
            found.append(ZONE_WARNING)
        return found


def _spec(spec: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
    found: list[FieldError] = []
    schedule, zone = spec.get("schedule", ""), spec.get("timeZone")
    if not schedule:
        found.append(field_errors.declared(field_errors.required("spec.schedule")))
    else:
        found += _schedule(schedule, zone, may_have_zone=old is not None and "TZ" in old.get("schedule", ""))
    found += nonnegative_fields(spec, "spec", "startingDeadlineSeconds")
    if zone is not None and (old is None or old.get("timeZone") != zone):
        found += _time_zone(zone)
    found += required_one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy", ""), POLICIES)
    job, path = spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"
    found += validate_job_spec(job, path, template_options(ctx))
    if "selector" in job:
        shown = shown_selector(job["selector"])
        found.append(field_errors.invalid(f"{path}.selector", shown, "`selector` will be auto-generated"))
    if job.get("manualSelector"):
        found.append(field_errors.not_supported(f"{path}.manualSelector", True, ("nil", "false")))
    before = None if old is None else old["jobTemplate"]["spec"]
    found += declared_scheduling(job, before, f"{path}.scheduling")
    return found + nonnegative_fields(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def _schedule(text: str, zone: str | None, *, may_have_zone: bool) -> list[FieldError]:
    found: list[FieldError] = []
    try:
        cron.parse(text)
    except cron.CronError as error:
        found.append(field_errors.invalid("spec.schedule", text, str(error)))
    if "TZ" in text and not may_have_zone:
        found.append(field_errors.invalid("spec.schedule", text, ZONE_HERE))
    elif "TZ" in text and zone is not None:
        found.append(field_errors.invalid("spec.schedule", text, ZONE_TWICE))
    return found


def _time_zone(zone: str) -> list[FieldError]:
    path, unknown = "spec.timeZone", f"unknown time zone {zone}"
    if not zone:
        return [field_errors.invalid(path, zone, "timeZone must be nil or non-empty string")]
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not names.matches(ZONE_PART, part):
            return [field_errors.invalid(path, zone, unknown)]
    found: list[FieldError] = []
    if zone.lower() == "local":
        found.append(field_errors.invalid(path, zone, ZONE_EXPLICIT))
    if not cron.is_time_zone(zone):
        found.append(field_errors.invalid(path, zone, unknown))
    return found


STRATEGY = CronJobStrategy()
