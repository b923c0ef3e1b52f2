"""Which pods are a Job's: those it controls, and those without a controller that its selector matches.

Upstream: pkg/controller/controller_ref_manager.go (PodControllerRefManager).
"""

from typing import Any

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.errors import APIError
from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.client.resources import JOBS, PODS
from fakekube_controllers.job import pods, podtemplate

Tree = dict[str, Any]


async def claim(job: Tree, lister: Lister, client: Client) -> list[pods.Pod]:
    """The Job's pods after adopting orphans that match and letting go of those that match no longer.

    Raises APIError when a pod could be neither adopted nor released.
    """
    uid, namespace = meta.uid_of(job), meta.namespace_of(job)
    selector = labels.from_label_selector(job["spec"].get("selector") or {})
    candidates = {pod["metadata"]["name"]: pod for pod in lister.controlled_by(uid) if meta.namespace_of(pod) == namespace}
    deleting = meta.is_deleting(job)
    result: list[pods.Pod] = []
    for pod in candidates.values():
        if selector.matches(meta.labels_of(pod)):
            result.append(pod)
        elif not deleting:
            await _release(client, pod, uid)
    if not deleting:
        for pod in lister.list(namespace, selector):
            if meta.controller_of(pod) is None and not pods.is_terminating(pod) and await _adopt(client, job, pod):
                result.append(await client.get(PODS, meta.name_of(pod), namespace))
    return result


async def _adopt(client: Client, job: Tree, pod: pods.Pod) -> bool:
    """Make the pod the Job's, unless the Job is not what the cache said."""
    fresh = await client.get(JOBS, meta.name_of(job), meta.namespace_of(job), missing_ok=True)
    if fresh is None or meta.uid_of(fresh) != meta.uid_of(job) or meta.is_deleting(fresh):
        return False
    body = {"metadata": {
        "ownerReferences": [podtemplate.controller_reference(job)], "uid": meta.uid_of(pod),
        "finalizers": [pods.TRACKING_FINALIZER],
    }}
    try:
        await client.patch(PODS, meta.name_of(pod), meta.namespace_of(pod), body, type="strategic")
    except APIError as error:
        if error.code == 404:
            return False
        raise
    return True


async def _release(client: Client, pod: pods.Pod, uid: str) -> None:
    body = {"metadata": {
        "ownerReferences": [{"$patch": "delete", "uid": uid}], "uid": meta.uid_of(pod),
        "$deleteFromPrimitiveList/finalizers": [pods.TRACKING_FINALIZER],
    }}
    try:
        await client.patch(PODS, meta.name_of(pod), meta.namespace_of(pod), body, type="strategic")
    except APIError as error:
        if error.code not in (404, 422):
            raise
