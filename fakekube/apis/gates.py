"""The feature gates of a release: which there are, how mature they are, and whether they are on.

The facts stand in ``gates.txt`` beside this file: every gate of every release, with the releases in
which it changed its stage; ``tools/gates.py`` makes it. Left out: warnings for gates that are about
to go.
Upstream: component-base/featuregate/feature_gate.go, pkg/features/kube_features.go.
"""

import pkgutil
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fakekube.apimachinery.releases import minor_of

_STAGES = {"a": "ALPHA", "b": "BETA", "g": "GA", "d": "DEPRECATED"}
_GROUPS = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}
_NEVER = 1000
_DIGITS = "0123456789"


OWN = ("CronJobWorkloads", "UserWorkloadsForJobs", "ParentCompositePodGroups", "DraftWorkload")
"""Gates that upstream does not have: where a KEP says one thing and upstream does another, they
switch to what the KEP says. DraftWorkload has the API of a KEP's first text. Off by default, in
every release, and not told among the release's.
"""


class UnknownFeatureGate(ValueError):
    """A gate that the release does not have."""


class InvalidFeatureGate(ValueError):
    """A setting that no server would start with; the text is upstream's."""


class FeatureGate(NamedTuple):
    """One gate in one release.

    ``stage`` is ALPHA, BETA, GA or DEPRECATED, as the metrics of a server name it.
    """

    name: str
    stage: str
    default: bool
    locked: bool
    needs: tuple[str, ...] = ()


class Gates(Mapping[str, bool]):
    """The state of every gate. Iterating gives the gates of the release, in order of their names.

    Looking up a gate of another release works too, so that code needs no question of versions: off
    before upstream had the gate, its last default once it is gone. A name that never was a gate
    raises KeyError.
    """

    def __init__(self, release: str, overrides: Mapping[str, bool] | None = None) -> None:
        """``release`` is like ``1.37``; ``overrides`` may name AllAlpha and AllBeta.

        Raises UnknownFeatureGate or InvalidFeatureGate, and ValueError for a release that is none.
        """
        self.release = release
        minor = minor_of(release)
        self.known: dict[str, FeatureGate] = {}
        self._elsewhere: dict[str, bool] = {}
        for line in _table().splitlines():
            if not line.startswith("#"):
                self._read(line, minor)
        overrides = overrides or {}
        self._elsewhere |= dict.fromkeys(OWN, False)
        for name in overrides:
            if name in OWN:
                self._elsewhere[name] = overrides[name]
            else:
                self._check(name, overrides[name])
        self._state = {name: _state(gate, overrides) for name, gate in self.known.items()}
        if overrides:
            self._check_needs()
        if self._elsewhere["DraftWorkload"] and self._state.get("GenericWorkload"):
            raise InvalidFeatureGate("the feature gates DraftWorkload and GenericWorkload exclude each other")

    def __getitem__(self, name: str) -> bool:
        state = self._state.get(name)
        return self._elsewhere[name] if state is None else state

    def is_on(self, name: str) -> bool:
        """The state of a gate; a name that never was one is off.

        Quicker than ``get``, for those who ask with every write.
        """
        state = self._state.get(name)
        return self._elsewhere.get(name, False) if state is None else state

    def __iter__(self) -> Iterator[str]:
        return iter(self._state)

    def __len__(self) -> int:
        return len(self._state)

    def _read(self, line: str, minor: int) -> None:
        name, *words = line.split()
        needs: tuple[str, ...] = ()
        since, gone = 0, _NEVER
        current: tuple[str, bool, bool] | None = None
        for word in words:
            if word[0] in _DIGITS:
                locked = word[-1] == "!"
                transition = word[:-1] if locked else word
                if int(transition[:-2]) <= minor:
                    current = (_STAGES[transition[-2]], transition[-1] == "+", locked)
            elif word[0] == "x":
                gone = int(word[1:])
            elif word.startswith("from"):
                since = int(word[4:])
            else:
                first, _, listed = word.removeprefix("needs").partition("=")
                if int(first) <= minor:
                    needs = tuple(listed.split(",")) if listed else ()
        if current is None or not since <= minor < gone:
            self._elsewhere[name] = current is not None and current[1]
        else:
            self.known[name] = FeatureGate(name, *current, needs)

    def _check(self, name: str, on: bool) -> None:
        gate = self.known.get(name)
        if gate is None:
            import difflib

            near = difflib.get_close_matches(name, self.known, n=3)
            hint = f" (Kubernetes {self.release} has {', '.join(near)})" if near else ""
            raise UnknownFeatureGate(f"unrecognized feature gate: {name}{hint}")
        if gate.locked and gate.default != on:
            raise InvalidFeatureGate(
                f"cannot set feature gate {name} to {_text(on)}, feature is locked to {_text(gate.default)}"
            )

    def _check_needs(self) -> None:
        errors = []
        for name, gate in self.known.items():
            missing = [need for need in gate.needs if self._state.get(need) is False]
            if missing and self._state[name]:
                listed = " ".join(missing)
                errors.append(f"{name} is enabled, but depends on features that are disabled: [{listed}]")
        if errors:
            raise InvalidFeatureGate(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")


def _table() -> str:
    data = pkgutil.get_data(__package__, "gates.txt")
    assert data is not None, "the package has its table"
    return data.decode("ascii")


def _state(gate: FeatureGate, overrides: Mapping[str, bool]) -> bool:
    if gate.name in overrides:
        return overrides[gate.name]
    for name, stage in _GROUPS.items():
        if gate.stage == stage and name in overrides and gate.name not in _GROUPS:
            return overrides[name]
    return gate.default


def _text(value: bool) -> str:
    return "true" if value else "false"
