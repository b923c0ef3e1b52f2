"""The audit log, and what the request log says of decisions."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Request, UserInfo
from fakekube.client.resources import CONFIG_MAPS, SERVICE_ACCOUNTS
from fakekube.composition.options import OptionError
from fakekube.testing import requests
from fakekube.util.clock import ManualClock

MAP: Any = {"metadata": {"name": "m", "namespace": "default"}}


def read(path: Path, **wanted: Any) -> list[Any]:
    """The events whose verb and stage are those wanted."""
    events = [json.loads(line) for line in path.read_text().splitlines()]
    return [event for event in events if all(event[name] == value for name, value in wanted.items())]


def cluster(path: Path, **options: Any) -> Cluster:
    return Cluster(nodes=0, controllers="", clock="manual", audit_log=str(path), **options)


async def test_an_event_a_request(tmp_path: Path) -> None:
    """Given an audit log / when an object is created, and again / then two events say by whom, from
    where, which object, and what became of it, in upstream's order.
    """
    async with cluster(tmp_path / "log") as made:
        await made.client.create(CONFIG_MAPS, MAP)
        with pytest.raises(APIError):
            await made.client.create(CONFIG_MAPS, MAP)
    first, second = read(tmp_path / "log", verb="create")
    assert list(first) == [
        "kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "userAgent", "objectRef",
        "responseStatus", "requestReceivedTimestamp", "stageTimestamp", "annotations"]
    assert (first["kind"], first["apiVersion"], first["level"]) == ("Event", "audit.k8s.io/v1", "Metadata")
    assert first["stage"] == "ResponseComplete"
    assert first["requestURI"] == "/api/v1/namespaces/default/configmaps"
    assert first["user"] == {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}
    assert first["objectRef"] == {"resource": "configmaps", "namespace": "default", "name": "m", "apiVersion": "v1"}
    assert first["responseStatus"] == {"metadata": {}, "code": 201}
    assert first["annotations"] == {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""}
    assert second["responseStatus"] == {
        "metadata": {}, "status": "Failure", "message": 'configmaps "m" already exists', "reason": "AlreadyExists",
        "details": {"name": "m", "kind": "configmaps"}, "code": 409}
    assert first["auditID"] != second["auditID"]


async def test_who_was_refused_what(tmp_path: Path) -> None:
    """Given RBAC / when somebody asks for what they may not, and somebody unknown asks / then both
    logs say so.
    """
    async with cluster(tmp_path / "log", authorization_mode="RBAC") as made:
        ann = made.client.with_options(user=UserInfo("ann", ("system:authenticated",)))
        with pytest.raises(APIError, match="forbidden"):
            await ann.get(CONFIG_MAPS, "m", "default")
        await made.apiserver.handle(Request("GET", "/api/v1/pods", headers={"authorization": "Bearer x"}))
        [refused] = requests(made, decision="forbid")
        [unknown] = requests(made, code=401)
    assert (refused.user, refused.verb, refused.resource, refused.code) == ("ann", "get", "configmaps", 403)
    assert (unknown.user, unknown.decision) == ("", "")
    [event] = read(tmp_path / "log", verb="get")
    assert event["annotations"]["authorization.k8s.io/decision"] == "forbid"
    assert (event["responseStatus"]["code"], event["responseStatus"]["reason"]) == (403, "Forbidden")
    [event] = read(tmp_path / "log", verb="list")
    assert (event["user"], event["responseStatus"]["code"], "annotations" in event) == ({}, 401, False)


async def test_somebody_acts_as_another(tmp_path: Path) -> None:
    """Given impersonation / when it is allowed / then the event names both."""
    async with cluster(tmp_path / "log") as made:
        await made.apiserver.handle(Request("GET", "/api/v1/pods", headers={"impersonate-user": "ann"}))
    [event] = read(tmp_path / "log")
    assert event["user"]["username"] == "kubernetes-admin"
    assert event["impersonatedUser"] == {"username": "ann", "groups": ["system:authenticated"]}
    assert event["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}


async def test_a_watch_has_two_events(tmp_path: Path) -> None:
    """Given a watch / when it starts and is stopped / then there is an event of each, with the same
    id, which the answer has too.
    """
    class Sink:
        def send(self, frame: Frame) -> None:
            pass

        def end(self) -> None:
            pass

    async with cluster(tmp_path / "log") as made:
        answer = await made.apiserver.handle(Request(
            "GET", "/api/v1/pods", {"watch": ["true"], "labelSelector": ["a in (b, c)"]}, peer="127.0.0.9",
            headers={"x-forwarded-for": "10.1.1.1, 10.1.1.2", "audit-id": "mine"}))
        assert answer.stream is not None
        answer.stream.start(Sink())
        assert [event["stage"] for event in read(tmp_path / "log")] == ["ResponseStarted"]
        answer.stream.stop()
        answer.stream.stop()
    first, second = read(tmp_path / "log")
    assert (first["stage"], second["stage"]) == ("ResponseStarted", "ResponseComplete")
    assert first["auditID"] == second["auditID"] == dict(answer.headers)["Audit-Id"] == "mine"
    assert first["requestURI"] == "/api/v1/pods?watch=true&labelSelector=a+in+%28b%2C+c%29"
    assert first["sourceIPs"] == ["10.1.1.1", "10.1.1.2", "127.0.0.9"]


async def test_what_admission_says(tmp_path: Path) -> None:
    """Given an admission plugin that says something to the audit log / when it is said twice under
    one key / then both logs have what was said first.
    """
    class Plugin:
        async def admit(self, attrs: Any) -> None:
            attrs.ctx.annotate("policy.example/seen", "yes")
            attrs.ctx.annotate("policy.example/seen", "no")

        async def validate(self, attrs: Any) -> None:
            pass

    async with cluster(tmp_path / "log") as made:
        made.apiserver.use_admission(Plugin())
        await made.client.create(CONFIG_MAPS, MAP)
        [entry] = requests(made, verb="create")
    assert entry.annotations == {"policy.example/seen": "yes"}
    [event] = read(tmp_path / "log", verb="create")
    assert event["annotations"]["policy.example/seen"] == "yes"


async def test_a_token_that_is_issued(tmp_path: Path) -> None:
    """Given an audit log / when a token is asked for and used / then both events name it by its id.
    """
    async with cluster(tmp_path / "log") as made:
        await made.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "bot", "namespace": "default"}})
        token = (await made.client.create_token("bot", "default"))["status"]["token"]
        await made.apiserver.handle(Request("GET", "/version", headers={"authorization": f"Bearer {token}"}))
    asked, used = read(tmp_path / "log")[-2:]
    assert asked["objectRef"]["subresource"] == "token"
    [identifier] = used["user"]["extra"]["authentication.kubernetes.io/credential-id"]
    assert asked["annotations"]["authentication.kubernetes.io/issued-credential-id"] == identifier


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"metadata": 1}', b'{"metadata": {"name": 1}}', b'{"metadata":' * 3000])
async def test_bodies_that_are_none(tmp_path: Path, body: bytes) -> None:
    """Given bodies that hold no object / when they are refused / then the log says so."""
    async with cluster(tmp_path / "log") as made:
        answer = await made.apiserver.handle(Request("POST", "/api/v1/namespaces/default/configmaps", body=body))
    [event] = read(tmp_path / "log", verb="create")
    assert answer.status == event["responseStatus"]["code"] < 500


async def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    """Given a folder that is not there / when a cluster is made / then one sentence says so."""
    with pytest.raises(OptionError, match=r"^audit_log: .*No such file"):
        cluster(tmp_path / "no" / "log")


def test_standard_output() -> None:
    """Given ``-`` / when requests come / then the events are lines on standard output."""
    done = subprocess.run([sys.executable, "-c", """
import asyncio
from fakekube import Cluster
async def main():
    async with Cluster(nodes=0, controllers="", clock="manual", audit_log="-") as cluster:
        await cluster.client.request("GET", "/version")
asyncio.run(main())
"""], capture_output=True, text=True, timeout=60, check=True)
    [line] = done.stdout.splitlines()
    assert json.loads(line)["requestURI"] == "/version"


def test_the_clock_is_the_clusters() -> None:
    """Given the cluster's clock / when an event is stamped / then by that clock."""
    from fakekube.apiserver.audit import AuditLog

    lines: list[bytes] = []
    asked = AuditLog(lines.append, ManualClock()).received(Request("GET", "/a b"), "x")
    assert (asked.uri, asked.time) == ("/a%20b", ManualClock().time())
