"""The functions of CEL, as cel-go and Kubernetes declare them."""

from tests.cel.answers.declared.declared import FILE, lines


def test_what_is_declared() -> None:
    """given all libraries, when their functions and macros are listed, then each has the types and
    the id that it has in cel-go, and each release has its libraries
    """
    assert list(lines()) == FILE.read_text().splitlines()
