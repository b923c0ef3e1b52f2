"""The pods of a group, and of what stands for one: who they are, and what is written of them.

Upstream: pkg/controller/jobs/pod/pod_controller.go, event_handlers.go, indexer.go.
"""

from collections.abc import Iterable
from functools import partial

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.resources import PODS
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import construction, objects, workload_names
from fakekube_controllers.kueue.jobframework.framework import Framework

NOT_FOUND = 404


def single_workload_name(pod: ReadOnlyTree) -> str:
    """The name that KEP-976 has for the Workload of a single pod: without a hash.

    Empty where it would be too long for a name.
    """
    name = f"{PODS.kind.lower()}-{meta.name_of(pod)}"
    return name if len(name) <= workload_names.LONG_MAX_LENGTH else ""


def new_group_workload(name: str, obj: ReadOnlyTree, pod_sets: list[Tree], configuration: Configuration) -> Tree:
    """A Workload that a group of pods belongs to, for an object that stands for it."""
    made = construction.new_workload(name, obj, pod_sets, configuration)
    objects.put_metadata(made, "annotations", names.IS_GROUP_WORKLOAD_ANNOTATION, "true")
    if configuration.features.AdmissionGatedBy:
        construction.propagate_admission_gated_by(obj, made)
    return made


def with_owners(present: Iterable[ReadOnlyTree], owners: Iterable[ReadOnlyTree]) -> list[Tree]:
    """References to owners, besides those that there are; one of the same name is replaced."""
    found = [dict(each) for each in present]
    for owner in owners:
        reference = meta.owner_reference({"apiVersion": PODS.api_version, "kind": PODS.kind, **owner})
        place = next((place for place, each in enumerate(found) if _is_same(each, reference)), None)
        if place is None:
            found.append(reference)
        else:
            found[place] = reference
    return found


def _is_same(one: ReadOnlyTree, other: ReadOnlyTree) -> bool:
    return all(one[key] == other[key] for key in ("apiVersion", "kind", "name"))


def without_pod_finalizer(pod: Tree) -> bool:
    """Take Kueue's finalizer off a pod, in place; whether it was there."""
    finalizers = meta.finalizers_of(pod)
    if names.POD_FINALIZER not in finalizers:
        return False
    pod["metadata"]["finalizers"] = [each for each in finalizers if each != names.POD_FINALIZER]
    return True


def group_of(lister: Lister, namespace: str, name: str, features: Features) -> list[Tree]:
    """The pods of a group."""
    index = f"kueue-pod-group:{features.WorkloadIdentifierAnnotations}"
    lister.add_index(index, partial(_group_key, features=features))
    return lister.by_index(index, f"{namespace}/{name}")


def _group_key(pod: Tree, features: Features) -> list[str]:
    name = pods.pod_group_name(pod, features)
    return [f"{meta.namespace_of(pod)}/{name}"] if name else []


def request_of(pod: ReadOnlyTree, features: Features) -> ObjectKey:
    """What is reconciled for a pod: itself, or its group."""
    group = pods.pod_group_name(pod, features)
    key = meta.key_of(pod)
    return ObjectKey(f"{names.GROUP_PREFIX}{key.namespace}", group) if group else key


async def mark(framework: Framework, key: ObjectKey, pod: ReadOnlyTree, reason: str, message: str) -> bool:
    """Say on a pod why it is deleted; whether it is there. ``key``: what is reconciled."""
    condition = {
        "type": names.TERMINATION_TARGET, "status": "True", "reason": reason, "message": message,
        "lastTransitionTime": times.format_time(framework.clock.time())}
    name, namespace = meta.name_of(pod), meta.namespace_of(pod)
    metadata = {"name": name, "namespace": namespace, "uid": meta.uid_of(pod)}
    try:
        written = await framework.client.patch(
            PODS, name, namespace, {"metadata": metadata, "status": {"conditions": [condition]}}, type="apply",
            subresource="status", field_manager=names.KUEUE_NAME, force=True)
    except APIError as error:
        if error.code != NOT_FOUND:
            raise
        return False
    framework.wrote(key, PODS, written)
    return True
