"""Requests for devices: what claims, templates and classes share.

Upstream: pkg/apis/resource/{v1/defaults.go,validation}. Left out: compiling the selectors of devices.
"""

from collections.abc import Iterator

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    duplicate,
    index,
    invalid,
    not_supported,
    required,
    too_many,
)
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import required_name, ruled

MAX_REQUESTS, MAX_CONSTRAINTS, MAX_CONFIGS, MAX_SELECTORS, MAX_SUB_REQUESTS = 32, 32, 32, 32, 8
ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
EFFECTS = ("NoExecute", "NoSchedule", "None")


def _requests(devices: Tree) -> Iterator[Tree]:
    for request in devices.get("requests") or ():
        if "exactly" in request:
            yield request["exactly"]
        yield from request.get("firstAvailable") or ()


def default_devices(devices: Tree) -> None:
    """A request is for one device unless it says otherwise."""
    for request in _requests(devices):
        if not request.get("allocationMode"):
            request["allocationMode"] = "ExactCount"
        if request["allocationMode"] == "ExactCount" and not request.get("count"):
            request["count"] = 1


def device_errors(path: str, devices: Tree) -> list[FieldError]:
    """Requests, constraints among them, and configuration."""
    requests, found = devices.get("requests") or [], []
    where, seen, repeated = child(path, "requests"), [], []
    if len(requests) > MAX_REQUESTS:
        found.append(too_many(where, len(requests), MAX_REQUESTS))
    for number, request in enumerate(requests):
        found += _request(index(where, number), request)
        if request.get("name", "") in seen:
            repeated.append(duplicate(index(where, number), request))
        seen.append(request.get("name", ""))
    found += repeated
    known = [*seen, *(
        f"{request.get('name', '')}/{sub.get('name', '')}" for request in requests
        for sub in request.get("firstAvailable") or ())]
    constraints = devices.get("constraints") or []
    if len(constraints) > MAX_CONSTRAINTS:
        found.append(too_many(child(path, "constraints"), len(constraints), MAX_CONSTRAINTS))
    for number, constraint in enumerate(constraints):
        found += _constraint(index(child(path, "constraints"), number), constraint, known)
    for number, config in enumerate(devices.get("config") or ()):
        here = index(child(path, "config"), number)
        for each, name in enumerate(config.get("requests") or ()):
            found += _reference(index(child(here, "requests"), each), name, known)
        found += config_errors(here, config)
    return found


def _request(path: str, request: Tree) -> list[FieldError]:
    found = required_name(child(path, "name"), request.get("name", ""), names.dns1123_label)
    exactly, first = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is not None and first:
        return [*found, invalid(path, None, f"{ONE_KIND}, but multiple fields are set")]
    if exactly is not None:
        return found + _exact(child(path, "exactly"), exactly)
    if not first:
        return [*found, required(path, ONE_KIND)]
    where = child(path, "firstAvailable")
    if len(first) > MAX_SUB_REQUESTS:
        found.append(too_many(where, len(first), MAX_SUB_REQUESTS))
    for number, sub in enumerate(first):
        here = index(where, number)
        found += required_name(child(here, "name"), sub.get("name", ""), names.dns1123_label) + _exact(here, sub)
        if any(sub.get("name") == other.get("name") for other in first[:number]):
            found.append(duplicate(here, sub))
    return found


def _exact(path: str, request: Tree) -> list[FieldError]:
    found = required_name(child(path, "deviceClassName"), request.get("deviceClassName", ""), names.dns1123_subdomain)
    found += selector_errors(child(path, "selectors"), request.get("selectors") or [])
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode == "All":
        if count:
            found.append(invalid(child(path, "count"), count, "must not be specified when allocationMode is 'All'"))
    elif mode == "ExactCount":
        if count <= 0:
            found.append(invalid(child(path, "count"), count, "must be greater than zero"))
    else:
        found.append(not_supported(child(path, "allocationMode"), mode, ("All", "ExactCount")))
    for number, toleration in enumerate(request.get("tolerations") or ()):
        found += _toleration(index(child(path, "tolerations"), number), toleration)
    return found


def _toleration(path: str, toleration: Tree) -> list[FieldError]:
    operator, value, found = toleration.get("operator", ""), toleration.get("value", ""), []
    if toleration.get("key"):
        found += ruled(child(path, "key"), toleration["key"], names.qualified_name)
    if operator == "Exists":
        if value:
            found.append(invalid(child(path, "value"), value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        found += ruled(child(path, "value"), value, names.label_value)
    else:
        found.append(not_supported(child(path, "operator"), operator, ("Equal", "Exists")))
    if toleration.get("effect") and toleration["effect"] not in EFFECTS:
        found.append(not_supported(child(path, "effect"), toleration["effect"], EFFECTS))
    return found


def selector_errors(path: str, selectors: list[Tree]) -> list[FieldError]:
    """Every selector is an expression."""
    found = [too_many(path, len(selectors), MAX_SELECTORS)] if len(selectors) > MAX_SELECTORS else []
    return found + [
        required(child(index(path, number), "cel"))
        for number, selector in enumerate(selectors) if "cel" not in selector
    ]


def config_errors(path: str, config: Tree) -> list[FieldError]:
    """Configuration is for a driver."""
    opaque = config.get("opaque")
    if opaque is None:
        return [required(child(path, "opaque"))]
    found = required_name(child(path, "opaque", "driver"), opaque.get("driver", ""), names.dns1123_subdomain)
    return found if "parameters" in opaque else [*found, required(child(path, "opaque", "parameters"))]


def _constraint(path: str, constraint: Tree, known: list[str]) -> list[FieldError]:
    found: list[FieldError] = []
    for number, name in enumerate(constraint.get("requests") or ()):
        found += _reference(index(child(path, "requests"), number), name, known)
    attribute = next((name for name in ("matchAttribute", "distinctAttribute") if name in constraint), "")
    if not attribute:
        text = (
            'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set')
        return [*found, required(path, text)]
    value, where = constraint[attribute], child(path, attribute)
    domain, slash, name = value.rpartition("/")
    if not slash:
        text = "a fully qualified name must be a domain and a name separated by a slash"
        return [*found, invalid(where, value, text)]
    return found + ruled(where, domain, names.dns1123_subdomain) + ruled(where, name, names.c_identifier)


def _reference(path: str, name: str, known: list[str]) -> list[FieldError]:
    segments = name.split("/")
    if len(segments) > 2:
        return [invalid(path, name, REFERENCE)]
    found: list[FieldError] = []
    for segment in segments:
        found += required_name(path, segment, names.dns1123_label)
    return found if name in known else [*found, invalid(path, name, REFERENCE)]
