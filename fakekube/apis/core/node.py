"""Nodes: taints, addresses, and what they can allocate.

Upstream: pkg/registry/core/node/strategy.go and ValidateNode in
pkg/apis/core/validation/validation.go. Left out: the old annotations for taints, and configuration
from ConfigMaps, which upstream forgets on create.
"""

from typing import Any

import orjson

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import cidr_warnings, legacy_cidr, parse_cidr
from fakekube.apis.base import drop_disabled
from fakekube.apis.core.podspec_defaults import round_amounts
from fakekube.apis.core.resource_requirements import validate_amount
from fakekube.apis.core.scheduling_validation import validate_taint_effect
from fakekube.registry.strategy import Strategy, WriteContext

FEATURE = "[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*"
SAME_PROVIDER = 'node updates may not change providerID except from "" to valid'
SAME_CIDR = 'node updates may not change podCIDR except from "" to valid'
BAD_FEATURE = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)
NOT_DUAL = "invalid PodCIDRs. failed to check with dual stack with error"
SPEC_GATES = {"podPreemptionPolicy": "InPlacePodVerticalScalingSchedulerPreemption"}
AVOID_PODS = "scheduler.alpha.kubernetes.io/preferAvoidPods"


class NodeStrategy(Strategy):
    """The kind's own endpoint and its status."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        status, spec = obj.setdefault("status", {}), obj.setdefault("spec", {})
        for part in ("capacity", "allocatable"):
            round_amounts(status.get(part) or {})
        for image in status.get("images") or ():
            image["names"] = image.get("names") or None
        if "capacity" in status and "allocatable" not in status:
            status["allocatable"] = dict(status["capacity"])
        one, several = spec.get("podCIDR"), spec.get("podCIDRs")
        if one and one != (several or [""])[0]:
            spec["podCIDRs"] = [one]  # old clients know one range
        elif several:
            spec["podCIDR"] = several[0]

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        obj["spec"].pop("configSource", None)
        obj["status"].pop("config", None)
        drop_disabled(obj["spec"], None, SPEC_GATES, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        obj["status"] = old["status"]
        if "configSource" not in old["spec"]:
            obj["spec"].pop("configSource", None)
        drop_disabled(obj["spec"], old["spec"], SPEC_GATES, ctx)

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_status_update(obj, old, ctx)
        if "config" not in (old.get("status") or {}):
            (obj.get("status") or {}).pop("config", None)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        spec, status = obj["spec"], obj["status"]
        found = _avoided_pods(obj["metadata"].get("annotations") or {}, "metadata.annotations")
        found += _taints(spec.get("taints") or [], "metadata.taints") + _amounts(status) + _features(status)
        ranges = spec.get("podCIDRs") or []
        for position, text in enumerate(ranges):
            found += legacy_cidr(f"spec.podCIDRs[{position}]", text, strict=True)
        unread = next((position for position, text in enumerate(ranges) if parse_cidr(text) is None), None)
        if unread is not None and len(ranges) > 1:
            text = f"{NOT_DUAL}:invalid CIDR[{unread}]: <nil> (invalid CIDR address: {ranges[unread]})"
            found.append(FieldError("Internal error", "spec.podCIDRs", None, text))
        dual = unread is None and len({":" in text for text in ranges}) == 2
        if len(ranges) > 2 or (len(ranges) == 2 and not dual):
            what = "may specify no more than one CIDR for each IP family"
            found.append(field_errors.invalid("spec.podCIDRs", ranges, what))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return self.validate(obj, ctx) + self._changes(obj, old)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return self._changes(obj, old)

    def _changes(self, obj: Tree, old: Tree) -> list[FieldError]:
        """What holds between two states, by either endpoint."""
        spec, old_spec, status = obj["spec"], old["spec"], obj["status"]
        found = _amounts(status) + _features(status)
        addresses = status.get("addresses") or []
        repeated = field_errors.repetitions((address.get("type"), address.get("address")) for address in addresses)
        for position, address in enumerate(addresses):
            if position in repeated:
                shown = {"Type": address.get("type", ""), "Address": address.get("address", "")}
                found.append(field_errors.duplicate(f"status.addresses[{position}]", shown))
        ranges, old_ranges = spec.get("podCIDRs") or [], old_spec.get("podCIDRs") or []
        if old_ranges and ranges != old_ranges:
            found.append(field_errors.forbidden("spec.podCIDRs", SAME_CIDR))
        provider, old_provider = spec.get("providerID", ""), old_spec.get("providerID", "")
        if old_provider and provider != old_provider:
            what = "field cannot be modified once set" if provider else "field cannot be cleared once set"
            error = field_errors.invalid("spec.providerID", None, what)
            found.append(error._replace(before=field_errors.forbidden("spec.providerID", SAME_PROVIDER)))
        found += _taints(spec.get("taints") or [], "metadata.taints")
        if spec.get("externalID", "") != old_spec.get("externalID", ""):
            found.append(field_errors.forbidden("spec.externalID", "may not be updated"))
        return found

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        spec = obj["spec"]
        found: list[str] = []
        if "configSource" in spec:
            found.append("spec.configSource: the feature is removed")
        if spec.get("externalID"):
            found.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
        for position, text in enumerate(spec.get("podCIDRs") or ()):
            found += cidr_warnings(f"spec.podCIDRs[{position}]", text)
        return found


def _avoided_pods(annotations: Tree, path: str) -> list[FieldError]:
    """An annotation that is JSON: controllers whose pods had better run elsewhere."""
    if not (text := annotations.get(AVOID_PODS)):
        return []
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        rest = text[error.pos :].strip()
        what = f"invalid character '{rest[0]}' looking for beginning of value" if rest else "unexpected end of JSON input"
        return [field_errors.invalid(f"{path}.AvoidPods", AVOID_PODS, what)]
    found: list[FieldError] = []
    for position, entry in enumerate(_below(content, "preferAvoidPods") or []):
        here = f"{path}.{AVOID_PODS}[{position}].PodSignature"
        controller = _below(_below(entry, "podSignature"), "podController")
        if controller is None:
            found.append(field_errors.required(here))
        elif not _below(controller, "controller"):
            found.append(field_errors.invalid(f"{here}.PodController.Controller", False, "must point to a controller"))
    return found


def _below(content: Any, field: str) -> Any:
    """A field of something that should be an object, and is as empty as Go leaves it when it is
    not.
    """
    return content.get(field) if isinstance(content, dict) else None


def _taints(taints: list[Tree], path: str) -> list[FieldError]:
    found: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for position, taint in enumerate(taints):
        here = f"{path}[{position}]"
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        found += complaints(f"{here}.key", key, names.qualified_name(key))
        if texts := names.label_value(value):
            found.append(field_errors.invalid(f"{here}.value", value, ";".join(texts)))
        if not effect:
            found.append(field_errors.required(f"{here}.effect"))
        else:
            found += validate_taint_effect(effect, f"{here}.effect")
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            detail = "taints must be unique by key and effect pair"
            found.append(FieldError("Duplicate value", here, shown, detail))
        seen.add((key, effect))
    return found


def _amounts(status: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    for part in ("capacity", "allocatable"):
        for name, text in status.get(part, {}).items():
            found += validate_amount(name, text, f"status.{part}.{name}")
    return found


def _features(status: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    features = status.get("declaredFeatures") or []
    for position, name in enumerate(features):
        if len(name) > names.MAX_SUBDOMAIN_LENGTH or not names.matches(FEATURE, name):
            what = f"invalid feature name {field_errors.go_quote(name)}: {BAD_FEATURE}"
            found.append(field_errors.invalid(f"status.declaredFeatures[{position}]", name, what))
        following = features[position + 1] if position + 1 < len(features) else None
        here = f"status.declaredFeatures[{position + 1}]"
        if following == name:
            found.append(field_errors.duplicate(here, following))
        elif following is not None and name > following:
            found.append(field_errors.invalid(here, following, "list must be sorted alphabetically"))
    return found


STRATEGY = NodeStrategy()
