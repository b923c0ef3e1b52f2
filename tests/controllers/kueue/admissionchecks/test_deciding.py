"""An admission check that a function decides."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.admissionchecks.deciding import Answer, Decision, admission_check
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, CLUSTER_QUEUES, WORKLOADS
from tests.controllers.kueue.core.world import World


@asynccontextmanager
async def deciding(decide: Callable[[ReadOnlyTree], Any]) -> AsyncIterator[World]:
    """Queues with the check ``budget``, and a Workload."""
    extra = [addon(), admission_check("budget", decide=decide)]
    async with Cluster(nodes=0, controllers="", clock="manual", extra=extra) as cluster:
        of = World(cluster)
        await of.queues(admissionChecksStrategy={"admissionChecks": [{"name": "budget"}]})
        await of.workload("w")
        await cluster.settle()
        yield of


async def check_of(of: World) -> Tree:
    [check] = (await of.get(WORKLOADS, "w"))["status"]["admissionChecks"]
    found: Tree = check
    return found


async def test_it_is_active_and_lets_a_workload_in() -> None:
    """Given a function that says Ready with a node selector, when a Workload has quota, then it is
    admitted, and the check is active.
    """
    seen: list[str] = []

    def decide(workload: ReadOnlyTree) -> Answer:
        seen.append(workload["status"]["admission"]["clusterQueue"])
        return Decision("Ready", "enough left", [{"name": "main", "nodeSelector": {"a": "b"}}])

    async with deciding(decide) as of:
        assert await of.condition(CLUSTER_QUEUES, "cq", "Active") == ("True", "Ready", "Can admit new workloads")
        check = await of.get(ADMISSION_CHECKS, "budget")
        assert meta.is_condition_true(check, "Active")
        assert check["spec"]["controllerName"] == "fakekube.dev/budget"
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"
        found = await check_of(of)
        assert (found["state"], found["message"], found["podSetUpdates"]) == (
            "Ready", "enough left", [{"name": "main", "nodeSelector": {"a": "b"}}])
        assert seen == ["cq"]


async def test_it_may_say_not_yet() -> None:
    """Given a function that says None, then the Workload waits, and is asked about again as time
    goes by; an async one is awaited.
    """
    answers: list[Answer] = [None, None, None]

    async def decide(_: ReadOnlyTree) -> Answer:
        return answers.pop(0) if answers else "Ready"

    async with deciding(decide) as of:
        assert await of.condition(WORKLOADS, "w", "Admitted") is None
        await of.cluster.advance("5s")
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"


async def test_it_may_reject_and_ask_for_another_try() -> None:
    """Given a function that says Retry and then Rejected, then the Workload is evicted, and
    deactivated.
    """
    async with deciding(lambda _: Decision("Retry", "later")) as of:
        assert await of.condition(WORKLOADS, "w", "Evicted") == (
            "True", "AdmissionCheck", 'Evicted due to AdmissionCheck in Retry state: "budget" (later)')
        assert (await check_of(of))["retryCount"] == 1
    async with deciding(lambda _: "Rejected") as of:
        assert (await of.condition(WORKLOADS, "w", "Evicted") or ("", ""))[1] == "DeactivatedDueToAdmissionCheck"


@pytest.mark.parametrize("answer", ["Yes", Decision("Later")])  # type: ignore[arg-type]
async def test_what_is_no_state_is_told(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Given a function that answers nonsense, then the Workload waits, and the log says why."""
    async with deciding(lambda _: answer) as of:
        assert (await check_of(of))["state"] == "Pending"
    assert "the states are Pending, Ready, Retry, Rejected" in caplog.text


async def test_a_function_that_raises_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    """Given a function that raises once, then the Workload is admitted a moment later."""
    raised: list[bool] = []

    def decide(_: ReadOnlyTree) -> Answer:
        if not raised:
            raised.append(True)
            raise LookupError("no such budget")
        return "Ready"

    async with deciding(decide) as of:
        await of.cluster.advance("1s")
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"
    assert "no such budget" in caplog.text
