"""What happens to custom objects whose definition is deleted.

The definition stays, with a condition that says so, until the last of them is gone; objects with
finalizers hold it. Upstream: apiextensions-apiserver/pkg/controller/finalizer. Left out: the
condition of a deletion that fails, since nothing here can make it fail.
"""

from fakekube.apiextensions import names
from fakekube.apimachinery import conditions
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.registry import deletion
from fakekube.registry.store import Store
from fakekube.registry.strategy import SERVER_MANAGER, WriteContext
from fakekube.util.rng import Rng

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
IN_PROGRESS = names.condition(
    names.TERMINATING, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
COMPLETED = names.condition(names.TERMINATING, "False", "InstanceDeletionCompleted", "removed all instances")
SERVER = UserInfo("system:apiserver", ("system:masters",))


def is_due(definition: Tree) -> bool:
    """Whether the definition waits for its objects to go."""
    meta = definition["metadata"]
    return "deletionTimestamp" in meta and FINALIZER in meta.get("finalizers", ())


def resource_of(definition: Tree) -> GroupResource:
    """The resource whose objects have to go."""
    return GroupResource(definition["spec"]["group"], definition["status"]["acceptedNames"]["plural"])


def in_progress(definition: Tree, now: str) -> Tree | None:
    """The status of a definition whose objects are being deleted; None when it says so already."""
    present = conditions.find(definition["status"]["conditions"], names.TERMINATING)
    if present is not None and present["reason"] == IN_PROGRESS["reason"]:
        return None
    return names.with_condition(definition["status"], IN_PROGRESS, now)


def delete_all(store: Store, rng: Rng, now: str) -> None:
    """Delete every object that is not being deleted yet; those with finalizers stay for a while."""
    for record in store.bucket.records():
        tree = store.load(record)
        if "deletionTimestamp" not in tree["metadata"]:
            context = WriteContext(store.cluster, rng, now, SERVER, operation="DELETE")
            deletion.delete_record(store, context, record, tree, deletion.NO_OPTIONS)


def release(store: Store, name: str, rng: Rng, now: str) -> None:
    """Take the finalizer off a definition whose objects are gone; ``store`` is that of definitions.

    It is gone then, unless somebody else holds it.
    """
    record = store.find("", name)
    old = store.load(record)
    finalizers = [each for each in old["metadata"]["finalizers"] if each != FINALIZER]
    meta = {**old["metadata"], "finalizers": finalizers}
    if not finalizers:
        del meta["finalizers"]
    obj = {**old, "metadata": meta, "status": names.with_condition(old["status"], COMPLETED, now)}
    store.fields.update(old, obj, manager=SERVER_MANAGER, now=now, subresource="status")
    if finalizers:
        store.replace(obj, record)
    else:
        store.remove(obj, record, WriteContext(store.cluster, rng, now, SERVER, operation="UPDATE"))
