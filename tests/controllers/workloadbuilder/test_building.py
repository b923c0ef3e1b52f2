"""Trees of items become Workloads, and templates of Workloads become groups."""

import copy

import pytest

from fakekube_controllers.workloadbuilder import (
    BasicSchedulingPolicy,
    Builder,
    BuildOptions,
    DisruptionMode,
    GangSchedulingPolicy,
    SchedulingConfig,
    SchedulingPolicy,
    WorkloadBuildError,
    WorkloadInput,
    WorkloadItem,
)
from fakekube_controllers.workloadbuilder.config import AllDisruptionMode, ResourceClaim
from fakekube_controllers.workloadbuilder.items import PolicyInput

OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "trainer", "uid": "u1", "controller": True}
OPTIONS = BuildOptions("trainer-wl", "ml", OWNER)


def basic() -> SchedulingConfig:
    return SchedulingConfig(SchedulingPolicy(basic=BasicSchedulingPolicy()))


def gang(count: int | None = None) -> SchedulingConfig:
    return SchedulingConfig(SchedulingPolicy(gang=GangSchedulingPolicy(count)))


def template(item: WorkloadItem) -> dict:
    """The only template that an item becomes."""
    spec = Builder(item, OPTIONS).build_workload()["spec"]
    [made] = spec.get("podGroupTemplates", []) + spec.get("compositePodGroupTemplates", [])
    return made


@pytest.mark.spec("WAS-133")
def test_nothing_said_is_basic():
    """Given an item without defaults and input / when it is built / then its policy is basic and
    nothing else is set.
    """
    assert template(WorkloadItem("bare")) == {"name": "bare", "schedulingPolicy": {"basic": {}}}


def test_a_workload_names_its_owner():
    """Given an owner / when a Workload is built / then it owns the Workload and is its controller
    by group, kind and name.
    """
    assert Builder(WorkloadItem("one"), OPTIONS).build_workload() == {
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload",
        "metadata": {"name": "trainer-wl", "namespace": "ml", "ownerReferences": [OWNER]},
        "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "trainer"},
            "podGroupTemplates": [{"name": "one", "schedulingPolicy": {"basic": {}}}],
        }}
    options = BuildOptions("w", "", {**OWNER, "apiVersion": "v1"})
    made = Builder(WorkloadItem("one"), options).build_workload()
    assert made["spec"]["controllerRef"] == {"kind": "Job", "name": "trainer"}


@pytest.mark.spec("WAS-134")
def test_users_override_field_by_field():
    """Given defaults and input / when they are built / then each field that the user wrote is
    theirs as a whole, and the others stay.
    """
    given = WorkloadInput.of({"schedulingPolicy": {"gang": {"minCount": 3}}})
    assert template(WorkloadItem("a", default_config=basic(), input=given))["schedulingPolicy"] == {"gang": {"minCount": 3}}

    default = SchedulingConfig(disruption_mode=DisruptionMode(all=AllDisruptionMode()), priority_class_name="high")
    default.resource_claims.append(ResourceClaim("tpu", "mine"))
    claims = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    given = WorkloadInput.of({
        "schedulingPolicy": {"gang": {"minCount": 1}}, "schedulingConstraints": {"topology": [{"key": "zone"}]},
        "resourceClaims": claims})
    assert template(WorkloadItem("a", default_config=default, input=given)) == {
        "name": "a", "schedulingPolicy": {"gang": {"minCount": 1}}, "schedulingConstraints": {"topology": [{"key": "zone"}]},
        "resourceClaims": claims, "disruptionMode": {"all": {}}, "priorityClassName": "high"}


def test_empty_blocks_leave_the_default():
    """Given building blocks that say nothing / when they are built / then the controller's defaults
    hold.
    """
    given = WorkloadInput.of({"schedulingPolicy": {}, "schedulingConstraints": {"topology": []}, "disruptionMode": {}})
    assert template(WorkloadItem("a", default_config=gang(2), input=given)) == {
        "name": "a", "schedulingPolicy": {"gang": {"minCount": 2}}}


@pytest.mark.spec("WAS-135")
def test_callbacks_see_a_copy():
    """Given a gang of no size and a callback / when it is built / then the callback's size counts,
    and what the caller gave is as it was.
    """
    def fill(config: SchedulingConfig) -> None:
        assert config.policy is not None
        assert config.policy.gang is not None
        config.policy.gang.min_count = (config.policy.gang.min_count or 4) * 2

    block = {"gang": {}}
    default = gang(5)
    item = WorkloadItem("a", default_config=default, input=WorkloadInput(PolicyInput(block)), callbacks=[None, fill, fill])
    assert template(item)["schedulingPolicy"] == {"gang": {"minCount": 16}}
    assert block == {"gang": {}}
    item = WorkloadItem("a", default_config=default, callbacks=[fill])
    assert template(item)["schedulingPolicy"] == {"gang": {"minCount": 10}}
    assert default == gang(5)


@pytest.mark.spec("WAS-136")
@pytest.mark.parametrize(("children", "message"), [
    ([], "gang scheduling requires minCount to be set after resolution"),
    ([WorkloadItem("leaf")], "composite gang scheduling requires minGroupCount to be set after resolution"),
])
def test_a_gang_needs_a_size(children, message):
    """Given a gang of no size and no callback / when it is built / then it is an error."""
    with pytest.raises(WorkloadBuildError) as raised:
        Builder(WorkloadItem("a", default_config=gang(), children=children), OPTIONS).build_workload()
    assert str(raised.value) == message


@pytest.mark.spec("WAS-140")
def test_children_make_a_composite_template():
    """Given a root with a leaf and a composite child / when it is built / then it is one composite
    template with both kinds of children.
    """
    inner = WorkloadItem("ps", children=[WorkloadItem("ps-0", default_config=gang(1))])
    given = WorkloadInput.of({
        "schedulingPolicy": {"gang": {"minGroupCount": 2}}, "schedulingConstraints": {"topology": [{"key": "zone"}]},
        "disruptionMode": {"all": {}}}, composite=True)
    root = WorkloadItem("root", input=given, children=[WorkloadItem("workers", default_config=gang(4)), inner])
    workload = Builder(root, OPTIONS).build_workload()
    assert "podGroupTemplates" not in workload["spec"]
    assert template(root) == {
        "name": "root", "schedulingPolicy": {"gang": {"minGroupCount": 2}},
        "schedulingConstraints": {"topology": [{"key": "zone"}]}, "disruptionMode": {"all": {}},
        "podGroupTemplates": [{"name": "workers", "schedulingPolicy": {"gang": {"minCount": 4}}}],
        "compositePodGroupTemplates": [{
            "name": "ps", "schedulingPolicy": {"basic": {}},
            "podGroupTemplates": [{"name": "ps-0", "schedulingPolicy": {"gang": {"minCount": 1}}}],
        }],
    }


@pytest.mark.spec("WAS-141")
@pytest.mark.parametrize("field", ["schedulingPolicy", "schedulingConstraints", "disruptionMode", "resourceClaims"])
def test_blocks_fit_their_item(field):
    """Given a block of the wrong sort / when the tree is built / then it is an error that names
    both.
    """
    shown = {"schedulingPolicy": "policy", "schedulingConstraints": "constraints"}.get(field, field)
    value = [{"name": "c"}] if field == "resourceClaims" else {}
    wrong = WorkloadItem("x", input=WorkloadInput.of({field: value}), children=[WorkloadItem("leaf")])
    with pytest.raises(WorkloadBuildError) as raised:
        Builder(wrong, OPTIONS).build_workload()
    assert str(raised.value) == f'composite workload item "x" sets leaf building block: {shown}'
    if field == "resourceClaims":
        return
    wrong = WorkloadItem("x", input=WorkloadInput.of({field: {}}, composite=True))
    with pytest.raises(WorkloadBuildError) as raised:
        Builder(wrong, OPTIONS).build_workload()
    assert str(raised.value) == f'leaf workload item "x" sets composite building block: {shown}'


@pytest.mark.spec("WAS-142")
@pytest.mark.parametrize(("root", "options", "message"), [
    (None, OPTIONS, "workload item cannot be nil"),
    (WorkloadItem("a", children=[None]), OPTIONS, "workload item cannot be nil"),
    (WorkloadItem(""), OPTIONS, "workload item name cannot be empty"),
    (WorkloadItem("a", children=[WorkloadItem("b", children=[WorkloadItem("a")])]), OPTIONS,
     'duplicate workload item name "a": template names must be unique across the Workload'),
    (WorkloadItem("a"), BuildOptions("w", "n"), "a Workload must be owned by its controller for garbage collection"),
    (WorkloadItem("a"), BuildOptions("w", "n", {**OWNER, "apiVersion": "a/b/c"}),
     'invalid owner apiVersion "a/b/c": unexpected GroupVersion string: a/b/c'),
])
def test_what_cannot_be_built_says_why(root, options, message):
    """Given a tree or an owner that is none / when it is built / then the error has upstream's
    words.
    """
    with pytest.raises(WorkloadBuildError) as raised:
        Builder(root, options).build_workload()
    assert str(raised.value) == message


def test_an_empty_name_is_found_before_callbacks_run():
    """Given an item without a name / when it is built / then its callback has not run."""
    ran = []
    with pytest.raises(WorkloadBuildError):
        Builder(WorkloadItem("", callbacks=[ran.append]), OPTIONS).build_workload()
    assert ran == []


@pytest.mark.spec("WAS-143")
def test_groups_share_nothing_with_their_template():
    """Given a built Workload / when two groups are made of a template and one is changed / then
    neither the other nor the template changes.
    """
    given = WorkloadInput.of({"schedulingPolicy": {"gang": {"minCount": 3}}, "resourceClaims": [{
        "name": "gpu", "resourceClaimName": "c"}]})
    builder = Builder(WorkloadItem("t", input=given), OPTIONS)
    workload = copy.deepcopy(builder.build_workload())
    first, second = builder.new_pod_group("g1", "t"), builder.new_pod_group("g2", "t")
    assert second == {
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
        "metadata": {"name": "g2", "namespace": "ml", "ownerReferences": [OWNER]},
        "spec": {
            "workloadRef": {"workloadName": "trainer-wl", "templateName": "t"}, "schedulingPolicy": {"gang": {"minCount": 3}},
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}],
        }}
    first["spec"]["schedulingPolicy"]["gang"]["minCount"] = 9
    first["spec"]["resourceClaims"].clear()
    first["metadata"]["ownerReferences"][0]["name"] = "other"
    assert (builder.build_workload(), builder.new_pod_group("g2", "t")) == (workload, second)


def test_composite_groups_come_from_any_level():
    """Given nested composite templates / when a group is made of the inner one / then it is a
    CompositePodGroup of v1alpha3 without its children.
    """
    inner = WorkloadItem("inner", default_config=gang(1), children=[WorkloadItem("leaf")])
    builder = Builder(WorkloadItem("root", children=[inner]), OPTIONS)
    builder.build_workload()
    assert builder.new_composite_pod_group("g", "inner") == {
        "apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "CompositePodGroup",
        "metadata": {"name": "g", "namespace": "ml", "ownerReferences": [OWNER]},
        "spec": {
            "workloadRef": {"workloadName": "trainer-wl", "templateName": "inner"},
            "schedulingPolicy": {"gang": {"minGroupCount": 1}},
        }}
    with pytest.raises(WorkloadBuildError, match=r'podGroupTemplate "leaf" not found in workload "trainer-wl" \(have \[\]\)'):
        builder.new_pod_group("g", "leaf")
    with pytest.raises(WorkloadBuildError) as raised:
        builder.new_composite_pod_group("g", "no")
    assert str(raised.value) == 'compositePodGroupTemplate "no" not found in workload "trainer-wl" (have [root inner])'


def test_groups_need_a_workload():
    """Given a builder that has built nothing / when it is asked for a group / then it says what to
    do first.
    """
    with pytest.raises(WorkloadBuildError) as raised:
        Builder(WorkloadItem("a"), OPTIONS).new_pod_group("g", "a")
    assert str(raised.value) == "no Workload available: call BuildWorkload or use NewBuilderFromExistingWorkload first"


@pytest.mark.spec("WAS-144")
def test_an_existing_workload_gives_groups_only():
    """Given a stored Workload / when a builder is made from it / then it makes groups, and neither
    builds nor validates.
    """
    stored = {"metadata": {"name": "w", "namespace": "ml"}, "spec": {"podGroupTemplates": [
        {"name": "a", "schedulingPolicy": {"basic": {}}},
        {"name": "b", "schedulingPolicy": {"gang": {"minCount": 4}}, "priority": 7, "preemptionPolicy": "Never",
         "schedulingConstraints": None}]}}
    builder = Builder.from_existing_workload(stored)
    group = builder.new_pod_group("g", "b")
    assert group["metadata"] == {"name": "g", "namespace": "ml"}
    assert group["spec"] == {
        "workloadRef": {"workloadName": "w", "templateName": "b"}, "schedulingPolicy": {"gang": {"minCount": 4}}, "priority": 7}
    with pytest.raises(WorkloadBuildError) as raised:
        builder.new_pod_group("g", "c")
    assert str(raised.value) == 'podGroupTemplate "c" not found in workload "w" (have [a b])'
    with pytest.raises(WorkloadBuildError, match="BuildWorkload is not available on a Builder created from"):
        builder.build_workload()
    assert [str(error) for error in builder.validate()] == [
        "<nil>: Internal error: cannot validate a builder constructed from an existing workload"]
