"""What a pod asks for as a whole: its quality-of-service class, and resources of the pod that follow its containers'.

Upstream: pkg/apis/core/v1/helper/qos, DefaultPodLevelResources in pkg/api/pod/util.go, and
component-helpers/resource. Left out: resources that resource claims allocate.
"""

from collections.abc import Iterable

from fakekube.apimachinery import quantity
from fakekube.apimachinery.types import Tree

BEST_EFFORT, BURSTABLE, GUARANTEED = "BestEffort", "Burstable", "Guaranteed"
QOS_RESOURCES = ("cpu", "memory")
HUGE_PAGES = "hugepages-"
Amounts = dict[str, int]
"""Amounts in billionths, by resource."""


def is_pod_level(name: str) -> bool:
    """Whether a resource may be asked for by a pod as a whole."""
    return name in QOS_RESOURCES or name.startswith(HUGE_PAGES)


def qos_class(spec: Tree) -> str:
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


def _requirements_class(resources: Tree) -> str:
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    classes = []
    for name in QOS_RESOURCES:
        request, limit = requests.get(name, "0"), limits.get(name, "0")
        if request != limit and quantity.parse(request).nano != quantity.parse(limit).nano:
            return BURSTABLE
        classes.append(GUARANTEED if quantity.parse(limit).nano else BEST_EFFORT)
    return classes[0] if classes[0] == classes[1] else BURSTABLE


def default_pod_level(spec: Tree) -> None:
    """Fill spec.resources from the containers, where a pod names anything there at all."""
    level = spec.get("resources")
    if not level or not (level.get("requests") or level.get("limits")):
        return
    requests, limits = dict(level.get("requests", {})), dict(level.get("limits", {}))
    from_requests, from_limits = aggregate(spec, "requests"), aggregate(spec, "limits")
    for name, amount in from_limits.items():
        if name.startswith(HUGE_PAGES) and name not in requests:
            limits.setdefault(name, quantity.render(amount, quantity.BINARY))
    for name, amount in from_requests.items():
        if name in QOS_RESOURCES:
            requests.setdefault(name, _render(name, amount))
    for name, text in limits.items():
        if is_pod_level(name):
            requests.setdefault(name, text)
    complete = _limited_everywhere(spec, [name for name in requests if is_pod_level(name) and name not in limits])
    for name in complete:
        if name in from_limits:
            text = _render(name, from_limits[name])
            limits[name] = requests[name] if quantity.parse(requests[name]).nano > from_limits[name] else text
    for part, amounts in (("requests", requests), ("limits", limits)):
        if amounts:
            level[part] = amounts


def _render(name: str, amount: int) -> str:
    return quantity.render(amount, quantity.DECIMAL if name == "cpu" else quantity.BINARY)


def _limited_everywhere(spec: Tree, names: Iterable[str]) -> list[str]:
    """The resources that every container limits: only they tell a limit of the whole pod."""
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return [
        name for name in names
        if all(name in container.get("resources", {}).get("limits", ()) for container in containers)
    ]


def aggregate(spec: Tree, part: str) -> Amounts:
    """The sum of the containers' ``part`` (requests or limits), or what the init containers need when that is more."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, container.get("resources", {}).get(part, {}))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        amounts = container.get("resources", {}).get(part, {})
        if container.get("restartPolicy") == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            needed = sidecars
        else:
            needed = dict(sidecars)
            _add(needed, amounts)
        peak = {name: max(peak.get(name, 0), needed.get(name, 0)) for name in [*peak, *needed]}
    return {name: max(total.get(name, 0), peak.get(name, 0)) for name in [*total, *peak]}


def _add(total: Amounts, amounts: dict[str, str]) -> None:
    for name, text in amounts.items():
        total[name] = total.get(name, 0) + quantity.parse(text).nano
