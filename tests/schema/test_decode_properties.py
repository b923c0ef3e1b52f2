"""The two paths of decoding, and decoding its own answers, agree on bodies that nobody thought of.
"""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakekube.schema.compile import shape_of
from fakekube.schema.decode import Codec
from fakekube.schema.structural import Schema
from fakekube.schema.walk import Walk
from tests.schema.releases import schema

QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["", "x", "a b", "ü"]),
    "integer": st.sampled_from([0, 1, -5, 80]),
    "boolean": st.booleans(),
    "number": st.sampled_from([0, 1, 1.0, 2.5]),
}
DEPTH = 6


def values(node: Schema, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that fit a node, nulls, zeros and unknown keys included."""
    if node.name == QUANTITY:
        return st.sampled_from(["1", "1000m", "0.5Gi", 3, "0"])
    if node.name.endswith(".MicroTime"):
        return st.sampled_from(["2026-01-02T03:04:05.000001Z", "2026-01-02T03:04:05.123456+02:00"])
    if node.format == "date-time":
        return st.sampled_from(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5-01:00"])
    if node.format == "byte":
        return st.sampled_from(["", "aGk=", "aGl="])
    if node.type == "array" and node.items is not None:
        return st.lists(values(node.items, depth + 1), max_size=2) if depth < DEPTH else st.just([])
    if node.additional is not None:
        return st.dictionaries(st.sampled_from("abc"), values(node.additional, depth + 1), max_size=2)
    if node.properties and depth < DEPTH:
        return st.deferred(lambda: objects(node, depth))
    if node.int_or_string:
        return st.sampled_from([0, 8080, "", "50%"])
    return SCALARS.get(node.type, st.just({}))


def objects(node: Schema, depth: int) -> st.SearchStrategy[Any]:
    names = st.lists(st.sampled_from([*node.properties, "unheardOf"]), max_size=5, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({
        name: st.none() | values(node.properties[name], depth + 1) if name in node.properties else st.just(1)
        for name in chosen
    }))  # fmt: skip


POD = schema("v1", "Pod")
JOB = schema("batch/v1", "Job")


@given(st.data())
def test_decoding_its_own_answer_changes_nothing(data: st.DataObject) -> None:
    """given any body that fits, when its answer is decoded again, then it stays as it is and takes
    the short path
    """
    node = data.draw(st.sampled_from([POD, JOB]))
    once = Codec(node).decode(data.draw(objects(node, 0))).tree
    again = copy.deepcopy(once)
    assert Codec(node).decode(again).tree == once
    assert shape_of(node).acceptor(nonzero=False)(copy.deepcopy(once)) or _holds_null(once)


@given(st.data())
def test_both_paths_agree(data: st.DataObject) -> None:
    """given any body that fits, when decoded by the short path or by the long one, then the answers
    are equal
    """
    node = data.draw(st.sampled_from([POD, JOB]))
    tree = data.draw(objects(node, 0))
    walk = Walk()
    thorough = shape_of(node).read(copy.deepcopy(tree), walk)
    decoded = Codec(node).decode(tree)
    assert decoded.tree == thorough
    assert decoded.unknown == walk.unknown


def _holds_null(value: Any) -> bool:
    """Whether an answer holds one of the nulls that Go prints, which only the long path reads."""
    if isinstance(value, dict):
        return any(_holds_null(item) for item in value.values())
    if isinstance(value, list):
        return any(_holds_null(item) for item in value)
    return value is None
