"""Running the rules of a whole schema on an object.

Every node that has rules has a checker, and so has every node above one. Rules run from the root
down, each on the values of its node, until their costs exceed what one object may cost. A rule that
compares with ``oldSelf`` runs where there is an old value to compare with. What a rule finds wrong
in a part that did not change is told as a warning. Upstream:
apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from fakekube.apiextensions.objects.correlation import Correlation, key_of, keyed_items
from fakekube.apiextensions.objects.goprinting import as_shown
from fakekube.apiextensions.rules.compiling import CompiledRule, compile_rules
from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import OMITTED, FieldError, go_quote
from fakekube.apimachinery.types import Json, Tree
from fakekube.cel import values
from fakekube.cel.decltypes import DeclType, escaped, of_schema
from fakekube.cel.errors import CostExceeded, EvaluationError
from fakekube.cel.frames import Given
from fakekube.schema.structural import Schema
from fakekube.util.memory import memoized
from fakekube.util.turns import Turn

REMEMBERED_CHECKERS, REMEMBERED_BYTES = 64, 256 * 1024
CALL_LIMIT = 1_000_000
"""What one evaluation may cost."""
BUDGET = 10_000_000
"""What all rules of an object may cost together."""
MAX_MESSAGE_BYTES = 5 * 1024
RULES = "x-kubernetes-validations"
NO_FURTHER = "no further validation rules will be run"
SPENT = f"validation failed due to running out of cost budget, {NO_FURTHER}"
NO_TYPE = "rule compiler initialization error: failed to convert to declType for CEL validation rules"


Place = tuple[Any, str | int | None, bool] | None
"""Where a value stands: the place of what it is in, its name or number there, and whether the name
is the key of a map; None is the root. Without a name or number it is the same value, as a part of
an allOf sees it.
"""


class Ratchet(NamedTuple):
    """Where a value comes from, as far as that is known; else the next part around it of which it
    is.
    """

    here: Correlation | None = None
    around: Correlation | None = None

    @property
    def unchanged(self) -> bool:
        """Whether what is wrong was wrong before."""
        known = self.here or self.around
        return known is not None and known.unchanged

    @classmethod
    def of(cls, correlation: Correlation | None, place: Place) -> "Ratchet":
        """That of a place in an object."""
        if place is None:
            return cls(correlation)
        around, step, _ = place
        ratchet = cls.of(correlation, around)
        if step is None:
            return cls(None, ratchet.around)
        return ratchet.field(step) if isinstance(step, str) else ratchet.item(step)

    def field(self, name: str) -> "Ratchet":
        """The same of what is below under a name."""
        if self.here is None:
            return self
        if self.around is None and name in ("apiVersion", "kind"):
            return Ratchet()
        return Ratchet(self.here.field(name), self.here)

    def item(self, place: int) -> "Ratchet":
        """The same of an item."""
        return self if self.here is None else Ratchet(self.here.index(place), self.here)


class _Stopped(Exception):
    """The budget is spent: no further rule is run."""


class _Run:
    """One check of one object: what was found, and what may still be spent."""

    __slots__ = ("budget", "correlation", "found", "turn", "warnings")

    def __init__(self, correlation: Correlation | None, turn: Turn | None) -> None:
        self.budget, self.correlation, self.turn = BUDGET, correlation, turn
        self.found: list[FieldError] = []
        self.warnings: list[str] = []

    def stop(self, error: FieldError) -> None:
        self.found.append(error)
        raise _Stopped


class Checker:
    """The rules of one node and of those below it."""

    __slots__ = (
        "_additional", "_all_of", "_decl", "_fields", "_has_rules", "_items", "_keys", "_reads_old", "_rules", "_type")

    def __init__(self, node: Schema, decl: DeclType | None, rules: Sequence[Tree], compiled: list[CompiledRule]) -> None:
        self._decl, self._type = decl, node.type
        self._rules = [
            (rule, rule.program, rule.uses_old_self and not rule.takes_optional, rule.takes_optional)
            for rule in compiled if rule.error or rule.program is not None]
        self._has_rules = bool(rules)
        self._keys = node.list_map_keys if node.list_type == "map" else ()
        self._fields: dict[str, Checker] = {}
        self._items: Checker | None = None
        self._additional: Checker | None = None
        self._all_of: list[Checker] = []
        self._reads_old = any(rule.reads_old for rule in compiled)  # here or below

    def check(
        self, value: Json, old: Json = None, correlation: Correlation | None = None, turn: Turn | None = None,
    ) -> tuple[list[FieldError], list[str]]:
        """What the rules find wrong with a value, and what they would if it had changed.

        ``old`` is what stood there before, None for nothing. ``turn`` is ended now and then: raises
        TakesLong in the first.
        """
        run = _Run(correlation, turn)
        if isinstance(old, dict):
            old = {**old}  # a stored tree is of a class of its own
        with suppress(_Stopped):
            self._check(run, value, old, None)
        return run.found, run.warnings

    def _check(self, run: _Run, value: Json, old: Json, place: Place) -> None:
        if value is None:
            return
        if self._has_rules:
            self._check_rules(run, value, old, place)
        for below in self._all_of:
            below._check(run, value, old, (place, None, False))
        if value.__class__ is dict:
            self._check_fields(run, value, old if isinstance(old, dict) else {}, place)
        elif value.__class__ is list and self._items is not None:
            known = keyed_items(old, self._keys) if self._keys and isinstance(old, list) and self._items._reads_old else {}
            for number, item in enumerate(value):
                before = known.get(key_of(item, self._keys)) if known else None
                self._items._check(run, item, before, (place, number, False))

    def _check_fields(self, run: _Run, tree: Tree, old: Tree, place: Place) -> None:
        if self._additional is not None:
            for name, value in tree.items():
                self._additional._check(run, value, old.get(name), (place, name, True))
        for name, below in self._fields.items():
            value = tree.get(name)
            if value is not None:
                below._check(run, value, old.get(name), (place, name, False))

    def _check_rules(self, run: _Run, value: Json, old: Json, place: Place) -> None:
        if self._decl is None:
            run.found.append(field_errors.invalid(_path(place), self._type, NO_TYPE))
            return
        if run.budget <= 0:
            run.stop(field_errors.invalid(_path(place), self._type, SPENT))
        variables: dict[str, Any] = {"self": value} if old is None else {"self": value, "oldSelf": old}
        shared = Given(variables)
        for rule, program, needs_old, takes_optional in self._rules:
            if program is None:
                run.found.append(field_errors.invalid(_path(place), self._type, f"rule compile error: {rule.error}"))
                continue
            if needs_old and old is None:
                continue
            given = Given({"self": value, "oldSelf": self._optional(old)}) if takes_optional else shared
            limit = run.budget
            if limit > CALL_LIMIT:
                limit = CALL_LIMIT
            try:
                result, cost = program.run_on(given, limit, run.turn)
            except EvaluationError as error:
                run.found.append(field_errors.invalid(_path(place), self._type, _failure(str(error), rule)))
                continue
            except CostExceeded as error:
                text = SPENT if run.budget < CALL_LIMIT else (
                    f"'{error}': {NO_FURTHER} due to call cost exceeds limit for rule: {rule.told}")
                run.stop(field_errors.invalid(_path(place), self._type, text))
            run.budget -= cost
            if result is not True:
                self._tell(run, rule, value, variables, place)

    def _optional(self, old: Json) -> values.OptionalValue:
        if old is None:
            return values.NONE
        convert = self._decl.convert if self._decl is not None else None
        return values.OptionalValue(old if convert is None else convert(old))

    def _tell(self, run: _Run, rule: CompiledRule, value: Json, variables: dict[str, Any], place: Place) -> None:
        """Tell of a rule that does not hold."""
        where = _joined(_path(place), rule.path)
        ratchet = Ratchet.of(run.correlation, place)
        ratchets = not rule.uses_old_self and ratchet.unchanged
        try:
            detail = self._computed_message(run, rule, where, variables)
        except _Stopped:
            if ratchets:
                run.warnings.append(str(run.found.pop()))
            raise
        if not detail:
            detail = (rule.rule.get("message") or "").strip() or f"failed rule: {rule.told}"
        shown = OMITTED if self._type in ("object", "array") else as_shown(value)
        error = _error(where, shown, detail, rule.rule.get("reason"))
        if ratchets:
            run.warnings.append(str(error))
        else:
            run.found.append(error)

    def _computed_message(self, run: _Run, rule: CompiledRule, path: str, variables: dict[str, Any]) -> str:
        """What the message expression says; empty if it says nothing of use."""
        if rule.message is None:
            return ""
        try:
            result, cost = rule.message.run(variables, min(CALL_LIMIT, run.budget), run.turn)
        except EvaluationError:
            return ""
        except CostExceeded:
            text = rule.rule["messageExpression"]
            run.stop(field_errors.invalid(path, self._type, (
                f"messageExpression evaluation failed due to running out of cost budget, {NO_FURTHER}" if run.budget < CALL_LIMIT
                else f"{NO_FURTHER} due to call cost exceeds limit for messageExpression: {go_quote(text)}")))
        run.budget -= cost
        told = result.strip() if isinstance(result, str) else ""
        return "" if "\n" in told or len(told.encode()) > MAX_MESSAGE_BYTES else told


def checker(schema: Schema, openapi: Tree, minor: int, *, is_root: bool = True) -> Checker | None:
    """The checker of a definition's schema, given as what it says and as a tree; None when there
    are no rules in it.

    ``minor`` is that of the release; ``is_root`` says that values are whole objects.
    """
    if not _has_rules(openapi):
        return None
    return _made(openapi, schema, of_schema(schema, root=is_root), minor)


@memoized(REMEMBERED_CHECKERS, longest=REMEMBERED_BYTES)
def checker_of(text: bytes, schema: Schema, minor: int) -> Checker | None:
    """The same of a schema in JSON, which bundles bring into one cluster after the other."""
    return checker(schema, orjson.loads(text), minor)


def _has_rules(tree: Tree) -> bool:
    return bool(tree.get(RULES)) or any(map(_has_rules, _below(tree)))


def _below(tree: Tree) -> Iterator[Tree]:
    for below in (tree.get("items"), tree.get("additionalProperties")):
        if isinstance(below, dict):
            yield below
    yield from (tree.get("properties") or {}).values()


def _made(tree: Tree, node: Schema, decl: DeclType | None, minor: int) -> Checker | None:
    """The checker of a node; ``tree`` has the rules, which may be those of an allOf of the node."""
    rules: Sequence[Tree] = tree.get(RULES) or ()
    compiled: list[CompiledRule] = []
    if rules and decl is not None:
        compiled = compile_rules(rules, decl, tree, minor, stored=lambda _: True)
    made = Checker(node, decl, rules, compiled)
    element = decl.element if decl is not None else None
    items, additional = tree.get("items"), tree.get("additionalProperties")
    if isinstance(items, dict) and node.items is not None:
        made._items = _made(items, node.items, element, minor)
    if isinstance(additional, dict) and node.additional is not None:
        made._additional = _made(additional, node.additional, element, minor)
    for name, below in (tree.get("properties") or {}).items():
        field = _field(name, node, decl)
        if field is not None and (found := _made(below, node.properties[name], field, minor)) is not None:
            made._fields[name] = found
    made._all_of = [found for part in tree.get("allOf") or () if (found := _made(part, node, decl, minor)) is not None]
    if not (rules or made._items or made._additional or made._fields or made._all_of):
        return None
    parts = [*made._fields.values(), *made._all_of, *filter(None, (made._items, made._additional))]
    made._reads_old = made._reads_old or any(part._reads_old for part in parts)
    return made


def _field(name: str, node: Schema, decl: DeclType | None) -> DeclType | None:
    """What a field declares; None for one that rules cannot see."""
    if name not in node.properties:
        return None
    identifier = escaped(name)
    if identifier is None:
        return of_schema(node.properties[name], root=node.properties[name].embedded)
    field = decl.fields.get(identifier) if decl is not None else None
    return field.decl if field is not None else None


def _failure(text: str, rule: CompiledRule) -> str:
    if text.startswith("no such overload"):
        return f"'{text}': call arguments did not match a supported operator, function or macro signature for rule: {rule.told}"
    return f"{text} evaluating rule: {rule.told}"


def _error(path: str, value: Any, detail: str, reason: str | None) -> FieldError:
    if reason == "FieldValueForbidden":
        return field_errors.forbidden(path, detail)
    if reason == "FieldValueRequired":
        return field_errors.required(path, detail)
    if reason == "FieldValueDuplicate":
        return field_errors.duplicate(path, value)
    return field_errors.invalid(path, value, detail)


def _path(place: Place) -> str:
    """How errors show a place."""
    if place is None:
        return ""
    around, step, is_key = place
    path = _path(around)
    if step is None:
        return path
    if is_key or isinstance(step, int):
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else step


def _joined(path: str, below: str) -> str:
    return f"{path}.{below}" if path and below and not below.startswith("[") else path + below
