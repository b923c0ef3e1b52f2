"""Devices of a slice: what they are, where, and what keeps them from being used.

Errors that declarative rules find are marked as such, at the end of each list. Upstream:
pkg/apis/resource/validation. Left out: the rules of features that are off by default.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    declared,
    duplicate,
    index,
    invalid,
    key,
    repetitions,
    required,
    too_long,
    too_many,
)
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import declared_name
from fakekube.apis.checks import ruled
from fakekube.apis.core.scheduling_validation import validate_node_selector
from fakekube.apis.core.storage_systems import validate_csi_driver_name
from fakekube.apis.resource.capacities import capacity_errors
from fakekube.apis.resource.devices import identifier_errors
from fakekube.apis.resource.devicetaintrule import taint_errors
from fakekube.apis.resource.features import Gated

MAX_DEVICES, MAX_TAINTED, MAX_TAINTS, MAX_CONDITIONS, MAX_CONSUMED, MAX_SETS, MAX_COUNTERS = 128, 64, 16, 4, 2, 8, 32
MAX_PROPERTIES, MAX_TEXT_BYTES, MAX_KEY_BYTES = 32, 64, 96
VALUES = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
LISTS = VALUES[4:]
ONE_OF = ", ".join(f"`{name}`" for name in VALUES)
ONE_VALUE = "exactly one value must be specified"
ALONE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec")
ONE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in "
    "the ResourceSlice spec")
OVERLAP = "bindingFailureConditions must not overlap with bindingConditions"


def _itself(spec: Tree) -> Iterable[Tree]:
    return (spec,)


def _devices(spec: Tree) -> Iterable[Tree]:
    return spec.get("devices") or ()


def _attributes(spec: Tree) -> Iterable[Tree]:
    return (attribute for device in _devices(spec) for attribute in (device.get("attributes") or {}).values())


def _consumed(spec: Tree) -> Iterable[Tree]:
    return (consumed for device in _devices(spec) for consumed in device.get("consumesCounters") or ())


GATED: Gated = (
    ("DRAPartitionableDevicesType", _itself, ("partitionTypeAttribute",)),
    ("DRAOptionalNodeOperations", _itself, ("skipNodeOperations",)),
    ("DRANodeAllocatableResources", _devices, ("nodeAllocatableResources",)),
    ("DRAListTypeAttributes", _attributes, LISTS),
    ("DRADeviceCompatibilityGroups", _consumed, ("compatibilityGroups",)),
)
"""Fields of features that may be off, in the spec of a slice."""


def devices_errors(path: str, devices: Sequence[Tree], *, apart: bool) -> list[FieldError]:
    """What is wrong with the devices of a slice. ``apart`` tells that each says where it is."""
    limit = MAX_TAINTED if any(each.get("taints") or each.get("consumesCounters") for each in devices) else MAX_DEVICES
    found: list[FieldError] = []
    if len(devices) > limit:
        found.append(too_many(path, len(devices), limit))
    else:
        for number, device in enumerate(devices):
            found += _device(index(path, number), device, apart=apart)
        called = [device.get("name", "") for device in devices]
        found += [duplicate(index(path, number), called[number]) for number in sorted(repetitions(called))]
    for number, device in enumerate(devices):
        found += _declared(index(path, number), device)
    return found


def counter_sets_errors(path: str, sets: Sequence[Tree], name: str, limit: int) -> list[FieldError]:
    """What is wrong with counters, in sets by different names; ``name`` is the field of the name.
    """
    if len(sets) > limit:
        return [declared(too_many(path, len(sets), limit))]
    found: list[FieldError] = []
    for number, each in enumerate(sets):
        count = len(each.get("counters") or ())
        if count > MAX_COUNTERS:
            found.append(too_many(child(index(path, number), "counters"), count, MAX_COUNTERS))
    found += [
        declared(duplicate(index(path, number), _shown(sets[number], name)))
        for number in sorted(repetitions(each.get(name, "") for each in sets))]
    for number, each in enumerate(sets):
        where, counters = index(path, number), each.get("counters") or {}
        if not each.get(name):
            found.append(declared(required(child(where, name))))
        else:
            found += declared_name(child(where, name), each[name], names.dns1123_label)
        if not counters:
            found.append(declared(required(child(where, "counters"))))
        for counter in sorted(counters):
            found += declared_name(child(where, "counters"), counter, names.dns1123_label)
    return found


def _shown(each: Tree, name: str) -> Tree:
    shown: dict[str, Any] = {name: each.get(name, "")}
    if counters := each.get("counters"):
        shown["counters"] = {key: {"value": counters[key].get("value", "0")} for key in sorted(counters)}
    return shown


def _device(path: str, device: Tree, *, apart: bool) -> list[FieldError]:
    found = ruled(child(path, "name"), device.get("name", ""), names.dns1123_label)
    attributes, capacities = device.get("attributes") or {}, device.get("capacity") or {}
    where = child(path, "attributes")
    for name in sorted(attributes):
        found += _qualified(where, name) + _attribute(where, name, attributes[name] or {})
    where, shared = child(path, "capacity"), bool(device.get("allowMultipleAllocations"))
    for name in sorted(capacities):
        found += _qualified(where, name) + capacity_errors(key(where, _shortened(name)), capacities[name] or {}, shared=shared)
    count = len(attributes) + len(capacities)
    if count > MAX_PROPERTIES:
        text = f"the total number of attributes and capacities must not exceed {MAX_PROPERTIES}"
        found.append(invalid(path, count, text))
    taints, where = device.get("taints") or (), child(path, "taints")
    if len(taints) > MAX_TAINTS:
        found.append(too_many(where, len(taints), MAX_TAINTS))
    else:
        each = [error for number, taint in enumerate(taints) for error in taint_errors(index(where, number), taint)]
        found += [error for error in each if not error.declared]
    return found + _place(path, device, apart=apart) + _binding(path, device)


def _declared(path: str, device: Tree) -> list[FieldError]:
    attributes = device.get("attributes") or {}
    found = [error for name in sorted(attributes) for error in _one_value(key(child(path, "attributes"), name), attributes[name])]
    consumed = device.get("consumesCounters") or ()
    found += counter_sets_errors(child(path, "consumesCounters"), consumed, "counterSet", MAX_CONSUMED)
    for number, taint in enumerate(device.get("taints") or ()):
        each = taint_errors(index(child(path, "taints"), number), taint)
        found += [error for error in each if error.declared]
    for name in ("bindingConditions", "bindingFailureConditions"):
        count = len(device.get(name) or ())
        if count > MAX_CONDITIONS:
            found.append(declared(too_many(child(path, name), count, MAX_CONDITIONS)))
    return found


def _qualified(path: str, name: str) -> list[FieldError]:
    """``name`` or ``example.com/name``; upstream looks at names of two parts only."""
    domain, slash, own = name.partition("/")
    if not slash:
        return identifier_errors(path, name)
    if "/" in own:
        return []
    found = validate_csi_driver_name(domain, path) if domain else [invalid(path, "", "the domain must not be empty")]
    return found + (identifier_errors(path, own) if own else [invalid(path, "", "the name must not be empty")])


def _shortened(name: str) -> str:
    if len(name) <= MAX_KEY_BYTES:
        return name
    left = MAX_KEY_BYTES - 3
    return f"{name[:(left + 1) // 2]}...{name[len(name) - left // 2:]}"


def _attribute(path: str, name: str, attribute: Tree) -> list[FieldError]:
    from fakekube.cel.library.semvers import is_semver  # few clusters have devices

    where, text, version = key(path, _shortened(name)), attribute.get("string"), attribute.get("version")
    found: list[FieldError] = []
    if text is not None and len(text.encode()) > MAX_TEXT_BYTES:
        found.append(too_long(child(where, "string"), MAX_TEXT_BYTES))
    if version is not None:
        if not is_semver(version):
            found.append(invalid(child(where, "version"), version, "must be a string compatible with semver.org spec 2.0.0"))
        if len(version.encode()) > MAX_TEXT_BYTES:
            found.append(too_long(child(where, "version"), MAX_TEXT_BYTES))
    if where != key(path, name) and len(_given(attribute)) != 1:
        found.append(invalid(where, _dumped(attribute), ONE_VALUE))  # its path is not that of the declared rule
    return found


def _given(attribute: Tree) -> list[str]:
    return [name for name in VALUES if (attribute.get(name) if name in LISTS else attribute.get(name) is not None)]


def _dumped(attribute: Tree) -> Any:
    if not _given(attribute):
        return ""
    return {f"{name[0].upper()}{name[1:]}Value".replace("sValue", "Values"): attribute.get(name) for name in VALUES}


def _one_value(path: str, attribute: Tree | None) -> list[FieldError]:
    given = _given(attribute or {})
    if len(given) == 1:
        return []
    shown, text = (f"{{{', '.join(given)}}}", f"must specify exactly one of: {ONE_OF}") if given else (
        "", f"must specify one of: {ONE_OF}")
    return [declared(invalid(path, shown, text), before=invalid(path, _dumped(attribute or {}), ONE_VALUE))]


def _place(path: str, device: Tree, *, apart: bool) -> list[FieldError]:
    name, selector, everywhere = (device.get(field) for field in ("nodeName", "nodeSelector", "allNodes"))
    if not apart:
        return [] if name is None and selector is None and everywhere is None else [invalid(path, None, ALONE)]
    found: list[FieldError] = []
    if name == "":
        found.append(invalid(child(path, "nodeName"), name, "must not be empty"))
    elif name:
        found += ruled(child(path, "nodeName"), name, names.dns1123_subdomain)
    if selector is not None:
        found += validate_node_selector(selector, child(path, "nodeSelector"))
    if everywhere is False:
        found.append(invalid(child(path, "allNodes"), False, "must be either unset or set to true"))
    given = [f"`{field}`" for field, there in (
        ("nodeName", name), ("nodeSelector", selector is not None), ("allNodes", everywhere)) if there]
    if not given:
        found.append(required(path, ONE_PLACE))
    elif len(given) > 1:
        found.append(invalid(path, f"{{{', '.join(given)}}}", ONE_PLACE))
    return found


def _binding(path: str, device: Tree) -> list[FieldError]:
    """Conditions to wait for, and others that tell of failure: both or none, and each once."""
    found: list[FieldError] = []
    awaited, failures = device.get("bindingConditions"), device.get("bindingFailureConditions")
    for name, kinds in (("bindingConditions", awaited or ()), ("bindingFailureConditions", failures or ())):
        if len(kinds) <= MAX_CONDITIONS:
            for number, kind in enumerate(kinds):
                found += ruled(index(child(path, name), number), kind, names.qualified_name)
    if awaited and not failures:
        text = "bindingFailureConditions are required to use bindingConditions"
        found.append(invalid(child(path, "bindingFailureConditions"), failures, text))
    if failures and not awaited:
        text = "bindingConditions are required to use bindingFailureConditions"
        found.append(invalid(child(path, "bindingConditions"), awaited, text))
    found += _repeated(child(path, "bindingConditions"), awaited or (), ())
    return found + _repeated(child(path, "bindingFailureConditions"), failures or (), awaited or ())


def _repeated(path: str, kinds: Sequence[str], others: Iterable[str]) -> list[FieldError]:
    found, again, elsewhere = [], repetitions(kinds), frozenset(others)
    for number, kind in enumerate(kinds):
        if number in again:
            found.append(duplicate(index(path, number), kind))
        if kind in elsewhere:
            found.append(invalid(index(path, number), kind, OVERLAP))
    return found
