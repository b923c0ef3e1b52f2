"""Nodes are asked for before a Workload is admitted; a function plays the autoscaler."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fakekube import Cluster
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import POD_TEMPLATES
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.admissionchecks.autoscaler import Answer, Verdict, autoscaler
from fakekube_controllers.kueue.admissionchecks.provisioning_requests import PROVISIONING_REQUESTS
from fakekube_controllers.kueue.names import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    PROVISIONING_REQUEST_CONFIGS,
    PROVISIONING_REQUEST_CONTROLLER_NAME,
    RESOURCE_FLAVORS,
    WORKLOADS,
)
from tests.controllers.kueue.core.world import NAMESPACE, World, cluster_queue

CONFIG: Tree = {"provisioningClassName": "check-capacity.autoscaling.x-k8s.io", "parameters": {"a": "1"}}
PARAMETERS = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "config"}


@asynccontextmanager
async def provisioning(decide: Callable[[ReadOnlyTree], Any], **config: Any) -> AsyncIterator[World]:
    """Queues with a check of that kind, and a Workload of two pods."""
    async with Cluster(nodes=0, controllers="", clock="manual", extra=[addon(), autoscaler(decide)]) as cluster:
        of = World(cluster)
        check = {"controllerName": PROVISIONING_REQUEST_CONTROLLER_NAME, "parameters": PARAMETERS}
        await of.create(ADMISSION_CHECKS, "prov", check)
        await cluster.settle()
        assert await of.condition(ADMISSION_CHECKS, "prov", "Active") == (
            "False", "BadParametersRef", 'ProvisioningRequestConfig.kueue.x-k8s.io "config" not found')
        await of.create(PROVISIONING_REQUEST_CONFIGS, "config", {**CONFIG, **config})
        await of.create(RESOURCE_FLAVORS, "f", {"nodeLabels": {"pool": "gpu"}})
        strategy = {"admissionChecks": [{"name": "prov"}]}
        await of.create(CLUSTER_QUEUES, "cq", cluster_queue({"f": "5"}, admissionChecksStrategy=strategy))
        await of.create(LOCAL_QUEUES, "q", {"clusterQueue": "cq"})
        await cluster.advance("2s")
        await of.workload("w", count=2)
        await cluster.settle()
        yield of


async def state_of(of: World) -> Tree:
    [check] = (await of.get(WORKLOADS, "w"))["status"]["admissionChecks"]
    found: Tree = check
    return found


async def asked(of: World) -> list[Tree]:
    return [*(await of.client.list(PROVISIONING_REQUESTS, NAMESPACE)).items]


async def test_nodes_are_asked_for_and_come() -> None:
    """Given an autoscaler that first accepts, when it has nodes, then the Workload is admitted, and
    its pods will go to these nodes; the request names a template with the flavor's labels.
    """
    answers: list[Answer] = [Verdict("Accepted", "soon")]
    update = {"nodeSelector": [{"key": "node-group", "valueFromProvisioningClassDetail": "group"}]}
    async with provisioning(lambda _: answers[-1], podSetUpdates=update) as of:
        [request] = await asked(of)
        assert request["metadata"]["name"] == "w-prov-1"
        assert request["spec"] == {**CONFIG, "podSets": [{"podTemplateRef": {"name": "ppt-w-prov-1-main"}, "count": 2}]}
        template = await of.client.get(POD_TEMPLATES, "ppt-w-prov-1-main", NAMESPACE)
        assert template["template"]["spec"]["nodeSelector"] == {"pool": "gpu"}
        assert [owner["kind"] for owner in template["metadata"]["ownerReferences"]] == ["ProvisioningRequest"]
        assert await of.condition(WORKLOADS, "w", "Admitted") is None
        answers.append(Verdict("Provisioned", "here they are", {"group": "g1"}))
        await of.cluster.advance("2s")
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"
        state = await state_of(of)
        assert (state["state"], state["message"]) == ("Ready", "here they are")
        assert state["podSetUpdates"] == [{
            "name": "main", "nodeSelector": {"node-group": "g1"}, "annotations": {
                "autoscaling.x-k8s.io/consume-provisioning-request": "w-prov-1",
                "autoscaling.x-k8s.io/provisioning-class-name": "check-capacity.autoscaling.x-k8s.io"}}]
        events = await of.events("w")
        assert ("ProvisioningRequestCreated", 'Created ProvisioningRequest: "w-prov-1"') in events
        message = "Admission check prov updated state from Pending to Ready with message: here they are"
        assert ("AdmissionCheckUpdated", message) in events


async def test_what_fails_is_tried_again_and_then_given_up() -> None:
    """Given an autoscaler that fails, and one try more, then the Workload is asked for again a
    minute later, and rejected after that.
    """
    strategy = {"backoffLimitCount": 1, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800}
    async with provisioning(lambda _: Verdict("Failed", "no nodes"), retryStrategy=strategy) as of:
        state = await state_of(of)
        assert (state["state"], state["message"], state["requeueAfterSeconds"]) == (
            "Retry", "Retrying after failure: no nodes", 60)
        assert [each["metadata"]["name"] for each in await asked(of)] == ["w-prov-1"]
        await of.cluster.advance("61s")
        assert (await of.condition(WORKLOADS, "w", "Evicted") or ("", ""))[1] == "AdmissionCheck"
        assert (await state_of(of))["retryCount"] == 1
        assert await asked(of) == []


async def test_what_is_gone_again_deactivates() -> None:
    """Given nodes that were there, when they are taken away, then the Workload is deactivated."""
    answers: list[Answer] = ["Provisioned"]
    async with provisioning(lambda _: answers[-1]) as of:
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"
        answers.append(Verdict("CapacityRevoked", "spot"))
        [request] = await asked(of)
        await of.client.patch(PROVISIONING_REQUESTS, request["metadata"]["name"], NAMESPACE, {"metadata": {"labels": {"x": "y"}}})
        await of.cluster.advance("1s")
        assert (await of.condition(WORKLOADS, "w", "Evicted") or ("", ""))[1] == "DeactivatedDueToAdmissionCheck"


async def test_resources_that_need_no_nodes() -> None:
    """Given a config for another resource, then nothing is asked for, and the check is Ready."""
    async with provisioning(lambda _: None, managedResources=["example.com/gpu"]) as of:
        assert await asked(of) == []
        assert (await state_of(of))["message"] == "the provisioning request is not needed"
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"
