"""What is said of pods and Jobs to somebody whose test has failed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, JOBS, PODS
from fakekube.composition import reasons
from fakekube.testing import HistoryError, assert_event, eventually, explain, run_until
from fakekube.testing.history import History
from fakekube.util.driver import Stalled

SPEC = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}
BIG = {"containers": [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1000"}}}]}
REFUSED = "pod default/p is not scheduled: FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu."


def metadata(name: str, **outcome: str) -> dict[str, Any]:
    annotations = {f"fakekube.dev/{key.replace('_', '-')}": value for key, value in outcome.items()}
    return {"name": name, "namespace": "default", "annotations": annotations}


def pod(name: str = "p", spec: dict[str, Any] | None = None, **outcome: str) -> dict[str, Any]:
    return {"metadata": metadata(name, **outcome), "spec": {**SPEC, **(spec or {})}}


def job(name: str, spec: dict[str, Any] | None = None, **outcome: str) -> dict[str, Any]:
    template = {"metadata": {"annotations": metadata(name, **outcome)["annotations"]}, "spec": SPEC}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {**(spec or {}), "template": template}}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(clock="manual") as cluster:
        yield cluster


@pytest.mark.parametrize(("made", "text"), [
    (pod(spec=BIG), REFUSED),
    (pod(spec={"schedulingGates": [{"name": "wait"}]}), "pod default/p is not scheduled: SchedulingGated: Scheduling is blocked"),
    (pod(spec={"schedulerName": "other"}), "pod default/p is not scheduled: no scheduler has looked at it"),
    (pod(exit_codes="3"), "pod default/p has failed: container main: Error, exit code 3"),
    (pod(image_pull="fail"), "pod default/p is Pending: container main: ImagePullBackOff: Back-off pulling image"),
    (pod(spec={"restartPolicy": "Always"}, exit_codes="3"), "pod default/p is Running: container main: CrashLoopBackOff: back-"),
    (pod(spec={"activeDeadlineSeconds": 5}, run_duration="1h"), "pod default/p has failed: DeadlineExceeded: "),
])
async def test_a_pod_that_is_not_well_is_told_with_its_reason(cluster: Cluster, made: dict[str, Any], text: str) -> None:
    """Given a pod that cannot be scheduled, start or succeed, when its reason is asked for, then it
    is one line, in the words of who refused it.
    """
    await cluster.client.create(PODS, made)
    await cluster.advance("1m")
    (line,) = reasons.lines(cluster.apiserver.storage)
    assert line.startswith(text)


async def test_a_pod_that_is_well_is_not_told(cluster: Cluster) -> None:
    """Given a pod that runs and one that has succeeded, when reasons are asked for, then there are
    none.
    """
    await cluster.client.create(PODS, pod("runs", run_duration="1h"))
    await cluster.client.create(PODS, pod("ends"))
    await cluster.advance("1m")
    assert reasons.lines(cluster.apiserver.storage) == []


async def test_of_a_job_its_conditions_are_told(cluster: Cluster) -> None:
    """Given Jobs that are failed, complete, suspended and at work, when they are told, then each by
    its conditions, without those that another one repeats; the pods that failed alike are one line.
    """
    await cluster.client.create(JOBS, job("a-failed", {"backoffLimit": 1}, exit_codes="2"))
    await cluster.client.create(JOBS, job("b-done"))
    await cluster.client.create(JOBS, job("c-suspended", {"suspend": True}))
    await cluster.client.create(JOBS, job("d-works", run_duration="1h"))
    await cluster.advance("5m")
    failed, *jobs = reasons.lines(cluster.apiserver.storage)
    assert failed.endswith(" and 1 more has failed: container main: Error, exit code 2")
    assert jobs == [
        "job default/a-failed is Failed: BackoffLimitExceeded: Job has reached the specified backoff limit",
        "job default/b-done is Complete: CompletionsReached: Reached expected number of succeeded pods",
        "job default/c-suspended is Suspended: JobSuspended: Job suspended",
        "job default/d-works has no condition yet: 1 active, 1 ready, 0 succeeded, 0 failed pods"]


async def test_there_is_an_end_to_what_is_told(cluster: Cluster) -> None:
    """Given more pods than anybody reads, each with a message of its own, when they are told, then
    the rest is counted.
    """
    for number in range(reasons.MAX_LINES + 3):
        await cluster.client.create(PODS, pod(f"p{number:02}", exit_codes=str(number + 1)))
    await cluster.advance("1m")
    *told, rest = reasons.lines(cluster.apiserver.storage)
    assert (len(told), rest) == (reasons.MAX_LINES, "and 3 more")


async def test_a_wait_in_vain_says_why_first(cluster: Cluster) -> None:
    """Given a pod that no node takes, when something is waited for in vain, then the first line
    after the predicate is why; with the writes and Events that led there, when a state was waited
    for, it is said once.
    """
    await cluster.client.create(PODS, pod(spec=BIG))
    with pytest.raises(Stalled) as caught:
        await cluster.run_until(lambda: False)
    assert str(caught.value).splitlines()[1].startswith(f"  {REFUSED}")
    with pytest.raises(Stalled) as caught:
        await run_until(cluster, lambda state: state.get(PODS, "other"))
    assert str(caught.value).count(REFUSED) == 1
    assert str(caught.value).count("FailedScheduling") == 1


async def test_a_claim_that_is_false_says_why(cluster: Cluster) -> None:
    """Given a pod that failed, when it is claimed to have succeeded, and when an Event is missed,
    then reasons, Events and writes with their fields are told, each once.
    """
    await cluster.client.create(PODS, pod(exit_codes="3"))
    await cluster.advance("1m")
    with pytest.raises(HistoryError) as caught:
        eventually(cluster, lambda state: state.field(PODS, "p", "status.phase") == "Succeeded")
    text = str(caught.value)
    for part in (
        "  pod default/p has failed: container main: Error, exit code 3\n",
        "  +0s Normal Scheduled pod default/p: Successfully assigned default/p to node-0\n",
        "ADDED pods default/p  POST /api/v1/namespaces/default/pods  by fakekube as kubernetes-admin\n",
        '      spec.nodeName: (none) -> "node-0"\n', '      status.phase: "Running" -> "Failed"\n',
    ):
        assert text.count(part) == 1, (part, text)
    assert ".lastTransitionTime: " not in text
    assert "events" not in text
    with pytest.raises(HistoryError, match=r"(?s)no Event with reason 'Nothing'.*\+0s Normal Scheduled pod default/p: "):
        assert_event(cluster, reason="Nothing")


async def test_what_was_said_is_not_said_again(cluster: Cluster) -> None:
    """Given the text of an explanation, when it is explained once more to who has read that, then
    nothing is left to say.
    """
    await cluster.client.create(PODS, pod(exit_codes="3"))
    await cluster.advance("1m")
    history = History.of(cluster)
    text = "\n".join(explain.explanation(history))
    assert list(explain.explanation(history, told=text)) == []
    assert next(explain.explanation(history, told=text.replace("exit code 3", ""))) == "what is said of pods and Jobs:"


async def test_what_the_server_makes_by_itself_is_nobodys_request(cluster: Cluster) -> None:
    """Given objects that the server stores when their resource is first needed, when the history
    tells of them, then it is by the server itself, and the request that came first is told of what
    it wrote.
    """
    await cluster.client.create(PODS, pod())
    await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "c", "namespace": "default"}})
    history = History.of(cluster)
    lines = {change.name: explain.line(history, change) for change in history.changes if change.type == "ADDED"}
    assert lines["priorityclasses.scheduling.k8s.io system-node-critical"].endswith("  by the server itself")
    assert "POST /api/v1/namespaces/default/pods  by fakekube" in lines["pods default/p"]
    assert "POST /api/v1/namespaces/default/configmaps  by fakekube" in lines["configmaps default/c"]


async def test_warnings_are_told_that_nothing_else_tells_and_daemon_timers_are_counted(cluster: Cluster) -> None:
    """Given a container that is not healthy, and a pod that has succeeded, when something is waited
    for in vain, then warnings are told once, nothing is told of the pod, and daemon timers have one
    line.
    """
    await cluster.client.create(PODS, pod("fine"))
    await cluster.client.create(PODS, pod("loop", {"restartPolicy": "Always"}, exit_codes="3"))
    await cluster.client.create(PODS, pod("big", BIG))
    with pytest.raises(Stalled) as caught:
        await cluster.run_until(lambda: False, within="10m")
    lines = [line.strip() for line in str(caught.value).splitlines()]
    assert sum(line.startswith("event BackOff about Pod default/loop: ") for line in lines) == 1
    assert not any("default/fine" in line or line.startswith("event FailedScheduling") for line in lines)
    assert sum("daemon timer" in line for line in lines) == 1
