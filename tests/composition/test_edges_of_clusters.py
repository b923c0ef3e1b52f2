"""What a cluster does at its edges: options that exclude each other, objects that are there
already, files that cannot be read or written.
"""

import asyncio
import base64
import ssl
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from aiohttp import web

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, SERVICES, STORAGE_CLASSES
from fakekube.composition import certificatetexts, controlplane, defaultstorageclass, functionwebhooks, manifests, traces
from fakekube.composition.auditfile import AuditFile
from fakekube.composition.fleet import Fleet
from fakekube.composition.identity import Identity
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.composition.snapshot_diff import between
from fakekube.util import certificates, turns
from tests.apiextensions.definitions import custom_object, definition, version
from tests.webhooks.servers import Authority

STAGE: dict[str, Any] = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "s"},
    "spec": {"resourceRef": {"apiGroup": "v1", "kind": "Pod"}, "selector": {}, "next": {}}}


def test_options_twice() -> None:
    """Given options / when keyword arguments are given besides / then that is refused."""
    with pytest.raises(OptionError) as refused:
        Cluster(options=ClusterOptions(), nodes=1)
    assert str(refused.value) == "give either options or keyword arguments"


def test_kinds_of_wrong_options() -> None:
    """Given options that no server takes / when it is asked which kinds they serve / then that is
    refused, as the server would be.
    """
    with pytest.raises(OptionError) as refused:
        controlplane.served_kinds(ClusterOptions(feature_gates={"Nothing": True}))
    assert str(refused.value) == "unrecognized feature gate: Nothing"


async def test_a_trace() -> None:
    """Given an object with a change / when its trace is asked for / then request and change are
    told; it is the same where it takes more than a turn.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "good"}})
        await cluster.advance(5)
        await cluster.client.patch(CONFIG_MAPS, "good", "default", {"data": {"a": "1"}})
        revision = cluster.apiserver.storage.revision
        told = await cluster.trace("cm/good")
        sent = "● fakekube as kubernetes-admin:"
        assert str(told).splitlines()[:6] == [
            "configmaps default/good: 2 changes, and what led to them", "",
            f"+0s #{revision - 1}  {sent} create configmaps default/good; only the request is known", "",
            f"+5s #{revision}  {sent} patch configmaps default/good; only the request is known",
            '              data: (none) -> {"a":"1"}']
        of_field = str(await cluster.trace("cm/good", field="data.a", last=1))
        assert of_field.splitlines()[0] == 'configmaps default/good: data.a is "1" since +5s, because:'
        with pytest.raises(APIError, match=r'^configmaps "bad" not found$'):
            await cluster.trace("cm/bad")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(turns, "UNITS", 0)
            slow = await traces.of_object(
                cluster.client, cluster.snapshot(), "cm/good", namespace="default", field="", last=20)
        assert slow == told


async def test_kinds_that_only_one_snapshot_has() -> None:
    """Given snapshots before and after a definition and an object of it / when they are compared /
    then what is new is told, with and without naming the resource.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        before = cluster.snapshot()
        schema: Any = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        await cluster.load([definition(versions=[version(schema=schema)]), custom_object("a", spec={})])
        after = cluster.snapshot()

    def told(*resources: str) -> list[str]:
        return [line for one in between(before, after, resources) for line in one.lines()]

    assert told("widgets") == told("widgets.probe.dev") == ["+ widgets.probe.dev default/a"]
    assert told("pods") == []
    assert told()[-1] == "+ widgets.probe.dev default/a"
    assert [line for one in between(after, before, ["widgets"]) for line in one.lines()] == [
        "- widgets.probe.dev default/a"]


def test_audit_events_on_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given standard output as the file of audit events / when events are written / then they are
    there at once, and closing leaves it open.
    """
    written: list[bytes] = []
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=SimpleNamespace(
        write=written.append, flush=lambda: written.append(b"|"), close=lambda: written.append(b"closed"))))
    audit = AuditFile("-")
    for line in (b"1", b"2"):
        audit.write(line)
    audit.close()
    assert written == [b"1", b"|", b"2", b"|"]


async def test_objects_that_are_there() -> None:
    """Given an object that is there / when manifests with it are loaded, or the default
    StorageClass is made / then the first changes it, the second leaves it; another refusal is told.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "m"}, "data": {"a": "1", "b": "2"}})
        (made,) = await cluster.load([
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "3"}}])
        assert made["data"] == {"a": "3", "b": "2"}
        bad = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Bad"}}
        with pytest.raises(APIError, match=r'ConfigMap "Bad" is invalid: metadata\.name: Invalid value: "Bad"'):
            await cluster.load([bad])
        for _ in range(2):
            await defaultstorageclass.create(cluster.client)
        assert [each["metadata"]["name"] for each in (await cluster.client.list(STORAGE_CLASSES)).items] == ["standard"]

        class Refusing:
            async def create(self, *_: Any) -> None:
                raise APIError(403, "Forbidden", "no")

        with pytest.raises(APIError, match=r"^no$"):
            await defaultstorageclass.create(cast("Any", Refusing()))


@pytest.mark.parametrize(("text", "said"), [
    ("a: [\n", "here:1: did not find expected node content"),
    ("b: 1\na: b: c\n", "here:2: mapping values are not allowed in this context"),
])
def test_texts_that_are_no_manifests(text: str, said: str) -> None:
    """Given a text that is no YAML / when it is read / then place and reason are told."""
    with pytest.raises(OptionError) as refused:
        manifests.read(text, "here")
    assert str(refused.value) == said


async def test_stages_that_are_none() -> None:
    """Given a Stage that is none, or no kubelet / when it is loaded / then it is told why not."""
    async with Cluster(nodes=0, controllers="kubelet", clock="manual") as cluster:
        with pytest.raises(OptionError) as refused:
            await cluster.load([{**STAGE, "spec": {"resourceRef": {"kind": 3}}}])
        assert str(refused.value).startswith("manifest: ")
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        with pytest.raises(OptionError, match="Stages are for the kubelet, and none runs here"):
            await cluster.load([STAGE])


def test_an_authority_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an installation without what makes certificates / when a cluster is to have TLS / then
    the extra is named; without TLS there is nothing for a front proxy.
    """
    plain = Identity(ClusterOptions())
    assert plain.front_proxy() is None
    made = Identity(ClusterOptions(tls=True)).front_proxy()
    assert made is not None
    assert "BEGIN CERTIFICATE" in str(made.certificate)
    monkeypatch.setattr(certificates, "is_available", lambda: False)
    with pytest.raises(OptionError) as refused:
        _ = Identity(ClusterOptions()).authority
    assert str(refused.value) == f"tls: {certificates.MISSING}"
    assert Identity(ClusterOptions()).find_authority() is None


@pytest.mark.parametrize(("names", "said"), [
    (("127.0.0.2", "localhost"), "certificate is valid for 127.0.0.2, not 127.0.0.1"),
    (("localhost",), "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs")])
async def test_what_controllers_ask_over_https(names: tuple[str, ...], said: str) -> None:
    """Given servers whose certificates are for their address, or for others / when a controller
    posts to them / then it is answered, or told as Go has it which names there are; who answers too
    late is told of, too.
    """
    authority, end = Authority(), asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/slow":
            await end.wait()
        return web.Response(status=203, body=b"got " + await request.read(), headers={"X": request.content_type})

    bundle = base64.b64decode(authority.bundle)
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        post = cluster._calls.post
        async with authority.serve(answer) as url:
            assert await post(f"{url}/", b"{}", bundle, 30) == (203, b"got {}")
            with pytest.raises(OSError, match=r"^context deadline exceeded \(Client.Timeout exceeded while awaiting headers\)$"):
                await post(f"{url}/slow", b"{}", bundle, 0.05)
            end.set()
        async with authority.serve(answer, *names) as url:
            with pytest.raises(OSError, match=r"x509: ") as refused:
                await post(f"{url}/", b"{}", bundle, 30)
            assert str(refused.value).endswith(f"tls: failed to verify certificate: x509: {said}")
    assert await certificatetexts._names("127.0.0.1:1", ssl.create_default_context()) == []


def test_functions_that_run_by_themselves() -> None:
    """Given functions / when they are to run in a thread of their own / then those that are async
    are left as they are, and the others keep their names.
    """
    async def waits(_: Any) -> None:
        """Say nothing."""

    def blocks(_: Any) -> None:
        """Say nothing."""

    assert functionwebhooks.in_thread(waits) is waits
    assert functionwebhooks.in_thread(blocks) is not blocks
    assert functionwebhooks.in_thread(blocks).__name__ == "blocks"
    assert functionwebhooks.in_thread(cast("Any", SimpleNamespace())).__name__ == "webhook"


async def test_a_served_cluster_writes_kubeconfigs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Given a served cluster / when its kubeconfig is asked for / then it leads there; a file that
    cannot be tidied at the end is warned of.
    """
    file = tmp_path / "config"
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        served = await cluster.serve()
        config = yaml.safe_load(served.kubeconfig)
        assert config["clusters"] == [{"name": "fakekube", "cluster": {"server": served.url, "insecure-skip-tls-verify": True}}]
        assert config["users"] == [{"name": "fakekube", "user": {"token": served.token}}]
        served.write_kubeconfig(file)
        file.unlink()
        file.mkdir()
    assert caplog.messages == [f"the cluster stays in {file}: {file} is no regular file, and is left as it is"]


async def test_a_served_fleet_writes_kubeconfigs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Given a served fleet / when it writes kubeconfigs / then each member has its name there,
    until the fleet ends; a file that cannot be tidied is warned of.
    """
    kept, lost = tmp_path / "kept", tmp_path / "lost"
    async with Fleet("a", "b", nodes=0, controllers="", clock="manual") as fleet:
        served = await fleet.serve()
        for file in (kept, lost):
            served.write_kubeconfig(file)
        found = yaml.safe_load(kept.read_text())
        assert [(each["name"], each["cluster"]["server"]) for each in found["clusters"]] == [
            (name, served.servers[name].url) for name in ("a", "b")]
        assert found["current-context"] == "a"
        lost.unlink()
        lost.mkdir()
    assert caplog.messages == [f"the clusters stay in {lost}: {lost} is no regular file, and is left as it is"]
    assert not kept.exists()


async def test_authorities_that_are_none(tmp_path: Path) -> None:
    """Given a file of authorities of clients with something else between the lines / when a cluster
    is served with TLS / then that is told of the option.
    """
    file = tmp_path / "ca.pem"
    file.write_text("-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n")
    async with Cluster(nodes=0, controllers="", clock="manual", tls=True, client_ca_file=str(file)) as cluster:
        with pytest.raises(OptionError, match=r"^client_ca_file: "):
            await cluster.serve()


async def test_what_nodes_may_do() -> None:
    """Given the authorization mode Node / when a kubelet asks / then for what it needs alone."""
    kubelet = UserInfo("system:node:n", ("system:nodes", "system:authenticated"))
    async with Cluster(nodes=0, controllers="", clock="manual", authorization_mode="Node,RBAC") as cluster:
        client = cluster.client.with_options(user=kubelet)
        assert (await client.list(SERVICES)).items != []
        with pytest.raises(APIError) as refused:
            await client.list(NAMESPACES)
        assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
