"""What a play is: a story of few objects and little time, and the state in which it ends."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson
import yaml

from fakekube import Cluster
from fakekube.client.resources import PODS
from fakekube.composition.fleet import Fleet, names_of
from fakekube.util.treediff import MISSING, value_at

CALM = "1:0:eJyLjgUAARUAuQ"
"""A schedule that deviates nowhere: a run with caches of its own, undisturbed."""
MANY_SEEDS = range(1, 1001)
"""Of each strategy, and of the order of things."""


class Play(NamedTuple):
    """A story, the components of a cluster that it proves, and the options of that cluster.

    What the story returns is names and states, so that two runs that go well return the same. With
    the option ``fleet`` it is a story of several clusters.
    """

    name: str
    story: Callable[[Any], Awaitable[Any]]
    components: tuple[str, ...]
    options: Mapping[str, Any] = MappingProxyType({})


def stage_of(play, schedule):
    """The cluster or the fleet of a play, with a schedule."""
    names = names_of(play.options.get("fleet", ""))
    options = {name: value for name, value in play.options.items() if name != "fleet"}
    return Fleet(*names, schedule=schedule, **options) if names else Cluster(schedule=schedule, **options)


@cache
def _parsed(text):
    """Of a text that is loaded again and again; as bytes, since what is loaded is the server's."""
    return orjson.dumps(yaml.safe_load(text))


async def load(cluster, text):
    """Create what a YAML text has: an object or a list of them."""
    trees = orjson.loads(_parsed(text))
    await cluster.load(trees if isinstance(trees, list) else [trees])


def told(tree, *paths):
    """What a tree has at these paths, None where it has nothing; without a path, its name."""
    found = [value_at(tree, path) for path in paths or ("metadata.name",)]
    return tuple(None if one is MISSING else one for one in found)


async def all_of(cluster, resource, *paths, namespace="default"):
    """What the objects of a resource have at these paths, in order; without paths, their names."""
    found = await cluster.client.list(resource, namespace if resource.namespaced else "")
    return sorted((told(one, *paths) for one in found.items), key=repr)


async def one_of(cluster, resource, name, *paths, namespace="default"):
    """The same of one object; None where it is gone."""
    found = await cluster.client.get(resource, name, namespace if resource.namespaced else "", missing_ok=True)
    return None if found is None else told(found, *paths)


async def phases(cluster, namespace="default"):
    """The phases of all pods."""
    return [phase for phase, in await all_of(cluster, PODS, "status.phase", namespace=namespace)]
