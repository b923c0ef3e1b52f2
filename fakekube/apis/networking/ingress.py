"""Ingress: hosts and paths, and the services behind them.

Upstream: pkg/apis/networking/validation, pkg/registry/networking/ingress. Left out: leniency
towards objects stored by servers of long ago.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, index, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import legacy_ip, parse_ip
from fakekube.apis.base import StatusStrategy
from fakekube.apis.checks import Rule, port_number, required_name, ruled, wildcard_subdomain
from fakekube.registry.strategy import WriteContext

CLASS_ANNOTATION = "kubernetes.io/ingress.class"
PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
BAD_SUFFIXES = ("/..", "/.")
NOT_A_NAME = "must be a DNS name, not an IP address"


class IngressStrategy(StatusStrategy):
    """What is particular to Ingresses."""

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree:
        """No address yet."""
        return {"loadBalancer": {}}

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The spec, and the class that may be named in two places."""
        found = _spec(obj.get("spec") or {})
        annotation = (obj["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
        named = (obj.get("spec") or {}).get("ingressClassName")
        if annotation is not None and named is not None and annotation != named:
            why = "must match `ingressClassName` when both are specified"
            found.append(invalid(f"annotations.{CLASS_ANNOTATION}", annotation, why))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The spec alone."""
        return _spec(obj.get("spec") or {})

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Addresses and host names."""
        strict = ctx.cluster.gate("StrictIPCIDRValidation")
        known = [each["ip"] for each in _ingress(old) if each.get("ip")]
        found: list[FieldError] = []
        for number, each in enumerate(_ingress(obj)):
            path = index("status.loadBalancer.ingress", number)
            if each.get("ip"):
                found += legacy_ip(child(path, "ip"), each["ip"], known, strict=strict)
            if each.get("hostname"):
                found += ruled(child(path, "hostname"), each["hostname"], names.dns1123_subdomain)
                if parse_ip(each["hostname"]) is not None:
                    found.append(invalid(child(path, "hostname"), each["hostname"], NOT_A_NAME))
        return found

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """The annotation gave way to a field."""
        annotated = CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {})
        if old is not None or not annotated or "ingressClassName" in (obj.get("spec") or {}):
            return []
        return [f'annotation "{CLASS_ANNOTATION}" is deprecated, please use \'spec.ingressClassName\' instead']


def _ingress(obj: Tree) -> list[Tree]:
    return ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []


def _spec(spec: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    if not spec.get("rules") and "defaultBackend" not in spec:
        found.append(invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified"))
    if "defaultBackend" in spec:
        found += _backend("spec.defaultBackend", spec["defaultBackend"])
    for number, rule in enumerate(spec.get("rules") or ()):
        found += _rule(index("spec.rules", number), rule)
    for number, tls in enumerate(spec.get("tls") or ()):
        path = index("spec.tls", number)
        for each, host in enumerate(tls.get("hosts") or ()):
            found += ruled(index(child(path, "hosts"), each), host, _host_rule(host))
        if tls.get("secretName"):
            found += ruled(child(path, "secretName"), tls["secretName"], names.dns1123_subdomain)
    if "ingressClassName" in spec:
        found += ruled("spec.ingressClassName", spec["ingressClassName"], names.dns1123_subdomain)
    return found


def _host_rule(host: str) -> Rule:
    return wildcard_subdomain if "*" in host else names.dns1123_subdomain


def _rule(path: str, rule: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    host = rule.get("host", "")
    if host:
        if parse_ip(host) is not None:
            found.append(invalid(child(path, "host"), host, NOT_A_NAME))
        found += ruled(child(path, "host"), host, _host_rule(host))
    if "http" in rule:
        paths = rule["http"].get("paths") or []
        where = child(path, "http", "paths")
        if not paths:
            found.append(required(where))
        for number, each in enumerate(paths):
            found += _path(index(where, number), each)
    return found


def _path(path: str, each: Tree) -> list[FieldError]:
    kind, text, where = each.get("pathType"), each.get("path", ""), child(path, "path")
    if kind is None:
        return [required(child(path, "pathType"), "pathType must be specified")]
    found: list[FieldError] = []
    if kind not in PATH_TYPES:
        found.append(not_supported(child(path, "pathType"), kind, PATH_TYPES))
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        found.append(invalid(where, text, "must be an absolute path"))
    if kind in ("Exact", "Prefix") and text:
        found += [invalid(where, text, f"must not contain '{part}'") for part in BAD_SEQUENCES if part in text]
        found += [invalid(where, text, f"cannot end with '{part}'") for part in BAD_SUFFIXES if text.endswith(part)]
    return found + _backend(child(path, "backend"), each.get("backend") or {})


def _backend(path: str, backend: Tree) -> list[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return reference(child(path, "resource"), resource)
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    found = required_name(child(path, "service", "name"), service.get("name", ""), names.dns1123_label)
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        found.append(invalid(path, "", "cannot set both port name & port number"))
    elif port.get("name"):
        found += ruled(child(path, "service", "port", "name"), port["name"], names.port_name)
    elif port.get("number"):
        found += port_number(child(path, "service", "port", "number"), port["number"])
    else:
        found.append(required(path, "port name or number is required"))
    return found


def reference(path: str, target: Tree) -> list[FieldError]:
    """A reference to an object of any kind: group, kind and name."""
    found: list[FieldError] = []
    if target.get("apiGroup") is not None:
        found += ruled(child(path, "apiGroup"), target["apiGroup"], names.dns1123_subdomain)
    for name in ("kind", "name"):
        found += required_name(child(path, name), target.get(name, ""), names.path_segment)
    return found


STRATEGY = IngressStrategy()
