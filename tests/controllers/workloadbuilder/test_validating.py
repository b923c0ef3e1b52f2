"""What a controller tells its users about their scheduling blocks."""

import pytest

from fakekube_controllers.workloadbuilder import (
    BasicSchedulingPolicy,
    Builder,
    BuildOptions,
    DisruptionModeOption,
    SchedulingConfig,
    SchedulingPolicy,
    SchedulingPolicyOption,
    WorkloadInput,
    WorkloadItem,
)

POLICIES, MODES = tuple(SchedulingPolicyOption), tuple(DisruptionModeOption)
PATH = "spec.scheduling"
BASIC, GANG = {"basic": {}}, {"gang": {"minCount": 2}}


def item(scheduling=None, name="job", *, children=(), path=PATH) -> WorkloadItem:
    return WorkloadItem(name, path, input=WorkloadInput.of(scheduling, composite=bool(children)), children=children)


def wrong(root, old=None, policies=POLICIES, modes=MODES, *, declarative=True) -> list[str]:
    options = BuildOptions(
        allowed_policies=policies, allowed_disruption_modes=modes, disable_declarative_validation=not declarative)
    return [str(error) for error in Builder(root, options).validate(old)]


@pytest.mark.parametrize("scheduling", [
    None, {}, {"schedulingPolicy": BASIC}, {"schedulingPolicy": GANG}, {"schedulingPolicy": {"gang": {}}},
    {"schedulingPolicy": GANG, "disruptionMode": {"all": {}}}, {"disruptionMode": {"single": {}}},
    {"schedulingPolicy": GANG, "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]}},
    {"resourceClaims": [{"name": "a", "resourceClaimName": "x"}, {"name": "a", "resourceClaimName": "y"}]},
])
def test_what_is_fine(scheduling):
    """Given blocks without a fault / when they are validated / then there is nothing to tell."""
    assert wrong(item(scheduling)) == []


@pytest.mark.parametrize(("scheduling", "message"), [
    ({"schedulingPolicy": {}}, f'{PATH}.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'),
    ({"schedulingPolicy": {**BASIC, **GANG}},
     f'{PATH}.schedulingPolicy: Invalid value: "{{basic, gang}}": must specify exactly one of: `basic`, `gang`'),
    ({"schedulingPolicy": {"gang": {"minCount": 0}}},
     f"{PATH}.schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or equal to 1"),
    ({"schedulingPolicy": GANG, "disruptionMode": {"single": {}, "all": {}}},
     f'{PATH}.disruptionMode: Invalid value: "{{single, all}}": must specify exactly one of: `single`, `all`'),
    ({"schedulingConstraints": {"topology": [{"key": "zone"}, {"key": "rack"}]}},
     f"{PATH}.schedulingConstraints.topology: Too many: 2: must have at most 1 item"),
    ({"schedulingConstraints": {"topology": [{}]}}, f"{PATH}.schedulingConstraints.topology[0].key: Required value"),
    ({"resourceClaims": [{"name": "claim0"}]},
     f'{PATH}.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'),
    ({"resourceClaims": [{"resourceClaimName": "c"}]}, f"{PATH}.resourceClaims[0].name: Required value"),
])
def test_blocks_by_themselves(scheduling, message):
    """Given a block with a fault / when it is validated / then the fault is told where the
    controller has the block, and not at all without declarative validation.
    """
    assert wrong(item(scheduling)) == [message]
    assert wrong(item(scheduling), declarative=False) == []


@pytest.mark.spec("WAS-137")
def test_policies_that_a_controller_does_not_allow():
    """Given a list of allowed policies / when the resolved policy is another / then it is
    forbidden at the block, the controller's own default too.
    """
    only_gang = [SchedulingPolicyOption.GANG]
    message = f"{PATH}.schedulingPolicy: Forbidden: basic scheduling policy is not supported by this controller"
    assert wrong(item({"schedulingPolicy": BASIC}), policies=only_gang) == [message]
    default = SchedulingConfig(SchedulingPolicy(basic=BasicSchedulingPolicy()))
    root = WorkloadItem("job", PATH, default, WorkloadInput.of({}))
    assert wrong(root, policies=only_gang) == [message]
    assert wrong(item({"schedulingPolicy": GANG}), policies=[SchedulingPolicyOption.BASIC]) == [
        f"{PATH}.schedulingPolicy: Forbidden: gang scheduling policy is not supported by this controller"]


@pytest.mark.spec("WAS-138")
def test_empty_lists_allow_nothing():
    """Given nothing allowed / when a policy and a mode are set / then both are forbidden; what is
    not set is not.
    """
    told = wrong(item({"schedulingPolicy": GANG, "disruptionMode": {"single": {}}}), policies=(), modes=())
    assert told == [
        f"{PATH}.schedulingPolicy: Forbidden: gang scheduling policy is not supported by this controller",
        f"{PATH}.disruptionMode: Forbidden: the disruptionMode `single` is not supported by this controller"]
    assert wrong(item({}), policies=(), modes=()) == []
    assert wrong(item({"schedulingPolicy": GANG, "disruptionMode": {"all": {}}}), modes=[DisruptionModeOption.SINGLE]) == [
        f"{PATH}.disruptionMode: Forbidden: the disruptionMode `all` is not supported by this controller"]


@pytest.mark.spec("WAS-139")
def test_basic_and_all_do_not_go_together():
    """Given a group that is scheduled one by one and disrupted as a whole / when it is validated /
    then the mode is invalid; of a gang, or where no policy is set, it is not.
    """
    message = (
        f'{PATH}.disruptionMode: Invalid value: "": the disruptionMode `all` is not supported with the Basic scheduling policy')
    assert wrong(item({"schedulingPolicy": BASIC, "disruptionMode": {"all": {}}})) == [message]
    assert wrong(item({"schedulingPolicy": BASIC, "disruptionMode": {"all": {}}}), declarative=False) == [message]
    composite = item({"schedulingPolicy": BASIC, "disruptionMode": {"all": {}}}, children=[item(name="leaf")])
    assert wrong(composite) == [message]
    assert wrong(item({"disruptionMode": {"all": {}}})) == []


@pytest.mark.spec("WAS-141", "WAS-142")
@pytest.mark.parametrize("declarative", [True, False])
def test_trees_that_are_none_are_internal_errors(declarative):
    """Given a tree that no user can have caused / when it is validated / then there is one internal
    error at the root's path.
    """
    def told(root):
        return wrong(root, declarative=declarative)

    start = f"{PATH}: Internal error: "
    assert told(item(name="")) == [start + "workload item name cannot be empty"]
    assert told(item(children=[None])) == [start + "workload item cannot be nil"]
    assert told(item(children=[item()])) == [
        start + 'duplicate workload item name "job": template names must be unique across the Workload']
    leaf_block = WorkloadItem("job", PATH, input=WorkloadInput.of({"schedulingPolicy": GANG}), children=[item(name="leaf")])
    assert told(leaf_block) == [start + 'composite workload item "job" sets leaf building block: policy']
    assert told(None) == ["<nil>: Invalid value: null: invalid builder: missing root WorkloadItem"]


def test_children_are_validated_where_they_are():
    """Given a composite with a fault, and a child with one / when they are validated / then the
    parent's comes first, each at its own path.
    """
    child = item({"schedulingPolicy": {"gang": {"minCount": 0}}}, "leaf", path="spec.roles[0]")
    assert wrong(item({"schedulingPolicy": {"gang": {"minGroupCount": 0}}}, children=[child])) == [
        f"{PATH}.schedulingPolicy.gang.minGroupCount: Invalid value: 0: must be greater than or equal to 1",
        "spec.roles[0].schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or equal to 1"]


@pytest.mark.spec("WAS-145")
def test_roots_are_paired_by_name():
    """Given an old root of another name / when an update is validated / then it is an internal
    error.
    """
    assert wrong(item(), item(name="stale")) == [
        f'{PATH}: Internal error: old root name "stale" does not match new root name "job"']


FAULTY = {
    "schedulingPolicy": {"basic": {}, "gang": {"minCount": 0}}, "disruptionMode": {},
    "schedulingConstraints": {"topology": [{"key": "no key"}]}, "resourceClaims": [{"name": "A", "resourceClaimName": "C"}],
}


@pytest.mark.spec("WAS-145")
def test_what_did_not_change_is_not_looked_at_again():
    """Given blocks with faults, of a root and of a child / when an update leaves them / then
    nothing is told; when the child moves or the blocks change, then they are looked at.
    """
    def tree(scheduling, nested=False):
        leaf = item(scheduling, "leaf")
        return item(name="root", children=[item(name="mid", children=[leaf]) if nested else leaf])

    assert len(wrong(item(FAULTY))) == 6
    assert wrong(item(FAULTY), item(FAULTY)) == []
    assert wrong(tree(FAULTY), tree(FAULTY)) == []
    assert len(wrong(tree(FAULTY), tree(FAULTY, nested=True))) == 6
    assert wrong(item({}), item(FAULTY)) == []
    less = {**FAULTY, "schedulingPolicy": {"basic": {}, "gang": {"minCount": -1}}}
    assert wrong(item(less), item(FAULTY)) == [
        f"{PATH}.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1"]
    claims = [{"name": "b", "resourceClaimName": "x"}, *FAULTY["resourceClaims"]]
    assert wrong(item({**FAULTY, "resourceClaims": claims}), item(FAULTY)) == []
