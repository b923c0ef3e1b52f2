"""What stands in the lines of a recording, what is masked in them, and which lines are none."""

from typing import Any

import orjson
import pytest

from fakekube.apimachinery.http import Frame, MetFault
from fakekube.recording import lines, masking
from fakekube.recording.exchanges import parse
from fakekube.recording.lines import RecordingError

CLUSTER = {"type": "cluster", "format": "fakekube-recording/1", "cluster": "0"}
REQUEST = {"type": "request", "cluster": "0", "number": 1, "time": 0, "method": "GET", "path": "/", "code": 200}
EVENT = {"type": "event", "cluster": "0", "number": 1, "time": 0, "latest": 1}


@pytest.mark.parametrize(("given", "shown"), [
    ({"data": {"a": "eA==", ".dockerconfigjson": "e30=", ".dockercfg": "x", "n": None}},
     {"data": {"a": "bWFza2Vk", ".dockerconfigjson": "e30=", ".dockercfg": "e30=", "n": None}}),
    ({"stringData": {"a": "x", ".dockerconfigjson": "{1}", ".dockercfg": "2", "n": None}},
     {"stringData": {"a": "masked", ".dockerconfigjson": "{}", ".dockercfg": "{}", "n": None}}),
    ({"data": "x", "stringData": 1}, {"data": "x", "stringData": 1}),
    ({"status": {"token": "t", "n": 1}, "token": {"a": "b"}}, {"status": {"token": "masked", "n": 1}, "token": {"a": "b"}}),
    ({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}}},
     {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "masked", "a": "b"}}}),
    ({"items": [{"data": {"a": "x"}}, 1]}, {"items": [{"data": {"a": "bWFza2Vk"}}, 1]}),
    ([{"op": "add", "path": "/data/a", "value": "x"}, {"op": "add", "path": "/data", "value": {"a": "x"}},
      {"op": "add", "path": "/stringData/a", "value": "x"}, {"op": "remove", "path": "/data/a"},
      {"op": "add", "path": "/metadata/labels", "value": {"token": "t"}}, {"data": {"a": "x"}}],
     [{"op": "add", "path": "/data/a", "value": "bWFza2Vk"}, {"op": "add", "path": "/data", "value": {"a": "bWFza2Vk"}},
      {"op": "add", "path": "/stringData/a", "value": "masked"}, {"op": "remove", "path": "/data/a"},
      {"op": "add", "path": "/metadata/labels", "value": {"token": "masked"}}, {"data": {"a": "bWFza2Vk"}}]),
])
def test_what_is_secret_is_masked(given: Any, shown: Any) -> None:
    """Given objects, lists and patches with secret values / when they are masked / then each value
    is still of its form, and all else is as it was.
    """
    assert masking.masked(given) == shown


def test_credentials_are_masked() -> None:
    """Given headers / when they are masked / then those alone are that say who somebody is."""
    told = dict.fromkeys(("authorization", "cookie", "proxy-authorization", "sec-websocket-protocol", "accept"), "x")
    assert masking.headers(told) == {**dict.fromkeys(told, "masked"), "accept": "x"}
    for name in told:
        assert masking.headers({name: "x"}) == {name: "x" if name == "accept" else "masked"}
    assert [masking.hides(*of) for of in (
        ("secrets", ""), ("tokenreviews", ""), ("tokenrequests", ""), ("serviceaccounts", "token"), ("pods", "status"))] == [
        True, True, True, True, False]


def answered(path: str, body: bytes, answer: bytes, *, secrets: bool, **more: Any) -> Any:
    values: dict[str, Any] = {"test": "", "canonical": False, "user": "", "groups": (), "content_type": "text/plain",
        "stream": ""}
    values |= more
    return orjson.loads(lines.of_answer(
        "0", 1, values.pop("test"), 2.0, 3.0, "POST", path, {"a": ["b"]}, {"cookie": "c"}, values.pop("canonical"),
        values.pop("user"), values.pop("groups"), body, 201, values.pop("content_type"), [("a", "b")], answer,
        values.pop("stream"), secrets=secrets, **values))


def test_the_line_of_a_request() -> None:
    """Given answered requests / when their lines are written / then bodies stand there by what they
    are, JSON, text or bytes, and what is secret is masked unless it is wanted.
    """
    plain: dict[str, Any] = {
        "type": "request", "cluster": "0", "number": 1, "time": 2.0, "until": 3.0, "method": "POST", "path": "/api/v1/pods",
        "query": {"a": ["b"]}, "headers": {"cookie": "masked"}, "code": 201, "contentType": "text/plain",
        "answerHeaders": [["a", "b"]]}
    assert answered("/api/v1/pods", b"", b"", secrets=False) == plain
    assert answered("/api/v1/pods", b"a: b", b"\xff", secrets=True, test="t", user="u", groups=("g",)) == {
        **plain, "headers": {"cookie": "c"}, "test": "t", "user": "u", "groups": ["g"], "bodyText": "a: b",
            "answerBase64": "/w=="}
    assert answered("/api/v1/pods", b'{"a":1}\n', b'{"b":\n2}', secrets=False, canonical=True,
        content_type="application/json") == {
        **plain, "body": {"a": 1}, "answer": {"b": 2}, "contentType": "application/json"}
    assert answered("/api/v1/pods", b"", b"x", secrets=False, stream="watch", fault=MetFault("f", served=True, told=False)) == {
        **plain, "stream": "watch", "fault": "f", "served": True, "told": False}
    path = "/api/v1/namespaces/default/secrets"
    hidden = {**plain, "path": path, "masked": True}
    assert answered(path, b"data: {a: eA==}", b'{"data":{"a":"eA=="}}', secrets=False) == {
        **hidden, "body": {"data": {"a": "bWFza2Vk"}}, "answer": {"data": {"a": "bWFza2Vk"}}}
    assert answered(path, b"- a", b"\xff", secrets=False) == {**hidden, "bodyText": "masked", "answerText": "masked"}
    assert answered(path, b"", b'{"data":{"a":"eA=="}}', secrets=True) == {
        **plain, "path": path, "headers": {"cookie": "c"}, "answer": {"data": {"a": "eA=="}}}


def test_the_line_of_an_event() -> None:
    """Given frames of streams, and the end of one / when their lines are written / then each says
    which it is, and the fault that it met.
    """
    def line(frame: Frame | None, path: str = "/api/v1/secrets", **more: Any) -> Any:
        return orjson.loads(lines.of_frame("0", 1, 2.0, frame, path, 3, **{"secrets": False, **more}))

    plain: dict[str, Any] = {"type": "event", "cluster": "0", "number": 1, "time": 2.0, "latest": 3}
    secret = b'{"object":{"data":{"a":"eA=="}}}\n'
    assert line(None) == {**plain, "type": "end"}
    assert line(None, fault=MetFault("f", served=False, told=True)) == {
        **plain, "type": "end", "fault": "f", "served": False, "told": True}
    assert line(Frame(secret)) == {**plain, "event": {"object": {"data": {"a": "bWFza2Vk"}}}}
    assert line(Frame(secret), secrets=True) == {**plain, "event": {"object": {"data": {"a": "eA=="}}}}
    assert line(Frame(secret), "/api/v1/pods") == {**plain, "event": {"object": {"data": {"a": "eA=="}}}}


def test_bodies_are_read_again() -> None:
    """Given lines with bodies in all forms / when they are read / then bytes and trees come back.
    """
    assert lines.body_of({"body": {"a": 1}}) == b'{"a":1}'
    assert lines.body_of({"bodyText": "é"}) == "é".encode()
    assert lines.body_of({"bodyBase64": "/w=="}) == b"\xff"
    assert lines.body_of({}) == b""
    assert lines.body_of({"answer": 1}, "answer") == b"1"
    assert [lines.tree_of(line) for line in ({"answer": 1}, {"answerText": "a"}, {"answerBase64": "/w=="}, {})] == [1, "a", None,
        None]
    assert lines.tree_of({"event": 2}, "event") == 2


@pytest.mark.parametrize(("given", "told"), [
    ([], "there is no recording in it"),
    ([b"{"], "line 1 is none of a recording: JSONDecodeError: unexpected end of data: line 1 column 2 (char 1)"),
    ([b"{}"], "line 1 is none of a recording: KeyError: 'type'"),
    ([b"1"], "line 1 is none of a recording: TypeError: 'int' object is not subscriptable"),
    ([{**CLUSTER, "format": "x/2"}], "its format is 'x/2', and 'fakekube-recording/1' is read here"),
    ([REQUEST], "it speaks of a cluster '0' that it does not begin with"),
    ([{**CLUSTER, "addons": 1}], "line 1 is none of a recording: ValueError: addons: Input should be a valid list"),
    ([{**CLUSTER, "featureGates": {"A": "x"}}],
     "line 1 is none of a recording: ValueError: featureGates.A: Input should be a valid boolean, unable to interpret input"),
    ([{**CLUSTER, "authorizationMode": "RBAC"}],
     "line 1 is none of a recording: ValueError: authorizationMode: Input should be a valid list"),
    ([CLUSTER, {**REQUEST, "time": -1}],
     "line 2 is none of a recording: ValueError: time: Input should be greater than or equal to 0"),
    ([CLUSTER, {**REQUEST, "time": 2.6e11}],
     "line 2 is none of a recording: ValueError: time: Input should be less than or equal to 250000000000"),
    ([CLUSTER, {**REQUEST, "method": ""}],
     "line 2 is none of a recording: ValueError: method: String should have at least 1 character"),
    ([CLUSTER, {**REQUEST, "path": "x"}],
     "line 2 is none of a recording: ValueError: path: String should match pattern '^/'"),
    ([CLUSTER, {**REQUEST, "code": 99}],
     "line 2 is none of a recording: ValueError: code: Input should be greater than or equal to 100"),
    ([CLUSTER, {**REQUEST, "code": 1000}],
     "line 2 is none of a recording: ValueError: code: Input should be less than or equal to 999"),
    ([CLUSTER, {**REQUEST, "bodyBase64": "a b"}],
     "line 2 is none of a recording: ValueError: bodyBase64: String should match pattern '^[A-Za-z0-9+/]*=*$'"),
    ([CLUSTER, {**REQUEST, "answerHeaders": [["a"]]}],
     "line 2 is none of a recording: ValueError: answerHeaders.0.1: Field required"),
    ([CLUSTER, {"type": "setup", "cluster": "0"}], "line 2 is none of a recording: ValueError: registered: Field required"),
    ([CLUSTER, {**EVENT, "latest": "x"}],
     "line 2 is none of a recording: ValueError: latest: Input should be a valid integer, unable to parse string as an integer"),
])
def test_lines_that_are_none(given: list[Any], told: str) -> None:
    """Given lines that are none of a recording / when they are read / then it is said which, and
    why.
    """
    with pytest.raises(RecordingError) as refused:
        parse([line if isinstance(line, bytes) else orjson.dumps(line) for line in given])
    assert str(refused.value) == told


def test_what_lines_say() -> None:
    """Given requests of two clusters in another order, with what streams told / when they are read
    / then they come by cluster and number, with what they met; lines of later versions are left
    out.
    """
    texts = [
        CLUSTER, {**CLUSTER, "cluster": "1"}, {"type": "setup", "cluster": "1", "registered": [{"a": 1}]},
        {"type": "later", "cluster": "0", "number": 5},
        {**REQUEST, "cluster": "1", "test": "t"}, {**REQUEST, "number": 2, "query": {"a": ["b", "c"]}, "stream": "watch"},
            REQUEST,
        {**EVENT, "number": 2, "time": 4, "event": {"x": 1}}, {**EVENT, "number": 9},
        {**EVENT, "number": 2, "type": "end", "latest": 7, "fault": "f", "served": False, "told": True}]
    found = parse([orjson.dumps(text) for text in texts])
    assert [(each.cluster, each.number, each.test) for each in found.exchanges] == [("0", 1, ""), ("0", 2, ""), ("1", 1, "t")]
    watched = found.exchanges[1]
    assert (str(watched), watched.is_watch, watched.ended_after) == ("GET /?a=b&a=c", True, 7)
    assert ([tuple(each) for each in watched.told], watched.fault) == ([(4.0, {"x": 1})], MetFault("f", served=False, told=True))
    assert (str(found.exchanges[0]), found.exchanges[0].fault, found.exchanges[0].ended_after) == ("GET /", None, None)
    assert [(test, cluster, len(exchanges)) for test, cluster, exchanges in found.conversations()] == [("", "0", 2), ("t", "1",
        1)]
    assert found.clusters["1"]["registered"] == [{"a": 1}]
