"""Quantities print as Go prints them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import quantity


@pytest.mark.parametrize(
    ("given_text", "printed"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1024Ki", "1Mi"),
        ("-3072Mi", "-3Gi"),
        ("1536Ki", "1536Ki"),
        ("-120000", "-120k"),
        ("1e1000", "10e999"),
        ("1.5Gi", "1536Mi"),
        ("1000", "1k"),
        ("1e3", "1e3"),
        ("1e-1", "100e-3"),
        ("+5", "+5"),
        ("1.500", "1.500"),
        ("0.0005", "500u"),
        ("0.0000000001", "1n"),
        ("0", "0"),
        ("-0", "0"),
        ("8Ki", "8Ki"),
        ("1.5Ki", "1536"),
        ("0.5Ki", "512"),
        ("0.1Ki", "102400m"),
        ("99999999999999Ti", "9223372036854775807"),
        ("1E", "1E"),
        ("1000E", "1"),
        (f"1e{'0' * 5000}1", "10"),
    ],
)
def test_a_quantity_prints_in_its_canonical_form(given_text: str, printed: str) -> None:
    """Given a quantity / when it is read and printed / then the text is the one that Go's
    resource.Quantity gives.
    """
    assert quantity.canonical(given_text) == printed


def test_a_json_number_becomes_a_text() -> None:
    """Given a number / when it is read as a quantity / then its text is printed."""
    assert quantity.canonical(134217728) == "134217728"
    assert quantity.canonical(0.5) == "500m"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("abc", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("1Kii", "unable to parse quantity's suffix"),
        ("1e9223372036854775808", "unable to parse quantity's suffix"),
        (f"1e{'1' * 5000}", "unable to parse quantity's suffix"),
        ("Pi", "unable to parse numeric part of quantity"),
    ],
)
def test_a_bad_quantity_is_refused_in_upstreams_words(text: str, message: str) -> None:
    """Given a text that is no quantity / when it is read / then the error says so as Go does."""
    with pytest.raises(quantity.QuantityError) as error:
        quantity.parse(text)
    assert str(error.value) == message


def test_a_pods_resources_round_up_to_thousandths() -> None:
    """Given an amount below a thousandth / when it is rounded for a pod / then one thousandth is
    left.
    """
    assert quantity.round_up_milli("0.0005") == "1m"
    assert quantity.round_up_milli("1.5Gi") == "1536Mi"


@given(st.integers(0, 2**62), st.sampled_from([quantity.DECIMAL, quantity.EXPONENT]))
def test_printing_and_reading_give_the_same_amount(nano: int, form: str) -> None:
    """Given any amount / when it is printed and read / then nothing is lost."""
    assert quantity.parse(quantity.render(nano, form)).nano == nano
    assert quantity.parse(quantity.render(-nano, form)).nano == -nano


@given(st.integers(-(2**53), 2**53))
def test_binary_amounts_keep_their_value(number: int) -> None:
    """Given any whole amount / when it is printed with binary suffixes and read / then nothing is
    lost, and no 1024 is left in front of a suffix.
    """
    text = quantity.render(number * quantity.NANO, quantity.BINARY)
    assert quantity.parse(text).nano == number * quantity.NANO
    assert not text.endswith("i") or int(text.rstrip("KMGTPEi")) % 1024
