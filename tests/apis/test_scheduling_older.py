"""Workloads and PodGroups as 1.35 and 1.36 had them: what is refused, and in whose words."""

from copy import deepcopy
from typing import Any

import pytest

from fakekube.apis.gates import Gates
from fakekube.apis.scheduling import v1alpha1, v1alpha2
from fakekube.registry.strategy import Strategy

ALPHA_GATES = {
    "GenericWorkload": True, "GangScheduling": True, "WorkloadAwarePreemption": True,
    "TopologyAwareWorkloadScheduling": True, "DRAWorkloadResourceClaims": True,
}  # fmt: skip
GANG = {"gang": {"minCount": 2}}
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


class Context:
    """As much of a write as these strategies look at."""

    def __init__(self, gates: dict[str, bool]) -> None:
        self.cluster = self
        self._gates = Gates("1.36", gates)

    def gate(self, name: str) -> bool:
        return self._gates[name]


ON, OFF = Context(ALPHA_GATES), Context({"GenericWorkload": True})


def said(strategy: Strategy, obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    context: Any = ON
    found = strategy.validate(obj, context) if old is None else strategy.validate_update(obj, old, context)
    return [str(error) for error in found]


def workload(*templates: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"spec": {"podGroupTemplates": list(templates), **more}}


def older(*groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"spec": {"podGroups": list(groups), **more}}


class TestWorkloadsOf136:
    @pytest.mark.parametrize(
        ("template", "text"),
        [
            ({"schedulingPolicy": {"basic": {}}}, "spec.podGroupTemplates[0].name: Required value"),
            ({"name": "A_b", "schedulingPolicy": {"basic": {}}},
             f'spec.podGroupTemplates[0].name: Invalid value: "A_b": {LABEL}'),
            ({"name": "a"},
             'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'),
            ({"name": "a", "schedulingPolicy": {"gang": {}}},
             "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value"),
            ({"name": "a", "schedulingPolicy": GANG, "disruptionMode": "All"},
             'spec.podGroupTemplates[0].disruptionMode: Unsupported value: "All": supported values: "Pod", "PodGroup"'),
            ({"name": "a", "schedulingPolicy": GANG, "priority": 1000000001},
             "spec.podGroupTemplates[0].priority: Invalid value: 1000000001: must be less than or equal to 1000000000"),
        ],
    )  # fmt: skip
    def test_a_bad_template_is_refused(self, template, text):
        """Given a template with one fault / when the Workload is created / then that fault is told.
        """
        assert said(v1alpha2.WORKLOAD, workload(template)) == [text]

    def test_templates_are_there_and_not_too_many(self):
        """Given none and nine templates / when created / then both are refused."""
        assert said(v1alpha2.WORKLOAD, workload()) == ["spec.podGroupTemplates: Required value"]
        nine = workload(*({"name": f"t{n}", "schedulingPolicy": {"basic": {}}} for n in range(9)))
        assert said(v1alpha2.WORKLOAD, nine) == ["spec.podGroupTemplates: Too many: 9: must have at most 8 items"]

    def test_nothing_of_the_spec_changes(self):
        """Given a stored Workload / when templates or the controller change / then immutable,
        without the value.
        """
        old = workload({"name": "a", "schedulingPolicy": GANG})
        assert said(v1alpha2.WORKLOAD, deepcopy(old), old) == []
        immutable = "spec.podGroupTemplates: Invalid value: null: field is immutable"
        assert said(v1alpha2.WORKLOAD, workload(), old) == [immutable, "spec.podGroupTemplates: Required value"]
        late = workload(*old["spec"]["podGroupTemplates"], controllerRef={"kind": "Job", "name": "j"})
        assert said(v1alpha2.WORKLOAD, late, old) == ["spec.controllerRef: Invalid value: null: field is immutable"]


class TestPodGroupsOf136:
    def test_the_disruption_mode_is_filled_in_behind_its_gate(self):
        """Given the gate of preemption / when a group is defaulted / then pods are disrupted alone,
        else nothing.
        """
        for context, expected in ((ON, {"disruptionMode": "Pod"}), (OFF, {})):
            group: dict[str, Any] = {"spec": {}}
            v1alpha2.POD_GROUP.default(group, context)  # type: ignore[arg-type]
            assert group["spec"] == expected

    def test_fields_behind_a_gate_that_is_off_are_dropped(self):
        """Given a new group with everything / when gates are off / then only the policy stays."""
        group = {"metadata": {}, "spec": {
            "schedulingPolicy": GANG, "disruptionMode": "PodGroup", "priority": 1,
            "schedulingConstraints": {"topology": [{"key": "rack"}]}}}  # fmt: skip
        v1alpha2.POD_GROUP.prepare_for_create(group, OFF)  # type: ignore[arg-type]
        assert group["spec"] == {"schedulingPolicy": GANG}
        assert group["status"] == {}

    @pytest.mark.parametrize(
        ("reference", "texts"),
        [
            ({}, ['spec.podGroupTemplateRef: Invalid value: "": must specify one of: `workload`']),
            ({"workload": {}}, ["spec.podGroupTemplateRef.workload.workloadName: Required value",
                                "spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value"]),
            ({"workload": {"workloadName": "w", "podGroupTemplateName": "t"}}, []),
        ],
    )  # fmt: skip
    def test_the_template_that_it_was_made_from_is_named_in_full(self, reference, texts):
        """Given a reference / when created / then both names are there."""
        group = {"spec": {"schedulingPolicy": GANG, "podGroupTemplateRef": reference}}
        assert said(v1alpha2.POD_GROUP, group) == texts

    def test_the_spec_never_changes(self):
        """Given a stored group / when any field changes / then immutable; null and absent are the
        same.
        """
        old = {"spec": {"schedulingPolicy": GANG, "podGroupTemplateRef": None, "disruptionMode": "Pod"}}
        assert said(v1alpha2.POD_GROUP, {"spec": {"schedulingPolicy": GANG, "disruptionMode": "Pod"}}, old) == []
        changed = {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": "PodGroup"}}
        assert said(v1alpha2.POD_GROUP, changed, old) == [
            "spec.schedulingPolicy: Invalid value: null: field is immutable",
            "spec.disruptionMode: Invalid value: null: field is immutable",
        ]


class TestWorkloadsOf135:
    @pytest.mark.parametrize(
        ("group", "text"),
        [
            ({"policy": {"basic": {}}}, f'spec.podGroups[0].name: Invalid value: "": {LABEL}'),
            ({"name": "a"}, "spec.podGroups[0].policy: Required value: exactly one of `basic`, `gang` is required"),
            ({"name": "a", "policy": {"basic": {}, **GANG}},
             ('spec.podGroups[0].policy: Invalid value: "{`basic`, `gang`}": exactly one of `basic`, `gang` is required, '
              "but multiple fields are set")),
            ({"name": "a", "policy": {"gang": {}}},
             "spec.podGroups[0].policy.gang.minCount: Invalid value: 0: must be greater than zero"),
        ],
    )  # fmt: skip
    def test_a_bad_group_is_refused(self, group, text):
        """Given a group with one fault / when the Workload is created / then that fault is told in
        1.35's words.
        """
        assert said(v1alpha1.WORKLOAD, older(group)) == [text]

    def test_groups_are_there_and_have_names_of_their_own(self):
        """Given no groups, and two of one name / when created / then both are refused."""
        assert said(v1alpha1.WORKLOAD, older()) == ["spec.podGroups: Required value: must have at least one item"]
        twice = older({"name": "a", "policy": GANG}, {"name": "a", "policy": GANG})
        assert said(v1alpha1.WORKLOAD, twice) == ['spec.podGroups[1].name: Duplicate value: "a"']

    def test_groups_stay_and_the_controller_comes_once(self):
        """Given a stored Workload / when changed / then groups are immutable, and a controller once
        it is there.
        """
        controller = {"apiGroup": "batch", "kind": "Job", "name": "j"}
        old = older({"name": "a", "policy": GANG})
        late = older({"name": "a", "policy": GANG}, controllerRef=controller)
        assert said(v1alpha1.WORKLOAD, late, old) == []
        assert said(v1alpha1.WORKLOAD, deepcopy(old), late) == [
            "controllerRef: Invalid value: null: field is immutable"
        ]
        changed = older({"name": "a", "policy": {"basic": {}}})
        assert said(v1alpha1.WORKLOAD, changed, old) == [
            'podGroups: Invalid value: [{"Name":"a","Policy":{"Basic":{},"Gang":null}}]: field is immutable'
        ]
