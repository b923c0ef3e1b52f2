"""What a server says when it is ready, and how a webhook's answer is made."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.admission_requests import Denied
from fakekube.cli.serve import _greeting
from fakekube.composition import fakekube_api
from fakekube.composition.options import ClusterOptions
from fakekube.composition.webhookserver import _ask, _difference, _request_of

LOOPBACK = "on loopback: nobody outside this machine can reach it"


def greeted(options: dict[str, Any], *, file: str = "", host: str = "127.0.0.1", insecure: bool = False) -> list[str]:
    """The lines of the greeting."""
    server: Any = SimpleNamespace(url="http://h:1", token="t", servers={"a": SimpleNamespace(url="http://h:1")})
    return _greeting(
        server, Path(file) if file else None, ClusterOptions.of(**options), {"host": host, "insecure": insecure}).splitlines()


@pytest.mark.parametrize(("options", "more", "where", "curl", "kubectl"), [
    ({}, {}, LOOPBACK, "curl http://h:1", ["kubectl --server http://h:1 get nodes"]),
    ({}, {"file": "/f"}, LOOPBACK, "curl http://h:1", ["kubectl --kubeconfig /f get nodes", "export KUBECONFIG=/f"]),
    ({}, {"host": "0.0.0.0", "insecure": True}, "on 0.0.0.0: whoever reaches this address is the cluster's administrator",
     "curl http://h:1", ["kubectl --server http://h:1 get nodes"]),
    ({"tls": True}, {"host": "0.0.0.0"},
     "on 0.0.0.0: whoever reaches this address and has the token is the cluster's administrator",
     "curl --insecure --header 'Authorization: Bearer t' http://h:1",
     ["kubectl --insecure-skip-tls-verify --token t --server http://h:1 get nodes"]),
    ({"authorization_mode": "RBAC"}, {}, LOOPBACK, "curl --header 'Authorization: Bearer t' http://h:1",
     ["kubectl and other clients in Go send a token over TLS only: start with --tls to use them"]),
])
def test_what_a_server_says(options: dict[str, Any], more: dict[str, Any], where: str, curl: str, kubectl: list[str]) -> None:
    """Given a server, when it is ready, then it says where it is, who reaches it, and how."""
    lines = greeted({**options, "nodes": 2}, **more)
    assert lines == [
        "Kubernetes 1.37 with 2 nodes, listening at http://h:1", f"({where})", "  context a: http://h:1", "",
        f"  {curl}/api/v1/namespaces", *(f"  {line}" for line in kubectl), "", "Stop it with Ctrl-C."]
    assert greeted({"nodes": 1})[0] == "Kubernetes 1.37 with 1 node, listening at http://h:1"


ASKED: dict[str, Any] = {
    "uid": "u", "kind": {"group": "apps", "version": "v1", "kind": "Deployment"}, "resource": {"resource": "deployments"},
    "operation": "UPDATE", "subResource": "scale", "name": "n", "namespace": "a", "dryRun": True, "options": {"x": 1},
    "object": {"a": 1, "b": 2}, "oldObject": {"a": 0},
    "userInfo": {"username": "me", "groups": ["g"], "uid": "7", "extra": {"e": ["f"]}}}


def test_what_a_webhook_is_asked() -> None:
    """Given a review, when it is read, then a function is asked with all that is in it."""
    found = _request_of(ASKED)
    assert (found.uid, str(found.kind), found.resource, found.subresource, found.name, found.namespace, found.operation) == (
        "u", "apps/v1, Kind=Deployment", "deployments", "scale", "n", "a", "UPDATE")
    assert (found.user.name, found.user.groups, found.user.uid, found.user.extra) == ("me", ("g",), "7", {"e": ("f",)})
    assert (found.dry_run, found.options, found.object, found.old_object) == (True, {"x": 1}, {"a": 1, "b": 2}, {"a": 0})
    bare = _request_of({name: ASKED[name] for name in ("uid", "kind", "resource", "operation")})
    assert (bare.subresource, bare.name, bare.namespace, bare.user.name, bare.user.groups, bare.dry_run, bare.options) == (
        "", "", "", "", (), False, {})


def test_what_a_webhook_has_changed() -> None:
    """Given an object before and after, when they are compared, then there is an operation for each
    field.
    """
    assert _difference({"a": 1, "b": 2, "c": 3}, {"b": 2, "c": 4, "d": 5}) == [
        {"op": "remove", "path": "/a"}, {"op": "replace", "path": "/c", "value": 4}, {"op": "add", "path": "/d", "value": 5}]


async def test_what_a_webhook_answers() -> None:
    """Given functions that change, warn and deny, when they are asked, then the answer says so."""
    def changes(request: Any) -> None:
        request.object["a"] = 9
        request.warnings.append("w")
        request.annotations["k"] = "v"

    async def denies(request: Any) -> None:
        request.object["a"] = 9
        raise Denied("no", code=418)

    response: dict[str, Any] = {"allowed": True}
    await _ask(changes, _request_of(ASKED), response)
    assert response == {
        "allowed": True, "patchType": "JSONPatch", "patch": "W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9hIiwidmFsdWUiOjl9XQ==",
        "warnings": ["w"], "auditAnnotations": {"k": "v"}}
    response = {"allowed": True}
    await _ask(cast("Any", denies), _request_of({**ASKED, "object": {"a": 1, "b": 2}}), response)
    assert (response["allowed"], response["status"]["message"], response["status"]["code"], "patch" in response) == (
        False, "no", 418, False)


@pytest.mark.parametrize(("body", "kind", "query", "told"), [
    (b"{", None, {}, "the body is no JSON: unexpected end of data: line 1 column 2 (char 1)"),
    (b"[]", "application/json", {}, "the body is no JSON object"),
    (b"{}", "text/plain", {}, 'the body is to be application/json, and its Content-Type is "text/plain"'),
    (b'{"x": 1}', "Application/JSON; charset=utf-8", {}, "unknown field 'x': known are a, b"),
    (b'{"kind": "K"}', None, {"apiVersion": ["v"]}, "nothing to do: give one of a, b"),
    (b'{"b": 2}', None, {"a": ["1", "2"]}, None),
])
def test_what_is_asked_of_our_own_paths(body: bytes, kind: str | None, query: dict[str, list[str]], told: str | None) -> None:
    """Given a request to a path of our own, when its fields are read, then those of the body and of
    the query are, or it is said what is wrong.
    """
    from fakekube.apimachinery.errors import APIError

    request: Any = SimpleNamespace(body=body, headers={} if kind is None else {"content-type": kind}, query=query)
    if told is None:
        assert fakekube_api.fields_wanted(request, ("a", "b")) == {"a": "1", "b": 2}
        return
    with pytest.raises(APIError) as refused:
        fakekube_api.fields_wanted(request, ("a", "b"))
    assert refused.value.message == told
