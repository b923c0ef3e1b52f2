"""What a claim's status may say: devices that are allocated, who uses them, and how they are.

Errors that declarative rules find are marked as such. Upstream:
validateResourceClaimStatusUpdate in pkg/apis/resource/validation,
pkg/registry/resource/resourceclaim. Left out: whether the writer may bind claims or speak for a
driver.
"""

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from fakekube.apimachinery import names, validation
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    declared,
    duplicate,
    forbidden,
    go_quote,
    index,
    invalid,
    not_supported,
    repetitions,
    required,
    too_long,
    too_many,
    typed,
)
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import canonical_interface, parse_cidr
from fakekube.apis.checks import ruled
from fakekube.apis.core.scheduling_validation import validate_node_selector
from fakekube.apis.core.storage_systems import validate_csi_driver_name
from fakekube.apis.resource.devices import (
    MAX_CONFIGS,
    MAX_REQUESTS,
    driver_errors,
    opaque_errors,
    reference_errors,
    request_names,
    toleration_errors,
)
from fakekube.apis.resource.devicetaintrule import MAX_POOL_BYTES, pool_errors

MAX_RESERVED, MAX_RESULTS, MAX_BINDING, MAX_IPS, MAX_CONDITIONS, MAX_DATA = 256, 32, 4, 16, 8, 10 * 1024
BYTES_OF_NETWORK = {"interfaceName": 256, "hardwareAddress": 128}
SOURCES, SKIPPED = ("FromClaim", "FromClass"), ("*", "NodePrepareResources", "NodeUnprepareResources")
NO_UUID = "must be a lowercase UUID in 8-4-4-4-12 format"
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
OVERLAP = "bindingFailureConditions must not overlap with bindingConditions"
NO_INTERFACE = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"


def device_key(device: Tree) -> tuple[str, str, str, str]:
    """What tells the devices of a claim from one another."""
    return (device.get("driver", ""), device.get("pool", ""), device.get("device", ""), device.get("shareID") or "")


def results_of(status: Tree) -> list[Tree]:
    """The devices that are allocated."""
    return ((status.get("allocation") or {}).get("devices") or {}).get("results") or []


def drop_deallocated(status: Tree, old: Tree) -> None:
    """Take away what is said of devices that the claim has no longer, in place."""
    gone = {device_key(each) for each in results_of(old)} - {device_key(each) for each in results_of(status)}
    if gone and status.get("devices"):
        kept = [each for each in status["devices"] if device_key(each) not in gone]
        if kept:
            status["devices"] = kept
        else:
            del status["devices"]


def status_errors(claim: Tree, old: Tree) -> list[FieldError]:
    """What is wrong with a changed status. Both are whole claims."""
    status, before = claim.get("status") or {}, old.get("status") or {}
    reserved, path = status.get("reservedFor") or [], "status.reservedFor"
    found = _limited(path, reserved, MAX_RESERVED, _consumer, lambda reference: reference.get("uid", ""))
    allocated = {device_key(each) for each in results_of(status)}
    devices = status.get("devices") or []
    for number, device in enumerate(devices):
        found += _device(index("status.devices", number), device, allocated)
    found += _again("status.devices", devices, device_key, lambda device: _named(device_key(device)))
    allocation = status.get("allocation")
    added = [each for each in reserved if each not in (before.get("reservedFor") or ())]
    if reserved and allocation is None:
        found.append(forbidden(path, "may not be specified when `allocated` is not set"))
    elif added and claim["metadata"].get("deletionTimestamp"):
        what = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        found.append(forbidden(path, what))
    if allocation is None:
        return found
    if before.get("allocation") is None:
        return found + _allocation("status.allocation", allocation, request_names((claim.get("spec") or {}).get("devices") or {}))
    if same(allocation, before["allocation"]):
        return found
    told = invalid("status.allocation", None, "field cannot be modified once set")
    return [*found, declared(told, invalid("status.allocation", allocation, validation.IMMUTABLE))]


def _limited(
    path: str, items: list[Any], limit: int, check: Callable[[str, Any], list[FieldError]],
    key: Callable[[Any], Any] | None = None,
) -> list[FieldError]:
    """A list that may not be longer; with a key, of which none may come twice."""
    if len(items) > limit:
        return [declared(too_many(path, len(items), limit))]
    found = [error for number, item in enumerate(items) for error in check(index(path, number), item)]
    return found + (_again(path, items, key, key) if key is not None else [])


def _again(path: str, items: list[Any], key: Callable[[Any], Any], shown: Callable[[Any], Any]) -> list[FieldError]:
    return [
        declared(duplicate(index(path, number), items[number]), duplicate(index(path, number), shown(items[number])))
        for number in sorted(repetitions(map(key, items)))]


def _consumer(path: str, reference: Tree) -> list[FieldError]:
    return [required(child(path, name)) for name in ("resource", "name", "uid") if not reference.get(name)]


def _named(key: Iterable[str]) -> str:
    return "/".join(key).removesuffix("/")


def _share(path: str, device: Tree) -> list[FieldError]:
    share = device.get("shareID")
    return [] if share is None or names.matches(UUID, share) else [declared(invalid(child(path, "shareID"), share, NO_UUID))]


def _device(path: str, device: Tree, allocated: set[tuple[str, str, str, str]]) -> list[FieldError]:
    found = validate_csi_driver_name(device.get("driver", ""), child(path, "driver"))
    found += pool_errors(child(path, "pool"), device.get("pool", ""))
    found += ruled(child(path, "device"), device.get("device", ""), names.dns1123_label) + _share(path, device)
    if device_key(device) not in allocated:
        shown = dict(zip(("Driver", "Pool", "Device", "ShareID"), device_key(device), strict=True))
        found.append(invalid(path, shown, "must be an allocated device in the claim"))
    conditions, where = device.get("conditions") or [], child(path, "conditions")
    if len(conditions) > MAX_CONDITIONS:
        found.append(too_many(where, len(conditions), MAX_CONDITIONS))
    found += validation.conditions(conditions, where)
    data = device.get("data")
    if data is not None and len(orjson.dumps(data)) > MAX_DATA:
        found.append(too_long(child(path, "data"), MAX_DATA))
    elif data is not None and not isinstance(data, dict):
        found.append(invalid(child(path, "data"), "<value omitted>", "must be a valid JSON object"))
    return found + _network(child(path, "networkData"), device.get("networkData") or {})


def _network(path: str, data: Tree) -> list[FieldError]:
    found = _limited(child(path, "ips"), data.get("ips") or [], MAX_IPS, _interface, str)
    return found + [
        declared(too_long(child(path, name), limit)) for name, limit in BYTES_OF_NETWORK.items()
        if len(data.get(name, "").encode()) > limit]


def _interface(path: str, text: str) -> list[FieldError]:
    if parse_cidr(text) is None:
        return [invalid(path, text, NO_INTERFACE)]
    canonical = canonical_interface(text)
    return [] if text == canonical else [invalid(path, text, f"must be in canonical form ({go_quote(canonical)})")]


def _allocation(path: str, allocation: Tree, known: list[str]) -> list[FieldError]:
    """What is new; what was there before is not looked at again."""
    devices, where = allocation.get("devices") or {}, child(path, "devices")
    found = _limited(
        child(where, "results"), devices.get("results") or [], MAX_RESULTS, lambda here, result: _result(here, result, known))
    found += _limited(
        child(where, "config"), devices.get("config") or [], 2 * MAX_CONFIGS, lambda here, config: _config(here, config, known))
    if "nodeSelector" in allocation:
        found += validate_node_selector(allocation["nodeSelector"], child(path, "nodeSelector"))
    return found


def _result(path: str, result: Tree, known: list[str]) -> list[FieldError]:
    found = reference_errors(child(path, "request"), result.get("request", ""), known)
    found += [declared(error) for error in driver_errors(child(path, "driver"), result.get("driver", ""))]
    found += declared_pool_errors(child(path, "pool"), result.get("pool", ""))
    found += ruled(child(path, "device"), result.get("device", ""), names.dns1123_label)
    found += _binding(path, result.get("bindingConditions"), result.get("bindingFailureConditions"))
    for number, toleration in enumerate(result.get("tolerations") or ()):
        found += toleration_errors(index(child(path, "tolerations"), number), toleration)
    return found + _share(path, result) + _skipped(child(path, "skipNodeOperations"), result.get("skipNodeOperations") or [])


def declared_pool_errors(path: str, name: str) -> list[FieldError]:
    """What a declarative rule says of the name of a pool."""
    if not name:
        return [declared(required(path))]
    found = [declared(too_long(path, MAX_POOL_BYTES))] if len(name.encode()) > MAX_POOL_BYTES else []
    for number, part in enumerate(name.split("/")):
        texts = [names.in_bytes(text) for text in names.dns1123_subdomain(part)] if part else ["must not be empty"]
        found += [declared(invalid(path, part or name, f"segment {number}: {text}")) for text in texts]
    return found


def _binding(path: str, conditions: list[str] | None, failures: list[str] | None) -> list[FieldError]:
    found: list[FieldError] = []
    for name, given in (("bindingConditions", conditions), ("bindingFailureConditions", failures)):
        where, items = child(path, name), given or []
        found += _limited(where, items, MAX_BINDING, lambda here, text: ruled(here, text, names.qualified_name))
        found += [duplicate(index(where, number), items[number]) for number in sorted(repetitions(items))]
    both = {*(conditions or ())} & {*(failures or ())}
    found += [invalid(index(where, number), text, OVERLAP) for number, text in enumerate(failures or ()) if text in both]
    if failures and not conditions:
        what = "bindingConditions are required to use bindingFailureConditions"
        found.append(invalid(child(path, "bindingConditions"), conditions, what))
    if conditions and not failures:
        found.append(invalid(where, failures, "bindingFailureConditions are required to use bindingConditions"))
    return found


def _skipped(path: str, operations: list[str]) -> list[FieldError]:
    found: list[FieldError] = []
    if "NodePrepareResources" in operations and not {"NodeUnprepareResources", "*"} & {*operations}:
        what = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"
        found.append(invalid(path, operations, what))
    found += [declared(duplicate(index(path, number), operations[number])) for number in sorted(repetitions(operations))]
    return found + [
        declared(not_supported(index(path, number), typed(text), SKIPPED))
        for number, text in enumerate(operations) if text not in SKIPPED]


def _config(path: str, config: Tree, known: list[str]) -> list[FieldError]:
    source, found = config.get("source", ""), []
    if not source:
        found.append(declared(required(child(path, "source"))))
    elif source not in SOURCES:
        found.append(declared(not_supported(child(path, "source"), typed(source), SOURCES)))
    found += _limited(
        child(path, "requests"), config.get("requests") or [], MAX_REQUESTS,
        lambda here, name: reference_errors(here, name, known), str)
    return found + opaque_errors(path, config)
