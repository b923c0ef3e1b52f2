"""What a StatefulSet's Workload is called, and whose a StatefulSet is."""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.resources import STATEFUL_SETS
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework.workload_names import workload_name_for_owner
from fakekube_controllers.kueue.jobs.kinds import STATEFUL_SET

GVK_TEXT = "apps/v1, Kind=StatefulSet"


def workload_name(sts: ReadOnlyTree, features: Features) -> str:
    """The name of the Workload of a StatefulSet."""
    return workload_name_for_owner(meta.name_of(sts), owner_uid(sts), STATEFUL_SETS.gvk, features)


def legacy_workload_name(sts: ReadOnlyTree, features: Features) -> str:
    """The name that releases before this one gave it, which counts while there is such a one."""
    return workload_name_for_owner(meta.name_of(sts), "", STATEFUL_SETS.gvk, features)


def find_workload(workloads: Lister, sts: ReadOnlyTree, features: Features) -> Tree | None:
    """The Workload of a StatefulSet in a cache, under either name."""
    for name in (workload_name(sts, features), legacy_workload_name(sts, features)):
        found = workloads.get(meta.namespace_of(sts), name)
        if found is not None:
            return found
    return None


def is_stateful_set(owner: ReadOnlyTree) -> bool:
    """Whether an owner reference names a StatefulSet."""
    return (owner["apiVersion"], owner["kind"]) == (STATEFUL_SETS.api_version, STATEFUL_SETS.kind)


def owner_uid(obj: ReadOnlyTree) -> str:
    """The uid that makes the name of a Workload: that of the original, where this one is the copy
    of an object in another cluster.
    """
    if names.MULTIKUEUE_ORIGIN_LABEL in meta.labels_of(obj):
        return meta.annotations_of(obj).get(names.MULTIKUEUE_ORIGIN_UID_ANNOTATION, meta.uid_of(obj))
    return meta.uid_of(obj)


def is_managed_by_another_framework(sts: ReadOnlyTree) -> bool:
    """Whether something above a StatefulSet lets its pods wait."""
    annotations = meta.annotations_of((sts.get("spec") or meta.EMPTY).get("template") or meta.EMPTY)
    return annotations.get(names.SUSPENDED_BY_PARENT_ANNOTATION, STATEFUL_SET) != STATEFUL_SET
