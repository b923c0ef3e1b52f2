"""What Stages do that do not fit, how one of several is picked, and what else Stages write."""

from typing import Any

import pytest

pytest.importorskip("jq", reason="the extra kwok is not installed")

from fakekube.client.resources import EVENTS, NODES, PODS
from tests.controllers.kubelet.stages.test_playing import ALIVE, cluster_with, create, stage
from tests.controllers.world import NAMESPACE


async def told(cluster: Any, name: str = "p") -> list[tuple[str, ...]]:
    """Type, reason, message and source of the Events of Stages."""
    found = (await cluster.client.list(EVENTS, NAMESPACE)).items
    return [(e["type"], e["reason"], e.get("message", "")) for e in found
            if e["involvedObject"]["name"] == name and e["source"].get("component") == "kwok_controller"]


@pytest.mark.parametrize(("patch", "complaint"), [
    ({"type": "json", "template": "a: b"}, "what it makes is no JSON patch"),
    ({"type": "json", "template": "[1]"}, "what it makes is no JSON patch"),
    ({"type": "json", "template": "[{op: remove}]"}, "what it makes is no JSON patch"),
    ({"type": "merge", "template": "a: {"}, "what it makes is no YAML: "),
    ({"type": "merge", "template": "{{ .spec.nodeName.x }}"}, "can't evaluate field x in 'node-0'"),
])
async def test_what_a_template_makes_must_fit(patch: Any, complaint: str) -> None:
    """Given a Stage whose template makes no patch / when it is played / then an Event says so once,
    and the pod is as before.
    """
    async with cluster_with(stage("bad", when=[ALIVE], steps=[{"patch": patch}])) as cluster:
        await create(cluster)
        [(kind, reason, message)] = await told(cluster)
        assert (kind, reason) == ("Warning", "StageFailed")
        assert message.startswith(f'Stage "bad" cannot be played: {complaint}')
        pod = await cluster.client.get(PODS, "p", NAMESPACE)
        assert (pod["status"]["phase"], pod["metadata"].get("labels"), pod["metadata"].get("annotations")) == ("Pending", None,
        None)


async def test_patches_go_below_their_root_and_to_their_subresource() -> None:
    """Given patches of each kind, with a root and without / then each changes what it names."""
    patches = [
        {"template": "labels: {a: '1'}", "root": "metadata", "type": "merge"},
        {"template": "[{op: add, path: /metadata/labels/b, value: '2'}]", "type": "json"},
        {"template": "metadata: {labels: {c: '3'}}"}, {"template": "message: m", "root": "status", "subresource": "status"},
        {"template": ""},
    ]
    once = (".metadata.labels.c", "DoesNotExist")
    async with cluster_with(stage("many", when=[once], next={"patches": patches})) as cluster:
        await create(cluster)
        pod = await cluster.client.get(PODS, "p", NAMESPACE)
        assert (pod["metadata"]["labels"], pod["status"]["message"]) == ({"a": "1", "b": "2", "c": "3"}, "m")
        assert await told(cluster) == []


async def test_functions_of_kwok_know_the_cluster() -> None:
    """Given a template with all of KWOK's functions / then they know time, node and addresses."""
    calls = {
        "now": "Now", "start": "StartTime", "version": "Version", "node": "NodeName", "port": "NodePort", "ip": "NodeIP",
        "other": 'NodeIPWith "other"', "pod": "PodIP", "host": 'PodIPWith "node-0" true "u"',
        "own": 'PodIPWith "node-0" false "u"',
        "conditions": "len NodeConditions", "ready": "(index NodeConditions 0).reason"}
    template = "".join(f"{key}: {{{{ {call} | quote }}}}\n" for key, call in calls.items())
    asks = stage("asks", when=[(".metadata.annotations.now", "DoesNotExist")], delay={"durationMilliseconds": 3000}, next={
        "patches": [{"root": "metadata", "template": "annotations:\n  " + template.strip().replace("\n", "\n  ")}]})
    async with cluster_with(asks) as cluster:
        await create(cluster)
        await cluster.advance(3)
        found = (await cluster.client.get(PODS, "p", NAMESPACE))["metadata"]["annotations"]
        assert found == {
            "now": "2026-01-01T00:00:03.000000Z", "start": "2026-01-01T00:00:00.000000Z", "version": "fakekube", "node": "node-0",
            "port": "10250", "ip": "192.168.0.1", "other": "192.168.0.2", "pod": "10.244.0.2", "host": "192.168.0.1",
            "own": "10.244.0.3", "conditions": "5", "ready": "KubeletReady"}


CHOSEN = (".status.phase", "In", "Pending")


def choice(name: str, **more: Any) -> Any:
    return stage(name, when=[CHOSEN], next={"statusTemplate": f"phase: Running\nmessage: {name}"}, **more)


@pytest.mark.parametrize(("weights", "picked"), [
    ((0, 5, None), {"b"}), ((3, None, 0), {"a"}), ((1, 1, None), {"a", "b"}), ((0, 0, None), {"a", "b"}),
    ((None, None, 0), {"c"}),
    ((None, None, None), {"a", "b", "c"})])
async def test_stages_are_picked_by_their_weights(weights: tuple[int | None, ...], picked: set[str]) -> None:
    """Given Stages for the same pods, of which each has a weight or one that cannot be read / then
    one with a weight is picked, by chance where all are zero, and one that cannot be read only
    where none can.
    """
    made = [
        choice(name, **({"weightFrom": {"expressionFrom": '"x"'}} if weight is None else {"weight": weight}))
        for name, weight in zip("abc", weights, strict=True)]
    async with cluster_with(*made) as cluster:
        seen = set()
        for number in range(16):
            await create(cluster, f"p{number}")
            seen.add((await cluster.client.get(PODS, f"p{number}", NAMESPACE))["status"]["message"])
        assert seen == picked


async def test_finalizers_are_added_and_removed_and_events_have_their_type() -> None:
    """Given a Stage with finalizers and an Event / then those are added that are not there, those
    that are named go, the Event is a warning where that is said; nothing is written anew.
    """
    first = stage("first", when=[(".metadata.finalizers", "DoesNotExist")], next={
        "finalizers": {"add": [{"value": "a.b/one"}, {"value": "a.b/two"}]},
        "event": {"type": "Warning", "reason": "Held", "message": "{{ .metadata.name }} is held"}})
    second = stage("second", when=[(".metadata.finalizers.[0]", "In", "a.b/one")], next={
        "finalizers": {"remove": [{"value": "a.b/one"}], "add": [{"value": "a.b/two"}, {"value": "a.b/three"}]},
        "event": {"reason": "Freed", "message": ""}})
    async with cluster_with(first, second) as cluster:
        await create(cluster)
        assert (await cluster.client.get(PODS, "p", NAMESPACE))["metadata"]["finalizers"] == ["a.b/two", "a.b/three"]
        assert await told(cluster) == [("Warning", "Held", "p is held"), ("Normal", "Freed", "")]


async def test_a_pod_that_goes_while_it_is_played_ends_nothing() -> None:
    """Given a Stage that deletes a pod and writes to it / then that it is gone is no error, and
    other pods are played.
    """
    gone = stage("gone", when=[(".metadata.name", "In", "p")],
    steps=[{"delete": True}, {"patch": {"template": "metadata: {labels: {a: b}}"}}])
    async with cluster_with(gone, choice("lives")) as cluster:
        await create(cluster)
        await create(cluster, "q")
        assert await cluster.client.get(PODS, "p", NAMESPACE, missing_ok=True) is None
        assert (await cluster.client.get(PODS, "q", NAMESPACE))["status"]["phase"] == "Running"


async def test_a_pod_waits_for_its_node_and_a_stopped_kubelet_plays_nothing() -> None:
    """Given a pod bound to a node that is not there / then no Stage is played for it; given a node
    whose kubelet is stopped, then neither, and once it runs it is.
    """
    async with cluster_with(choice("lives")) as cluster:
        await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/kubelet": "stopped"}}})
        await create(cluster)
        spec = {"nodeName": "nowhere", "containers": [{"name": "main", "image": "i"}]}
        await cluster.client.create(PODS, {"metadata": {"name": "far", "namespace": NAMESPACE}, "spec": spec})
        await cluster.settle()
        for name in ("p", "far"):
            assert (await cluster.client.get(PODS, name, NAMESPACE))["status"]["phase"] == "Pending"
        await cluster.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/kubelet": None}}})
        await cluster.settle()
        assert (await cluster.client.get(PODS, "p", NAMESPACE))["status"]["phase"] == "Running"
