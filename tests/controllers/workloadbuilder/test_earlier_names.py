"""The names of drafts lead to the library of today."""

from fakekube_controllers.workloadbuilder import (
    BasicSchedulingPolicy,
    DisruptionModeOption,
    SchedulingConfig,
    SchedulingPolicy,
    SchedulingPolicyOption,
    earlier,
)

OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "trainer", "uid": "u1", "controller": True}
DEFAULT = SchedulingConfig(SchedulingPolicy(basic=BasicSchedulingPolicy()))


def fill(config: SchedulingConfig) -> None:
    if config.policy and config.policy.gang and config.policy.gang.min_count is None:
        config.policy.gang.min_count = 4


def test_the_drafts_example_of_a_job():
    """Given the KEP's example of a Job / when it is built with the draft's names / then the gang
    has the size that the callback gives.
    """
    user = earlier.map_pod_group_config(
        {"gang": {}}, {"topology": [{"key": "rack"}]}, {"all": {}}, [{"name": "gpu", "resourceClaimName": "c"}])
    root = earlier.workload_item("job-root", DEFAULT, user, [fill])
    workload = earlier.WorkloadBuilder(root).build("trainer", "ml", OWNER)
    assert workload["metadata"] == {"name": "trainer", "namespace": "ml", "ownerReferences": [OWNER]}
    assert workload["spec"]["podGroupTemplates"] == [{
        "name": "job-root", "schedulingPolicy": {"gang": {"minCount": 4}},
        "schedulingConstraints": {"topology": [{"key": "rack"}]}, "disruptionMode": {"all": {}},
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}]


def test_the_drafts_example_of_a_tree():
    """Given blocks of a group of groups / when they are mapped and built / then the root's gang has
    their size.
    """
    user = earlier.map_composite_group_config({"gang": {"minGroupCount": 2}})
    root = earlier.workload_item("root", DEFAULT, user, children=[earlier.workload_item("a"), earlier.workload_item("b")])
    made = earlier.WorkloadBuilder(root).build("w", "ml", OWNER)
    [template] = made["spec"]["compositePodGroupTemplates"]
    assert template["schedulingPolicy"] == {"gang": {"minGroupCount": 2}}


def test_single_fields_are_validated_at_their_members():
    """Given a policy and a mode that are not allowed / when they are validated by themselves / then
    the error is at the member; what did not change is left alone.
    """
    def told(errors):
        return [str(error) for error in errors]

    gang = {"gang": {"minCount": 0}}
    size = "p.gang.minCount: Invalid value: 0: must be greater than or equal to 1"
    forbidden = "p.gang: Forbidden: gang scheduling policy is not supported by this controller"
    assert told(earlier.validate_scheduling_policy(gang, "p", SchedulingPolicyOption.BASIC)) == [forbidden, size]
    assert told(earlier.validate_scheduling_policy_update(gang, gang, "p", *SchedulingPolicyOption)) == []
    assert told(earlier.validate_disruption_mode({"single": {}, "all": {}}, "m", DisruptionModeOption.ALL)) == [
        "m.single: Forbidden: single disruption mode is not supported by this controller",
        'm: Invalid value: "{single, all}": must specify exactly one of: `single`, `all`']
    assert told(earlier.validate_disruption_mode_update({}, {}, "m")) == []
    assert earlier.validate_scheduling_policy(None, "p") == earlier.validate_disruption_mode(None, "m") == []
