"""Continue tokens, in upstream's encoding and words."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.storage import paging


def token(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@given(revision=st.integers(1, 2**62) | st.just(-1), start=st.from_regex("[a-z0-9-]{1,20}(/[a-z0-9-]{1,20})?", fullmatch=True))
def test_a_token_says_what_it_was_made_with(revision: int, start: str) -> None:
    """Given a revision and a key / when they are encoded and decoded / then they are the same."""
    assert paging.decode(paging.encode(revision, f"{start}\0")) == (revision, f"{start}\0")


def test_the_encoding_is_upstreams() -> None:
    """Given what upstream encodes / when we do / then the bytes agree."""
    assert paging.encode(-1, "b\0") == "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYlx1MDAwMCJ9"


@pytest.mark.spec("API-056")
@pytest.mark.parametrize(("text", "why"), [
    ("garbage!", "illegal base64 data at input byte 7"),
    ("abcde", "illegal base64 data at input byte 4"),
    (token('{"v":"meta.k8s.io/v2","rv":5,"start":"a"}'),
     "server does not recognize this encoded version meta.k8s.io/v2"),
    (token("{}"), "server does not recognize this encoded version "),
    (token("null"), "server does not recognize this encoded version "),
    (token('{"v":"meta.k8s.io/v1","start":"a"}'), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
    (token('{"v":"meta.k8s.io/v1","rv":5}'), "encoded start key empty (version meta.k8s.io/v1)"),
    (token('{"v":"meta.k8s.io/v1","rv":5,"start":"../a"}'), "../a"),
    (token('{"v":"meta.k8s.io/v1","rv":5,"start":"a//b"}'), "a//b"),
    (token('{"v":"meta.k8s.io/v1","rv":"5","start":"a"}'),
     "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"),
    (token('{"v":"meta.k8s.io/v1","rv":1.5,"start":"a"}'),
     "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64"),
    (token('{"v":1,"rv":5,"start":"a"}'),
     "json: cannot unmarshal number into Go struct field continueToken.v of type string"),
    (token('{"v":true}'), "json: cannot unmarshal bool into Go struct field continueToken.v of type string"),
    (token('["v"]'), "json: cannot unmarshal array into Go value of type storage.continueToken"),
])
def test_a_bad_token_is_worded_as_upstream_does(text: str, why: str) -> None:
    """Given a token that no server made / when it is decoded / then the complaint is upstream's."""
    with pytest.raises(paging.BadToken) as error:
        paging.decode(text)
    assert str(error.value) == f"continue key is not valid: {why}"


def test_a_leading_slash_changes_nothing() -> None:
    """Given a start that begins with a slash / when it is decoded / then the key is the one behind
    it.
    """
    assert paging.decode(token('{"v":"meta.k8s.io/v1","rv":5,"start":"/a"}')).start == "a"
