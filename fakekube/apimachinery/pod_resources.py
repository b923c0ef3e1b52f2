"""What a pod requests and is limited to as a whole: the one computation that all ask.

The scheduler, the kubelet's admission, quotas, LimitRanger and the pod's own defaults and
validation want the same sum with small differences, which are options. Upstream:
component-helpers/resource/helpers.go (PodRequests, PodLimits, PodResourcesOptions),
pkg/apis/core/v1/helper/qos. Left out: resources that resource claims allocate.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fakekube.apimachinery import conditions, quantity
from fakekube.apimachinery.amounts import Amounts, amount
from fakekube.apimachinery.pods import is_sidecar
from fakekube.apimachinery.quantity import NANO
from fakekube.apimachinery.types import ReadOnlyTree

Sum = dict[str, tuple[int, str]]
"""Amounts by resource: in billionths, and the way of writing that their text would have."""

QOS_RESOURCES = ("cpu", "memory")
HUGE_PAGES = "hugepages-"
BEST_EFFORT, BURSTABLE, GUARANTEED = "BestEffort", "Burstable", "Guaranteed"
NOTHING: Mapping[str, Any] = {}
MILLI = NANO // 1000


class Options(NamedTuple):
    """Upstream's PodResourcesOptions.

    ``use_status_resources``: what a resize has in flight counts, too (gate
    InPlacePodVerticalScaling), ``pod_level_status``: that of the pod as a whole also (gate
    InPlacePodLevelResourcesVerticalScaling). ``pod_level`` says which resources that a pod names
    for itself stand in place of its containers' sum. ``missing``: what a container requests that
    says nothing.
    """

    use_status_resources: bool = False
    pod_level_status: bool = False
    exclude_overhead: bool = False
    pod_level: Callable[[str], bool] | None = None
    missing: Mapping[str, tuple[int, str]] = NOTHING


def is_pod_level(name: str) -> bool:
    """Whether a resource may be asked for by a pod as a whole."""
    return name in QOS_RESOURCES or name.startswith(HUGE_PAGES)


DEFAULTS = Options(pod_level=is_pod_level)
CONTAINERS = Options(exclude_overhead=True)
"""The containers alone: neither overhead nor what the pod names for itself."""
IN_FLIGHT = Options(use_status_resources=True, pod_level=is_pod_level)
"""What the pod may take while it is resized, where the gate for it is on."""
RESIZE_GATE, POD_LEVEL_RESIZE_GATE = "InPlacePodVerticalScaling", "InPlacePodLevelResourcesVerticalScaling"


def requests(pod: ReadOnlyTree, options: Options = DEFAULTS) -> Sum:
    """What a pod requests.

    Init containers run before the others, so only the largest of them counts; those that keep
    running count with both.
    """
    spec = pod["spec"]
    if options.use_status_resources and (status := pod.get("status")) and _has_in_flight(status):
        total = _requests_in_flight(pod, options)
    else:
        total = _total(spec, "requests", options.missing, _of_spec)
    level = (spec.get("resources") or NOTHING).get("requests")
    if level and options.pod_level is not None:
        own = {name: found for name, found in read(level).items() if options.pod_level(name)}
        total.update(_level_in_flight(pod, own, "requests") if own and options.pod_level_status else own)
    overhead = spec.get("overhead")
    if overhead and not options.exclude_overhead:
        add(total, read(overhead))
    return total


def limits(pod: ReadOnlyTree, options: Options = DEFAULTS) -> Sum:
    """What a pod is limited to; its overhead is added to what is limited at all."""
    spec, status = pod["spec"], pod.get("status") or NOTHING
    if options.use_status_resources and _has_in_flight(status):
        total = _limits_in_flight(pod, options)
    else:
        total = _total(spec, "limits", NOTHING, _of_spec)
    level = (spec.get("resources") or NOTHING).get("limits")
    if level and options.pod_level is not None:
        own = {name: found for name, found in read(level).items() if options.pod_level(name)}
        total.update(_level_in_flight(pod, own, "limits") if own and options.pod_level_status else own)
    if not options.exclude_overhead:
        add(total, {name: more for name, more in read(spec.get("overhead")).items() if name in total and total[name][0]})
    return total


def read(resources: Mapping[str, Any] | None) -> Sum:
    """The amounts of a resource list."""
    result: Sum = {}
    for name, text in (resources or NOTHING).items():
        nano, form, _ = quantity.parse(text)
        result[name] = nano, form
    return result


def add(total: Sum, more: Mapping[str, tuple[int, str]]) -> None:
    """Add to a sum, in place: the way of writing stays, unless it is that of nothing."""
    for name, (nano, form) in more.items():
        present = total.get(name)
        total[name] = (nano, form) if present is None or not present[0] else (present[0] + nano, present[1])


def _raise(total: Sum, other: Mapping[str, tuple[int, str]]) -> None:
    """Raise a sum to another where that is larger, in place."""
    for name, found in other.items():
        if name not in total or found[0] > total[name][0]:
            total[name] = found


def quantities(total: Mapping[str, tuple[int, str]]) -> Amounts:
    """A sum as quantities with their texts."""
    return {name: amount(nano, form) for name, (nano, form) in total.items()}


def whole(total: Mapping[str, tuple[int, str]]) -> dict[str, int]:
    """A sum in whole numbers, rounded up: thousandths of a CPU, units of all else."""
    return {name: -(-nano // MILLI) if name == "cpu" else -(-nano // NANO) for name, (nano, _) in total.items()}


Container = Callable[[ReadOnlyTree, str], Mapping[str, Any] | None]
"""The resource list of a container, by its part: requests or limits."""


def _of_spec(container: ReadOnlyTree, part: str) -> Mapping[str, Any] | None:
    resources = container.get("resources")
    return resources.get(part) if resources else None


def _total(spec: ReadOnlyTree, part: str, missing: Mapping[str, tuple[int, str]], container_resources: Container) -> Sum:
    total: Sum = {}
    for container in spec.get("containers") or ():
        add(total, _with_missing(container_resources(container, part), missing))
    init_containers = spec.get("initContainers")
    if not init_containers:
        return total
    sidecars: Sum = {}
    peak: Sum = {}
    for container in init_containers:
        own = _with_missing(container_resources(container, part), missing)
        if is_sidecar(container):
            add(total, own)
            add(sidecars, own)
            _raise(peak, sidecars)
        else:
            add(own, sidecars)
            _raise(peak, own)
    _raise(total, peak)
    return total


def _with_missing(resources: Mapping[str, Any] | None, missing: Mapping[str, tuple[int, str]]) -> Sum:
    found = read(resources)
    for name, given in missing.items():
        found.setdefault(name, given)
    return found


def _has_in_flight(status: ReadOnlyTree) -> bool:
    """Whether a status says anything of resources: that of a pod which no kubelet has seen does
    not.
    """
    return "containerStatuses" in status or "initContainerStatuses" in status or "resources" in status


def in_flight(status: ReadOnlyTree | None) -> tuple[Any, ...]:
    """All of a pod's status that its requests and limits depend on, to be compared with that of
    another moment.
    """
    if not status or not _has_in_flight(status):
        return ()
    listed = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return (
        [(each["name"], each.get("allocatedResources"), each.get("resources")) for each in listed],
        status.get("resources"), status.get("allocatedResources"), _is_infeasible(status))


def _is_infeasible(status: ReadOnlyTree) -> bool:
    """Whether the node has said that a resize will never be done: what is wished for then does not
    count.
    """
    condition = conditions.find(status.get("conditions"), "PodResizePending")
    return condition is not None and condition.get("reason") == "Infeasible"


def _statuses(status: ReadOnlyTree) -> dict[str, ReadOnlyTree]:
    listed = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return {each["name"]: each for each in listed}


def _requests_in_flight(pod: ReadOnlyTree, options: Options) -> Sum:
    """The largest of what is wished for, what the kubelet has allocated, and what the containers
    run with.
    """
    spec, status = pod["spec"], pod["status"]
    statuses, infeasible = _statuses(status), _is_infeasible(status)

    def allocated(container: ReadOnlyTree, part: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = statuses.get(container["name"], NOTHING).get("allocatedResources")
        return found if found is not None else None if infeasible else _of_spec(container, part)

    def actuated(container: ReadOnlyTree, part: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = (
            statuses.get(container["name"], NOTHING).get("resources") or NOTHING).get(part)
        return found if found is not None else allocated(container, part)

    total: Sum = {} if infeasible else _total(spec, "requests", options.missing, _of_spec)
    running = (status.get("resources") or NOTHING).get("requests")
    if options.pod_level_status and running is not None and "allocatedResources" in status:
        _raise(total, read(running))
        _raise(total, read(status["allocatedResources"]))
    else:
        _raise(total, _total(spec, "requests", options.missing, actuated))
        _raise(total, _total(spec, "requests", options.missing, allocated))
    return total


def _limits_in_flight(pod: ReadOnlyTree, options: Options) -> Sum:
    spec, status = pod["spec"], pod["status"]
    statuses, infeasible = _statuses(status), _is_infeasible(status)

    def actuated(container: ReadOnlyTree, part: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = (
            statuses.get(container["name"], NOTHING).get("resources") or NOTHING).get(part)
        return found if found is not None else None if infeasible else _of_spec(container, part)

    total: Sum = {} if infeasible else _total(spec, "limits", NOTHING, _of_spec)
    running = (status.get("resources") or NOTHING).get("limits")
    if options.pod_level_status and running is not None:
        _raise(total, read(running))
    else:
        _raise(total, _total(spec, "limits", NOTHING, actuated))
    return total


def _level_in_flight(pod: ReadOnlyTree, own: Sum, part: str) -> Sum:
    """What a pod names for itself, or what it runs with as a whole where that is more."""
    status = pod.get("status") or NOTHING
    if status.get("resources") is None:
        return own
    total: Sum = {} if _is_infeasible(status) else own
    _raise(total, read(status["resources"].get(part)))
    if part == "requests":
        _raise(total, read(status.get("allocatedResources")))
    return {name: found for name, found in total.items() if is_pod_level(name)}


def qos_class(spec: ReadOnlyTree) -> str:
    """BestEffort, Burstable or Guaranteed."""
    level = spec.get("resources")
    if level and any(is_pod_level(name) for part in ("requests", "limits") for name in level.get(part, ())):
        return _requirements_class(level)
    result = ""
    for field in ("initContainers", "containers"):
        for container in spec.get(field) or ():
            resources = container.get("resources")
            found = _requirements_class(resources) if resources else BEST_EFFORT
            if found == BURSTABLE or (result and found != result):
                return BURSTABLE
            result = found
    return result or BEST_EFFORT


def _requirements_class(resources: ReadOnlyTree) -> str:
    requested, limited = resources.get("requests", NOTHING), resources.get("limits", NOTHING)
    classes = []
    for name in QOS_RESOURCES:
        request, limit = requested.get(name, "0"), limited.get(name, "0")
        if request != limit and quantity.parse(request).nano != quantity.parse(limit).nano:
            return BURSTABLE
        classes.append(GUARANTEED if quantity.parse(limit).nano else BEST_EFFORT)
    return classes[0] if classes[0] == classes[1] else BURSTABLE
