"""Paths, queries and headers, read as Go reads them."""

import pytest

from fakekube.server import target


@pytest.mark.parametrize(("text", "path"), [
    ("/a%20b", "/a b"), ("/a%2fb", "/a/b"), ("/%ff", "/\ufffd"), ("http://host/a/b", "/a/b"), ("//a", "//a"), ("*", "/"),
    ("/\udcff", "/\ufffd"), ("/é", "/é"), ("/a%00", "/a\0"),
])
def test_a_path_is_decoded(text: str, path: str) -> None:
    """Given a target with escapes, or in absolute form / when it is read / then the path is what it
    means.
    """
    assert target.path_of(text) == path


@pytest.mark.parametrize("text", ["/%", "/%z1", "/a%2", "/%%41"])
def test_a_broken_escape_is_no_path(text: str) -> None:
    """Given an escape without two digits / when the path is read / then it is refused."""
    with pytest.raises(target.BadTarget):
        target.path_of(text)


@pytest.mark.parametrize(("text", "query"), [
    ("", {}), ("a=1&a=2&b=", {"a": ["1", "2"], "b": [""]}), ("a=%zz&b=1", {"b": ["1"]}), ("a=1;b=2&c=3", {"c": ["3"]}),
    ("a=%ff", {"a": ["\ufffd"]}), ("a=\udcff", {"a": ["\ufffd"]}), ("watch", {"watch": [""]}), ("%zz", {}),
])
def test_what_cannot_be_read_of_a_query_is_not_there(text: str, query: dict[str, list[str]]) -> None:
    """Given parameters of which some are broken / when they are read / then the others are there.
    """
    assert target.query_of(text) == query


def test_headers_are_joined_and_hold_text() -> None:
    """Given a header twice, and one with a byte that is no text / when they are read / then joined,
    and replaced.
    """
    assert target.headers_of([("Accept", "a"), ("ACCEPT", "b"), ("User-Agent", "\udcff")]) == {
        "accept": "a, b", "user-agent": "\ufffd"}
