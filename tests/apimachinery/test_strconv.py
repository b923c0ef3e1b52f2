"""Numbers in texts, as Go reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import strconv

INT64 = 1 << 63


@given(st.integers(-(1 << 66), 1 << 66), st.sampled_from(["", "0", "0" * 5000]))
def test_what_fits_is_read(number: int, zeros: str) -> None:
    """Given any number, with zeros in front / when it is read / then it comes back if 64 bits hold
    it.
    """
    text = f"{'-' if number < 0 else ''}{zeros}{abs(number)}"
    for read, low, high in ((strconv.parse_int, -INT64, INT64), (strconv.parse_uint, 0, 2 * INT64)):
        if low <= number < high and not (read is strconv.parse_uint and text[0] == "-"):
            assert read(text) == number
        else:
            with pytest.raises(strconv.NumberError, match=r"out of range|invalid syntax"):
                read(text)


@pytest.mark.parametrize("text", ["", "+", "-", "1_000", " 1", "1 ", "٣", "²", "0x1", "1.0", "1e3"])
def test_what_is_no_number(text: str) -> None:
    """Given a text that Go does not take for a number / when it is read / then the syntax is
    invalid.
    """
    with pytest.raises(strconv.NumberError) as error:
        strconv.parse_int(text)
    assert str(error.value) == f'strconv.ParseInt: parsing "{text}": invalid syntax'
    assert not strconv.is_uint(text)


@pytest.mark.parametrize(("text", "function", "why"), [
    ("9" * 5000, "ParseInt", "value out of range"), ("-" + "9" * 5000, "ParseInt", "value out of range"),
    ("9" * 5000, "ParseUint", "value out of range"), ("+1", "ParseUint", "invalid syntax"), ("-1", "ParseUint", "invalid syntax"),
])
def test_words(text: str, function: str, why: str) -> None:
    """Given a number that is too long or has a sign / when it is read / then Go's words come,
    however long it is.
    """
    read = strconv.parse_int if function == "ParseInt" else strconv.parse_uint
    with pytest.raises(strconv.NumberError) as error:
        read(text)
    assert str(error.value) == f'strconv.{function}: parsing "{text}": {why}'
