"""URLs are read, taken apart and printed as Go's net/url does."""

import pytest

from fakekube.apimachinery import gourl
from fakekube.apimachinery.gourl import URL


@pytest.mark.parametrize(("text", "printed"), [
    ("http://a/b", "http://a/b"),
    ("HTTP://User:p%40w@A.example:80/x?y=1#z", "http://User:p%40w@A.example:80/x?y=1#z"),
    ("mailto:a@b", "mailto:a@b"),
    ("*", "*"),
    ("/a b", "/a%20b"),
    ("/a%2Fb", "/a%2Fb"),
    ("/a%2fb!", "/a%2fb!"),
    ("/a/%zz"[:3], "/a/"),
    ("//host/path", "//host/path"),
    ("///path", "///path"),
    ("file:///etc", "file:///etc"),
    ("file:/etc", "file:/etc"),
    ("http://host", "http://host"),
    ("a?", "a?"),
    ("a?b", "a?b"),
    ("a#b c", "a#b%20c"),
    ("a#b(%20)", "a#b(%20)"),
    ("http://[fe80::1%25en0]:8/", "http://[fe80::1%25en0]:8/"),
    ("http://h\u00e4/", "http://h%C3%A4/"),
])
def test_a_url_prints_as_it_was_written(text: str, printed: str) -> None:
    """Given a URL / when it is read and printed / then it reads as Go's String does."""
    assert str(gourl.parse(text)) == printed


@pytest.mark.parametrize(("url", "printed"), [
    (URL(path=b"a:b/c"), "./a:b/c"),
    (URL(path=b"a/b:c"), "a/b:c"),
    (URL(host=b"h", path=b"a:b"), "//h/a:b"),
    (URL(scheme=b"http", user=b"u", path=b"/p"), "http://u@/p"),
    (URL(scheme=b"http", omit_host=True, path=b"/p"), "http:/p"),
    (URL(scheme=b"http"), "http:"),
    (URL(path=b"/a b", raw_path=b"/a%62"), "/a%20b"),
    (URL(path=b"/a^b", raw_path=b"/a^b"), "/a%5Eb"),
    (URL(path=b"\xff"), "%FF"),
    (URL(scheme=b"s", opaque=b"\xffo", force_query=True), "s:\ufffdo?"),
    (URL(), ""),
])
def test_a_url_that_was_put_together_prints(url: URL, printed: str) -> None:
    """Given parts / when they are printed / then what was written counts only if it says the same.
    """
    assert str(url) == printed


@pytest.mark.parametrize(("query", "values"), [
    ("a=1&b=2&a=3", {"a": ["1", "3"], "b": ["2"]}),
    ("a+b=c+d&e", {"a b": ["c d"], "e": [""]}),
    ("&&a=1=2", {"a": ["1=2"]}),
    ("a=1;b=2&c=3", {"c": ["3"]}),
    ("a=%zz&%zz=a&b=%41", {"b": ["A"]}),
    ("a=%ff%41", {"a": ["\ufffdA"]}),
    ("&".join(["a=1"] * 10000), {"a": ["1"] * 10000}),
    ("&".join(["a=1"] * 10001), {}),
])
def test_what_a_query_asks(query: str, values: dict[str, list[str]]) -> None:
    """Given a query / when it is taken apart / then what cannot be read is left out, and of too
    many pairs all.
    """
    assert gourl.parse(f"/?{query}").query == values


@pytest.mark.parametrize(("text", "hostname", "port"), [
    ("http://a:80/", b"a", b"80"), ("http://a:/", b"a", b""), ("http://a/", b"a", b""),
    ("http://[::1]:8/", b"::1", b"8"), ("http://[::1]/", b"::1", b""),
])
def test_a_host_has_a_name_and_a_port(text: str, hostname: bytes, port: bytes) -> None:
    """Given an authority / when it is taken apart / then brackets are not of the name."""
    url = gourl.parse(text)
    assert (url.hostname, url.port) == (hostname, port)


@pytest.mark.parametrize(("text", "message"), [
    ("http://a^b@c/", 'parse "http://a^b@c/": net/url: invalid userinfo'),
    ("http://[1.2.3.4]/", 'parse "http://[1.2.3.4]/": invalid IP-literal'),
    ("http://a[::1]/", 'parse "http://a[::1]/": invalid IP-literal'),
    ("http://[::1/", 'parse "http://[::1/": missing \']\' in host'),
    ("http://a:b/", 'parse "http://a:b/": invalid port ":b" after host'),
    ("http://a:1:2/", 'parse "http://a:1:2/": invalid port ":1:2" after host'),
    ("http://%41/", 'parse "http://%41/": invalid URL escape "%41"'),
    ("http://a b/", 'parse "http://a b/": invalid character " " in host name'),
    (":a", 'parse ":a": missing protocol scheme'),
    ("a:b:c/"[1:], 'parse ":b:c/": missing protocol scheme'),
    ("1a:b", 'parse "1a:b": first path segment in URL cannot contain colon'),
    ("/%4", 'parse "/%4": invalid URL escape "%4"'),
    ("/#%4", 'parse "/#%4": invalid URL escape "%4"'),
    ("/\x7f", 'parse "/\\x7f": net/url: invalid control character in URL'),
])
def test_what_is_no_url_says_why(text: str, message: str) -> None:
    """Given a text that is no URL / when it is read / then the error is Go's."""
    with pytest.raises(gourl.URLError) as error:
        gourl.parse(text)
    assert str(error.value) == message


@pytest.mark.parametrize(("text", "message"), [
    ("", 'parse "": empty url'),
    ("a", 'parse "a": invalid URI for request'),
])
def test_a_request_asks_for_what_is_absolute(text: str, message: str) -> None:
    """Given nothing, or a relative path / when it is read as a request's / then it is refused."""
    with pytest.raises(gourl.URLError) as error:
        gourl.parse_request_uri(text)
    assert str(error.value) == message


def test_a_request_has_no_fragment() -> None:
    """Given a number sign / when the URL is read as a request's / then it is of the path."""
    assert gourl.parse_request_uri("/a#b?c") == URL(path=b"/a#b", raw_path=b"/a#b", raw_query=b"c")
