"""The hooks of a strategy in the order in which the store calls them."""

from copy import deepcopy
from typing import Any

from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import as_told
from fakekube.registry.strategy import Strategy, WriteContext
from tests.admission.world import World


def told(errors: list[FieldError], ctx: WriteContext) -> list[str]:
    """What is wrong, as the release tells it."""
    return [str(error) for error in as_told(errors, ctx.minor)]


def named(tree: Tree | None = None, **metadata: Any) -> Tree:
    """An object with a name, in namespace t."""
    return {"metadata": {"name": "x", "namespace": "t", "uid": "u", **metadata}, **(tree or {})}


def created(strategy: Strategy, obj: Tree, world: World | None = None) -> Tree:
    """What a new object becomes, having been found right."""
    obj, ctx = deepcopy(obj), (world or World()).context()
    strategy.default(obj, ctx)
    strategy.prepare_for_create(obj, ctx)
    assert told(strategy.validate_create(obj, [], ctx), ctx) == []
    strategy.canonicalize(obj)
    return obj


def refused(strategy: Strategy, obj: Tree, world: World | None = None) -> list[str]:
    """What is wrong with a new object."""
    obj, ctx = deepcopy(obj), (world or World()).context()
    strategy.default(obj, ctx)
    strategy.prepare_for_create(obj, ctx)
    return told(strategy.validate_create(obj, [], ctx), ctx)


def changed(strategy: Strategy, old: Tree, change: Tree, world: World | None = None) -> tuple[Tree, list[str]]:
    """What an update of some fields makes of an object, and what is wrong with that."""
    obj, ctx = {**deepcopy(old), **deepcopy(change)}, (world or World()).context("UPDATE")
    strategy.default(obj, ctx)
    strategy.prepare_for_update(obj, old, ctx)
    return obj, told(strategy.validate_update(obj, old, ctx), ctx)


def status_changed(strategy: Strategy, old: Tree, change: Tree, world: World | None = None) -> tuple[Tree, list[str]]:
    """The same through the status endpoint."""
    obj, ctx = {**deepcopy(old), **deepcopy(change)}, (world or World()).context("UPDATE", "status")
    strategy.default(obj, ctx)
    strategy.prepare_for_status_update(obj, old, ctx)
    return obj, told(strategy.validate_status_update(obj, old, ctx), ctx)


def warnings(strategy: Strategy, obj: Tree, old: Tree | None = None, world: World | None = None) -> list[str]:
    """What a client is told of a new object."""
    world = world or World()
    return strategy.warnings(created(strategy, obj, world), old, world.context())
