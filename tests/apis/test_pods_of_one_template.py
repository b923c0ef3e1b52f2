"""What is worked out once for all pods of a template makes no difference but to speed."""

from typing import Any

import orjson
import pytest

from fakekube.apimachinery.http import Request
from fakekube.client import users
from fakekube.composition.cluster import Cluster

CONTAINER = {
    "name": "main", "image": "busybox", "ports": [], "readinessProbe": {"httpGet": {"port": 80}},
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
}
SPECS: dict[str, dict[str, Any]] = {
    "plain": {"containers": [CONTAINER], "volumes": [{"name": "data", "emptyDir": {}}]},
    "of its own account": {
        "serviceAccountName": "default", "hostNetwork": True, "volumes": [{"name": "data"}],
        "containers": [CONTAINER | {"ports": [{"containerPort": 80}]}], "initContainers": [CONTAINER | {"name": "first"}]},
    "with label keys": {
        "containers": [CONTAINER], "volumes": [{"name": "data"}], "schedulingGates": [{"name": "example.com/wait"}],
        "topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["app"],
            "labelSelector": {"matchLabels": {"app": "web"}}}]},
    "with a claim": {"containers": [CONTAINER], "volumes": [{"name": "data", "ephemeral": {"volumeClaimTemplate": {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}]},
    "refused": {"containers": [CONTAINER | {"image": " x"}], "restartPolicy": "Sometimes"},
}
LIMITS = {
    "metadata": {"name": "limits"},
    "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "500m"}}]},
}


async def post(cluster: Cluster, resource: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    answer = await cluster.apiserver.handle(Request(
        "POST", f"/api/v1/namespaces/default/{resource}", {}, {"content-type": "application/json"}, orjson.dumps(body),
        user=users.admin()))
    return answer.status, orjson.loads(answer.body)


def alike(answer: dict[str, Any]) -> bytes:
    """An answer without what is each pod's own."""
    meta, spec = answer.get("metadata", {}), answer.get("spec", {})
    for name in ("uid", "resourceVersion"):
        meta.pop(name, None)
    text = orjson.dumps(answer).replace(meta.get("name", answer.get("details", {}).get("name", "")).encode(), b"NAME")
    volumes = spec.get("volumes") or [{"name": ""}]
    return text.replace(volumes[-1]["name"].encode(), b"VOLUME") if "kube-api-access" in volumes[-1]["name"] else text


@pytest.mark.parametrize("limited", [False, True], ids=["", "limited"])
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
async def test_the_fifth_pod_is_as_the_first(spec: dict[str, Any], limited: bool) -> None:
    """Given five pods that differ in nothing but their names, in a namespace with or without
    default limits When they are created one after the other Then the answers differ in nothing
    else, and another pod that comes between changes none.
    """
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        if limited:
            assert (await post(cluster, "limitranges", LIMITS))[0] == 201
        codes, answers = [], []
        for number in range(5):
            meta = {"name": f"pod-{number}", "labels": {"app": "web"}}
            code, answer = await post(cluster, "pods", {"metadata": meta, "spec": spec})
            codes.append(code)
            answers.append(alike(answer))
            await post(cluster, "pods", {"metadata": {"generateName": "other-", "labels": {"app": "other"}}, "spec": spec})
        assert len(dict.fromkeys(codes)) == 1
        assert len(dict.fromkeys(answers)) == 1, answers


ENFORCED = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
CHANGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a limit range": ("POST", "/api/v1/namespaces/default/limitranges", LIMITS),
    "a default priority class": ("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
        "metadata": {"name": "usual"}, "value": 7, "globalDefault": True}),
    "an account that mounts nothing": ("PATCH", "/api/v1/namespaces/default/serviceaccounts/default", {
        "automountServiceAccountToken": False}),
    "pod security": ("PATCH", "/api/v1/namespaces/default", ENFORCED),
    "the end of the account": ("DELETE", "/api/v1/namespaces/default/serviceaccounts/default", {}),
    "a quota": ("POST", "/api/v1/namespaces/default/resourcequotas", {
        "metadata": {"name": "few"}, "spec": {"hard": {"pods": "8"}}}),
}


async def send(cluster: Cluster, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    answer = await cluster.apiserver.handle(Request(
        method, path, {}, {"content-type": kind}, orjson.dumps(body) if body else b"", user=users.admin()))
    return answer.status, orjson.loads(answer.body)


@pytest.mark.parametrize(("method", "path", "body"), CHANGES.values(), ids=CHANGES.keys())
async def test_what_decides_about_pods_may_change_between_two_of_a_template(
    method: str, path: str, body: dict[str, Any],
) -> None:
    """Given pods of one template, and something in the cluster that decides what becomes of them
    When it changes after some of them
    Then the next one is treated as the first one of a template would be."""
    plane = {"nodes": 0, "controllers": "namespace,serviceaccount,resourcequota", "clock": "manual"}
    results = []
    for before in (0, 4):
        async with Cluster(**plane) as cluster:
            for number in range(before):
                assert (await post(cluster, "pods", {"metadata": {"name": f"early-{number}"}, "spec": SPECS["plain"]}))[0] == 201
            await cluster.manager.stop_component("serviceaccount")
            assert (await send(cluster, method, path, body))[0] in (200, 201)
            await cluster.settle()
            for number in range(5):
                code, answer = await post(cluster, "pods", {"metadata": {"name": f"pod-{number}"}, "spec": SPECS["plain"]})
                results.append((before, number, code, alike(answer)))
    first, second = ([result[1:] for result in results if result[0] == before] for before in (0, 4))
    assert first[0] == second[0]
    if "resourcequotas" not in path:
        assert first == second
    else:
        assert [code for _, code, _ in second] == [201, 201, 201, 201, 403]
