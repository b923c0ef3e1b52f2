"""ResourceSlice: some of the devices of a driver.

Upstream: pkg/apis/resource/{v1/defaults.go,validation}. Left out: the rules of devices' attributes,
capacities, counters and taints.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, duplicate, index, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.checks import required_name, ruled
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
        found += _place(spec)
        seen: set[str] = set()
        for number, device in enumerate(spec.get("devices") or ()):
            path, name = index("spec.devices", number), device.get("name", "")
            found += required_name(child(path, "name"), name, names.dns1123_label)
            if name in seen:
                found.append(duplicate(child(path, "name"), name))
            seen.add(name)
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; driver, pool and node stay."""
        new, before = obj.get("spec") or {}, old.get("spec") or {}
        kept = immutable("spec.pool.name", (new.get("pool") or {}).get("name"), (before.get("pool") or {}).get("name"))
        for name in ("driver", "nodeName"):
            kept += immutable(child("spec", name), new.get(name), before.get(name))
        return self.validate(obj, ctx) + kept


def _place(spec: Tree) -> list[FieldError]:
    found = []
    given = [f"`{name}`" for name in PLACES if spec.get(name)]
    if spec.get("nodeName"):
        found += ruled("spec.nodeName", spec["nodeName"], names.dns1123_subdomain)
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name) is False:
            found.append(invalid(child("spec", name), False, "must be either unset or set to true"))
    if not given:
        found.append(required("spec", ONE_PLACE))
    elif len(given) > 1:
        found.append(invalid("spec", f"{{{', '.join(given)}}}", f"{ONE_PLACE}, but multiple fields are set"))
    return found


STRATEGY = ResourceSliceStrategy()
