"""How lists, maps and structs of a body are read.

See ``scalars`` for what the two paths of a shape are for.

A struct learns its fields on first use: definitions refer to each other, some to themselves, and a
server that never meets a volume of some kind never builds a reader for it.

Lists and maps with nothing in them that storage does not keep are taken out; ``TAKEN`` has them,
see ``fakekube/apimachinery/empties.py``.

Upstream: the array and object parts of sigs.k8s.io/json decode.go, and encoding/json's encode.go.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.scalars import Acceptor, ChangeAcceptor, Shape, Text, any_text, filled_text
from fakekube.schema.walk import DecodeError, Walk


class Taken(threading.local):
    """What the reading that is going on in this thread has taken out: the object that held it, the
    key, whether it was a list.

    A reading is one step, which nothing interrupts; whoever begins one sees to it that this is
    empty. It is no argument of the readers, since these are called for each value.
    """

    def __init__(self) -> None:
        self.places: list[tuple[Tree, str, bool]] = []


TAKEN = Taken()


class ListOf(Shape):
    """A slice. Null items become the zero item."""

    def __init__(self, go_type: str, item: Shape) -> None:
        super().__init__(go_type)
        self.item = item

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        item: Acceptor | None = None

        def accept(value: Json) -> bool:
            nonlocal item
            if value.__class__ is not list or (nonzero and not value):
                return False
            if item is None:
                item = self.item.acceptor(nonzero=False)
            if item is any_text:
                return _all_texts(value)
            for one in value:  # noqa: SIM110 - a generator costs as much as the check
                if not item(one):
                    return False
            return True

        return accept

    def change_acceptor(self, *, nonzero: bool) -> ChangeAcceptor:
        accept = self.acceptor(nonzero=nonzero)

        def accept_change(value: Json, old: Json) -> bool:
            if value.__class__ is not list or old.__class__ is not list:
                return accept(value)
            if nonzero and not value:
                return False
            known = {id(one) for one in old if one.__class__ is dict}
            changed = [one for one in value if id(one) not in known] if known else value
            return accept(changed) if changed or not value else True

        return accept_change

    def read(self, value: Json, walk: Walk) -> Json:
        if not isinstance(value, list):
            walk.mismatch(walk.type_name(value), self.go_type)
            return None
        out = []
        for index, one in enumerate(value):
            walk.path.append(f"[{index}]")
            out.append(self.item.zero() if one is None else self.item.read(one, walk))
            walk.path.pop()
        return out


class MapOf(Shape):
    """A map with string keys. Null values become the zero value."""

    def __init__(self, go_type: str, value: Shape) -> None:
        super().__init__(go_type)
        self.value = value

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        check: Acceptor | None = None

        def accept(value: Json) -> bool:
            nonlocal check
            if value.__class__ is not dict or (nonzero and not value):
                return False
            if check is None:
                check = self.value.acceptor(nonzero=False)
            if check is any_text:
                return _all_texts(value.values())
            for one in value.values():  # noqa: SIM110 - as above
                if not check(one):
                    return False
            return True

        return accept

    def change_acceptor(self, *, nonzero: bool) -> ChangeAcceptor:
        accept = self.acceptor(nonzero=nonzero)

        def accept_change(value: Json, old: Json) -> bool:
            if value.__class__ is not dict or old.__class__ is not dict or (nonzero and not value):
                return accept(value)
            changed = {key: one for key, one in value.items() if one is None or old.get(key) is not one}
            return not changed or accept(changed)

        return accept_change

    def read(self, value: Json, walk: Walk) -> Json:
        if not isinstance(value, dict):
            walk.mismatch(walk.type_name(value), self.go_type)
            return None
        out = {}
        seen: dict[str, None] = {}
        for key, one in value.items():
            if walk.repeats:
                walk.member(key, seen)
            walk.path.append(f".{key}" if walk.path else key)
            out[key] = self.value.zero() if one is None else self.value.read(one, walk)
            walk.path.pop()
        return out


def _all_texts(values: Iterable[Json]) -> bool:
    for one in values:  # noqa: SIM110 - as above
        if one.__class__ is not str:
            return False
    return True


Always = tuple[str, Callable[[], Json]]
"""A field that is always printed, and what makes the value that it has when it is missing."""


def _complete(tree: Tree, empty: Sequence[str], missing: Sequence[Always]) -> bool:
    """Make a tree whose fields are accepted what Go prints: some empty ones go, what is always
    printed comes.
    """
    for key in empty:
        TAKEN.places.append((tree, key, tree.pop(key).__class__ is list))
    for name, make in missing:
        if name not in tree:
            tree[name] = make()
    return True


class FieldPlan(NamedTuple):
    """One field of a struct, as far as reading and printing go."""

    shape: Shape
    label: str  # in complaints: the name, after the embedded structs that hold it
    omitted_when_empty: bool  # the zero value of a field that is no pointer is left out
    printed_when_missing: bool
    pointer: bool


class Struct(Shape):
    """A struct: unknown keys are noted and dropped, what Go always prints is filled in."""

    omittable = False

    def __init__(self, go_type: str, plan: Callable[[], Mapping[str, FieldPlan]]) -> None:
        super().__init__(go_type)
        self.name = go_type.rpartition(".")[2]
        self._make_plan = plan
        self._plan: Mapping[str, FieldPlan] | None = None
        self._accept: Acceptor | None = None
        self._accept_change: ChangeAcceptor | None = None

    @property
    def plan(self) -> Mapping[str, FieldPlan]:
        """The fields in Go's order."""
        if self._plan is None:
            self._plan = self._make_plan()
        return self._plan

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        if self._accept is None:
            self._accept = self._build()
        return self._accept

    def change_acceptor(self, *, nonzero: bool) -> ChangeAcceptor:
        if self._accept_change is None:
            self._accept_change = self._build_change()
        return self._accept_change

    def _build(self) -> Acceptor:
        rules: dict[str, Acceptor] = {}
        for name, field in self.plan.items():
            rules[name] = self._rule(rules, name, field)
        nullable, droppable, missing = self._nullable(), self._droppable(), self._missing()
        get = rules.get

        def accept(tree: Json) -> bool:
            if tree.__class__ is not dict:
                return False
            empty: Sequence[str] = ()
            for key, value in tree.items():
                rule = get(key)
                # Most fields are texts: no call for them.
                if value.__class__ is str and (rule is any_text or (rule is filled_text and value)):
                    continue
                if value is None and key in nullable:
                    continue
                if rule is None or not rule(value):
                    if value or value.__class__ is not droppable.get(key):
                        return False
                    empty = [*empty, key] if empty else [key]
            return _complete(tree, empty, missing) if empty or missing else True

        return accept

    def _build_change(self) -> ChangeAcceptor:
        accept = self.acceptor(nonzero=False)
        rules: dict[str, ChangeAcceptor] = {}
        nullable, droppable, missing = self._nullable(), self._droppable(), self._missing()

        def accept_change(tree: Json, old: Json) -> bool:
            if tree.__class__ is not dict or not isinstance(old, dict):
                return accept(tree)
            empty: Sequence[str] = ()
            for key, value in tree.items():
                before = old.get(key)
                if before is value and value is not None:
                    continue
                if value is None and key in nullable:
                    continue
                rule = rules.get(key)
                if rule is None and (field := self.plan.get(key)) is not None:
                    rule = rules[key] = field.shape.change_acceptor(nonzero=field.omitted_when_empty)
                if rule is None or not rule(value, before):
                    if value or value.__class__ is not droppable.get(key):
                        return False
                    empty = [*empty, key] if empty else [key]
            return _complete(tree, empty, missing) if empty or missing else True

        return accept_change

    def _nullable(self) -> Collection[str]:
        """The fields that print null."""
        return frozenset(
            name for name, field in self.plan.items()
            if field.printed_when_missing and (field.pointer or field.shape.zero() is None))

    def _droppable(self) -> Mapping[str, type]:
        """The fields that are dropped when they hold an empty list or map, and which of the two
        they are.
        """
        return {
            name: list if isinstance(field.shape, ListOf) else dict
            for name, field in self.plan.items() if field.omitted_when_empty and isinstance(field.shape, ListOf | MapOf)}

    def _missing(self) -> Sequence[Always]:
        """What is always printed."""
        return [(name, _maker(field)) for name, field in self.plan.items() if field.printed_when_missing]

    @staticmethod
    def _rule(rules: dict[str, Acceptor], name: str, field: FieldPlan) -> Acceptor:
        if not isinstance(field.shape, Struct):
            return field.shape.acceptor(nonzero=field.omitted_when_empty)

        def first(value: Json) -> bool:
            accept = rules[name] = field.shape.acceptor(nonzero=False)
            return accept(value)

        return first

    def read(self, value: Json, walk: Walk) -> Json:
        if not isinstance(value, dict):
            walk.mismatch(walk.type_name(value), self.go_type)
            return self.zero()
        plan = self.plan
        outer = walk.struct
        given: Tree = {}
        seen: dict[str, None] = {}
        for key, one in value.items():
            field = plan.get(key)
            if walk.repeats and field is not None:
                walk.member(key, seen)
            if field is None:
                walk.unknown_field(key)
            elif one.__class__ is str and field.shape.__class__ is Text:
                given[key] = one
            elif one is not None:
                walk.struct = self.name
                walk.fields.append(field.label)
                walk.path.append(f".{key}" if walk.path else key)
                given[key] = field.shape.read(one, walk)
                walk.path.pop()
                walk.fields.pop()
                walk.struct = outer
        return self._printed(given)

    def zero(self) -> Json:
        return self._printed({})

    def _printed(self, given: Tree) -> Tree:
        out: Tree = {}
        for name, field in self.plan.items():
            if name in given:
                value = given[name]
                if not (field.omitted_when_empty and not value):
                    out[name] = value
                elif isinstance(field.shape, ListOf | MapOf):
                    TAKEN.places.append((out, name, value.__class__ is list))
            elif field.printed_when_missing:
                out[name] = None if field.pointer else field.shape.zero()
        return out


def _maker(field: FieldPlan) -> Callable[[], Json]:
    """A function for the value that stands for a missing field."""
    if field.pointer:
        return lambda: None
    if field.shape.zero() == {}:
        return dict
    return field.shape.zero


class Alternatives(Shape):
    """The types of apiextensions that hold one schema, or a list of something, or a bool, and
    decode themselves.

    Nobody looks for unknown fields inside, as upstream's own methods do not.
    """

    omittable = False

    def __init__(self, go_type: str, schema: Struct, items: Shape | None, *, flag: bool) -> None:
        super().__init__(go_type)
        self.schema = schema
        self.list = ListOf("", items) if items else None
        self.flag = flag

    def acceptor(self, *, nonzero: bool) -> Acceptor:
        schema: Acceptor | None = None

        def accept(value: Json) -> bool:
            nonlocal schema
            if value is True or value is False:
                return self.flag
            if value.__class__ is not dict:
                return False
            if schema is None:
                schema = self.schema.acceptor(nonzero=False)
            return schema(value)

        return accept

    def read(self, value: Json, walk: Walk) -> Json:
        if self.flag and isinstance(value, bool):
            return value
        walk.unseen += 1
        out: Json = None
        if isinstance(value, dict):
            out = self.schema.read(value, walk)
        elif isinstance(value, list) and self.list is not None:
            out = self.list.read(value, walk) or None
        elif self.flag:
            raise DecodeError("boolean or JSON schema expected")
        walk.unseen -= 1
        return out
