"""Groups and pods for tests, as small as the scheduler's group code reads them."""

from typing import Any

from fakekube_controllers.scheduler.framework.queued import EntityKey, EntityType, QueuedPodInfo
from fakekube_controllers.scheduler.framework.types import PodInfo, pod_info


def pod_group(name: str, minimum: int | None = None, parent: str | None = None, **spec: Any) -> tuple[EntityKey, dict[str, Any]]:
    """A PodGroup and its key; without ``minimum`` its policy is basic."""
    return _group(EntityType.POD_GROUP, name, None if minimum is None else {"minCount": minimum}, parent, spec)


def composite(name: str, minimum: int | None = None, parent: str | None = None, **spec: Any) -> tuple[EntityKey, dict[str, Any]]:
    """A CompositePodGroup and its key; without ``minimum`` its policy is basic."""
    return _group(EntityType.COMPOSITE_POD_GROUP, name, None if minimum is None else {"minGroupCount": minimum}, parent, spec)


def _group(kind: EntityType, name: str, gang: Any, parent: str | None, spec: dict[str, Any]) -> tuple[EntityKey, dict[str, Any]]:
    spec = {"schedulingPolicy": {"basic": {}} if gang is None else {"gang": gang}, **spec}
    if parent is not None:
        spec["parentCompositePodGroupName"] = parent
    return EntityKey(kind, "default", name), {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def pod(name: str, group: str = "", **spec: Any) -> PodInfo:
    """A pod, in a group when one is named."""
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return pod_info({
        "metadata": {"name": name, "namespace": "default", "uid": name}, "status": {},
        "spec": {"schedulerName": "default-scheduler", "containers": [], **spec}})


def queued(info: PodInfo, sequence: int = 0) -> QueuedPodInfo:
    """The pod in the queue."""
    return QueuedPodInfo(timestamp=0.0, sequence=sequence, info=info)
