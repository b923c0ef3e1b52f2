"""Which podsets one ProvisioningRequest asks for together, and what its objects are called."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.admissionchecks import provisioning_requests as requests
from fakekube_controllers.kueue.admissionchecks.provisioning_requests import InconsistentAssignments

ALIKE, SAME = "IdenticalWorkloadSchedulingRequirements", "IdenticalPodTemplates"


def pod_set(name: str, count: int = 1, cpu: str = "1", *, init: str = "", label: str = "", **spec: Any) -> Tree:
    """A podset of one container."""
    template: Tree = {
        "metadata": {"labels": {"l": label}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **spec}}
    if init:
        template["spec"]["initContainers"] = [{"name": "i", "resources": {"requests": {"cpu": init}}}]
    return {"name": name, "count": count, "template": template}


def merged(policy: str | None, *pod_sets: Tree, **config: Any) -> list[tuple[str, int]]:
    """The podsets that are asked for, and their pods."""
    assignments = [{"name": each["name"], "count": each["count"]} for each in pod_sets]
    workload = {"spec": {"podSets": [*pod_sets]}, "status": {"admission": {"podSetAssignments": assignments}}}
    found = requests.merged_pod_sets(workload, {"spec": {"podSetMergePolicy": policy, **config}})
    return [(each.pod_set["name"], each.pods) for each in found]


def other_image(name: str) -> Tree:
    """A podset whose container is another, with the same requests."""
    made = pod_set(name)
    made["template"]["spec"]["containers"][0]["image"] = "other"
    return made


@pytest.mark.parametrize(("policy", "pod_sets", "wanted"), [
    (None, (pod_set("a"), pod_set("b", 2)), [("a", 1), ("b", 2)]),
    (SAME, (pod_set("a"), pod_set("b", 2), pod_set("c", 4)), [("a", 7)]),
    (SAME, (pod_set("a"), pod_set("b", 2, cpu="2"), pod_set("c", 4)), [("a", 5), ("b", 2)]),
    (SAME, (pod_set("a"), pod_set("b", 2, label="x")), [("a", 1), ("b", 2)]),
    (SAME, (pod_set("a"), other_image("b")), [("a", 1), ("b", 1)]),
    (ALIKE, (pod_set("a"), other_image("b"), pod_set("c", 2, label="x")), [("a", 4)]),
    (ALIKE, (pod_set("a"), pod_set("b", cpu="2")), [("a", 1), ("b", 1)]),
    (ALIKE, (pod_set("a"), pod_set("b", init="1")), [("a", 1), ("b", 1)]),
    (ALIKE, (pod_set("a", init="1"), pod_set("b", init="1")), [("a", 2)]),
    (ALIKE, (pod_set("a"), pod_set("b", resources={"requests": {"cpu": "1"}})), [("a", 1), ("b", 1)]),
    (ALIKE, (pod_set("a"), pod_set("b", nodeSelector={"a": "b"})), [("a", 1), ("b", 1)]),
    (ALIKE, (pod_set("a"), pod_set("b", tolerations=[{"key": "a"}])), [("a", 1), ("b", 1)]),
    (ALIKE, (pod_set("a"), pod_set("b", affinity={"nodeAffinity": {}})), [("a", 1), ("b", 1)]),
    (ALIKE, (pod_set("a"), pod_set("b", resourceClaims=[{"name": "r"}])), [("a", 1), ("b", 1)]),
    (ALIKE, (pod_set("a"), pod_set("b", hostname="h")), [("a", 2)]),
    (ALIKE, (pod_set("a", 0), pod_set("b", 2)), [("b", 2)]),
])
def test_podsets_that_are_alike_are_asked_for_together(
    policy: str | None, pod_sets: tuple[Tree, ...], wanted: list[tuple[str, int]],
) -> None:
    """Given podsets that are the same, or the same for a scheduler, when they are asked for, then
    together as far as the config says so, by the first of them.
    """
    assert merged(policy, *pod_sets) == wanted


def test_podsets_need_an_assignment_if_they_need_nodes() -> None:
    """Given a podset that was assigned nothing, when it is asked for, then that is an error, but
    for one that has none of the resources for which nodes are made.
    """
    workload = {"spec": {"podSets": [pod_set("a")]}}
    for ask in (requests.merged_pod_sets, requests.is_needed):
        with pytest.raises(InconsistentAssignments) as refused:
            ask(workload, {"spec": {"managedResources": ["cpu"]}})
        assert str(refused.value) == 'inconsistent podSet assignments: missing assignment for PodSet "a"'
    assert requests.is_needed(workload, {"spec": {"managedResources": ["gpu"]}}) is False


def test_names_that_are_too_long_end_with_a_hash() -> None:
    """Given names of 247 and 248 characters, when objects are called so, then the first is as it
    is, and the second ends with five digits of its hash.
    """
    assert requests.limit_object_name("a" * 247) == "a" * 247
    assert requests.limit_object_name("a" * 248) == f"{'a' * 247}-d1d8b"
    assert requests.request_name("w", "c", 3) == "w-c-3"
    assert requests.pod_template_name("r", "p") == "ppt-r-p"
