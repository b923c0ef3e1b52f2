"""Texts of errors and of names that are refused."""

import pytest

from fakekube.apimachinery import conditions, errors, names
from fakekube.apimachinery.streams import TerminalSize


def test_too_large_is_413() -> None:
    """Given a request that is too large / then upstream's 413 says so."""
    error = errors.too_large("limit is 3")
    assert (error.code, error.reason, error.message) == (
        413, "RequestEntityTooLarge", "Request entity too large: limit is 3")


@pytest.mark.parametrize(("key", "complaints"), [
    ("a.b-c_d", []), (".", ["must not be '.'"]), ("..", ["must not be '..'"]), ("..a", ["must not start with '..'"]),
    (".a", []), ("a" * 253, []), ("a" * 254, ["must be no more than 253 characters"])])
def test_keys_of_config_maps(key: str, complaints: list[str]) -> None:
    """Given a key of a ConfigMap / then what is wrong with it is told in upstream's words."""
    assert names.config_key(key) == complaints


def test_a_terminal_has_no_size_until_it_says_so() -> None:
    """Given a new terminal / then it is nothing wide and high."""
    assert (TerminalSize().columns, TerminalSize().rows) == (0, 0)


def test_a_condition_that_says_the_same_is_left_alone() -> None:
    """Given a condition / when the same is said again, in equal texts / then nothing changes; when
    status, reason, message or generation differ, it does, its time with the status alone.
    """
    found: list[dict] = []
    text = "because of " + str(len(found))
    assert conditions.set_condition(found, "Ready", "True", now="1", reason="A", message=text)
    assert not conditions.set_condition(found, "Ready", "True", now="2", reason="A", message="because of 0")
    assert conditions.set_condition(found, "Ready", "True", now="3", reason="B", message="because of 0")
    assert found[0]["lastTransitionTime"] == "1"
    assert conditions.set_condition(found, "Ready", "True", now="4", reason="B", message="because of 0", observed_generation=300)
    assert not conditions.set_condition(
        found, "Ready", "True", now="5", reason="B", message="because of 0", observed_generation=int("300"))
    assert conditions.set_condition(found, "Ready", "False", now="6", reason="B", message="because of 0", observed_generation=300)
    assert (found[0]["lastTransitionTime"], len(found)) == ("6", 1)
    assert conditions.remove(found, "Ready")
    assert not conditions.remove(found, "Ready")
