import cProfile
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import yaml

TEXTS = st.text("ab1.e-: ", max_size=6)
NUMBERS = st.one_of(st.integers(-2**63, 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), TEXTS, NUMBERS),
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(TEXTS, below, max_size=3)))


@pytest.mark.spec("API-026")
def test_a_manifest_becomes_json() -> None:
    """given a manifest with comments, block texts and anchors, when read, then it is the JSON that
    a client meant
    """
    value, repeated = yaml.load(
        b"# a pod\nkind: Pod\nspec:\n  a: &x {n: 1}\n  b: *x\n  c:\n    <<: *x\n    m: 2\n  text: |\n    one\n    two\n"
    )
    shared = {"false": 1}  # n is a bool in YAML 1.1, and keys become texts
    assert value == {"kind": "Pod", "spec": {"a": shared, "b": shared, "c": {"false": 1, "m": 2}, "text": "one\ntwo\n"}}
    assert repeated == []


@pytest.mark.parametrize(("text", "value"), [
    ("yes", True), ("Off", False), ("'yes'", "yes"), ("y", True), ("~", None), ("", None), ("null", None),
    ("nUll", "nUll"),
    ("0777", 511), ("0o17", 15), ("0x1F", 31), ("0b11", 3), ("1_000", 1000), ("08", 8), ("+5", 5), ("-5", -5),
    ("3.0", 3), ("1e3", 1000), (".5", 0.5), ("1.", 1), ("1e400", "1e400"), ("0.25", 0.25),
    ("1:30", "1:30"), ("2001-12-14", "2001-12-14"), ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
    ("1.2.3", "1.2.3"), ("9223372036854775807", 9223372036854775807), ("1e18", 1000000000000000000),
    ("!!str 5", "5"), ("!!float 5", 5), ("!!binary aGk=", "hi"), ("!custom x", "x"), ("100m", "100m"),
])  # fmt: skip
def test_scalars_are_what_go_makes_of_them(text: str, value: Any) -> None:
    """given a plain, quoted or tagged scalar, when read, then it has the type that upstream gives
    it
    """
    assert yaml.load(f"a: {text}".encode())[0] == {"a": value}
    assert type(yaml.load(f"a: {text}".encode())[0]["a"]) is type(value)


def test_keys_become_texts_and_are_sorted() -> None:
    """given keys that are numbers and bools, when read, then they are texts in order, as after Go's
    way through JSON
    """
    assert list(yaml.load(b"true: 1\nb: 2\n1: 3\n1.5: 4\n")[0].items()) == [("1", 3), ("1.5", 4), ("b", 2), ("true", 1)]


def test_repeated_keys_are_told_with_the_line_of_their_value() -> None:
    """given repeated keys with plain and nested values, when read, then the last counts and the
    lines are upstream's
    """
    value, repeated = yaml.load(b"a: 1\nb:\n  c: 2\n  c: 3\na:\n  z: 1\n")
    assert value == {"a": {"z": 1}, "b": {"c": 3}}
    assert repeated == ['line 4: key "c" already set in map', 'line 6: key "a" already set in map']
    assert yaml.load(b'1: a\n"1": b\n1: c\n')[1] == ["line 3: key 1 already set in map"]


def test_only_the_first_document_counts() -> None:
    """given two documents, and none, when read, then the first is taken, and nothing is null"""
    assert yaml.load(b"---\na: 1\n---\nb: 2\n") == ({"a": 1}, [])
    assert yaml.load(b"# nothing\n") == (None, [])


@pytest.mark.parametrize(("text", "error"), [
    ("a: b: c", "yaml: mapping values are not allowed in this context"),
    ("x: 1\na: b: c", "yaml: line 2: mapping values are not allowed in this context"),
    ("a: [1,", "yaml: line 1: did not find expected node content"),
    ("a:\n  - b\n c: d", "yaml: line 2: did not find expected key"),
    ("a: *x", "yaml: unknown anchor 'x' referenced"),
    ("a: &x [*x]", "yaml: anchor 'x' value contains itself"),
    ("a: \x01", "yaml: control characters are not allowed"),
    ("a: *x\nb: [", "yaml: unknown anchor 'x' referenced"),
    ("[a, b]: 1", 'yaml: invalid map key: []interface {}{"a", "b"}'),
    ("~: 1", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 1"),
    ("a: .inf", "json: unsupported value: +Inf"),
    ("a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
    ("<<: 1", "yaml: map merge requires map or sequence of maps as the value"),
    ("&x <<: *x", "yaml: map merge requires map or sequence of maps as the value"),
    ("a: !!int x\nb: {c", "yaml: line 2: did not find expected ',' or '}'"),
    ("a: !!int x\nb: *y", "yaml: unknown anchor 'y' referenced"),
])  # fmt: skip
def test_bad_yaml_is_told_as_upstream_does(text: str, error: str) -> None:
    """given a body that is no YAML, when read, then the words and the line are those of Go's
    package
    """
    with pytest.raises(yaml.YAMLError) as caught:
        yaml.load(text.encode())
    assert str(caught.value) == error


def test_a_tiny_value_costs_a_few_calls() -> None:
    """given bodies of many tiny values, when they are read, then each costs no more than a few
    calls and keeps no event
    """
    for body in (b"- 1\n" * 1000, b"[" + b"1," * 1000 + b"]", b"{" + b",".join(b"k%d: x" % n for n in range(500)) + b"}"):
        profile = cProfile.Profile()
        profile.runcall(yaml.load, body)
        calls = sum(entry.callcount for entry in profile.getstats() if "Event" not in str(entry.code))
        assert calls < 1000 * 12


def test_a_small_document_cannot_blow_up() -> None:
    """given aliases of aliases, ten to the ninth values in all, when read, then the document is
    refused
    """
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(yaml.YAMLError, match="excessive aliasing"):
        yaml.load("\n".join(lines).encode())


def test_json_is_yaml_too() -> None:
    """given JSON, as clients send it for apply, when read, then whole numbers are whole and repeats
    are still found
    """
    assert yaml.load(b'{"b": 1.0, "a": [true, null]}') == ({"a": [True, None], "b": 1}, [])
    assert yaml.load(b'{"a": 1, "a": 2}') == ({"a": 2}, ['line 1: key "a" already set in map'])


@given(value=JSON_VALUES)
def test_json_is_read_as_yaml_is(value: Any) -> None:
    """given any JSON object, when it is read the short way, then it is what reading it as YAML
    gives, whole floats made integers
    """
    body = orjson.dumps({"value": value})
    assert repr(yaml.load(body, canonical=True)[0]) == repr(yaml.load(b" " + body)[0])
