"""A profile with its plugins and no cluster: nobody gives claims or devices."""

from types import SimpleNamespace
from typing import Any

from fakekube_controllers.scheduler.cycle import Algorithm
from fakekube_controllers.scheduler.plugins.registry import default_plugins, in_tree_registry
from fakekube_controllers.scheduler.profiles import SCHEDULER_NAME, MultiPoint
from fakekube_controllers.scheduler.runtime import Framework, Shared

# a lister of nothing
NO_OBJECTS = SimpleNamespace(get=lambda *_: None, list=lambda *_: [], add_index=lambda *_: None, by_index=lambda *_: [])
CONTEXT = SimpleNamespace(
    client=None, clock=None, rng=None, version="1.37", enabled=lambda gate: gate == "InPlacePodVerticalScaling",
    lister=lambda _: NO_OBJECTS)


def framework(*more: Any, without: Any = ()) -> Any:
    """The default profile, with more plugins (classes) and without some (names)."""
    registry = in_tree_registry() | {plugin.name: plugin for plugin in more}
    plugins = default_plugins(CONTEXT.enabled) | {plugin.name: 1 for plugin in more}
    selection = MultiPoint({name: weight for name, weight in plugins.items() if name not in without})
    return Framework(SCHEDULER_NAME, Shared(CONTEXT), registry, selection)


def algorithm(*more: Any, groups_nodes: Any = True, without: Any = ()) -> Any:
    """The algorithm of such a profile."""
    return Algorithm(framework(*more, without=without), groups_nodes=groups_nodes)


def plugin(made: Any, **args: Any) -> Any:
    """A plugin on its own, of its class."""
    return made(args, framework())
