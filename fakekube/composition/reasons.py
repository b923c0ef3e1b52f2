"""Why pods and Jobs are as they are, in the words that the cluster itself has for it.

For people who look at a test that failed, or at a predicate that stays false: the text of a pod's
FailedScheduling, the reason of a container that waits or has failed, a Job's conditions. Upstream:
what ``kubectl describe`` shows of them. Left out: other workloads, of which their pods tell.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.storage.memory import Storage

PODS, JOBS, EVENTS = GroupResource("", "pods"), GroupResource("batch", "jobs"), GroupResource("", "events")
FAILED_SCHEDULING = "FailedScheduling"
MAX_LINES, MAX_WARNINGS = 20, 5
FOLLOWED_BY = {"FailureTarget": "Failed", "SuccessCriteriaMet": "Complete"}
"""Conditions of a Job that say what a later one says again."""


class Reason(NamedTuple):
    """What is said of one object: ``about`` is ``pod default/web-0``, ``message`` the cluster's
    words.
    """

    about: str
    state: str
    message: str


def lines(storage: Storage) -> list[str]:
    """What is said of pods and Jobs, a line for all of which the same is said."""
    alike: dict[tuple[str, str], list[str]] = {}
    for reason in reasons(storage):
        alike.setdefault((reason.state, reason.message), []).append(reason.about)
    told = [
        f"{abouts[0]}{f' and {len(abouts) - 1} more' if len(abouts) > 1 else ''} {state}: {message}"
        for (state, message), abouts in alike.items()]
    return told if len(told) <= MAX_LINES else [*told[:MAX_LINES], f"and {len(told) - MAX_LINES} more"]


def reasons(storage: Storage) -> Iterator[Reason]:
    """Of every pod that is not well why, and of every Job its conditions."""
    refusals: dict[str, str] | None = None
    for pod in _objects(storage, PODS):
        about, status = f"pod {_name(pod)}", pod.get("status") or {}
        if status.get("phase") == "Failed":
            for message in _of_failure(status):
                yield Reason(about, "has failed", message)
        elif not pod["spec"].get("nodeName"):
            if refusals is None:
                refusals = _refusals(storage)
            yield Reason(about, "is not scheduled", _of_scheduling(status, refusals.get(pod["metadata"]["uid"], "")))
        else:
            for message in _of_waiting(status):
                yield Reason(about, f"is {status.get('phase', 'Pending')}", message)
    for job in _objects(storage, JOBS):
        about, status = f"job {_name(job)}", job.get("status") or {}
        conditions = {one["type"]: one for one in status.get("conditions") or () if one.get("status") == "True"}
        for type_, condition in conditions.items():
            if FOLLOWED_BY.get(type_) not in conditions:
                yield Reason(about, f"is {type_}", _words(condition) or "no reason is given")
        if not conditions:
            counts = ", ".join(f"{status.get(name) or 0} {name}" for name in ("active", "ready", "succeeded", "failed"))
            yield Reason(about, "has no condition yet", f"{counts} pods")


def warnings(storage: Storage, told: list[str]) -> list[str]:
    """The latest Warnings among Events that no line of ``told`` has said."""
    latest: dict[str, None] = {}
    records = storage.bucket(EVENTS).records() if storage.has(EVENTS) else []
    for record in sorted(records, key=lambda one: one.revision):
        event = record.tree()
        message, about = str(event.get("message") or ""), event.get("involvedObject") or {}
        if event.get("type") == "Warning" and not (message and any(message in line for line in told)):
            name = f"{about.get('namespace', '')}/{about.get('name')}"
            line = f"event {event.get('reason')} about {about.get('kind')} {name}: {message}"
            latest.pop(line, None)
            latest[line] = None
    return list(latest)[-MAX_WARNINGS:]


def _objects(storage: Storage, resource: GroupResource) -> Iterator[ReadOnlyTree]:
    for record in storage.bucket(resource).records() if storage.has(resource) else ():
        yield record.tree()


def _name(tree: ReadOnlyTree) -> str:
    return f"{tree['metadata']['namespace']}/{tree['metadata']['name']}"


def _words(said: ReadOnlyTree) -> str:
    return ": ".join(str(said[field]) for field in ("reason", "message") if said.get(field))


def _refusals(storage: Storage) -> dict[str, str]:
    """What the scheduler said last, by the uid of the pod."""
    found: dict[str, tuple[str, str]] = {}
    for event in _objects(storage, EVENTS):
        if event.get("reason") == FAILED_SCHEDULING:
            uid = str((event.get("involvedObject") or {}).get("uid"))
            at = str(event.get("lastTimestamp") or event.get("eventTime") or "")
            found[uid] = max(found.get(uid, ("", "")), (at, str(event.get("message") or "")))
    return {uid: message for uid, (_, message) in found.items()}


def _of_scheduling(status: ReadOnlyTree, refusal: str) -> str:
    if refusal:
        return f"{FAILED_SCHEDULING}: {refusal}"
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled":
            return _words(condition) or "no reason is given"
    return "no scheduler has looked at it"


def _of_failure(status: ReadOnlyTree) -> Iterator[str]:
    if status.get("reason") or status.get("message"):
        yield _words(status)
        return
    for container in _containers(status):
        ended = (container.get("state") or {}).get("terminated") or {}
        if ended.get("exitCode"):
            yield f"container {container['name']}: {_ending(ended)}"


def _of_waiting(status: ReadOnlyTree) -> Iterator[str]:
    for container in _containers(status):
        waiting = (container.get("state") or {}).get("waiting")
        if waiting:
            ended = (container.get("lastState") or {}).get("terminated") or {}
            before = f", after {_ending(ended)}" if ended else ""
            yield f"container {container['name']}: {_words(waiting) or 'waiting'}{before}"


def _ending(ended: ReadOnlyTree) -> str:
    message = str(ended.get("message") or "").strip()
    return f"{ended.get('reason') or 'Error'}, exit code {ended.get('exitCode', 0)}{f': {message}' if message else ''}"


def _containers(status: ReadOnlyTree) -> Iterator[ReadOnlyTree]:
    for field in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        yield from status.get(field) or ()
