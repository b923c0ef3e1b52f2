"""What a trace tells: changes, each with the request behind it and the change that led to it.

Nothing in it is guessed. A component of the cluster says which change it acts on; a client over a
network, or a test, says nothing, and then the trace ends with its request.
"""

from typing import Any, NamedTuple

from fakekube.apimachinery.types import Tree
from fakekube.util.treediff import MISSING, Difference


class Request(NamedTuple):
    """A request that changed something. ``verb`` is Kubernetes' (``create``), ``method`` HTTP's."""

    verb: str
    subresource: str
    method: str
    path: str
    user: str
    user_agent: str


class Step(NamedTuple):
    """One change. ``time`` is Unix seconds, ``type`` ADDED, MODIFIED or DELETED.

    ``object`` is named as in ``pods default/web-0``; ``is_own`` says that it is the object which
    the trace is of. ``component`` made the request while it worked on ``key``; both may be empty.
    ``acted_on`` is the version that it acted on, empty when none is known. ``led_by`` is the
    version of the step that led to this one, 0 for none, with ``left_out`` changes between the two.
    ``fault`` names what was made to go wrong with the request.
    """

    revision: int
    time: float
    type: str
    object: str
    is_own: bool
    request: Request | None
    component: str
    key: str
    acted_on: str
    led_by: int
    left_out: int
    fields: tuple[Difference, ...]
    fault: str

    @property
    def origin(self) -> str:
        """Why no step led to this one.

        ``Server``: the server wrote it by itself; ``Request``: only the request is known;
        ``Component``: a component acted on no change that is known; ``Forgotten``: the change that
        it acted on is not retained. Empty when a step led to it.
        """
        if self.request is None:
            return "Server"
        if self.led_by:
            return ""
        if self.acted_on:
            return "Forgotten"
        return "Component" if self.component else "Request"

    def tree(self) -> Tree:
        """As JSON; what is empty is left out."""
        tree: Tree = {
            "revision": self.revision, "time": self.time, "type": self.type, "object": self.object, "own": self.is_own,
            "request": None if self.request is None else dict(zip(REQUEST_FIELDS, self.request, strict=True)),
            "component": self.component, "key": self.key, "actedOn": self.acted_on, "ledBy": self.led_by,
            "leftOut": self.left_out, "fields": [_field_tree(field) for field in self.fields], "fault": self.fault,
            "origin": self.origin,
        }
        return {name: value for name, value in tree.items() if value or name == "time"}

    @classmethod
    def of(cls, tree: Tree) -> "Step":
        """The step of a tree that ``tree`` made."""
        request = tree.get("request")
        return cls(
            tree["revision"], tree["time"], tree["type"], tree["object"], tree.get("own", False),
            None if request is None else Request(*(request[name] for name in REQUEST_FIELDS)),
            tree.get("component", ""), tree.get("key", ""), tree.get("actedOn", ""), tree.get("ledBy", 0),
            tree.get("leftOut", 0), tuple(_field(field) for field in tree.get("fields", ())), tree.get("fault", ""))


REQUEST_FIELDS = ("verb", "subresource", "method", "path", "user", "userAgent")


class Causes(NamedTuple):
    """The causes of an object's state as data: ``steps`` in the order of their versions.

    ``object`` is named as in ``pods default/web-0``; ``started`` is when the cluster began, in Unix
    seconds, ``begins`` the version from which on changes are retained. Of its ``changes`` the last
    ``last`` are among the steps (0: all), or, with a ``field``, the one that gave it the ``value``
    it has. ``predecessors`` is the number of objects of the same name that were before it, and
    whose changes are not among these; ``is_cut`` says that it had earlier changes, too, which are
    not retained any more. ``seed`` is the cluster's.
    """

    object: str
    started: float
    seed: int
    begins: int
    changes: int
    predecessors: int
    is_cut: bool
    last: int
    field: str
    value: Any
    steps: tuple[Step, ...]


def _field_tree(field: Difference) -> Tree:
    tree: Tree = {"path": field.path}
    if field.old is not MISSING:
        tree["old"] = field.old
    if field.new is not MISSING:
        tree["new"] = field.new
    return tree


def _field(tree: Tree) -> Difference:
    return Difference(tree["path"], tree.get("old", MISSING), tree.get("new", MISSING))


def component_of(step: Step) -> str:
    """Who made a change, as a track of its own: a component, else a client with its user."""
    if step.request is None:
        return "the server itself"
    return step.component or f"{step.request.user_agent} as {step.request.user}"


def action_of(step: Step) -> str:
    """``create pods default/web-0``; the verb of the request, and the object that it changed."""
    if step.request is None:
        return f"{step.type} {step.object}"
    resource, _, name = step.object.partition(" ")
    below = f"/{step.request.subresource}" if step.request.subresource else ""
    return f"{step.request.verb} {resource}{below} {name}"


def moments(causes: Causes) -> list[int]:
    """When each step is drawn, in microseconds since the cluster began.

    On a virtual clock much happens at one instant: it is drawn a microsecond apart, in the order of
    versions.
    """
    result: list[int] = []
    for step in causes.steps:
        moment = round((step.time - causes.started) * 1e6)
        result.append(max(moment, result[-1] + 1) if result else moment)
    return result
