"""APIService: which server answers for the version of an API group.

Upstream: kube-aggregator/pkg/apis/apiregistration (v1/defaults.go, validation) and
pkg/registry/apiservice.
"""

import base64

from fakekube.apimachinery import conditions, names
from fakekube.apimachinery.field_errors import FieldError, complaints, go_quote, index, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.apiregistration.local import available
from fakekube.apis.base import StatusStrategy
from fakekube.registry.strategy import WriteContext

HTTPS_PORT = 443
MAX_GROUP_PRIORITY, MAX_VERSION_PRIORITY = 20000, 1000


class APIServiceStrategy(StatusStrategy):
    """What is particular to APIServices."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """A service is asked on the port of HTTPS."""
        service = (obj.get("spec") or {}).get("service")
        if service is not None:
            service.setdefault("port", HTTPS_PORT)

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree:
        """What this server itself serves is available at once."""
        return available(ctx.now) if (obj.get("spec") or {}).get("service") is None else {}

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The name, what the object is for, its priorities, the server behind it."""
        spec = obj.get("spec") or {}
        group, version = spec.get("group", ""), spec.get("version", "")
        found = _name(obj["metadata"].get("name", ""), f"{version}.{group}")
        if not group and version != "v1":
            found.append(required("spec.group", "only v1 may have an empty group and it better be legacy kube"))
        if group:
            found += complaints("spec.group", group, names.dns1123_subdomain(group))
        found += complaints("spec.version", version, names.dns1035_label(version))
        found += _priority("spec.groupPriorityMinimum", spec.get("groupPriorityMinimum", 0), MAX_GROUP_PRIORITY)
        found += _priority("spec.versionPriority", spec.get("versionPriority", 0), MAX_VERSION_PRIORITY)
        return found + (_local(spec) if spec.get("service") is None else _remote(spec))

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Conditions are True, False or Unknown."""
        found = []
        for number, condition in enumerate((obj.get("status") or {}).get("conditions") or ()):
            if condition.get("status", "") not in ("True", "False", "Unknown"):
                path = f"{index('status.conditions', number)}.status"
                found.append(not_supported(path, condition.get("status", ""), ("True", "False", "Unknown")))
        return found


def is_available(obj: Tree) -> bool:
    """Whether the server behind an APIService is said to answer."""
    return conditions.is_true((obj.get("status") or {}).get("conditions"), "Available")


def _name(name: str, wanted: str) -> list[FieldError]:
    if not name or name == wanted or names.path_segment(name):
        return []
    return [invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: {go_quote(wanted)}')]


def _priority(path: str, value: int, most: int) -> list[FieldError]:
    return [] if 0 < value <= most else [invalid(path, value, f"must be positive and less than {most}")]


def _local(spec: Tree) -> list[FieldError]:
    found = []
    if spec.get("caBundle"):
        size = len(base64.b64decode(spec["caBundle"]))
        found.append(invalid("spec.caBundle", f"{size} bytes", "local APIServices may not have a caBundle"))
    if spec.get("insecureSkipTLSVerify"):
        text = "local APIServices may not have insecureSkipTLSVerify"
        found.append(invalid("spec.insecureSkipTLSVerify", True, text))
    return found


def _remote(spec: Tree) -> list[FieldError]:
    service, found = spec["service"], []
    if not service.get("namespace"):
        found.append(required("spec.service.namespace"))
    if not service.get("name"):
        found.append(required("spec.service.name"))
    port = service.get("port", 0)
    if texts := names.port_number(port):
        found.append(invalid("spec.service.port", port, f"port is not valid: {', '.join(texts)}"))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        found.append(invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present"))
    return found


STRATEGY = APIServiceStrategy()
