"""What becomes of requests for nodes that end badly, cannot be made, or whose check is not active.
"""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import POD_TEMPLATES
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.admissionchecks import provisioning
from fakekube_controllers.kueue.admissionchecks.autoscaler import Answer, Verdict, autoscaler
from fakekube_controllers.kueue.admissionchecks.deciding import admission_check
from fakekube_controllers.kueue.admissionchecks.provisioning_requests import PROVISIONING_REQUESTS
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, PROVISIONING_REQUEST_CONFIGS, WORKLOADS
from tests.controllers.kueue.admissionchecks import test_provisioning as plays
from tests.controllers.kueue.core.world import NAMESPACE, World

GROUP, KIND, BAD = "kueue.x-k8s.io", "ProvisioningRequestConfig", "bad parameters reference"


async def told(of: World) -> tuple[str, str]:
    """State and message of the check."""
    state = await plays.state_of(of)
    return state["state"], state["message"]


async def names_of_requests(of: World) -> list[str]:
    """The requests that there are."""
    return [each["metadata"]["name"] for each in await plays.asked(of)]


@pytest.mark.parametrize(("parameters", "wanted"), [
    (None, ("", "missing parameters reference")),
    ({"apiGroup": GROUP, "kind": KIND, "name": "c"}, ("c", "")),
    ({"apiGroup": GROUP, "kind": KIND}, ("", f"empty name: {BAD}")),
    ({"apiGroup": GROUP, "kind": KIND, "name": ""}, ("", f"empty name: {BAD}")),
    ({"apiGroup": "g", "kind": "k", "name": "c"}, ("", f'wrong group "g", expecting "{GROUP}": {BAD}')),
    ({"kind": KIND, "name": "c"}, ("", f'wrong group "", expecting "{GROUP}": {BAD}')),
    ({"apiGroup": GROUP, "kind": "k", "name": "c"}, ("", f'wrong kind "k", expecting "{KIND}": {BAD}')),
    ({"apiGroup": GROUP, "name": "c"}, ("", f'wrong kind "", expecting "{KIND}": {BAD}')),
])
def test_a_check_names_its_config(parameters: Tree | None, wanted: tuple[str, str]) -> None:
    """Given a check with parameters, when its config is asked for, then it is the one of that name
    if group and kind are those of configs, and else it is said what is wrong.
    """
    spec: Tree = {} if parameters is None else {"parameters": parameters}
    assert provisioning.config_reference({"metadata": {"name": "p"}, "spec": spec}) == wanted


async def test_what_fails_more_often_than_it_may_is_rejected() -> None:
    """Given an autoscaler that fails, and no try more, when nodes are asked for, then the check is
    rejected with its words, and the Workload is deactivated.
    """
    strategy = {"backoffLimitCount": 0, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800}
    async with plays.provisioning(lambda _: Verdict("Failed", "no nodes"), retryStrategy=strategy) as of:
        message = "Admission check prov updated state from Pending to Rejected with message: no nodes"
        assert ("AdmissionCheckUpdated", message) in await of.events("w")
        assert (await of.condition(WORKLOADS, "w", "Evicted") or ("", ""))[1] == "DeactivatedDueToAdmissionCheck"


async def test_a_booking_that_expires_early_is_tried_again() -> None:
    """Given nodes that were booked, when the booking ends before the Workload is admitted, then the
    check asks for another try; once it is admitted nothing happens.
    """
    answers: list[Answer] = [Verdict("BookingExpired", "too late")]
    async with plays.provisioning(lambda _: answers[-1]) as of:
        assert await told(of) == ("Retry", "Retrying after booking expired: too late")
    answers.append("Provisioned")
    async with plays.provisioning(lambda _: answers[-1]) as of:
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"
        before = await plays.state_of(of)
        answers.append(Verdict("BookingExpired", "too late"))
        change = {"metadata": {"labels": {"x": "y"}}}
        await of.client.patch(PROVISIONING_REQUESTS, "w-prov-1", NAMESPACE, change)
        await of.cluster.advance("1s")
        assert await plays.state_of(of) == before
        assert (await of.condition(WORKLOADS, "w", "Admitted") or ("",))[0] == "True"


async def test_an_estimate_is_passed_on() -> None:
    """Given a request that was accepted, when the autoscaler says how long it will take, then the
    check says so.
    """
    async with plays.provisioning(lambda _: "Accepted") as of:
        assert await told(of) == ("Pending", "")
        [request] = await plays.asked(of)
        estimate = {
            "type": "Provisioned", "status": "False", "reason": "Wait", "message": "in ten minutes",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}
        request["status"]["conditions"].append(estimate)
        await of.client.update_status(PROVISIONING_REQUESTS, request)
        await of.cluster.settle()
        assert await told(of) == ("Pending", "in ten minutes")


async def test_a_check_without_its_config_is_not_active() -> None:
    """Given nodes that are asked for, when the config goes, then the check of the Workload says so,
    and its request goes; when the config is back, nodes are asked for again.
    """
    async with plays.provisioning(lambda _: "Accepted") as of:
        await of.client.delete(PROVISIONING_REQUEST_CONFIGS, "config")
        await of.cluster.settle()
        assert await told(of) == ("Pending", "the check is not active")
        assert await names_of_requests(of) == []
        assert await of.condition(ADMISSION_CHECKS, "prov", "Active") == (
            "False", "BadParametersRef", 'ProvisioningRequestConfig.kueue.x-k8s.io "config" not found')
        await of.create(PROVISIONING_REQUEST_CONFIGS, "config", plays.CONFIG)
        await of.cluster.settle()
        assert await names_of_requests(of) == ["w-prov-1"]
        assert await told(of) == ("Pending", "")


@pytest.mark.parametrize(("resources", "what"), [
    ("podtemplates", 'PodTemplate "ppt-w-prov-1-main"'),
    ("provisioningrequests.autoscaling.x-k8s.io", 'ProvisioningRequest "w-prov-1"'),
])
async def test_what_cannot_be_made_is_told(resources: str, what: str) -> None:
    """Given a server that takes no new templates or requests, when nodes are asked for, then an
    Event and the check tell of it, and when it takes them again the request is made.
    """
    async with plays.provisioning(lambda _: "Accepted") as of:
        await of.client.delete(WORKLOADS, "w", NAMESPACE)
        await of.cluster.advance("2s")
        for template in (await of.client.list(POD_TEMPLATES, NAMESPACE)).items:
            await of.client.delete(POD_TEMPLATES, template["metadata"]["name"], NAMESPACE)
        for name in await names_of_requests(of):
            await of.client.delete(PROVISIONING_REQUESTS, name, NAMESPACE)
        with of.cluster.faults.add(verbs="create", resources=resources, error="EtcdNoSpace"):
            await of.workload("w", count=2)
            await of.cluster.settle()
            text = f"Error creating {what}: etcdserver: mvcc: database space exceeded"
            assert await told(of) == ("Pending", text)
            assert ("FailedCreate", text) in await of.events("w")
            assert await names_of_requests(of) == []
        await of.cluster.advance("2m")
        assert await names_of_requests(of) == ["w-prov-1"]


async def test_an_autoscaler_answers_with_an_outcome(caplog: pytest.LogCaptureFixture) -> None:
    """Given an autoscaler that answers with a word that is none, when it is asked, then that is an
    error which says what it may be, and the request stays as it is.
    """
    answer: Any = "Perhaps"
    async with plays.provisioning(lambda _: answer) as of:
        [request] = await plays.asked(of)
        assert "status" not in request
    words = "Accepted, Provisioned, Failed, BookingExpired, CapacityRevoked"
    assert caplog.messages == [f"autoscaler: default/w-prov-1 failed: an autoscaler answered 'Perhaps': the outcomes are {words}"]


async def test_what_cannot_be_made_is_told_beside_other_checks() -> None:
    """Given a Kueue that writes merge patches, and two checks of a ClusterQueue, when a request for
    nodes cannot be made, then its check says so, and the other one stays.
    """
    features = Features(WorkloadRequestUseMergePatch=True)
    decided = admission_check("a", decide=lambda _: None)
    extra = [addon(Configuration(features=features)), autoscaler(lambda _: "Accepted"), decided]
    async with Cluster(nodes=0, controllers="", clock="manual", extra=extra) as of:
        world = World(of)
        await world.create(PROVISIONING_REQUEST_CONFIGS, "config", plays.CONFIG)
        await world.create(ADMISSION_CHECKS, "prov", {
            "controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": plays.PARAMETERS})
        with of.faults.add(verbs="create", resources="podtemplates", error="EtcdNoSpace"):
            await world.queues(admissionChecksStrategy={"admissionChecks": [{"name": "a"}, {"name": "prov"}]})
            await world.workload("w")
            await of.settle()
        checks = (await world.get(WORKLOADS, "w"))["status"]["admissionChecks"]
    assert [(each["name"], each["state"], each["message"]) for each in checks] == [
        ("a", "Pending", ""),
        ("prov", "Pending", (
            'Error creating PodTemplate "ppt-w-prov-1-main": etcdserver: mvcc: database space exceeded'))]
