"""What a cluster can be told, in one place, for the constructor, the command line and the pytest marker alike.

Texts have upstream's syntax (``--feature-gates A=true,B=false``, ``--controllers '*,-scheduler'``); Python values are taken
too. Nothing here imports the server, so that reading options costs nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

DEFAULT_VERSION = "1.37"
WORKLOAD_AWARE = "workload-aware"
WORKLOAD_AWARE_GATES = ("GenericWorkload", "GangScheduling", "WorkloadWithJob")


class OptionError(ValueError):
    """An option that cannot be meant; the text says which and why."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """One cluster. ``clock`` is ``real``, ``manual``, ``auto``, or a factor by which time is faster than the wall's."""

    nodes: int = 1
    controllers: str = "*"
    kubernetes_version: str = DEFAULT_VERSION
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    runtime_config: Mapping[str, bool] = field(default_factory=dict)
    clock: str | float = "auto"
    seed: int = 0
    start: datetime | None = None  # where virtual time begins
    disable_admission_plugins: tuple[str, ...] = ()
    enable_admission_plugins: tuple[str, ...] = ()

    @classmethod
    def of(cls, **values: Any) -> "ClusterOptions":
        """Options from keyword arguments as people write them. Raises OptionError, naming the option."""
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                raise OptionError(f"unknown option {name!r}: known are {', '.join(known)}")
        return cls(**{name: _CONVERTERS.get(name, _as_it_is)(value) for name, value in values.items()})


def switches(value: str | Mapping[str, bool] | Iterable[str] | None, option: str = "feature_gates") -> dict[str, bool]:
    """``A=true,B=false`` (or a mapping, or several such texts) as a mapping; ``A`` alone is true."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(name): bool(on) for name, on in value.items()}
    result: dict[str, bool] = {}
    for part in (value if isinstance(value, str) else ",".join(value)).split(","):
        name, equals, text = part.strip().partition("=")
        if not name:
            continue
        if name == WORKLOAD_AWARE and not equals:
            result.update(dict.fromkeys(WORKLOAD_AWARE_GATES, True))
            continue
        if equals and text.lower() not in ("true", "false", "t", "f", "1", "0", "on", "off"):
            raise OptionError(
                f'{option}: invalid value of {name}={text}, err: strconv.ParseBool: parsing "{text}": invalid syntax')
        result[name] = not equals or text.lower() in ("true", "t", "1", "on")
    return result


def _version(value: Any) -> str:
    text = str(value).removeprefix("v")
    parts = text.split(".")
    if len(parts) < 2 or not all(part.isdecimal() for part in parts[:2]):
        raise OptionError(f"kubernetes_version: {value!r} is no version: say 1.37")
    return ".".join(parts[:2])


def _clock(value: Any) -> str | float:
    if value in ("real", "manual", "auto"):
        return str(value)
    try:
        factor = float(str(value).removeprefix("scaled:").removesuffix("x"))
    except ValueError:
        factor = 0.0
    if factor <= 0:
        raise OptionError(f"clock: {value!r} is none of real, manual, auto, or a factor above 0")
    return factor


def _nodes(value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise OptionError(f"nodes: {value!r} is no number of nodes")
    return number


def _names(value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else list(value or ())
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _controllers(value: Any) -> str:
    return value if isinstance(value, str) else ",".join(value)


def _as_it_is(value: Any) -> Any:
    return value


_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "kubernetes_version": _version, "clock": _clock, "nodes": _nodes, "controllers": _controllers, "seed": int,
    "feature_gates": lambda value: switches(value, "feature_gates"),
    "runtime_config": lambda value: switches(value, "runtime_config"),
    "disable_admission_plugins": _names, "enable_admission_plugins": _names,
}


def selected(text: str, known: Iterable[str], optional: Iterable[str] = ()) -> list[str]:
    """The controllers that ``*,-scheduler`` or ``namespace,serviceaccount`` names, in the order of ``known``.

    ``*`` stands for all but the ``optional`` ones. The ending ``-controller`` may be left out or written. Raises
    OptionError for a name that is not known, in kube-controller-manager's words.
    """
    names, extra = list(known), list(optional)
    wanted: dict[str, bool] = {}
    everything = False
    for part in text.split(","):
        word = part.strip()
        if not word:
            continue
        if word == "*":
            everything = True
            continue
        name, on = word.removeprefix("-"), not word.startswith("-")
        short = next((known for known in (name, name.removesuffix("-controller")) if known in names), None)
        if short is None:
            raise OptionError(f'controllers: "{name}" is not in the list of known controllers: {", ".join(names)}')
        wanted[short] = on
    return [name for name in names if wanted.get(name, everything and name not in extra)]
