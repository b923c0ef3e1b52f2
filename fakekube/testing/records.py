"""Assertions on what was said and asked: Events about objects, and the requests that a server
answered.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import EVENTS
from fakekube.testing import explain
from fakekube.testing.history import Change, History
from fakekube.testing.temporal import HistoryError

if TYPE_CHECKING:
    from fakekube.apiserver.filters import LogEntry
    from fakekube.composition.cluster import Cluster
    from fakekube.testing.background import BackgroundCluster
    from fakekube.testing.history import Where

SHOWN = 15


def events(
    where: "Where", *, about: Mapping[str, Any] | str = "", reason: str = "", type: str = "", message: str = "",  # noqa: A002
) -> list[Tree]:
    """The Events that were recorded and match, each as it last was, in the order of their first
    writing.

    ``about`` is an object, or the name of one; ``message`` a regular expression that is found in
    the text; the rest is equal. What has expired since is among them: they come from the history.
    """
    history = History.of(where)
    latest: dict[str, Tree] = {}
    for change in history.changes:
        if change.resource == EVENTS.group_resource and change.type != "DELETED":
            latest[change.event.record.uid] = change.object
    return [event for event in latest.values() if _matches(event, about, reason, type, message)]


def _matches(event: Tree, about: Mapping[str, Any] | str, reason: str, type_: str, message: str) -> bool:
    involved = event.get("involvedObject") or {}
    if isinstance(about, str):
        concerned = not about or involved.get("name") == about
    else:
        concerned = involved.get("uid") == about["metadata"]["uid"]
    return (
        concerned and (not reason or event.get("reason") == reason) and (not type_ or event.get("type") == type_)
        and (not message or re.search(message, event.get("message") or "") is not None))


def assert_event(
    where: "Where", *, about: Mapping[str, Any] | str = "", reason: str = "", type: str = "", message: str = "",  # noqa: A002
    count: int | None = None,
) -> Tree:
    """Such an Event was recorded, ``count`` times if that is given, repetitions included; returns
    the first.

    Raises HistoryError, which lists those that were recorded.
    """
    history = History.of(where)
    found = events(history, about=about, reason=reason, type=type, message=message)
    times = sum(int(event.get("count") or 1) for event in found)
    if found and count in (None, times):
        return found[0]
    wanted = _told(about=_name(about), reason=reason, type=type, message=message)
    number = "no Event" if not found else f"{times} Events, not {count},"
    raise HistoryError("\n".join([f"{number} with {wanted}", *explain.explanation(history)]))


def assert_no_event(
    where: "Where", *, about: Mapping[str, Any] | str = "", reason: str = "", type: str = "", message: str = "",  # noqa: A002
) -> None:
    """No such Event was recorded. Raises HistoryError with what led to the first."""
    history = History.of(where)
    found = events(history, about=about, reason=reason, type=type, message=message)
    if found:
        raise HistoryError("\n".join([
            f"there is an Event {found[0].get('reason')}: {found[0].get('message')}",
            *explain.explanation(history, _written(history, found[0]))]))


def _written(history: History, event: Tree) -> Change | None:
    return next((change for change in history.changes if change.event.record.uid == event["metadata"]["uid"]), None)


def _name(about: Mapping[str, Any] | str) -> str:
    return about if isinstance(about, str) else str(about["metadata"]["name"])


def _told(**wanted: str) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in wanted.items() if value) or "anything"


def requests(where: "Cluster | BackgroundCluster", **wanted: Any) -> "list[LogEntry]":
    """The latest requests (10,000 at most) that match, oldest first.

    ``wanted`` are fields of a LogEntry: verb, resource, subresource, namespace, name, user,
    user_agent (its beginning), code ... TypeError for a field that there is not.
    """
    from fakekube.apiserver.filters import LogEntry
    from fakekube.testing.background import BackgroundCluster

    for name in wanted:
        if name not in LogEntry._fields:
            raise TypeError(f"a request has no {name}: it has {', '.join(LogEntry._fields)}")
    cluster = where.cluster if isinstance(where, BackgroundCluster) else where
    return [entry for entry in cluster.apiserver.log if all(
        entry.user_agent.startswith(value) if name == "user_agent" else getattr(entry, name) == value
        for name, value in wanted.items())]


def assert_requested(where: "Cluster | BackgroundCluster", *, count: int | None = None, **wanted: Any) -> None:
    """Such a request was made, ``count`` times if that is given (0: never).

    Raises HistoryError, which lists the latest.
    """
    found = requests(where, **wanted)
    if len(found) == count if count is not None else found:
        return
    latest = [f"  {entry.verb} {entry.path} by {entry.user_agent} as {entry.user}: {entry.code}"
              for entry in requests(where)[-SHOWN:]]
    number = "never requested" if not found else f"requested {len(found)} times, not {count}"
    told = _told(**{name: str(value) for name, value in wanted.items()})
    raise HistoryError("\n".join([f"{number}: {told}; the latest are:", *latest]))
