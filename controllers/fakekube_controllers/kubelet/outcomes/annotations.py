"""The annotations by which a pod says how its containers run and end, and what is invalid in them.

``fakekube.dev/KEY`` is for all of the pod's containers but init containers,
``fakekube.dev/KEY.NAME`` for one container, init containers included. ``docs/kubelet.md`` has an
example of each.
"""

import difflib
import re
from collections.abc import Mapping, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Json
from fakekube.runtime.pods import Pod
from fakekube.util import durations

PREFIX = "fakekube.dev/"

CONTAINER_KEYS: Mapping[str, str] = {
    "run-duration": 'how long it runs; "forever" for until it is deleted',
    "exit-code": "how it ends",
    "exit-codes": 'the same by attempt, "1,0" fails once; the last one stays',
    "exit-code-by-index": 'the same by completion index, "3=1,*=0"',
    "reason": "of its end, in place of Completed or Error",
    "message": "of its end",
    "oom": '"true": it is killed for lack of memory',
    "crash-loop": 'how often it fails before it does as it would; "forever"',
    "ready-after": 'how long after its start until it is ready; "never"',
    "unready-after": "how long after its start until it is unready again",
    "unhealthy-after": "how long after its start until its liveness probe fails",
    "started-after": 'how long after its start until its startup probe succeeds; "never"',
    "image-pull": 'by pull: "fail", "ok", or how long it takes, "fail,5s"; the last one stays',
    "image-pull-message": "why a pull fails",
    "start-error": "why it cannot be started, though its image is there",
    "config-error": "why it cannot even be made",
    "log": "what it logs, line by line",
    "ignore-sigterm": '"true": it runs on until its grace period is over',
    "term-duration": "how long it takes to end when it is asked to",
    "term-exit-code": "how it ends then",
    "cpu-usage": 'what it uses, "250m"; or by time since its start, "0s=100m,5m=2"',
    "memory-usage": 'what it uses, "64Mi"; by time likewise',
    "exec": "what commands in it answer, as JSON",
}

METRIC = "metric"
"""``fakekube.dev/metric.NAME`` is a metric of the pod as a whole, for autoscalers."""

POD_KEYS: Mapping[str, str] = {
    "start-delay": "how long after it was bound until its first container starts",
    "admission-reject": 'the node does not take it, for this reason: "OutOfcpu", or "OutOfcpu: a text"',
    "evict-after": "how long after it was bound until the node evicts it for lack of memory",
    "hold-status": '"true": its status is not written any more, as if its node were dead',
}

CONTRADICTIONS: Sequence[tuple[str, str]] = (
    ("exit-code", "exit-codes"), ("exit-code", "exit-code-by-index"), ("exit-codes", "exit-code-by-index"),
    ("crash-loop", "exit-codes"), ("crash-loop", "exit-code-by-index"), ("oom", "exit-codes"), ("oom", "exit-code-by-index"),
    ("oom", "reason"), ("ignore-sigterm", "term-duration"), ("ignore-sigterm", "term-exit-code"),
    ("start-error", "config-error"),
)


class InvalidOutcome(ValueError):
    """An annotation is invalid, or a callback failed. ``reason`` is for machines; the text names
    the annotation or callback.
    """

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


def invalid(name: str, text: str) -> InvalidOutcome:
    """The error of an invalid annotation, ``name`` without its prefix."""
    return InvalidOutcome("InvalidAnnotation", f"annotation {PREFIX}{name}: {text}")


class ContainerAnnotations:
    """The annotations for one container. Every reader returns None where there is none, and raises
    InvalidOutcome.
    """

    def __init__(self, annotations: Mapping[str, str], container: str, *, is_init: bool) -> None:
        self._annotations, self._container, self._is_init = annotations, container, is_init

    def text(self, key: str) -> str | None:
        """The value as it stands."""
        own = self._annotations.get(f"{PREFIX}{key}.{self._container}")
        return own if own is not None or self._is_init else self._annotations.get(PREFIX + key)

    def is_own(self, key: str) -> bool:
        """Whether the annotation names this container, and is not for all."""
        return f"{PREFIX}{key}.{self._container}" in self._annotations

    def seconds(self, key: str, word: str = "") -> float | None:
        """A duration; None too where the value is ``word``, which the caller looks for itself."""
        text = self.text(key)
        return None if text is None or (word and text == word) else seconds_of(key, text)

    def flag(self, key: str) -> bool:
        """``true`` or ``false``."""
        text = self.text(key)
        if text not in (None, "true", "false"):
            raise invalid(key, f"{text!r} is neither true nor false")
        return text == "true"

    def code(self, key: str) -> int | None:
        """An exit code."""
        text = self.text(key)
        return None if text is None else code_of(key, text)

    def check_contradictions(self) -> None:
        """Raise InvalidOutcome for two annotations that contradict each other."""
        for one, other in CONTRADICTIONS:
            if self._is_set(one) and self._is_set(other):
                raise invalid(one, f"contradicts {PREFIX}{other}")
        code = self.code("exit-code")
        if code is not None and self.flag("oom") and code != 137:
            raise invalid("oom", f"contradicts {PREFIX}exit-code: what is killed for want of memory ends with 137")
        if code == 0 and self.text("crash-loop") is not None:
            raise invalid("crash-loop", f"contradicts {PREFIX}exit-code 0")
        if self.text("run-duration") == "forever":
            for key in ("exit-code", "exit-codes", "exit-code-by-index", "oom", "crash-loop"):
                if self._is_set(key):
                    raise invalid("run-duration", f"what runs for ever never ends, and {PREFIX}{key} says how it does")

    def _is_set(self, key: str) -> bool:
        return self.text(key) not in (None, "false")


def exec_answer(texts: Mapping[str, str], container: str, command: Sequence[str]) -> Json:
    """What the annotation ``exec`` says of a command in a container; None where it says nothing.

    Raises ValueError for what is no JSON object.
    """
    text = texts.get(f"{PREFIX}exec.{container}", texts.get(f"{PREFIX}exec"))
    if text is None:
        return None
    import orjson

    try:
        return orjson.loads(text).get(" ".join(command))
    except (orjson.JSONDecodeError, AttributeError) as error:
        raise ValueError(f"annotation {PREFIX}exec is no JSON object: {text}") from error


def seconds_of(key: str, text: str) -> float:
    """A duration. Raises InvalidOutcome."""
    try:
        return durations.seconds_of(text)
    except ValueError as error:
        raise invalid(key, str(error)) from error


def code_of(key: str, text: str) -> int:
    """An exit code. Raises InvalidOutcome."""
    if not re.fullmatch(r"\d{1,9}", text.strip(), re.ASCII) or int(text) > 255:
        raise invalid(key, f"{text!r} is no exit code")
    return int(text)


def warnings(pod: Pod) -> list[str]:
    """A line for each annotation of a pod that is not known, or names a container that is not
    there.
    """
    spec = pod["spec"]
    names = [c["name"] for c in (*(spec.get("initContainers") or ()), *spec["containers"])]
    result = []
    for key in meta.annotations_of(pod):
        if not key.startswith(PREFIX):
            continue
        word, dot, name = key.removeprefix(PREFIX).partition(".")
        if word == METRIC and name:  # any name: whoever asks for it knows it
            continue
        known = CONTAINER_KEYS if dot else {**CONTAINER_KEYS, **POD_KEYS}
        if word not in known:
            near = difflib.get_close_matches(word, known, 1)
            result.append(f"annotation {key} is not known" + (f": is {PREFIX}{near[0]} meant?" if near else ""))
        elif dot and name not in names:
            result.append(f"annotation {key} speaks of a container that is not there: there are {', '.join(names)}")
    return result
