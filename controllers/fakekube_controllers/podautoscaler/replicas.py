"""From what pods use to how many there should be.

Pods of which nothing is known count against a change: as idle when there should be more, as busy
when there should be fewer.
Upstream: pkg/controller/podautoscaler/replica_calculator.go and metrics/utilization.go. Amounts are
in thousandths.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.pods import sidecars
from fakekube.apimachinery.times import parse_time
from fakekube.runtime import pods as podinfo
from fakekube_controllers.podautoscaler.sources import MetricError, Samples

CPU_INITIALIZATION_SECONDS = 300.0  # --horizontal-pod-autoscaler-cpu-initialization-period
INITIAL_READINESS_SECONDS = 30.0  # --horizontal-pod-autoscaler-initial-readiness-delay
MAX_INT32, MAX_INT64 = 2**31 - 1, 2**63 - 1
NO_PODS = "no pods returned by selector while calculating replica count"
NO_METRICS = "did not receive metrics for targeted pods (pods might be unready)"

Pods = Sequence[Mapping[str, Any]]
Values = dict[str, int]


class Tolerances(NamedTuple):
    """How far a metric may be off its target, as a share of it, before anything is done."""

    down: float
    up: float

    def hold(self, ratio: float) -> bool:
        """Whether so little is off that nothing is done."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


class Proposal(NamedTuple):
    """How many pods there should be, what was measured to say so (an average, or a sum), and its
    percentage of requests.
    """

    replicas: int
    usage: int
    utilization: int = 0


class Groups(NamedTuple):
    """Pods by what can be told of them; those to be ignored have left the samples."""

    ready: int
    unready: tuple[str, ...]
    missing: tuple[str, ...]


def by_utilization(
    pods: Pods, samples: Samples, requests: Callable[[], Values], target: int, current: int, tolerances: Tolerances,
    resource: str, now: float,
) -> Proposal:
    """Replicas by what is used of what was requested; ``target`` is a percentage.

    Raises MetricError.
    """
    values, groups = _sorted_out(pods, samples, resource, now)
    asked = requests()
    _, utilization, average = _utilization(values, asked, target)
    missing = {name: asked.get(name, 0) * max(100, target) // 100 for name in groups.missing}
    replicas = _replicas(
        values, groups, current, tolerances, missing, lambda known: _utilization(known, asked, target)[0])
    return Proposal(replicas, average, utilization)


def by_value(
    pods: Pods, samples: Samples, target: int, current: int, tolerances: Tolerances, resource: str, now: float,
) -> Proposal:
    """Replicas by an average over the pods. Raises MetricError."""
    values, groups = _sorted_out(pods, samples, resource, now)
    average = _divided(sum(values.values()), len(values))
    missing = dict.fromkeys(groups.missing, target)
    replicas = _replicas(
        values, groups, current, tolerances, missing,
        lambda known: _divided(sum(known.values()), len(known)) / target)
    return Proposal(replicas, average)


def by_total(pods: Pods, total: int, target: int, current: int, tolerances: Tolerances) -> Proposal:
    """Replicas by one number that all pods share. Raises MetricError."""
    total = min(total, MAX_INT64)
    ratio = total / target
    if current == 0:  # there may be none, or some again
        return Proposal(min(math.ceil(ratio), MAX_INT32), total)
    if tolerances.hold(ratio):
        return Proposal(current, total)
    if not pods:
        raise MetricError(f"unable to calculate ready pods: {NO_PODS}")
    ready = sum(1 for pod in pods if podinfo.phase(pod) == "Running" and podinfo.is_ready(pod))
    return Proposal(min(math.ceil(ratio * ready), MAX_INT32), total)


def by_share(total: int, target: int, current: int, tolerances: Tolerances) -> Proposal:
    """Replicas by each pod's share of one number; ``current`` pods are there.

    Without any, the share told is the whole.
    """
    total = min(total, MAX_INT64)
    if current and tolerances.hold(total / (target * current)):
        return Proposal(current, math.ceil(total / current))
    return Proposal(min(math.ceil(total / target), MAX_INT32), math.ceil(total / current) if current else total)


def requests_of(pods: Pods, container: str, resource: str, *, pod_level: bool) -> Values:
    """What each pod requests, or one container in each.

    Raises MetricError where nothing is requested.
    """
    found: Values = {}
    for pod in pods:
        of_pod = (pod["spec"].get("resources") or {}).get("requests") if pod_level and not container else None
        found[meta.name_of(pod)] = _pod_level(pod, of_pod, resource) if of_pod else _of_containers(pod, container, resource)
    return found


def _pod_level(pod: Mapping[str, Any], requests: Mapping[str, Any], resource: str) -> int:
    amounts = [requests[resource]] if resource in requests else [
        each["resources"]["requests"][resource] for each in _long_lived(pod)
        if resource in ((each.get("resources") or {}).get("requests") or {})]
    if not amounts:
        raise MetricError(f"missing pod-level request for {resource} in Pod {meta.name_of(pod)}")
    return sum(quantity.parse(amount).milli_value for amount in amounts)


def _of_containers(pod: Mapping[str, Any], container: str, resource: str) -> int:
    name, total, found = meta.name_of(pod), 0, False
    for each in _long_lived(pod):
        if container in ("", each["name"]):
            amount = ((each.get("resources") or {}).get("requests") or {}).get(resource)
            if amount is None:
                raise MetricError(f"missing request for {resource} in container {each['name']} of Pod {name}")
            total, found = total + quantity.parse(amount).milli_value, True
    if container and not found:
        raise MetricError(f"container {container} not found in Pod {name}")
    return total


def _long_lived(pod: Mapping[str, Any]) -> list[Any]:
    """Containers and sidecars."""
    return [*pod["spec"]["containers"], *sidecars(pod["spec"])]


def _sorted_out(pods: Pods, samples: Samples, resource: str, now: float) -> tuple[Values, Groups]:
    """The values that count, and the pods by group. Raises MetricError when no value counts."""
    if not pods:
        raise MetricError(NO_PODS)
    values = {name: sample.value for name, sample in samples.items()}
    ready, unready, missing = 0, [], []
    for pod in pods:
        name = meta.name_of(pod)
        if podinfo.is_terminating(pod) or podinfo.phase(pod) == "Failed":
            values.pop(name, None)
        elif podinfo.phase(pod) == "Pending" or (name in samples and resource == "cpu" and _is_warming_up(pod, samples, now)):
            values.pop(name, None)
            unready.append(name)
        elif name not in samples:
            missing.append(name)
        else:
            ready += 1
    if not values:
        raise MetricError(NO_METRICS)
    return values, Groups(ready, tuple(unready), tuple(missing))


def _is_warming_up(pod: Mapping[str, Any], samples: Samples, now: float) -> bool:
    """Whether what a pod uses of the CPU says nothing yet."""
    condition, started = meta.find_condition(pod, "Ready"), (pod.get("status") or {}).get("startTime")
    if condition is None or not started:
        return True
    began, changed = parse_time(started), parse_time(condition.get("lastTransitionTime") or started)
    sample, is_unready = samples[meta.name_of(pod)], condition.get("status") == "False"
    if began + CPU_INITIALIZATION_SECONDS > now:
        return is_unready or sample.timestamp < changed + sample.window_seconds
    return is_unready and began + INITIAL_READINESS_SECONDS > changed  # it has never been ready


def _replicas(
    values: Values, groups: Groups, current: int, tolerances: Tolerances, missing: Values, ratio_of: Callable[[Values], float],
) -> int:
    """``missing`` is what pods without metrics count as when there should be fewer."""
    ratio = ratio_of(values)
    counts_unready = bool(groups.unready) and ratio > 1.0
    if not counts_unready and not missing:
        return current if tolerances.hold(ratio) else math.ceil(ratio * groups.ready)
    known = dict(values)
    if ratio < 1.0:
        known |= missing
    elif ratio > 1.0:
        known |= dict.fromkeys(groups.missing, 0)
    if counts_unready:
        known |= dict.fromkeys(groups.unready, 0)
    again = ratio_of(known)
    if tolerances.hold(again) or (ratio < 1.0 < again) or (again < 1.0 < ratio):
        return current
    replicas = math.ceil(again * len(known))
    turns_round = (again < 1.0 and replicas > current) or (again > 1.0 and replicas < current)
    return current if turns_round else replicas


def _utilization(values: Values, requests: Values, target: int) -> tuple[float, int, int]:
    """The ratio to the target, the percentage that is used, and the average.

    Raises MetricError when nothing was requested.
    """
    counted = [name for name in values if name in requests]
    used, asked = sum(values[name] for name in counted), sum(requests[name] for name in counted)
    if asked == 0:
        raise MetricError("no metrics returned matched known pods")
    percentage = used * 100 // asked
    return percentage / target, percentage, used // len(counted)


def _divided(total: int, count: int) -> int:
    """A quotient, cut off towards zero as Go's is."""
    return total // count if total >= 0 else -(-total // count)
