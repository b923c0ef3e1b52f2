"""KubeSchedulerConfiguration: profiles, points, weights, arguments; and what is wrong with one."""

import json
import re
from types import SimpleNamespace

import pytest

from fakekube.client.resources import NODES, PODS
from fakekube.composition.cluster import Cluster
from fakekube.composition.options import OptionError
from fakekube.util import entrypoints
from fakekube_controllers.scheduler.framework.status import unresolvable
from fakekube_controllers.scheduler.profiles import setup_of
from fakekube_controllers.scheduler.runtime import Shared
from tests.controllers.scheduler.contexts import CONTEXT
from tests.controllers.world import NAMESPACE, condition

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


class Picky:
    """A filter with an argument: the only node that it lets pass; it scores that by name."""

    name = "Picky"

    def __init__(self, args, handle):
        if "node" in args and not isinstance(args["node"], str):
            raise ValueError("node must be a name")
        self.node = args.get("node")

    def filter(self, state, pod, node):
        return None if self.node in (None, node.name) else unresolvable("node(s) were not picked")

    def score(self, state, pod, node):
        return 100 if node.name == "b" else 0


def made(*plugins, **fields):
    """What a configuration makes of a scheduler."""
    options = {"scheduler_config": {**HEAD, **fields}, "scheduler_plugins": lambda _: plugins}
    context = SimpleNamespace(**{**vars(CONTEXT), "options": options})
    return setup_of(context, Shared(context))


def at(framework, point):
    return [plugin.name for plugin in framework.points[point]]


def test_a_configuration_that_says_nothing_gives_the_default_profile():
    """Given an empty configuration / then there is the default profile, with the default plugins
    and weights, and the default back-off.
    """
    profiles, backoff = made()
    assert list(profiles) == ["default-scheduler"]
    framework = profiles["default-scheduler"]
    assert at(framework, "queueSort") == ["PrioritySort"]
    assert at(framework, "filter")[:2] == ["NodeName", "NodeUnschedulable"]
    assert (framework.weights["TaintToleration"], framework.weights["NodeAffinity"]) == (3, 2)
    assert backoff == (1.0, 10.0)


def test_profiles_have_plugins_and_arguments_of_their_own():
    """Given two profiles / then each has its name, what it enables and disables, and its arguments.
    """
    profiles, backoff = made(Picky, podInitialBackoffSeconds=2, podMaxBackoffSeconds=20, profiles=[
        {"schedulerName": "one", "pluginConfig": [{"name": "Picky", "args": {"node": "b"}}]},
        {"schedulerName": "two", "plugins": {"multiPoint": {"disabled": [{"name": "Picky"}, {"name": "NodePorts"}]}}}])
    assert {name: "Picky" in at(framework, "filter") for name, framework in profiles.items()} == {"one": True, "two": False}
    assert {name: "NodePorts" in at(framework, "preFilter") for name, framework in profiles.items()} == {
        "one": True, "two": False}
    assert profiles["one"].plugins["Picky"].node == "b"
    assert backoff == (2.0, 20.0)


@pytest.mark.parametrize(("plugins", "point", "names"), [
    ({"score": {"disabled": [{"name": "*"}]}}, "score", []),
    ({"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeAffinity"}]}}, "score", ["NodeAffinity"]),
    ({"filter": {"disabled": [{"name": "NodeName"}]}}, "preFilter", ["NodeName"]),
    ({"multiPoint": {"disabled": [{"name": "*"}], "enabled": [
        {"name": "PrioritySort"}, {"name": "DefaultBinder"}, {"name": "NodePorts"}]}}, "filter", ["NodePorts"]),
    ({"filter": {"enabled": [{"name": "VolumeBinding"}]}}, "filter", ["VolumeBinding", "NodeName", "NodeUnschedulable"]),
])
def test_points_are_enabled_and_disabled(plugins, point, names):
    """Given what a profile enables and disables, here and everywhere / then these are called, those
    that are named at the point itself first.
    """
    profiles, _ = made(profiles=[{"plugins": plugins}])
    found = at(profiles["default-scheduler"], point)
    assert found[:len(names)] == names
    if len(names) < 2:
        assert len(found) == len(names) or point == "preFilter"


@pytest.mark.parametrize(("plugins", "weight"), [
    ({}, 3), ({"score": {"enabled": [{"name": "TaintToleration", "weight": 7}]}}, 7),
    ({"multiPoint": {"enabled": [{"name": "TaintToleration", "weight": 5}]}}, 5),
    ({"multiPoint": {"enabled": [{"name": "TaintToleration"}]}}, 1),
    ({"multiPoint": {"enabled": [{"name": "TaintToleration", "weight": 5}]},
      "score": {"enabled": [{"name": "TaintToleration", "weight": 9}]}}, 9),
])
def test_weights_at_the_point_come_before_those_of_everywhere(plugins, weight):
    """Given weights of a score / then that of the point itself counts, then that of everywhere."""
    profiles, _ = made(profiles=[{"plugins": plugins}])
    assert profiles["default-scheduler"].weights["TaintToleration"] == weight


TWO = [{"schedulerName": "a"}, {"schedulerName": "b"}]


@pytest.mark.parametrize(("fields", "text"), [
    ({"profils": []}, 'strict decoding error: unknown field "profils": did you mean profiles?'),
    ({"profiles": [{"plugins": {"filters": {}}}]},
     'strict decoding error: unknown field "profiles[0].plugins.filters": did you mean filter?'),
    ({"kind": "Pod"}, 'no kind "Pod" is registered for version "kubescheduler.config.k8s.io/v1"'),
    ({"parallelism": 0}, "parallelism: Invalid value: 0: should be an integer value greater than zero"),
    ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
    ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"),
    ({"podInitialBackoffSeconds": 20},
     "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds"),
    ({"profiles": [{}, {"schedulerName": "b"}]}, "profiles[0].schedulerName: Required value"),
    ({"profiles": [TWO[0], TWO[0]]}, "profiles[1].schedulerName: Duplicate value"),
    ({"profiles": [TWO[0], {**TWO[1], "plugins": {"queueSort": {"disabled": [{"name": "*"}]}}}]},
     "profiles[1].plugins.queueSort: Invalid value"),
    ({"profiles": [{"plugins": {"filter": {"enabled": [{"name": "EBSLimits"}]}}}]},
     'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version'),
    ({"profiles": [{"pluginConfig": [{"name": "Picky"}, {"name": "Picky"}]}]},
     'profiles[0].pluginConfig[1]: Duplicate value: "Picky"'),
    ({"profiles": [{"pluginConfig": [{"name": "Picky", "args": {"kind": "OtherArgs"}}]}]}, "has to match plugin args"),
    ({"profiles": [{"plugins": {"filter": {"enabled": [{"name": "Nobody"}]}}}]}, 'FilterPlugin "Nobody" does not exist'),
    ({"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Nobody"}]}}}]}, 'PreFilterPlugin "Nobody" does not exist'),
    ({"profiles": [{"plugins": {"bind": {"enabled": [{"name": "NodeName"}]}}}]},
     'plugin "NodeName" does not extend BindPlugin plugin'),
    ({"profiles": [{"plugins": {"filter": {"enabled": [{"name": "NodeName"}, {"name": "NodeName"}]}}}]},
     'plugin "NodeName" already registered as "FilterPlugin"'),
    ({"profiles": [{"plugins": {"bind": {"disabled": [{"name": "*"}]}}}]},
     'at least one bind plugin is needed for profile with scheduler name "default-scheduler"'),
    ({"profiles": [{"plugins": {"queueSort": {"disabled": [{"name": "*"}]}}}]},
     'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0'),
    ({"profiles": [{"pluginConfig": [{"name": "Picky", "args": {"node": 3}}]}]},
     'creating profile for scheduler name default-scheduler: initializing plugin "Picky": node must be a name'),
    ({"extenders": [{"urlPrefix": "http://x", "prioritizeVerb": "p"}]},
     "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"),
    ({"extenders": [{"bindVerb": "b"}, {"bindVerb": "b"}]}, "only one extender can implement bind"),
])
def test_what_is_wrong_is_said_as_upstream_does(fields, text):
    """Given a configuration that is wrong / then it is refused, in upstream's words."""
    with pytest.raises(ValueError, match=re.escape(text)):
        made(Picky, **fields)


POD = {"spec": {"containers": [{"name": "main", "image": "i"}]}}


async def pod(cluster, name, **spec):
    await cluster.client.create(PODS, {
        "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {**POD["spec"], **spec}})
    await cluster.settle()
    made = await cluster.client.get(PODS, name, NAMESPACE)
    return made["spec"].get("nodeName") or (condition(made, "PodScheduled") or {}).get("message")


async def node(cluster, name):
    resources = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    made = await cluster.client.create(NODES, {
        "metadata": {"name": name}, "spec": {}, "status": {"capacity": resources, "allocatable": resources}})
    await cluster.client.update(NODES, {**made, "spec": {"taints": []}})
    await cluster.settle()


async def test_pods_get_the_profile_that_they_ask_for(tmp_path):
    """Given a file with two profiles, of which one picks a node / then the pods of each get its
    nodes; one that asks for another scheduler gets none.
    """
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps({**HEAD, "profiles": [
        {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"disabled": [{"name": "Picky"}]}}},
        {"schedulerName": "picky", "pluginConfig": [{"name": "Picky", "args": {"node": "c"}}]}]}))
    async with Cluster(nodes=0, clock="manual", controllers="scheduler,serviceaccount", scheduler_config=file,
                       scheduler_plugins=lambda _: [Picky]) as cluster:
        for name in "abc":
            await node(cluster, name)
        assert await pod(cluster, "p") == "a"
        assert await pod(cluster, "q", schedulerName="picky") == "c"
        assert await pod(cluster, "r", schedulerName="other") is None


async def test_a_weight_decides():
    """Given a score that prefers one node / when its weight is small / then another goes before it
    / when it is large / then not.
    """
    async def first(weight):
        config = {**HEAD, "profiles": [{"plugins": {"score": {"enabled": [{"name": "Picky", "weight": weight}]}}}]}
        async with Cluster(nodes=0, clock="manual", controllers="scheduler,serviceaccount", scheduler_config=config,
                           scheduler_plugins=lambda _: [Picky]) as cluster:
            for name in "ab":
                await node(cluster, name)
            prefers = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}}]}}
            return await pod(cluster, "p", affinity=prefers)

    assert [await first(1), await first(50)] == ["a", "b"]


async def test_a_file_that_cannot_be_read_stops_the_start(tmp_path):
    """Given a file that is not there, and one that is no YAML / then the cluster does not start,
    and the error names the option.
    """
    broken = tmp_path / "broken.yaml"
    broken.write_text("{")
    for file in (tmp_path / "missing.yaml", broken):
        with pytest.raises(OptionError, match="scheduler_config"):
            async with Cluster(clock="manual", scheduler_config=file):
                pass


def test_a_configuration_names_plugins_that_packages_offer(monkeypatch):
    """Given a package that offers a plugin by an entry point / when a configuration enables it /
    then it runs / when none does / then it does not, and nobody looks for it.
    """
    looked = []

    def entry_points(*groups):
        looked.append(groups)
        return {group: [entrypoints.EntryPoint("Picky", f"{__name__}:Picky")] for group in groups}

    monkeypatch.setattr(entrypoints, "entry_points", entry_points)
    monkeypatch.setattr(entrypoints.EntryPoint, "load", lambda _: Picky)
    profiles, _ = made(profiles=[{"plugins": {"multiPoint": {"enabled": [{"name": "Picky", "weight": 4}]}}}])
    framework = profiles["default-scheduler"]
    assert (at(framework, "filter")[-1], framework.weights["Picky"], looked) == ("Picky", 4, [("fakekube.scheduler_plugins",)])
    made()
    assert len(looked) == 1


async def test_a_configuration_that_is_wrong_stops_the_start():
    """Given a configuration with a field that does not exist / then the cluster does not start, and
    the error names the option; no pod is needed for that.
    """
    with pytest.raises(OptionError, match='scheduler_config: strict decoding error: unknown field "profils"'):
        async with Cluster(clock="manual", scheduler_config={**HEAD, "profils": []}):
            pass
