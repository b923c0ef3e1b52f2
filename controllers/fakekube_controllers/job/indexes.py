"""Completion indexes as a Job's status writes them: ``0-2,5,7,8``.

Runs of three or more are ``a-b``, runs of two are ``a,b``. Upstream:
pkg/controller/job/indexed_job_utils.go.
"""

from collections.abc import Iterable, Mapping
from typing import Any

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"


def parse(text: str, completions: int | None = None) -> list[int]:
    """The indexes that a text lists, ascending; those at or above ``completions`` are dropped, as
    is what does not parse.
    """
    result: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            continue
        low, high = int(first), int(last or first)
        if completions is not None:
            high = min(high, completions - 1)
        result.extend(range(low, high + 1))
    return result


def text_of(indexes: Iterable[int]) -> str:
    """The shortest text for a set of indexes, given in any order."""
    parts: list[str] = []
    run: list[int] = []
    for number in [*sorted(dict.fromkeys(indexes)), None]:
        if run and number != run[-1] + 1:
            parts.extend([f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run))
            run = []
        if number is not None:
            run.append(number)
    return ",".join(parts)


def index_of(pod: Mapping[str, Any]) -> int | None:
    """A pod's completion index, or None when it has none that parses."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdecimal() else None


def count_of(pod: Mapping[str, Any], annotation: str) -> int:
    """A failure count that a pod carries; 0 when it carries none."""
    text = (pod["metadata"].get("annotations") or {}).get(annotation, "")
    return int(text) if text.isdecimal() else 0
