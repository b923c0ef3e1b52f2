"""How many pods each podset of a Workload has, and how many of them are done.

Upstream: pkg/workload/podsetscounts.go, LimitReclaimablePodsToPodSetSizes and
ReclaimablePodsAreEqual in workload.go.
"""

from collections.abc import Iterable, Mapping, Sequence

from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue.workload import states

PodSetsCounts = Mapping[str, int]


def extract_pod_set_counts(pod_sets: Iterable[ReadOnlyTree]) -> PodSetsCounts:
    """The number of pods by the podset's name."""
    return {pod_set["name"]: pod_set.get("count", 1) for pod_set in pod_sets}


def extract_pod_set_counts_from_workload(workload: ReadOnlyTree) -> PodSetsCounts:
    """The same, of a Workload."""
    return extract_pod_set_counts(states.spec_of(workload).get("podSets") or ())


def apply_pod_set_counts(workload: Tree, counts: PodSetsCounts) -> None:
    """Set the numbers of those podsets that the Workload has."""
    for pod_set in workload["spec"]["podSets"]:
        if pod_set["name"] in counts:
            pod_set["count"] = counts[pod_set["name"]]


def has_same_pod_set_keys(one: PodSetsCounts, other: PodSetsCounts) -> bool:
    """Whether both have the same podsets."""
    return one.keys() == other.keys()


def has_fewer_replicas_than(one: PodSetsCounts, other: PodSetsCounts) -> bool:
    """Whether a podset that both have is smaller in the first."""
    return any(name in other and count < other[name] for name, count in one.items())


def scaled_down(old: PodSetsCounts, new: PodSetsCounts) -> bool:
    """Whether a podset became smaller and none larger. Upstream: pkg/workloadslicing."""
    return has_fewer_replicas_than(new, old) and not has_fewer_replicas_than(old, new)


def limit_reclaimable_pods_to_pod_set_sizes(workload: ReadOnlyTree, reclaimable: Iterable[Tree]) -> list[Tree]:
    """No more than the podset has, which may have become smaller meanwhile."""
    sizes = extract_pod_set_counts_from_workload(workload)
    return [{**pods, "count": min(pods["count"], sizes.get(pods["name"], pods["count"]))} for pods in reclaimable]


def reclaimable_pods_are_equal(one: Sequence[Tree], other: Sequence[Tree]) -> bool:
    """Whether both name the same numbers, in whatever order."""
    return len(one) == len(other) and {each["name"]: each["count"] for each in one} == {
        each["name"]: each["count"] for each in other}
