"""Amounts: quantities as numbers and back, sums that stop at 64 bits, quotas without limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.resources import UNLIMITED

AMOUNTS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-10, 10), st.just(UNLIMITED))


@pytest.mark.parametrize(("name", "text", "amount"), [
    ("cpu", "1", 1000), ("cpu", "100m", 100), ("cpu", "0.1m", 1), ("memory", "1Ki", 1024), ("memory", "1.5", 2),
    ("example.com/gpu", "3", 3), ("cpu", "-500m", -500), ("cpu", "10E", UNLIMITED), ("memory", "100E", UNLIMITED),
])
def test_a_request_is_rounded_up_and_stays_in_64_bits(name, text, amount):
    """Given a quantity, when it is read as a request, then as thousandths of a CPU, units else."""
    assert resources.resource_value(name, text) == amount


@pytest.mark.parametrize(("name", "text", "unlimited"), [
    ("cpu", "1E", True), ("cpu", "9223372036854774", False), ("cpu", "9223372036854775", True),
    ("memory", "9223372036854775807", True), ("memory", "9223372036854775806", False), ("memory", "8Ei", True),
])
def test_a_quota_that_is_too_large_for_an_amount_is_unlimited(name, text, unlimited):
    """Given a quantity, when it is read as a quota, then what 64 bits cannot hold has no limit."""
    assert (resources.amount_from_quantity(name, text) == UNLIMITED) is unlimited


@pytest.mark.parametrize(("name", "amount", "text"), [
    ("cpu", 1500, "1500m"), ("cpu", 2000, "2"), ("memory", 1024, "1Ki"), ("memory", 1000, "1k"), ("memory", 1500, "1500"),
    ("example.com/gpu", 1000, "1k"), ("hugepages-2Mi", 2097152, "2Mi"), ("cpu", 0, "0"), ("pods", 12, "12"),
])
def test_an_amount_as_a_quantity(name, amount, text):
    """Given an amount, when it is printed, then bytes have binary suffixes where exact."""
    assert resources.resource_quantity(name, amount) == text
    assert resources.to_resource_list({name: amount}) == {name: text}


def test_a_quota_without_limit_says_so():
    """Given no limit, when a message tells the quota, then it is no number."""
    assert resources.amount_quantity("cpu", UNLIMITED) == "<unlimited>"
    assert resources.amount_quantity("cpu", 250) == "250m"


@given(AMOUNTS, AMOUNTS)
def test_sums_stay_in_64_bits_and_nothing_makes_unlimited_less(left, right):
    """Given any two amounts, when they are added or subtracted, then no result is out of range."""
    for result in (resources.add(left, right), resources.subtract(left, right), resources.multiply(left, right)):
        assert -(2**63) <= result < 2**63
    assert resources.add(left, right) == resources.add(right, left)
    if UNLIMITED not in (left, right) and abs(left + right) < 2**62:
        assert resources.subtract(resources.add(left, right), right) == left
    assert resources.add(UNLIMITED, right) == UNLIMITED
    assert resources.subtract(UNLIMITED, right) == (0 if right == UNLIMITED else UNLIMITED)
    if left != UNLIMITED:
        assert resources.subtract(left, UNLIMITED) == -(2**63)


@given(st.dictionaries(st.sampled_from(["cpu", "memory"]), st.integers(0, 1000)), st.integers(1, 20), st.integers(0, 20))
def test_what_so_many_pods_request_is_known_for_any_number(single, count, new_count):
    """Given what one pod requests, when the sum is scaled, then it is that of as many pods."""
    together = {name: amount * count for name, amount in single.items()}
    assert resources.scaled(together, count, new_count) == {name: amount * new_count for name, amount in single.items()}


def test_nothing_can_be_scaled_from_no_pods():
    """Given requests of no pods, when they are scaled, then there is no division by nothing."""
    assert resources.scaled({"cpu": 0}, 0, 3) == {"cpu": 0}


def test_division_is_that_of_go():
    """Given a negative amount, when it is divided, then the result is nearer to nothing."""
    assert [resources.quotient(-7, 2), resources.quotient(7, 2), resources.quotient(-7, -2)] == [-3, 3, 3]


def test_resources_are_looked_at_in_the_order_of_their_hashes():
    """Given resources in any order, when they are put in order, then by FNV-1a as upstream's."""
    assert resources.in_order(["pods", "memory", "cpu"]) == resources.in_order(["cpu", "pods", "memory"])
    hashes = {"": 0xCBF29CE484222325, "a": 0xAF63DC4C8601EC8C, "foobar": 0x85944171F73967E8}
    assert resources.in_order(hashes) == sorted(hashes, key=hashes.__getitem__)


def test_resources_that_one_has_more_of():
    """Given two lists, when they are compared, then by name what the first has more of."""
    assert resources.greater_keys({"memory": 3, "cpu": 2, "pods": 9}, {"cpu": 1, "memory": 2}) == ["cpu", "memory"]
