"""What is wrong with the metrics of a HorizontalPodAutoscaler.

Upstream: pkg/apis/autoscaling/validation.
"""

from fakekube.apimachinery import field_errors, names, quantity
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apis.core.resource_requirements import validate_container_resource_name

# In the order in which upstream looks for them: only the first is looked into.
SOURCES = ("object", "external", "pods", "resource", "containerResource")
TYPES = ("ContainerResource", "External", "Object", "Pods", "Resource")
TARGETS = ("Utilization", "Value", "AverageValue")
MISSING = "must populate information for the given metric source"
ONE_ONLY = "must populate the given metric source only"
NO_ZERO = "must specify at least one Object or External metric to support scaling to zero replicas"


def validate_metrics(metrics: list[Tree], min_replicas: int | None, path: str) -> list[FieldError]:
    """All metrics; scaling to nothing needs one that does not come from the pods."""
    found: list[FieldError] = []
    for position, metric in enumerate(metrics):
        found += _metric(metric, f"{path}[{position}]")
    if min_replicas == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        found.append(field_errors.forbidden(path, NO_ZERO))
    return found


def _metric(metric: Tree, path: str) -> list[FieldError]:
    kind = metric.get("type", "")
    found: list[FieldError] = []
    if not kind:
        found.append(field_errors.required(f"{path}.type", "must specify a metric source type"))
    if kind not in TYPES:
        found.append(field_errors.not_supported(f"{path}.type", kind, TYPES))
    present = [name for name in SOURCES if name in metric]
    if present:
        found += _source(present[0], metric[present[0]], f"{path}.{present[0]}")
    expected = kind[:1].lower() + kind[1:]
    if kind not in TYPES:
        found.append(field_errors.not_supported(f"{path}.type", kind, TYPES))
    elif expected not in metric:
        found.append(field_errors.required(f"{path}.{expected}", MISSING))
    if len(present) != 1:
        found += [field_errors.forbidden(f"{path}.{name}", ONE_ONLY) for name in present if name != expected]
    return found


def _source(kind: str, source: Tree, path: str) -> list[FieldError]:
    target, found = source.get("target") or {}, []
    if kind == "object":
        found += validate_reference(source.get("describedObject") or {}, f"{path}.describedObject")
    if kind in ("object", "external", "pods"):
        found += _identifier(source.get("metric") or {}, f"{path}.metric")
    elif not source.get("name"):
        found.append(field_errors.required(f"{path}.name", "must specify a resource name"))
    elif kind == "containerResource":
        found += validate_container_resource_name(source["name"], f"{path}.name")
    if kind == "containerResource":
        found += _container(source.get("container", ""), f"{path}.container")
    found += _target(target, f"{path}.target")
    return found + _what_is_asked(kind, target, f"{path}.target")


def _what_is_asked(kind: str, target: Tree, path: str) -> list[FieldError]:
    """Each source has its own idea of which of the three values a target must have."""
    value, average, share = (name in target for name in ("value", "averageValue", "averageUtilization"))
    found: list[FieldError] = []
    if kind == "pods":
        if not average:
            what = "must specify a positive target averageValue"
            found.append(field_errors.required(f"{path}.averageValue", what))
    elif kind == "object":
        if not value and not average:
            what = "must set either a target value or averageValue"
            found.append(field_errors.required(f"{path}.averageValue", what))
    elif kind == "external":
        if not value and not average:
            what = "must set either a target value for metric or a per-pod target"
            found.append(field_errors.required(f"{path}.averageValue", what))
        if value and average:
            what = "may not set both a target value for metric and a per-pod target"
            found.append(field_errors.forbidden(f"{path}.value", what))
    else:
        if not share and not average:
            what = "must set either a target raw value or a target utilization"
            found.append(field_errors.required(f"{path}.averageUtilization", what))
        if share and average:
            what = "may not set both a target raw value and a target utilization"
            found.append(field_errors.forbidden(f"{path}.averageValue", what))
    return found


def _identifier(identifier: Tree, path: str) -> list[FieldError]:
    name = identifier.get("name", "")
    if not name:
        return [field_errors.required(f"{path}.name", "must specify a metric name")]
    return complaints(f"{path}.name", name, names.path_segment(name))


def _container(name: str, path: str) -> list[FieldError]:
    if not name:
        return [field_errors.required(path, "must specify a container")]
    return complaints(path, name, names.dns1123_label(name))


def _target(target: Tree, path: str) -> list[FieldError]:
    kind = target.get("type", "")
    found: list[FieldError] = []
    if not kind:
        found.append(field_errors.required(f"{path}.type", "must specify a metric target type"))
    if kind not in TARGETS:
        what = "must be either Utilization, Value, or AverageValue"
        found.append(field_errors.invalid(f"{path}.type", kind, what))
    found += [
        field_errors.invalid(f"{path}.{name}", target[name], "must be positive")
        for name in ("value", "averageValue") if name in target and quantity.parse(target[name]).nano <= 0
    ]
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        found.append(field_errors.invalid(f"{path}.averageUtilization", share, "must be greater than 0"))
    return found


def validate_reference(reference: Tree, path: str, *, needs_group: bool = False) -> list[FieldError]:
    """A CrossVersionObjectReference: kind and name; what is to be scaled must name its API group
    besides.
    """
    found: list[FieldError] = []
    for name in ("kind", "name"):
        value = reference.get(name, "")
        if not value:
            found.append(field_errors.required(f"{path}.{name}"))
        else:
            found += complaints(f"{path}.{name}", value, names.path_segment(value))
    version = reference.get("apiVersion", "")
    if version.count("/") > 1:
        what = f"unexpected GroupVersion string: {version}"
        found.append(field_errors.invalid(f"{path}.apiVersion", version, what))
    elif needs_group and ("/" not in version or version.startswith("/")):
        found.append(field_errors.invalid(f"{path}.apiVersion", version, "apiVersion must specify API group"))
    return found
