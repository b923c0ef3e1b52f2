"""The audit log, the request log, headers of all answers, and a cluster without nodes."""

from typing import Any

import orjson
import pytest

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.apimachinery.streams import CommandOptions
from fakekube.apimachinery.types import Tree
from fakekube.apiserver.audit import AuditLog
from fakekube.apiserver.filters import Decorator, LogEntry, RequestLog, check_timeout
from fakekube.apiserver.nodeproxy import LogOptions, NoNodes
from fakekube.auth.authorizer import Decision
from fakekube.endpoints.requestinfo import parse
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng

PATH = "/apis/apps/v1/namespaces/t/deployments/d/status"
ANN, BOB = UserInfo("ann", ("g",)), UserInfo("bob", ())


def logged(request: Request, response: Response | None = None, error: APIError | None = None, **info: Any) -> Tree:
    """The one event of an answered request."""
    lines: list[bytes] = []
    log = AuditLog(lines.append, ManualClock())
    found = parse(request.method, request.path, request.query)
    for name, value in info.items():
        setattr(found, name, value)
    log.answered(log.received(request, "id"), found, request, response or Response(200), error)
    [line] = lines
    assert line.endswith(b"}\n")
    event: Tree = orjson.loads(line)
    return event


def test_a_whole_event() -> None:
    """Given a request with everything / then the event has everything, in upstream's order."""
    body = b'{"metadata":{"name":"other","uid":"u","resourceVersion":"7","namespace":7}}'
    request = Request(
        "PUT", PATH, query={"a b": ["1", "2"]}, headers={"user-agent": "kubectl", "x-forwarded-for": "1.1.1.1, 2.2.2.2"},
        body=body, user=BOB, peer="3.3.3.3")
    error = errors.conflict(GroupResource("apps", "deployments"), "d", "why")
    event = logged(
        request, Response(409), error, impersonator=ANN, impersonation_constraint="impersonate:user-info",
        audit_annotations={"z": "1", "a": "2"}, decision=Decision(True, "because"))
    stamp = "2026-01-01T00:00:00.000000Z"
    assert event.pop("stageTimestamp") == event.pop("requestReceivedTimestamp")
    assert stamp[-1] == "Z"
    status = error.status()
    assert event == {
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "id", "stage": "ResponseComplete",
        "requestURI": f"{PATH}?a+b=1&a+b=2", "verb": "update", "user": {"username": "ann", "groups": ["g"]},
        "impersonatedUser": {"username": "bob"}, "authenticationMetadata": {"impersonationConstraint": "impersonate:user-info"},
        "sourceIPs": ["1.1.1.1", "2.2.2.2", "3.3.3.3"], "userAgent": "kubectl",
        "objectRef": {
            "resource": "deployments", "namespace": "t", "name": "d", "uid": "u", "apiGroup": "apps", "apiVersion": "v1",
            "resourceVersion": "7", "subresource": "status"},
        "responseStatus": {
            "metadata": {}, "status": "Failure", "message": status["message"], "reason": "Conflict", "details": status["details"],
            "code": 409},
        "annotations": {
            "a": "2", "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "because", "z": "1"}}
    assert list(event) == [
        "kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "impersonatedUser",
        "authenticationMetadata", "sourceIPs", "userAgent", "objectRef", "responseStatus", "annotations"]


@pytest.mark.parametrize(("forwarded", "peer", "addresses"), [
    ("", "", None), ("", "3.3.3.3", ["3.3.3.3"]), ("1.1.1.1", "", ["1.1.1.1"]),
    ("1.1.1.1,3.3.3.3", "3.3.3.3", ["1.1.1.1", "3.3.3.3"]),
    ("3.3.3.3,1.1.1.1", "3.3.3.3", ["3.3.3.3", "1.1.1.1", "3.3.3.3"]), (" , ", "3.3.3.3", ["3.3.3.3"])])
def test_where_a_request_came_from(forwarded: str, peer: str, addresses: list[str] | None) -> None:
    """Given proxies on the way and a connection / then each address is there once in a row."""
    event = logged(Request("GET", "/version", headers={"x-forwarded-for": forwarded} if forwarded else {}, peer=peer))
    assert event.get("sourceIPs") == addresses


@pytest.mark.parametrize(("method", "path", "body", "name"), [
    ("POST", "/api/v1/namespaces/t/pods", b'{"metadata":{"name":"p"}}', "p"), ("POST", "/api/v1/namespaces/t/pods", b"[1]", None),
    ("POST", "/api/v1/namespaces/t/pods", b"{", None), ("POST", "/api/v1/namespaces/t/pods", b'{"metadata":[]}', None),
    ("POST", "/api/v1/namespaces/t/pods", b'{"metadata":{"name":7}}', None),
    ("PATCH", "/api/v1/namespaces/t/pods/q", b'{"metadata":{"name":"p","uid":"u"}}', "q")])
def test_the_object_of_an_event(method: str, path: str, body: bytes, name: str | None) -> None:
    """Given bodies / then the name of what is created is in the event where it is one."""
    reference = logged(Request(method, path, body=body))["objectRef"]
    assert reference == {"resource": "pods", "namespace": "t", "apiVersion": "v1", **({} if name is None else {"name": name})}


@pytest.mark.parametrize(("user", "decision", "annotations"), [
    (None, None, None), (None, Decision(False, "x"), None),
    (ANN, None, {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""}),
    (ANN, Decision(False, "x"), {"authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": "x"})])
def test_decisions_in_events_and_entries(user: UserInfo | None, decision: Decision | None, annotations: Tree | None) -> None:
    """Given users and decisions / then both logs say what was decided."""
    request = Request("GET", "/version", user=user)
    event = logged(request, decision=decision)
    assert event.get("annotations") == annotations
    assert event["user"] == ({} if user is None else {"username": "ann", "groups": ["g"]})
    assert event["responseStatus"] == {"metadata": {}, "code": 200}
    log, info = RequestLog(2), parse("GET", "/version", {})
    info.decision = decision
    for time in (1.0, 2.0, 3.0):
        log.add(time, info, request, 200, 0.5)
    verdict = ("forbid", "x") if decision is not None else ("allow" if user else "", "")
    assert (log.total, len(log)) == (3, 2)
    assert list(log) == [
        LogEntry(time, "get", "/version", "", "", "", "", "", "ann" if user else "", "", 200, 0.5, *verdict) for time in (2.0,
            3.0)]


def test_headers_of_every_answer() -> None:
    """Given answers with and without a header of their own about caching / then each gets an id,
    that of the client cut off, and the same two of priority and fairness.
    """
    decorator = Decorator(Rng(0))
    first, second = (
        decorator.decorate(Request("GET", "/", headers={"audit-id": "x" * 65}), Response(200, headers=headers)).headers
        for headers in ([("A", "b")], [("Cache-Control", "public")]))
    assert first[:3] == [("Audit-Id", "x" * 64), ("Cache-Control", "no-cache, private"), ("A", "b")]
    assert second[:2] == [("Audit-Id", "x" * 64), ("Cache-Control", "public")]
    assert first[3:] == second[2:]
    assert [name for name, _ in first[3:]] == ["X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid"]
    assert first[3][1] != first[4][1]
    assert decorator.decorate(Request("GET", "/"), Response(200), "given").headers[0] == ("Audit-Id", "given")
    assert decorator.audit_id(Request("GET", "/", headers={"audit-id": "y" * 70})) == "y" * 64
    ids = {decorator.audit_id(Request("GET", "/")) for _ in range(2)}
    assert [len(each) for each in ids] == [36, 36]


@pytest.mark.parametrize(("text", "passes"), [("", True), ("5s", True), ("1h2m", True), ("5", False), ("x", False)])
def test_timeouts(text: str, passes: bool) -> None:
    """Given durations / then those that Go cannot read are 400."""
    request = Request("GET", "/", query={"timeout": [text]} if text else {})
    if passes:
        check_timeout(request)
        return
    with pytest.raises(APIError) as caught:
        check_timeout(request)
    assert (caught.value.code, caught.value.message) == (
        400, f'invalid timeout specified in the request URL - time: invalid duration "{text}"')


async def test_a_cluster_without_nodes() -> None:
    """Given no agents / then logs, commands, ports and usage are refused in upstream's words."""
    nodes, pod = NoNodes(), {"spec": {"nodeName": "n"}}
    dialing = "Internal error occurred: error dialing backend: no agent runs on node n"
    for asked, code, text in (
        (lambda: nodes.logs(pod, "c", LogOptions()), 500,
         'Internal error occurred: Get "https://n:10250/containerLogs": no agent runs on node n'),
        (lambda: nodes.execute(CommandOptions(pod, "c")), 500, dialing),
        (lambda: nodes.attach(CommandOptions(pod, "c")), 500, dialing),
        (lambda: nodes.forward(pod), 500, dialing),
    ):
        with pytest.raises(APIError) as caught:
            await asked()
        assert (caught.value.code, caught.value.message) == (code, text)
    for usage in (lambda: nodes.pod_usage(pod), lambda: nodes.node_usage("n")):
        with pytest.raises(APIError) as caught:
            usage()
        assert (caught.value.code, caught.value.reason, caught.value.message) == (
            503, "ServiceUnavailable", "the server is currently unable to handle the request")
    assert nodes.node_page("n", "/") is None
    with pytest.raises(ConnectionRefusedError):
        await nodes.ask(pod, 80, None)  # type: ignore[arg-type]
