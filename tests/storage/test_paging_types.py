"""What a continue token may hold, to the last number and letter, in upstream's words."""

import base64

import pytest

from fakekube.storage import paging
from fakekube.storage.paging import Continue

HEAD = '{"v":"meta.k8s.io/v1",'
STRUCT = "json: cannot unmarshal {} into Go struct field continueToken.{} of type {}"


def token(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(("text", "found"), [
    (token(HEAD + '"rv":-1,"start":"a"}'), Continue(-1, "a")),
    (token(HEAD + '"rv":9223372036854775807,"start":"a/b"}'), Continue(9223372036854775807, "a/b")),
    (token(HEAD + '"rv":-9223372036854775808,"start":"a/.b"}'), Continue(-9223372036854775808, "a/.b")),
    (token(HEAD + '"rv":5,"start":"a","more":[]}'), Continue(5, "a")),
    (token(HEAD + '"rv":5,"start":"/"}'), Continue(5, "")),
    (token(HEAD + '"rv":5,"start":"/..a"}'), Continue(5, "..a")),
    ("\n".join(token(HEAD + '"rv":5,"start":"a"}')) + "\r\n", Continue(5, "a")),
    (token(HEAD + '"rv":5,"start":"~~~???"}'), Continue(5, "~~~???")),
    (token(HEAD + '"rv":5,"start":"b\\u0000"}'), Continue(5, "b\0")),
])
def test_a_token_that_can_be_read(text: str, found: Continue) -> None:
    """Given a token at the edge of what upstream takes / then it is read."""
    assert paging.decode(text) == found


@pytest.mark.parametrize(("text", "why"), [
    (token(HEAD + '"rv":9223372036854775808,"start":"a"}'), STRUCT.format("number 9223372036854775808", "rv", "int64")),
    (token(HEAD + '"rv":true,"start":"a"}'), STRUCT.format("bool", "rv", "int64")),
    (token(HEAD + '"rv":[1],"start":"a"}'), STRUCT.format("array", "rv", "int64")),
    (token(HEAD + '"rv":5,"start":{}}'), STRUCT.format("object", "start", "string")),
    (token(HEAD + '"rv":5,"start":7}'), STRUCT.format("number", "start", "string")),
    (token(HEAD + '"rv":null,"start":"a"}'), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
    (token(HEAD + '"rv":5,"start":null}'), "encoded start key empty (version meta.k8s.io/v1)"),
    (token('{"v":null,"rv":5,"start":"a"}'), "server does not recognize this encoded version "),
    (token(HEAD + '"rv":5,"start":"a/."}'), "a/."), (token(HEAD + '"rv":5,"start":"a/"}'), "a/"),
    (token(HEAD + '"rv":5,"start":"//a"}'), "//a"), (token(HEAD + '"rv":5,"start":"."}'), "."),
    (token("5"), "json: cannot unmarshal number into Go value of type storage.continueToken"),
    (token('"a"'), "json: cannot unmarshal string into Go value of type storage.continueToken"),
    ("ab+d", "illegal base64 data at input byte 2"), ("ab/d", "illegal base64 data at input byte 2"),
    ("a", "illegal base64 data at input byte 0"), ("abcd\r\nabcde", "illegal base64 data at input byte 8"),
])
def test_a_token_that_cannot_be_read(text: str, why: str) -> None:
    """Given a token just beyond what upstream takes / then the complaint is upstream's."""
    with pytest.raises(paging.BadToken) as error:
        paging.decode(text)
    assert str(error.value) == f"continue key is not valid: {why}"


def test_what_is_no_json_is_told_in_the_words_of_who_reads_it() -> None:
    """Given a token with another decoder / when that complains / then its words are told."""
    def loads(data: bytes) -> object:
        raise ValueError(f"no {data.decode()}")

    with pytest.raises(paging.BadToken, match=r"^continue key is not valid: no x$"):
        paging.decode(token("x"), loads)
