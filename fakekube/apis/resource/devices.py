"""Requests for devices: what claims, templates and classes share.

Selectors are compiled where they are written anew. Upstream:
pkg/apis/resource/{v1/defaults.go,validation}.
"""

from collections.abc import Iterator
from typing import Any

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    declared,
    duplicate,
    forbidden,
    index,
    invalid,
    not_supported,
    repetitions,
    required,
    too_long,
    too_many,
)
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import caseless_subdomain, ruled
from fakekube.registry.strategy import Cluster, minor_of

MAX_REQUESTS, MAX_CONSTRAINTS, MAX_CONFIGS, MAX_SELECTORS, MAX_SUB_REQUESTS = 32, 32, 32, 32, 8
MAX_IDENTIFIER, MAX_DRIVER = 32, 63
ADMIN_LABEL = "resource.kubernetes.io/admin-access"
NO_ADMIN = f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"
ATTRIBUTES, MODES = ("matchAttribute", "distinctAttribute"), ("All", "ExactCount")
ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
ORDER = (
    "name", "exactly", "firstAvailable", "deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations",
    "capacity", "derivedAttributes", "key", "operator", "value", "effect", "tolerationSeconds")
"""Fields of requests, and of what is in them, as Go's types have them."""
OPERATORS = ("Equal", "Exists")
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
        for toleration in request.get("tolerations") or ():
            if not toleration.get("operator"):
                toleration["operator"] = "Equal"


def admin_errors(devices: Tree, namespace: str, cluster: Cluster) -> list[FieldError]:
    """The first request for the access of an administrator, where the namespace's labels do not
    grant it.
    """
    for number, request in enumerate(devices.get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            if _grants_access(namespace, cluster):
                return []
            # Also for templates, whose requests lie deeper.
            return [forbidden(child(index("spec.devices.requests", number), "adminAccess"), NO_ADMIN)]
    return []


def admin_status_errors(results: list[Tree], before: list[Tree], claim: Tree, cluster: Cluster) -> list[FieldError]:
    """The same for the first device that is newly allocated with such access."""
    if any(result.get("adminAccess") for result in before):
        return []
    for number, result in enumerate(results):
        if result.get("adminAccess"):
            where = child(index("status.allocation.devices.results", number), "adminAccess")
            return [] if _grants_access(claim["metadata"].get("namespace", ""), cluster) else [forbidden(where, NO_ADMIN)]
    return []


def _grants_access(namespace: str, cluster: Cluster) -> bool:
    found = cluster.lookup("", "namespaces", "", namespace) or {"metadata": {}}
    return bool((found["metadata"].get("labels") or {}).get(ADMIN_LABEL) == "true")


def device_errors(path: str, devices: Tree, cluster: Cluster | None) -> list[FieldError]:
    """Requests, constraints among them, and configuration.

    What upstream's declared validation finds comes last. Without a cluster the selectors were
    stored before, and are not compiled.
    """
    requests, found = devices.get("requests") or [], []
    where = child(path, "requests")
    if len(requests) > MAX_REQUESTS:
        found.append(too_many(where, len(requests), MAX_REQUESTS))
    for number, request in enumerate(requests):
        found += _request(index(where, number), request, cluster)
    known = request_names(devices)
    constraints = devices.get("constraints") or []
    if len(constraints) > MAX_CONSTRAINTS:
        found.append(too_many(child(path, "constraints"), len(constraints), MAX_CONSTRAINTS))
    for number, constraint in enumerate(constraints):
        found += _constraint(index(child(path, "constraints"), number), constraint, known)
    configs = devices.get("config") or []
    if len(configs) > MAX_CONFIGS:
        found.append(too_many(child(path, "config"), len(configs), MAX_CONFIGS))
    for number, config in enumerate(configs):
        here = index(child(path, "config"), number)
        for each, name in enumerate(config.get("requests") or ()):
            found += reference_errors(index(child(here, "requests"), each), name, known)
        found += _config(here, config)
    found += _repeated(where, requests)
    for number, request in enumerate(requests):
        found += _declared(index(where, number), request)
    for number, constraint in enumerate(constraints):
        here = index(child(path, "constraints"), number)
        found += _repeated(child(here, "requests"), constraint.get("requests") or [])
        found += [error for name in ATTRIBUTES for error in attribute_errors(child(here, name), constraint.get(name))]
    for number, config in enumerate(configs):
        here = index(child(path, "config"), number)
        found += _repeated(child(here, "requests"), config.get("requests") or []) + _driver(here, config)
    return found


def request_names(devices: Tree) -> list[str]:
    """What constraints and configuration may call the requests of a claim."""
    return [name for request in devices.get("requests") or () for name in _names(request)]


def _names(request: Tree) -> list[str]:
    """What constraints and configuration may call a request."""
    name = request.get("name", "")
    return [name, *(f"{name}/{sub.get('name', '')}" for sub in request.get("firstAvailable") or ())]


def _repeated(path: str, items: list[Any]) -> list[FieldError]:
    """Items of a set that are there already: texts, or trees by their names."""
    keys = [item.get("name", "") if isinstance(item, dict) else item for item in items]
    return [
        duplicate(index(path, number), _ordered(items[number]))._replace(before=duplicate(index(path, number), key))
        for number, key in ((place, keys[place]) for place in sorted(repetitions(keys)))]


def _ordered(value: Any) -> Any:
    """A request as its type prints."""
    if isinstance(value, list):
        return [_ordered(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: _ordered(value[name]) for name in dict.fromkeys([*ORDER, *value]) if name in value}


def _declared(path: str, request: Tree) -> list[FieldError]:
    found = _mode(child(path, "exactly"), request["exactly"]) if "exactly" in request else []
    where, first = child(path, "firstAvailable"), request.get("firstAvailable") or []
    found += _repeated(where, first)
    for number, sub in enumerate(first):
        if not sub.get("deviceClassName"):
            found.append(required(child(index(where, number), "deviceClassName")))
        else:
            here = child(index(where, number), "deviceClassName")
            found += [invalid(here, sub["deviceClassName"], names.in_bytes(text))
                      for text in names.dns1123_subdomain(sub["deviceClassName"])]
        found += _mode(index(where, number), sub)
    return found


def _mode(path: str, request: Tree) -> list[FieldError]:
    mode = request.get("allocationMode", "")
    found = [] if mode in MODES else [not_supported(child(path, "allocationMode"), mode, MODES)]
    return found + [
        error for number, toleration in enumerate(request.get("tolerations") or ())
        for error in _declared_toleration(index(child(path, "tolerations"), number), toleration)]


def _request(path: str, request: Tree, cluster: Cluster | None) -> list[FieldError]:
    found = ruled(child(path, "name"), request.get("name", ""), names.dns1123_label)
    exactly, first = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is not None and first:
        return [*found, invalid(path, None, f"{ONE_KIND}, but multiple fields are set")]
    if exactly is not None:
        if not exactly.get("deviceClassName"):
            found.append(required(child(path, "exactly", "deviceClassName")))
        return found + _exact(child(path, "exactly"), exactly, cluster)
    if not first:
        return [*found, required(path, ONE_KIND)]
    where = child(path, "firstAvailable")
    if len(first) > MAX_SUB_REQUESTS:
        found.append(too_many(where, len(first), MAX_SUB_REQUESTS))
    for number, sub in enumerate(first):
        here = index(where, number)
        found += ruled(child(here, "name"), sub.get("name", ""), names.dns1123_label)
        found += _exact(here, sub, cluster, named=False)
    return found


def _exact(path: str, request: Tree, cluster: Cluster | None, *, named: bool = True) -> list[FieldError]:
    name = request.get("deviceClassName", "")
    found = ruled(child(path, "deviceClassName"), name, names.dns1123_subdomain) if name and named else []
    found += selector_errors(child(path, "selectors"), request.get("selectors") or [], cluster)
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode == "All" and count:
        found.append(invalid(child(path, "count"), count, "must not be specified when allocationMode is 'All'"))
    if mode == "ExactCount" and count <= 0:
        found.append(invalid(child(path, "count"), count, "must be greater than zero"))
    return found + [
        error for number, toleration in enumerate(request.get("tolerations") or ())
        for error in _value(index(child(path, "tolerations"), number), toleration)]


def toleration_errors(path: str, toleration: Tree) -> list[FieldError]:
    """What is wrong with the toleration of a device's taint."""
    return _value(path, toleration) + [declared(error) for error in _declared_toleration(path, toleration)]


def _value(path: str, toleration: Tree) -> list[FieldError]:
    """The value of a toleration, which hangs on its operator."""
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    if operator == "Exists" and value:
        return [invalid(child(path, "value"), value, "must be empty for operator `Exists`")]
    return ruled(child(path, "value"), value, names.label_value) if operator == "Equal" else []


def _declared_toleration(path: str, toleration: Tree) -> list[FieldError]:
    operator, key, effect = (toleration.get(name) for name in ("operator", "key", "effect"))
    found = ruled(child(path, "key"), key, names.qualified_name) if key else []
    if operator not in OPERATORS:
        found.append(not_supported(child(path, "operator"), operator or "", OPERATORS))
    if effect and effect not in EFFECTS:
        found.append(not_supported(child(path, "effect"), effect, EFFECTS))
    return found


def selector_errors(path: str, selectors: list[Tree], cluster: Cluster | None) -> list[FieldError]:
    """Every selector is an expression; one that is new compiles in the cluster's release."""
    found = [too_many(path, len(selectors), MAX_SELECTORS)] if len(selectors) > MAX_SELECTORS else []
    for number, selector in enumerate(selectors):
        where = child(index(path, number), "cel")
        if "cel" not in selector:
            found.append(required(where))
        elif cluster is not None:
            found += _expression(child(where, "expression"), selector["cel"].get("expression", ""), cluster)
    return found


def _expression(path: str, text: str, cluster: Cluster) -> list[FieldError]:
    from fakekube.cel import devices as selectors  # few clusters have any

    if len(text.encode(errors="replace")) > selectors.MAX_LENGTH:
        return [too_long(path, selectors.MAX_LENGTH)]
    of = selectors.environment(
        minor_of(cluster), stored=False, multiple_allocations=cluster.gate("DRAConsumableCapacity"),
        list_attributes=cluster.gate("DRAListTypeAttributes"))
    try:
        most = selectors.compiled(text, of).estimate().max
    except selectors.SelectorError as error:
        return [invalid(path, text, str(error))]
    return [forbidden(path, "too complex, exceeds cost limit")] if most > selectors.MAX_COST else []


def config_errors(path: str, configs: list[Tree]) -> list[FieldError]:
    """Configuration of a class."""
    places = [(index(path, number), config) for number, config in enumerate(configs)]
    found = [too_many(path, len(configs), MAX_CONFIGS)] if len(configs) > MAX_CONFIGS else []
    found += [error for here, config in places for error in _config(here, config)]
    return found + [error for here, config in places for error in _driver(here, config)]


def _config(path: str, config: Tree) -> list[FieldError]:
    """Configuration is for a driver, in its own form."""
    opaque = config.get("opaque")
    if opaque is None:
        return [required(child(path, "opaque"))]
    parameters, where = opaque.get("parameters"), child(path, "opaque", "parameters")
    if parameters is None:
        return [required(where)]
    return [] if isinstance(parameters, dict) else [invalid(where, "<value omitted>", "must be a valid JSON object")]


def _driver(path: str, config: Tree) -> list[FieldError]:
    opaque = config.get("opaque")
    return [] if opaque is None else driver_errors(child(path, "opaque", "driver"), opaque.get("driver", ""))


def driver_errors(path: str, name: str) -> list[FieldError]:
    """What a declarative rule says of the name of a driver."""
    if not name:
        return [required(path)]
    texts = caseless_subdomain(name)
    found = [invalid(path, name, names.in_bytes(text))._replace(before=invalid(path, name, text)) for text in texts]
    return [*found, too_long(path, MAX_DRIVER, "characters")] if len(name) > MAX_DRIVER else found


def opaque_errors(path: str, config: Tree) -> list[FieldError]:
    """What is wrong with one configuration, its requests aside."""
    return _config(path, config) + [declared(error) for error in _driver(path, config)]


def _constraint(path: str, constraint: Tree, known: list[str]) -> list[FieldError]:
    found: list[FieldError] = []
    for number, name in enumerate(constraint.get("requests") or ()):
        found += reference_errors(index(child(path, "requests"), number), name, known)
    if any(name in constraint for name in ATTRIBUTES):
        return found
    text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    return [*found, required(path, text)]


def attribute_errors(path: str, value: str | None) -> list[FieldError]:
    """``example.com/name``."""
    if value is None:
        return []
    domain, slash, name = value.rpartition("/")
    if not slash:
        text = "a fully qualified name must be a domain and a name separated by a slash"
        return [*identifier_errors(path, value), invalid(path, value, text)]
    if "/" in domain:
        return []  # upstream looks at names of two parts only
    found = [] if domain else [invalid(path, "", "prefix must not be empty")]
    if domain:
        found += [too_long(path, MAX_DRIVER)] if len(domain) > MAX_DRIVER else []
        found += [invalid(path, domain, f"prefix: {names.in_bytes(text)}") for text in names.dns1123_subdomain(domain)]
    return found + (identifier_errors(path, name) if name else [invalid(path, "", "name must not be empty")])


def identifier_errors(path: str, text: str) -> list[FieldError]:
    """What is wrong with the name of an attribute, behind its domain."""
    found = [too_long(path, MAX_IDENTIFIER)] if len(text) > MAX_IDENTIFIER else []
    return found + ruled(path, text, names.c_identifier)


def reference_errors(path: str, name: str, known: list[str]) -> list[FieldError]:
    """What keeps a text from being the name of a request, of those that ``request_names`` gives."""
    segments = name.split("/")
    if len(segments) > 2:
        return [invalid(path, name, REFERENCE)]
    found: list[FieldError] = []
    for segment in segments:
        found += ruled(path, segment, names.dns1123_label)
    return found if name in known else [*found, invalid(path, name, REFERENCE)]
