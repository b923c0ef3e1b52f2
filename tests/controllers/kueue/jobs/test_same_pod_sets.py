"""When the podsets of a job and of its Workload are the same, and whose a Workload is."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import construction, matching, podsets_info
from fakekube_controllers.kueue.jobframework.job import UnretryableError
from fakekube_controllers.kueue.podset import InvalidPodSetUpdate
from tests.controllers.kueue.jobs.web import Web


def pod_set(count: int = 1, *, minimum: int | None = None, requests: Any = None, **spec: Any) -> Tree:
    """A podset of one container."""
    resources = {} if requests is None else {"resources": {"requests": requests}}
    made: Tree = {"name": "web", "count": count, "template": {"spec": {"containers": [{"name": "c", **resources}], **spec}}}
    return made if minimum is None else {**made, "minCount": minimum}


TOLERATES = [{"key": "k", "operator": "Exists"}]


@pytest.mark.parametrize(("one", "other", "wanted", "without_tolerations"), [
    ([], [], True, True),
    ([pod_set()], [], False, False),
    ([pod_set()], [pod_set(), pod_set()], False, False),
    ([pod_set()], [pod_set()], True, True),
    ([pod_set(1)], [pod_set(2)], False, False),
    ([pod_set(2, minimum=1)], [pod_set(2)], False, False),
    ([pod_set(requests={"cpu": "1"})], [pod_set(requests={"cpu": "1000m"})], True, True),
    ([pod_set(requests={"cpu": "1"})], [pod_set(requests={"cpu": 1})], True, True),
    ([pod_set(requests={"cpu": "1"})], [pod_set(requests={"cpu": "1001m"})], False, False),
    ([pod_set(requests={"cpu": "x"})], [pod_set(requests={"cpu": "x", "memory": ""})], True, True),
    ([pod_set(requests={"cpu": "x"})], [pod_set(requests={"cpu": "y"})], False, False),
    ([pod_set(requests={})], [pod_set()], True, True),
    ([pod_set(tolerations=TOLERATES)], [pod_set()], False, True),
    ([pod_set(tolerations=[])], [pod_set()], True, True),
    ([pod_set(initContainers=[{"name": "i"}])], [pod_set()], False, False),
    ([pod_set(nodeName="n")], [pod_set()], True, True),
])
def test_podsets_that_ask_for_the_same(one: list[Tree], other: list[Tree], wanted: bool, without_tolerations: bool) -> None:
    """Given two lists of podsets, when they are compared, then their sizes, containers and, if they
    count, tolerations decide; what is empty is as what is absent, and amounts are numbers.
    """
    for left, right in ((one, other), (other, one)):
        assert matching.same_pod_sets(left, right) is wanted
        assert matching.same_pod_sets(left, right, ignores_tolerations=True) is without_tolerations


class Framework:
    """Looks nothing up."""

    def __init__(self, **features: bool) -> None:
        self.features, self.client = Features(**features), None
        self.compared = self

    def flavor(self, _name: str) -> None:
        return None

    def get(self, _key: object) -> None:
        return None

    def put(self, _key: object, _value: object) -> None:
        return None


def workload(*, name: str = "j", uid: str = "u", seconds: int | None = None, controls: bool = True) -> Tree:
    """A Workload of a Web of one pod."""
    owner = {"apiVersion": "example.com/v1", "kind": "Web", "name": name, "uid": uid, "controller": controls}
    spec: Tree = {"podSets": [pod_set()]}
    if seconds is not None:
        spec["maximumExecutionTimeSeconds"] = seconds
    return {"metadata": {"name": "w", "namespace": "n", "ownerReferences": [owner]}, "spec": spec}


@pytest.mark.parametrize(("found", "gates", "wanted"), [
    (workload(), {}, True),
    (workload(controls=False), {}, False),
    (workload(name="other"), {}, False),
    (workload(uid="other"), {"FinishOrphanedWorkloads": True}, False),
    (workload(uid="other"), {"FinishOrphanedWorkloads": False}, True),
    (workload(), {"FinishOrphanedWorkloads": True}, True),
    (workload(seconds=5), {}, False),
])
async def test_whose_a_workload_is(found: Tree, gates: dict[str, bool], wanted: bool) -> None:
    """Given a job and a Workload, when they are held against each other, then the Workload is the
    job's if that controls it, also by its uid where that counts, and runs as long as it says.
    """
    framework: Any = Framework(**gates)
    job = Web(framework.features, {
        "metadata": {"name": "j", "namespace": "n", "uid": "u"},
        "spec": {"replicas": 1, "template": pod_set()["template"]}})
    assert await matching.equivalent_to_workload(framework, job, found) is wanted


def admitted(flavor: str = "", *, reserved: bool = True) -> Tree:
    """A Workload with quota of a flavor."""
    status = "True" if reserved else "False"
    return {**workload(), "status": {
        "conditions": [{"type": "QuotaReserved", "status": status}],
        "admission": {"clusterQueue": "cq", "podSetAssignments": [{
            "name": "web", "count": 1, "flavors": {"cpu": flavor} if flavor else {}}]}}}


def test_podsets_of_a_job_that_runs() -> None:
    """Given Workloads with quota and without, when it is asked what their podsets are while the
    job runs, then there is an answer if they have quota of flavors that are there.
    """
    framework: Any = Framework(TopologyAwareScheduling=False)
    assert matching.expected_running_pod_sets(framework, admitted(reserved=False)) is None
    assert matching.expected_running_pod_sets(framework, admitted("absent")) is None
    running = matching.expected_running_pod_sets(framework, admitted())
    assert running is not None
    assert [each["template"]["spec"] for each in running] == [pod_set()["template"]["spec"]]


def test_a_check_that_asks_otherwise_is_named() -> None:
    """Given two admission checks that ask otherwise of one podset, when it is asked what the podset
    gets, then the error names the second check.
    """
    found = admitted()
    found["status"]["admissionChecks"] = [
        {"name": name, "podSetUpdates": [{"name": "web", "labels": {"a": value}}]} for name, value in (("x", "1"), ("y", "2"))]
    with pytest.raises(InvalidPodSetUpdate) as refused:
        podsets_info.from_status(found, lambda _: None, Features())
    assert str(refused.value) == (
        'in admission check "y": invalid admission check PodSetUpdate: conflict for labels: conflict for key=a, value1=1, '
        "value2=2")


def test_a_workload_has_one_controller() -> None:
    """Given a Workload that another object controls, when a job would own it, then it may not, and
    its own may again.
    """
    found = workload(uid="other")
    job: Tree = {"apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "j", "namespace": "n", "uid": "u"}}
    with pytest.raises(UnretryableError) as refused:
        construction.put_owner(found, job)
    assert str(refused.value) == "n/w is already owned by another Web: j"
    own = workload()
    construction.put_owner(own, job)
    assert [(each["uid"], each["controller"]) for each in own["metadata"]["ownerReferences"]] == [("u", True)]
    assert own["metadata"]["labels"] == {"kueue.x-k8s.io/job-uid": "u"}


def test_variables_that_are_named_twice_count_once() -> None:
    """Given containers of which one names a variable twice, when the podset is made, then that one
    has its last value at its first place, and the others are as they were.
    """
    plain: Tree = {"name": "plain"}
    twice: Tree = {"name": "twice", "env": [
        {"name": "a", "value": "1"}, {"name": "b", "value": "2"}, {"name": "a", "value": "3"}]}
    once: Tree = {"name": "once", "env": [{"name": "a", "value": "1"}]}
    pod_sets: list[Tree] = [{"name": "p", "template": {"spec": {"containers": [plain, twice, once]}}}]
    construction.sanitize_pod_sets(pod_sets)
    assert pod_sets[0]["template"]["spec"]["containers"] == [
        plain, {"name": "twice", "env": [{"name": "a", "value": "3"}, {"name": "b", "value": "2"}]}, once]
    assert len(twice["env"]) == 3


def test_counts_that_would_do_are_left_out_where_they_do_not_count() -> None:
    """Given podsets of which fewer pods would do, when that is switched off, then they say so no
    more.
    """
    assert construction.without_min_counts([pod_set(2, minimum=1)], Features()) == [pod_set(2, minimum=1)]
    assert construction.without_min_counts([pod_set(2, minimum=1)], Features(PartialAdmission=False)) == [pod_set(2)]
