"""What a webhook answered, and where a service listens, without a connection."""

from typing import Any

import orjson
import pytest

from fakekube.util.rng import Rng
from fakekube.webhooks.callables import Callables
from fakekube.webhooks.client import CallError, ReviewKind, WebhookClient, read_review
from fakekube.webhooks.services import Endpoint, ServiceResolver
from fakekube.webhooks.statuses import unstructured
from fakekube.webhooks.transport import Answer, NoAnswer, Post
from tests.webhooks.test_calls import Objects

REVIEW = ReviewKind("admission.k8s.io/v1", "AdmissionReview", {("v1", "Other"): "v1.Other"})
TEXT, JSON = {"content-type": "text/plain; charset=utf-8"}, {"content-type": "application/json"}


@pytest.mark.parametrize(("status", "text"), [
    (400, "the server rejected our request for an unknown reason"),
    (401, "the server has asked for the client to provide credentials"), (403, "told"),
    (404, "the server could not find the requested resource"),
    (405, "the server does not allow this method on the requested resource"), (406, "told"),
    (409, "the server reported a conflict"), (415, "told"),
    (422, "the server rejected our request due to an error in our request"),
    (429, "the server has received too many requests and has asked us to try again later"),
    (499, "the server responded with the status code 499 but did not return more information"),
    (500, 'an error on the server ("told") has prevented the request from succeeding'),
    (503, "the server is currently unable to handle the request"),
    (504, "the server was unable to return a response in the time allotted, but may still be processing the request"),
    (599, 'an error on the server ("told") has prevented the request from succeeding'),
])
def test_failures_without_a_status(status: int, text: str) -> None:
    """Given each code with a text / then the error is that of upstream's client."""
    assert unstructured(Answer(status, TEXT, b" told\n")) == text


def test_what_of_a_failure_is_told() -> None:
    """Given bodies of other types, none and a long one / then text is told, cut off, and for the
    rest a word.
    """
    assert unstructured(Answer(403, JSON, b"{}")) == "unknown"
    assert unstructured(Answer(403, {}, b"plain")) == "plain"
    assert unstructured(Answer(403, {"content-type": "TEXT/html"}, b"x" * 2049)) == "x" * 2048
    for answer in (Answer(406, JSON, b"{}"), Answer(406, TEXT, b"")):
        assert unstructured(answer) == "the server was unable to respond with a content type that the client supports"


def said(status: int, body: Any, headers: dict[str, str] | None = None) -> Any:
    """What is read of an answer: the tree, or the error's text."""
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    try:
        return read_review(Answer(status, headers or {}, data), REVIEW)
    except CallError as error:
        return str(error)


GOOD = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}


@pytest.mark.parametrize(("status", "body", "found"), [
    (200, GOOD, GOOD), (206, GOOD, GOOD), (200, {}, {}), (200, {"kind": "X"}, {"kind": "X"}),
    (207, GOOD, "the server responded with the status code 207 but did not return more information"),
    (199, GOOD, "the server responded with the status code 199 but did not return more information"),
    (200, {"apiVersion": "admission.k8s.io/v1"}, {"apiVersion": "admission.k8s.io/v1"}),
    (200, {"apiVersion": "v1", "kind": "Status", "status": "Success"}, {}),
    (200, {"apiVersion": "v1", "kind": "Status", "message": "no"}, "no"),
    (200, {"apiVersion": "v1", "kind": "Status", "status": "Failure"}, ""),
    (200, {"apiVersion": "v1", "kind": "Other"}, "converting (v1.Other) to (v1.AdmissionReview): unknown conversion"),
    (200, {"apiVersion": "v2", "kind": "Status"},
     'no kind "Status" is registered for version "v2" in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:74"'),
    (200, b"null", {}), (200, b"response: {}", {"response": {}}),
    (200, {"apiVersion": 1}, ("couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field "
     ".apiVersion of type string")),
    (200, b"", "0-length response with status code: 200 and content type: application/json"),
    *((500, body, "own") for body in (
        {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "own"},
        {"kind": "Status", "status": "Failure", "message": "own"},
        {"kind": "Status", "apiVersion": "", "status": "Failure", "message": "own"})),
    *((409, body, "the server reported a conflict") for body in (
        {"kind": "Other", "apiVersion": "v1", "status": "Failure", "message": "own"},
        {"kind": "Status", "apiVersion": "v2", "status": "Failure", "message": "own"},
        {"kind": "Status", "apiVersion": "v1", "status": "Success", "message": "own"},
        {"kind": "Status", "apiVersion": "v1", "status": "Failure"}, [1], b"{", b"")),
])
def test_what_is_read(status: int, body: Any, found: Any) -> None:
    """Given answers of all sorts / then the review is read, or the error is upstream's."""
    assert said(status, body) == found


def test_the_type_of_an_empty_answer() -> None:
    """Given an empty answer with a type / then that is told."""
    assert said(201, b"", TEXT) == (
        "0-length response with status code: 201 and content type: text/plain; charset=utf-8")


@pytest.mark.parametrize(("known", "port", "endpoint"), [
    ({"a/b": "http://h:1"}, 443, Endpoint("h:1", True)), ({"a/b": "http://h"}, 443, Endpoint("h:80", True)),
    ({"a/b": "https://h"}, 8, Endpoint("h:443", False)), ({"a/b": "https://[::1]:5"}, 443, Endpoint("[::1]:5", False)),
    ({"a/b": "https://h:1", "a/b:8": "https://h:2"}, 8, Endpoint("h:2")),
    ({"a/b": "https://h:1", "a/b:8": "https://h:2"}, 9, Endpoint("h:1")),
])
def test_services_in_the_map(known: dict[str, str], port: int, endpoint: Endpoint) -> None:
    """Given URLs of services / then they are dialled, that of the port before the other."""
    resolver = ServiceResolver(known, Objects(), Rng())
    assert resolver.resolve("a", "b", port) == endpoint
    assert resolver.is_known("a", "b", port)
    assert not resolver.is_known("a", "c", port)


def piece(*addresses: str, ready: bool | None = None, port: Any = 9, name: str = "", service: str = "s") -> dict[str, Any]:
    conditions = {} if ready is None else {"conditions": {"ready": ready}}
    return {
        "metadata": {"labels": {"kubernetes.io/service-name": service}}, "ports": [{"name": name, "port": port}],
        "endpoints": [{"addresses": [each], **conditions} for each in addresses]}


NONE = 'no endpoints available for service "s"'


@pytest.mark.parametrize(("spec", "slices", "found"), [
    ({"type": "ExternalName", "externalName": "x.example"}, [], "x.example:443"),
    *(({"type": type_, "ports": [{"port": 443}]}, [piece("10.0.0.1")], "10.0.0.1:9") for type_ in (
        "ClusterIP", "LoadBalancer", "NodePort")),
    ({"type": "ClusterIP", "ports": [{"port": 443}]}, [piece("fd00::1", ready=True)], "[fd00::1]:9"),
    ({"type": "ClusterIP", "ports": [{"port": 443}]}, [piece("10.0.0.1", ready=False)], NONE),
    ({"type": "ClusterIP", "ports": [{"port": 443}]}, [piece("10.0.0.1", service="t")], NONE),
    ({"type": "ClusterIP", "ports": [{"port": 443}]}, [piece("10.0.0.1", name="p")], NONE),
    ({"type": "ClusterIP", "ports": [{"port": 443}]}, [piece("10.0.0.1", port=None)], NONE),
    ({"type": "ClusterIP", "ports": [{"port": 443, "name": "p"}]}, [piece(), piece("10.0.0.2", name="p")], "10.0.0.2:9"),
    ({"type": "ClusterIP", "ports": [{"port": 444}]}, [piece("10.0.0.1")], 'no service port 443 found for service "s"'),
    ({"ports": [{"port": 443}]}, [piece("10.0.0.1")], 'unsupported service type ""'),
])
def test_services_of_the_cluster(spec: dict[str, Any], slices: list[Any], found: str) -> None:
    """Given services and slices / then a ready address with the port of that name is dialled, or
    the error says why not.
    """
    resolver = ServiceResolver({}, Objects({"s": {"spec": spec}}, slices), Rng())
    try:
        told = resolver.resolve("n", "s", 443)
    except NoAnswer as error:
        assert str(error) == found  # noqa: PT017 - a refusal is one of the answers
    else:
        assert told == Endpoint(found, False)


class Wall:
    """A clock that passes at once, and remembers for how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


class Posts:
    """Answers one after the other, the last one for ever."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.posts = list(answers), list[Post]()

    async def post(self, post: Post) -> Answer:
        self.posts.append(post)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(("status", "after", "times"), [
    (429, "3", 11), (500, "3", 11), (503, "0", 11), (499, "3", 1), (503, "", 1), (503, "soon", 1), (503, "-1", 1),
    (503, "9999999999", 1), (503, "999999999", 11), (428, "3", 1)])
async def test_how_often_a_busy_webhook_is_called(status: int, after: str, times: int) -> None:
    """Given a webhook that is busy for ever / then it is called ten times more where it says when,
    after that time.
    """
    posts, wall = Posts(Answer(status, {"retry-after": after}, b"")), Wall()
    client = WebhookClient(posts, ServiceResolver({}, Objects(), Rng()), wall=wall)  # type: ignore[arg-type]
    with pytest.raises(CallError):
        await client.call({"url": "https://h/x"}, {}, timeout_seconds=5, expected=REVIEW)
    assert len(posts.posts) == times
    assert wall.slept == [int(after)] * (times - 1) if times > 1 else not wall.slept


async def test_a_service_is_dialled_under_its_own_name() -> None:
    """Given a service in the map that speaks plain HTTP / then the URL is plain, the name the
    service's, and the address that of the map.
    """
    posts = Posts(Answer(200, {}, orjson.dumps(GOOD)))
    client = WebhookClient(posts, ServiceResolver({"n/s": "http://h:1"}, Objects(), Rng()))
    config = {"service": {"namespace": "n", "name": "s"}, "caBundle": "YQ=="}
    await client.call(config, {"a": 1}, timeout_seconds=5, expected=REVIEW)
    [post] = posts.posts
    assert post == Post("http://s.n.svc:443/?timeout=5s", {
        "Accept": "application/json, */*", "Content-Type": "application/json", "User-Agent": "kube-apiserver-admission"},
        b'{"a":1}', b"a", "h:1")


def test_functions_by_their_urls() -> None:
    """Given functions under names / then their URLs lead to them, a second one of a name is
    refused, and a fault may stop each call.
    """
    callables, faults = Callables(), list[Any]()
    def function(request: object) -> None: ...
    def conversion(tree: Any, api_version: str) -> Any: ...

    assert callables.add("a b", function) == "https://webhooks.fakekube.invalid/a%20b"
    with pytest.raises(ValueError, match="there is a webhook 'a b' already"):
        callables.add("a b", function)
    callables.add_conversion("webs.example.com", conversion)
    url = "https://webhooks.fakekube.invalid/convert/webs.example.com"
    assert callables.find({"url": "https://webhooks.fakekube.invalid/a%20b"}) is function
    assert (callables.find({}), callables.find({"url": url})) == (None, None)
    assert callables.find_conversion({"url": url}) is conversion
    assert callables.find_conversion({}) is None
    callables.check("n", {}, 3)
    callables.fault = lambda *each: faults.append(each)
    callables.check("n", {"url": "u"}, 3)
    assert faults == [("n", {"url": "u"}, 3)]
