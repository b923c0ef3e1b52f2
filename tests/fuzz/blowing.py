"""Requests that are large in one place: a seeded generator of them, and how much CPU time each may
cost.

An object, a query or a header is taken, one place in it is found by chance, and there stands a long
text, a huge number, a long list or a map of many keys. A cost that grows with the square of the
size shows at once. ``python -m tests.fuzz`` runs it.
"""

import copy
import json
import random
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from tests.fuzz.conftest import (
    APPLY,
    JSON,
    JSON_PATCH,
    MAP,
    MAPS,
    MERGE_PATCH,
    PODS,
    STRATEGIC,
    YAML,
    Target,
)
from tests.fuzz.objects import METADATA, objects

CONSTANT_SECONDS = 0.05
SECONDS_A_BYTE = 10e-6
"""What a request may cost in CPU time: several times of what the dearest shapes do, so that only
growth shows.
"""

SMALL, LARGE = 2_000, 100_000
MOST_BYTES = 8_000_000
"""Of what is repeated inside of a repetition; a server takes 3 MB, and reads no more."""
ALPHABETS = (
    "9", "0", "1.", "a", "a-", "a.", "-", ".", " ", ",", "/", "a/", "a,b", "a=b,",
    "!a,", "a in (b),", "\\", '"', "%", "1h", "1-2,",
    "*/",
    "٣", "é", "\u0000", "e", "1e", ":", "a:", "[", "(", "=", "&", "?", "..", "../", "Ki", "A", "_", "~1", "\n", "$(A)", "{{",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2**31 - 1, 2**31, -(2**31), 2**53, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 1e18, 1.5, -0.0, 1e308, True,
    None,
)  # fmt: skip
TIMES = (
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z", "2026-01-01T00:00:00+23:59",
    "0000-01-01T00:00:00Z",
)
OPTIONS = (
    "labelSelector", "fieldSelector", "limit", "continue", "resourceVersion", "timeoutSeconds", "timeout", "gracePeriodSeconds",
    "fieldManager", "fieldValidation", "dryRun", "propagationPolicy", "pretty", "sinceSeconds", "sinceTime", "tailLines",
    "limitBytes",
)  # fmt: skip
HEADERS = ("accept", "content-type", "user-agent", "authorization", "impersonate-user", "impersonate-group", "audit-id")
APPLIED = {
    "configmaps": "ConfigMap", "pods": "Pod", "services": "Service", "deployments": "Deployment", "jobs": "Job", "roles": "Role",
    "endpointslices": "EndpointSlice", "networkpolicies": "NetworkPolicy", "secrets": "Secret", "serviceaccounts":
    "ServiceAccount",
}  # fmt: skip
PREFIXES = ("", "a=", "a in (", "a>", "metadata.name=", "status.phase!=", "5", "Bearer ", "application/json;", "v1;")


class Sent(NamedTuple):
    """One request."""

    method: str
    path: str
    body: bytes = b""
    media: str = JSON
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}

    @property
    def size(self) -> int:
        """How many bytes of it a client chooses."""
        texts = [self.path, self.media, *self.query, *self.query.values(), *self.headers.values()]
        return len(self.body) + sum(map(len, texts))


class Spent(NamedTuple):
    """What one request came to.

    ``status`` is 0 where a promise of the server was broken, which ``why`` tells; ``words`` are the
    first of what an answer of 500 or above says.
    """

    sent: Sent
    status: int
    cpu_seconds: float
    why: str = ""
    words: str = ""

    @property
    def over_budget(self) -> bool:
        """Whether it cost more than its bytes allow."""
        return self.cpu_seconds > CONSTANT_SECONDS + SECONDS_A_BYTE * self.sent.size


def spend(target: Target, sent: Sent) -> Spent:
    """Send a request.

    One that is over its budget is sent twice more, and the cheapest counts: a collection of garbage
    or what is made at first use is nobody's fault.
    """
    found = _once(target, sent)
    for _ in range(2):
        if not found.over_budget or found.why:
            return found
        again = _once(target, sent)
        found = min(found, again, key=lambda spent: spent.cpu_seconds)
    return found


def _once(target: Target, sent: Sent) -> Spent:
    started, words = time.process_time(), ""
    try:
        answer = target.send(sent.method, sent.path, sent.body, sent.media, query=sent.query, headers=sent.headers)
        status, why = answer.status, ""
        if status >= 500:
            words = " ".join(target.told(answer)[1].split()[:3])
    except Exception as error:  # a broken promise of any kind is what is looked for
        status, why = 0, f"{type(error).__name__}: {str(error)[:300]}"
    return Spent(sent, status, time.process_time() - started, why, words)


class Blower:
    """An endless row of requests; one seed gives one row."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._objects = objects()

    def next(self) -> Sent:
        """The next request."""
        draw = self._random
        return draw.choices((self._written, self._patched, self._asked), (6, 3, 2))[0]()

    def size(self) -> int:
        """How long something is to be: mostly short, sometimes long."""
        return int(10 ** self._random.uniform(0, 5 if self._random.random() < 0.1 else 3.3))

    def text(self, size: int | None = None) -> str:
        """A text of one repeated piece, perhaps with something else at an end."""
        draw, size = self._random, self.size() if size is None else size
        piece = draw.choice(ALPHABETS)
        repeated = (piece * (size // len(piece) + 1))[:size]
        return draw.choice(("", "", "-", "a", "1")) + repeated + draw.choice(("", "", "-", "a", "Mi", "Z"))

    def value(self) -> Any:
        """Something that may stand anywhere."""
        draw = self._random
        made = draw.choice((self.text, lambda: draw.choice(NUMBERS), lambda: draw.choice(TIMES), dict, list, lambda: {"": None}))
        return made()

    def _tree(self) -> tuple[str, dict[str, Any]]:
        path, content = self._random.choice(self._objects)
        tree = copy.deepcopy({"metadata": {"name": "x", **METADATA}, **content})
        for _ in range(self._random.choice((1, 1, 1, 2, 4))):
            self._blow(tree)
        return path, tree

    def _blow(self, tree: Any) -> None:
        """Change one place, at any depth."""
        draw, holder = self._random, tree
        while True:
            key = draw.choice(list(holder)) if isinstance(holder, dict) else draw.randrange(len(holder))
            inner = holder[key]
            if not (isinstance(inner, dict | list) and inner) or draw.random() < 0.15:
                break
            holder = inner
        holder[key] = self._blown(inner)

    def _blown(self, value: Any) -> Any:
        draw, many = self._random, min(self.size(), LARGE // 20)
        if isinstance(value, dict | list):
            many = min(many, max(1, MOST_BYTES // len(str(value))))
        if isinstance(value, list) and value:
            item = draw.choice(value)
            return [self._varied(item, number) for number in range(many)] if draw.random() < 0.7 else [item] * many
        if isinstance(value, dict) and value and draw.random() < 0.7:
            key = draw.choice(list(value))
            return {**value, **{f"{key}{number}": value[key] for number in range(many)}}
        if isinstance(value, int) and draw.random() < 0.7:
            return draw.choice(NUMBERS)
        return self.value()

    @staticmethod
    def _varied(item: Any, number: int) -> Any:
        """A copy that differs in its texts and numbers."""
        if isinstance(item, dict):
            return {key: f"{value}{number}" if isinstance(value, str) else value for key, value in item.items()}
        return f"{item}{number}" if isinstance(item, str) else number

    def _bytes(self, tree: Any) -> bytes:
        """JSON; at times with numbers of many digits, keys given twice, or cut off."""
        draw = self._random
        try:
            body = orjson.dumps(tree)
        except TypeError:  # texts with surrogates, numbers of more than 64 bits
            body = json.dumps(tree).encode()
        chance = draw.random()
        if chance < 0.05:
            body = body.replace(b":5", b":" + b"9" * self.size(), 1)
        elif chance < 0.1:
            body = body.replace(b"{", b"{" + b'"k":1,' * self.size(), 1)
        elif chance < 0.13:
            body = body[:draw.randrange(len(body))]
        elif chance < 0.15:
            body = b'{"a":' * self.size() + body
        return body

    def _written(self) -> Sent:
        path, tree = self._tree()
        draw, body = self._random, self._bytes(tree)
        media = draw.choice((JSON, JSON, JSON, YAML))
        if media == YAML and len(body) < SMALL * 5:
            body = b"# \n" + body  # no short way for what is plain JSON
        query = {"dryRun": "All", "fieldValidation": draw.choice(("Strict", "Warn", "Ignore"))}
        return Sent("POST", path, body, media, query)

    def _patched(self) -> Sent:
        draw = self._random
        path, tree = self._tree()
        media = draw.choice((MERGE_PATCH, STRATEGIC, APPLY, JSON_PATCH))
        query = {"dryRun": "All", "fieldManager": "m", **({"force": "true"} if media == APPLY else {})}
        if media == JSON_PATCH:
            return Sent("PATCH", MAP, self._bytes(self._operations()), media, query)
        if media == APPLY:
            while (kind := APPLIED.get(path.rpartition("/")[2])) is None:
                path, tree = self._tree()
            tree |= {"apiVersion": path.removeprefix("/apis/").removeprefix("/api/").partition("/namespaces")[0], "kind": kind}
            if isinstance(tree["metadata"], dict):
                tree["metadata"]["name"] = "kept"
            return Sent("PATCH", f"{path}/kept", self._bytes(tree), media, query)
        return Sent("PATCH", f"{draw.choice((MAPS, PODS))}/kept", self._bytes(tree), media, query)

    def _operations(self) -> list[Any]:
        draw = self._random
        paths = ("/data/k", "/data", "/metadata/labels", "/metadata/finalizers/0", "/metadata/finalizers", "/data/k~1", "", "/-")
        return [
            {"op": draw.choice(("add", "replace", "test", "move", "copy", "remove")), "path": draw.choice(paths),
             "from": draw.choice(paths), "value": draw.choice(("v", {}, ["a/b"], None, {"a": "b"}))}
            for _ in range(min(self.size(), SMALL))
        ]  # fmt: skip

    def _asked(self) -> Sent:
        draw = self._random
        name = self.text(50).replace("/", "")
        path = draw.choice((MAPS, MAP, PODS, f"{PODS}/kept/log", "/apis", f"{MAPS}/{name}"))
        query = {name: draw.choice(PREFIXES) + self.text() for name in draw.sample(OPTIONS, draw.choice((0, 1, 1, 2)))}
        chosen = draw.sample(HEADERS, draw.choice((0, 0, 1)))
        headers = {name: draw.choice(PREFIXES) + self.text().replace("\n", "") for name in chosen}
        method = draw.choice(("GET", "GET", "DELETE"))
        return Sent(method, path, b"", JSON, query | ({"dryRun": "All"} if method != "GET" else {}), headers)
