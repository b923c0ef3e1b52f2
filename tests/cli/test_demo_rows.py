"""The rows of single stories, how their containers fare, and how they meet refusals."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos import cronjob, drain, flaky_operator, garbage_collection, node_failure, probes, stage, statefulset
from fakekube.client.resources import PODS, SECRETS
from fakekube.runtime.reconcile import Request

GOES: Tree = {"metadata": {"name": "a", "deletionTimestamp": "t"}}
OWNED: Tree = {"metadata": {"name": "a", "ownerReferences": [{"name": "b", "uid": "u", "controller": True}]}}

OF_SERVICE: Tree = {"metadata": {"labels": {"kubernetes.io/service-name": "web"}}}


def standing(kind: str, status: str) -> Tree:
    """An object with one condition."""
    return {"status": {"conditions": [{"type": kind, "status": status}]}}


ROWS: tuple[tuple[Callable[[Tree], tuple[str, ...]], Tree, tuple[str, ...]], ...] = (
    (cronjob.job_row, {}, ("a", "Active", "Job")),
    (cronjob.job_row, standing("Complete", "True"), ("a", "Complete", "Job")),
    (cronjob.job_row, standing("Failed", "True"), ("a", "Failed", "Job")),
    (cronjob.job_row, standing("Complete", "False"), ("a", "Active", "Job")),
    (drain.node_row, {}, ("a", "NotReady", "", "(node)")),
    (drain.node_row, standing("Ready", "True"), ("a", "Ready", "", "(node)")),
    (drain.node_row, {**standing("Ready", "True"), "spec": {"unschedulable": True}},
     ("a", "Ready,SchedulingDisabled", "", "(node)")),
    (drain.node_row, {"spec": {"unschedulable": True}}, ("a", "NotReady,SchedulingDisabled", "", "(node)")),
    (node_failure.node_row, {}, ("a", "Unknown", "", "(node)")),
    (node_failure.node_row, standing("Ready", "True"), ("a", "Ready", "", "(node)")),
    (node_failure.node_row, standing("Ready", "False"), ("a", "NotReady", "", "(node)")),
    (node_failure.node_row, standing("Ready", "Unknown"), ("a", "Unknown", "", "(node)")),
    (statefulset.claim_row, {}, ("a", "Pending", "", "(claim)")),
    (statefulset.claim_row, {"status": {"phase": "Bound"}}, ("a", "Bound", "", "(claim)")),
    (garbage_collection.row_of("Pod"), {}, ("a", "Pod", "exists", "nobody")),
    (garbage_collection.row_of("Pod"), {"status": {"phase": "Running"}, **OWNED}, ("a", "Pod", "Running", "b")),
    (garbage_collection.row_of("ReplicaSet"), GOES, ("a", "ReplicaSet", "Terminating", "nobody")),
    (probes.restarts_row, {"spec": {}}, ("a", "Pod", "Pending", "no", "0")),
    (probes.restarts_row, {"spec": {}, "status": {"phase": "Running", "containerStatuses": [{"restartCount": 2}]}},
     ("a", "Pod", "Running", "no", "2")),
    (probes.service_row, OF_SERVICE, ("web", "Service", "to nobody", "", "")),
    (probes.service_row, {**OF_SERVICE, "endpoints": [
        {"targetRef": {"name": name}, "conditions": {"ready": ready}}
        for name, ready in (("c", True), ("b", True), ("d", False), ("e", None))]},
     ("web", "Service", "to b, c", "", "")),
)


@pytest.mark.parametrize(("row", "obj", "cells"), ROWS)
def test_rows(row: Callable[[Tree], tuple[str, ...]], obj: Tree, cells: tuple[str, ...]) -> None:
    """Given an object, also one that nobody has looked at yet, when a story shows it, then its row
    is so.
    """
    assert row({"metadata": {"name": "a"}, **obj}) == cells


def test_what_is_told_unless_a_story_says_otherwise() -> None:
    """Given a story, when it says nothing of Events, then these four are told."""
    assert stage.Story.told == {
        "SuccessfulCreate": "the controller makes a pod", "Scheduled": "the scheduler picks a node",
        "Started": "the kubelet starts the container", "SuccessfulDelete": "a pod is deleted"}


def test_how_containers_fare() -> None:
    """Given stories, when their containers run, then the first of a Job fails, the second of a
    CronJob takes long, and what is in trouble is so in its first run alone.
    """
    job, report, probed = (stage.story_of(name) for name in ("job", "cronjob", "probes"))
    pods = [{"metadata": {"name": "p", "uid": uid}} for uid in "ab"]
    fails, succeeds = {"run-duration": "2s", "exit-code": "1"}, {"run-duration": "14s", "exit-code": "0"}
    assert [job.outcome(pod, 0, "main") for pod in (pods[0], pods[1], pods[0])] == [fails, succeeds, fails]
    assert [report.outcome(pods[0], 0, "main") for _ in range(3)] == [
        {"run-duration": "10s"}, {"run-duration": "90s"}, {"run-duration": "10s"}]
    assert {name: [probed.outcome({"metadata": {"name": name}}, attempt, "main") for attempt in (0, 1, 2)] for name in (
        "slow", "busy", "stuck")} == {
            "slow": [{"started-after": "22s"}, {}, {}], "busy": [{"ready-after": "0s", "unready-after": "20s"}, {}, {}],
            "stuck": [{"unhealthy-after": "20s"}, {}, {}]}


@pytest.mark.parametrize(("made", "text"), [
    (["books", "fruit", "shoes"], ""), (["shoes", "books", "fruit"], ""), (["books", "fruit"], "a shop has no Secret"),
    (["fruit", "shoes"], "a shop has no Secret"), ([], "a shop has no Secret"),
    (["books", "fruit", "shoes", "toys"], "a shop has no Secret")])
async def test_the_verdict_on_shops(made: list[str], text: str) -> None:
    """Given Secrets, when the verdict is asked for, then it is good if they are those of the shops.
    """
    async def listing(resource: object, namespace: str) -> Any:
        assert (resource, namespace) == (SECRETS, "default")
        return SimpleNamespace(items=[{"metadata": {"name": name}} for name in made])

    cluster: Any = SimpleNamespace(client=SimpleNamespace(list=listing))
    assert await flaky_operator.verdict(cluster) == text


@pytest.mark.parametrize(("make", "cached", "created"), [
    (flaky_operator.Shops, {PODS}, []), (flaky_operator.Shops, {SECRETS}, [PODS, SECRETS]),
    (flaky_operator.Shops, set(), [PODS, SECRETS]), (flaky_operator.MendedShops, {PODS}, [PODS, SECRETS]),
    (flaky_operator.MendedShops, {SECRETS}, []), (flaky_operator.MendedShops, set(), [PODS, SECRETS])])
async def test_what_the_operator_of_shops_does(make: type[flaky_operator.Shops], cached: set[Any], created: list[Any]) -> None:
    """Given a shop, when its operator looks at it, then the faulty one takes the Pod for all, the
    mended one the Secret; what is there already is no error, another refusal is.
    """
    done: list[Any] = []
    reason = "AlreadyExists"

    async def create(resource: Any, body: Tree, namespace: str) -> None:
        assert (body["metadata"], namespace) == ({"name": "a"}, "n")
        done.append(resource)
        raise APIError(409, reason, "refused")

    context: Any = SimpleNamespace(client=SimpleNamespace(create=create), lister=lambda resource: SimpleNamespace(
        get=lambda namespace, name: {} if (namespace, name) == ("n", "a") and resource in cached else None))
    await make(context).reconcile(Request("n", "a"))
    assert done == created
    reason = "Forbidden"
    if created:
        with pytest.raises(APIError, match="refused"):
            await make(context).reconcile(Request("n", "a"))


async def test_an_eviction_is_asked_for_again() -> None:
    """Given a budget that forbids it twice, when a pod is evicted, then each refusal is told, five
    seconds pass, and it is asked again; another error is raised.
    """
    done: list[Any] = []
    answers: list[APIError | None] = [APIError(429, "TooManyRequests", "Not now."), APIError(429, "TooManyRequests", "No."), None]

    async def evict(pod: str, namespace: str) -> None:
        done.append((pod, namespace))
        if (answer := answers.pop(0)) is not None:
            raise answer

    async def pass_seconds(seconds: float) -> None:
        done.append(seconds)

    story: Any = stage.story_of("drain")
    story.cluster = SimpleNamespace(client=SimpleNamespace(evict=evict))
    story.table, story.pass_seconds = SimpleNamespace(note=done.append), pass_seconds
    await story._evict("p")
    assert done == [
        ("p", "default"), "429 for p: Not now. Again in 5 s.", 5, ("p", "default"), "429 for p: No. Again in 5 s.", 5,
        ("p", "default"), "evicted: p"]
    answers[:] = [APIError(404, "NotFound", "gone")]
    with pytest.raises(APIError, match="gone"):
        await story._evict("p")
