"""What is left of pods that have ended: data, from which everything that is asked for later can be
told.
"""

from hypothesis import given
from hypothesis import strategies as st

from fakekube.client.resources import PODS
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods.packing import as_json, packed, restore, unpacked
from fakekube_controllers.kubelet.pods.runs import PodRuns, RunBuilder
from tests.controllers.kubelet.machine import NAMESPACE, container

BUILDER = RunBuilder(None, Defaults(), lambda *_: None, rules=True, quick=False)
ANNOTATIONS = {
    "exit-code": st.sampled_from(["0", "1", "3"]), "run-duration": st.sampled_from(["0s", "2s", "90s"]),
    "log": st.text(max_size=9), "message": st.text(max_size=9), "image-pull": st.sampled_from(["ok", "5s", "fail,ok"]),
    "ready-after": st.sampled_from(["0s", "1s", "never"]), "crash-loop": st.sampled_from(["1", "2"]),
    "ignore-sigterm": st.just("true"),
}


def pod_of(annotations=None, policy="Never", **spec):
    texts = {f"fakekube.dev/{name}": text for name, text in (annotations or {}).items()}
    return {"metadata": {"name": "p", "namespace": "default", "uid": "u", "annotations": texts}, "spec": {
        "restartPolicy": policy, "nodeName": "n", "containers": [{"name": "main", "image": "busybox"}], **spec}}


@given(
    st.fixed_dictionaries({}, optional=ANNOTATIONS), st.sampled_from(["Never", "OnFailure", "Always"]),
    st.lists(st.sampled_from(["setup", "other"]), max_size=2, unique=True), st.floats(0, 1000), st.booleans())
def test_a_packed_run_is_the_run(annotations, policy, init, seconds, failed):
    """Given any run at any moment, when it is packed and taken up by a run that was just built,
    then nothing tells the two apart but the last status, which is the pod's.
    """
    if annotations.get("exit-code") == "0":
        annotations.pop("crash-loop", None)
    pod = pod_of(annotations, policy, initContainers=[{"name": name, "image": "busybox"} for name in init])
    run = BUILDER.build(pod, 10.0, 2)
    run.advance(10.0 + seconds)
    if failed:
        run.fail(10.0 + seconds, "Evicted", "for a test", grace_seconds=3.0, disruption="for a test")
    run.status = {"phase": "Failed"}
    other = BUILDER.build(pod, 99.0, 0)
    restore(other, unpacked(packed(run)))
    run.status = None
    assert as_json(other) == as_json(run)
    assert (other.phase, other.advance(5000.0)) == (run.phase, run.advance(5000.0))


def test_a_run_that_has_ended_is_found_and_resumed():
    """Given a run that has ended, then it is built for who looks at it and stays data; when it is
    resumed, then it lives.
    """
    runs, pod = PodRuns(), pod_of({"log": "hello"})
    run = BUILDER.build(pod, 0.0, 0)
    runs.begin("u", run)
    run.advance(60.0)
    assert (run.finished, run.over) == (True, True)
    runs.end("u")
    assert (list(runs.live), "u" in runs, runs.has_ended("u")) == ([], True, True)
    runs.rebuild_with(lambda pod: BUILDER.build(pod, 60.0, 0))
    found = runs.find(pod)
    assert [line for _, line in found.apps[0].log] == ["hello"]
    assert list(runs.live) == []
    resumed = runs.resume(pod)
    assert (runs.live, runs.has_ended("u"), resumed.phase) == ({"u": resumed}, False, "Succeeded")


def test_another_kubelet_knows_the_runs_that_have_ended():
    """Given a run that lives and one that has ended, when another kubelet loads what the first
    dumped, then it knows both.
    """
    runs = PodRuns()
    for uid in ("lives", "ended"):
        runs.begin(uid, BUILDER.build(pod_of(), 0.0, 0))
    runs.live["ended"].advance(60.0)
    runs.end("ended")
    memory, other = runs.dump({}), PodRuns()
    runs.checkpoints.before_change("lives", runs.live["lives"])
    runs.live["lives"].advance(60.0)  # after the dump: not in it
    assert other.checkpoints.load(memory.__json__()) == {}
    phases = {}
    for uid in ("lives", "ended", "new"):
        run = BUILDER.build(pod_of(), 60.0, 0)
        other.begin(uid, run)
        phases[uid] = run.phase
    assert phases == {"lives": "Pending", "ended": "Succeeded", "new": "Pending"}
    assert [other.checkpoints.has_run(uid) for uid in ("lives", "ended", "new")] == [True, True, False]


def kubelet_of(machine):
    return machine.cluster.manager.component("kubelet")


async def test_the_logs_of_a_pod_that_has_ended_are_served(machine):
    """Given a container that was restarted and has ended for good, when time passes, then only data
    is left of its run, and its log and the one before are still there.
    """
    await machine.run(restart_policy="OnFailure", annotations={"exit-codes": "1,0", "log": "hello", "run-duration": "3s"})
    await machine.advance(60)
    runs = kubelet_of(machine).runs
    uid = (await machine.pod())["metadata"]["uid"]
    assert (list(runs.live), runs.has_ended(uid)) == ([], True)
    assert await machine.log() == "hello\n"
    assert await machine.log(query="previous=true") == "hello\n"
    assert list(runs.live) == []


async def test_what_somebody_writes_of_a_pod_that_has_ended_is_put_right(machine):
    """Given a pod that has ended, when somebody writes that its container is ready, then the
    kubelet says again how it ended; when it is deleted, then it goes.
    """
    await machine.run()
    await machine.advance(60)
    status = await machine.status()
    statuses = [{**status["containerStatuses"][0], "ready": True}]
    await machine.client.patch(PODS, "p", NAMESPACE, {"status": {"containerStatuses": statuses}}, subresource="status")
    await machine.advance(1)
    assert await machine.status() == status
    runs = kubelet_of(machine).runs
    assert list(runs.live) == []
    await machine.delete()
    await machine.advance(5)
    assert await machine.pod() is None
    assert (list(runs.live), runs.has_ended(status.get("uid", ""))) == ([], False)


async def test_a_label_on_a_pod_that_has_ended_is_no_work(machine):
    """Given a pod that has ended, when somebody labels it, then its kubelet does not look at it."""
    await machine.run(container("main", "sleep", "1"))
    await machine.advance(60)
    queue = kubelet_of(machine).parts.workers.queue
    before = queue.taken
    await machine.client.patch(PODS, "p", NAMESPACE, {"metadata": {"labels": {"a": "b"}}})
    await machine.advance(1)
    assert queue.taken == before
