"""Two answers to one request: what they have in common whoever gives them, and where they part."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

DRAWN = ("creationTimestamp", "resourceVersion", "time")
"""Fields that each server fills in for itself."""
ADDRESSES = ("clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort")
TEXTS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
    (re.compile(r"kube-api-access-[a-z0-9]{5}"), "kube-api-access-NAME"),
    (re.compile(r'(resourceVersion\\*":\\*")\d+'), r"\1VERSION"),
    (re.compile(r"scheme \\?\"[^\"]*\\?\""), "scheme NAME"),
    (re.compile(r"0x[0-9a-f]{8,}"), "ADDRESS"),
)
"""Parts of texts that are drawn, or that the build of a server decides."""


class Answer(NamedTuple):
    """What a server answered: the status, the body, the warnings."""

    status: int
    body: Any
    warnings: tuple[str, ...]


class Difference(NamedTuple):
    """Where two answers part, and what each has there."""

    where: str
    real: Any
    ours: Any


def difference(real: Answer, ours: Answer, times: re.Pattern[str]) -> Difference | None:
    """What differs first, or the causes that only one of two refusals has; None when nothing does.

    ``times`` finds what both clocks may have said.
    """
    left, right = (Answer(each.status, common(each.body, times), each.warnings) for each in (real, ours))
    if orjson.dumps([*left]) == orjson.dumps([*right]):  # for Python true is 1
        return None
    if left.status != right.status:
        told = [each.body.get("message", "") if isinstance(each.body, dict) else "" for each in (left, right)]
        return Difference("code", (left.status, told[0]), (right.status, told[1]))
    if left.status == 422:
        causes = [_causes(each.body) for each in (left, right)]
        if sorted(causes[0]) == sorted(causes[1]):
            return None  # maps have no order in Go
        return Difference(
            "causes", [one for one in causes[0] if one not in causes[1]], [one for one in causes[1] if one not in causes[0]])
    return next(_parts(left.body, right.body, ""), None)


def _causes(status: Any) -> list[str]:
    found = (status.get("details") or {}).get("causes") or []
    return [f"{cause.get('field', '')}: {cause['message']}" for cause in found]


def common(value: Any, times: re.Pattern[str], name: str = "") -> Any:
    """A body without what each server draws."""
    if name in DRAWN or (name in ADDRESSES and value not in ("None", ["None"], "", 0)):
        return "DRAWN"
    if isinstance(value, dict):
        return {key: common(one, times, key) for key, one in value.items()}
    if isinstance(value, list):
        return [common(one, times) for one in value]
    if isinstance(value, str):
        for pattern, word in TEXTS:
            value = pattern.sub(word, value)
        return times.sub("TIME", value)
    return value


def _parts(real: Any, ours: Any, path: str) -> Iterator[Difference]:
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in dict.fromkeys([*real, *ours]):
            if key in real and key in ours:
                yield from _parts(real[key], ours[key], f"{path}.{key}")
            else:
                yield Difference(f"{path}.{key}", real.get(key, "(absent)"), ours.get(key, "(absent)"))
    elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        for place, (left, right) in enumerate(zip(real, ours, strict=True)):
            yield from _parts(left, right, f"{path}[{place}]")
    elif orjson.dumps(real) != orjson.dumps(ours):
        yield Difference(path, real, ours)
