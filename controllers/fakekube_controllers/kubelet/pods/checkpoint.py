"""What goes on in containers, put down for a snapshot, and taken up by another kubelet from where it was.

The API's status says when a container started, and not how long it is going to run. A snapshot must cost next to nothing though
thousands of pods run: so it holds the runs themselves, and each is put down just before it changes, or when somebody reads.
A run that has ended is packed: as JSON, without what is as in one that never began.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.util.memory import memoized
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.outcomes.outcome import Outcome
from fakekube_controllers.kubelet.pods.run import PodRun

OF_THE_SPEC = ("name", "image", "restarts_on", "pod", "init", "apps")
"""What follows from the pod."""
OF_THE_KUBELET = ("happened", "plan", "traits", "outcome", "status")
"""What is not packed, or not as it is."""
PLAIN = (str, bool, int, float, tuple, type(None))
"""What can be put down as it is. All else, such as functions, belongs to the kubelet that has it."""


class Memory:
    """What a kubelet knew at one moment.

    ``rest`` is what it keeps beside its runs; the runs in ``written`` are put down already, or packed.
    """

    def __init__(self, runs: Mapping[str, PodRun], rest: Tree, written: "Mapping[str, Tree | bytes] | None" = None) -> None:
        self._runs = dict(runs)
        self._written: dict[str, Tree | bytes] = dict(written or {})
        self.rest = rest

    def keep(self, uid: str, run: PodRun) -> None:
        """A run is about to change."""
        if self._runs.get(uid) is run:
            self._written[uid] = put_down(run)
            del self._runs[uid]

    def __contains__(self, uid: str) -> bool:
        return uid in self._runs or uid in self._written

    def run(self, uid: str) -> Tree | None:
        """What is known of a pod's run."""
        run = self._runs.get(uid)
        if run is not None:
            return put_down(run)
        written = self._written.get(uid)
        return expanded(written) if isinstance(written, bytes) else written

    def __json__(self) -> Tree:
        return {"rest": self.rest, "runs": {uid: self.run(uid) for uid in (*self._runs, *self._written)}}


def memory_of(state: "Memory | Tree") -> Memory:
    """A memory as it was in this process, or as it comes out of a file."""
    return state if isinstance(state, Memory) else Memory({}, state["rest"], state["runs"])


def put_down(run: PodRun) -> Tree:
    """A run as JSON."""
    return {
        "run": _plain(run),
        "containers": {container.name: _container(container) for container in run.containers},
    }


def _container(container: Container) -> Tree:
    outcome = container.outcome
    return {**_plain(container), "outcome": None if outcome is None else _plain(outcome)}


def _plain(what: PodRun | Container | Outcome) -> Tree:
    """The fields that can be put down, those that change in place as copies."""
    found: Tree = {}
    for f in fields(what):
        value = getattr(what, f.name)
        if f.name in OF_THE_SPEC:
            continue
        if isinstance(value, dict | list):
            found[f.name] = value.copy()
        elif type(value) in PLAIN:
            found[f.name] = value
    return found


def packed(run: PodRun) -> bytes:
    """A run that has ended, for ``expanded``. Its last status is not in it: that is the pod's."""
    return orjson.dumps({
        "run": _unusual(run),
        "containers": {
            container.name: {**_unusual(container), "outcome": None if container.outcome is None else _unusual(container.outcome)}
            for container in run.containers},
    })


def expanded(data: bytes) -> Tree:
    """A run as ``put_down`` gives it."""
    state: Tree = orjson.loads(data)
    for name, values in state["containers"].items():
        outcome = values["outcome"]
        state["containers"][name] = {
            **_usual_values(Container), **values, "outcome": None if outcome is None else {**_usual_values(Outcome), **outcome}}
    return {"run": {**_usual_values(PodRun), **state["run"]}, "containers": state["containers"]}


def _unusual(what: PodRun | Container | Outcome) -> Tree:
    found: Tree = {}
    for name, usual in _plain_fields(type(what)):
        value = getattr(what, name)
        if value != usual:
            found[name] = value
    return found


def _usual_values(of: type[PodRun | Container | Outcome]) -> Tree:
    return {
        name: value.copy() if isinstance(value, dict | list) else value
        for name, value in _plain_fields(of) if value is not MISSING}


@memoized(3)
def _plain_fields(of: type[PodRun | Container | Outcome]) -> tuple[tuple[str, Any], ...]:
    """The fields that can be put down, and their defaults; MISSING where there is none."""
    return tuple(
        (f.name, f.default_factory() if f.default_factory is not MISSING else f.default)
        for f in fields(of) if f.name not in OF_THE_SPEC and f.name not in OF_THE_KUBELET)


def take_up(run: PodRun, state: Tree) -> None:
    """Let a run that was just accepted be the one that was put down."""
    _set(run, state["run"])
    if run.failure is not None:
        run.failure = (run.failure[0], run.failure[1])
    for container in run.containers:
        known = state["containers"].get(container.name)
        if known is not None:
            outcome = known["outcome"]
            _set(container, {**known, "log": _pairs(known["log"]), "previous_log": _pairs(known["previous_log"])})
            container.outcome = None if outcome is None else _outcome(outcome)


def _outcome(saved: Tree) -> Outcome:
    values: dict[str, Any] = {name: _tuple(value) if isinstance(value, list) else value for name, value in saved.items()}
    return Outcome(**values)


def _pairs(saved: list[Any]) -> list[tuple[float, str]]:
    return [(at, line) for at, line in saved]


def _tuple(saved: "list[Any] | tuple[Any, ...]") -> tuple[Any, ...]:
    return tuple(_tuple(item) if isinstance(item, list) else item for item in saved)


def _set(what: PodRun | Container, values: Tree) -> None:
    for f in fields(what):
        if f.name in values:
            setattr(what, f.name, values[f.name])
