"""Rules for the quotas of ClusterQueues and Cohorts.

Upstream: pkg/webhooks/clusterqueue_webhook.go and common.go.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fakekube.apimachinery import names, quantity
from fakekube.apimachinery.field_errors import FieldError, child, complaints, duplicate, index, invalid
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.apimachinery.validation import NEGATIVE

NANO = 1
"""The smallest amount that a Quantity holds."""


class Holder(NamedTuple):
    """Whose quotas they are.

    Limits need a parent, which is told as ``parent_name``. ``bounds_lending`` says whether more
    than the nominal quota may not be lent.
    """

    has_parent: bool
    parent_name: str
    bounds_lending: bool


def groups(found: list[ReadOnlyTree], holder: Holder, path: str) -> Iterator[FieldError]:
    """Complaints about ``resourceGroups``."""
    resources, flavors = set[str](), set[str]()
    for place, group in enumerate(found):
        here = index(path, place)
        covered = group["coveredResources"]
        for number, name in enumerate(covered):
            at = index(child(here, "coveredResources"), number)
            yield from complaints(at, name, names.qualified_name(name))
            if name in resources:
                yield duplicate(at, name)
            resources.add(name)
        for number, flavor in enumerate(group["flavors"]):
            at = index(child(here, "flavors"), number)
            yield from _of_flavor(flavor, covered, holder, at)
            if flavor["name"] in flavors:
                yield duplicate(child(at, "name"), flavor["name"])
            flavors.add(flavor["name"])


def _of_flavor(flavor: ReadOnlyTree, covered: list[str], holder: Holder, path: str) -> Iterator[FieldError]:
    for place, (quota, name) in enumerate(zip(flavor["resources"], covered, strict=False)):
        here = index(child(path, "resources"), place)
        if quota["name"] != name:
            yield invalid(child(here, "name"), quota["name"], "must match the name in coveredResources")
        nominal = quota["nominalQuota"]
        yield from not_negative(child(here, "nominalQuota"), nominal)
        if (limit := quota.get("borrowingLimit")) is not None:
            at = child(here, "borrowingLimit")
            yield from _needs_parent(at, limit, holder)
            yield from not_negative(at, limit)
        if (limit := quota.get("lendingLimit")) is not None:
            at = child(here, "lendingLimit")
            yield from not_negative(at, limit)
            yield from _needs_parent(at, limit, holder)
            if holder.bounds_lending and quantity.parse(limit).nano > quantity.parse(nominal).nano:
                yield invalid(at, quantity.canonical(limit), "must be less than or equal to the nominalQuota")


def _needs_parent(path: str, limit: str | float, holder: Holder) -> Iterator[FieldError]:
    if not holder.has_parent:
        yield invalid(path, quantity.canonical(limit), f"must be nil when {holder.parent_name} is empty")


def not_negative(path: str, amount: str | float) -> Iterator[FieldError]:
    """A complaint about an amount below zero."""
    if quantity.parse(amount).nano < 0:
        yield invalid(path, quantity.canonical(amount), NEGATIVE)


def weight(fair_sharing: ReadOnlyTree | None, path: str) -> Iterator[FieldError]:
    """Complaints about the weight in ``fairSharing``."""
    given = (fair_sharing or {}).get("weight")
    if given is None:
        return
    yield from not_negative(path, given)
    if 0 < quantity.parse(given).nano <= NANO:
        yield invalid(path, quantity.canonical(given), "When not 0, weight must be > 10e-9")
