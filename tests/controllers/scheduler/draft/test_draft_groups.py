"""What a draft Workload says of its groups, read alone."""

from typing import Any

import pytest

from fakekube_controllers.scheduler.draft import addon, groups, webhooks
from fakekube_controllers.scheduler.draft.definition import definition

ONE = {"name": "one", "podGroupSelector": {"role": "one"}}
TWO = {"name": "two", "podGroupSelector": {"matchLabels": {"role": "two"}}}
MANY = {"name": "many", "gangMode": "Replicated", "replicatedGangKey": "metadata.labels['key']"}


def workload(*listed: dict[str, Any], name: str = "w") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "n"}, "spec": {"podGroups": list(listed)}}


def pod(labels: Any = None, **named: str) -> dict[str, Any]:
    keys = {"workload": "workload", "group": "pod-group", "replica": "pod-group-replica"}
    annotations = {f"scheduling.fakekube.dev/{keys[key]}": value for key, value in named.items()}
    return {"metadata": {"name": "p", "namespace": "n", "labels": labels or {}, "annotations": annotations}, "spec": {}}


@pytest.mark.parametrize(("made", "workloads", "expected"), [
    (pod(), [workload(ONE)], None), (pod({"role": "one"}), [workload(ONE)], ("w", "one", "")),
    (pod({"role": "two"}), [workload(ONE, TWO)], ("w", "two", "")), (pod({"role": "three"}), [workload(ONE, TWO)], None),
    (pod({"role": "two"}), [workload(ONE, name="v"), workload(TWO)], ("w", "two", "")),
    (pod(workload="w"), [workload({"name": "g"})], ("w", "g", "")),
    (pod(workload="w"), [workload({"name": "g"}, {"name": "h"})], ("w", "", "")),
    (pod(workload="x"), [workload({"name": "g"})], ("x", "", "")),
    (pod(workload="w", group="h"), [workload({"name": "g"})], ("w", "h", "")),
    (pod(workload="w", group="two", replica="r"), [workload(ONE, TWO)], ("w", "two", "r")),
    (pod({"role": "one"}, workload="w"), [workload(TWO, ONE)], ("w", "one", "")),
    (pod({"role": "one"}, workload="w", group="two"), [workload(ONE, TWO)], ("w", "two", "")),
    (pod({"key": "k"}, workload="w", group="many"), [workload(MANY)], ("w", "many", "k")),
    (pod({"key": "k"}, workload="w", group="many", replica="r"), [workload(MANY)], ("w", "many", "r")),
    (pod({"other": "k"}, workload="w", group="many"), [workload(MANY)], ("w", "many", "")),
    (pod({"key": "k"}, workload="w", group="g"), [workload({"name": "g"})], ("w", "g", "")),
])
def test_a_pod_is_in_the_group_that_it_names_or_that_selects_it(made: Any, workloads: Any, expected: Any) -> None:
    """Given a new pod and Workloads / then what it leaves out of its group is filled in."""
    assert groups.resolved(made, workloads) == expected


def test_what_a_group_says() -> None:
    """Given groups in either spelling / then mode, numbers, selector and label of the replica are
    read.
    """
    assert [groups.mode_of(each) for each in ({}, {"gangMode": None}, {"gangMode": "Off"})] == ["Single", "Single", "Off"]
    assert [groups.is_gang(each) for each in ({}, {"gangMode": "Off"}, MANY)] == [True, False, True]
    nested = {"gangSchedulingPolicy": {"minCount": 3, "schedulingTimeoutSeconds": 9}}
    assert [groups.number(each, "minCount") for each in ({}, {"minCount": 2}, nested, {**nested, "minCount": 5})] == [None, 2, 3,
    5]
    assert groups.number(nested, "schedulingTimeoutSeconds") == 9
    assert [groups.selector_of(each) for each in ({}, ONE, TWO, {"podGroupSelector": {"matchLabels": None}})] == [
        {}, {"role": "one"}, {"role": "two"}, {}]
    texts = ("metadata.labels['a.b/c']", "metadata.labels['a", "labels['a']", None)
    assert [groups.replica_label_of({"replicatedGangKey": text}) for text in texts] == ["a.b/c", "", "", ""]
    assert [groups.group_named(workload(ONE, TWO), name) for name in ("two", "x", "")] == [TWO, None, None]
    assert groups.group_named(workload(ONE), "") == ONE
    assert groups.reference_of(pod(group="g")) is None
    assert groups.reference_of(pod(workload="w", group="g", replica="r")) == ("w", "g", "r")
    assert groups.TIMEOUT_SECONDS == 300.0


OFF = "spec.podGroups[0]: minCount and schedulingTimeoutSeconds are forbidden when gangMode is Off"


def select(name: str, **labels: str) -> dict[str, Any]:
    return {"name": name, "podGroupSelector": labels}


@pytest.mark.parametrize(("listed", "faults"), [
    ([], []), ([ONE, TWO, MANY], []), ([{"gangMode": "Off"}], []), ([{"gangMode": "Off", "minCount": 1}], [OFF]),
    ([{"gangMode": "Off", "gangSchedulingPolicy": {"schedulingTimeoutSeconds": 1}}], [OFF]),
    ([ONE, {"name": "g", "gangMode": "Replicated"}], [
        "spec.podGroups[1].replicatedGangKey: must be metadata.labels['KEY'] when gangMode is Replicated"]),
    ([{"replicatedGangKey": "x", "replicas": 0}], [
        "spec.podGroups[0].replicatedGangKey: forbidden unless gangMode is Replicated",
        "spec.podGroups[0].replicas: forbidden unless gangMode is Replicated"]),
    ([select("a", x="1"), select("b", y="1")], ["spec.podGroups: podGroupSelectors must have the same keys"]),
    ([select("a", x="1", y="1"), select("b", x="2", y="2")],
     ["spec.podGroups: exactly one key may differ between podGroupSelectors"]),
    ([select("a", x="1"), select("b", x="1")], ["spec.podGroups: exactly one key may differ between podGroupSelectors"]),
    ([select("a", x="1", z="0"), select("b", x="2", z="0"), select("c", x="1", z="0")], [
        "spec.podGroups: the values of x in podGroupSelectors must be distinct"]),
    ([select("a", x="1"), {"name": "b"}, select("c", x="2")], []), ([select("a", x="1"), {"name": "b"}], []),
])
def test_all_that_contradicts_itself_is_told(listed: Any, faults: list[str]) -> None:
    """Given groups of a Workload / then these are the faults, each with its path."""
    assert webhooks.faults_of(workload(*listed)) == faults


def test_the_kind_is_the_drafts() -> None:
    """Given the definition of the kind / then names, bounds, defaults and enumerations are
    these."""
    made = definition()
    assert (made["apiVersion"], made["kind"], made["metadata"]) == (
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", {"name": "workloads.scheduling.fakekube.dev"})
    [version] = made["spec"].pop("versions")
    assert made["spec"] == {"group": "scheduling.fakekube.dev", "scope": "Namespaced", "names": {
        "kind": "Workload", "listKind": "WorkloadList", "plural": "workloads", "singular": "workload"}}
    schema = version.pop("schema")["openAPIV3Schema"]
    assert version == {"name": "v1alpha1", "served": True, "storage": True}
    label = {"type": "string", "maxLength": 63}
    positive = {"type": "integer", "format": "int32", "minimum": 1}
    numbers = {"minCount": positive, "schedulingTimeoutSeconds": positive}
    text, kept = {"type": "string"}, {"x-kubernetes-preserve-unknown-fields": True}
    group = {"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
        "gangMode": {"type": "string", "enum": ["Single", "Off", "Replicated"], "default": "Single"}, **numbers,
        "gangSchedulingPolicy": {"type": "object", "properties": numbers},
        "podGroupSelector": {"type": "object", **kept, "properties": {
            "matchLabels": {"type": "object", "maxProperties": 8, "additionalProperties": label}}},
        "replicatedGangKey": {"type": "string", "maxLength": 400},
        "replicas": {"type": "integer", "format": "int32", "minimum": 0}}}
    reference = dict.fromkeys(("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion", "fieldPath"), text)
    assert schema == {"type": "object", "required": ["spec"], "properties": {
        "status": {"type": "object", **kept},
        "spec": {"type": "object", "required": ["podGroups"], "properties": {
            "controllerRef": {"type": "object", "properties": reference},
            "podGroups": {"type": "array", "minItems": 1, "maxItems": 8, "items": group, "x-kubernetes-list-type": "map",
                          "x-kubernetes-list-map-keys": ["name"]}}}}}


def test_the_add_on_brings_two_webhooks() -> None:
    """Given the add-on / then it has the kind, a webhook that writes on new pods, and one that
    refuses Workloads.
    """
    made = addon()
    assert (made.name, list(made.manifests)) == ("draftworkload", [definition()])
    shown = [(each.name, each.operations, each.mutating, each.configuration, each.has_client,
    each.fields) for each in made.webhooks]
    assert shown == [
        ("mpod.scheduling.fakekube.dev", ("CREATE",), True, "draft-workload", True, {"rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}),
        ("vworkload.scheduling.fakekube.dev", ("CREATE", "UPDATE"), False, "draft-workload", False, {"rules": [{
            "apiGroups": ["scheduling.fakekube.dev"], "apiVersions": ["v1alpha1"], "operations": ["CREATE", "UPDATE"],
            "resources": ["workloads"]}]})]
