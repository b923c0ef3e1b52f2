"""Pods and nodes that live as Stages say."""

import copy
import itertools
from typing import Any

import pytest
import yaml

pytest.importorskip("jq", reason="the extra kwok is not installed")

from fakekube.apimachinery import meta
from fakekube.client.resources import EVENTS, JOBS, NODES, PODS
from fakekube.composition.cluster import Cluster
from fakekube.composition.options import OptionError
from fakekube.composition.snapshot import decode
from tests.controllers.world import NAMESPACE, job_manifest


def stage(name: str, kind: str = "Pod", *, when: Any = (), **spec: Any) -> Any:
    """A Stage; ``when`` are its requirements as (key, operator, values...)."""
    expressions = [
        {"key": key, "operator": operator, **({"values": values} if values else {})} for key, operator, *values in when]
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind}, "selector": {"matchExpressions": expressions}, **spec}}


STARTED = """
{{ $now := Now }}
{{ define "status" }}
{{ with .container }}
  name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  state: {running: {startedAt: {{ $.now | Quote }}}}
{{ end }}
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) .metadata.uid .metadata.name .metadata.namespace | Quote }}
conditions:
- {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
-
{{ template "status" dict "container" . "now" $now }}
{{ end }}
"""
ALIVE = (".metadata.deletionTimestamp", "DoesNotExist")
START = stage("start", when=[ALIVE, (".status.podIP", "DoesNotExist")], next={"statusTemplate": STARTED})
FINISH = stage(
    "finish", when=[ALIVE, (".status.phase", "In", "Running"), (".metadata.ownerReferences.[].kind", "In", "Job")],
    delay={"durationMilliseconds": 5000}, next={"statusTemplate": "phase: Succeeded\n"})
GO = stage("go", when=[(".metadata.deletionTimestamp", "Exists")], next={
    "finalizers": {"empty": True}, "delete": True,
    "event": {"type": "Normal", "reason": "Gone", "message": "{{ .metadata.name }} goes"}})


def cluster_with(*stages: Any, **options: Any) -> Any:
    return Cluster(**{"nodes": 1, "clock": "manual", **options}, load=yaml.safe_dump_all(stages))


async def create(cluster: Any, name: str = "p", **metadata: Any) -> None:
    await cluster.client.create(PODS, {"metadata": {"name": name, "namespace": NAMESPACE, **metadata}, "spec": {
        "nodeName": "node-0", "containers": [{"name": "main", "image": "busybox"}]}})
    await cluster.settle()


async def status(cluster, name="p"):
    pod = await cluster.client.get(PODS, name, NAMESPACE, missing_ok=True)
    return pod and pod["status"]


async def events(cluster, name="p"):
    found = (await cluster.client.list(EVENTS, NAMESPACE)).items
    return [(e["reason"], e["message"]) for e in found if e["involvedObject"]["name"] == name]


async def test_a_pod_lives_as_its_stages_say():
    """Given stages for start and end / then a pod runs at once, with the address that the template
    asked for / when it is deleted / then its finalizer goes and it with it, and the Event is told.
    """
    async with cluster_with(START, GO) as cluster:
        await create(cluster, finalizers=["example.com/hold"])
        found = await status(cluster)
        assert (found["phase"], found["podIP"]) == ("Running", "10.244.0.2")
        assert found["containerStatuses"][0]["state"]["running"]["startedAt"] == "2026-01-01T00:00:00Z"
        await cluster.client.delete(PODS, "p", NAMESPACE)
        await cluster.settle()
        assert await status(cluster) is None
        assert ("Gone", "p goes") in await events(cluster)


async def test_a_job_completes_on_stages():
    """Given stages that end pods of Jobs after five seconds / then a Job of four pods, two at a
    time, takes ten.
    """
    async with cluster_with(START, FINISH, GO, clock="auto") as cluster:
        await cluster.client.create(JOBS, job_manifest(completions=4, parallelism=2))

        async def complete():
            return meta.is_condition_true(await cluster.client.get(JOBS, "j", NAMESPACE), "Complete")

        before = cluster.clock.time()
        await cluster.run_until(complete)
        assert 10 <= cluster.clock.time() - before < 15


async def test_a_stage_is_dropped_when_its_object_is_no_longer_what_it_is_for():
    """Given a pod that is to end in five seconds / when it is deleted meanwhile / then it never
    ends, it goes.
    """
    async with cluster_with(START, stage(
            "end", when=[ALIVE, (".status.phase", "In", "Running")], delay={"durationMilliseconds": 5000},
            next={"statusTemplate": "phase: Failed"})) as cluster:
        await create(cluster)
        await cluster.advance(4)
        await cluster.client.delete(PODS, "p", NAMESPACE)
        await cluster.advance(60)
        assert (await status(cluster))["phase"] == "Running"


async def test_another_change_does_not_begin_a_delay_anew():
    """Given a pod that is to end in five seconds / when it gets a label meanwhile / then it ends in
    five seconds all the same.
    """
    async with cluster_with(START, stage(
            "end", when=[(".status.phase", "In", "Running")], delay={"durationMilliseconds": 5000},
            next={"statusTemplate": "phase: Failed"})) as cluster:
        await create(cluster)
        await cluster.advance(4)
        await cluster.client.patch(PODS, "p", NAMESPACE, {"metadata": {"labels": {"a": "b"}}})
        await cluster.advance(1)
        assert (await status(cluster))["phase"] == "Failed"


@pytest.mark.parametrize(("annotations", "seconds"), [({}, 1), ({"delay": "7s"}, 7), ({"delay": "2026-01-01T00:00:09Z"}, 9)])
async def test_a_delay_may_come_from_the_object(annotations, seconds):
    """Given a delay that an annotation says / then it is taken as a duration or as a time, and the
    stage's own without it.
    """
    source = {"jq": {"expression": '.metadata.annotations["delay"]'}}
    async with cluster_with(stage("start", when=[(".status.podIP", "DoesNotExist")], next={"statusTemplate": STARTED}, delay={
            "durationMilliseconds": 1000, "durationFrom": source})) as cluster:
        await create(cluster, annotations=annotations)
        await cluster.advance(seconds - 0.1)
        assert "podIP" not in await status(cluster)
        await cluster.advance(0.1)
        assert "podIP" in await status(cluster)


async def test_jitter_is_drawn_between_its_bounds_and_the_same_every_time():
    """Given a delay of one to five seconds / then pods start at several times in between, in
    another run at the same.
    """
    started = []
    for _ in range(2):
        async with cluster_with(stage("start", when=[(".status.podIP", "DoesNotExist")], next={"statusTemplate": STARTED}, delay={
                "durationMilliseconds": 1000, "jitterDurationMilliseconds": 5000})) as cluster:
            for number in range(5):
                await create(cluster, f"p-{number}")
            seen = {}
            for tenth, number in itertools.product(range(51), range(5)):
                if number == 0:
                    await cluster.advance(0.1)
                if "podIP" in await status(cluster, f"p-{number}"):
                    seen.setdefault(number, tenth)
            started.append(seen)
    assert started[0] == started[1]
    assert len(set(started[0].values())) > 2
    assert all(9 <= tenth <= 50 for tenth in started[0].values())


async def test_weights_decide_among_several():
    """Given two stages, one of them without weight / then the other is always taken."""
    never = copy.deepcopy(START)
    never["metadata"]["name"], never["spec"]["next"] = "never", {"statusTemplate": "phase: Failed\npodIP: 10.0.0.9"}
    always = copy.deepcopy(START)
    always["spec"]["weightFrom"], always["spec"]["weight"] = {"expressionFrom": ".metadata.labels.weight"}, 0
    async with cluster_with(never, always) as cluster:
        for number in range(5):
            await create(cluster, f"p-{number}", labels={"weight": "3"})
            assert (await status(cluster, f"p-{number}"))["phase"] == "Running"


async def test_steps_and_patches_of_all_kinds():
    """Given a stage of several steps / then each is taken: a merge patch, a JSON patch below a
    root, an Event.
    """
    async with cluster_with(stage("many", when=[(".metadata.labels.done", "DoesNotExist")], steps=[
        {"patch": {
            "type": "json", "root": "metadata", "template": '[{"op": "add", "path": "/annotations", "value": {"a": "1"}}]'}},
        {"patch": {"subresource": "status", "root": "status", "template": "phase: Running"}},
        {"finalizers": {"add": [{"value": "example.com/one"}]}},
        {"event": {"reason": "Seen", "message": "seen"}},
        {"patch": {"type": "merge", "template": 'metadata: {labels: {done: "yes"}}'}},
    ])) as cluster:
        await create(cluster)
        pod = await cluster.client.get(PODS, "p", NAMESPACE)
        assert (pod["metadata"]["annotations"], pod["metadata"]["labels"]) == ({"a": "1"}, {"done": "yes"})
        assert (pod["metadata"]["finalizers"], pod["status"]["phase"]) == (["example.com/one"], "Running")
        assert ("Seen", "seen") in await events(cluster)


NODE_UP = stage("up", "Node", when=[('.status.conditions.[] | select( .type == "Ready" ) | .status', "NotIn", "True")], next={
    "statusTemplate": """
conditions:
{{ range NodeConditions }}
- {type: {{ .type }}, status: {{ .status | Quote }}, reason: {{ .reason }}, message: {{ .message | Quote }},
   lastHeartbeatTime: {{ Now | Quote }}, lastTransitionTime: {{ Now | Quote }}}
{{ end }}
addresses:
{{ with NodeIP }}
- {type: InternalIP, address: {{ . | Quote }}}
{{ end }}
allocatable: {cpu: 1k, memory: 1Ti, pods: 1M}
capacity: {cpu: 1k, memory: 1Ti, pods: 1M}
phase: Running
"""})
NODE_BEATS = stage(
    "beat", "Node", when=[(".status.phase", "In", "Running")], delay={"durationMilliseconds": 20000}, immediateNextStage=True,
    next={"statusTemplate": "conditions:\n- {type: Ready, status: 'True', lastHeartbeatTime: {{ Now | Quote }}}"})


async def test_a_node_lives_as_its_stages_say_and_takes_pods():
    """Given stages for nodes / then a new node is ready with their capacity, and the scheduler
    finds it fit.
    """
    async with cluster_with(NODE_UP, nodes=0, clock="auto") as cluster:
        await cluster.client.create(NODES, {"metadata": {"name": "big"}})
        await cluster.client.create(PODS, {"metadata": {"name": "p", "namespace": NAMESPACE}, "spec": {
            "containers": [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "900"}}}]}})

        async def runs():
            return (await status(cluster))["phase"] == "Running"

        await cluster.run_until(runs)
        node = await cluster.client.get(NODES, "big")
        assert node["status"]["capacity"]["pods"] == "1M"
        assert "taints" not in node["spec"]


async def test_a_heartbeat_goes_on_for_ever_and_pulls_no_time():
    """Given a heartbeat by stages and automatic time / then time stands still; when a day passes,
    it came at its end.
    """
    async with cluster_with(NODE_UP, NODE_BEATS, nodes=0, clock="auto") as cluster:
        await cluster.client.create(NODES, {"metadata": {"name": "n"}})
        await cluster.settle()
        before = cluster.clock.time()
        await cluster.settle()
        assert cluster.clock.time() - before <= 20
        await cluster.advance(86_400)
        ready = meta.find_condition(await cluster.client.get(NODES, "n"), "Ready")
        assert ready["lastHeartbeatTime"] >= "2026-01-01T23:59"


@pytest.mark.parametrize(("options", "staged"), [
    ({"manageAllNodes": True}, True), ({"manageSingleNode": "node-0"}, True), ({"manageSingleNode": "other"}, False),
    ({"manageNodesWithLabelSelector": "kubernetes.io/os=linux"}, True),
    ({"manageNodesWithAnnotationSelector": "kwok.x-k8s.io/node=fake"}, False),
    ({"manageAllNodes": True, "disregardStatusWithLabelSelector": "leave=alone"}, None),
])
async def test_a_configuration_says_which_nodes_stages_are_for(options, staged):
    """Given a KwokConfiguration / then stages are for its nodes; other pods are the kubelet's, or
    nobody's.
    """
    configuration = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration", "options": options}
    async with cluster_with(START, configuration) as cluster:
        await create(cluster, labels={"leave": "alone"})
        at_once = (await status(cluster)).get("phase")
        await cluster.advance(2)
        later = (await status(cluster))["phase"]
        expected = {True: ("Running", "Running"), False: ("Pending", "Running"), None: ("Pending", "Pending")}
        assert (at_once, later) == expected[staged]


async def test_a_template_that_does_not_fit_is_told_of():
    """Given a template that looks for what is not there / then an Event of the pod tells stage,
    line and complaint.
    """
    bad = stage("bad", when=[ALIVE], next={"statusTemplate": "a: b\nc: {{ index .spec.containers 7 }}"})
    async with cluster_with(bad) as cluster:
        await create(cluster)
        assert ("StageFailed", 'Stage "bad" cannot be played: line 2: list index out of range') in await events(cluster)


@pytest.mark.parametrize(("change", "text"), [
    ({"apiVersion": "kwok.x-k8s.io/v1"}, "apiVersion: 'kwok.x-k8s.io/v1' is not kwok.x-k8s.io/v1alpha1"),
    ({"spec": {"resourceRef": {"kind": "Job"}}}, "spec.resourceRef.kind: 'Job' is not supported"),
    ({"spec": {"selector": None}}, "spec.selector: is missing"),
    ({"spec": {"selector": {"matchExpressions": [{"key": ".a", "operator": "Is"}]}}},
     "spec.selector.matchExpressions[0].operator: 'Is' is none of In, NotIn, Exists, DoesNotExist"),
    ({"spec": {"selector": {"matchExpressions": [{"key": ".a |", "operator": "Exists"}]}}},
     "spec.selector.matchExpressions[0].key: syntax error"),
    ({"spec": {"selector": {"matchExpressions": [{"key": ".a", "operator": "In"}]}}},
     "spec.selector.matchExpressions[0].values: must be given with In"),
    ({"spec": {"selector": {"matchExpressions": [{"cel": {"expression": "true"}}]}}},
     "spec.selector.matchExpressions[0].cel: CEL is not supported"),
    ({"spec": {"weight": -1}}, "spec.weight: -1 is no whole number of at least 0"),
    ({"spec": {"delay": {"durationMilliseconds": "5s"}}}, "spec.delay.durationMilliseconds: '5s' is no whole number"),
    ({"spec": {"delay": {"duration": 5}}}, "spec.delay.duration: is not known"),
    ({"spec": {"next": {"statusTemplate": "{{ if }}"}}}, "spec.next.statusTemplate: line 1: a value is missing"),
    ({"spec": {"next": {"event": {"type": "Error"}}}}, "spec.next.event.type: 'Error' is neither Normal nor Warning"),
    ({"spec": {"next": None}}, "spec.next: is missing"),
])
async def test_a_stage_that_cannot_be_meant_is_refused_and_nothing_is_changed(tmp_path, change, text):
    """Given a file with a good stage, a bad one and a pod / when it is loaded / then the file, the
    stage and the field are named, the pod is not created, and no stage counts.
    """
    bad = copy.deepcopy(START)
    bad["metadata"]["name"] = "bad"
    bad |= {key: value for key, value in change.items() if key != "spec"}
    bad["spec"] |= change.get("spec", {})
    file = tmp_path / "stages.yaml"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "from-file", "namespace": NAMESPACE}, "spec": {
        "containers": [{"name": "main", "image": "busybox"}]}}
    file.write_text(yaml.safe_dump_all([START, bad, pod]))
    async with Cluster(nodes=1, clock="manual") as cluster:
        with pytest.raises(OptionError) as refused:
            await cluster.load(file)
        assert str(refused.value).startswith(f'{file}: Stage "bad": {text}')
        assert await cluster.client.get(PODS, "from-file", NAMESPACE, missing_ok=True) is None
        await create(cluster)
        assert (await status(cluster))["phase"] == "Pending"


async def test_other_kinds_of_kwoks_are_refused():
    """Given KWOK's Logs, and Stages where no kubelet runs / then each is refused with a reason."""
    async with Cluster(nodes=0, clock="manual") as cluster:
        with pytest.raises(OptionError, match="KWOK's Logs is not supported: only Stage and KwokConfiguration are"):
            await cluster.load([{"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Logs", "metadata": {"name": "a"}}])
    async with Cluster(nodes=0, clock="manual", controllers="namespace") as cluster:
        with pytest.raises(OptionError, match="Stages are for the kubelet, and none runs here"):
            await cluster.load([START])


async def test_stages_are_known_to_the_next_kubelet_too():
    """Given stages / when the kubelet is stopped and started / then they count as before."""
    async with cluster_with(START) as cluster:
        await cluster.manager.stop_component("kubelet")
        await cluster.manager.start_component("kubelet")
        await create(cluster)
        assert (await status(cluster))["phase"] == "Running"


@pytest.mark.parametrize("way", ["fork", "file", "restore"])
async def test_stages_live_on_in_snapshots(way):
    """Given a pod that a stage starts at some random second / when a cluster goes on from before
    that / then the pod starts when it would have, and a pod that comes later lives by the stages of
    then.
    """
    delayed, later = copy.deepcopy(START), copy.deepcopy(START)
    delayed["spec"]["delay"] = {"durationMilliseconds": 5000, "jitterDurationMilliseconds": 90_000}
    later["spec"]["delay"] = {"durationMilliseconds": 900_000}
    async with cluster_with(delayed) as cluster:
        await create(cluster)
        await cluster.advance(3)
        taken = cluster.snapshot()
        await cluster.advance(90)
        started = (await status(cluster))["startTime"]
        if way == "restore":
            await cluster.load([later])
            await cluster.restore(taken)
            assert await starts(cluster) == started
            return
        async with Cluster(state=decode(taken.encode()) if way == "file" else taken) as other:
            assert await starts(other) == started


async def starts(cluster):
    await create(cluster, "another")
    await cluster.advance(90)
    assert (await status(cluster, "another"))["phase"] == "Running"
    return (await status(cluster))["startTime"]
