"""Feature gates that change what the server does to bodies and answers, in a cluster that has them
set.
"""

from typing import Any

import aiohttp
import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, DEPLOYMENTS, PODS, SERVICE_ACCOUNTS

SPREADING = "MatchLabelKeysInPodTopologySpread"
NO_POD_LEVEL = "InPlacePodLevelResourcesVerticalScaling"


def cluster_of(**options: Any) -> Cluster:
    plain = {"nodes": 0, "controllers": "", "clock": "manual", "disable_admission_plugins": ["ServiceAccount"]}
    return Cluster(**{**plain, **options})


def pod_of(**spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "busybox", **spec.pop("container", {})}
    return {"metadata": {"name": "p", "namespace": "default", "labels": {"a": "b"}}, "spec": {"containers": [container], **spec}}


@pytest.mark.parametrize("on", [True, False])
async def test_large_answers_are_compressed_unless_a_gate_is_off(on: bool) -> None:
    """Given an object of 256 KiB, when it is read over HTTP, then it comes compressed where
    APIResponseCompression is on.
    """
    async with cluster_of(feature_gates={"APIResponseCompression": on}) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}, "data": {"k": "x" * 2**18}})
        server = await cluster.serve()
        async with aiohttp.ClientSession(auto_decompress=False) as session:
            url = f"{server.url}/api/v1/namespaces/default/configmaps/a"
            async with session.get(url, headers={"Accept-Encoding": "gzip"}) as answer:
                assert (answer.headers.get("Content-Encoding") == "gzip") is on
                assert (len(await answer.read()) < 100_000) is on


@pytest.mark.parametrize("on", [True, False])
async def test_discovery_tells_hashes_unless_a_gate_is_off(on: bool) -> None:
    """Given StorageVersionHash, when resources are discovered, then they have a hash where it is
    on.
    """
    async with cluster_of(feature_gates={"StorageVersionHash": on}) as cluster:
        rows = orjson.loads((await cluster.client.request("GET", "/api/v1")).body)["resources"]
        assert any("storageVersionHash" in row for row in rows) is on


@pytest.mark.parametrize("resource", [PODS, DEPLOYMENTS])
async def test_restarting_all_containers_needs_its_gate(resource: Any) -> None:
    """Given a rule that restarts all containers, when it is sent to a release that has the gate
    off, then it is refused.
    """
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
    pod = pod_of(container={"restartPolicy": "Always", "restartPolicyRules": rules})
    body = pod
    if resource is DEPLOYMENTS:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": pod["spec"]}
        body = {"metadata": pod["metadata"], "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    async with cluster_of() as cluster:
        await cluster.client.create(resource, body)
    async with cluster_of(kubernetes_version="1.35", feature_gates={"ContainerRestartRules": True}) as cluster:
        with pytest.raises(APIError, match='action: Unsupported value: "RestartAllContainers": supported values: "Restart"'):
            await cluster.client.create(resource, body)


async def test_fields_of_gates_that_are_off_are_dropped() -> None:
    """Given a pod with fields of EnvFiles and MatchLabelKeysInPodTopologySpread, when both are off,
    then they are forgotten.
    """
    env = [{"name": "x", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}, "fieldRef": {
        "fieldPath": "metadata.name"}}}]
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["a"],
               "labelSelector": {"matchLabels": {"c": "d"}}}]
    gates = dict.fromkeys(("EnvFiles", SPREADING, f"{SPREADING}SelectorMerge"), False)
    async with cluster_of(feature_gates=gates) as cluster:
        made = (await cluster.client.create(PODS, pod_of(container={"env": env}, topologySpreadConstraints=spread)))["spec"]
        assert "fileKeyRef" not in made["containers"][0]["env"][0]["valueFrom"]
        assert "matchLabelKeys" not in made["topologySpreadConstraints"][0]


@pytest.mark.parametrize("on", [True, False])
async def test_label_keys_of_spreading_are_merged_where_a_gate_is_on(on: bool) -> None:
    """Given matchLabelKeys of spreading, when a pod is made, then they are merged into its selector
    where the gate is on.
    """
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["a"],
               "labelSelector": {"matchLabels": {"c": "d"}}}]
    async with cluster_of(feature_gates={f"{SPREADING}SelectorMerge": on}) as cluster:
        made = (await cluster.client.create(PODS, pod_of(topologySpreadConstraints=spread)))["spec"]
        assert ("matchExpressions" in made["topologySpreadConstraints"][0]["labelSelector"]) is on


async def test_label_keys_that_are_not_merged_may_not_be_in_the_selector() -> None:
    """Given spreading whose matchLabelKeys its selector names too, or that has none, when keys are
    not merged, as before 1.34, then each is refused; where they are merged, a key of which the pod
    has no label is not.
    """
    selectors = [{"matchLabels": {"z": "d"}}, {"matchExpressions": [{"key": "z", "operator": "Exists"}]}, None]
    for release in ("1.33", "1.37"):
        async with cluster_of(kubernetes_version=release) as cluster:
            told = [await cluster_says(cluster, selector) for selector in selectors]
        path = "spec.topologySpreadConstraints[0].matchLabelKeys"
        both = f'{path}[0]: Invalid value: "z": exists in both matchLabelKeys and labelSelector'
        missing = f"{path}: Forbidden: must not be specified when labelSelector is not set"
        assert told == ([both, both, missing] if release == "1.33" else ["", "", missing])


async def cluster_says(cluster: Cluster, selector: Any) -> str:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["z"]}
    spread = [constraint | ({"labelSelector": selector} if selector else {})]
    try:
        await cluster.client.create(PODS, pod_of(topologySpreadConstraints=spread), dry_run=True)
    except APIError as error:
        return error.message.partition(" is invalid: ")[2]
    return ""


async def test_pod_level_resources_are_resized_where_a_gate_is_on() -> None:
    """Given a pod with resources of its own, when it is resized where the gate is off, then that is
    forbidden.
    """
    pod = pod_of(resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2"}})
    change = {"spec": {"resources": {"requests": {"cpu": "1500m"}}}}
    async with cluster_of() as cluster:
        await cluster.client.create(PODS, pod)
        resized = await cluster.client.patch(PODS, "p", "default", change, subresource="resize")
        assert resized["spec"]["resources"]["requests"]["cpu"] == "1500m"
    async with cluster_of(feature_gates={NO_POD_LEVEL: False}) as cluster:
        await cluster.client.create(PODS, pod)
        with pytest.raises(APIError, match=f"forbidden when {NO_POD_LEVEL}Enabled feature gate is disabled"):
            await cluster.client.patch(PODS, "p", "default", change, subresource="resize")


@pytest.mark.parametrize("on", [True, False])
async def test_a_token_is_for_the_account_that_is_meant(on: bool) -> None:
    """Given a token request with another uid, when it is sent, then it is a conflict, or a warning
    where the gate is off.
    """
    gates = {"TokenRequestServiceAccountUIDValidation": on}
    async with cluster_of(feature_gates=gates) as cluster:
        await cluster.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "a", "namespace": "default"}})
        path, body = "/api/v1/namespaces/default/serviceaccounts/a/token", {"metadata": {"uid": "other"}}
        if not on:
            answer = await cluster.client.request("POST", path, body=orjson.dumps(body))
            assert any(name == "Warning" and "does not match the UID" in value for name, value in answer.headers)
            return
        with pytest.raises(APIError, match=r"the UID in the token request \(other\) does not match the UID") as caught:
            await cluster.client.request("POST", path, body=orjson.dumps(body))
        assert caught.value.code == 409
