"""What the webhooks of kinds that serve have in common: Deployment, StatefulSet, LeaderWorkerSet.

They have no field that suspends them: their pods wait. A queue may change until a pod of them is
ready, and never goes. Upstream: the webhooks of these three in pkg/controller/jobs, and
ValidateImmutablePodGroupPodSpec in pkg/controller/jobframework/validation.go.
"""

from collections.abc import Iterator
from typing import Any

from fakekube.apimachinery import field_errors, meta
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import defaults, objects, validation
from fakekube_controllers.kueue.jobframework.integrations import Options


async def apply_defaults(client: Client, obj: Tree, options: Options) -> bool:
    """Give an object the queue and class that it lacks; whether its pods are to wait."""
    await defaults.apply_default_local_queue(client, obj, options)
    await defaults.apply_default_workload_priority_class(client, obj, options)
    return await defaults.workload_should_be_suspended(client, obj, options, tolerates_deleting=True)


def put_queue_and_class(template: Tree, obj: ReadOnlyTree) -> None:
    """Let a template of pods name the queue and class that an object names."""
    for label in (names.QUEUE_LABEL, names.WORKLOAD_PRIORITY_CLASS_LABEL):
        if value := meta.labels_of(obj).get(label):
            objects.put_metadata(template, "labels", label, value)


def errors_of(request: AdmissionRequest, gvk: GroupVersionKind, features: Features) -> list[FieldError]:
    """The complaints about what an object says of Kueue, and about changes of that."""
    obj, old = request.object, request.old_object
    found = validation.queue_name_errors(obj) + validation.elastic_job_errors(obj, gvk, features)
    if old is None:
        return found + validation.admission_gate_errors(obj, features)
    is_suspended = not (old.get("status") or meta.EMPTY).get("readyReplicas")
    before, now = objects.queue_name(old), objects.queue_name(obj)
    if before != now and not (is_suspended and now):
        found.append(invalid(validation.QUEUE_NAME, now, validation.IMMUTABLE))
    found += validation.priority_class_update_errors(old, obj, is_suspended=is_suspended)
    return found + validation.admission_gate_update_errors(old, obj, features)


def shape_errors(path: str, old: ReadOnlyTree, new: ReadOnlyTree) -> list[FieldError]:
    """The complaints about changes of what makes the role of pods; both are specs of pods.

    Upstream tells them in no order; here they have that of the names of the fields.
    """
    return [*_shape_errors(path, pods.spec_shape(old), pods.spec_shape(new))]


def _shape_errors(path: str, old: Any, new: Any) -> Iterator[FieldError]:
    for name in sorted({*old, *new}):
        child, before, now = field_errors.child(path, name), old.get(name), new.get(name)
        if name in pods.CONTAINERS and len(before or ()) == len(now or ()):
            for place, pair in enumerate(zip(before or (), now or (), strict=True)):
                yield from _of_container(field_errors.index(child, place), *pair)
        elif before != now:
            yield invalid(child, now, validation.IMMUTABLE)


def _of_container(path: str, old: Any, new: Any) -> Iterator[FieldError]:
    if old["ports"] != new["ports"]:
        yield invalid(field_errors.child(path, "ports"), new["ports"], validation.IMMUTABLE)
    if old["resources"] != new["resources"]:
        yield invalid(field_errors.child(path, "resources", "requests"), new["resources"]["requests"], validation.IMMUTABLE)
