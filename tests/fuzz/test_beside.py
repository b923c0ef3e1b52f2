"""The comparison with a real cluster: what it changes, and what it takes for different."""

import copy
import re
from typing import Any

import pytest

from tests.fuzz.beside.__main__ import delta, merged
from tests.fuzz.beside.changing import Changer
from tests.fuzz.beside.comparing import Answer, Difference, difference

NEVER = re.compile("(?!)")
SCHEMAS: dict[str, Any] = {
    "Thing": {"type": "object", "properties": {
        "metadata": {"allOf": [{"$ref": "#/Meta"}]}, "spec": {"$ref": "#/Spec"}, "status": {"type": "string"}}},
    "Meta": {"type": "object", "properties": {"name": {"type": "string"}}},
    "Spec": {"type": "object", "required": ["mode"], "properties": {
        "mode": {"type": "string", "enum": ["A", "B"]}, "count": {"type": "integer"}, "on": {"type": "boolean"},
        "items": {"type": "array", "items": {"$ref": "#/Spec"}}, "more": {"type": "object", "additionalProperties": {
            "oneOf": [{"type": "string"}, {"type": "number"}]}}}},
}
THING = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"mode": "A", "items": [{"mode": "B"}]}}


def refusal(*causes: str, uid: str = "x") -> Answer:
    told = [{"field": "spec", "message": cause} for cause in causes]
    return Answer(422, {"message": "no", "details": {"uid": uid, "causes": told}}, ())


def good(body: Any) -> Answer:
    return Answer(200, body, ())


@pytest.mark.parametrize(("real", "ours", "found"), [
    (good({"a": {"resourceVersion": "5", "b": [1]}}), good({"a": {"resourceVersion": "7", "b": [1]}}), None),
    (good({"a": {"b": [1]}}), good({"a": {"b": [True]}}), Difference(".a.b[0]", 1, True)),
    (good({"a": 1}), good({}), Difference(".a", 1, "(absent)")),
    (Answer(201, {}, ()), Answer(400, {"message": "no"}, ()), Difference("code", (201, ""), (400, "no"))),
    (refusal("a", "b"), refusal("b", "a"), None),
    (refusal("a", "b"), refusal("b"), Difference("causes", ["spec: a"], [])),
    (good({"clusterIP": "10.0.0.1"}), good({"clusterIP": "None"}), Difference(".clusterIP", "DRAWN", "None")),
    (good("of 2026-01-02"), good("of 2026-01-03"), Difference("", "of 2026-01-02", "of 2026-01-03")),
])
def test_what_differs(real: Answer, ours: Answer, found: Difference | None) -> None:
    """Given two answers, when they are compared, then what a server draws and the order of causes
    do not count, and the first other difference is told.
    """
    assert difference(real, ours, NEVER) == found


def test_one_seed_gives_one_series() -> None:
    """Given a schema, when an object is changed many times, then the same seed gives the same
    objects, most of them other ones, and never another kind or a status.
    """
    series = []
    for _ in range(2):
        changer = Changer(7, SCHEMAS)
        changer.learn(THING)
        series.append([changer.changed(copy.deepcopy(THING), {"$ref": "#/Thing"}) for _ in range(200)])
    assert series[0] == series[1]
    assert all(tree["kind"] == "Thing" and "status" not in tree for tree in series[0])
    assert sum(tree != THING for tree in series[0]) > 150
    assert {"count", "on", "more"} <= {name for tree in series[0] if isinstance(tree.get("spec"), dict) for name in tree["spec"]}


def test_a_patch_leads_from_one_tree_to_the_other() -> None:
    """Given a changed object, when the patch to it is merged into the first, then it is the other;
    nulls aside, which take fields away.
    """
    old = {"a": 1, "b": {"c": 2, "d": 3}, "e": [1]}
    new = {"b": {"c": 2, "d": 4, "f": {}}, "e": [], "g": "x"}
    assert delta(old, new) == {"a": None, "b": {"d": 4, "f": {}}, "e": [], "g": "x"}
    assert merged(old, delta(old, new)) == new
