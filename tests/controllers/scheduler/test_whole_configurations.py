"""All fields of a configuration, all that is wrong with one, and what a scheduler watches."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.scheduler.config import model, validation
from fakekube_controllers.scheduler.config.model import ConfigurationError
from fakekube_controllers.scheduler.event_handlers import watched_resources
from fakekube_controllers.scheduler.profiles import setup_of
from fakekube_controllers.scheduler.runtime import Shared
from tests.controllers.scheduler.contexts import CONTEXT

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
POINTS = [
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind",
    "postBind", "multiPoint", "placementGenerate", "placementScore", "podGroupPostFilter"]


def decoded(**fields: Any) -> Any:
    return model.decode({**HEAD, **fields})


def test_every_field_is_known_and_has_upstreams_default() -> None:
    """Given a configuration with every field, and one with none / then all are taken, and what is
    not said is upstream's default.
    """
    bare = decoded().model_dump(by_alias=True)
    assert bare == {
        **HEAD, "parallelism": 16, "leaderElection": {}, "clientConnection": {}, "enableProfiling": None,
        "enableContentionProfiling": None, "delayCacheUntilActive": False, "percentageOfNodesToScore": None,
        "podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 10, "profiles": [], "extenders": []}
    nothing: dict[str, Any] = {"enabled": [], "disabled": []}
    profile = decoded(profiles=[{}]).model_dump(by_alias=True)["profiles"][0]
    assert profile == {
        "schedulerName": None, "percentageOfNodesToScore": None, "pluginConfig": [], "plugins": dict.fromkeys(POINTS, nothing)}
    tls = {
        "insecure": False, "serverName": "", "certFile": "", "keyFile": "", "caFile": "", "certData": "", "keyData": "",
        "caData": ""}
    extender = decoded(extenders=[{"tlsConfig": {}, "managedResources": [{}]}]).model_dump(by_alias=True)["extenders"][0]
    assert extender == {
        "urlPrefix": "", "filterVerb": "", "preemptVerb": "", "prioritizeVerb": "", "weight": 0, "bindVerb": "",
        "enableHTTPS": False,
        "tlsConfig": tls, "httpTimeout": "", "nodeCacheCapable": False, "ignorable": False,
        "managedResources": [{"name": "", "ignoredByScheduler": False}]}
    choice = decoded(profiles=[{"plugins": {"score": {"enabled": [{}]}}, "pluginConfig": [{}]}]).profiles[0]
    assert (choice.plugins.score.enabled[0].model_dump(), choice.plugin_config[0].model_dump()) == (
        {"name": "", "weight": None}, {"name": "", "args": {}})


NO_VERSION = 'no kind "KubeSchedulerConfiguration" is registered for version "" in scheme of the scheduler'
HAS_INVALID = (
    'was invalid in version "kubescheduler.config.k8s.io/v1" (KubeSchedulerConfiguration is version '
    '"kubescheduler.config.k8s.io/v1")')


@pytest.mark.parametrize(("tree", "text"), [
    (None, "Object 'Kind' is missing in the configuration"), ([], "Object 'Kind' is missing in the configuration"),
    ({"apiVersion": HEAD["apiVersion"]}, "Object 'Kind' is missing in the configuration"), ({"kind": HEAD["kind"]}, NO_VERSION),
    ({**HEAD, "apiVersion": "v2"}, NO_VERSION.replace('""', '"v2"')),
])
def test_what_is_no_configuration_says_so(tree: Any, text: str) -> None:
    """Given something else than a configuration of the version / then that is told."""
    with pytest.raises(ConfigurationError) as refused:
        model.decode(tree)
    assert (str(refused.value), refused.value.option) == (text, "scheduler_config")


def errors(**fields: Any) -> str:
    """All that validation says of a configuration."""
    try:
        validation.validate(decoded(**{"profiles": [{"schedulerName": "a"}], **fields}), lambda _: True)
    except ConfigurationError as error:
        return str(error)
    return ""


def enabled(point: str, *names: str) -> dict[str, Any]:
    return {point: {"enabled": [{"name": name} for name in names]}}


@pytest.mark.parametrize(("fields", "text"), [
    ({}, ""), ({"profiles": []}, "profiles: Required value"),
    ({"leaderElection": {"leaderElect": True, "resourceLock": "endpoints"}},
     'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"'),
    ({"leaderElection": {"leaderElect": True, "resourceLock": "leases"}}, ""), ({"leaderElection": {"leaderElect": True}}, ""),
    ({"leaderElection": {"leaderElect": False, "resourceLock": "x"}}, ""),
    ({"parallelism": 1}, ""),
    ({"parallelism": -1}, "parallelism: Invalid value: -1: should be an integer value greater than zero"),
    ({"percentageOfNodesToScore": 0}, ""), ({"percentageOfNodesToScore": 100}, ""),
    ({"percentageOfNodesToScore": -1}, "percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"),
    ({"podInitialBackoffSeconds": 10}, ""), ({"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}, ""),
    ({"podInitialBackoffSeconds": -1, "podMaxBackoffSeconds": -2},
     ("[podInitialBackoffSeconds: Invalid value: -1: must be greater than 0, podMaxBackoffSeconds: Invalid value: -2: must be "
      "greater than or equal to PodInitialBackoffSeconds]")),
    ({"profiles": [{"schedulerName": "a", "percentageOfNodesToScore": 101}]},
     "profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
    ({"profiles": [{"schedulerName": ""}]}, "profiles[0].schedulerName: Required value"),
    ({"profiles": [{"schedulerName": "a"}, {"schedulerName": "b"}, {"schedulerName": "a"}]},
     "profiles[2].schedulerName: Duplicate value: profiles[0].schedulerName"),
    ({"profiles": [{"schedulerName": "a", "plugins": enabled("queueSort", "One", "Two")}]},
     "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled"),
    *(({"profiles": [{"schedulerName": "a", "plugins": enabled(point, "NodeName", name)}]},
       f'profiles[0].plugins.{point}.enabled[1]: Invalid value: "{name}": {HAS_INVALID}') for point, name in (
        ("preEnqueue", "AzureDiskLimits"), ("preFilter", "CinderLimits"), ("filter", "EBSLimits"),
        ("podGroupPostFilter", "GCEPDLimits"))),
    ({"profiles": [{"schedulerName": "a", "pluginConfig": [{"name": "EBSLimits"}]}]},
     f'profiles[0].pluginConfig[0]: Invalid value: "EBSLimits": {HAS_INVALID}'),
    ({"profiles": [{"schedulerName": "a", "pluginConfig": [{"name": "X", "args": {"kind": "YArgs"}}]}]},
     'profiles[0].pluginConfig[0].args: Invalid value: {"kind":"YArgs"}: has to match plugin args'),
    ({"profiles": [{"schedulerName": "a", "pluginConfig": [{"name": "X", "args": {"kind": "XArgs"}}, {"name": "X"}]}]},
     'profiles[0].pluginConfig[1]: Duplicate value: "X"'),
    ({"extenders": [{"prioritizeVerb": "p", "weight": 1}, {"weight": -1}]}, ""),
    ({"extenders": [{"prioritizeVerb": "p", "weight": -1}]},
     "extenders[0].weight: Invalid value: -1: must have a positive weight applied to it"),
    ({"extenders": [{"managedResources": [{"name": "a.b/c"}]}, {"managedResources": [{"name": "cpu"}, {"name": "a.b/c"}]}]},
     ('[extenders[1].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name, '
      'extenders[1].managedResources[1].name: Invalid value: "a.b/c": duplicate extender managed resource name]')),
    ({"extenders": [{"managedResources": [{"name": "x.kubernetes.io/y"}]}]},
     'extenders[0].managedResources[0].name: Invalid value: "x.kubernetes.io/y": is an invalid extended resource name'),
    ({"extenders": [{"bindVerb": "b"}, {}]}, ""),
    ({"extenders": [{"bindVerb": "b"}] * 3},
     'extenders: Invalid value: "found 3 extenders implementing bind": only one extender can implement bind'),
])
def test_all_that_is_wrong_is_told(fields: Any, text: str) -> None:
    """Given a configuration / then all of its faults are told at once, in upstream's words."""
    assert errors(**fields) == text


class Sorting:
    """Sorts the queue in its own way, and scores."""

    name = "Sorting"

    def __init__(self, args: Any, handle: Any) -> None:
        pass

    def sort_key(self, queued: Any) -> Any:
        """All alike."""
        return 0

    def score(self, *_: Any) -> int:
        """All alike."""
        return 0


def made(**profile: Any) -> Any:
    options = {"scheduler_config": {**HEAD, "profiles": [profile]}, "scheduler_plugins": lambda _: [Sorting]}
    context: Any = SimpleNamespace(**{**vars(CONTEXT), "options": options})
    return setup_of(context, Shared(context))


@pytest.mark.parametrize(("plugins", "text"), [
    ({}, 'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 2'),
    ({"multiPoint": {"enabled": [{"name": "NodeName"}, {"name": "NodeName"}], "disabled": [{"name": "Sorting"}]}},
     'plugin "NodeName" already registered as "PreFilterPlugin"'),
    ({"queueSort": {"disabled": [{"name": "Sorting"}]}, "score": {"enabled": [{"name": "Sorting", "weight": 2**31 - 1}] * 2}},
     'plugin "Sorting" already registered as "ScorePlugin"'),
    ({"queueSort": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeName"}]}},
     'plugin "NodeName" does not extend QueueSortPlugin plugin'),
    ({"queueSort": {"disabled": [{"name": "Sorting"}]}, "bind": {"disabled": [{"name": "DefaultBinder"}]}},
     'at least one bind plugin is needed for profile with scheduler name "default-scheduler"'),
    ({"queueSort": {"disabled": [{"name": "Sorting"}]}, "preFilter": {"enabled": [{"name": "Nobody"}]}},
     'PreFilterPlugin "Nobody" does not exist'),
])
def test_a_profile_that_cannot_be_made_says_why(plugins: Any, text: str) -> None:
    """Given plugins of a profile that do not go together / then that is told with the profile."""
    with pytest.raises(ConfigurationError) as refused:
        made(plugins=plugins)
    assert str(refused.value) == f"creating profile for scheduler name default-scheduler: {text}"


def test_plugins_are_called_in_the_order_that_is_chosen() -> None:
    """Given what is enabled at a point and everywhere / then what is named at both comes first,
    then what is named everywhere, then what is named at the point alone; weights go the same way.
    """
    profiles = made(plugins={
        "multiPoint": {"disabled": [{"name": "*"}], "enabled": [
            {"name": "PrioritySort"}, {"name": "DefaultBinder"}, {"name": "NodeName"}, {"name": "ImageLocality", "weight": 4},
            {"name": "NodePorts"}, {"name": "TaintToleration"}]},
        "filter": {"enabled": [{"name": "NodeAffinity"}, {"name": "NodePorts"}]},
        "preFilter": {"disabled": [{"name": "NodeName"}]},
        "score": {"enabled": [{"name": "ImageLocality", "weight": 9}, {"name": "NodeAffinity"}]}}).profiles
    found = profiles["default-scheduler"]
    assert {point: [each.name for each in found.points[point]] for point in ("filter", "preFilter", "score")} == {
        "filter": ["NodePorts", "NodeName", "TaintToleration", "NodeAffinity"], "preFilter": ["NodePorts"],
        "score": ["ImageLocality", "TaintToleration", "NodeAffinity"]}
    assert {name: found.weights[name] for name in ("ImageLocality", "TaintToleration", "NodeAffinity")} == {
        "ImageLocality": 9, "TaintToleration": 1, "NodeAffinity": 1}


STORAGE = {
    "PersistentVolume": ("", "v1", "persistentvolumes", False),
    "PersistentVolumeClaim": ("", "v1", "persistentvolumeclaims", True),
    "storage.k8s.io/StorageClass": ("storage.k8s.io", "v1", "storageclasses", False),
    "storage.k8s.io/CSINode": ("storage.k8s.io", "v1", "csinodes", False),
    "storage.k8s.io/CSIDriver": ("storage.k8s.io", "v1", "csidrivers", False),
    "storage.k8s.io/CSIStorageCapacity": ("storage.k8s.io", "v1", "csistoragecapacities", True),
    "storage.k8s.io/VolumeAttachment": ("storage.k8s.io", "v1", "volumeattachments", False)}
DEVICES = {
    "resource.k8s.io/ResourceClaim": ("resource.k8s.io", "v1", "resourceclaims", True),
    "resource.k8s.io/ResourceSlice": ("resource.k8s.io", "v1", "resourceslices", False),
    "resource.k8s.io/DeviceClass": ("resource.k8s.io", "v1", "deviceclasses", False)}


def group(plural: str, version: str) -> tuple[str, str, str, bool]:
    return "scheduling.k8s.io", version, plural, True


@pytest.mark.parametrize(("version", "gates", "more"), [
    ("1.37", (), {}), ("1.37", ("DynamicResourceAllocation",), DEVICES), ("1.37", ("CompositePodGroup",), {}),
    ("1.37", ("GenericWorkload",), {
        "scheduling.k8s.io/Workload": group("workloads", "v1beta1"),
        "scheduling.k8s.io/PodGroup": group("podgroups", "v1beta1")}),
    ("1.37", ("GenericWorkload", "CompositePodGroup"), {
        "scheduling.k8s.io/Workload": group("workloads", "v1beta1"), "scheduling.k8s.io/PodGroup": group("podgroups", "v1beta1"),
        "scheduling.k8s.io/CompositePodGroup": group("compositepodgroups", "v1alpha3")}),
    ("1.36", ("GenericWorkload",), {
        "scheduling.k8s.io/Workload": group("workloads", "v1alpha2"),
        "scheduling.k8s.io/PodGroup": group("podgroups", "v1alpha2")}),
    ("1.35", ("GenericWorkload",), {"scheduling.k8s.io/Workload": group("workloads", "v1alpha1")}),
    ("1.37", ("DraftWorkload",), {"scheduling.k8s.io/Workload": ("scheduling.fakekube.dev", "v1alpha1", "workloads", True)}),
])
def test_a_scheduler_watches_what_plugins_may_register(version: str, gates: tuple[str, ...], more: Any) -> None:
    """Given a release and gates / then these resources are watched, in these versions."""
    context: Any = SimpleNamespace(version=version, enabled=lambda gate: gate in gates)
    found = {kind.value: (each.group, each.version, each.plural, each.namespaced) for kind,
    each in watched_resources(context).items()}
    assert found == {**STORAGE, **more}
