"""The run of a pod as JSON: whole for a checkpoint, packed once it has ended.

A packed run holds only what differs from one that never began: it is a few hundred bytes.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.util.jsonbytes import encode_to_keep
from fakekube.util.memory import memoized
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.containers.timers import Timer
from fakekube_controllers.kubelet.outcomes.outcome import Outcome
from fakekube_controllers.kubelet.pods.run import PodRun

FROM_SPEC = ("name", "image", "restarts_on", "pod", "init", "apps", "missing")
"""Fields that follow from the pod."""
NOT_PACKED = ("on_event", "plan", "config", "outcome", "status")
"""Fields that are not packed, or not as they are."""
PLAIN = (str, bool, int, float, tuple, type(None))
"""Types that are JSON as they are. All else, such as functions, belongs to the kubelet that has it.
"""


def as_json(run: PodRun) -> Tree:
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
        if f.name in FROM_SPEC:
            continue
        if isinstance(value, dict):
            found[f.name] = _with_text_keys(value)
        elif isinstance(value, list):
            found[f.name] = value.copy()
        elif type(value) in PLAIN:
            found[f.name] = value
    return found


def packed(run: PodRun) -> bytes:
    """A run that has ended, for ``unpacked``. Its last status is not in it: that is the pod's."""
    return encode_to_keep({
        "run": _changed(run),
        "containers": {
            container.name: {**_changed(container), "outcome": None if container.outcome is None else _changed(container.outcome)}
            for container in run.containers},
    })


def unpacked(data: bytes) -> Tree:
    """A run as ``as_json`` gives it."""
    state: Tree = orjson.loads(data)
    for name, values in state["containers"].items():
        outcome = values["outcome"]
        state["containers"][name] = {
            **_default_values(Container), **values,
            "outcome": None if outcome is None else {**_default_values(Outcome), **outcome}}
    return {"run": {**_default_values(PodRun), **state["run"]}, "containers": state["containers"]}


def _changed(what: PodRun | Container | Outcome) -> Tree:
    found: Tree = {}
    for name, default in _plain_fields(type(what)):
        value = getattr(what, name)
        if value != default:
            found[name] = _with_text_keys(value) if isinstance(value, dict) else value
    return found


def _with_text_keys(values: Mapping[str, Any]) -> Tree:
    """A copy whose keys are plain texts, and not of an enumeration."""
    return {str(key): value for key, value in values.items()}


def _default_values(of: type[PodRun | Container | Outcome]) -> Tree:
    return {
        name: value.copy() if isinstance(value, dict | list) else value
        for name, value in _plain_fields(of) if value is not MISSING}


@memoized(3)
def _plain_fields(of: type[PodRun | Container | Outcome]) -> tuple[tuple[str, Any], ...]:
    """The fields that can be put down, and their defaults; MISSING where there is none."""
    return tuple(
        (f.name, f.default_factory() if f.default_factory is not MISSING else f.default)
        for f in fields(of) if f.name not in FROM_SPEC and f.name not in NOT_PACKED)


def restore(run: PodRun, state: Tree) -> None:
    """Let a run that was just built be the one that ``state`` was made from."""
    _set(run, state["run"])
    if run.failure is not None:
        run.failure = (run.failure[0], run.failure[1])
    for container in run.containers:
        known = state["containers"].get(container.name)
        if known is not None:
            outcome = known["outcome"]
            _set(container, {
                **known, "log": _pairs(known["log"]), "previous_log": _pairs(known["previous_log"]),
                "later": {Timer(name): at for name, at in known["later"].items()}})
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
