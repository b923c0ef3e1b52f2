"""Rules in CEL as a definition gives them: whether they compile, and what they may cost.

A node's rules are looked at with what is around it: how many values of the node an object can hold
at most, and what all rules of the schema may cost together. Upstream: cel_validation.go and
ValidateCustomResourceDefinitionOpenAPISchema in
apiextensions-apiserver/pkg/apis/apiextensions/validation.
"""

from collections.abc import Iterator
from typing import NamedTuple

import orjson

from fakekube.apiextensions.rules.compiling import compile_rules, max_cardinality, undescribed
from fakekube.apiextensions.validation.internal import printed_rule
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index, invalid
from fakekube.apimachinery.types import Tree
from fakekube.cel.decltypes import of_schema
from fakekube.schema.structural import from_openapi
from fakekube.util.memory import memoized
from fakekube.util.turns import Turn

RULES = "x-kubernetes-validations"
RULE_COST_LIMIT = 10_000_000
SCHEMA_COST_LIMIT = 100_000_000
MOST_NAMED = 4
UNITS_OF_RULE = 200  # of a turn, to compile a rule
REMEMBERED_NODES, REMEMBERED_BYTES = 256, 256 * 1024
MAX_COST = (1 << 64) - 1
CONTRIBUTED = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
TOTAL = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
WITHOUT_OLD = "may not be set if oldSelf is not used in rule"
NO_TYPE = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural "
    "schema to CEL declarations"
)


class RuleCosts:
    """What all rules of a schema may cost together, and which of them cost most."""

    def __init__(self) -> None:
        self._total = 0
        self._dearest: list[tuple[int, str]] = []

    def add(self, path: str, cost: int) -> None:
        """Count an expression."""
        self._total = min(self._total + cost, MAX_COST)
        if cost >= SCHEMA_COST_LIMIT // 100:
            self._dearest = sorted([*self._dearest, (cost, path)], key=lambda entry: -entry[0])[:MOST_NAMED]

    def errors(self, path: str) -> list[FieldError]:
        """What is told of a schema whose rules cost too much."""
        if self._total <= SCHEMA_COST_LIMIT:
            return []
        return [
            *(forbidden(where, CONTRIBUTED) for _, where in self._dearest),
            forbidden(path, _too_dear(TOTAL, self._total, SCHEMA_COST_LIMIT))]


class Circumstances(NamedTuple):
    """What counts for all rules of a schema.

    ``minor`` is that of the release, ``known`` are the expressions that were accepted before.
    ``unchanged``: the schema is as it was, so that no single expression costs too much. ``turn`` is
    ended now and then.
    """

    minor: int
    known: frozenset[str]
    unchanged: bool
    costs: RuleCosts
    turn: Turn | None = None


class RuleFacts(NamedTuple):
    """What compiling one rule tells; costs are the most that one evaluation may cost.

    ``message_cost`` is None where no expression makes the message.
    """

    error: str
    cost: int
    uses_old_self: bool
    message_error: str
    message_cost: int | None


class NodeFacts(NamedTuple):
    """What compiling all rules of a node tells, and how many values of it an object can hold if
    nothing bounds the lists around it.
    """

    rules: tuple[RuleFacts, ...]
    cardinality: int


class NodeRules:
    """A node of a schema, as far as its rules and those below it go.

    ``cardinality`` is how many values of it an object can hold, None where nothing says.
    """

    __slots__ = ("_cardinality", "_circumstances", "_is_root", "_schema")

    def __init__(
        self, schema: Tree, circumstances: Circumstances, *, cardinality: int | None = 1, is_root: bool = False,
    ) -> None:
        self._schema, self._circumstances = schema, circumstances
        self._cardinality, self._is_root = cardinality, is_root

    def below(self, schema: Tree) -> "NodeRules":
        """A property, the items of a list, or the values of a map."""
        count = _max_elements(self._schema)
        both = None if count is None or self._cardinality is None else min(count * self._cardinality, MAX_COST)
        return NodeRules(schema, self._circumstances, cardinality=both)

    def errors(self, path: str, uncorrelated: str | None) -> Iterator[FieldError]:
        """What is wrong with the rules of the node, whose form is right.

        ``uncorrelated`` is the path of a list or map around it whose parts cannot be compared with
        older ones.
        """
        rules, where = self._schema[RULES], child(path, RULES)
        known, turn = self._circumstances.known, self._circumstances.turn
        if turn is not None:
            turn.spend(UNITS_OF_RULE * len(rules))
        facts = _facts(
            orjson.dumps(undescribed(self._schema)), self._circumstances.minor, self._is_root,
            tuple((rule.get("rule", "") in known, rule.get("messageExpression", "") in known) for rule in rules))
        if facts is None:
            yield FieldError("Internal error", where, "", NO_TYPE)
            return
        times = facts.cardinality if self._cardinality is None else self._cardinality
        for number, (rule, found) in enumerate(zip(rules, facts.rules, strict=True)):
            yield from self._about(rule, found, index(where, number), times, uncorrelated)

    def _about(self, rule: Tree, facts: RuleFacts, path: str, times: int, uncorrelated: str | None) -> Iterator[FieldError]:
        where = child(path, "rule")
        yield from self._too_dear("estimated rule cost", where, min(facts.cost * times, MAX_COST))
        if facts.error:
            yield invalid(where, printed_rule(rule), facts.error)
        if facts.message_error:
            yield invalid(child(path, "messageExpression"), printed_rule(rule), facts.message_error)
        elif facts.message_cost is not None:
            yield from self._too_dear("estimated messageExpression cost", child(path, "messageExpression"), facts.message_cost)
        optional = rule.get("optionalOldSelf")
        if facts.uses_old_self:
            if uncorrelated is not None:
                what = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelated}"
                yield invalid(where, rule["rule"], what)
        elif optional is not None:
            yield invalid(child(path, "optionalOldSelf"), optional, WITHOUT_OLD)

    def _too_dear(self, what: str, path: str, cost: int) -> Iterator[FieldError]:
        if cost > RULE_COST_LIMIT and not self._circumstances.unchanged:
            yield forbidden(path, _too_dear(what, cost, RULE_COST_LIMIT))
        self._circumstances.costs.add(path, cost)


@memoized(REMEMBERED_NODES, longest=REMEMBERED_BYTES)
def _facts(text: bytes, minor: int, is_root: bool, stored: tuple[tuple[bool, bool], ...]) -> NodeFacts | None:
    """What the rules of a node compile to; None if expressions cannot see the node.

    ``text`` is the node in JSON: bundles have the same pod templates in many definitions, and tests
    load the same bundle again and again. ``stored`` says of each rule and of its message whether it
    was there before.
    """
    schema = orjson.loads(text)
    node = from_openapi(schema)
    decl = of_schema(node, root=is_root or node.embedded, names_end=minor >= 37)
    if decl is None:
        return None
    rules = schema[RULES]
    known = {
        expression for rule, flags in zip(rules, stored, strict=True)
        for expression, is_known in zip((rule.get("rule", ""), rule.get("messageExpression", "")), flags, strict=True)
        if is_known}
    compiled = compile_rules(rules, decl, schema, minor, stored=known.__contains__)
    return NodeFacts(tuple(
        RuleFacts(rule.error, rule.cost(), rule.uses_old_self, rule.message_error, rule.message_cost())
        for rule in compiled), max_cardinality(decl))


def _max_elements(schema: Tree) -> int | None:
    """How many values a value of the schema holds of each of its parts; None if nothing says."""
    limit: int | None = 1
    if schema.get("type") == "array":
        limit = schema.get("maxItems")
    elif schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        limit = schema.get("maxProperties")
    return None if limit is None else max(limit, 0)


def _too_dear(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return (
        f"{what} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems, maxProperties, and "
        "maxLength where arrays, maps, and strings are declared)")
