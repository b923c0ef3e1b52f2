"""The webhooks of pods: those of a JobSet may have a topology domain for each Job.

The first pod of a Job keeps others out of its domain, and all others follow it there; they are
refused until it has a node. Upstream: pkg/webhooks/pod_webhook.go. Left out: the controller of pods
beside it (pkg/controllers/pod_controller.go), which in this release logs pods that are elsewhere,
and changes nothing.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import NODES, PODS
from fakekube_controllers.jobset import names

FORBIDDEN, NOT_FOUND, SERVER_ERROR = 403, 404, 500


class NoLeader(Exception):
    """There is no first pod that a pod could follow."""


async def default(request: AdmissionRequest, *, client: Client) -> None:
    """Confine a pod to the domain of its Job. Raises Denied for a node that is in no domain."""
    if not _is_of_jobset(request.shown):
        return
    pod: Tree = request.object
    priority = (pod.get("spec") or meta.EMPTY).get("priority")
    if priority is not None:
        metadata = pod["metadata"]
        metadata["labels"] = {**(metadata.get("labels") or {}), names.PRIORITY: str(priority)}
    key = meta.annotations_of(pod).get(names.EXCLUSIVE_TOPOLOGY)
    if key is None:
        return
    if names.is_leader(pod):
        _keep_others_out(pod, key)
        return
    try:
        leader = await _leader_of(pod, request.namespace, client)
    except NoLeader:
        return  # the validating webhook says so
    node = leader["spec"].get("nodeName")
    if node:
        pod["spec"]["nodeSelector"] = {**(pod["spec"].get("nodeSelector") or {}), key: await _domain(node, key, client)}


async def validate(request: AdmissionRequest, *, client: Client) -> None:
    """Refuse a pod whose Job's first pod has no node yet. Raises Denied."""
    pod = request.shown
    if pod is None or not _is_of_jobset(pod):
        return
    key = meta.annotations_of(pod).get(names.EXCLUSIVE_TOPOLOGY)
    if key is None or names.is_leader(pod):
        return
    selector = pod["spec"].get("nodeSelector")
    if selector is None:
        raise _refusal("follower pod node selector not set")
    if key not in selector:
        raise _refusal(f"follower pod node selector for topology domain not found. missing selector: {key}")
    try:
        leader = await _leader_of(pod, request.namespace, client)
    except NoLeader as error:
        raise _refusal(str(error)) from error
    if not leader["spec"].get("nodeName"):
        raise _refusal("leader pod not yet scheduled, not creating follower pod. this is an expected, transient error")


def _refusal(text: str) -> Denied:
    return Denied(text, code=FORBIDDEN, reason="Forbidden")


def _is_of_jobset(pod: ReadOnlyTree | None) -> bool:
    """Whether a pod is one of a JobSet that leaves its place to these webhooks."""
    annotations = meta.annotations_of(pod or meta.EMPTY)
    return names.JOBSET_NAME in annotations and names.NODE_SELECTOR_STRATEGY not in annotations


def _keep_others_out(pod: Tree, key: str) -> None:
    own = meta.labels_of(pod)
    together = [{"key": names.JOB_KEY, "operator": "In", "values": [own.get(names.JOB_KEY, "")]}]
    apart = [
        {"key": names.JOB_KEY, "operator": "Exists"},
        {"key": names.JOB_KEY, "operator": "NotIn", "values": [own.get(names.JOB_KEY, "")]},
        {"key": names.PRIORITY, "operator": "In", "values": [own.get(names.PRIORITY, "")]}]
    affinity = pod["spec"]["affinity"] = pod["spec"].get("affinity") or {}
    for kind, expressions in (("podAffinity", together), ("podAntiAffinity", apart)):
        terms = affinity[kind] = affinity.get(kind) or {}
        term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": key, "namespaceSelector": {}}
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        terms[required] = [*(terms.get(required) or ()), term]


async def _domain(node: str, key: str, client: Client) -> str:
    try:
        found = await client.get(NODES, node)
    except APIError as error:
        # upstream reads from a cache, which tells the kind and not the resource
        text = f'Node "{node}" not found' if error.code == NOT_FOUND else error.message
        raise Denied(text, code=SERVER_ERROR) from error
    if key not in meta.labels_of(found):
        raise Denied(f"node does not have topology label: {key}", code=SERVER_ERROR)
    return meta.labels_of(found)[key]


async def _leader_of(pod: ReadOnlyTree, namespace: str, client: Client) -> Tree:
    """The first pod of a pod's Job. Raises NoLeader."""
    labels = meta.labels_of(pod)
    for label in (names.JOBSET_NAME, names.REPLICATED_JOB_NAME, names.JOB_INDEX):
        if label not in labels:
            raise NoLeader(f"pod missing label: {label}")
    name = names.pod_name(labels[names.JOBSET_NAME], labels[names.REPLICATED_JOB_NAME], labels[names.JOB_INDEX], 0)
    listed = await client.list(PODS, namespace, label_selector=f"{names.JOBSET_NAME}={labels[names.JOBSET_NAME]}")
    found = [
        each for each in listed.items
        if meta.name_of(each).rpartition("-")[0] == name and names.EXCLUSIVE_TOPOLOGY in meta.annotations_of(each)
        and not meta.is_deleting(each)]
    if len(found) != 1:
        raise NoLeader(f"expected 1 leader pod ({name}), but got {len(found)}. this is an expected, transient error")
    owner, leader_owner = meta.controller_of(pod), meta.controller_of(found[0])
    if owner is None:
        raise NoLeader("follower pod has no owner reference")
    if leader_owner is None:
        raise NoLeader(f'leader pod "{meta.name_of(found[0])}" has no owner reference')
    if owner["uid"] != leader_owner["uid"]:
        raise NoLeader(f"follower pod owner UID ({owner['uid']}) != leader pod owner UID ({leader_owner['uid']})")
    return found[0]
