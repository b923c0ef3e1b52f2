"""The Workloads of a job that has one for each of its parts: all of them go to one worker.

The first of them is sent to workers as any Workload is, once all are there; the others follow it to
the worker that it is admitted on. Upstream: listComponentWorkloads and what uses it in
pkg/controller/admissionchecks/multikueue/workload.go. There, all of them are looked at again every
second while they wait; here, when something has changed for them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.cache.lister import Lister
from fakekube.runtime.reconcile import ExpectedError, Request
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.multikueue.adapters import MultiWorkloadAdapter
from fakekube_controllers.kueue.multikueue.owners import gvk_text
from fakekube_controllers.kueue.workload import states


class DifferentClusters(ExpectedError):
    """The Workloads of one job were admitted on more than one worker."""


class Parts(NamedTuple):
    """A Workload among those of its job. ``others`` are the rest, none of them on its way out."""

    workload: ReadOnlyTree
    others: Sequence[ReadOnlyTree] = ()
    adapter: MultiWorkloadAdapter | None = None

    def cluster(self) -> str:
        """The worker that others of them are on; empty for none. Raises DifferentClusters."""
        found = sorted({name for each in self.others if (name := states.cluster_name(each))})
        if len(found) > 1:
            raise DifferentClusters(f'component workloads assigned to different clusters: "{found[0]}" and "{found[1]}"')
        return found[0] if found else ""

    def run_on(self, cluster: str) -> bool:
        """Whether others of them run on a worker, so that their job stays there."""
        return any(
            states.cluster_name(each) == cluster and states.has_quota_reservation(each) and not states.is_finished(each)
            for each in self.others)

    def are_all_there(self, job: ReadOnlyTree | None) -> bool:
        """Whether the job has all its Workloads."""
        if self.adapter is None:
            return True
        return job is not None and len(self.others) + 1 >= self.adapter.expected_workload_count(job)

    def first(self) -> Request | None:
        """The one that is sent to workers first; None where none says which part it is."""
        if self.adapter is None:
            return meta.key_of(self.workload)
        indexed = [
            (index, meta.key_of(each)) for each in (self.workload, *self.others)
            if (index := self.adapter.workload_index(each)) is not None and index >= 0]
        return min(indexed)[1] if indexed else None


def parts_of(workload: ReadOnlyTree, workloads: Lister, adapter: object) -> Parts:
    """A Workload among those of its job; alone, where ``adapter`` is of a kind that has no others.
    """
    if not isinstance(adapter, MultiWorkloadAdapter):
        return Parts(workload)
    kind = meta.annotations_of(workload).get(names.JOB_OWNER_GVK_ANNOTATION)
    uid = next((owner["uid"] for owner in meta.owners_of(workload) if gvk_text(owner) == kind), "")
    found = workloads.owned_by(uid) if uid else ()
    others = [each for each in found if meta.name_of(each) != meta.name_of(workload) and not meta.is_deleting(each)]
    return Parts(workload, others, adapter)
