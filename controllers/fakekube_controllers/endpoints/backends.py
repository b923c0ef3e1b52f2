"""The pods of a Service, and what of them its endpoints tell.

Upstream: k8s.io/endpointslice/util/controller_utils.go and utils.go (FindPort), and
trigger_time_tracker.go.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Any

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.pods import sidecars
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.cache.lister import Lister
from fakekube.client.resources import PODS, SERVICES
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.workqueue.queue import WorkQueue
from fakekube.workqueue.ratelimit import Bucket

TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
WRITES_A_SECOND, WRITES_AT_ONCE = 20.0, 30  # --kube-api-qps and --kube-api-burst of upstream's controller manager
HEADLESS = "service.kubernetes.io/headless"


def is_served(service: Tree) -> bool:
    """Whether a Service gets endpoints of pods at all."""
    return service["spec"].get("type") != "ExternalName" and service["spec"].get("selector") is not None


def has_address(service: Tree) -> bool:
    """Whether the Service has an IP of its own; one without is headless."""
    return service["spec"].get("clusterIP", "") not in ("", "None")


def belongs(pod: Tree, *, terminating: bool) -> bool:
    """Whether the pod is among the endpoints; those on their way out only if ``terminating``."""
    status = pod.get("status") or {}
    if pods.is_finished(pod) or not (status.get("podIP") or status.get("podIPs")):
        return False
    return terminating or not pods.is_terminating(pod)


def pods_of(service: Tree, pods: Lister) -> list[Tree]:
    """The pods that a Service selects, as a cache has them. The Service has a selector."""
    return pods.list(meta.namespace_of(service), labels.from_set(service["spec"]["selector"]))


def find_port(pod: Tree, port: Tree) -> int | None:
    """The number of the pod's port that a Service's port leads to; None when the pod has no port of
    that name.
    """
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    for container in [*pod["spec"]["containers"], *sidecars(pod["spec"])]:
        for each in container.get("ports") or ():
            if each.get("name") == target and each.get("protocol", "TCP") == port.get("protocol", "TCP"):
                return int(each["containerPort"])
    return None


def found_ports(pod: Tree, service: Tree) -> list[Tree]:
    """The ports of a Service that the pod has, as endpoints have them; every name is there, be it
    empty.
    """
    result = []
    for port in service["spec"].get("ports") or ():
        number = find_port(pod, port)
        if number is not None:
            shown = {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}
            result.append(shown | ({"appProtocol": port["appProtocol"]} if "appProtocol" in port else {}))
    return result


def addresses(pod: Tree, version: int) -> list[str]:
    """The pod's addresses of IPv4 or IPv6, in their usual form."""
    found = (ipaddress.ip_address(each["ip"]) for each in (pod.get("status") or {}).get("podIPs") or ())
    return [str(address) for address in found if address.version == version]


def hostname(pod: Tree, service: Tree) -> str:
    """The name of the pod within the Service's domain, or nothing."""
    spec = pod["spec"]
    return str(spec.get("hostname", "")) if spec.get("subdomain") == meta.name_of(service) else ""


def target(pod: Tree) -> Tree:
    """The reference to a pod."""
    return {"kind": "Pod", "namespace": meta.namespace_of(pod), "name": meta.name_of(pod), "uid": meta.uid_of(pod)}


def enqueue_services_of_pods(ctx: Context, services: Lister, queue: WorkQueue[ObjectKey]) -> None:
    """Add the Services whose endpoints may be others to a queue whenever a pod changes.

    Of many pods that change at one instant the first ones are told each, and the rest together:
    else a Service costs by the square of its pods. Upstream's controllers do so since they may
    write only so often.
    """
    writes: dict[ObjectKey, Bucket[ObjectKey]] = {}

    def changed(old: Tree | None, new: Tree) -> None:
        for key in _touched(services, old, new):
            bucket = writes.get(key)
            if bucket is None:
                bucket = writes[key] = Bucket(ctx.clock, WRITES_A_SECOND, WRITES_AT_ONCE)
            if bucket.take():
                queue.add(key)
            else:
                queue.add_when_quiet(key, 1 / WRITES_A_SECOND)

    def present(pod: Tree) -> None:
        changed(None, pod)

    def gone(service: Tree) -> None:
        writes.pop(meta.key_of(service), None)

    ctx.add_handler(PODS, present, changed, present)
    ctx.add_handler(SERVICES, None, None, gone)


def _touched(services: Lister, old: Tree | None, new: Tree) -> Iterable[ObjectKey]:
    """The Services whose endpoints may be others after a pod came, went, or became what it is."""
    present = _selecting(services, new)
    if old is None:
        return present
    moved = meta.labels_of(old) != meta.labels_of(new) or _name(old) != _name(new)
    changed = (
        pods.is_terminating(old) or pods.is_terminating(new) or pods.is_ready(old) != pods.is_ready(new)
        or _ips(old) != _ips(new))
    if not moved:
        return present if changed else ()
    past = _selecting(services, old)
    if changed:
        return present | past
    return {key: None for key in present | past if (key in present) != (key in past)}


def _selecting(services: Lister, pod: Tree) -> dict[ObjectKey, None]:
    carried = meta.labels_of(pod).items()
    found = services.list(meta.namespace_of(pod))
    return {
        meta.key_of(service): None for service in found
        if service["spec"].get("selector") is not None and service["spec"]["selector"].items() <= carried
    }


def _name(pod: Tree) -> tuple[Any, Any]:
    return pod["spec"].get("hostname"), pod["spec"].get("subdomain")


def _ips(pod: Tree) -> list[Tree]:
    return (pod.get("status") or {}).get("podIPs") or []


class TriggerTimeTracker:
    """Remembers for each Service which change its endpoints have told of, for the annotation that
    says so.
    """

    def __init__(self) -> None:
        self._seen: dict[ObjectKey, dict[str, str]] = {}

    def trigger(self, service: Tree, backends: Sequence[Tree]) -> str:
        """The earliest time at which something changed that was not told yet; empty when nothing
        did.
        """
        key, created = meta.key_of(service), str(service["metadata"]["creationTimestamp"])
        past = self._seen.get(key)
        now = {meta.name_of(pod): since for pod in backends if (since := _ready_since(pod))}
        self._seen[key] = now
        if past is None:
            return created
        fresh = [since for name, since in now.items() if name not in past or parse_time(since) > parse_time(past[name])]
        return min(fresh, key=parse_time, default="")

    def forget(self, key: ObjectKey) -> None:
        """The Service is gone."""
        self._seen.pop(key, None)


def _ready_since(pod: Tree) -> str:
    return str((meta.find_condition(pod, "Ready") or {}).get("lastTransitionTime") or "")
