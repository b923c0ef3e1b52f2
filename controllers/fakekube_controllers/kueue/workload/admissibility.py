"""Requests as the namespace and the cluster would have them, and whether they may be admitted.

What pods get when they are created counts before they are: defaults of LimitRanges, overhead of
RuntimeClasses, limits in place of requests. Upstream: pkg/workload/resources.go,
pkg/util/limitrange, pkg/util/resource.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from fakekube.apimachinery import field_errors, quantity
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.meta import labels_of, namespace_of
from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.resources import Requests
from fakekube_controllers.kueue.workload.info import Info

NAMESPACE_MISMATCH = "workload namespace doesn't match ClusterQueue selector"
INVALID_RESOURCES = "resources validation failed"
LIMIT_RANGE_UNSATISFIED = "resources didn't satisfy LimitRange constraints"
REQUESTS_ABOVE_LIMITS = "requests must not exceed its limits"
REQUESTS_ABOVE_MAX = "requests must not be above the limitRange max"
REQUESTS_BELOW_MIN = "requests must not be below the limitRange min"
POD_SETS_PATH = "spec.podSets"

CONTAINER_FIELDS = ("initContainers", "containers")
ResourceList = Mapping[str, str]
Limits = dict[str, dict[str, ResourceList]]
"""By type (Container, Pod): ``max``, ``min``, ``default``, ``defaultRequest``."""


def adjust_resources(
    obj: ReadOnlyTree, limit_ranges: Sequence[ReadOnlyTree], runtime_class: Callable[[str], ReadOnlyTree | None],
) -> ReadOnlyTree:
    """A Workload with the requests that its pods would have; it shares what does not change.

    ``limit_ranges`` are those of its namespace, ``runtime_class`` gives one by name.
    """
    limits = summarize(limit_ranges)
    podsets = obj["spec"]["podSets"]
    adjusted = [_with_spec(podset, _adjusted(podset["template"]["spec"], limits, runtime_class)) for podset in podsets]
    if all(new is old for new, old in zip(adjusted, podsets, strict=True)):
        return obj
    return {**obj, "spec": {**obj["spec"], "podSets": adjusted}}


def _with_spec(podset: ReadOnlyTree, spec: ReadOnlyTree) -> ReadOnlyTree:
    if spec is podset["template"]["spec"]:
        return podset
    return {**podset, "template": {**podset["template"], "spec": spec}}


def _adjusted(spec: ReadOnlyTree, limits: Limits, runtime_class: Callable[[str], ReadOnlyTree | None]) -> ReadOnlyTree:
    changes: Tree = {}
    if spec.get("runtimeClassName") and not spec.get("overhead"):
        found = runtime_class(spec["runtimeClassName"])
        overhead = (found or NOTHING).get("overhead") or NOTHING
        if overhead.get("podFixed"):
            changes["overhead"] = overhead["podFixed"]
    defaults = limits.get("Container", NOTHING)
    for field in CONTAINER_FIELDS:
        if containers := spec.get(field):
            new = [_with_defaults(container, defaults) for container in containers]
            if any(left is not right for left, right in zip(new, containers, strict=True)):
                changes[field] = new
    if spec.get("resources"):
        whole = _with_defaults(spec, limits.get("Pod", NOTHING))
        if whole is not spec:
            changes["resources"] = whole["resources"]
    return {**spec, **changes} if changes else spec


def _with_defaults(holder: ReadOnlyTree, defaults: Mapping[str, ResourceList]) -> ReadOnlyTree:
    """A container, or a pod, with the defaults of LimitRanges, and limits for missing requests."""
    own = holder.get("resources") or NOTHING
    limits: ResourceList = {**defaults.get("default", NOTHING), **own.get("limits", NOTHING)}
    requests: ResourceList = {**limits, **defaults.get("defaultRequest", NOTHING), **own.get("requests", NOTHING)}
    if limits == own.get("limits", NOTHING) and requests == own.get("requests", NOTHING):
        return holder
    return {**holder, "resources": {**own, **({"limits": limits} if limits else {}), "requests": requests}}


def summarize(limit_ranges: Iterable[ReadOnlyTree]) -> Limits:
    """LimitRanges as one: the lowest maxima, the highest minima, of defaults the first."""
    result: Limits = {}
    for limit_range in limit_ranges:
        for item in limit_range["spec"].get("limits") or ():
            known = result.setdefault(item["type"], {})
            known["max"] = _merged(known.get("max"), item.get("max"), larger=False)
            known["min"] = _merged(known.get("min"), item.get("min"), larger=True)
            for field in ("default", "defaultRequest"):
                known[field] = {**item.get(field, NOTHING), **known.get(field, NOTHING)}
    return result


def _merged(left: ResourceList | None, right: ResourceList | None, *, larger: bool) -> ResourceList:
    """Both lists; of what is in both the larger or the smaller."""
    result = dict(left or NOTHING)
    for name, text in (right or NOTHING).items():
        if name not in result or (quantity.parse(text).nano > quantity.parse(result[name]).nano) == larger:
            result[name] = text
    return result


def validate_resources(info: Info) -> list[FieldError]:
    """What requests more than its limit."""
    errors: list[FieldError] = []
    for index, podset in enumerate(info.obj["spec"]["podSets"]):
        spec, path = podset["template"]["spec"], _spec_path(index)
        holders = [
            (container, f"{path}.{field}[{place}]")
            for field in CONTAINER_FIELDS for place, container in enumerate(spec.get(field) or ())
        ]
        if spec.get("resources"):
            holders.append((spec, f"{path}.resources"))
        for holder, place_path in holders:
            own = holder.get("resources") or NOTHING
            above = resources.greater_keys(_amounts(own.get("requests")), _amounts(own.get("limits")))
            if above:
                errors.append(field_errors.invalid(place_path, above, REQUESTS_ABOVE_LIMITS))
    return errors


def validate_limit_range(info: Info, limit_ranges: Sequence[ReadOnlyTree]) -> list[FieldError]:
    """What the LimitRanges of the namespace would refuse."""
    if not limit_ranges:
        return []
    limits, errors = summarize(limit_ranges), list[FieldError]()
    for index, podset in enumerate(info.obj["spec"]["podSets"]):
        spec, path = podset["template"]["spec"], _spec_path(index)
        if "Container" in limits:
            for field in CONTAINER_FIELDS:
                for place, container in enumerate(spec.get(field) or ()):
                    own = container.get("resources") or NOTHING
                    requests, bounds = own.get("requests"), own.get("limits")
                    errors += _outside(
                        f"{path}.{field}[{place}]", limits["Container"], _amounts(_merged(requests, bounds, larger=False)),
                        _amounts(_merged(requests, bounds, larger=True)))
        if "Pod" in limits:
            total = resources.requests_from_pod_spec(spec)
            errors += _outside(path, limits["Pod"], total, total)
    return errors


def _outside(path: str, limits: Mapping[str, ResourceList], least: Requests, most: Requests) -> list[FieldError]:
    errors = []
    if above := resources.greater_keys(most, _amounts(limits["max"])):
        errors.append(field_errors.invalid(path, above, REQUESTS_ABOVE_MAX))
    if below := resources.greater_keys(_amounts(limits["min"]), least):
        errors.append(field_errors.invalid(path, below, REQUESTS_BELOW_MIN))
    return errors


def _amounts(listed: ResourceList | None) -> Requests:
    return resources.requests_from_resource_list(listed)


def _spec_path(index: int) -> str:
    return f"{POD_SETS_PATH}[{index}].template.spec"


def validate_admissibility(
    info: Info, namespace: ReadOnlyTree | None, selector: Selector | None, limit_ranges: Sequence[ReadOnlyTree],
) -> str:
    """Why a ClusterQueue with that namespace selector may not admit a Workload; empty when it may.

    ``namespace`` is the Workload's, ``limit_ranges`` are those in it.
    """
    if namespace is None:
        name = field_errors.go_quote(namespace_of(info.obj))
        return f"workload namespace {name} does not exist: Namespace {name} not found"
    if selector is not None and not selector.matches(labels_of(namespace)):
        return NAMESPACE_MISMATCH
    if errors := validate_resources(info):
        return f"{INVALID_RESOURCES}: {field_errors.aggregate(errors)}"
    if errors := validate_limit_range(info, limit_ranges):
        return f"{LIMIT_RANGE_UNSATISFIED}: {field_errors.aggregate(errors)}"
    return ""
