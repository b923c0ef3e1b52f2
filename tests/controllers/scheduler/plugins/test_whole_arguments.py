"""Arguments of plugins, with all of their defaults, and all that is wrong with some."""

from typing import Any

import pytest

from fakekube.apimachinery import field_errors
from fakekube_controllers.scheduler.plugins import arguments
from fakekube_controllers.scheduler.plugins.arguments import ArgumentsError

CAPACITY, TIMEOUT = "StorageCapacityScoring", "DRASchedulerFilterTimeout"
BINDING = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
CPU_AND_MEMORY = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
SHAPE = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]


@pytest.mark.parametrize(("name", "args", "gates", "expected"), [
    ("InterPodAffinity", None, (), {"hardPodAffinityWeight": 1}),
    ("InterPodAffinity", {"hardPodAffinityWeight": 0}, (), {"hardPodAffinityWeight": 0}),
    ("InterPodAffinity", {"hardPodAffinityWeight": None}, (), {"hardPodAffinityWeight": 1}),
    ("VolumeBinding", {}, (), {"bindTimeoutSeconds": 600}),
    ("VolumeBinding", {}, (CAPACITY,), {"bindTimeoutSeconds": 600, "shape": SHAPE}),
    ("VolumeBinding", {"shape": SHAPE[:1], "bindTimeoutSeconds": 0}, (CAPACITY,), {"bindTimeoutSeconds": 0, "shape": SHAPE[:1]}),
    ("NodeResourcesBalancedAllocation", {}, (), {"resources": CPU_AND_MEMORY}),
    ("NodeResourcesBalancedAllocation", {"resources": [{"name": "a", "weight": 3}, {"name": "b"}]}, (),
     {"resources": [{"name": "a", "weight": 3}, {"name": "b", "weight": 1}]}),
    ("PodTopologySpread", {}, (), {"defaultingType": "System"}),
    ("PodTopologySpread", {"defaultingType": "List"}, (), {"defaultingType": "List"}),
    ("NodeResourcesFit", {}, (), {"scoringStrategy": {"type": "LeastAllocated", "resources": CPU_AND_MEMORY}}),
    ("NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "a"}]}}, (),
     {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "a", "weight": 1}]}}),
    ("DynamicResources", {}, (), {}), ("DynamicResources", {}, (TIMEOUT,), {"filterTimeout": "10s"}),
    ("DynamicResources", {}, BINDING[:1], {}),
    ("DynamicResources", {}, BINDING, {"bindingTimeout": "10m0s"}),
    ("DynamicResources", {"filterTimeout": "1s"}, (TIMEOUT,), {"filterTimeout": "1s"}),
    ("DefaultPreemption", {}, (), {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100}),
    ("DefaultPreemption", {"minCandidateNodesAbsolute": 5}, (),
     {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 5}),
    ("Mine", {"a": 1, "b": None}, (), {"a": 1}), ("NodeAffinity", {}, (), {}),
])
def test_arguments_have_upstreams_defaults(name: str, args: Any, gates: tuple[str, ...], expected: dict[str, Any]) -> None:
    """Given arguments of a plugin / then what they leave out is upstream's default, with the gates.
    """
    given = dict(args) if args else args
    assert arguments.defaulted(name, args, lambda gate: gate in gates) == expected
    assert args == given


KEY = "a" * 64
LONG = "name part must be no more than 63 bytes"


def point(utilization: int, score: int) -> dict[str, int]:
    return {"utilization": utilization, "score": score}


def ratio(*shape: dict[str, int]) -> dict[str, Any]:
    return {"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": list(shape)}}}


def added(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def spread(*constraints: tuple[Any, ...], **more: Any) -> dict[str, Any]:
    return {"defaultingType": "List", "defaultConstraints": [
        {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": action, **more} for skew, key, action in constraints]}


REQUIRED = "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
SOFT, HARD = "ScheduleAnyway", "DoNotSchedule"


@pytest.mark.parametrize(("name", "args", "gates", "errors"), [
    ("DynamicResources", {"filterTimeout": "1s"}, (),
     ["filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled"]),
    ("DynamicResources", {"filterTimeout": "-1s"}, (TIMEOUT,), ['filterTimeout: Invalid value: "-1s": must be zero or positive']),
    ("DynamicResources", {"filterTimeout": "0s"}, (TIMEOUT,), []), ("DynamicResources", {"bindingTimeout": "1s"}, BINDING, []),
    ("DynamicResources", {"bindingTimeout": "1s"}, BINDING[1:], [
        "bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"]),
    ("DynamicResources", {"bindingTimeout": "999ms"}, BINDING,
     ['bindingTimeout: Invalid value: "999ms": must be at least 1 second']),
    ("DefaultPreemption", {"minCandidateNodesPercentage": 100, "minCandidateNodesAbsolute": 0}, (), []),
    ("DefaultPreemption", {"minCandidateNodesPercentage": 0}, (), []),
    ("DefaultPreemption", {"minCandidateNodesPercentage": -1}, (), [
        "minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]"]),
    ("InterPodAffinity", {"hardPodAffinityWeight": 100}, (), []),
    ("InterPodAffinity", {"hardPodAffinityWeight": -1}, (),
     ["hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]"]),
    ("NodeAffinity", {"addedAffinity": None}, (), []),
    ("NodeAffinity", added({"matchExpressions": [{"key": "a", "operator": "Exists"}]}), (), []),
    ("NodeAffinity", added({}, {
        "matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "", "operator": "Is"}],
        "matchFields": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "NotIn", "values": []}]}), (), [
        (f'{REQUIRED}[1].matchExpressions[1].operator: Unsupported value: "Is": supported values: "In", "NotIn", "Exists", '
         '"DoesNotExist", "Gt", "Lt"'),
        f'{REQUIRED}[1].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"',
        f"{REQUIRED}[1].matchFields[1].values: Invalid value: []: must have one element"]),
    ("NodeAffinity", {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 0, "preference": {"matchFields": [{"key": "a"}]}}, {"weight": 1}]}}, (), []),
    ("NodeAffinity", added({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}), (), [
        (f"{REQUIRED}[0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, "
         "the value must be an integer")]),
    ("NodeResourcesBalancedAllocation", {"resources": [{"name": "a", "weight": 2}, {"name": "a"}, {"name": "b"}]}, (), [
        "resources[0].weight: Invalid value: 2: must be 1", 'resources[1].name: Duplicate value: "a"']),
    ("PodTopologySpread", {"defaultConstraints": [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": HARD}]}, (), [
        'defaultingType: Invalid value: "System": when .defaultConstraints are not empty']),
    ("PodTopologySpread", spread((1, "a", HARD), (2, "a", SOFT), (3, "b", HARD)), (), []),
    ("PodTopologySpread", spread((1, "a", HARD), (2, "a", HARD), (-1, "", "")), (), [
        'defaultConstraints[1]: Duplicate value: "{a, DoNotSchedule}"',
        "defaultConstraints[2].maxSkew: Invalid value: -1: not in valid range (0, inf)",
        "defaultConstraints[2].topologyKey: Required value: can not be empty",
        "defaultConstraints[2].whenUnsatisfiable: Required value: can not be empty"]),
    ("PodTopologySpread", spread((1, KEY, HARD)), (), [
        f'defaultConstraints[0].topologyKey: Invalid value: "{KEY}": {LONG}']),
    ("VolumeBinding", {"shape": []}, (), [
        "shape: Invalid value: []: unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"]),
    ("VolumeBinding", {"bindTimeoutSeconds": -1, "shape": [point(0, 1), point(0, 2), point(0, 3)]}, (CAPACITY,), [
        "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
        "shape[1].utilization: Invalid value: 0: values must be sorted in increasing order"]),
    ("NodeResourcesFit", ratio(point(0, 0), point(100, 10)), (), []),
    ("NodeResourcesFit", ratio(), (),
     ["scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified"]),
    ("NodeResourcesFit", ratio(point(-1, 11), point(101, -1)), (), [
        f"scoringStrategy.requestedToCapacityRatio.shape[{at}].{field}: Invalid value: {value}: not in valid range [0, {most}]"
        for at, field, value,
        most in ((0, "utilization", -1, 100), (0, "score", 11, 10), (1, "utilization", 101, 100), (1, "score", -1, 10))]),
    ("NodeResourcesFit", {"ignoredResources": ["a/b", KEY], "ignoredResourceGroups": ["a/b/c"]}, (), [
        f'ignoredResources[1]: Invalid value: "{KEY}": {LONG}',
        "ignoredResourceGroups[0]: Invalid value: \"a/b/c\": resource group name can't contain '/'",
        'ignoredResourceGroups[0]: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters']),
    ("NodeResourcesFit",
     {"scoringStrategy": {"type": "LeastAllocated", "resources": [{"name": "a", "weight": 100}, {"name": "b", "weight": -1}]}},
     (), [
        "scoringStrategy.resources[1].weight: Invalid value: -1: resource weight of b not in valid range (0, 100]"]),
    ("Mine", {"anything": 1}, (), []),
])
def test_all_that_is_wrong_is_told(name: str, args: Any, gates: tuple[str, ...], errors: list[str]) -> None:
    """Given arguments / then each fault is told with its field, in upstream's order, and where
    there is none the plugin can be made.
    """
    def enabled(gate: str) -> bool:
        return gate in gates

    whole = arguments.defaulted(name, args, enabled)
    found = arguments.validate(name, whole, "", enabled)
    texts = [str(each) for each in found]
    assert [text[:len(expected)] for text, expected in zip(texts, errors, strict=True)] == errors
    if errors:
        with pytest.raises(ArgumentsError) as refused:
            arguments.checked(name, args, enabled)
        assert str(refused.value) == field_errors.aggregate(found)
    else:
        assert arguments.checked(name, args, enabled) == whole


@pytest.mark.parametrize(("text", "seconds"), [(None, 0.0), ("10m0s", 600.0), ("1.5s", 1.5), ("-2ms", -0.002)])
def test_durations_are_gos(text: str | None, seconds: float) -> None:
    """Given a duration as Go writes it / then it is so many seconds; what is none is refused."""
    assert arguments.seconds_of(text) == seconds
    with pytest.raises(ArgumentsError, match=r'^time: invalid duration "5 s"$'):
        arguments.seconds_of("5 s")
