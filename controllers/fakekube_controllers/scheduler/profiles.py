"""The profiles of a scheduler: which plugins run for pods of which ``schedulerName``.

Upstream: pkg/scheduler/profile, framework/runtime/framework.go (expandMultiPointPlugins).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fakekube.runtime.context import Context
from fakekube_controllers.scheduler.framework.interface import Plugin, PluginFactory
from fakekube_controllers.scheduler.plugins.registry import default_plugins, in_tree_registry
from fakekube_controllers.scheduler.runtime import METHODS, Framework, Shared

SCHEDULER_NAME = "default-scheduler"


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


def profiles_of(ctx: Context, shared: Shared) -> dict[str, Framework]:
    """The profiles by the scheduler's name that pods ask for.

    Option of the context: ``scheduler_plugins``, a function from the context to factories of more
    plugins (classes, say), each with a ``name``.
    """
    registry = in_tree_registry()
    enabled = default_plugins(ctx.enabled)
    given: Callable[[Context], Sequence[PluginFactory]] | None = ctx.options.get("scheduler_plugins")
    for factory in given(ctx) if given is not None else ():
        name: str = factory.name  # type: ignore[attr-defined]  # a class of plugins has a name
        registry[name], enabled[name] = factory, 0
    return {SCHEDULER_NAME: Framework(SCHEDULER_NAME, shared, registry, MultiPoint(enabled))}
