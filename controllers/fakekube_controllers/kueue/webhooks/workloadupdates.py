"""What may change of a Workload. Upstream: ValidateWorkloadUpdate in
pkg/webhooks/workload_webhook.go.
"""

from collections.abc import Iterator, Sequence

from fakekube.apimachinery import meta, validation
from fakekube.apimachinery.field_errors import FieldError, child, index, invalid, key, required
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.webhooks import admissiongates
from fakekube_controllers.kueue.webhooks.declaring import is_same, shown
from fakekube_controllers.kueue.workload import podsetcounts, states

READY, PODSETS = "Ready", "spec.podSets"


def errors(new: ReadOnlyTree, old: ReadOnlyTree, features: Features) -> Iterator[FieldError]:
    """Complaints about a change."""
    if states.has_quota_reservation(old):
        yield from _of_podsets(states.spec_of(new).get("podSets") or [], states.spec_of(old).get("podSets") or [], features)
        if states.has_quota_reservation(new):
            yield from _of_reclaimable_pods(new, old, features)
    yield from _of_admission(new, old, features)
    yield from _of_checks(new, old)
    yield from _of_cluster_name(new, old, features)
    if features.AdmissionGatedBy:
        yield from admissiongates.on_update(old, new)


def _of_podsets(new: Sequence[ReadOnlyTree], old: Sequence[ReadOnlyTree], features: Features) -> Iterator[FieldError]:
    if new == old:
        return
    if len(new) != len(old):
        yield invalid(PODSETS, shown(new, "[]kueue.PodSet"), validation.IMMUTABLE)
        return
    for place, (podset, before) in enumerate(zip(new, old, strict=True)):
        if features.ElasticJobsViaWorkloadSlices and podset.get("count", 0) < before.get("count", 0):
            podset = {**podset, "count": before.get("count", 0)}  # noqa: PLW2901  # an elastic job may shrink
        if not is_same(podset, before, "kueue.PodSet"):
            yield invalid(child(PODSETS, str(place)), shown(podset, "kueue.PodSet"), validation.IMMUTABLE)


def _of_reclaimable_pods(new: ReadOnlyTree, old: ReadOnlyTree, features: Features) -> Iterator[FieldError]:
    now, before = (states.status_of(each).get("reclaimablePods") or () for each in (new, old))
    if not before or podsetcounts.reclaimable_pods_are_equal(now, before):
        return
    counts, path = {each["name"]: each["count"] for each in before}, "status.reclaimablePods"
    smaller = _scaled_down(new, features)
    for each in now:
        name, count = each["name"], each["count"]
        if count < counts.get(name, count) and name not in smaller:
            yield invalid(child(key(path, name), "count"), count, f"cannot be less than {counts[name]}")
    left = {each["name"] for each in now}
    for name in counts:
        if name not in left and name not in smaller:
            yield required(key(path, name), "cannot be removed")


def _scaled_down(new: ReadOnlyTree, features: Features) -> set[str]:
    """The podsets that have fewer pods than were admitted."""
    admission = states.admission(new)
    if admission is None or not states.is_elastic_workload(new, features):
        return set()
    sizes = podsetcounts.extract_pod_set_counts_from_workload(new)
    return {
        each["name"] for each in admission["podSetAssignments"]
        if each.get("count") is not None and each["count"] > sizes.get(each["name"], 0)}


def _of_admission(new: ReadOnlyTree, old: ReadOnlyTree, features: Features) -> Iterator[FieldError]:
    now, before = states.admission(new), states.admission(old)
    if now is None or before is None or now == before:
        return
    compared = now
    assignments, others = now["podSetAssignments"], before["podSetAssignments"]
    if features.TopologyAwareScheduling and len(assignments) == len(others):
        # where the pods go may be told later, and change
        fields = ("topologyAssignment", "delayedTopologyRequest")
        compared, before = (
            {**admission, "podSetAssignments": [
                {name: value for name, value in each.items() if name not in fields} for each in admission["podSetAssignments"]]}
            for admission in (now, before))
    if not is_same(compared, before, "kueue.Admission"):
        yield invalid("status.admission", shown(now, "kueue.Admission"), validation.IMMUTABLE)


def _of_checks(new: ReadOnlyTree, old: ReadOnlyTree) -> Iterator[FieldError]:
    now = {check["name"]: check for check in states.status_of(new).get("admissionChecks") or ()}
    for place, before in enumerate(states.status_of(old).get("admissionChecks") or ()):
        check = now.get(before["name"])
        if check is None or not before["state"] == check["state"] == READY:
            continue
        updates, type_ = check.get("podSetUpdates"), "[]kueue.PodSetUpdate"
        if not is_same(updates, before.get("podSetUpdates"), type_):
            path = child(index("status.admissionChecks", place), "podSetUpdates")
            yield invalid(path, shown(updates, type_), validation.IMMUTABLE)


def _of_cluster_name(new: ReadOnlyTree, old: ReadOnlyTree, features: Features) -> Iterator[FieldError]:
    if features.ElasticJobsViaWorkloadSlices and names.WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION in meta.annotations_of(new):
        return
    name, before = (states.status_of(each).get("clusterName") for each in (new, old))
    if before is None and name is not None and name not in (states.status_of(old).get("nominatedClusterNames") or ()):
        what = "when setting clusterName it must be one of the nominatedClusterNames"
        yield invalid("status.clusterName", name, what)
