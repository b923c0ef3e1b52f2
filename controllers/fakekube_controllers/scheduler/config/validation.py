"""What must hold of a configuration beside the types of its fields.

Upstream: pkg/scheduler/apis/config/validation/validation.go.
"""

from collections.abc import Callable, Iterator

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError, duplicate, invalid, required
from fakekube_controllers.scheduler.config import plugin_args
from fakekube_controllers.scheduler.config.model import (
    API_VERSION,
    Configuration,
    ConfigurationError,
    ExtenderConfig,
    PluginSet,
    Profile,
)

REMOVED = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")
POINTS = {
    "preEnqueue": "pre_enqueue", "queueSort": "queue_sort", "preFilter": "pre_filter", "filter": "filter",
    "postFilter": "post_filter", "preScore": "pre_score", "score": "score", "reserve": "reserve", "permit": "permit",
    "preBind": "pre_bind", "bind": "bind", "postBind": "post_bind", "placementGenerate": "placement_generate",
    "placementScore": "placement_score", "podGroupPostFilter": "pod_group_post_filter",
}
"""The extension points, with the field of ``Plugins`` for each."""
WAS_INVALID = f'was invalid in version "{API_VERSION}" (KubeSchedulerConfiguration is version "{API_VERSION}")'


def validate(config: Configuration, enabled: Callable[[str], bool]) -> None:
    """``enabled``: whether a feature gate is on. Raises ConfigurationError, with all that is wrong.
    """
    errors = list(_errors(config, enabled))
    if errors:
        raise ConfigurationError(field_errors.aggregate(errors))


def _errors(config: Configuration, enabled: Callable[[str], bool]) -> Iterator[FieldError]:
    if config.leader_election.get("leaderElect") and config.leader_election.get("resourceLock", "leases") != "leases":
        lock = config.leader_election["resourceLock"]
        yield invalid("leaderElection.resourceLock", lock, 'resourceLock value must be "leases"')
    if config.parallelism <= 0:
        yield invalid("parallelism", config.parallelism, "should be an integer value greater than zero")
    if not config.profiles:
        yield required("profiles")
    seen: dict[str | None, int] = {}
    for number, profile in enumerate(config.profiles):
        path = field_errors.index("profiles", number)
        yield from _profile(path, profile, enabled)
        if profile.scheduler_name in seen:
            first = field_errors.Verbatim(f"profiles[{seen[profile.scheduler_name]}].schedulerName")
            yield duplicate(f"{path}.schedulerName", first)
        seen[profile.scheduler_name] = number
    yield from _queue_sort(config.profiles)
    yield from _percentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score)
    if config.pod_initial_backoff_seconds <= 0:
        yield invalid("podInitialBackoffSeconds", config.pod_initial_backoff_seconds, "must be greater than 0")
    if config.pod_max_backoff_seconds < config.pod_initial_backoff_seconds:
        yield invalid(
            "podMaxBackoffSeconds", config.pod_max_backoff_seconds, "must be greater than or equal to PodInitialBackoffSeconds")
    yield from _extenders(config.extenders)


def _percentage(path: str, value: int | None) -> Iterator[FieldError]:
    if value is not None and not 0 <= value <= 100:
        yield invalid(path, value, "not in valid range [0-100]")


def _profile(path: str, profile: Profile, enabled: Callable[[str], bool]) -> Iterator[FieldError]:
    if not profile.scheduler_name:
        yield required(f"{path}.schedulerName")
    yield from _percentage(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
    for point, field in POINTS.items():
        chosen: PluginSet = getattr(profile.plugins, field)
        for number, plugin in enumerate(chosen.enabled):
            if plugin.name in REMOVED:
                yield invalid(f"{path}.plugins.{point}.enabled[{number}]", plugin.name, WAS_INVALID)
    seen: dict[str, None] = {}
    for number, each in enumerate(profile.plugin_config):
        here = f"{path}.pluginConfig[{number}]"
        if each.name in seen:
            yield duplicate(here, each.name)
        seen[each.name] = None
        if each.name in REMOVED:
            yield invalid(here, each.name, WAS_INVALID)
        elif "kind" in each.args and each.args["kind"] != f"{each.name}Args":
            yield invalid(f"{here}.args", each.args, "has to match plugin args")
        else:
            yield from plugin_args.errors(each.name, each.args, f"{here}.args", enabled)


def _queue_sort(profiles: list[Profile]) -> Iterator[FieldError]:
    if not profiles:
        return
    first = profiles[0].plugins.queue_sort
    if len(first.enabled) > 1:
        yield invalid(
            "profiles[0].plugins.queueSort.Enabled", len(first.enabled), "only one queue sort plugin can be enabled")
    for number, profile in enumerate(profiles[1:], 1):
        if profile.plugins.queue_sort != first:
            chosen = profile.plugins.queue_sort.model_dump(by_alias=True, exclude_none=True)
            yield invalid(f"profiles[{number}].plugins.queueSort", chosen, "must be the same for all profiles")


def _extenders(extenders: list[ExtenderConfig]) -> Iterator[FieldError]:
    managed: dict[str, None] = {}
    for number, extender in enumerate(extenders):
        path = f"extenders[{number}]"
        if extender.prioritize_verb and extender.weight <= 0:
            yield invalid(f"{path}.weight", extender.weight, "must have a positive weight applied to it")
        for place, resource in enumerate(extender.managed_resources):
            if "/" not in resource.name or resource.name.partition("/")[0].endswith("kubernetes.io"):
                yield invalid(f"{path}.managedResources[{place}].name", resource.name, "is an invalid extended resource name")
            if resource.name in managed:
                yield invalid(f"{path}.managedResources[{place}].name", resource.name, "duplicate extender managed resource name")
            managed[resource.name] = None
    binders = sum(1 for extender in extenders if extender.bind_verb)
    if binders > 1:
        yield invalid("extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind")
