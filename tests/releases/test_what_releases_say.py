"""What differs from release to release in behaviour and in words, and what is the same in all of
them.
"""

from typing import Any

import orjson
import pytest

from fakekube.apimachinery import releases
from fakekube.apimachinery.http import Request
from fakekube.apis.gates import InvalidFeatureGate, UnknownFeatureGate
from fakekube.client.resources import CONFIG_MAPS, DEPLOYMENTS
from fakekube.composition.cluster import Cluster
from fakekube.composition.options import OptionError

MERGE, JSON_PATCH, APPLY = (
    "application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml")
MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
    "replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}}}


def cluster_of(release: str, **options: Any) -> Cluster:
    return Cluster(nodes=0, controllers="", clock="manual", kubernetes_version=release, **options)


async def asked(
    cluster: Cluster, method: str, path: str, body: Any = None, media: str = "application/json", **query: str,
) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
    request = Request(method, path, {name: [value] for name, value in query.items()}, {"content-type": media}, data)
    answer = await cluster.apiserver.handle(request)
    return answer.status, orjson.loads(answer.body)


async def told(cluster: Cluster, method: str, path: str, body: Any, media: str = "application/json") -> list[str]:
    """The causes of a refusal, each with its path."""
    code, answer = await asked(cluster, method, path, body, media)
    assert code == 422, answer
    return [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]


@pytest.mark.parametrize("release", releases.TESTED)
async def test_an_object_lives_alike_in_all_releases(release: str) -> None:
    """Given a Deployment, when it is created, scaled, given a status, patched, applied and deleted,
    then its generation counts changes of the spec alone, and the watch has seen every step.
    """
    async with cluster_of(release) as cluster:
        path = "/apis/apps/v1/namespaces/default/deployments"
        code, made = await asked(cluster, "POST", path, DEPLOYMENT, fieldValidation="Strict")
        assert (code, made["metadata"]["generation"], made["spec"]["strategy"]["type"]) == (201, 1, "RollingUpdate")
        version = made["metadata"]["resourceVersion"]
        code, scale = await asked(cluster, "PATCH", f"{path}/web/scale", {"spec": {"replicas": 3}}, MERGE)
        assert (code, scale["spec"]["replicas"]) == (200, 3)
        code, found = await asked(cluster, "PATCH", f"{path}/web/status", {"status": {"replicas": 3}}, MERGE)
        assert (code, found["metadata"]["generation"], found["status"]) == (200, 2, {"replicas": 3})
        image = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "web:2"}]
        code, found = await asked(cluster, "PATCH", f"{path}/web", image, JSON_PATCH)
        assert (code, found["metadata"]["generation"]) == (200, 3)
        applied = {**DEPLOYMENT, "spec": {"paused": True}}
        code, found = await asked(cluster, "PATCH", f"{path}/web", applied, APPLY, fieldManager="a")
        assert (code, found["spec"]["paused"], found["spec"]["replicas"]) == (200, True, 3)
        assert found["metadata"]["managedFields"][0]["manager"] == "a"
        code, _ = await asked(cluster, "DELETE", f"{path}/web")
        assert code == 200
        stream = await cluster.client.watch(DEPLOYMENTS, "default", resource_version=version)
        events = [(await anext(stream)).type for _ in range(5)]
        assert events == ["MODIFIED"] * 4 + ["DELETED"]


@pytest.mark.parametrize("release", releases.TESTED)
async def test_strictness_is_alike_in_all_releases(release: str) -> None:
    """Given a body with a field that nobody knows and one that is there twice, when it is sent,
    then strictly it is refused with both named, and otherwise stored without them.
    """
    async with cluster_of(release) as cluster:
        body = b'{"extra": 1, "metadata": {"name": "a"}, "data": {"k": "1", "k": "2"}}'
        code, answer = await asked(cluster, "POST", MAPS, body, fieldValidation="Strict")
        assert code == 400
        assert answer["message"].endswith('strict decoding error: unknown field "extra", duplicate field "data.k"')
        code, answer = await asked(cluster, "POST", MAPS, body, fieldValidation="Ignore")
        assert (code, answer["data"], "extra" in answer) == (201, {"k": "2"}, False)


@pytest.mark.parametrize(("release", "times"), [("1.30", 4), ("1.35", 4), ("1.36", 4), ("1.37", 1)])
async def test_what_is_found_several_times_is_told_once_since_1_37(release: str, times: int) -> None:
    """Given a ConfigMap, when an update brings a bad label, then older releases say so as often as
    they look.
    """
    async with cluster_of(release) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        causes = await told(cluster, "PATCH", f"{MAPS}/a", {"metadata": {"labels": {"a b": ""}}}, MERGE)
        assert [cause[:33] for cause in causes] == ['metadata.labels: Invalid value: "'] * times


@pytest.mark.parametrize(("release", "expected"), [
    ("1.36", ['metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
              'metadata.ownerReferences.uid: Invalid value: "": must not be empty']),
    ("1.37", ["metadata.ownerReferences[0].apiVersion: Required value: must not be empty",
              "metadata.ownerReferences[0].uid: Required value: must not be empty"]),
])
async def test_owners_are_counted_since_1_37(release: str, expected: list[str]) -> None:
    """Given an owner without version and uid, when an object has it, then the newest release says
    which owner it is.
    """
    async with cluster_of(release) as cluster:
        body = {"metadata": {"name": "a", "ownerReferences": [{"kind": "Pod", "name": "p"}]}}
        assert await told(cluster, "POST", MAPS, body) == expected


@pytest.mark.parametrize(("release", "order"), [
    ("1.36", ["rules[0].verbs: Required value: verbs must contain at least one value",
              "rules[0].apiGroups: Required value: resource rules must supply at least one api group"]),
    ("1.37", ["rules[0].apiGroups: Required value: resource rules must supply at least one api group",
              "rules[0].verbs: Required value"]),
])
async def test_declared_rules_speak_last_since_1_37(release: str, order: list[str]) -> None:
    """Given a rule without verbs and groups, when a Role has it, then declared rules have taken
    over the one of both.
    """
    async with cluster_of(release) as cluster:
        body = {"metadata": {"name": "r"}, "rules": [{"resources": ["pods"]}]}
        assert await told(cluster, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", body) == order


@pytest.mark.parametrize(("release", "text"), [
    ("1.35", "provisioner: Forbidden: updates to provisioner are forbidden."),
    ("1.36", 'provisioner: Invalid value: "b.dev/b": field is immutable'),
    ("1.37", "provisioner: Invalid value: null: field is immutable"),
])
async def test_a_rule_in_the_words_of_three_releases(release: str, text: str) -> None:
    """Given a StorageClass, when who makes its volumes changes, then each release refuses it in its
    own words.
    """
    async with cluster_of(release) as cluster:
        path = "/apis/storage.k8s.io/v1/storageclasses"
        await asked(cluster, "POST", path, {"metadata": {"name": "s"}, "provisioner": "a.dev/a"})
        assert await told(cluster, "PATCH", f"{path}/s", {"provisioner": "b.dev/b"}, MERGE) == [text]


@pytest.mark.parametrize(("release", "code"), [("1.33", 404), ("1.36", 404), ("1.37", 400)])
async def test_a_patch_is_read_first_since_1_37(release: str, code: int) -> None:
    """Given no object and a patch that is no JSON, when it is sent, then the newest release looks
    at the patch first.
    """
    async with cluster_of(release) as cluster:
        assert (await asked(cluster, "PATCH", f"{MAPS}/nobody", b"{", MERGE))[0] == code


@pytest.mark.parametrize(("release", "code"), [("1.36", 200), ("1.37", 422)])
async def test_an_option_without_its_gate_is_not_there(release: str, code: int) -> None:
    """Given an option of deletions that 1.37 has on, when it comes with another that it excludes,
    then older releases take no notice of it, unless the gate is on.
    """
    body = {"ignoreStoreReadErrorWithClusterBreakingPotential": True, "gracePeriodSeconds": 0}
    async with cluster_of(release) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        assert (await asked(cluster, "DELETE", f"{MAPS}/a", body))[0] == code
    async with cluster_of(release, feature_gates="AllowUnsafeMalformedObjectDeletion=true") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
        assert (await asked(cluster, "DELETE", f"{MAPS}/a", body))[0] == 422


@pytest.mark.parametrize("release", releases.TESTED)
async def test_version_and_discovery_know_the_release(release: str) -> None:
    """Given a release, when its version is asked, then major and minor are its own."""
    async with cluster_of(release) as cluster:
        _, version = await asked(cluster, "GET", "/version")
        assert (version["major"], version["minor"]) == ("1", release.partition(".")[2])
        assert version["gitVersion"].startswith(f"v{release}.")


@pytest.mark.parametrize("release", releases.TESTED)
async def test_gates_and_versions_are_those_of_the_release(release: str) -> None:
    """Given gates by the group, and switches of API versions, when clusters are made, then all
    alphas start, all betas go, a version that is switched off is gone, and names that are none are
    refused with their neighbours.
    """
    async with cluster_of(release, feature_gates="AllAlpha=true,AllBeta=true", runtime_config="api/all=true") as cluster:
        groups = {kind.api_version for kind in cluster.apiserver.resources.kinds}
        assert "internal.apiserver.k8s.io/v1alpha1" in groups
    async with cluster_of(release, feature_gates="AllBeta=false", runtime_config="api/beta=false,batch/v1=false") as cluster:
        groups = {kind.api_version for kind in cluster.apiserver.resources.kinds}
        assert "batch/v1" not in groups
        assert [name for name in groups if "beta" in name] == []
    with pytest.raises((OptionError, UnknownFeatureGate), match=r"unrecognized feature gate: WatchLst.*WatchList"):
        async with cluster_of(release, feature_gates="WatchLst=true"):
            pass
    with pytest.raises((OptionError, ValueError), match=r"unknown api groups nobody\.dev/v1"):
        async with cluster_of(release, runtime_config="nobody.dev/v1=true"):
            pass


@pytest.mark.parametrize("release", ["1.35", "1.36", "1.37"])
async def test_locked_gates_stay(release: str) -> None:
    """Given a gate that is locked on, when it is switched off, then no cluster starts."""
    with pytest.raises((OptionError, InvalidFeatureGate), match="feature is locked to true"):
        async with cluster_of(release, feature_gates="JobManagedBy=false"):
            pass


BELOW_MINIMUM = "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`"


@pytest.mark.parametrize(("release", "expected"), [
    ("1.35", ["spec.maxReplicas: Invalid value: 0: must be greater than 0", BELOW_MINIMUM]),
    ("1.36", ["spec.maxReplicas: Required value: must be set and greater than 0", BELOW_MINIMUM]),
    ("1.37", [BELOW_MINIMUM, "spec.maxReplicas: Required value"]),
])
async def test_an_autoscaler_without_a_maximum(release: str, expected: list[str]) -> None:
    """Given an autoscaler without a maximum, and without policies where it names some, when it is
    made, then each release says so in its way, and an empty list of policies is not taken for none.
    """
    policies = "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy"
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "behavior": {
        "scaleUp": {"policies": []}}}
    async with cluster_of(release) as cluster:
        path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
        found = await told(cluster, "POST", path, {"metadata": {"name": "a"}, "spec": spec})
        assert [cause for cause in found if cause != policies] == expected
        assert policies in found


async def test_true_is_no_number_in_what_may_hold_anything() -> None:
    """Given a revision of a controller, when true in its data becomes 1, then that is the change
    that it may not see.
    """
    async with cluster_of("1.37") as cluster:
        path = "/apis/apps/v1/namespaces/default/controllerrevisions"
        await asked(cluster, "POST", path, {"metadata": {"name": "r"}, "revision": 1, "data": {"a": True}})
        assert await told(cluster, "PATCH", f"{path}/r", {"data": {"a": 1}}, MERGE) == [
            'data: Invalid value: {"a":1}: field is immutable']


@pytest.mark.parametrize(("release", "field"), [("1.36", "spec.resourceAttributes"), ("1.37", "spec")])
async def test_a_review_of_nothing(release: str, field: str) -> None:
    """Given a review that asks for nothing, when it is sent, then each release names another field.
    """
    async with cluster_of(release) as cluster:
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        assert await told(cluster, "POST", path, {"spec": {}}) == [
            f"{field}: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"]


@pytest.mark.parametrize(("release", "code"), [("1.36", 201), ("1.37", 500)])
async def test_a_binding_names_a_node_since_1_37(release: str, code: int) -> None:
    """Given a pod, when it is bound to what no node can be called, then only the newest release
    looks.
    """
    async with cluster_of(release) as cluster:
        path = "/api/v1/namespaces/default/pods"
        body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        assert (await asked(cluster, "POST", path, body))[0] == 201
        binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "A b"}}
        assert (await asked(cluster, "POST", f"{path}/p/binding", binding))[0] == code
