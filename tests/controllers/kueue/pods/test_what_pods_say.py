"""What pods may say of their group, and what is asked of the pods of one group."""

from typing import Any

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.pod import composing, groups, webhook
from fakekube_controllers.kueue.jobs.pod.groups import CannotCompose

K = "kueue.x-k8s.io/"
GROUP, COUNT, RETRIABLE = f"{K}pod-group-name", f"{K}pod-group-total-count", f"{K}retriable-in-group"
MANAGED, PREBUILT, INDEX, QUEUE = f"{K}managed", f"{K}prebuilt-workload-name", f"{K}pod-group-pod-index", f"{K}queue-name"
IN_LABEL, IN_ANNOTATION = f"metadata.labels[{GROUP}]", f"metadata.annotations[{GROUP}]"
TOTAL = f"metadata.annotations[{COUNT}]"
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
BOTH = f"both the '{COUNT}' annotation and the '{GROUP}' label should be set"
BOTH_ANNOTATIONS = f"both the '{COUNT}' annotation and the '{GROUP}' annotation should be set"
ZERO = "group total count should be greater than zero"
OFF, ON = Features(WorkloadIdentifierAnnotations=False), Features(WorkloadIdentifierAnnotations=True)


def pod(name: str = "a", labels: Any = None, annotations: Any = None, phase: str = "Pending") -> Tree:
    """A pod with labels and annotations."""
    return {
        "metadata": {"name": name, "namespace": "n", "labels": labels or {}, "annotations": annotations or {}},
        "spec": {"containers": []}, "status": {"phase": phase}}


@pytest.mark.parametrize(("labels", "annotations", "features", "wanted"), [
    ({}, {}, OFF, []),
    ({MANAGED: "true"}, {}, OFF, []),
    ({MANAGED: "false"}, {}, OFF, [f"metadata.labels[{MANAGED}]: Forbidden: managed label value can only be 'true'"]),
    ({GROUP: "g"}, {COUNT: "1"}, OFF, []),
    ({}, {COUNT: "1"}, OFF, [f"{IN_LABEL}: Required value: {BOTH}"]),
    ({GROUP: "g"}, {}, OFF, [f"{TOTAL}: Required value: {BOTH}"]),
    ({GROUP: "G"}, {COUNT: "1"}, OFF, [f'{IN_LABEL}: Invalid value: "G": {SUBDOMAIN}']),
    ({GROUP: "G"}, {}, OFF, [f'{IN_LABEL}: Invalid value: "G": {SUBDOMAIN}', f"{TOTAL}: Required value: {BOTH}"]),
    ({GROUP: "g"}, {COUNT: "0"}, OFF, [
        f'{TOTAL}: Invalid value: "0": incorrect annotation value \'{COUNT}=0\': {ZERO}']),
    ({GROUP: "g"}, {COUNT: "x"}, OFF, [f'{TOTAL}: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax']),
    ({}, {GROUP: "g"}, ON, [f"{TOTAL}: Required value: {BOTH_ANNOTATIONS}"]),
    ({}, {GROUP: "G", COUNT: "1"}, ON, [f'{IN_ANNOTATION}: Invalid value: "G": {SUBDOMAIN}']),
    ({GROUP: "g"}, {}, ON, [f"{TOTAL}: Required value: {BOTH}"]),
    ({GROUP: "g", PREBUILT: "g"}, {COUNT: "1"}, OFF, []),
    ({GROUP: "g", PREBUILT: "w"}, {COUNT: "1"}, OFF, [
        f'metadata.labels[{PREBUILT}]: Invalid value: "w": prebuilt workload and pod group should be equal']),
    ({GROUP: "g"}, {COUNT: "1", PREBUILT: "w"}, ON, [
        f'metadata.annotations[{PREBUILT}]: Invalid value: "w": prebuilt workload and pod group should be equal']),
    ({PREBUILT: "w"}, {}, OFF, []),
])
def test_what_a_pod_may_say_of_its_group(labels: Tree, annotations: Tree, features: Features, wanted: list[str]) -> None:
    """Given a pod that names a group or a Workload, when it is looked at, then the group has a
    good name and a count of at least one, and a Workload is called as the group is.
    """
    assert [*map(str, webhook.errors_of(pod("a", labels, annotations), features))] == wanted


@pytest.mark.parametrize(("before", "now", "features", "wanted"), [
    (({GROUP: "g"}, {}), ({GROUP: "g"}, {}), OFF, []),
    (({}, {}), ({GROUP: "g"}, {}), OFF, []),
    (({GROUP: "g"}, {}), ({GROUP: "h"}, {}), OFF, [f'{IN_LABEL}: Invalid value: "h": field is immutable']),
    (({GROUP: "g"}, {}), ({}, {}), OFF, [f'{IN_LABEL}: Invalid value: "": field is immutable']),
    (({}, {GROUP: "g"}), ({}, {GROUP: "h"}), ON, [f'{IN_ANNOTATION}: Invalid value: "h": field is immutable']),
    (({GROUP: "g"}, {RETRIABLE: "false"}), ({GROUP: "g"}, {}), OFF, [
        f"metadata.annotations[{RETRIABLE}]: Forbidden: unretriable pod group can't be converted to retriable"]),
    (({GROUP: "g"}, {RETRIABLE: "false"}), ({GROUP: "g"}, {RETRIABLE: "true"}), OFF, [
        f"metadata.annotations[{RETRIABLE}]: Forbidden: unretriable pod group can't be converted to retriable"]),
    (({GROUP: "g"}, {}), ({GROUP: "g"}, {RETRIABLE: "false"}), OFF, []),
    (({}, {RETRIABLE: "false"}), ({}, {}), OFF, []),
])
def test_what_stays_of_a_group(
    before: tuple[Tree, Tree], now: tuple[Tree, Tree], features: Features, wanted: list[str],
) -> None:
    """Given a pod of a group, when it is changed, then it stays in its group, and a group of which
    no pod is replaced stays so.
    """
    assert [*map(str, webhook.errors_of_update(pod("a", *before), pod("a", *now), features))] == wanted


@pytest.mark.parametrize(("labels", "annotations", "features", "wanted"), [
    ({}, {COUNT: "1"}, OFF, f"pod doesn't have a '{GROUP}' label"),
    ({}, {COUNT: "1"}, ON, f"pod doesn't have a '{GROUP}' annotation/label"),
    ({GROUP: "g"}, {}, OFF, f"failed to extract '{COUNT}' annotation"),
    ({GROUP: "g"}, {COUNT: "x"}, OFF, 'strconv.Atoi: parsing "x": invalid syntax'),
    ({GROUP: "g"}, {COUNT: "-1"}, OFF,
     f"incorrect annotation value '{COUNT}=-1': group total count should be greater than zero"),
    ({GROUP: "g", INDEX: "1"}, {COUNT: "1"}, OFF,
     'incorrect label value "1" for Pod "n/a": validation error: value should be less than 1'),
])
def test_a_group_waits_for_a_first_pod_that_can_be_read(
    labels: Tree, annotations: Tree, features: Features, wanted: str,
) -> None:
    """Given a group whose first pod says nothing or nonsense of its size, when a Workload is to be
    made, then that is tried again.
    """
    first = pod("a", labels, annotations)
    with pytest.raises(CannotCompose) as refused:
        groups.check([first], [first], features)
    assert (str(refused.value), refused.value.is_retried) == (wanted, True)


@pytest.mark.parametrize(("other", "wanted", "is_retried"), [
    ({COUNT: "3"}, f"pods 'a' and 'b' has different '{COUNT}' values: 2!=3", False),
    ({COUNT: "x"}, f"failed to extract '{COUNT}' annotation from the pod 'b': strconv.Atoi: parsing \"x\": invalid syntax",
     True),
    ({}, f"failed to extract '{COUNT}' annotation from the pod 'b': strconv.Atoi: parsing \"\": invalid syntax", True),
])
def test_the_pods_of_a_group_agree_on_its_size(other: Tree, wanted: str, is_retried: bool) -> None:
    """Given a group of two pods, when the second says otherwise of its size than the first, then
    there is no Workload; what the second has failed to say counts if it has not failed itself.
    """
    first, second = pod("a", {GROUP: "g"}, {COUNT: "2"}), pod("b", {GROUP: "g"}, other)
    with pytest.raises(CannotCompose) as refused:
        groups.check([first, second], [first, second], OFF)
    assert (str(refused.value), refused.value.is_retried) == (wanted, is_retried)
    failed = pod("b", {GROUP: "g"}, other, phase="Failed")
    assert groups.check([first, failed], [first, second], OFF) == 2


def test_what_pods_have_in_common_is_copied() -> None:
    """Given pods with labels of which some are to be copied, when a Workload is made, then it gets
    those that any of them has; if two have others, there is none yet.
    """
    group = [pod("a", {"x": "1", "z": "1"}), pod("b", {"x": "1", "y": "2"})]
    assert composing.copied(group, meta.labels_of, ("x", "y", "absent"), "label") == {"x": "1", "y": "2"}
    assert composing.copied(group, meta.labels_of, (), "label") == {}
    with pytest.raises(CannotCompose) as refused:
        composing.copied([*group, pod("c", {"y": "3"})], meta.labels_of, ("x", "y"), "label")
    assert str(refused.value) == "constructing workload: pods have different label values"
    assert refused.value.is_retried
