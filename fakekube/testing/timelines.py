"""The life of one object: every write to it, field by field, and the Events about it, in order.

``print(timeline(cluster, PODS, "web-0"))`` tells it.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from fakekube.client.resources import EVENTS, Resource
from fakekube.testing import explain
from fakekube.testing.history import Change, History, HistoryForgotten
from fakekube.util.treediff import Difference

if TYPE_CHECKING:
    from fakekube.testing.history import Where

MAX_FIELDS = 12


class Step(NamedTuple):
    """One write to the object, or an Event about it.

    ``fields`` are what a change of the object changed.
    """

    change: Change
    fields: tuple[Difference, ...]

    @property
    def is_event(self) -> bool:
        """Whether it is an Event about the object."""
        return self.change.resource.resource == "events"


class Timeline:
    """``steps`` in order. Printed, it is a story."""

    def __init__(self, history: History, title: str, steps: list[Step]) -> None:
        self.history, self.title, self.steps = history, title, steps

    @property
    def changes(self) -> list[Change]:
        """The writes to the object itself."""
        return [step.change for step in self.steps if not step.is_event]

    def values(self, path: str) -> list[Any]:
        """What stood at ``status.phase`` in the course of time, each value once in a row; None
        where there was nothing.
        """
        found: list[Any] = []
        for change in self.changes:
            value: Any = change.object
            for part in path.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if not found or found[-1] != value:
                found.append(value)
        return found

    def __str__(self) -> str:
        return "\n".join([self.title, *(line for step in self.steps for line in self._lines(step))])

    def _lines(self, step: Step) -> Iterator[str]:
        if step.is_event:
            event = step.change.object
            yield (f"  {explain.offset(self.history, step.change.time)} Event {event.get('type', '')} {event.get('reason', '')}: "
                   f"{event.get('message', '')}")
            return
        for line in explain.lines(self.history, step.change, MAX_FIELDS):
            yield f"  {line}"


def timeline(where: "Where", what: Resource | Mapping[str, Any], name: str = "", namespace: str = "default") -> Timeline:
    """The life of an object, as far as it is retained: of ``what``, a tree with a uid, or of all
    that have had a name.

    ``timeline(cluster, pod)``, ``timeline(cluster, PODS, "web-0")``. HistoryForgotten for a tree of
    which nothing is retained.
    """
    history = History.of(where)
    if isinstance(what, Resource):
        title = f"{what.kind} {f'{namespace}/' if what.namespaced else ''}{name}"
        changes = history.of_object(what, name, namespace)
    else:
        uid = what["metadata"]["uid"]
        changes = [change for change in history.changes if change.event.record.uid == uid]
        if not changes:
            raise HistoryForgotten(f"nothing is retained of {what['metadata']['name']}, uid {uid}")
        title = f"{changes[0].object['kind']} {changes[0].name.partition(' ')[2]}"
    uids = dict.fromkeys(change.event.record.uid for change in changes)
    about = [
        change for change in history.changes
        if change.resource == EVENTS.group_resource and change.type != "DELETED"
        and (change.object.get("involvedObject") or {}).get("uid") in uids]
    steps = [Step(change, explain.fields(change)) for change in sorted([*changes, *about], key=lambda change: change.revision)]
    return Timeline(history, title, steps)
