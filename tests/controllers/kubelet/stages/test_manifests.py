"""How Stages and KwokConfigurations are read: every field, and every complaint."""

from collections.abc import Mapping
from typing import Any

import pytest

pytest.importorskip("jq", reason="the extra kwok is not installed")

from fakekube_controllers.kubelet.stages import configuration, manifest
from fakekube_controllers.kubelet.stages.functions import BUILT_IN
from fakekube_controllers.kubelet.stages.render import render
from fakekube_controllers.kubelet.stages.stage import Stage, StageError, Step

NEXT = {"statusTemplate": "phase: Running"}
QUERY = {"jq": {"expression": ".metadata.labels.n"}}


def stage_of(name: str = "s", **spec: Any) -> Stage:
    """A Stage of these fields; those that must be given have a value."""
    defaults: dict[str, Any] = {"resourceRef": {"kind": "Pod"}, "selector": {}}
    if "next" not in spec and "steps" not in spec:
        defaults["next"] = NEXT
    tree = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": {**defaults, **spec}}
    return manifest.read(tree, BUILT_IN)


def shown(step: Step) -> dict[str, Any]:
    """What a step does, its templates carried out."""
    found: dict[str, Any] = {}
    if step.event is not None:
        found["event"] = (*step.event[:2], render(step.event[2], {"x": "1"}, {}))
    if step.finalizers is not None:
        found["finalizers"] = step.finalizers
    if step.patch is not None:
        found["patch"] = (*step.patch[:3], render(step.patch[3], {"x": "1"}, {}))
    return found | ({"delete": True} if step.delete else {})


STATUS = ("status", "status", "strategic", "phase: Running")


@pytest.mark.parametrize(("spec", "steps"), [
    ({}, [{"patch": STATUS}]),
    ({"next": {"delete": True}}, [{"delete": True}]),
    ({"next": {"delete": False, "event": {"reason": "R"}}}, [{"event": ("Normal", "R", "")}]),
    ({"next": {"event": {"type": "Warning", "reason": "R", "message": "m {{ .x }}"}}}, [{"event": ("Warning", "R", "m 1")}]),
    ({"next": {"event": {}, "finalizers": {}}}, [{}]),
    ({"next": {"finalizers": {"add": [{"value": "a"}, {"value": "b"}], "remove": [{"value": "c"}]}}},
     [{"finalizers": (("a", "b"), ("c",), False)}]),
    ({"next": {"finalizers": {"empty": True}}}, [{"finalizers": ((), (), True)}]),
    ({"next": {**NEXT, "delete": True, "patches": [{"template": "{}", "type": "merge", "subresource": "scale", "root": "spec"}]}},
     [{"delete": True}, {"patch": STATUS}, {"patch": ("scale", "spec", "merge", "{}")}]),
    ({"next": {**NEXT, "statusSubresource": "other"}}, [{"patch": ("other", *STATUS[1:])}]),
    ({"next": {"patches": [{}]}}, [{"patch": ("", "", "strategic", "")}]),
    ({"next": {"patches": [{"template": "\n a: {{ .x }} \n", "impersonation": ""}]}}, [{"patch": ("", "", "strategic", "a: 1")}]),
    ({"steps": [{}]}, [{}]),
    ({"steps": [{"patch": {"type": "json"}}, {"delete": True, "patch": {"root": "r"}}, {"event": {"reason": "R"}}]},
     [{"patch": ("", "", "json", "")}, {"patch": ("", "r", "strategic", ""), "delete": True}, {"event": ("Normal", "R", "")}]),
    ({"steps": [{"delete": True}], "next": NEXT}, [{"delete": True}, {"patch": STATUS}]),
])
def test_a_stage_does_what_it_says_step_by_step(spec: Mapping[str, Any], steps: list[dict[str, Any]]) -> None:
    """Given a Stage in any of KWOK's forms / when it is read / then these are its steps, in order.
    """
    assert [shown(step) for step in stage_of(**spec).steps] == steps


@pytest.mark.parametrize(("spec", "tree", "matches"), [
    ({}, {}, True), ({"matchLabels": {"a": "1"}}, {"labels": {"a": "1", "b": "2"}}, True),
    ({"matchLabels": {"a": "1"}}, {"labels": {"a": "2"}}, False), ({"matchLabels": {"a": "1"}}, {}, False),
    ({"matchLabels": {"a": "1", "b": "2"}}, {"labels": {"a": "1"}}, False),
    ({"matchAnnotations": {"a": "1"}}, {"annotations": {"a": "1"}}, True),
    ({"matchAnnotations": {"a": "1"}}, {"labels": {"a": "1"}}, False),
    ({"matchExpressions": [{"key": ".metadata.labels.n", "operator": "In", "values": ["1", "2"]}]}, {"labels": {"n": "2"}}, True),
    ({"matchExpressions": [{"key": ".metadata.labels.n", "operator": "In", "values": ["1"]}]}, {"labels": {"n": "2"}}, False),
    ({"matchExpressions": [{"key": ".metadata.labels.n", "operator": "NotIn", "values": ["1"]}]}, {"labels": {"n": "2"}}, True),
    ({"matchExpressions": [{"key": ".metadata.labels.n", "operator": "NotIn", "values": ["1"]}]}, {"labels": {"n": "1"}}, False),
    ({"matchExpressions": [{"key": ".metadata.labels.n", "operator": "Exists"}]}, {"labels": {"n": "1"}}, True),
    ({"matchExpressions": [{"key": ".metadata.labels.n", "operator": "Exists"}]}, {}, False),
    ({"matchExpressions": [{"key": ".metadata.labels.n", "operator": "DoesNotExist"}]}, {"labels": {"n": "1"}}, False),
    ({"matchExpressions": [{"key": ".metadata.labels.n", "operator": "DoesNotExist", "values": None}]}, {}, True),
    ({"matchExpressions": [{"jq": {"key": ".metadata.generation", "operator": "In", "values": [3]}}]}, {"generation": 3}, True),
    ({"matchExpressions": [{"key": ".metadata.on", "operator": "In", "values": [True]}]}, {"on": True}, True),
    ({"matchExpressions": [{"key": ".metadata.on", "operator": "In", "values": ["false"]}]}, {"on": False}, True),
    ({"matchExpressions": [{"key": ".metadata.a", "operator": "Exists"}, {"key": ".metadata.b", "operator": "Exists"}]},
     {"a": 1}, False),
])
def test_a_selector_picks_its_objects(spec: Mapping[str, Any], tree: Mapping[str, Any], matches: bool) -> None:
    """Given a selector and an object / then all that it requires must hold, and nothing else."""
    assert stage_of(selector=spec).matches({"metadata": tree}) is matches


def between(least: float, most: float) -> float:
    """The middle, in place of a number by chance."""
    return (least + most) / 2


@pytest.mark.parametrize(("delay", "label", "seconds"), [
    ({}, None, 0.0), ({"durationMilliseconds": 1500}, None, 1.5),
    ({"durationMilliseconds": 1000, "jitterDurationMilliseconds": 3000}, None, 2.0),
    ({"durationMilliseconds": 3000, "jitterDurationMilliseconds": 1000}, None, 1.0),
    ({"durationMilliseconds": 3000, "jitterDurationMilliseconds": 3000}, None, 3.0),
    ({"jitterDurationMilliseconds": 3000}, None, 0.0),
    ({"durationFrom": QUERY}, "2m", 120.0), ({"durationFrom": QUERY}, None, 0.0), ({"durationFrom": QUERY}, "soon", 0.0),
    ({"durationFrom": {"expressionFrom": ".metadata.labels.n"}, "durationMilliseconds": 500}, "soon", 0.5),
    ({"durationFrom": QUERY}, "2026-01-01T00:00:09Z", 9.0), ({"durationFrom": QUERY}, "2025-12-31T00:00:00Z", 0.0),
    ({"durationMilliseconds": 1000, "jitterDurationFrom": QUERY}, "5s", 3.0),
    ({"durationMilliseconds": 1000, "jitterDurationFrom": QUERY}, None, 1.0),
])
def test_a_delay_is_what_the_stage_or_the_object_says(delay: Mapping[str, Any], label: str | None, seconds: float) -> None:
    """Given a delay of a Stage / then it is its own number, or what the object says, as a duration
    or a time; jitter is between the two, and a smaller one is the limit.
    """
    now = 1767225600.0  # 2026-01-01T00:00:00Z
    assert stage_of(delay=delay).delay_seconds({"metadata": {"labels": {"n": label}}}, now, between) == seconds


@pytest.mark.parametrize(("spec", "label", "weight"), [
    ({}, None, 0), ({"weight": 0}, None, 0), ({"weight": 7}, None, 7), ({"weightFrom": QUERY}, "5", 5),
    ({"weightFrom": QUERY}, None, 0), ({"weightFrom": QUERY, "weight": 4}, None, 4), ({"weightFrom": QUERY}, "-3", -3),
    ({"weightFrom": QUERY}, "x", None), ({"weightFrom": QUERY}, 6, 6), ({"weightFrom": QUERY}, 2.9, 2),
])
def test_a_weight_is_what_the_stage_or_the_object_says(spec: Mapping[str, Any], label: Any, weight: int | None) -> None:
    """Given a weight of a Stage / then it is its own, 0 without one, or the object's."""
    assert stage_of(**spec).weight_of({"metadata": {"labels": {"n": label}}}) == weight


def test_a_stage_keeps_its_name_its_kind_and_its_haste() -> None:
    """Given Stages / then name, kind and whether the next one comes at once are as written."""
    plain, hasty = stage_of("a"), stage_of("b", immediateNextStage=True, resourceRef={"kind": "Node", "apiGroup": "v1"})
    assert (plain.name, plain.kind, plain.immediate) == ("a", "Pod", False)
    assert (hasty.name, hasty.kind, hasty.immediate) == ("b", "Node", True)


ONE = {"operator": "Exists", "key": ".a"}


@pytest.mark.parametrize(("spec", "complaint"), [
    ({"resourceRef": None}, "spec.resourceRef: is missing"), ({"resourceRef": {}}, "spec.resourceRef.kind: is missing"),
    ({"resourceRef": {"kind": "Job"}}, "spec.resourceRef.kind: 'Job' is not supported: only Pod and Node are"),
    ({"resourceRef": "Pod"}, "spec.resourceRef: 'Pod' is no object"), ({"selector": None}, "spec.selector: is missing"),
    ({"selector": {"matchLabels": []}}, "spec.selector.matchLabels: [] is no object"),
    ({"selector": {"matchExpressions": {}}}, "spec.selector.matchExpressions: {} is no list"),
    ({"selector": {"matchExpressions": [{"operator": "Exists"}]}}, "spec.selector.matchExpressions[0].key: is missing"),
    ({"selector": {"matchExpressions": [ONE, {"key": ".a"}]}},
     "spec.selector.matchExpressions[1].operator: is missing: it is one of In, NotIn, Exists, DoesNotExist"),
    ({"selector": {"matchExpressions": [{**ONE, "values": ["x"]}]}},
     "spec.selector.matchExpressions[0].values: must be empty with Exists"),
    ({"selector": {"matchExpressions": [{"key": ".a", "operator": "NotIn"}]}},
     "spec.selector.matchExpressions[0].values: must be given with NotIn"),
    ({"selector": {"matchExpressions": [{"key": ".a", "operator": "In", "values": "x"}]}},
     "spec.selector.matchExpressions[0].values: 'x' is no list"),
    ({"selector": {"matchExpressions": [{"jq": {"key": ".a"}}]}},
     "spec.selector.matchExpressions[0].jq.operator: is missing: it is one of In, NotIn, Exists, DoesNotExist"),
    ({"selector": {"matchFields": {}}}, "spec.selector.matchFields: is not known"),
    ({"weight": True}, "spec.weight: True is no whole number of at least 0"),
    ({"weight": 1.5}, "spec.weight: 1.5 is no whole number of at least 0"),
    ({"weightFrom": {}}, "spec.weightFrom.jq: is missing"),
    ({"weightFrom": {"cel": {"expression": "1"}}}, "spec.weightFrom.cel: CEL is not supported"),
    ({"weightFrom": {"jq": {}}}, "spec.weightFrom.jq.expression: is missing"), ({"delay": []}, "spec.delay: [] is no object"),
    ({"delay": {"jitterDurationMilliseconds": -1}}, "spec.delay.jitterDurationMilliseconds: -1 is no whole number of at least 0"),
    ({"next": None}, "spec.next: is missing"), ({"next": None, "steps": []}, "spec.next: is missing"),
    ({"next": {"event": {"type": "Error"}}}, "spec.next.event.type: 'Error' is neither Normal nor Warning"),
    ({"next": {"finalizers": {"add": [{}]}}}, "spec.next.finalizers.add[0].value: is missing"),
    ({"next": {"statusPatchAs": {"username": "u"}}}, "spec.next.statusPatchAs: impersonation is not supported"),
    ({"next": {"patches": [{"type": "apply"}]}}, "spec.next.patches[0].type: 'apply' is none of json, merge, strategic"),
    ({"next": {"patches": [{"impersonation": {"username": "u"}}]}},
     "spec.next.patches[0].impersonation: impersonation is not supported"),
    ({"next": {"patches": [{"template": "a\n{{ nope }}"}]}},
     'spec.next.patches[0].template: line 2: function "nope" not defined'),
    ({"steps": [{"statusTemplate": "a"}]}, "spec.steps[0].statusTemplate: is not known"),
    ({"more": 1}, "spec.more: is not known"),
])
def test_a_stage_that_cannot_be_meant_names_its_field(spec: Mapping[str, Any], complaint: str) -> None:
    """Given a Stage with a fault / when it is read / then its name, the field and the fault are
    told.
    """
    with pytest.raises(StageError) as refused:
        stage_of("bad", **spec)
    assert str(refused.value) == f'Stage "bad": {complaint}'


@pytest.mark.parametrize("metadata", [None, {}, {"name": ""}])
def test_a_stage_needs_a_name_and_a_version(metadata: Any) -> None:
    """Given a Stage without a name, or of another version / then that is told."""
    with pytest.raises(StageError, match=r'^Stage "": metadata\.name: is missing$'):
        manifest.read({"metadata": metadata}, ())
    with pytest.raises(StageError, match=r"^Stage \"x\": apiVersion: 'v1' is not kwok\.x-k8s\.io/v1alpha1$"):
        manifest.read({"metadata": {"name": "x"}, "apiVersion": "v1", "spec": {
            "resourceRef": {"kind": "Pod"}, "selector": {}, "next": NEXT}}, ())


NODE = {"metadata": {"name": "n", "labels": {"a": "1"}, "annotations": {"b": "2"}}}


@pytest.mark.parametrize(("options", "managed", "disregarded"), [
    ({}, True, False), ({"manageAllNodes": False}, True, False), ({"manageAllNodes": True, "manageSingleNode": "x"}, True, False),
    ({"manageSingleNode": "n"}, True, False), ({"manageSingleNode": "m"}, False, False),
    ({"manageNodesWithLabelSelector": "a=1"}, True, False), ({"manageNodesWithLabelSelector": "b=2"}, False, False),
    ({"manageNodesWithAnnotationSelector": "b=2"}, True, False), ({"manageNodesWithAnnotationSelector": "a=1"}, False, False),
    ({"manageNodesWithAnnotationSelector": "b=3", "manageNodesWithLabelSelector": "a=1"}, False, False),
    ({"manageSingleNode": "n", "manageNodesWithLabelSelector": "a=2"}, True, False),
    ({"disregardStatusWithLabelSelector": "a=1"}, True, True), ({"disregardStatusWithLabelSelector": "a=2"}, True, False),
    ({"disregardStatusWithAnnotationSelector": "b"}, True, True), ({"disregardStatusWithAnnotationSelector": "a"}, True, False),
    ({"manageAllNodes": True, "disregardStatusWithAnnotationSelector": "b"}, True, True),
    ({"manageSingleNode": "n", "disregardStatusWithLabelSelector": "a"}, True, True),
])
def test_a_configuration_says_what_is_looked_after(options: Mapping[str, Any], managed: bool, disregarded: bool) -> None:
    """Given a KwokConfiguration / then these nodes are looked after, and these are left alone."""
    found = configuration.read({"options": options})
    assert (found.node(NODE), found.disregards(NODE)) == (managed, disregarded)


def test_what_has_no_labels_is_not_left_alone() -> None:
    """Given a selector that everything without a label meets / then an object without any label is
    looked after all the same, as in KWOK.
    """
    found = configuration.read({"options": {"disregardStatusWithLabelSelector": "!a"}})
    assert [found.disregards({"metadata": {"labels": labels}}) for labels in ({}, {"b": "1"}, {"a": "1"})] == [False, True, False]


@pytest.mark.parametrize(("options", "complaint"), [
    ([1], "KwokConfiguration: options: [1] is no object"),
    ({"manageNodesWithLabelSelector": "a in"}, "KwokConfiguration: options.manageNodesWithLabelSelector: "),
    ({"disregardStatusWithAnnotationSelector": "a in"}, "KwokConfiguration: options.disregardStatusWithAnnotationSelector: "),
])
def test_a_configuration_that_cannot_be_meant_names_its_option(options: Any, complaint: str) -> None:
    """Given an option that cannot be read / then it is named."""
    with pytest.raises(StageError) as refused:
        configuration.read({"options": options})
    assert str(refused.value).startswith(complaint)
