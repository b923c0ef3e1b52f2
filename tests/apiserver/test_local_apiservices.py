"""The APIServices of groups with custom kinds."""

from typing import Any

import pytest

from fakekube.composition.cluster import Cluster
from tests.apiextensions.definitions import definition, version
from tests.apiextensions.test_serving import DEFINITIONS, create
from tests.apiserver.conftest import Api, api

__all__ = ["api"]

PATH = "/apis/apiregistration.k8s.io/v1/apiservices"
SPEC = {"group": "probe.dev", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 100}


async def call(api: Api, *args: Any) -> tuple[int, Any]:
    answer = await api(*args)
    return answer.status, answer.tree


async def spec_of(api: Api, name: str) -> Any:
    status, found = await call(api, "GET", f"{PATH}/{name}")
    return found["spec"] if status == 200 else status


@pytest.mark.parametrize("asked_before", [True, False])
async def test_they_come_and_go_with_definitions(api: Api, *, asked_before: bool) -> None:
    """Given APIServices that somebody has asked for, or nobody / when a definition with two served
    versions comes and goes / then each has an APIService of the server's own, and then none.
    """
    if asked_before:
        await api("GET", PATH)
    await create(api, definition(versions=[version(), version("v1beta1", storage=False), version("v3", storage=False) | {
        "served": False}]))
    status, found = await call(api, "GET", f"{PATH}/v1.probe.dev")
    assert status == 200
    assert found["spec"] == SPEC
    assert found["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
    assert found["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"
    condition = {"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available"}
    assert condition.items() <= found["status"]["conditions"][0].items()
    assert found["status"]["conditions"][0]["lastTransitionTime"] == found["metadata"]["creationTimestamp"]
    assert (await spec_of(api, "v1beta1.probe.dev"))["version"] == "v1beta1"
    assert await spec_of(api, "v3.probe.dev") == 404
    await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
    assert await spec_of(api, "v1.probe.dev") == 404


async def test_two_definitions_share_one(api: Api) -> None:
    """Given two definitions of a group / when one goes / then the APIService stays until the other
    has gone too.
    """
    await api("GET", PATH)
    await create(api, definition())
    await create(api, definition("gadgets", "Gadget"))
    await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
    assert await spec_of(api, "v1.probe.dev") == SPEC
    await api("DELETE", f"{DEFINITIONS}/gadgets.probe.dev")
    assert await spec_of(api, "v1.probe.dev") == 404


async def test_what_somebody_does_to_one_is_put_right(api: Api) -> None:
    """Given the APIService of a definition / when somebody deletes it, or changes what it says /
    then it is there again as it was; a label that was added stays.
    """
    await create(api, definition())
    status, _ = await call(api, "DELETE", f"{PATH}/v1.probe.dev")
    assert (status, await spec_of(api, "v1.probe.dev")) == (200, SPEC)
    patch = {"metadata": {"labels": {"a": "b"}}, "spec": {"versionPriority": 5}}
    await api("PATCH", f"{PATH}/v1.probe.dev", patch, {"content-type": "application/merge-patch+json"})
    _, found = await call(api, "GET", f"{PATH}/v1.probe.dev")
    assert (found["spec"], found["metadata"]["labels"]["a"]) == (SPEC, "b")


async def test_one_of_a_user_is_left_alone(api: Api) -> None:
    """Given an APIService of a user / when a definition of its group comes and goes / then it stays
    what it was; when it is deleted while the definition is there / then the server's own comes.
    """
    own = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.probe.dev"},
           "spec": {**SPEC, "versionPriority": 7}}
    assert (await call(api, "POST", PATH, own))[0] == 201
    await create(api, definition())
    assert (await spec_of(api, "v1.probe.dev"))["versionPriority"] == 7
    await api("DELETE", f"{PATH}/v1.probe.dev")
    assert await spec_of(api, "v1.probe.dev") == SPEC


async def test_a_fork_has_them_as_they_were() -> None:
    """Given a cluster with a definition / when it is forked / then the fork has the same
    APIServices, and keeps them.
    """
    async with Cluster(controllers="") as cluster:
        await cluster.load([definition()])
        before = (await cluster.client.request("GET", PATH)).body
        async with cluster.fork() as other:
            assert (await other.client.request("GET", PATH)).body == before
            await other.client.request("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
            assert b"v1.probe.dev" not in (await other.client.request("GET", PATH)).body


@pytest.mark.parametrize(("change", "message"), [
    ({"metadata": {"name": "x"}}, 'metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.a.dev"'),
    ({"spec": {"group": None}, "metadata": {"name": "v1."}}, ""),
    ({"spec": {"group": None, "version": "v2"}, "metadata": {"name": "v2."}},
     "spec.group: Required value: only v1 may have an empty group and it better be legacy kube"),
    ({"spec": {"groupPriorityMinimum": 20001}},
     "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000"),
    ({"spec": {"versionPriority": None}}, "spec.versionPriority: Invalid value: 0: must be positive and less than 1000"),
    ({"spec": {"insecureSkipTLSVerify": True}},
     "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify"),
    ({"spec": {"caBundle": "YWJj"}}, 'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle'),
    ({"spec": {"service": {"port": 0}}},
     ("[spec.service.namespace: Required value, spec.service.name: Required value, spec.service.port: Invalid value: 0: "
      "port is not valid: must be between 1 and 65535, inclusive]")),
    ({"spec": {"service": {"namespace": "a", "name": "b"}, "insecureSkipTLSVerify": True, "caBundle": "YWJj"}},
     "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present"),
])
async def test_what_an_apiservice_may_say(api: Api, change: dict[str, Any], message: str) -> None:
    """Given a good APIService / when one thing is wrong / then upstream's words for it."""
    tree: dict[str, Any] = {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.a.dev"},
        "spec": {"group": "a.dev", "version": "v1", "groupPriorityMinimum": 10, "versionPriority": 10}}
    for part, fields in change.items():
        tree[part] |= fields
    status, found = await call(api, "POST", PATH, tree)
    if not message:
        assert status in (201, 409)
        return
    assert status == 422
    assert found["message"] == f'APIService.apiregistration.k8s.io {tree["metadata"]["name"]!r} is invalid: '.replace(
        "'", '"') + message


async def test_a_new_apiservice_has_a_port_and_a_status(api: Api) -> None:
    """Given APIServices with and without a service / when they are created with a status / then the
    port is that of HTTPS, and only what is local is available.
    """
    tree = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.a.dev"},
            "spec": {"group": "a.dev", "version": "v1", "groupPriorityMinimum": 10, "versionPriority": 10},
            "status": {"conditions": [{"type": "Odd", "status": "True"}]}}
    _, found = await call(api, "POST", PATH, tree)
    assert [each["reason"] for each in found["status"]["conditions"]] == ["Local"]
    tree["metadata"], tree["spec"] = {"name": "v1.b.dev"}, tree["spec"] | {"group": "b.dev", "service": {
        "namespace": "n", "name": "s"}}
    _, found = await call(api, "POST", PATH, tree)
    assert (found["spec"]["service"]["port"], found["status"]) == (443, {})
