"""The profiles of a scheduler: which plugins run for pods of which ``schedulerName``.

Without a configuration there is one profile with the default plugins, and what configurations need
is not imported.

Upstream: pkg/scheduler/profile, pkg/scheduler/scheduler.go.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.runtime.context import Context
from fakekube.util import entrypoints
from fakekube_controllers.scheduler.backoff import DEFAULT_BACKOFF, Backoff
from fakekube_controllers.scheduler.event_handlers import DRAFT_GATE
from fakekube_controllers.scheduler.framework.interface import Plugin, PluginFactory
from fakekube_controllers.scheduler.plugins.registry import default_plugins, in_tree_registry
from fakekube_controllers.scheduler.runtime import METHODS, Framework, PluginSelection, Shared

SCHEDULER_NAME = "default-scheduler"
ENTRY_POINTS = "fakekube.scheduler_plugins"


class MultiPoint:
    """Plugins that are called wherever they have a method, in their order, with the weights of
    their scores.
    """

    def __init__(self, plugins: Mapping[str, int], arguments: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.names: Sequence[str] = list(plugins)
        self.arguments: Mapping[str, Mapping[str, Any]] = arguments or {}
        self._weights = plugins

    def points(self, plugins: Mapping[str, Plugin]) -> Mapping[str, Sequence[str]]:
        """The names of those that are called at each extension point."""
        return {point: [name for name, plugin in plugins.items() if hasattr(plugin, method)] for point, method in METHODS.items()}

    def weights(self, plugins: Mapping[str, Plugin]) -> Mapping[str, int]:
        """The weights of scores; 1 where none is given."""
        return {name: self._weights[name] or 1 for name in plugins}


class Setup(NamedTuple):
    """What a scheduler is made of: its profiles by the name that pods ask for, and the rest of a
    configuration.
    """

    profiles: dict[str, Framework]
    backoff: Backoff = DEFAULT_BACKOFF


def setup_of(ctx: Context, shared: Shared) -> Setup:
    """The profiles, made. Raises ValueError for a configuration that is wrong.

    Options of the context: ``scheduler_plugins``, a function from the context to classes of more
    plugins, each with a ``name``: they run in every profile, unless a configuration disables them.
    ``scheduler_config``: the tree of a KubeSchedulerConfiguration; it may also name plugins of the
    entry points ``fakekube.scheduler_plugins``.
    """
    registry = in_tree_registry(ctx.version)
    default = default_plugins(ctx.enabled, ctx.version)
    if ctx.enabled(DRAFT_GATE):
        from fakekube_controllers.scheduler.draft.plugin import DraftGangs

        registry[DraftGangs.name], default[DraftGangs.name] = DraftGangs, 0
    given: Callable[[Context], Sequence[PluginFactory]] | None = ctx.options.get("scheduler_plugins")
    for factory in given(ctx) if given is not None else ():
        name: str = factory.name  # type: ignore[attr-defined]  # a class of plugins has a name
        registry[name], default[name] = factory, 0
    tree = ctx.options.get("scheduler_config")
    if tree is None:
        return Setup({SCHEDULER_NAME: Framework(SCHEDULER_NAME, shared, registry, MultiPoint(default))})
    return _configured(shared, registry, default, tree)


def _configured(shared: Shared, registry: dict[str, PluginFactory], default: Mapping[str, int], tree: Any) -> Setup:
    from fakekube_controllers.scheduler.config import model, plugin_args, validation
    from fakekube_controllers.scheduler.config.selection import ConfiguredPlugins

    config = model.decode(tree)
    if not config.profiles:
        config.profiles = [model.Profile()]
    if len(config.profiles) == 1 and config.profiles[0].scheduler_name is None:
        config.profiles[0].scheduler_name = SCHEDULER_NAME
    plugin_args.decode(config)
    validation.validate(config, shared.ctx.enabled)
    if config.extenders:
        from fakekube_controllers.scheduler.http_extender import HTTPExtender

        shared.extenders = [HTTPExtender(shared.ctx, each) for each in config.extenders]
    selections = [(profile.scheduler_name or "", ConfiguredPlugins(profile, default)) for profile in config.profiles]
    if any(name not in registry for _, selection in selections for name in selection.names):
        for point in entrypoints.entry_points(ENTRY_POINTS)[ENTRY_POINTS]:
            registry.setdefault(point.name, point.load())
    profiles: dict[str, Framework] = {}
    for profile, (name, selection) in zip(config.profiles, selections, strict=True):
        percentage = profile.percentage_of_nodes_to_score
        if percentage is None:
            percentage = config.percentage_of_nodes_to_score
        try:
            selection.check_known(registry)
            profiles[name] = _profile(name, shared, registry, selection, profiles, percentage)
        except ValueError as error:
            raise model.ConfigurationError(f"creating profile for scheduler name {name}: {error}") from error
    backoff = Backoff(float(config.pod_initial_backoff_seconds), float(config.pod_max_backoff_seconds))
    return Setup(profiles, backoff)


def _profile(
    name: str, shared: Shared, registry: Mapping[str, PluginFactory], selection: PluginSelection,
    others: Mapping[str, Framework], percentage_of_nodes_to_score: int | None,
) -> Framework:
    """A profile, which sorts the queue as the others do. Raises ValueError."""
    framework = Framework(name, shared, registry, selection, percentage_of_nodes_to_score=percentage_of_nodes_to_score)
    first = next(iter(others.values()), framework)
    sorts, first_sorts = (each.queue_sort_plugins[0].name for each in (framework, first))
    if sorts != first_sorts:
        raise ValueError(f'different queue sort plugins for profile "{name}": "{sorts}", first: "{first_sorts}"')
    return framework
