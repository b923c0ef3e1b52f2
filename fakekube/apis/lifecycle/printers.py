"""How EvictionRequests and Evictions print."""

from fakekube.apimachinery.ages import UNKNOWN, human_duration, since, unix
from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import (
    AGE,
    NAME,
    NONE,
    UNSET,
    age,
    column,
    columns,
    condition,
    dig,
    limited,
    table,
)  # fmt: skip
from fakekube.registry.kind import Printer

PROCESSED = ("Canceled", "Interrupted", "Completed")


def _target(obj: Tree) -> str:
    pod = dig(obj, "spec", "target", "pod")
    return UNSET if pod is None else str(pod.get("name", ""))


def _target_type(obj: Tree) -> str:
    return UNSET if dig(obj, "spec", "target", "pod") is None else "Pod"


def _status(obj: Tree) -> str:
    for kind in ("TargetEvicted", "Failed"):
        found = condition(obj, kind)
        if found is not None and found.get("status") == "True":
            return f"{kind} ({found.get('reason', '')})"
    return "Progressing" if dig(obj, "status", "observedGeneration") else "Pending"


def _requesters(obj: Tree) -> str:
    found = dig(obj, "status", "requesters") or ()
    names = sorted(each.get("name", "") for each in found if each.get("intent") != "Withdrawn")
    if names:
        return limited(names, 1)
    return "<withdrawn>" if found else NONE


def _responder(obj: Tree) -> tuple[Tree | None, str]:
    """The responder whose turn it is, or was last; and it with its place in the row."""
    responders = dig(obj, "status", "targetResponders") or ()
    active = [each for each in responders if each.get("state") == "Active"]
    processed = [each for each in responders if each.get("state") in PROCESSED]
    current = active[-1] if active else processed[-1] if processed else None
    name = UNSET if current is None else current.get("name", "")
    return current, f"{name} ({len(active) + len(processed)}/{len(responders)})"


def _progress(obj: Tree, current: Tree | None, now: float) -> list[str]:
    """Status, expected finish, heartbeat and message of the responder."""
    responders = dig(obj, "status", "responders") or ()
    mine = next((each for each in responders if current and each.get("name") == current.get("name")), None)
    if current is None or mine is None:
        return [UNSET, UNKNOWN, UNSET, UNSET]
    state, finish = str(current.get("state", "")), UNKNOWN
    word = state
    if state == "Active" and mine.get("startTime"):
        word = f"Started ({since(mine['startTime'], now)} ago)"
        finish = _expected(mine.get("expectedCompletionTime"), now)
    elif state in PROCESSED:
        finish = "-"
        if state == "Completed" and mine.get("completionTime"):
            word = f"{state} ({since(mine['completionTime'], now)} ago)"
    heartbeat = f"{since(mine['heartbeatTime'], now)} ago" if mine.get("heartbeatTime") else UNSET
    return [word, finish, heartbeat, mine.get("message", "").strip() or UNSET]


def _expected(text: str | None, now: float) -> str:
    when = unix(text)
    if when is None:
        return UNKNOWN
    return f"in {human_duration(when - now)}" if when > now else f"{human_duration(now - when)} ago"


def _eviction(obj: Tree, now: float) -> list[Json]:
    current, place = _responder(obj)
    word, finish, heartbeat, message = _progress(obj, current, now)
    return [
        dig(obj, "metadata", "name"), _target(obj), _target_type(obj), _status(obj), place, word, finish,
        _requesters(obj), age(obj, now), heartbeat, message,
    ]  # fmt: skip


EVICTION_REQUEST = table(
    NAME,
    column("Target", _target),
    column("Target Type", _target_type),
    column("Status", _status),
    column("Requester", "spec.requester"),
    column("Intent", "spec.intent"),
    AGE,
)
EVICTION = Printer(
    columns(
        "Name", "Target", "Target Type", "Status", "Active Responder", "Responder Status", "Responder Expected Finish",
        "Requesters", "Age", "Responder Heartbeat+", "Responder Status Message+",
    ),
    _eviction,
)  # fmt: skip
