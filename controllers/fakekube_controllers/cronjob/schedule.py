"""Which run of a CronJob is due, and when the next one is.

At most one run is ever due: the last one whose time has come. Those before it are counted, for a
warning, and never made up for. Upstream: pkg/controller/cronjob/utils.go (mostRecentScheduleTime,
nextScheduleTimeDuration).
"""

from datetime import UTC, datetime
from typing import NamedTuple

from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.util import cron
from fakekube.util.durations import of_whole_seconds

NEVER = -62135596800.0
"""What upstream's parser answers when nothing is due for years: the zero of Go's times."""
SLACK_SECONDS = 0.1
MANY = 100
TOO_CLOSE = "time difference between two schedules is less than 1 second"


class ScheduleError(ValueError):
    """A schedule of good grammar that never comes."""


class Plan(NamedTuple):
    """A schedule, and the time zone that it is read in."""

    schedule: cron.Schedule | cron.Every
    zone: str

    def next(self, after: float) -> float:
        """The first time after that one, in Unix seconds; NEVER when there is none for years, or
        after NEVER.
        """
        if after == NEVER:
            return NEVER
        found = cron.next_time(self.schedule, datetime.fromtimestamp(after, UTC), self.zone)
        return NEVER if found is None else found.timestamp()


class Missed(NamedTuple):
    """What has come due since ``earliest``: the last time, or None, and about how many there were.
    """

    earliest: float
    latest: float | None
    number: int


def plan_of(cron_job: Tree) -> Plan:
    """The schedule, in the zone that stands in it, or else in ``timeZone`` if there is such a zone.

    Raises CronError.
    """
    spec = cron_job["spec"]
    zone = spec.get("timeZone") or ""
    if "TZ" in spec["schedule"] or not cron.is_time_zone(zone):
        zone = ""
    return Plan(cron.parse(spec["schedule"]), zone)


def missed(cron_job: Tree, plan: Plan, now: float, *, within_deadline: bool) -> Missed:
    """What has come due since the last run, or since the CronJob was made. Raises ScheduleError.

    ``within_deadline``: what is older than ``startingDeadlineSeconds`` does not count.
    """
    last, deadline = cron_job.get("status", {}).get("lastScheduleTime"), cron_job["spec"].get("startingDeadlineSeconds")
    earliest = parse_time(last or cron_job["metadata"]["creationTimestamp"])
    if within_deadline and deadline is not None:
        earliest = max(earliest, now - of_whole_seconds(deadline))
    first = plan.next(earliest)
    second = plan.next(first)
    if now < first:
        return Missed(earliest, None, 0)
    if now < second:
        return Missed(earliest, first, 0)
    interval = round(second - first)
    if interval < 1:
        raise ScheduleError(TOO_CLOSE)
    # Time between two runs need not be the same all the time: guess, one interval too early, and
    # walk on from there.
    number = int(now - first) // interval + 1
    latest, due = None, plan.next(first + (number - 2) * interval)
    while NEVER < due <= now:
        latest, due = due, plan.next(due)
    return Missed(earliest, latest, number)


def seconds_to_next(cron_job: Tree, plan: Plan, now: float) -> float:
    """How long to wait for the next run; a little longer than that, as upstream does for the sake
    of clocks that drift.
    """
    try:
        found = missed(cron_job, plan, now, within_deadline=False)
    except ScheduleError:
        found = Missed(now, now, 0)
    since = found.latest
    if since is None:
        since = now if found.number else found.earliest
    return plan.next(since) + SLACK_SECONDS - now
