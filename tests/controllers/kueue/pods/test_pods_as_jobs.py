"""What pods and groups of pods answer as jobs: what is skipped, what is ready, what is none."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.configuration import Configuration, Integrations
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework.job import Matching, UnretryableError
from fakekube_controllers.kueue.jobs.pod import POD, composing, groups, sets
from fakekube_controllers.kueue.jobs.pod.controller import Pod
from fakekube_controllers.kueue.jobs.pod.driven import PodOrGroupWithSets
from fakekube_controllers.kueue.jobs.pod.reconciler import PodOfParent
from fakekube_controllers.kueue.podset import InvalidPodSetInfo, PodSetInfo

K = "kueue.x-k8s.io/"
GROUP, COUNT, MANAGED, QUEUE = f"{K}pod-group-name", f"{K}pod-group-total-count", f"{K}managed", f"{K}queue-name"
SETS, PARENT, SECONDS = f"{K}pod-group-sets", f"{K}pod-suspending-parent", f"{K}max-exec-time-seconds"
OFF = Features(WorkloadIdentifierAnnotations=False)
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
DRIVER = '[{"name": "driver", "count": 1}]'


def pod(name: str = "a", labels: Any = None, annotations: Any = None, **status: Any) -> Tree:
    """A pod in a group, or none."""
    return {
        "metadata": {"name": name, "namespace": "n", "uid": name, "labels": labels or {}, "annotations": annotations or {}},
        "spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Pending", **status}}


def group_of(*pods: Tree, kind: type[Pod] = Pod, features: Features = OFF) -> Pod:
    """A group."""
    found = kind(features, pods[0])
    found.group = [*pods]
    return found


@pytest.mark.parametrize(("labels", "annotations", "wanted", "of_parent"), [
    ({}, {}, True, True),
    ({MANAGED: "false"}, {}, True, True),
    ({MANAGED: "true"}, {}, False, True),
    ({MANAGED: "true"}, {PARENT: "deployment"}, False, False),
    ({MANAGED: "true", GROUP: "g"}, {PARENT: "deployment"}, True, True),
    ({GROUP: "g"}, {PARENT: "deployment"}, True, True),
])
def test_pods_that_are_left_alone(labels: Tree, annotations: Tree, wanted: bool, of_parent: bool) -> None:
    """Given a pod, when it is looked at by itself, then it is left alone if it is not Kueue's or
    has joined a group; where pods are managed only for their owners, also if none is named.
    """
    found = pod(labels=labels, annotations=annotations)
    assert Pod(OFF, found).skip() is wanted
    assert PodOfParent(OFF, found).skip() is of_parent
    assert group_of(found).skip() is (labels.get(MANAGED) != "true")
    assert Pod(OFF).skip() is False


@pytest.mark.parametrize(("count", "ready", "wanted"), [
    ("2", [True, True], True), ("2", [True, False], False), ("3", [True, True], False), ("1", [True, True], True),
    ("x", [True, True], False), ("0", [True, True], False)])
def test_a_group_is_ready_when_it_is_whole(count: str, ready: list[bool], wanted: bool) -> None:
    """Given a group that says of how many it is, when fewer are ready, or nobody knows of how many,
    then it is not; a single pod by itself.
    """
    found = [pod(str(place), {GROUP: "g"}, {COUNT: count}, **(READY if each else {})) for place, each in enumerate(ready)]
    assert group_of(*found).pods_ready() is wanted
    assert [Pod(OFF, each).pods_ready() for each in found] == ready


async def test_what_a_pod_has_none_of() -> None:
    """Given a pod, when it is asked for what jobs have and pods do not, then it refuses, and what
    was started stays as it is.
    """
    found = Pod(OFF, pod())
    with pytest.raises(UnretryableError, match=r"^a pod cannot be suspended$"):
        found.suspend()
    with pytest.raises(UnretryableError, match=r"^pods do not start together$"):
        found.run_with_podsets_info([])
    assert found.restore_podsets_info([PodSetInfo(name="main", count=1)]) is False
    assert found.obj == pod()
    assert POD.job_class() is Pod


async def test_a_role_that_gets_nothing() -> None:
    """Given a gated pod of a group, when the Workload has no pod set of its role, then it does not
    start.
    """
    gated = pod(labels={GROUP: "g"}, annotations={f"{K}role-hash": "r"})
    gated["spec"]["schedulingGates"] = [{"name": f"{K}admission"}]
    framework: Any = None
    with pytest.raises(InvalidPodSetInfo) as refused:
        await group_of(gated).run(framework, {}, [PodSetInfo(name="other", count=1)], "m")
    assert str(refused.value) == "invalid podset infos: podSetInfo with the name 'r' is not found"


@pytest.mark.parametrize("seconds", [None, "60", "61"])
async def test_a_group_that_may_run_for_another_time(seconds: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a group with a Workload that ends after a minute, when the group names another time or
    none, then the Workload is not the group's any more.
    """
    labels = {GROUP: "g"} if seconds is None else {GROUP: "g", SECONDS: seconds}
    found = group_of(pod(labels=labels, annotations={COUNT: "1"}))
    pod_sets = groups.pod_sets(found.members(), partial(composing.pod_set_of, features=OFF))
    workload: Tree = {"metadata": {"name": "g"}, "spec": {"maximumExecutionTimeSeconds": 60, "podSets": pod_sets}}
    framework: Any = SimpleNamespace(workloads=SimpleNamespace(get=lambda _namespace, _name: workload))

    async def held_against(*_: object) -> Matching:
        return Matching(workload, [])

    monkeypatch.setattr(Pod, "hold_against", held_against)
    wanted = Matching(workload, []) if seconds == "60" else Matching(None, [workload])
    assert await found.find_matching_workloads(framework) == wanted


@pytest.mark.parametrize(("members", "retried", "message"), [
    ([{COUNT: "2"}, {COUNT: "3"}], False, f"pods 'a' and 'b' has different '{COUNT}' values: 2!=3"),
    ([{COUNT: "2"}, {}], True,
     f"failed to extract '{COUNT}' annotation from the pod 'b': strconv.Atoi: parsing \"\": invalid syntax"),
])
def test_what_is_tried_again(members: list[Tree], retried: bool, message: str) -> None:
    """Given pods that make no Workload, when that may change, then it is tried again, else not; no
    Event tells of it.
    """
    found = group_of(*(pod(name, {GROUP: "g"}, each) for name, each in zip("ab", members, strict=True)))
    framework: Any = None
    with pytest.raises(groups.CannotCompose if retried else UnretryableError) as refused:
        composing.checked_count(framework, found, found.members())
    assert str(refused.value) == message


def test_a_group_that_lacks_pods_is_told_of() -> None:
    """Given a group of which pods are missing, when its Workload is to be made, then an Event says
    how many there are, and it waits.
    """
    found, told = group_of(pod(labels={GROUP: "g"}, annotations={COUNT: "2"})), list[tuple[object, ...]]()
    framework: Any = SimpleNamespace(event=lambda *each: told.append(each))
    with pytest.raises(UnretryableError) as refused:
        composing.checked_count(framework, found, found.members())
    assert told == [(found.obj, "Warning", "ErrWorkloadCompose", "'g' group has fewer runnable pods than expected")]
    assert str(refused.value) == "'g' group has fewer runnable pods than expected"


@pytest.mark.parametrize(("labels", "annotations", "message"), [
    ({QUEUE: "other"}, {}, "pods 'a' and 'b' has different queue names: q!=other"),
    ({}, {}, "pods 'a' and 'b' has different queue names: q!="),
    ({QUEUE: "q"}, {SETS: "[]"}, f"pods 'a' and 'b' has different '{SETS}' values"),
])
def test_the_pods_of_a_driver_agree(labels: Tree, annotations: Tree, message: str) -> None:
    """Given a driver with its sets, when another pod of the group names another queue or other
    sets, then there is no Workload.
    """
    driver = pod("a", {GROUP: "g", QUEUE: "q"}, {SETS: DRIVER})
    other = pod("b", {GROUP: "g", **labels}, annotations)
    found = PodOrGroupWithSets(OFF, driver)
    found.group, found.sets = [driver, other], sets.of_driver(driver, OFF)
    with pytest.raises(groups.CannotCompose) as refused:
        found._check([driver, other])
    assert (str(refused.value), refused.value.is_retried) == (message, False)
    found._check([driver, pod("b", {GROUP: "g", QUEUE: "q"}), pod("c", {GROUP: "g", QUEUE: "q"}, {SETS: DRIVER})])


def test_sets_that_cannot_be_read() -> None:
    """Given a driver whose sets are nonsense, when its group is looked at, then it is one without
    pods; text that is no Unicode is no YAML.
    """
    found = PodOrGroupWithSets(OFF, pod("a", {GROUP: "g"}, {SETS: "["}))
    framework: Any = None
    assert found._sets_of_group(framework) == ()
    with pytest.raises(sets.SetsError) as refused:
        sets.parse("\ud800", OFF)
    assert str(refused.value) == (
        "is no YAML: 'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed")


@pytest.mark.parametrize(("gate", "labels", "annotations"), [
    (True, {"x": "1", GROUP: "g"}, {"y": "2"}), (False, {"x": "1", GROUP: "g"}, {})])
async def test_what_a_group_has_its_workload_has(gate: bool, labels: Tree, annotations: Tree) -> None:
    """Given labels and annotations that are copied, when the pods of a group have them, then so has
    the Workload; annotations only where metrics may have labels of their own.
    """
    features = Features(WorkloadIdentifierAnnotations=False, CustomMetricLabels=gate)
    configuration = Configuration(features=features, integrations=Integrations(
        label_keys_to_copy=("x", GROUP), annotation_keys_to_copy=("y",)))
    members = [pod("a", {GROUP: "g", "x": "1", "z": "3"}, {COUNT: "2", "y": "2"}), pod("b", {GROUP: "g"}, {COUNT: "2"})]
    framework: Any = SimpleNamespace(configuration=configuration, features=features, client=None)
    made = await group_of(*members, features=features).new_workload(framework)
    assert made["metadata"]["labels"] == labels
    assert made["metadata"]["annotations"] == {f"{K}is-group-workload": "true", **annotations}
    assert [each["name"] for each in made["metadata"]["ownerReferences"]] == ["a", "b"]
