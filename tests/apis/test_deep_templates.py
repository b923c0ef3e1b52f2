"""Trees of templates that are too deep, as they are shown."""

from typing import Any

import pytest

from fakekube.apis.scheduling import templates

Tree = dict[str, Any]
NONE: Tree = {"DisruptionMode": None, "PriorityClassName": "", "Priority": None, "PreemptionPolicy": None}
LEAF: Tree = {
    "name": "l", "schedulingPolicy": {"basic": {}}, "resourceClaims": [{"name": "c", "resourceClaimName": "x"}],
    "schedulingConstraints": {"topology": [{"key": "zone"}]}}
SHOWN_LEAF: Tree = {
    "Name": "l", "SchedulingPolicy": {"Basic": {}, "Gang": None}, "SchedulingConstraints": {"Topology": [{"Key": "zone"}]},
    "ResourceClaims": [{"Name": "c", "ResourceClaimName": "x"}], **NONE}
BRANCH: Tree = {
    "name": "b", "schedulingPolicy": {"gang": {"minCount": 2}}, "schedulingConstraints": {"topology": [{"key": "rack"}]},
    "disruptionMode": {"all": {}}, "priorityClassName": "p", "priority": 5, "preemptionPolicy": "Never",
    "podGroupTemplates": [LEAF]}
SHOWN_BRANCH: Tree = {
    "Name": "b", "SchedulingPolicy": {"Basic": None, "Gang": {"MinCount": 2}},
    "SchedulingConstraints": {"Topology": [{"Key": "rack"}]}, "DisruptionMode": {"All": {}}, "PriorityClassName": "p",
    "Priority": 5, "PreemptionPolicy": "Never", "PodGroupTemplates": [SHOWN_LEAF], "CompositePodGroupTemplates": None}


def above(name: str, inner: Tree) -> Tree:
    return {"name": name, "schedulingPolicy": {"gang": {"minCount": 1}}, "compositePodGroupTemplates": [inner]}


def shown_above(name: str, inner: Tree) -> Tree:
    return {
        "Name": name, "SchedulingPolicy": {"Basic": None, "Gang": {"MinCount": 1}}, "SchedulingConstraints": None, **NONE,
        "PodGroupTemplates": None, "CompositePodGroupTemplates": [inner]}


@pytest.mark.parametrize(("depth", "is_too_deep"), [(1, False), (2, False), (3, True), (4, True)])
def test_a_tree_that_is_too_deep_is_shown_as_go_does(depth: int, is_too_deep: bool) -> None:
    """Given composite templates within one another / when they are more than three above groups of
    pods / then what is below the first is shown, with every field of Go's structs.
    """
    tree, shown = BRANCH, SHOWN_BRANCH
    for number in range(depth):
        tree = above(f"n{number}", tree)
        shown = shown if number == depth - 1 else shown_above(f"n{number}", shown)
    found = templates.validate_tree({"compositePodGroupTemplates": [tree]}, "spec")
    assert [(error.field, error.value, error.detail) for error in found if "depth" in error.detail] == ([
        ("spec.compositePodGroupTemplates[0]", [shown], "maximum template hierarchy depth is 4")] if is_too_deep else [])
