"""JSON as Go reads it, and its words for what is none."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import gojson
from fakekube.util.nesting import is_deep

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.spec("API-032")
@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b"hello", "invalid character 'h' looking for beginning of value"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
        (b'"a\nb"', "invalid character '\\n' in string literal"),
        (b'{"a":1} x', "invalid character 'x' after top-level value"),
        (b"{a:1}", "invalid character 'a' looking for beginning of object key string"),
        (b'"\\q"', "invalid character 'q' in string escape code"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b'"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"),
        (b"\xef\xbb\xbf{}", "invalid character 'ï' looking for beginning of value"),
        (b"{}\xa0", "invalid character '\\u00a0' after top-level value"),
        (b"-\xb2", "invalid character '²' in numeric literal"),
        (b"[" * 10_001, "invalid character '[' exceeded max depth"),
        (b'{"a":' * 10_001 + b"1" + b"}" * 10_001, "invalid character '{' exceeded max depth"),
        (b"[" * 10_000, "unexpected end of JSON input"),
        (b"[" * 5_000 + b"}", "invalid character '}' looking for beginning of value"),
        (b'{"a":' * 5_000 + b"1" + b"}" * 4_999 + b"]", "invalid character ']' after object key:value pair"),
    ],
)
def test_words_for_bodies_that_are_no_json(body: bytes, text: str) -> None:
    """Given a body that is no JSON / when it is read / then the complaint is Go's."""
    with pytest.raises(gojson.SyntaxProblem) as caught:
        gojson.loads(body)
    assert str(caught.value) == text


def test_bytes_that_are_no_text_are_replaced() -> None:
    """Given a string with a byte that is no UTF-8 / when it is read / then that byte is replaced,
    as Go does.
    """
    assert gojson.loads(b'{"a":"\xff"}') == {"a": "\ufffd"}


@pytest.mark.parametrize(("body", "value", "spelled"), [
    (b'"a\xe2\x82"', "a\ufffd\ufffd", b'"a\xef\xbf\xbd\xef\xbf\xbd"'),
    (b'"\\ud800"', "\ufffd", b'"\xef\xbf\xbd"'),
    (b'"\\udc00\\ud800x"', "\ufffd\ufffdx", b'"\xef\xbf\xbd\xef\xbf\xbdx"'),
    (b'"\\ud83d\\ude00"', "\U0001f600", b'"\\ud83d\\ude00"'),
    (b'["\xff", "\\\\ud800"]', ["\ufffd", "\\ud800"], b'["\xef\xbf\xbd", "\\\\ud800"]'),
])
def test_half_characters_are_replaced_one_by_one(body: bytes, value: object, spelled: bytes) -> None:
    """Given bytes or escapes that are half of a character / when they are read / then each is
    replaced, as Go does.
    """
    assert gojson.read(body) == (value, spelled, "", "")


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 5000, "1e999", "-1E400"])
def test_a_number_that_nobody_can_hold_is_told(number: str) -> None:
    """Given a number beyond all floats / when it is read / then its spelling is told, and the value
    can be printed.
    """
    read = gojson.read(b'{"a":%b,"b":1e998}' % number.encode())
    assert read.beyond == number
    assert isinstance(read.value["a"], float)


def test_a_whole_number_beyond_64_bits_is_a_float() -> None:
    """Given 30 digits / when they are read / then they are a float, as they are to Go."""
    assert gojson.read(b"1" * 30) == (float("1" * 30), b"1" * 30, "", "")


@pytest.mark.parametrize(("opening", "closing", "times"), [(b"[", b"]", 9_998), (b'{"a":[', b"]}", 4_999)])
def test_what_nobody_can_walk_is_left_out(opening: bytes, closing: bytes, times: int) -> None:
    """Given containers as deep as upstream allows / when they are read / then those beyond what is
    walked here are empty.
    """
    read = gojson.read(b'{"x":[%b1%b,2],"y":3}' % (opening * times, closing * times))
    assert read.cut == f"invalid character '{opening.decode()[0]}' exceeded max depth"
    assert gojson.loads(read.body) == read.value
    assert (read.value["x"][1], read.value["y"]) == (2, 3)
    assert is_deep(read.value)
    assert not is_deep(read.value, 201)


@given(st.binary(max_size=40) | st.text('{}[]",:\\u0d8f-1e.tn ', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    """Given any bytes / when they are read / then there is a value that can be written again, or a
    complaint.
    """
    try:
        read = gojson.read(body)
    except gojson.SyntaxProblem:
        return
    orjson.dumps(read.value)
    assert gojson.loads(read.body) == read.value


@given(JSON)
def test_what_is_json_is_read(value: object) -> None:
    """Given any JSON value / when it is read / then it is what Python's own reader gives."""
    text = json.dumps(value)
    assert gojson.loads(text.encode()) == json.loads(text)


@given(JSON, st.integers(0, 200))
def test_what_is_cut_short_is_never_read_as_something_else(value: object, at: int) -> None:
    """Given JSON cut somewhere / when it is read / then either it is still JSON, or a complaint
    comes.
    """
    text = json.dumps(value)[:at]
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(gojson.SyntaxProblem):
            gojson.loads(text.encode())
    else:
        assert gojson.loads(text.encode()) == expected
