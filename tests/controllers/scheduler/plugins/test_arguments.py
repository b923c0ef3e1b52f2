"""Arguments of plugins in a configuration: what they do, and what is wrong with some."""

from types import SimpleNamespace

import pytest

from fakekube_controllers.scheduler.profiles import setup_of
from fakekube_controllers.scheduler.runtime import Shared
from tests.controllers.scheduler.contexts import CONTEXT

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
ZONE = "topology.kubernetes.io/zone"


def made(name, **args):
    """The profile of a configuration with arguments for one plugin."""
    tree = {**HEAD, "profiles": [{"pluginConfig": [{"name": name, "args": args}]}]}
    context = SimpleNamespace(**{**vars(CONTEXT), "options": {"scheduler_config": tree}})
    return setup_of(context, Shared(context)).profiles["default-scheduler"]


FIT = 'creating profile for scheduler name default-scheduler: initializing plugin "NodeResourcesFit": '
AT = "profiles[0].pluginConfig[0].args"


@pytest.mark.parametrize(("name", "args", "text"), [
    ("InterPodAffinity", {"hardPodAffinityWeight": 200},
     f"{AT}.hardPodAffinityWeight: Invalid value: 200: not in valid range [0, 100]"),
    ("DefaultPreemption", {"minCandidateNodesPercentage": 101, "minCandidateNodesAbsolute": -1},
     (f"[{AT}.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100], "
     f"{AT}.minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)]")),
    ("DefaultPreemption", {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0},
     (f"[{AT}.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute, "
     f"{AT}.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage]")),
    ("PodTopologySpread", {"defaultingType": "Some"},
     f'{AT}.defaultingType: Unsupported value: "Some": supported values: "System", "List"'),
    ("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": [
        {"topologyKey": "", "maxSkew": 0, "whenUnsatisfiable": "Never", "labelSelector": {}}]},
     (f"[{AT}.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf), "
     f"{AT}.defaultConstraints[0].topologyKey: Required value: can not be empty, "
     f'{AT}.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", '
     f'"ScheduleAnyway", {AT}.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they '
     "deduced for each pod]")),
    ("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": [
        {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}] * 2},
     f'{AT}.defaultConstraints[1]: Duplicate value: "{{{ZONE}, DoNotSchedule}}"'),
    ("NodeResourcesFit", {"ignoredResourceGroups": ["a/b"], "scoringStrategy": {"type": "Least"}},
     (f"{FIT}"
     "[ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/', scoringStrategy.type: "
     'Unsupported value: "Least": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]')),
    ("NodeResourcesFit", {"scoringStrategy": {"type": "RequestedToCapacityRatio", "resources": [{"name": "cpu", "weight": 101}]}},
     (f"{FIT}"
     "[scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100], "
     "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio]")),
    ("NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated", "requestedToCapacityRatio": {}}},
     (f"{FIT}"
     "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio")),
    ("InterPodAffinity", {"weight": 1},
     ("strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin "
     'InterPodAffinity: strict decoding error: unknown field "weight": did you mean hardPodAffinityWeight?')),
    ("PodTopologySpread", {"defaultConstraints": "all"},
     ("decoding .profiles[0].pluginConfig[0]: decoding args for plugin PodTopologySpread: defaultConstraints: Input should be a "
     "valid list")),
])
def test_arguments_that_are_wrong(name, args, text):
    """Given arguments of a wrong kind or out of range / then the scheduler does not start, and says
    what upstream says.
    """
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the text is compared whole
        made(name, **args)
    assert str(raised.value) == text


@pytest.mark.parametrize(("name", "args"), [
    ("InterPodAffinity", {"hardPodAffinityWeight": 0, "kind": "InterPodAffinityArgs"}),
    ("NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated"}}),
    ("PodTopologySpread", {"defaultingType": "List"}), ("VolumeBinding", {"bindTimeoutSeconds": 0}),
    ("NodeResourcesBalancedAllocation", {"resources": [{"name": "cpu"}, {"name": "example.com/gpu", "weight": 1}]}),
    ("NodeAffinity", {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
])
def test_arguments_that_are_right(name, args):
    """Given arguments with all else left to defaults / then the plugin has them."""
    assert name in made(name, **args).plugins
