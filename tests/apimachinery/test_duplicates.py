from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.duplicates import duplicate_keys, may_repeat, merged
from fakekube.schema.decode import Codec
from tests.schema.releases import schema

TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.spec("API-038")
def test_repeated_keys_are_told_by_path_in_the_order_of_the_body() -> None:
    """given keys repeated at the top, in an object and in a list's item, when looked for, then each
    is told once
    """
    body = b'{"a":1,"b":{"c":[{"d":1,"d":2,"d":3}],"c":1},"a":2}'
    assert duplicate_keys(body) == ["b.c[0].d", "b.c", "a"]


def test_what_a_kind_does_not_look_at_is_not_searched() -> None:
    """given repeats below an unknown field and in managed fields, when the kind is known, then real
    fields count
    """
    body = (
        b'{"metadata":{"labels":{"x":"1","x":"2"},"managedFields":[{"fieldsV1":{"f:a":{},"f:a":{}}}]},'
        b'"nonsense":{"y":1,"y":2},"data":{"k":"1","k":"1"},"data":{}}'
    )
    found = ["metadata.labels.x", "data.k", "data"]
    told = [f'duplicate field "{path}"' for path in found]
    assert Codec(schema("v1", "ConfigMap")).strict(body) == [told[0], 'unknown field "nonsense"', *told[1:]]
    assert "nonsense.y" in duplicate_keys(body)


def test_escaped_quotes_do_not_deceive() -> None:
    """given texts with quotes in both spellings and a repeated key, when looked for, then the
    repeat is found
    """
    assert duplicate_keys(b'{"a":"\\u0022","b":"\\"","a":"\\u0022\\u0022"}') == ["a"]
    assert duplicate_keys(b'{ "a" : "\\"\\"", "b":"\\u0022" }') == []


@given(TREES)
def test_bodies_without_repeats_take_the_short_way(tree: object) -> None:
    """given any tree written by an encoder, when asked whether it may repeat keys, then the answer
    is no
    """
    body = orjson.dumps(tree)
    assert not may_repeat(body, orjson.loads(body))
    assert duplicate_keys(orjson.dumps(tree, option=orjson.OPT_INDENT_2)) == []


@pytest.mark.parametrize(("body", "meant"), [
    (b'{"a":1,"a":2}', {"a": 2}),
    (b'{"a":"x","a":null}', {"a": None}),
    (b'{"a":{"b":1,"c":1},"a":{"b":2}}', {"a": {"b": 2, "c": 1}}),
    (b'{"a":{"b":{"c":1}},"a":{"b":{"d":2}},"a":{"b":{"d":3}}}', {"a": {"b": {"c": 1, "d": 3}}}),
    (b'{"a":[{"n":"x","e":1},{"n":"y"}],"a":[{"n":"z"}]}', {"a": [{"n": "z", "e": 1}]}),
    (b'{"a":[1],"a":[2,3]}', {"a": [2, 3]}),
    (b'{"a":[1],"a":{"b":1}}', {"a": {"b": 1}}),
])
def test_what_is_given_twice_is_read_one_into_the_other(body: bytes, meant: dict[str, Any]) -> None:
    """Given a body with a key twice, when it is read as Go does, then the last text counts, objects
    and items are merged.
    """
    assert merged(body) == meant
