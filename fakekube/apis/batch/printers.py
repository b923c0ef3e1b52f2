"""How Jobs and CronJobs print."""

from fakekube.apimachinery.ages import human_duration, since, unix
from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import (
    AGE,
    NAME,
    NONE,
    UNSET,
    column,
    containers_of,
    count,
    dig,
    has_condition,
    selector_of,
    table,
    timed,
)  # fmt: skip


def _status(obj: Tree) -> str:
    for word in ("Complete", "Failed"):
        if has_condition(obj, word):
            return word
    if dig(obj, "metadata", "deletionTimestamp"):
        return "Terminating"
    for word in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if has_condition(obj, word):
            return word
    return "Running"


def _completions(obj: Tree) -> str:
    succeeded = dig(obj, "status", "succeeded") or 0
    completions = dig(obj, "spec", "completions")
    if completions is not None:
        return f"{succeeded}/{completions}"
    parallelism = dig(obj, "spec", "parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(obj: Tree, now: float) -> str:
    start, end = unix(dig(obj, "status", "startTime")), unix(dig(obj, "status", "completionTime"))
    if start is None:
        return ""
    return human_duration((now if end is None else end) - start)


def _suspend(obj: Tree) -> str:
    return {None: UNSET, True: "True", False: "False"}[dig(obj, "spec", "suspend")]


def _last_schedule(obj: Tree, now: float) -> str:
    last = dig(obj, "status", "lastScheduleTime")
    return since(last, now) if last else NONE


JOB = table(
    NAME,
    column("Status", _status),
    column("Completions", _completions),
    timed("Duration", _duration),
    AGE,
    *containers_of("spec.template.spec"),
    selector_of("spec.selector"),
)
CRON_JOB = table(
    NAME,
    column("Schedule", "spec.schedule"),
    column("Timezone", "spec.timeZone", NONE),
    column("Suspend:boolean", _suspend),
    column("Active:integer", count("status.active")),
    timed("Last Schedule", _last_schedule),
    AGE,
    *containers_of("spec.jobTemplate.spec.template.spec"),
    selector_of("spec.jobTemplate.spec.selector"),
)
