"""The arguments of plugins in a KubeSchedulerConfiguration: defaults, and what is wrong with them.

Upstream: pkg/scheduler/apis/config/v1/defaults.go, apis/config/validation/
validation_pluginargs.go, in whose words the complaints are. Arguments are plain trees with
upstream's field names; ``defaulted`` leaves none out that a plugin reads.
"""

from collections.abc import Callable, Mapping, Sequence

from fakekube.apimachinery import field_errors, labels, names
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.util import durations

ARGS_SUFFIX = "Args"
CAPACITY_SCORING, FILTER_TIMEOUT = "StorageCapacityScoring", "DRASchedulerFilterTimeout"
BINDING_CONDITIONS = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
MOST_CUSTOM_SCORE = 10  # of a point of a shape
MOST_WEIGHT = 100
BIND_TIMEOUT_SECONDS = 600
STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
RATIO = "RequestedToCapacityRatio"
ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
DEFAULTINGS = ("System", "List")
NODE_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_SELECTOR_OPERATORS = {
    "In": labels.IN, "NotIn": labels.NOT_IN, "Exists": labels.EXISTS, "DoesNotExist": labels.DOES_NOT_EXIST,
    "Gt": labels.GREATER_THAN, "Lt": labels.LESS_THAN}

Enabled = Callable[[str], bool]
"""Whether a feature gate is on."""


class ArgumentsError(ValueError):
    """Arguments that a plugin cannot work with; the message is upstream's."""


def checked(name: str, args: ReadOnlyTree | None, enabled: Enabled) -> Tree:
    """The arguments of a plugin with its defaults. Raises ArgumentsError."""
    found = defaulted(name, args, enabled)
    if errors := validate(name, found, "", enabled):
        raise ArgumentsError(field_errors.aggregate(errors))
    return found


def defaulted(name: str, args: ReadOnlyTree | None, enabled: Enabled) -> Tree:
    """A copy of the arguments of a plugin with its defaults."""
    found = {key: value for key, value in (args or {}).items() if value is not None}
    if name == "InterPodAffinity":
        found.setdefault("hardPodAffinityWeight", 1)
    elif name == "VolumeBinding":
        found.setdefault("bindTimeoutSeconds", BIND_TIMEOUT_SECONDS)
        if enabled(CAPACITY_SCORING) and not found.get("shape"):
            found["shape"] = [{"utilization": 0, "score": MOST_CUSTOM_SCORE}, {"utilization": 100, "score": 0}]
    elif name == "NodeResourcesBalancedAllocation":
        found["resources"] = _weighed(found.get("resources"))
    elif name == "PodTopologySpread":
        found["defaultingType"] = found.get("defaultingType") or "System"
    elif name == "NodeResourcesFit":
        strategy = dict(found.get("scoringStrategy") or {"type": "LeastAllocated"})
        strategy["resources"] = _weighed(strategy.get("resources"))
        found["scoringStrategy"] = strategy
    elif name == "DynamicResources":
        if enabled(FILTER_TIMEOUT):
            found.setdefault("filterTimeout", "10s")
        if all(map(enabled, BINDING_CONDITIONS)):
            found.setdefault("bindingTimeout", "10m0s")
    elif name == "DefaultPreemption":
        found.setdefault("minCandidateNodesPercentage", 10)
        found.setdefault("minCandidateNodesAbsolute", 100)
    return found


def _weighed(resources: Sequence[ReadOnlyTree] | None) -> list[Tree]:
    """Cpu and memory where no resource is named; a weight of 1 where none is given."""
    given = resources or ({"name": "cpu"}, {"name": "memory"})
    return [{**each, "name": each.get("name", ""), "weight": each.get("weight") or 1} for each in given]


def validate(name: str, args: ReadOnlyTree, path: str, enabled: Enabled) -> list[FieldError]:
    """What is wrong with the arguments of a plugin, which have their defaults; paths begin with
    ``path``.

    A plugin without arguments of its own takes any.
    """
    if name == "VolumeBinding":
        return _volume_binding(args, path, scores_capacity=enabled(CAPACITY_SCORING))
    if name == "DynamicResources":
        return _dynamic_resources(args, path, enabled)
    check = _CHECKS.get(name)
    return check(args, path) if check is not None else []


def _dynamic_resources(args: ReadOnlyTree, path: str, enabled: Enabled) -> list[FieldError]:
    found: list[FieldError] = []
    timeout, here = args.get("filterTimeout"), field_errors.child(path, "filterTimeout")
    if timeout is not None and not enabled(FILTER_TIMEOUT):
        found.append(field_errors.forbidden(here, "DRASchedulingFilterTimeout feature gate is disabled"))
    elif timeout is not None and seconds_of(timeout) < 0:
        found.append(field_errors.invalid(here, timeout, "must be zero or positive"))
    timeout, here = args.get("bindingTimeout"), field_errors.child(path, "bindingTimeout")
    if timeout is not None and not all(map(enabled, BINDING_CONDITIONS)):
        text = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
        found.append(field_errors.forbidden(here, text))
    elif timeout is not None and seconds_of(timeout) < 1:
        found.append(field_errors.invalid(here, timeout, "must be at least 1 second"))
    return found


def seconds_of(duration: str | None) -> float:
    """Of a duration as Go writes it, ``10m0s``; 0 for none. Raises ArgumentsError."""
    if duration is None:
        return 0.0
    nanoseconds = durations.go_nanoseconds(duration)
    if nanoseconds is None:
        raise ArgumentsError(f"time: invalid duration {field_errors.go_quote(duration)}")
    return nanoseconds / 1e9


def _default_preemption(args: ReadOnlyTree, path: str) -> list[FieldError]:
    percentage, absolute = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    of_percentage = field_errors.child(path, "minCandidateNodesPercentage")
    of_absolute = field_errors.child(path, "minCandidateNodesAbsolute")
    found: list[FieldError] = []
    if not 0 <= percentage <= 100:
        found.append(field_errors.invalid(of_percentage, percentage, "not in valid range [0, 100]"))
    if absolute < 0:
        found.append(field_errors.invalid(of_absolute, absolute, "not in valid range [0, inf)"))
    if percentage == 0 and absolute == 0:
        found += [
            field_errors.invalid(of_percentage, 0, "cannot be zero at the same time as minCandidateNodesAbsolute"),
            field_errors.invalid(of_absolute, 0, "cannot be zero at the same time as minCandidateNodesPercentage")]
    return found


def _inter_pod_affinity(args: ReadOnlyTree, path: str) -> list[FieldError]:
    weight = args["hardPodAffinityWeight"]
    if 0 <= weight <= MOST_WEIGHT:
        return []
    return [field_errors.invalid(field_errors.child(path, "hardPodAffinityWeight"), weight, "not in valid range [0, 100]")]


def _node_affinity(args: ReadOnlyTree, path: str) -> list[FieldError]:
    affinity = args.get("addedAffinity")
    if not affinity:
        return []
    here = field_errors.child(path, "addedAffinity")
    found: list[FieldError] = []
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is not None:
        below = field_errors.child(here, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
        for number, term in enumerate(required.get("nodeSelectorTerms") or ()):
            found += _node_selector_term(term, field_errors.index(below, number))
    below = field_errors.child(here, "preferredDuringSchedulingIgnoredDuringExecution")
    for number, term in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        if term.get("weight"):
            found += _node_selector_term(term.get("preference") or {}, field_errors.index(below, number))
    return found


def _node_selector_term(term: ReadOnlyTree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    for number, requirement in enumerate(term.get("matchExpressions") or ()):
        here = field_errors.index(field_errors.child(path, "matchExpressions"), number)
        found += _requirement(requirement, here)
    for number, requirement in enumerate(term.get("matchFields") or ()):
        here = field_errors.index(field_errors.child(path, "matchFields"), number)
        operator, values = requirement.get("operator", ""), requirement.get("values") or []
        if operator not in ("In", "NotIn"):
            found.append(field_errors.not_supported(field_errors.child(here, "operator"), operator, ("In", "NotIn")))
        elif len(values) != 1:
            found.append(field_errors.invalid(field_errors.child(here, "values"), values, "must have one element"))
    return found


def _requirement(requirement: ReadOnlyTree, path: str) -> list[FieldError]:
    operator = requirement.get("operator", "")
    if operator not in NODE_OPERATORS:
        return [field_errors.not_supported(field_errors.child(path, "operator"), operator, NODE_OPERATORS)]
    return labels.requirement_errors(
        requirement.get("key", ""), _SELECTOR_OPERATORS[operator], tuple(requirement.get("values") or ()), path)


def _balanced_allocation(args: ReadOnlyTree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    seen: dict[str, None] = {}
    for number, resource in enumerate(args["resources"]):
        here = field_errors.index(field_errors.child(path, "resources"), number)
        if resource.get("name", "") in seen:
            found.append(field_errors.duplicate(field_errors.child(here, "name"), resource.get("name", "")))
        seen[resource.get("name", "")] = None
        if resource["weight"] != 1:
            found.append(field_errors.invalid(field_errors.child(here, "weight"), resource["weight"], "must be 1"))
    return found


def _pod_topology_spread(args: ReadOnlyTree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    kind, constraints = args["defaultingType"], args.get("defaultConstraints") or ()
    of_kind = field_errors.child(path, "defaultingType")
    if kind not in DEFAULTINGS:
        found.append(field_errors.not_supported(of_kind, kind, DEFAULTINGS))
    elif kind == "System" and constraints:
        found.append(field_errors.invalid(of_kind, kind, "when .defaultConstraints are not empty"))
    below = field_errors.child(path, "defaultConstraints")
    seen: dict[tuple[str, str], None] = {}
    for number, constraint in enumerate(constraints):
        here = field_errors.index(below, number)
        found += _default_constraint(constraint, here)
        pair = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
        if pair in seen:
            found.append(field_errors.duplicate(here, f"{{{pair[0]}, {pair[1]}}}"))
        seen[pair] = None
    return found


def _default_constraint(constraint: ReadOnlyTree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    skew, key, action = constraint.get("maxSkew", 0), constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
    if skew <= 0:
        found.append(field_errors.invalid(field_errors.child(path, "maxSkew"), skew, "not in valid range (0, inf)"))
    of_key = field_errors.child(path, "topologyKey")
    found += _label_name(key, of_key) if key else [field_errors.required(of_key, "can not be empty")]
    of_action = field_errors.child(path, "whenUnsatisfiable")
    if not action:
        found.append(field_errors.required(of_action, "can not be empty"))
    elif action not in ACTIONS:
        found.append(field_errors.not_supported(of_action, action, ACTIONS))
    if constraint.get("labelSelector") is not None:
        found.append(field_errors.forbidden(
            field_errors.child(path, "labelSelector"), "constraint must not define a selector, as they deduced for each pod"))
    return found


def _label_name(name: str, path: str) -> list[FieldError]:
    return [field_errors.invalid(path, name, problem) for problem in names.qualified_name(name)]


def _volume_binding(args: ReadOnlyTree, path: str, *, scores_capacity: bool) -> list[FieldError]:
    found: list[FieldError] = []
    seconds = args["bindTimeoutSeconds"]
    if seconds < 0:
        found.append(field_errors.invalid(
            field_errors.child(path, "bindTimeoutSeconds"), seconds,
            "invalid BindTimeoutSeconds, should not be a negative value"))
    here = field_errors.child(path, "shape")
    if scores_capacity:
        found += _shape(args.get("shape") or (), here)
    elif "shape" in args:
        found.append(field_errors.invalid(
            here, args["shape"], f"unexpected field `shape`, remove it or turn on the feature gate {CAPACITY_SCORING}"))
    return found


def _shape(points: Sequence[ReadOnlyTree], path: str) -> list[FieldError]:
    if not points:
        return [field_errors.required(path, "at least one point must be specified")]
    found: list[FieldError] = []
    for number in range(1, len(points)):
        utilization = points[number].get("utilization", 0)
        if points[number - 1].get("utilization", 0) >= utilization:
            here = field_errors.child(field_errors.index(path, number), "utilization")
            found.append(field_errors.invalid(here, utilization, "values must be sorted in increasing order"))
            break
    for number, point in enumerate(points):
        for name, most in (("utilization", 100), ("score", MOST_CUSTOM_SCORE)):
            value = point.get(name, 0)
            if not 0 <= value <= most:
                here = field_errors.child(field_errors.index(path, number), name)
                found.append(field_errors.invalid(here, value, f"not in valid range [0, {most}]"))
    return found


def _node_resources_fit(args: ReadOnlyTree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    here = field_errors.child(path, "ignoredResources")
    for number, name in enumerate(args.get("ignoredResources") or ()):
        found += _label_name(name, field_errors.index(here, number))
    here = field_errors.child(path, "ignoredResourceGroups")
    for number, group in enumerate(args.get("ignoredResourceGroups") or ()):
        if "/" in group:
            found.append(field_errors.invalid(
                field_errors.index(here, number), group, "resource group name can't contain '/'"))
        found += _label_name(group, field_errors.index(here, number))
    return found + _scoring_strategy(args["scoringStrategy"], field_errors.child(path, "scoringStrategy"))


def _scoring_strategy(strategy: ReadOnlyTree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    kind = strategy.get("type", "")
    if kind not in STRATEGIES:
        found.append(field_errors.not_supported(field_errors.child(path, "type"), kind, STRATEGIES))
    for number, resource in enumerate(strategy["resources"]):
        if not 0 < resource["weight"] <= MOST_WEIGHT:
            here = field_errors.child(field_errors.index(field_errors.child(path, "resources"), number), "weight")
            text = f"resource weight of {resource.get('name', '')} not in valid range (0, 100]"
            found.append(field_errors.invalid(here, resource["weight"], text))
    ratio, here = strategy.get("requestedToCapacityRatio"), field_errors.child(path, "requestedToCapacityRatio")
    if kind == RATIO:
        if ratio is None:
            found.append(field_errors.required(here, "must be specified when type is RequestedToCapacityRatio"))
        else:
            found += _shape(ratio.get("shape") or (), field_errors.child(here, "shape"))
    elif ratio is not None:
        found.append(field_errors.forbidden(here, "must be nil when type is not RequestedToCapacityRatio"))
    return found


_CHECKS: Mapping[str, Callable[[ReadOnlyTree, str], list[FieldError]]] = {
    "DefaultPreemption": _default_preemption, "InterPodAffinity": _inter_pod_affinity, "NodeAffinity": _node_affinity,
    "NodeResourcesBalancedAllocation": _balanced_allocation, "PodTopologySpread": _pod_topology_spread,
    "NodeResourcesFit": _node_resources_fit,
}


