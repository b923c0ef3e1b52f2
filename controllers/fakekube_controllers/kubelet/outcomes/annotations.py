"""The words in which a pod's annotations say how its containers fare, and what cannot be meant by them.

``fakekube.dev/KEY`` speaks of all of the pod's containers but init containers, ``fakekube.dev/KEY.NAME`` of one, init containers
included. ``docs/kubelet.md`` has an example of each.
"""

import difflib
import re
from collections.abc import Mapping, Sequence

from fakekube.runtime.pods import Pod
from fakekube.util import durations

PREFIX = "fakekube.dev/"

OF_CONTAINERS: Mapping[str, str] = {
    "run-duration": 'how long it runs; "forever" for until it is deleted',
    "exit-code": "how it ends",
    "exit-codes": 'the same by attempt, "1,0" fails once; the last one stays',
    "exit-code-by-index": 'the same by completion index, "3=1,*=0"',
    "reason": "of its end, in place of Completed or Error",
    "message": "of its end",
    "oom": '"true": it ends for want of memory',
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

OF_PODS: Mapping[str, str] = {
    "start-delay": "how long after it was bound until its first container starts",
    "admission-reject": 'the node does not take it, for this reason: "OutOfcpu", or "OutOfcpu: a text"',
    "evict-after": "how long after it was bound until the node evicts it for want of memory",
    "hold-status": '"true": nothing is told of it, as if its node were dead',
}

CONTRADICTIONS: Sequence[tuple[str, str]] = (
    ("exit-code", "exit-codes"), ("exit-code", "exit-code-by-index"), ("exit-codes", "exit-code-by-index"),
    ("crash-loop", "exit-codes"), ("crash-loop", "exit-code-by-index"), ("oom", "exit-codes"), ("oom", "exit-code-by-index"),
    ("oom", "reason"), ("ignore-sigterm", "term-duration"), ("ignore-sigterm", "term-exit-code"),
    ("start-error", "config-error"),
)


class BadOutcome(ValueError):
    """What was said of a container cannot be meant. ``reason`` is for machines; the text names who said it."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


def bad(name: str, text: str) -> BadOutcome:
    """An annotation that cannot be meant."""
    return BadOutcome("InvalidAnnotation", f"annotation {PREFIX}{name}: {text}")


class Said:
    """What is said of one container. Readers return None for what is not said, and raise BadOutcome."""

    def __init__(self, annotations: Mapping[str, str], container: str, *, is_init: bool) -> None:
        self._annotations, self._container, self._is_init = annotations, container, is_init

    def text(self, key: str) -> str | None:
        """What is said, as it stands."""
        own = self._annotations.get(f"{PREFIX}{key}.{self._container}")
        return own if own is not None or self._is_init else self._annotations.get(PREFIX + key)

    def of_it_alone(self, key: str) -> bool:
        """Whether this is said of this container, and not of all."""
        return f"{PREFIX}{key}.{self._container}" in self._annotations

    def seconds(self, key: str, word: str = "") -> float | None:
        """A duration; None too for ``word``, which the caller asks for itself."""
        text = self.text(key)
        return None if text is None or (word and text == word) else seconds_of(key, text)

    def flag(self, key: str) -> bool:
        """``true`` or ``false``."""
        text = self.text(key)
        if text not in (None, "true", "false"):
            raise bad(key, f"{text!r} is neither true nor false")
        return text == "true"

    def code(self, key: str) -> int | None:
        """An exit code."""
        text = self.text(key)
        return None if text is None else code_of(key, text)

    def check(self) -> None:
        """Raise BadOutcome for two sayings that contradict each other."""
        for one, other in CONTRADICTIONS:
            if self._counts(one) and self._counts(other):
                raise bad(one, f"contradicts {PREFIX}{other}")
        code = self.code("exit-code")
        if code is not None and self.flag("oom") and code != 137:
            raise bad("oom", f"contradicts {PREFIX}exit-code: what is killed for want of memory ends with 137")
        if code == 0 and self.text("crash-loop") is not None:
            raise bad("crash-loop", f"contradicts {PREFIX}exit-code 0")
        if self.text("run-duration") == "forever":
            for key in ("exit-code", "exit-codes", "exit-code-by-index", "oom", "crash-loop"):
                if self._counts(key):
                    raise bad("run-duration", f"what runs for ever never ends, and {PREFIX}{key} says how it does")

    def _counts(self, key: str) -> bool:
        return self.text(key) not in (None, "false")


def seconds_of(key: str, text: str) -> float:
    """A duration. Raises BadOutcome."""
    try:
        return durations.seconds_of(text)
    except ValueError as error:
        raise bad(key, str(error)) from error


def code_of(key: str, text: str) -> int:
    """An exit code. Raises BadOutcome."""
    if not re.fullmatch(r"\d{1,9}", text.strip(), re.ASCII) or int(text) > 255:
        raise bad(key, f"{text!r} is no exit code")
    return int(text)


def of_pod(pod: Pod) -> Mapping[str, str]:
    """A pod's annotations."""
    found: Mapping[str, str] = pod["metadata"].get("annotations") or {}
    return found


def complaints(pod: Pod) -> list[str]:
    """What a pod's annotations say that nobody understands, a line each."""
    spec = pod["spec"]
    names = [c["name"] for c in (*(spec.get("initContainers") or ()), *spec["containers"])]
    result = []
    for key in of_pod(pod):
        if not key.startswith(PREFIX):
            continue
        word, dot, name = key.removeprefix(PREFIX).partition(".")
        if word == METRIC and name:  # any name: whoever asks for it knows it
            continue
        known = OF_CONTAINERS if dot else {**OF_CONTAINERS, **OF_PODS}
        if word not in known:
            near = difflib.get_close_matches(word, known, 1)
            result.append(f"annotation {key} is not known" + (f": is {PREFIX}{near[0]} meant?" if near else ""))
        elif dot and name not in names:
            result.append(f"annotation {key} speaks of a container that is not there: there are {', '.join(names)}")
    return result
