"""Warnings of what is stored and has no effect here."""

from pathlib import Path

import orjson
import pytest

from fakekube.admission.chain import build_chain
from fakekube.admission.unmodelled import KINDS, POD_FIELDS, warnings
from fakekube.apis.catalog import catalog
from fakekube.composition.cluster import Cluster
from fakekube.registry.kind import Kind

PAGE = (Path(__file__).parents[2] / "docs/coverage.md").read_text()


def kinds() -> dict[tuple[str, str], Kind]:
    return {(kind.group, kind.plural): kind for kind in catalog("1.37", {}, {"api/all": True}).kinds}


KNOWN = kinds()


def told(group: str, plural: str, **obj: object) -> list[str]:
    return list(warnings(KNOWN[group, plural], {"metadata": {"name": "x"}, **obj}))


@pytest.mark.parametrize("key", KINDS, ids="/".join)
def test_a_kind_that_nobody_acts_on_is_warned_of(key: tuple[str, str]) -> None:
    """Given each kind of the table / when an object of it is stored / then one sentence says that
    it has no effect, and why; the page on coverage names the kind.
    """
    kind = KNOWN[key]
    assert told(*key, spec={"service": {"name": "s"}}) == [f"fakekube stores this {kind.kind} only: {KINDS[key]}"]
    assert kind.kind in PAGE


@pytest.mark.parametrize(("spec", "expected"), [
    ({"type": "LoadBalancer"}, ["fakekube: spec.type: nothing gives a Service of type LoadBalancer an address"]),
    ({"type": "ClusterIP"}, []),
    ({"externalIPs": ["1.2.3.4"]}, ["fakekube stores spec.externalIPs only: no traffic is routed by it"]),
    ({"externalIPs": []}, []),
])
def test_fields_of_a_service(spec: dict, expected: list[str]) -> None:
    """Given a Service / then what of it has no effect is warned of, and nothing else."""
    assert told("", "services", spec=spec) == expected


POD = {
    "containers": [{"name": "a"}, {"name": "b", "lifecycle": {"postStart": {"exec": {}}, "preStop": {"exec": {}}}}],
    "volumes": [{"name": "e", "emptyDir": {}}, {"name": "h", "hostPath": {"path": "/"}}],
    "affinity": {"nodeAffinity": {"x": 1}, "podAntiAffinity": {"x": 1}}, "topologySpreadConstraints": [],
}


@pytest.mark.parametrize(("key", "prefix", "obj"), [
    (("", "pods"), "spec.", {"spec": POD}),
    (("apps", "deployments"), "spec.template.spec.", {"spec": {"template": {"spec": POD}}}),
    (("batch", "cronjobs"), "spec.jobTemplate.spec.template.spec.",
     {"spec": {"jobTemplate": {"spec": {"template": {"spec": POD}}}}}),
    (("", "podtemplates"), "template.spec.", {"template": {"spec": POD}}),
])
def test_fields_of_pods_wherever_they_stand(key: tuple[str, str], prefix: str, obj: dict) -> None:
    """Given a pod, or what makes pods / then each field without an effect is named by its path."""
    assert told(*key, **obj) == [
        f"fakekube stores {prefix}volumes[1].hostPath only: containers see nothing of volumes",
        f"fakekube stores {prefix}containers[1].lifecycle.postStart only: it is not run"]


def test_a_usual_pod_is_not_warned_of() -> None:
    """Given a pod without any of the fields / then nothing is said."""
    assert told("", "pods", spec={"containers": [{"name": "a"}], "volumes": [{"name": "e", "emptyDir": {}}]}) == []
    assert told("apps", "deployments", spec={}) == []
    assert len(POD_FIELDS) == 5


def test_it_is_asked_for() -> None:
    """Given no option / then the chain is upstream's; with it the plugin comes last."""
    assert "UnmodelledWarnings" not in [plugin.name for plugin in build_chain().plugins]
    assert build_chain(warn_unmodelled=True).plugins[-1].name == "UnmodelledWarnings"


@pytest.mark.parametrize(("wanted", "expected"), [
    (True, ['299 - "fakekube stores this NetworkPolicy only: no traffic is filtered by it"']), (False, [])])
async def test_the_answer_says_so(wanted: bool, expected: list[str]) -> None:
    """Given the option or none / when a NetworkPolicy is created and replaced / then each answer
    carries the warning, or none does; reads and deletions never do.
    """
    path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
    async with Cluster(nodes=0, controllers="", warn_unmodelled=wanted) as cluster:
        async def warned(method: str, at: str, body: bytes = b"") -> list[str]:
            answer = await cluster.client.request(method, at, body=body)
            return [value for name, value in answer.headers if name == "Warning"]

        body = orjson.dumps({"metadata": {"name": "p"}, "spec": {"podSelector": {}}})
        assert await warned("POST", path, body) == expected
        assert await warned("PUT", f"{path}/p", body) == expected
        assert await warned("GET", f"{path}/p") == []
        assert await warned("DELETE", f"{path}/p") == []


def test_the_whole_table() -> None:
    """Given all kinds and fields of pods that have no effect / then the sentences are these."""
    queued = "no request is queued or refused by priority and fairness"
    assert {plural: text for (_, plural), text in KINDS.items()} == {
        "flowschemas": queued, "prioritylevelconfigurations": queued, "ingresses": "no controller routes traffic by it",
        "networkpolicies": "no traffic is filtered by it",
        "volumeattachments": "volumes are never attached or mounted by a driver",
        "storageversionmigrations": "nothing is migrated"}
    hooks: dict[str, object] = {"lifecycle": {"postStart": {"exec": {}}}}
    assert told("", "pods", spec={
        "volumes": [{"name": "i", "image": {}}, {"name": "n", "nfs": {}}, {"name": "h", "hostPath": {}}],
        "initContainers": [{"name": "i", **hooks}], "containers": [{"name": "c", **hooks}]}) == [
            "fakekube stores spec.volumes[2].hostPath only: containers see nothing of volumes",
            "fakekube stores spec.volumes[0].image only: containers see nothing of volumes",
            "fakekube stores spec.volumes[1].nfs only: containers see nothing of volumes",
            "fakekube stores spec.containers[0].lifecycle.postStart only: it is not run",
            "fakekube stores spec.initContainers[0].lifecycle.postStart only: it is not run"]
