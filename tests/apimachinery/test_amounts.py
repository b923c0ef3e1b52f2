"""Amounts are added, compared and printed, and exact ones are read as Go holds them."""

import pytest

from fakekube.apimachinery import amounts, quantity
from fakekube.apimachinery.quantity import Exact

HALF = {"cpu": "500m", "memory": "1Gi"}


def test_the_larger_of_two_amounts() -> None:
    """Given amounts / when the larger of each is taken / then of equal ones the left one stays, and
    each name is there.
    """
    left = amounts.read({"cpu": "1", "memory": "1Gi", "a": "1000m"})
    right = amounts.read({"cpu": "2", "memory": "512Mi", "a": "1", "b": "0"})
    assert amounts.largest(left, right) == amounts.read({"cpu": "2", "memory": "1Gi", "a": "1000m", "b": "0"})
    assert left == amounts.read({"cpu": "1", "memory": "1Gi", "a": "1"})


def test_what_is_new_is_spent() -> None:
    """Given what there was and what there is / when the difference is asked for / then it is never
    below nothing, and what is gone is not told.
    """
    new = amounts.read({"cpu": "2", "memory": "1Gi", "new": "3"})
    old = amounts.read({"cpu": "500m", "memory": "2Gi", "gone": "1"})
    assert amounts.texts(amounts.spent(new, old)) == {"cpu": "1500m", "memory": "0", "new": "3"}


def test_sums_keep_the_left_way_of_writing() -> None:
    """Given amounts in several ways of writing / when they are added / then the left one is kept
    unless it is nothing.
    """
    sums = amounts.add(amounts.read({"a": "1Ki", "b": "0", "c": "1"}), amounts.read({"a": "1k", "b": "1Ki", "d": "2"}))
    assert amounts.texts(sums) == {"a": "2024", "b": "1Ki", "c": "1", "d": "2"}
    assert amounts.shown(amounts.read(HALF)) == "cpu=500m,memory=1Gi"
    assert amounts.texts(amounts.pick(amounts.read(HALF), ("memory", "none"))) == {"memory": "1Gi"}


@pytest.mark.parametrize(("text", "exact"), [
    ("0", Exact(0, 0, small=True)),
    ("00", Exact(0, 0, small=True)),
    ("-0", Exact(0, 0, small=True)),
    ("5", Exact(5, 0, small=True)),
    ("-5", Exact(-5, 0, small=True)),
    ("+1.50", Exact(150, -2, small=True)),
    ("100m", Exact(100, -3, small=True)),
    ("1.5k", Exact(15, 2, small=True)),
    ("1e3", Exact(1, 3, small=True)),
    ("0.123456789", Exact(123456789, -9, small=True)),
    ("0.1234567891", Exact(123456790, -9, small=False)),
    ("1n", Exact(1, -9, small=True)),
    ("0.1n", Exact(1, -9, small=False)),
    ("999999999999999999", Exact(999999999999999999, 0, small=True)),
    ("1000000000000000000", Exact(10**27, -9, small=False)),
    ("1Ki", Exact(1024, 0, small=True)),
    ("-2Mi", Exact(-2 * 2**20, 0, small=True)),
    ("1.5Ki", Exact(1536 * 10**9, -9, small=False)),
    ("9999999Ei", Exact(2**63 - 1, 0, small=False)),
    ("-9999999Ei", Exact(-(2**63) + 1, 0, small=False)),
])
def test_an_exact_amount_is_held_as_go_holds_it(text: str, exact: Exact) -> None:
    """Given a quantity / when it is read exactly / then number and scale are Go's, and whether 64
    bits hold them.
    """
    assert quantity.parse_exact(text) == exact


@pytest.mark.parametrize("text", [" 1", "1 ", "", "a", "1Kii"])
def test_an_exact_amount_has_no_spaces_around_it(text: str) -> None:
    """Given a text that is no quantity / when it is read exactly / then it is refused."""
    with pytest.raises(quantity.QuantityError):
        quantity.parse_exact(text)


def test_more_digits_than_anybody_writes_are_refused() -> None:
    """Given a thousand digits, and one more / when they are read / then the latter are refused."""
    assert quantity.parse(f"{'1' * 1000}e-1000").text == "111111112e-9"
    with pytest.raises(quantity.QuantityError, match=r"^unable to parse numeric part of quantity$"):
        quantity.parse(f"{'1' * 1001}e-1000")


@pytest.mark.parametrize(("text", "printed", "form"), [
    ("0.0001Ki", "102400u", "DecimalSI"), ("0.5Ki", "512", "BinarySI"), ("0.0Ki", "0", "BinarySI"), ("1Ki", "1Ki", "BinarySI"),
])
def test_less_than_one_is_decimal(text: str, printed: str, form: str) -> None:
    """Given less than one in binary / when it is read / then it is written decimally."""
    found = quantity.parse(text)
    assert (found.text, found.format) == (printed, form)
