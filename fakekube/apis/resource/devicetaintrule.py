"""DeviceTaintRule: a taint for all devices that a selector names.

Upstream: pkg/apis/resource/validation, pkg/registry/resource/devicetaintrule.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, declared, not_supported, required, too_long, typed
from fakekube.apimachinery.types import Tree
from fakekube.apis.base import StatusStrategy
from fakekube.apis.checks import ruled
from fakekube.apis.core.storage_systems import validate_csi_driver_name
from fakekube.registry.strategy import WriteContext

EFFECTS = ("NoExecute", "NoSchedule", "None")
MAX_POOL_BYTES = 253


class DeviceTaintRuleStrategy(StatusStrategy):
    """What is particular to DeviceTaintRules."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """A taint is from now on."""
        taint = (obj.get("spec") or {}).get("taint")
        if taint is not None:
            default_taint(taint, ctx.now)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Whose devices, and which taint."""
        spec = obj.get("spec") or {}
        found = _selector("spec.deviceSelector", spec.get("deviceSelector") or {})
        return found + taint_errors("spec.taint", spec.get("taint") or {})

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one: all may change."""
        return self.validate(obj, ctx)


def _selector(path: str, selector: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    driver, pool, device = (selector.get(name) for name in ("driver", "pool", "device"))
    if driver is not None:
        found += validate_csi_driver_name(driver, child(path, "driver"))
    if pool is not None:
        found += pool_errors(child(path, "pool"), pool)
    if device is not None:
        found += ruled(child(path, "device"), device, names.dns1123_label)
    return found


def pool_errors(path: str, name: str) -> list[FieldError]:
    """What is wrong with the name of a pool: DNS subdomains with slashes between."""
    if not name:
        return [required(path)]
    found = [too_long(path, MAX_POOL_BYTES)] if len(name.encode()) > MAX_POOL_BYTES else []
    for part in name.split("/"):
        found += ruled(path, part, names.dns1123_subdomain)
    return found


def default_taint(taint: Tree, now: str) -> None:
    """A taint without a time is from ``now`` on."""
    if taint.get("timeAdded") is None:
        taint["timeAdded"] = now


def taint_errors(path: str, taint: Tree) -> list[FieldError]:
    """What is wrong with the taint of a device."""
    found = ruled(child(path, "key"), taint.get("key", ""), names.qualified_name)
    if taint.get("value"):
        found += ruled(child(path, "value"), taint["value"], names.label_value)
    effect = taint.get("effect", "")
    if not effect:
        found.append(declared(required(child(path, "effect"))))
    elif effect not in EFFECTS:
        found.append(declared(not_supported(child(path, "effect"), typed(effect), EFFECTS)))
    return found


STRATEGY = DeviceTaintRuleStrategy()
