"""Hosts and origins, each in its one spelling."""

import pytest

from fakekube.apimachinery.origins import host_of, is_loopback, origin_of, plain_host


@pytest.mark.parametrize(("text", "host"), [
    ("Example.COM.:80", "example.com"), ("a_b.example", "a_b.example"), ("[FD00:0::1]:80", "fd00::1"),
    ("[fe80::1%25eth0]", "fe80::1"), ("10.0.0.1:1", "10.0.0.1"), ("a:b", ""), ("a@b", ""), ("a/b", ""), ("[a]", ""),
    ("a..b", ""), ("a b", ""), ("a" * 301, ""),
])
def test_hosts(text: str, host: str) -> None:
    """Given an authority / when its host is read / then it is in its one spelling, or empty for
    what is none.
    """
    assert host_of(text) == host


@pytest.mark.parametrize(("text", "origin"), [
    ("HTTP://Example.com:80", "http://example.com"), ("https://example.com:443", "https://example.com"),
    ("http://example.com:443", "http://example.com:443"), (" null ", "null"), ("*", "*"), ("moz-extension://a-b", "moz-extension://a-b"),
])
def test_origins(text: str, origin: str) -> None:
    """Given an origin / when it is read / then it is in its one spelling, without a port that says
    nothing.
    """
    assert origin_of(text) == origin


@pytest.mark.parametrize("text", ["", "example.com", "http://", "http://a/b", "http://a?b", "http://u@a", "http://a b"])
def test_what_is_no_origin(text: str) -> None:
    """Given a text that is no origin / when it is read / then ValueError says how one looks."""
    with pytest.raises(ValueError, match=r"is no origin: say http://127\.0\.0\.1:3000"):
        origin_of(text)


@pytest.mark.parametrize("text", ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_loopback(text: str) -> None:
    """Given a name or an address of this machine alone / when it is judged / then it is of
    loopback.
    """
    assert is_loopback(text)


@pytest.mark.parametrize("text", ["", "0.0.0.0", "::", "192.168.0.1", "fe80::1%lo", "::ffff:10.0.0.1", "box", "localhost.a"])
def test_no_loopback(text: str) -> None:
    """Given any other name or address / when it is judged / then it is not."""
    assert not is_loopback(text)


def test_hosts_of_options() -> None:
    """Given hosts as people write them / when they are read / then they are spelled as those of
    requests; else ValueError.
    """
    assert [plain_host(text) for text in ("Box.example:80", "FD00::1", "[fd00::1]:80")] == ["box.example", "fd00::1", "fd00::1"]
    with pytest.raises(ValueError, match="'http://box' is no host"):
        plain_host("http://box")
