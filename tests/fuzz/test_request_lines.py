"""Methods, paths and queries that nobody would send, parameters without a value among them."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakekube.apimachinery.http import Request
from tests.fuzz.conftest import Ear, Target

WORDS = st.sampled_from([
    "", "api", "apis", "v1", "batch", "namespaces", "watch", "default", "t", "configmaps", "pods", "jobs", "status", "finalize",
    "kept", "proxy", ".", "..", "%", "%2f", "%zz", "*", "a b", "ä", "\x00", "\ud800", "log", "openapi", "v3", "?", "#",
]) | st.text(max_size=4)
METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "", "get", "\u0130"]) | st.text(
    max_size=3)
NAMES = st.sampled_from(["watch", "fieldSelector", "labelSelector", "limit", "continue", "timeout", "pretty", "resourceVersion"])
VALUES = st.lists(
    st.sampled_from(["", "0", "1", "true", "false", "metadata.name=x", "metadata.name=", "=", ",", "metadata.name==x,"])
    | st.text(max_size=4), max_size=3)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(method=METHODS, start=st.sampled_from(["/", "//", "", "/api/v1/", "/apis/batch/v1/", "/api/v1/namespaces/default/"]),
       words=st.lists(WORDS, max_size=6), query=st.dictionaries(NAMES, VALUES, max_size=3))
def test_no_request_line_breaks_the_server(
    target: Target, method: str, start: str, words: list[str], query: dict[str, list[str]],
) -> None:
    """Given any method, path and query, parameters without a value among them / when asked / then
    no panic, and no error.
    """
    request = Request(method, start + "/".join(words), query, {"content-type": "application/json"}, b"")
    answer = target.loop.run_until_complete(target.server.handle(request))
    assert b'"reason":"InternalError"' not in answer.body, answer.body
    assert 100 <= answer.status < 600
    if answer.stream is not None:
        answer.stream.start(Ear())
        answer.stream.stop()
