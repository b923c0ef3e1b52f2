"""The job of a Workload, and the adapter of its kind.

Upstream: wlReconciler.adapter in pkg/controller/admissionchecks/multikueue/workload.go.
"""

from collections.abc import Iterable

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.multikueue.adapters import MultiKueueAdapter

KIND = ", Kind="
"""Stands between version and kind in Go's text of a GroupVersionKind."""


class Adapters:
    """The adapters by their kinds."""

    def __init__(self, adapters: Iterable[MultiKueueAdapter]) -> None:
        self.all = tuple(adapters)
        self._of_kind = {
            gvk_text({"apiVersion": each.resource.api_version, "kind": each.resource.kind}): each for each in self.all}

    def of_workload(self, workload: ReadOnlyTree) -> tuple[MultiKueueAdapter | None, Tree | None]:
        """The adapter of the job of a Workload, and a reference to the job, which may have no uid.

        What annotations say goes first: a group of pods has pods as owners besides, and a copy on a
        worker may have none.
        """
        owner = _named_job(workload) or meta.controller_of(workload) or next(iter(meta.owners_of(workload)), None)
        return (None, None) if owner is None else (self._of_kind.get(gvk_text(owner)), owner)


def _named_job(workload: ReadOnlyTree) -> Tree | None:
    annotations = meta.annotations_of(workload)
    name = annotations.get(names.JOB_OWNER_NAME_ANNOTATION)
    version, found, kind = annotations.get(names.JOB_OWNER_GVK_ANNOTATION, "").partition(KIND)
    return {"apiVersion": version, "kind": kind, "name": name} if name and found else None


def gvk_text(owner: ReadOnlyTree) -> str:
    """The kind of an owner as Go writes a GroupVersionKind: ``batch/v1, Kind=Job``."""
    version = owner["apiVersion"]
    return f"{version if '/' in version else '/' + version}{KIND}{owner['kind']}"
