"""Which events matter. Upstream: controller-runtime/pkg/predicate."""

from collections.abc import Callable
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree


def _always(obj: Tree) -> bool:  # noqa: ARG001
    return True


def _always_update(old: Tree, new: Tree) -> bool:  # noqa: ARG001
    return True


class Predicate(NamedTuple):
    """Three questions, one for each sort of event; what is not asked is true."""

    create: Callable[[Tree], bool] = _always
    update: Callable[[Tree, Tree], bool] = _always_update
    delete: Callable[[Tree], bool] = _always


def for_objects(matches: Callable[[Tree], bool]) -> Predicate:
    """Events of objects that match; of an update the new state."""
    return Predicate(matches, lambda _old, new: matches(new), matches)


def on_update(changed: Callable[[Tree, Tree], bool]) -> Predicate:
    """All but updates that changed nothing of interest."""
    return Predicate(update=changed)


def generation_changed() -> Predicate:
    """All but updates that left ``metadata.generation`` alone: status and metadata writes."""
    return on_update(lambda old, new: meta.generation_of(old) != meta.generation_of(new))


def labels_changed() -> Predicate:
    """All but updates that left the labels alone."""
    return on_update(lambda old, new: meta.labels_of(old) != meta.labels_of(new))


def annotations_changed() -> Predicate:
    """All but updates that left the annotations alone."""
    return on_update(lambda old, new: meta.annotations_of(old) != meta.annotations_of(new))


def resource_version_changed() -> Predicate:
    """All but resyncs."""
    return on_update(lambda old, new: meta.resource_version_of(old) != meta.resource_version_of(new))


def any_of(*predicates: Predicate) -> Predicate:
    """What one of them lets through."""
    return Predicate(
        lambda obj: any(predicate.create(obj) for predicate in predicates),
        lambda old, new: any(predicate.update(old, new) for predicate in predicates),
        lambda obj: any(predicate.delete(obj) for predicate in predicates),
    )


def all_of(*predicates: Predicate) -> Predicate:
    """What all of them let through."""
    return Predicate(
        lambda obj: all(predicate.create(obj) for predicate in predicates),
        lambda old, new: all(predicate.update(old, new) for predicate in predicates),
        lambda obj: all(predicate.delete(obj) for predicate in predicates),
    )
