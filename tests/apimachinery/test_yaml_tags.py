"""Tags, keys that are no texts, and aliases, as Go's YAML package takes them."""

from typing import Any

import pytest

from fakekube.apimachinery import yaml


@pytest.mark.parametrize(("text", "value"), [
    ("!!int 5", 5), ("!!bool yes", True), ("!!null ~", None), ("!!float 1.5", 1.5), ("!!float 3", 3), ("! 5", "5"),
    ("!!binary /w==", "\ufffd"),
])
def test_a_tag_that_fits(text: str, value: Any) -> None:
    """Given a tag / when the text fits / then the value has its type."""
    assert yaml.load(f"a: {text}".encode()) == ({"a": value}, [])


@pytest.mark.parametrize(("text", "problem"), [
    ("!!binary '*'", "!!binary value contains invalid base64 data"),
    ("!!int ~", "cannot decode !!null `~` as a !!int"),
    ("!!int x", "cannot decode !!str `x` as a !!int"),
    ("!!int 1.5", "cannot decode !!float `1.5` as a !!int"),
    ("!!bool 1", "cannot decode !!int `1` as a !!bool"),
    ("!!float yes", "cannot decode !!bool `yes` as a !!float"),
])
def test_a_tag_that_does_not_fit(text: str, problem: str) -> None:
    """Given a tag / when the text is of another type / then both are named."""
    with pytest.raises(yaml.YAMLError) as error:
        yaml.load(f"b: 1\na: {text}".encode())
    assert (str(error.value), error.value.line) == (f"yaml: {problem}", 2)


def test_keys_that_are_numbers() -> None:
    """Given keys that are numbers and booleans / when they are read / then they are Go's texts."""
    body = b"{.nan: 1, .inf: 2, -.inf: 3, 1.5: 4, 2.0: 5, 7: 6, true: 7, off: 8, 1e-9: 9}"
    assert yaml.load(body)[0] == {
        ".nan": 1, ".inf": 2, "-.inf": 3, "1.5": 4, "2": 5, "7": 6, "true": 7, "false": 8, "1e-09": 9}


@pytest.mark.parametrize(("body", "problem"), [
    ("? {b: 1, a: [x, ~, 1.5]}\n: 1",
     'yaml: invalid map key: map[interface {}]interface {}{"a":[]interface {}{"x", interface {}(nil), 1.5}, "b":1}'),
    ("? []\n: 1", "yaml: invalid map key: []interface {}{}"),
    ("~: x", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'),
    ("~: ~", "unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>"),
    ("a: &a [*a]", "yaml: anchor 'a' value contains itself"),
    ("a: *b", "yaml: unknown anchor 'b' referenced"),
    ("<<: 1", "yaml: map merge requires map or sequence of maps as the value"),
    ("<<: [{a: 1}, 2]", "yaml: map merge requires map or sequence of maps as the value"),
])
def test_what_cannot_be_a_key_or_an_alias(body: str, problem: str) -> None:
    """Given a map as a key, or an alias of itself / when it is read / then Go's words refuse it."""
    with pytest.raises(yaml.YAMLError) as error:
        yaml.load(body.encode())
    assert str(error.value) == problem


def test_aliases_may_be_forbidden() -> None:
    """Given an alias / when none may be there / then its line is told; an anchor alone is taken."""
    assert yaml.load_all(b"a: &x 1\n---\nb: 2", aliases=False) == [{"a": 1}, {"b": 2}]
    with pytest.raises(yaml.YAMLError) as error:
        yaml.load_all(b"a: &x 1\nb: *x", aliases=False)
    assert (str(error.value), error.value.line) == ("yaml: aliases are not allowed here", 2)


def chained(more: int, last: str) -> bytes:
    """Two lists of 99 levels, the second with the first in it, and a third with ``more`` around it.
    """
    lines = ["a: &a " + "[" * 99 + "]" * 99, "b: &b " + "[" * 99 + "*a" + "]" * 99, "c: &c " + "[" * more + "*b" + "]" * more]
    return "\n".join([*lines, last]).encode()


@pytest.mark.parametrize(("more", "last", "line"), [(2, "d: 1", 0), (3, "d: *c", 4), (1, "d: [*c]", 0)])
def test_aliases_do_not_nest_beyond_the_limit(more: int, last: str, line: int) -> None:
    """Given lists of few levels that have one another by aliases / when a value has more than 200 /
    then the whole is refused, or the alias that has too many.
    """
    with pytest.raises(yaml.YAMLError) as error:
        yaml.load(chained(more, last))
    assert (str(error.value), error.value.line) == ("yaml: exceeded max depth of 10000", line)
    assert len(yaml.load(chained(1, "d: *c"))[0]) == 4
