"""Fields of features that are off, which kinds of resource.k8s.io forget unless they use the
feature already.

Upstream: the functions dropDisabled... in pkg/registry/resource/*/strategy.go and
pkg/api/resourceclaimspec/util.go.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from fakekube.apimachinery.types import Tree

Holders = Callable[[Tree], Iterable[Tree]]
Gated = Sequence[tuple[str, Holders, Sequence[str]]]
"""Each a feature's gate, where its fields stand, and the fields."""


def drop_disabled(gated: Gated, new: Tree, old: Tree, gate: Callable[[str], bool]) -> None:
    """Take away fields of features that are off, in place, unless ``old`` uses the feature."""
    for name, holders, fields in gated:
        if gate(name) or any(field in holder for holder in holders(old) for field in fields):
            continue
        for holder in holders(new):
            for field in fields:
                holder.pop(field, None)


def _requests(spec: Tree) -> Sequence[Tree]:
    return (spec.get("devices") or {}).get("requests") or ()


def _exactly(spec: Tree) -> Iterator[Tree]:
    return (request["exactly"] for request in _requests(spec) if "exactly" in request)


def _wanted(spec: Tree) -> Iterator[Tree]:
    """What is asked for, with alternatives and without."""
    yield from _exactly(spec)
    for request in _requests(spec):
        yield from request.get("firstAvailable") or ()


def _shared(spec: Tree) -> Iterator[Tree]:
    yield from (spec.get("devices") or {}).get("constraints") or ()
    yield from _wanted(spec)


CLAIM_SPEC: Gated = (
    ("DRAPrioritizedList", _requests, ("firstAvailable",)),
    ("DRADeviceTaints", _wanted, ("tolerations",)),
    ("DRAAdminAccess", _exactly, ("adminAccess",)),
    ("DRAConsumableCapacity", _shared, ("distinctAttribute", "capacity")),
    ("DRADerivedAttributes", _wanted, ("derivedAttributes",)),
)
"""Of the spec of a claim."""


def _results(claim: Tree) -> Sequence[Tree]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or ()


def _administered(claim: Tree) -> Iterator[Tree]:
    yield from _exactly(claim.get("spec") or {})
    yield from _results(claim)


def _consumed(claim: Tree) -> Iterator[Tree]:
    yield from _shared(claim.get("spec") or {})
    yield from _results(claim)
    yield from (claim.get("status") or {}).get("devices") or ()


CLAIM_STATUS: Gated = (
    ("DRAAdminAccess", _administered, ("adminAccess",)),
    ("DRAConsumableCapacity", _consumed, ("shareID", "consumedCapacity", "distinctAttribute", "capacity")),
    ("DRADeviceBindingConditions", _results, ("bindingConditions", "bindingFailureConditions")),
    ("DRAOptionalNodeOperations", _results, ("skipNodeOperations",)),
)
"""Of the status of a claim; the spec of the old one may use a feature, too."""
