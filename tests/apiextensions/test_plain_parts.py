"""What a quick look takes for right is right: the rules say the same with and without it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakekube.apiextensions.validation import plain, schemas
from fakekube.apiextensions.validation.schemas import Rules, schema_errors

TYPES = st.sampled_from(["string", "integer", "object", "array", "boolean", "", "text", None])
MORE: dict[str, st.SearchStrategy[Any]] = {
    "pattern": st.sampled_from(["a+", "a("]), "nullable": st.just(True), "uniqueItems": st.just(True),
    "x-kubernetes-int-or-string": st.just(True), "x-kubernetes-preserve-unknown-fields": st.booleans(),
    "x-kubernetes-list-type": st.sampled_from(["atomic", "set", "map", "bag"]),
    "x-kubernetes-list-map-keys": st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=2),
    "x-kubernetes-map-type": st.sampled_from(["atomic", "granular", "loose"]), "default": st.sampled_from([1, "x", {}]),
    "anyOf": st.just([{"type": "integer"}, {"type": "string"}]), "required": st.just(["a"]),
    "x-kubernetes-embedded-resource": st.just(True), "$ref": st.just("#/x"),
}


def nodes(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas that hold those that ``below`` makes."""
    optional = MORE | {
        "items": below, "additionalProperties": st.one_of(below, st.booleans()),
        "properties": st.dictionaries(st.sampled_from(["a", "b", "metadata"]), below, max_size=2)}
    return st.fixed_dictionaries({"type": TYPES}, optional=optional).map(
        lambda node: {name: value for name, value in node.items() if value is not None})


SCHEMAS = st.recursive(st.fixed_dictionaries({"type": TYPES}).map(
    lambda node: {name: value for name, value in node.items() if value is not None}), nodes, max_leaves=6)


@given(SCHEMAS)
def test_the_quick_look_changes_nothing(schema: Any) -> None:
    """Given any schema / when it is checked with and without the quick look / then the same is
    found.
    """
    root = {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}
    rules = Rules(release="1.37")
    quick = schema_errors(root, "", rules, status=False)
    look, schemas.plain_parts = schemas.plain_parts, lambda _: frozenset()
    try:
        assert [str(error) for error in quick] == [str(error) for error in schema_errors(root, "", rules, status=False)]
    finally:
        schemas.plain_parts = look


def test_most_of_a_schema_is_plain() -> None:
    """Given a schema of texts, lists with keys and a default / when it is looked at / then all but
    the default and what is around it is plain.
    """
    listed = {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
        "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}}
    schema = {"type": "object", "properties": {"l": listed, "d": {"type": "string", "default": "x"}}}
    found = plain.plain_parts(schema)
    assert id(listed) in found
    assert id(schema) not in found
