"""ResourceSlice: some of the devices of a driver.

Upstream: pkg/apis/resource/{v1/defaults.go,validation}.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.checks import ruled
from fakekube.apis.core.scheduling_validation import validate_node_selector
from fakekube.apis.core.storage_systems import validate_csi_driver_name
from fakekube.apis.internals import internal
from fakekube.apis.resource.devicetaintrule import default_taint, pool_errors
from fakekube.apis.resource.features import drop_disabled
from fakekube.apis.resource.slice_devices import GATED, MAX_SETS, counter_sets_errors, devices_errors
from fakekube.registry.strategy import Strategy, WriteContext

PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


class ResourceSliceStrategy(Strategy):
    """What is particular to ResourceSlices."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Taints are from now on."""
        for device in (obj.get("spec") or {}).get("devices") or ():
            for taint in device.get("taints") or ():
                default_taint(taint, ctx.now)

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """No fields of features that are off."""
        drop_disabled(GATED, obj.get("spec") or {}, {}, ctx.cluster.gate)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """They stay where the slice had them; what is taken away counts as a change of the spec."""
        if self.spec_changed(obj, old):
            obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        drop_disabled(GATED, obj.get("spec") or {}, old.get("spec") or {}, ctx.cluster.gate)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Driver, pool, place, and devices by names of their own."""
        spec = obj.get("spec") or {}
        found = validate_csi_driver_name(spec.get("driver", ""), "spec.driver")
        found += pool_errors("spec.pool.name", (spec.get("pool") or {}).get("name", ""))
        found += _numbers("spec.pool", spec.get("pool") or {})
        found += _place(spec)
        if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
            found.append(invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
        apart = bool(spec.get("perDeviceNodeSelection"))
        found += devices_errors("spec.devices", spec.get("devices") or (), apart=apart)
        return found + counter_sets_errors("spec.sharedCounters", spec.get("sharedCounters") or (), "name", MAX_SETS)

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


def _place(spec: Tree) -> list[FieldError]:
    found = []
    given = [f"`{name}`" for name in PLACES if spec.get(name) or (name == "nodeSelector" and name in spec)]
    if spec.get("nodeName") == "":
        found.append(invalid("spec.nodeName", "", "must be either unset or set to a non-empty string"))
    elif spec.get("nodeName"):
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
