"""Resources that a pod names for itself, and how they follow its containers'.

Upstream: DefaultPodLevelResources in pkg/api/pod/util.go. The sums are those of
``apimachinery/pod_resources.py``.
"""

from collections.abc import Iterable

from fakekube.apimachinery import pod_resources, quantity
from fakekube.apimachinery.pod_resources import HUGE_PAGES, QOS_RESOURCES, is_pod_level, qos_class
from fakekube.apimachinery.types import Tree

__all__ = ["HUGE_PAGES", "aggregate", "default_pod_level", "is_pod_level", "qos_class"]

Amounts = dict[str, int]
"""Amounts in billionths, by resource."""


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
    """The sum of the containers' ``part`` (requests or limits), or what the init containers need
    when that is more.
    """
    total_of = pod_resources.requests if part == "requests" else pod_resources.limits
    return {name: nano for name, (nano, _) in total_of({"spec": spec}, pod_resources.CONTAINERS).items()}
