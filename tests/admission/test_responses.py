"""Responses of webhooks as they are read, and calls as the audit log and users are told of them."""

import base64
from typing import Any

import orjson
import pytest
from aiohttp import web

from fakekube import Cluster
from fakekube.admission.webhook import review
from fakekube.admission.webhook.review import EXPECTED, InvalidResponse, read_response
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS
from fakekube.webhooks import AdmissionRequest, Denied
from fakekube.webhooks.client import CallError
from tests.admission.test_webhooks import MUTATING, PLAIN, VALIDATING, answering, config_map, configure, patch, refusal
from tests.authentication.conftest import Server
from tests.webhooks.servers import Authority

V1 = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
EMPTY = base64.b64encode(b"[]").decode()
UNMARSHAL = "json: cannot unmarshal {} into Go struct field {} of type {}"


def read(response: Any, *, mutating: bool = False, version: str = "v1", **meta: Any) -> Any:
    """The verdict, or the text of what is wrong."""
    services = Server().plane.apiserver.services
    try:
        return read_response(
            services, {**V1, **meta, "response": response}, version, "u", mutating=mutating)  # type: ignore[arg-type]
    except (InvalidResponse, CallError) as error:
        return str(error)


@pytest.mark.parametrize(("response", "options", "told"), [
    (None, {}, "webhook response was absent"), ({}, {}, 'expected response.uid="u", got ""'),
    ({"uid": "v"}, {}, 'expected response.uid="u", got "v"'),
    ({"uid": "u"}, {"apiVersion": "a/v2"}, ("expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got a/v2, "
     "Kind=AdmissionReview")),
    ({"uid": "u"}, {"apiVersion": None, "kind": ""},
     "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="),
    ({"uid": "u", "patch": EMPTY}, {}, "validating webhook may not return response.patch"),
    ({"uid": "u", "patchType": "JSONPatch"}, {}, "validating webhook may not return response.patchType"),
    ({"uid": "u", "patch": EMPTY}, {"mutating": True}, "webhook returned response.patch but not response.patchType"),
    ({"uid": "u", "patchType": "JSONPatch"}, {"mutating": True}, "webhook returned response.patchType but not response.patch"),
    ({"uid": "u", "patch": EMPTY, "patchType": ""}, {"mutating": True}, 'webhook returned invalid response.patchType of ""'),
    ([], {}, UNMARSHAL.format("array", "AdmissionReview.response", "v1.AdmissionResponse")),
    ([], {"version": "v1beta1"}, UNMARSHAL.format("array", "AdmissionReview.response", "v1beta1.AdmissionResponse")),
    *(({name: 1}, {}, UNMARSHAL.format("number", f"AdmissionResponse.response.{name}", type_)) for name, type_ in (
        ("uid", "types.UID"), ("allowed", "bool"), ("status", "v1.Status"), ("patch", "[]uint8"), ("patchType", "v1.PatchType"),
        ("auditAnnotations", "map[string]string"), ("warnings", "[]string"))),
    ({"uid": "u", "warnings": ["a", 1]}, {}, UNMARSHAL.format("number", "AdmissionResponse.response.warnings", "string")),
    ({"uid": "u", "auditAnnotations": {"a": []}}, {},
     UNMARSHAL.format("array", "AdmissionResponse.response.auditAnnotations", "string")),
    ({"uid": "u", "patch": "W10"}, {}, "illegal base64 data at input byte 0"),
])
def test_what_is_no_response(response: Any, options: Tree, told: str) -> None:
    """Given responses that break the rules / then upstream's words say how."""
    assert read(response, **options) == told


@pytest.mark.parametrize(("response", "options", "verdict"), [
    ({"uid": "u", "allowed": True}, {}, review.Verdict(True, {})), ({"uid": "u"}, {}, review.Verdict(False, {})),
    ({"uid": "u", "allowed": True, "status": {"message": "", "code": 0}}, {}, review.Verdict(True, {})),
    ({"uid": "u", "patch": "W1\r\n0=\n", "patchType": "Odd"}, {"mutating": True}, review.Verdict(False, {}, b"[]", "Odd")),
    ({"uid": "u", "warnings": ["a", None], "auditAnnotations": {"k": "v", "n": None}}, {},
     review.Verdict(False, {}, warnings=("a", ""), annotations={"k": "v", "n": ""})),
    ({"patch": EMPTY}, {"version": "v1beta1", "mutating": True}, review.Verdict(False, {}, b"[]", "JSONPatch")),
    ({"patch": EMPTY}, {"version": "v1beta1"}, review.Verdict(False, {}, b"", "JSONPatch")),
    ({"uid": "other"}, {"version": "v1beta1", "apiVersion": ""}, review.Verdict(False, {})),
])
def test_what_a_response_says(response: Any, options: Tree, verdict: review.Verdict) -> None:
    """Given responses of both versions / then the verdict has all that counts."""
    found = read(response, **options)
    assert found._replace(status={name: found.status[name] for name in found.status if name not in ("kind", "apiVersion")}) == (
        verdict)


def test_what_is_expected_back() -> None:
    """Given both versions / then each is expected, and the other and the options are told apart."""
    assert list(EXPECTED) == ["v1", "v1beta1"]
    assert (EXPECTED["v1"].api_version, EXPECTED["v1"].kind) == ("admission.k8s.io/v1", "AdmissionReview")
    options = ["WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"]
    for version, other in (("v1", "v1beta1"), ("v1beta1", "v1")):
        assert dict(EXPECTED[version].others) == {
            (f"admission.k8s.io/{other}", "AdmissionReview"): f"{other}.AdmissionReview",
            **{(f"admission.k8s.io/{each}", kind): f"v1.{kind}" for each in ("v1", "v1beta1") for kind in options}}


async def test_the_whole_review() -> None:
    """Given a webhook outside / when an object is updated and deleted / then the review has
    everything that upstream's has, and nothing else.
    """
    seen: list[Tree] = []

    async def answer(request: web.Request) -> web.Response:
        asked = await request.json()
        seen.append(asked)
        return web.json_response({**V1, "response": {"uid": asked["request"]["uid"], "allowed": True}})

    authority = Authority()
    async with authority.serve(answer) as url, Cluster(**PLAIN) as cluster:
        await cluster.client.create(CONFIG_MAPS, config_map(a="1"))
        await configure(cluster.client, url, authority)
        new = await cluster.client.patch(CONFIG_MAPS, "a", "default", {"data": {"a": "2"}})
        await cluster.client.delete(CONFIG_MAPS, "a", "default")
    kind, resource = {"group": "", "version": "v1", "kind": "ConfigMap"}, {"group": "", "version": "v1", "resource": "configmaps"}
    common = {
        "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource, "name": "a", "namespace": "default",
        "userInfo": {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}, "dryRun": False}
    update, delete = (each["request"] for each in seen)
    assert [(each["apiVersion"], each["kind"], len(each)) for each in seen] == [("admission.k8s.io/v1", "AdmissionReview", 3)] * 2
    options = update.pop("options")
    assert (options["kind"], options["apiVersion"], "force" in options) == ("UpdateOptions", "meta.k8s.io/v1", False)
    assert (update.pop("object")["data"], update.pop("oldObject")["data"]) == ({"a": "2"}, {"a": "1"})
    assert len(update.pop("uid")) == 36
    assert update == {**common, "operation": "UPDATE"}
    options = delete.pop("options")
    assert (options["kind"], options["apiVersion"]) == ("DeleteOptions", "meta.k8s.io/v1")
    assert delete.pop("oldObject")["metadata"]["resourceVersion"] == new["metadata"]["resourceVersion"]
    assert delete.pop("uid") != ""
    assert delete == {**common, "operation": "DELETE", "object": None}


@pytest.mark.parametrize(("response", "mutating", "code", "reason", "text"), [
    ({"allowed": False}, False, 400, "", " without explanation"),
    ({"allowed": False, "status": {"reason": "Why"}}, False, 400, "Why", ": Why"),
    ({"allowed": False, "status": {"message": "m", "reason": "Why", "code": 399}}, False, 400, "Why", ": m"),
    ({"allowed": False, "status": {"message": "m", "code": 999}}, False, 999, "", ": m"),
    ({"allowed": False, "status": {"message": "m", "code": 1000}}, False, 500, "", ": m"),
    ({"allowed": False, "status": {"message": "m", "code": 403}}, True, 403, "", ": m"),
])
async def test_how_a_denial_reads(response: Tree, mutating: bool, code: int, reason: str, text: str) -> None:
    """Given webhooks that refuse with a Status / then it is the answer, made a failure."""
    authority = Authority()
    async with authority.serve(answering(**response)) as url, Cluster(**PLAIN) as cluster:
        await configure(cluster.client, url, authority, **({"resource": MUTATING} if mutating else {}))
        error = await refusal(cluster.client, config_map())
        assert (error.code, error.reason) == (code, reason)
        assert error.message == f'admission webhook "test.example.com" denied the request{text}'


UNDECODABLE = 'failed calling webhook "test.example.com": received undecodable patch in webhook response: '


@pytest.mark.parametrize(("response", "text"), [
    ({**patch(), "patchType": "Odd", "patch": base64.b64encode(b'[{"op":"test","path":"/data"}]').decode()},
     'failed calling webhook "test.example.com": unsupported patch type "Odd"'),
    ({"patchType": "JSONPatch", "patch": base64.b64encode(b"{}").decode()},
     f"{UNDECODABLE}json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
    ({"patchType": "JSONPatch", "patch": base64.b64encode(b"[1]").decode()},
     f"{UNDECODABLE}json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
    ({"patchType": "JSONPatch", "patch": base64.b64encode(b"[").decode()}, f"{UNDECODABLE}unexpected end of JSON input"),
    *(({"patchType": "JSONPatch", "patch": base64.b64encode(each).decode()}, "") for each in (b"null", b"[]")),
])
async def test_patches_that_are_none(response: Tree, text: str) -> None:
    """Given patches that cannot be read / then the call has failed, and failurePolicy decides; what
    is empty changes nothing.
    """
    authority = Authority()
    async with authority.serve(answering(**response)) as url, Cluster(**PLAIN) as cluster:
        await configure(cluster.client, url, authority, MUTATING, failurePolicy="Ignore")
        await cluster.client.create(CONFIG_MAPS, config_map("ignored", a="1"))
        annotations = dict([entry for entry in cluster.apiserver.log if entry.verb == "create"][-1].annotations)
        prefix = "mutation.webhook.admission.k8s.io/round_0_index_0"
        assert orjson.loads(annotations.pop(prefix)) == {"configuration": "test", "webhook": "test.example.com", "mutated": False}
        assert annotations == ({f"failed-open.{prefix}": "test.example.com"} if text else {})
        await cluster.client.patch(MUTATING, "test", "", {"webhooks": [{
            **(await cluster.client.get(MUTATING, "test"))["webhooks"][0], "failurePolicy": "Fail"}]})
        if text:
            assert (await refusal(cluster.client, config_map())).message == f"Internal error occurred: {text}"


async def test_dry_runs_and_conditions() -> None:
    """Given webhooks with side effects, and with conditions that fail / when something is written /
    then dry runs are refused by the first, and writes by the second, in upstream's words.
    """
    authority = Authority()
    async with authority.serve(answering()) as url, Cluster(**PLAIN) as cluster:
        for effects in ("NoneOnDryRun", "None"):
            await configure(cluster.client, url, authority, sideEffects=effects)
            await cluster.client.create(CONFIG_MAPS, config_map(), dry_run=True)
            await cluster.client.delete(VALIDATING, "test")
        await configure(cluster.client, url, authority, matchConditions=[
            {"name": "x", "expression": "object.data.none == '1'"},
            {"name": "y", "expression": "object.metadata.name != 'skipped'"}])
        await cluster.client.create(CONFIG_MAPS, config_map("skipped", a="1"))
        error = await refusal(cluster.client, config_map(a="1"))
        assert (error.code, error.message) == (403, (
            "configmaps \"a\" is forbidden: expression 'object.data.none == '1'' resulted in error: no such key: none"))
        await cluster.client.delete(VALIDATING, "test")
        await configure(cluster.client, url, authority, failurePolicy="Ignore", matchConditions=[
            {"name": "x", "expression": "object.data.none == '1'"}])
        await cluster.client.create(CONFIG_MAPS, config_map(a="1"))


async def test_all_validating_webhooks_are_asked() -> None:
    """Given three functions of which two refuse / when an object is written / then all are asked,
    their warnings and annotations told, and the first refusal by name is the answer.
    """
    async with Cluster(**PLAIN) as cluster:
        asked: list[str] = []
        for name in ("c", "b", "a"):
            @cluster.webhook("configmaps", name=f"{name}.test.dev", operations=["CREATE"])
            def look(request: AdmissionRequest, name: str = name) -> None:
                asked.append(name)
                request.annotate("by", name)
                if name != "a":
                    raise Denied(name)

        with pytest.raises(APIError) as caught:
            await cluster.client.create(CONFIG_MAPS, config_map())
        assert caught.value.message == 'admission webhook "b.test.dev" denied the request: b'
        assert asked == ["a", "b", "c"]
        assert dict([entry for entry in cluster.apiserver.log if entry.verb == "create"][-1].annotations) == {
            f"{name}.test.dev/by": name for name in "abc"}
