"""Whom a certificate is for, as its name says."""

import pytest

from fakekube.util import certificates


def test_the_parts_of_a_name() -> None:
    """given a user, groups and a uid, when a name is made of them, then it has all of them"""
    assert certificates._name("jane", ["devs", "admins"], "u-1").rfc4514_string() == (
        "1.3.6.1.4.1.57683.2=u-1,CN=jane,O=admins,O=devs")
    assert certificates._name("jane", []).rfc4514_string() == "CN=jane"


@pytest.mark.parametrize(("name", "groups"), [("", []), ("j" * 65, []), ("jane", [""]), ("jane", ["g" * 65])])
def test_parts_of_a_wrong_length(name: str, groups: list[str]) -> None:
    """given a part without letters or with more than 64, when a name is made, then it is refused"""
    with pytest.raises(ValueError, match="a name in a certificate has 1 to 64 characters"):
        certificates._name(name, groups)
    assert certificates._name("j" * 64, ["g" * 64]).rfc4514_string() == f"CN={'j' * 64},O={'g' * 64}"
