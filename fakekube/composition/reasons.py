"""What keeps pods and Jobs from going on, in the words that the cluster has for it.

For the text of ``Stalled``: why a pod is not scheduled, why its containers do not run, what the
conditions of Jobs say, and the latest warnings among Events. Each is told once: an Event whose
message an object has in its status is left out. Upstream: what ``kubectl describe`` shows.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import EVENTS, JOBS, PODS
from fakekube.storage.memory import Storage

MAX_OBJECTS, MAX_EVENTS = 10, 5
"""So many pods, Jobs and Events are told of at most."""


def reasons(storage: Storage) -> Iterator[str]:
    """Lines about the present state of a cluster."""
    told: list[str] = []
    for resource, explain in ((PODS, _of_pod), (JOBS, _of_job)):
        lines = [line for tree in _objects(storage, resource.group_resource) for line in explain(tree)]
        told += lines[:MAX_OBJECTS]
        if len(lines) > MAX_OBJECTS:
            told.append(f"and {len(lines) - MAX_OBJECTS} more about {resource.plural}")
    yield from told
    yield from _warnings(storage, told)


def _objects(storage: Storage, resource: GroupResource) -> Iterator[ReadOnlyTree]:
    if storage.has(resource):
        for record in storage.bucket(resource).records():
            yield record.tree()


def _of_pod(pod: ReadOnlyTree) -> Iterator[str]:
    status: Mapping[str, Any] = pod.get("status") or {}
    name = f"pod {_name(pod)}"
    if status.get("phase") == "Failed" and status.get("reason"):
        yield f"{name} failed: {_told(status)}"
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield f"{name} is not scheduled: {_told(condition)}"
    for container in [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]:
        state: Mapping[str, Any] = container.get("state") or {}
        waiting, ended = state.get("waiting"), state.get("terminated")
        last: Mapping[str, Any] = (container.get("lastState") or {}).get("terminated") or {}
        if waiting:
            after = f", after exit code {last['exitCode']}" if last.get("exitCode") else ""
            yield f"{name}: container {container['name']} waits: {_told(waiting)}{after}"
        elif ended and ended.get("exitCode"):
            yield f"{name}: container {container['name']} ended with exit code {ended['exitCode']}: {_told(ended)}"


def _of_job(job: ReadOnlyTree) -> Iterator[str]:
    status: Mapping[str, Any] = job.get("status") or {}
    conditions = [one for one in status.get("conditions") or () if one["status"] == "True"]
    if any(one["type"] == "Complete" for one in conditions):
        return
    latest = {_told(one): one["type"] for one in conditions}  # FailureTarget and Failed say the same
    counts = ", ".join(f"{status.get(field) or 0} {field}" for field in ("active", "succeeded", "failed"))
    said = "".join(f"; {type_}: {reason}" for reason, type_ in latest.items())
    yield f"job {_name(job)}: {counts}{said}"


def _warnings(storage: Storage, told: list[str]) -> Iterator[str]:
    """The latest warnings that no line before has told of."""
    latest: dict[str, str] = {}
    records = storage.bucket(EVENTS.group_resource).records() if storage.has(EVENTS.group_resource) else []
    for record in sorted(records, key=lambda one: one.revision):
        event = record.tree()
        message = str(event.get("message") or event.get("note") or "")
        if event.get("type") != "Warning" or (message and any(message in line for line in told)):
            continue
        about = event.get("involvedObject") or event.get("regarding") or {}
        line = f"{event.get('reason')} about {about.get('kind')} {about.get('namespace', '')}/{about.get('name')}: {message}"
        latest.pop(line, None)
        latest[line] = f"event {line}"
    yield from list(latest.values())[-MAX_EVENTS:]


def _name(tree: ReadOnlyTree) -> str:
    metadata = tree["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}"


def _told(status: Mapping[str, Any]) -> str:
    """Reason and message, as far as they are there."""
    return ": ".join(str(status[field]) for field in ("reason", "message") if status.get(field)) or "without a reason"
