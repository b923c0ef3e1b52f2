"""A controller acts again only once its cache has shown what it did."""

import pytest

from fakekube.cache.expectations import Expectations
from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock


@pytest.fixture
def clock():
    return ManualClock(activity=Activity())


def test_creations_are_counted(clock):
    """Given three expected creations, when three are seen, then and only then the key is satisfied.
    """
    expectations = Expectations(clock)
    assert expectations.satisfied("a")
    expectations.expect_creations("a", 3)
    for _ in range(2):
        expectations.creation_observed("a")
    assert not expectations.satisfied("a")
    expectations.creation_observed("a")
    assert expectations.satisfied("a")


def test_deletions_by_uid_count_once(clock):
    """Given two expected uids, when one is seen twice, then the other is still expected."""
    expectations = Expectations(clock)
    expectations.expect_deletions_of("a", ["u", "v"])
    expectations.deletion_observed("a", "u")
    expectations.deletion_observed("a", "u")
    assert not expectations.satisfied("a")
    expectations.deletion_observed("a", "v")
    assert expectations.satisfied("a")


def test_expectations_expire(clock):
    """Given an expectation, when five minutes pass, then it no longer holds the controller back."""
    expectations = Expectations(clock)
    expectations.expect_creations("a", 1)
    clock.move_to(clock.time() + 300)
    assert not expectations.satisfied("a")
    clock.move_to(clock.time() + 1)
    assert expectations.satisfied("a")


def test_forgetting_a_key_expects_nothing(clock):
    """Given an expectation, when its key is forgotten, then it is satisfied."""
    expectations = Expectations(clock)
    expectations.expect_deletions("a", 1)
    expectations.raise_expectations("a", 1, 1)
    assert not expectations.satisfied("a")
    expectations.forget("a")
    assert expectations.satisfied("a")
