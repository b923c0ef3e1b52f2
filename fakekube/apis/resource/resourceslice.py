"""ResourceSlice: some of the devices of a driver.

Upstream: pkg/apis/resource/{v1/defaults.go,validation}. Left out: the rules of devices' attributes,
capacities and taints.
"""

from collections.abc import Iterable

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, duplicate, index, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.checks import required_name, ruled
from fakekube.apis.core.scheduling_validation import validate_node_selector
from fakekube.apis.internals import internal
from fakekube.registry.strategy import Strategy, WriteContext

PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


class ResourceSliceStrategy(Strategy):
    """What is particular to ResourceSlices."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Taints are from now on."""
        for device in (obj.get("spec") or {}).get("devices") or ():
            for taint in device.get("taints") or ():
                taint.setdefault("timeAdded", ctx.now)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Driver, pool, place, and devices by names of their own."""
        spec = obj.get("spec") or {}
        found = required_name("spec.driver", spec.get("driver", ""), names.dns1123_subdomain)
        pool = (spec.get("pool") or {}).get("name", "")
        if not pool:
            found.append(required("spec.pool.name"))
        for part in pool.split("/") if pool else ():
            found += ruled("spec.pool.name", part, names.dns1123_subdomain)
        found += _numbers("spec.pool", spec.get("pool") or {})
        found += _place(spec)
        seen: set[str] = set()
        for number, device in enumerate(spec.get("devices") or ()):
            path, name = index("spec.devices", number), device.get("name", "")
            found += ruled(child(path, "name"), name, names.dns1123_label)
            if name in seen:
                found.append(duplicate(path, name))
            seen.add(name)
        return found + _counters("spec.sharedCounters", spec.get("sharedCounters") or ())

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; driver, pool and node stay."""
        new, before = obj.get("spec") or {}, old.get("spec") or {}
        kept = immutable("spec.pool.name", (new.get("pool") or {}).get("name"), (before.get("pool") or {}).get("name"))
        for name in ("driver", "nodeName"):
            kept += immutable(child("spec", name), new.get(name), before.get(name))
        return self.validate(obj, ctx) + kept


def _numbers(path: str, pool: Tree) -> list[FieldError]:
    found, count, generation = [], pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if count <= 0:
        found.append(invalid(child(path, "resourceSliceCount"), count, "must be greater than zero"))
    if generation < 0:
        found.append(invalid(child(path, "generation"), generation, "must be greater than or equal to zero"))
    return found


def _counters(path: str, sets: Iterable[Tree]) -> list[FieldError]:
    found: list[FieldError] = []
    for number, each in enumerate(sets):
        here, counters = index(path, number), each.get("counters") or {}
        found += required_name(child(here, "name"), each.get("name", ""), names.dns1123_label)
        if not counters:
            found.append(required(child(here, "counters")))
        for name in sorted(counters):
            found += ruled(child(here, "counters"), name, names.dns1123_label)
    return found


def _place(spec: Tree) -> list[FieldError]:
    found = []
    given = [f"`{name}`" for name in PLACES if spec.get(name) or (name == "nodeSelector" and name in spec)]
    if spec.get("nodeName"):
        found += ruled("spec.nodeName", spec["nodeName"], names.dns1123_subdomain)
    if "nodeSelector" in spec:
        terms = spec["nodeSelector"].get("nodeSelectorTerms")
        found += validate_node_selector(spec["nodeSelector"], "spec.nodeSelector")
        if len(terms or ()) != 1:
            shown = internal("[]NodeSelectorTerm", terms) if terms else terms
            found.append(invalid("spec.nodeSelector.nodeSelectorTerms", shown, "must have exactly one node selector term"))
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name) is False:
            found.append(invalid(child("spec", name), False, "must be either unset or set to true"))
    if not given:
        found.append(required("spec", ONE_PLACE))
    elif len(given) > 1:
        found.append(invalid("spec", f"{{{', '.join(given)}}}", f"{ONE_PLACE}, but multiple fields are set"))
    return found


STRATEGY = ResourceSliceStrategy()
