"""One sync of a CronJob alone: what it says and does about schedules that make no sense, about
requests that are refused, and about caches of different age.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CRON_JOBS, JOBS
from fakekube.util.clock import ManualClock
from fakekube_controllers.cronjob.controller import CronJobReconciler
from fakekube_controllers.cronjob.schedule import NEVER, plan_of, seconds_to_next
from fakekube_controllers.cronjob.sync import Sync

MIDNIGHT = 1767225600.0
CREATED = "2026-01-01T00:00:00Z"
NOON_IN_FEBRUARY = "0 12 30 2 *"
REFUSED = APIError(403, "Forbidden", "not you")


class Server:
    """Answers with what it is given by verb; remembers what it was asked for."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.asked = answers, list[tuple[Any, ...]]()

    def _answer(self, verb: str, *asked: Any) -> Any:
        self.asked.append((verb, *asked))
        answer = self.answers.get(verb)
        if isinstance(answer, APIError):
            raise answer
        return answer

    async def get(self, resource: Any, name: str, namespace: str, *, missing_ok: bool = False) -> Any:
        """What is there."""
        return self._answer("get", resource.kind, name, namespace, missing_ok)

    async def create(self, resource: Any, body: Any, namespace: str) -> Any:
        """Make it."""
        return self._answer("create", resource.kind, body["metadata"]["name"], namespace) or job(body["metadata"]["name"])

    async def delete(self, resource: Any, name: str, namespace: str, **options: Any) -> Any:
        """Delete it."""
        return self._answer("delete", resource.kind, name, namespace, options)

    async def update_status(self, resource: Any, body: Any) -> Any:
        """Write the status."""
        return self._answer("update status", resource.kind, body["status"])


class Told:
    """The Events."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, str]] = []

    def event(self, _: Any, kind: str, reason: str, text: str) -> None:
        """Keep one."""
        self.events.append((kind, reason, text))


def cron_job(schedule: str = "*/5 * * * *", active: Any = (), **spec: Any) -> Any:
    metadata = {"name": "c", "namespace": "n", "uid": "c", "creationTimestamp": CREATED}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata,
            "spec": {"schedule": schedule, "jobTemplate": {"spec": {}}, **spec},
            "status": {"active": list(active)} if active else {}}


def reference(name: str) -> Any:
    return {"kind": "Job", "namespace": "n", "name": name, "uid": name}


def job(name: str, outcome: str = "") -> Any:
    conditions = [{"type": outcome, "status": "True"}] if outcome else []
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "n", "uid": name},
            "status": {"conditions": conditions, "startTime": CREATED}}


async def synced(of: Any, *jobs: Any, server: Server, after: float = 0) -> Any:
    """What the sync answers, or how it was refused; the Events; what the server was asked for."""
    told: Any = Told()
    client: Any = server
    try:
        answer: Any = await Sync(client, told, of, jobs, MIDNIGHT + after).run()
    except APIError as error:
        answer = error.message
    return answer, told.events, server.asked


UNSUPPORTED = (
    'CRON_TZ or TZ used in schedule "TZ=UTC 0 * * * *" is not officially supported, see '
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")


@pytest.mark.parametrize(("spec", "seconds", "said"), [
    ({"timeZone": "Moon/Base"}, None, [
        ("Warning", "UnknownTimeZone", 'invalid timeZone: "Moon/Base": unknown time zone Moon/Base')]),
    ({"timeZone": "Moon/Base", "suspend": True}, None, [
        ("Warning", "UnknownTimeZone", 'invalid timeZone: "Moon/Base": unknown time zone Moon/Base')]),
    ({"schedule": "some time"}, None, [
        ("Warning", "UnparseableSchedule",
         'unparseable schedule: "some time" : expected exactly 5 fields, found 2: [some time]')]),
    ({"schedule": "some time", "suspend": True}, None, []),
    ({"schedule": "TZ=UTC 0 * * * *"}, 3600.1, [("Warning", "UnsupportedSchedule", UNSUPPORTED)]),
    ({"schedule": NOON_IN_FEBRUARY}, None, [
        ("Warning", "InvalidSchedule",
         "invalid schedule: 0 12 30 2 * : time difference between two schedules is less than 1 second")]),
])
async def test_schedules_that_are_warned_of(spec: Any, seconds: float | None, said: Any) -> None:
    """Given a schedule or a zone that is none, or one that is not supported / when it is synced /
    then a warning says so in upstream's words, a suspended one's schedule is not even read, and
    only the one that is not supported has a next run.
    """
    answer, events, asked = await synced(cron_job(**spec), server=Server())
    assert (answer if answer is None else round(answer, 3), events, asked) == (seconds, said, [])


@pytest.mark.parametrize(("limits", "deleted"), [
    ({}, []), ({"successfulJobsHistoryLimit": 0}, ["a"]), ({"failedJobsHistoryLimit": 0}, ["b"]),
    ({"successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 1}, []),
])
async def test_without_a_limit_all_history_is_kept(limits: Any, deleted: list[str]) -> None:
    """Given one Job that completed and one that failed / when a limit is not set / then those of
    that outcome are kept.
    """
    _, events, asked = await synced(
        cron_job(suspend=True, **limits), job("a", "Complete"), job("b", "Failed"), server=Server())
    assert [each[:3] for each in asked if each[0] == "delete"] == [("delete", "Job", name) for name in deleted]
    assert events == [("Normal", "SuccessfulDelete", f"Deleted job {name}") for name in deleted]


async def test_a_job_that_cannot_be_deleted_is_warned_of() -> None:
    """Given a Job beyond the history that the server does not delete / when it is synced / then a
    warning says so, nothing is forgotten, and the sync goes on.
    """
    answer, events, asked = await synced(
        cron_job(successfulJobsHistoryLimit=0), job("a", "Complete"), server=Server(delete=REFUSED))
    assert round(answer, 3) == 300.1
    assert events == [("Warning", "FailedDelete", "Deleted job: not you")]
    assert asked == [("delete", "Job", "a", "n", {"propagation_policy": "Background"})]


async def test_the_server_may_know_of_a_job_that_the_cache_does_not() -> None:
    """Given a Job that the cached CronJob does not name as active / when the server's does / then
    it is none to warn of, and the server's state is gone by: its run is not made again.
    """
    fresh = cron_job(active=[reference("a")], concurrencyPolicy="Forbid")
    answer, events, asked = await synced(cron_job(), job("a"), server=Server(get=fresh), after=301)
    assert (round(answer, 3), asked) == (299.1, [("get", "CronJob", "c", "n", False)])
    assert events == [(
        "Normal", "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")]


async def test_a_run_is_not_replaced_by_one_of_its_own_name() -> None:
    """Given runs every half minute, of which names tell the minute only / when the second of a
    minute is due while the first runs / then the first goes on; the one of the minute after
    replaces it.
    """
    first = f"c-{int(MIDNIGHT) // 60}"
    made: Any = {"schedule": "@every 30s", "active": [reference(first)], "concurrencyPolicy": "Replace"}
    answer, events, asked = await synced(cron_job(**made), job(first), server=Server(), after=31)
    assert (round(answer, 3), events, asked) == (29.1, [], [])
    _, events, _ = await synced(cron_job(**made), job(first), server=Server(get=job(first)), after=61)
    second = f"c-{int(MIDNIGHT) // 60 + 1}"
    assert events == [
        ("Normal", "SuccessfulDelete", f"Deleted job {first}"), ("Normal", "SuccessfulCreate", f"Created job {second}")]


async def test_what_cannot_be_read_is_not_replaced() -> None:
    """Given an active Job that the next run is to replace / when the server does not show it / then
    a warning says so, and the run is not made.
    """
    of = cron_job(active=[reference("a")], concurrencyPolicy="Replace")
    answer, events, asked = await synced(of, job("a"), server=Server(get=REFUSED), after=301)
    assert (answer, events) == ("not you", [("Warning", "FailedGet", "Get job: not you")])
    assert asked == [("get", "Job", "a", "n", False)]


async def test_a_run_is_not_made_before_the_one_to_replace_is_deleted() -> None:
    """Given the same / when the server shows the Job and does not delete it / then a warning says
    so, and the run is not made.
    """
    of = cron_job(active=[reference("a")], concurrencyPolicy="Replace")
    answer, events, asked = await synced(of, job("a"), server=Server(get=job("a"), delete=REFUSED), after=301)
    assert (answer, events) == ("not you", [("Warning", "FailedDelete", "Deleted job: not you")])
    assert [each[0] for each in asked] == ["get", "delete"]


def test_one_that_never_comes_is_looked_at_at_once() -> None:
    """Given a schedule that never comes / then the time until its next run is that to the zero of
    Go's times, which is over.
    """
    of = cron_job(NOON_IN_FEBRUARY)
    assert seconds_to_next(of, plan_of(of), MIDNIGHT) == NEVER + 0.1 - MIDNIGHT


class Parts:
    """What the controller is given; its queue too."""

    def __init__(self, *cron_jobs: Any) -> None:
        self.clock, self.client, self.told = ManualClock(), None, Told()
        self.handlers: dict[Any, Any] = {}
        self.added: list[tuple[Any, ...]] = []
        self.clock.move_to(MIDNIGHT)
        self.found = {each["metadata"]["name"]: each for each in cron_jobs}

    def lister(self, _: Any) -> Any:
        """Of CronJobs."""
        return SimpleNamespace(get=lambda _, name: self.found.get(name))

    def recorder(self, _: str) -> Any:
        """That of Events."""
        return self.told

    def add_handler(self, resource: Any, *handlers: Any) -> None:
        """Keep them."""
        self.handlers[resource] = handlers

    def add(self, key: Any) -> None:
        """To the queue."""
        self.added.append(tuple(key))

    def add_after(self, key: Any, seconds: float, *, daemon: bool) -> None:
        """To the queue, later."""
        self.added.append((*key, round(seconds, 3), daemon))


def started(*cron_jobs: Any) -> Any:
    parts: Any = Parts(*cron_jobs)
    CronJobReconciler(parts).setup(parts)
    return parts


@pytest.mark.parametrize(("spec", "added", "said"), [
    ({}, [("n", "c")], []),
    ({"suspend": True}, [("n", "c")], []),
    ({"schedule": "*/7 * * * *"}, [("n", "c", 420.1, True)], []),
    ({"timeZone": "Asia/Tokyo"}, [("n", "c", 300.1, True)], []),
    ({"schedule": "some time"}, [], [
        ("Warning", "UnParseableCronJobSchedule", "unparseable schedule for cronjob: some time")]),
])
def test_a_change_of_the_schedule_waits_for_its_run(spec: Any, added: Any, said: Any) -> None:
    """Given a CronJob / when its schedule or zone changes / then it is looked at when the next run
    is due, never where that cannot be read; after any other change at once.
    """
    parts = started()
    parts.handlers[CRON_JOBS][1](cron_job(), cron_job(**spec))
    assert (parts.added, parts.told.events) == (added, said)


def owned(name: str | None, kind: str = "CronJob", uid: str | None = None) -> Any:
    if name is None:
        return job("j")
    owner = {"kind": kind, "name": name, "uid": uid or name, "controller": True}
    return {**job("j"), "metadata": {"name": "j", "namespace": "n", "ownerReferences": [owner]}}


@pytest.mark.parametrize(("before", "after", "added"), [
    (owned("c"), owned("c"), ["c"]), (owned("c"), owned(None), ["c"]), (owned(None), owned("c"), ["c"]),
    (owned("c"), owned("d"), ["c", "d"]), (owned(None), owned(None), []), (owned("c", "Other"), owned("c", "Other"), []),
    (owned("c", uid="other"), owned("c", uid="other"), []), (owned("gone"), owned("gone"), []),
])
def test_a_job_that_changes_hands_concerns_both(before: Any, after: Any, added: list[str]) -> None:
    """Given two CronJobs / when a Job of one changes, or gets another controller / then those that
    controlled it before and now are looked at.
    """
    other = cron_job()
    other["metadata"] = {**other["metadata"], "name": "d", "uid": "d"}
    parts = started(cron_job(), other)
    parts.handlers[JOBS][1](before, after)
    assert parts.added == [("n", name) for name in added]
