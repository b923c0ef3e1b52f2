"""What a check of MultiKueue must name, and when copies on workers are out of date."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.multikueue import checks, group
from fakekube_controllers.kueue.multikueue.checks import BadParameters
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, MULTIKUEUE_CONFIGS
from tests.controllers.kueue.core.world import World

GROUP, KIND, BAD = "kueue.x-k8s.io", "MultiKueueConfig", "bad parameters reference"


@pytest.mark.spec("KUEUE-151")
@pytest.mark.parametrize(("parameters", "text"), [
    (None, "missing parameters reference"),
    ({"apiGroup": GROUP, "kind": KIND}, f"empty name: {BAD}"),
    ({"apiGroup": GROUP, "kind": KIND, "name": ""}, f"empty name: {BAD}"),
    ({"apiGroup": "g", "kind": "k", "name": "c"}, f'wrong group "g", expecting "{GROUP}": {BAD}'),
    ({"kind": KIND, "name": "c"}, f'wrong group "", expecting "{GROUP}": {BAD}'),
    ({"apiGroup": GROUP, "kind": "k", "name": "c"}, f'wrong kind "k", expecting "{KIND}": {BAD}'),
])
def test_a_check_names_its_config(parameters: Tree | None, text: str) -> None:
    """Given a check whose parameters name no config, when that is asked for, then it is said what
    is wrong; a good reference gives the name.
    """
    spec: Tree = {} if parameters is None else {"parameters": parameters}
    with pytest.raises(BadParameters) as refused:
        checks.config_name({"metadata": {"name": "m"}, "spec": spec})
    assert str(refused.value) == text
    good = {"parameters": {"apiGroup": GROUP, "kind": KIND, "name": "c"}}
    assert checks.config_name({"metadata": {"name": "m"}, "spec": good}) == "c"


@pytest.mark.spec("KUEUE-151")
async def test_a_check_without_a_config_is_not_active() -> None:
    """Given checks that name no config and one that is not there, when they are made, then they are
    not active, and say why.
    """
    async with Cluster(nodes=0, controllers="", clock="manual", extra=[addon()]) as cluster:
        of = World(cluster)
        await of.create(MULTIKUEUE_CONFIGS, "other", {"clusters": ["w"]})
        controller: Tree = {"controllerName": "kueue.x-k8s.io/multikueue"}
        await of.create(ADMISSION_CHECKS, "none", controller)
        named = {"apiGroup": GROUP, "kind": KIND, "name": "c"}
        await of.create(ADMISSION_CHECKS, "absent", {**controller, "parameters": named})
        await cluster.settle()
        assert await of.condition(ADMISSION_CHECKS, "none", "Active") == (
            "False", "BadConfig", "Cannot load the AdmissionChecks parameters: missing parameters reference")
        assert await of.condition(ADMISSION_CHECKS, "absent", "Active") == (
            "False", "BadConfig", 'Cannot load the AdmissionChecks parameters: MultiKueueConfig.kueue.x-k8s.io "c" not found')


@pytest.mark.parametrize(("before", "after", "wanted"), [
    ({"a": 2, "b": 2}, {"a": 1, "b": 2}, True), ({"a": 2, "b": 2}, {"a": 2, "b": 2}, False),
    ({"a": 2, "b": 2}, {"a": 1, "b": 3}, False), ({"a": 2, "b": 2}, {"a": 1}, False),
    ({"a": 2}, {"b": 1}, False), ({"a": 2}, {"a": 3}, False), ({}, {}, False)])
def test_smaller_is_what_is_nowhere_larger(before: dict[str, int], after: dict[str, int], wanted: bool) -> None:
    """Given sizes of podsets before and after, when it is asked whether they are smaller, then they
    are if one is, none is larger, and they are the same podsets.
    """
    assert group.is_scaled_down(before, after) is wanted


OWN, POD = ("WorkloadPriorityClass", "kueue.x-k8s.io"), ("PriorityClass", "scheduling.k8s.io")


def of_class(name: str, kind: tuple[str, str] | None, priority: int | None = None) -> Tree:
    """A Workload of a priority class."""
    spec: Tree = {} if kind is None else {"priorityClassRef": {"kind": kind[0], "group": kind[1], "name": name}}
    return {"metadata": {"name": "w"}, "spec": spec if priority is None else {**spec, "priority": priority}}


@pytest.mark.parametrize(("local", "remote", "wanted"), [
    (of_class("a", OWN, 1), of_class("a", OWN, 1), False),
    (of_class("b", OWN, 1), of_class("a", OWN, 1), True),
    (of_class("a", OWN, 2), of_class("a", OWN, 1), True),
    (of_class("a", OWN), of_class("a", OWN, 0), False),
    (of_class("a", OWN, 0), of_class("a", OWN), False),
    (of_class("", None, 1), of_class("a", OWN, 1), True),
    (of_class("b", POD, 2), of_class("a", OWN, 1), False),
    (of_class("b", OWN, 2), of_class("a", POD, 1), False),
    (of_class("b", OWN, 2), of_class("", None, 1), False),
])
def test_a_copy_follows_the_priority_class(local: Tree, remote: Tree, wanted: bool) -> None:
    """Given a Workload and its copy, when their classes are compared, then the copy is out of date
    if it has another class of Kueue's or another priority.
    """
    assert group.is_priority_changed(local, remote) is wanted


@pytest.mark.parametrize(("conditions", "wanted"), [
    ([], False),
    ([("Finished", "True", "WorkloadSliceReplaced")], True),
    ([("Finished", "False", "WorkloadSliceReplaced")], False),
    ([("Finished", "True", "Succeeded")], False),
    ([("Evicted", "True", "WorkloadSliceReplaced")], False)])
def test_a_slice_that_was_replaced(conditions: list[Any], wanted: bool) -> None:
    """Given a slice with a condition, when it is asked whether another took its place, then it has
    if it finished for that.
    """
    told = [{"type": type_, "status": status, "reason": reason} for type_, status, reason in conditions]
    assert group.is_replaced({"metadata": {"name": "w"}, "status": {"conditions": told}}) is wanted
