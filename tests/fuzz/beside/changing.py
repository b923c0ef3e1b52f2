"""Objects, changed here and there by what their schema allows and by what it does not.

The schemas are those of a server's OpenAPI v3, which has the words of enumerations. All is drawn
from one generator: one seed gives one series of objects.
"""

import copy
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

Tree = dict[str, Any]
WORDS = (
    "", "a", "A", "a_b", "default", "-a", "a-", "a.b", "A.b", "example.com/x", "example.com/", "/x", "a" * 64, "a" * 254, "1",
    "0", "-1", "1.5", "10.0.0.1", "fd00::1", "10.0.0.0/8", "010.0.0.1", "True", "true", "Always", "Never", "x y", "é", "*", "/a",
    "/a/../b", "http://a.b/", "1Gi", "100m", "-5", "1e3", "2026-01-01T00:00:00Z", "kubernetes.io/x", "k8s.io",
    "node.kubernetes.io/not-ready", "a=b", "$(X)", "Unknown", "None")
NUMBERS = (0, 1, -1, 2, 5, 10, 80, 100, 420, 511, 512, 1000, 65535, 65536, 2**31 - 1, -(2**31), 2**31)
LEFT_ALONE = ("apiVersion", "kind", "status", "managedFields", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds")
MAX_DEPTH = 6


class Place(NamedTuple):
    """A value in a tree: what holds it, under which key, its schema, and the keys on the way."""

    holder: Any
    key: Any
    schema: Tree
    path: tuple[Any, ...]


class Changer:
    """Draws changes. ``schemas`` are the components of OpenAPI v3, by their names."""

    def __init__(self, seed: int, schemas: Tree) -> None:
        self.rnd, self._schemas = random.Random(seed), schemas
        self._words: dict[str, list[str]] = {}

    def learn(self, tree: Any, name: str = "") -> None:
        """Remember the texts of an object by the fields that hold them."""
        if isinstance(tree, dict):
            for key, value in tree.items():
                self.learn(value, key)
        elif isinstance(tree, list):
            for value in tree:
                self.learn(value, name)
        elif isinstance(tree, str) and len(tree) < 200:
            self._words.setdefault(name, []).append(tree)

    def changed(self, tree: Tree, schema: Tree) -> Tree:
        """The object, itself, with one to three changes."""
        for _ in range(self.rnd.choice((1, 1, 1, 2, 2, 3))):
            if self.rnd.random() < 0.5:
                self._add(tree, schema)
            else:
                self._change(tree, schema)
        return tree

    def _add(self, tree: Tree, schema: Tree) -> None:
        holders = list(self._objects(tree, schema))
        for _ in range(5):
            holder, fields = self.rnd.choice(holders)
            missing = [name for name in fields if name not in holder and name not in LEFT_ALONE]
            if missing:
                name = self.rnd.choice(missing)
                holder[name] = self.value(fields[name], name)
                return

    def _change(self, tree: Tree, schema: Tree) -> None:
        places = [place for place in self._places(tree, schema, ()) if self._may_change(place.path)]
        if not places:
            return
        place, drawn = self.rnd.choice(places), self.rnd.random()
        value = place.holder[place.key]
        if drawn < 0.6:
            names = [name for name in place.path if isinstance(name, str)]
            place.holder[place.key] = self.value(place.schema, names[-1])
        elif drawn < 0.8:
            del place.holder[place.key]
        elif isinstance(value, list) and value:
            place.holder[place.key] = self.rnd.choice(([], [*value, copy.deepcopy(value[0])], value[:1], value[::-1]))
        else:
            place.holder[place.key] = self.rnd.choice((None, "", 0, {}, [], "x", -1, True))

    @staticmethod
    def _may_change(path: tuple[Any, ...]) -> bool:
        return path[0] not in ("apiVersion", "kind", "status") and path not in (("metadata",), ("metadata", "namespace"))

    def _resolved(self, schema: Any) -> Tree:
        found: Tree = schema if isinstance(schema, dict) else {}
        while True:
            if "$ref" in found:
                found = self._schemas[found["$ref"].rsplit("/", 1)[1]]
            elif len(found.get("allOf", ())) == 1:
                found = found["allOf"][0]
            else:
                return found

    def _below(self, schema: Tree, key: Any) -> Tree:
        if isinstance(key, int):
            return self._resolved(schema.get("items"))
        return self._resolved(schema.get("properties", {}).get(key) or schema.get("additionalProperties"))

    def _objects(self, tree: Any, schema: Any) -> Iterator[tuple[Tree, Tree]]:
        found = self._resolved(schema)
        if isinstance(tree, dict) and found.get("properties"):
            yield tree, found["properties"]
        items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
        for key, value in items:
            yield from self._objects(value, self._below(found, key))

    def _places(self, tree: Any, schema: Any, path: tuple[Any, ...]) -> Iterator[Place]:
        found = self._resolved(schema)
        items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
        for key, value in items:
            below = self._below(found, key)
            yield Place(tree, key, below, (*path, key))
            yield from self._places(value, below, (*path, key))

    def value(self, schema: Any, name: str, depth: int = 1) -> Any:
        """A value of a schema, mostly one that it allows."""
        found, rnd = self._resolved(schema), self.rnd
        kind = found.get("type")
        if found.get("x-kubernetes-int-or-string") or found.get("format") == "int-or-string" or found.get("oneOf"):
            return rnd.choice((0, 1, -1, 80, 65536, "50%", "a", "1Gi", "100m", "0", "-1", ""))
        if kind == "string":
            return self._text(found, name)
        if kind == "boolean":
            return rnd.random() < 0.5
        if kind in ("integer", "number"):
            return rnd.choice(NUMBERS if kind == "integer" else (0, 1, -1, 1.5))
        if kind == "array":
            return [self.value(found.get("items"), name, depth + 1) for _ in range(rnd.choice((0, 1, 1, 1, 2)))]
        if found.get("properties"):
            return self._object(found, depth) if depth < MAX_DEPTH else {}
        if kind == "object":
            inner = found.get("additionalProperties") or {"type": "string"}
            keys = WORDS[:30] + tuple(self._words.get(name, ("k",)))
            return {rnd.choice(keys): self.value(inner, name, depth + 1) for _ in range(rnd.choice((0, 1, 1, 2)))}
        return rnd.choice(({}, "a", 1))

    def _object(self, schema: Tree, depth: int) -> Tree:
        fields = schema["properties"]
        needed = [name for name in schema.get("required", ()) if self.rnd.random() < 0.93]
        drawn = self.rnd.sample(list(fields), min(len(fields), self.rnd.choice((0, 1, 1, 2, 2, 3)) if len(fields) > 3 else 3))
        return {name: self.value(fields[name], name, depth + 1) for name in fields if name in (*needed, *drawn)}

    def _text(self, schema: Tree, name: str) -> str:
        drawn, known = self.rnd.random(), self._words.get(name, WORDS)
        if schema.get("enum") and drawn < 0.8:
            return str(self.rnd.choice(schema["enum"]))
        if schema.get("format") == "date-time" and drawn < 0.9:
            return "2026-01-01T00:00:00Z"
        if schema.get("format") == "byte":
            return self.rnd.choice(("", "YQ==", "YQ", "!!"))
        return self.rnd.choice(known if drawn < 0.5 else WORDS)
