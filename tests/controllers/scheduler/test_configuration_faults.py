"""A configuration of the scheduler with something wrong in any place: an error says so."""

import copy
import datetime as dt
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.composition.cluster import Cluster
from fakekube.composition.options import OptionError
from fakekube_controllers.scheduler.config.model import ConfigurationError
from fakekube_controllers.scheduler.profiles import setup_of
from fakekube_controllers.scheduler.runtime import Shared
from tests.controllers.scheduler.contexts import CONTEXT
from tests.controllers.scheduler.test_configuration import HEAD

Path = tuple[str | int, ...]

TERM = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
ARGUMENTS = {
    "DefaultPreemption": {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100},
    "InterPodAffinity": {"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": True},
    "NodeAffinity": {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeAffinityArgs", "addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": TERM}]}},
    "NodeResourcesFit": {
        "ignoredResources": ["example.com/a"], "ignoredResourceGroups": ["example.org"], "scoringStrategy": {
            "type": "RequestedToCapacityRatio", "resources": [{"name": "cpu", "weight": 1}],
            "requestedToCapacityRatio": {"shape": SHAPE}}},
    "NodeResourcesBalancedAllocation": {"resources": [{"name": "cpu", "weight": 1}]},
    "PodTopologySpread": {"defaultingType": "List", "defaultConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]},
    "VolumeBinding": {"bindTimeoutSeconds": 600},
}
CONFIGURATION: dict[str, Any] = {
    **HEAD, "parallelism": 4, "leaderElection": {"leaderElect": False}, "clientConnection": {"qps": 5},
    "percentageOfNodesToScore": 50, "podInitialBackoffSeconds": 2, "podMaxBackoffSeconds": 20,
    "profiles": [{
        "schedulerName": "a", "percentageOfNodesToScore": 3,
        "plugins": {
            "queueSort": {"enabled": [{"name": "PrioritySort"}]}, "multiPoint": {"disabled": [{"name": "ImageLocality"}]},
            "score": {"enabled": [{"name": "NodeResourcesFit", "weight": 4}], "disabled": [{"name": "*"}]},
            "filter": {"disabled": [{"name": "NodeName"}]}},
        "pluginConfig": [{"name": name, "args": args} for name, args in ARGUMENTS.items()]}],
    "extenders": [{
        "urlPrefix": "http://127.0.0.1:1/x", "filterVerb": "f", "prioritizeVerb": "p", "weight": 3, "bindVerb": "b",
        "enableHTTPS": True, "tlsConfig": {"serverName": "x", "caData": "aGk="}, "httpTimeout": "3s",
        "nodeCacheCapable": True, "managedResources": [{"name": "example.com/foo", "ignoredByScheduler": True}],
        "ignorable": True}],
}
WRONG: list[Any] = [
    dt.date(2024, 1, 1), b"x", 0, -1, 3, 2**40, 2**70, 1.5, float("nan"), "", "x", "*", "\0", "ä" * 300, [], {}, [None],
    [[]], [{}], {"x": 1}, {1: 2}, {None: "a"}, True, False, "1h", "-1s", "PrioritySort", "NodeName", [{"name": "Nope"}],
    ["a", 1], {"name": "x", "args": {3: 4}},
]


def _error(tree: Any) -> str:
    context: Any = SimpleNamespace(**{**vars(CONTEXT), "options": {"scheduler_config": tree, "post": object()}})
    try:
        setup_of(context, Shared(context))
    except ConfigurationError as error:
        return str(error)
    return ""


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*path, key)
        yield from _paths(each, (*path, key))


PATHS = list(_paths(CONFIGURATION))


def _with(path: Path, value: Any) -> Any:
    changed = copy.deepcopy(CONFIGURATION)
    where = changed
    for key in path[:-1]:
        where = where[key]  # type: ignore[index]  # lists among the objects
    where[path[-1]] = value  # type: ignore[index]
    return changed


def test_whatever_is_wrong_is_an_error_that_says_so() -> None:
    """Given a configuration that says much / when any of its parts is something else / then it is
    taken, or refused with an error of the configuration.
    """
    assert not _error(CONFIGURATION)
    texts = [_error(_with(path, value)) for path in PATHS for value in WRONG]
    assert sum(1 for text in texts if text) > len(texts) / 2


def test_what_is_null_says_nothing() -> None:
    """Given a configuration that says much / when a field is null / then that is as without the
    field, as in Go's JSON; only in a list null stands for something.
    """
    for path in PATHS:
        if isinstance(path[-1], str):
            without = _with(path, None)
            where = without
            for key in path[:-1]:
                where = where[key]
            del where[path[-1]]
            assert _error(_with(path, None)) == _error(without), path


@pytest.mark.parametrize(("text", "said"), [
    ("", "Object 'Kind' is missing"), ("- a", "Object 'Kind' is missing"), ("kind: x", 'no kind "x" is registered'),
    ("a: {", "scheduler_config"), ("a: b: c", "scheduler_config"), ("\x00", "scheduler_config"),
    ("!!python/none x", "scheduler_config"),
])
async def test_a_file_that_is_no_configuration_stops_the_start(tmp_path: Any, text: str, said: str) -> None:
    """Given a file that is empty, no YAML, or something else / then the cluster does not start, and
    the error names the option.
    """
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(OptionError, match="scheduler_config") as caught:
        async with Cluster(clock="manual", scheduler_config=file):
            pass
    assert said in str(caught.value)
