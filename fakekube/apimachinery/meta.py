"""Reading ``metadata`` of a tree: names, owners, conditions. Nothing here changes what it is given.

Upstream: apimachinery/pkg/apis/meta/v1 (controller_ref.go, meta.go).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fakekube.apimachinery import conditions
from fakekube.apimachinery.types import ReadOnlyTree, Tree

EMPTY: Mapping[str, Any] = {}
BOOKKEEPING = ("metadata.resourceVersion", "metadata.managedFields")
"""What changes with every write, and says nothing that other fields do not."""

TIMES = ("lastTransitionTime", "lastProbeTime", "lastUpdateTime")
"""Fields that change with others, and say only when."""


class ObjectKey(NamedTuple):
    """Where an object is: ``namespace/name``, or the name alone when it is in no namespace."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def name_of(obj: ReadOnlyTree) -> str:
    """``metadata.name``, or nothing."""
    return str((obj.get("metadata") or EMPTY).get("name", ""))


def namespace_of(obj: ReadOnlyTree) -> str:
    """``metadata.namespace``, or nothing."""
    return str((obj.get("metadata") or EMPTY).get("namespace", ""))


def key_of(obj: ReadOnlyTree) -> ObjectKey:
    """Namespace and name."""
    metadata = obj["metadata"]
    return ObjectKey(metadata.get("namespace", ""), metadata.get("name", ""))


def uid_of(obj: ReadOnlyTree) -> str:
    """``metadata.uid``, or nothing."""
    return str((obj.get("metadata") or EMPTY).get("uid", ""))


def resource_version_of(obj: ReadOnlyTree) -> str:
    """``metadata.resourceVersion``, or nothing."""
    return str((obj.get("metadata") or EMPTY).get("resourceVersion", ""))


def generation_of(obj: ReadOnlyTree) -> int:
    """``metadata.generation``, or 0."""
    return int((obj.get("metadata") or EMPTY).get("generation", 0))


def labels_of(obj: ReadOnlyTree) -> Mapping[str, str]:
    """``metadata.labels``, never None."""
    return (obj.get("metadata") or EMPTY).get("labels") or EMPTY


def annotations_of(obj: ReadOnlyTree) -> Mapping[str, str]:
    """``metadata.annotations``, never None."""
    return (obj.get("metadata") or EMPTY).get("annotations") or EMPTY


def finalizers_of(obj: ReadOnlyTree) -> list[str]:
    """``metadata.finalizers``, never None."""
    return (obj.get("metadata") or EMPTY).get("finalizers") or []


def with_finalizer(obj: ReadOnlyTree, name: str) -> Tree:
    """A copy with one finalizer more, at the end; it shares all else with the object."""
    return _with_finalizers(obj, [*finalizers_of(obj), name])


def without_finalizer(obj: ReadOnlyTree, name: str) -> Tree:
    """A copy without a finalizer; it shares all else with the object."""
    return _with_finalizers(obj, [finalizer for finalizer in finalizers_of(obj) if finalizer != name])


def _with_finalizers(obj: ReadOnlyTree, finalizers: list[str]) -> Tree:
    return {**obj, "metadata": {**obj["metadata"], "finalizers": finalizers}}


def owners_of(obj: ReadOnlyTree) -> list[Tree]:
    """``metadata.ownerReferences``, never None."""
    return (obj.get("metadata") or EMPTY).get("ownerReferences") or []


def is_deleting(obj: ReadOnlyTree) -> bool:
    """Whether ``metadata.deletionTimestamp`` is set."""
    return bool((obj.get("metadata") or EMPTY).get("deletionTimestamp"))


def controller_of(obj: ReadOnlyTree) -> Tree | None:
    """The owner reference whose ``controller`` is true."""
    for reference in (obj.get("metadata") or EMPTY).get("ownerReferences") or ():
        if reference.get("controller"):
            return reference  # type: ignore[no-any-return]
    return None


def is_controlled_by(obj: ReadOnlyTree, owner: ReadOnlyTree) -> bool:
    """Whether ``owner`` is the controller of ``obj``, by uid."""
    reference = controller_of(obj)
    return reference is not None and reference.get("uid") == uid_of(owner)


def owner_reference(owner: ReadOnlyTree, *, controller: bool = False, block: bool = False) -> Tree:
    """A reference to ``owner``, which must carry apiVersion and kind; ``block`` sets
    blockOwnerDeletion.
    """
    metadata = owner["metadata"]
    reference: Tree = {
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"],
    }
    if controller:
        reference["controller"] = True
    if block:
        reference["blockOwnerDeletion"] = True
    return reference


def controller_reference(owner: ReadOnlyTree) -> Tree:
    """What upstream's NewControllerRef makes: ``controller`` and ``blockOwnerDeletion`` both true.
    """
    return owner_reference(owner, controller=True, block=True)


def find_condition(obj: ReadOnlyTree, condition_type: str) -> Tree | None:
    """The entry of ``status.conditions`` with this type."""
    return conditions.find((obj.get("status") or EMPTY).get("conditions"), condition_type)


def is_condition_true(obj: ReadOnlyTree, condition_type: str) -> bool:
    """Whether the condition is there and its status is ``"True"``."""
    return conditions.is_true((obj.get("status") or EMPTY).get("conditions"), condition_type)


_TYPES: Mapping[str, type] = {
    "name": str, "namespace": str, "uid": str, "resourceVersion": str, "creationTimestamp": str, "deletionTimestamp": str,
    "generation": int, "labels": dict, "annotations": dict, "finalizers": list, "ownerReferences": list,
}


def is_object(value: Any) -> bool:
    """Whether what a server sent has the form of an object with a name, a uid and a version.

    Everybody relies on that; it is asked once something has gone wrong.
    """
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict) or not {"name", "uid", "resourceVersion"} <= metadata.keys():
        return False
    if not all(isinstance(metadata[name], kind) for name, kind in _TYPES.items() if metadata.get(name) is not None):
        return False
    texts = [*(metadata.get("finalizers") or ()), *(metadata.get("labels") or EMPTY).values()]
    owners = metadata.get("ownerReferences") or ()
    return all(isinstance(text, str) for text in texts) and all(
        isinstance(owner, dict) and all(isinstance(owner.get(name), str) for name in ("apiVersion", "kind", "name", "uid"))
        for owner in owners)
