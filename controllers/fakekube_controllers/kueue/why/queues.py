"""What keeps a LocalQueue or a ClusterQueue from taking Workloads, and what would mend it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.why import Change, Changes, Reason

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

NO_STOP = "None"


class Trouble(NamedTuple):
    """What is in the way: one word, a sentence, and the changes that would do; no changes: none is
    known.
    """

    state: str
    message: str
    changes: Changes = ()

    def reason(self) -> Reason:
        """As a reason among others."""
        return Reason(self.state, self.message, self.changes)


def create(kind: str, name: str) -> Change:
    """An object is to be there."""
    return Change("Create", f"{kind.lower()}/{name}", f"create {kind} {name}")


def _start(about: str) -> Change:
    return Change("SetStopPolicy", about, f"set spec.stopPolicy of {about} to None", {"stopPolicy": NO_STOP})


def of_local_queue(kueue: "Kueue", namespace: str, name: str) -> Trouble | None:
    """What is wrong with a LocalQueue, or with the ClusterQueue that it leads to."""
    if not name:
        return Trouble("NoQueue", "names no LocalQueue")
    found, about = kueue.objects.local_queues.get(namespace, name), f"localqueue/{namespace}/{name}"
    if found is None:
        return Trouble("MissingLocalQueue", f"LocalQueue {name} is not there", (create("LocalQueue", f"{namespace}/{name}"),))
    if (found.get("spec") or {}).get("stopPolicy", NO_STOP) != NO_STOP:
        return Trouble("Stopped", f"LocalQueue {name} is stopped", (_start(about),))
    return of_cluster_queue(kueue, (found.get("spec") or {}).get("clusterQueue", ""))


def of_cluster_queue(kueue: "Kueue", name: str) -> Trouble | None:
    """What keeps a ClusterQueue from admitting anything."""
    found = kueue.cache.hm.cluster_queues.get(name)
    if found is None:
        return Trouble("MissingClusterQueue", f"ClusterQueue {name} is not there", (create("ClusterQueue", name),))
    cohort = found.parent_cohort
    if cohort is not None and cohort.is_cyclic:
        return Trouble("CohortCycle", f"the cohorts above ClusterQueue {name} are a circle: one of them needs another parent")
    readiness = kueue.cache.cluster_queue_readiness(name)
    if readiness.status == "True":
        return None
    changes = tuple(_changes(kueue, name))
    return Trouble(readiness.reason, f"ClusterQueue {name}: {readiness.message}", changes)


def _changes(kueue: "Kueue", name: str) -> Iterator[Change]:
    found = kueue.cache.hm.cluster_queues[name]
    if found.spec.is_stopped:
        yield _start(f"clusterqueue/{name}")
    for flavor in found.problems.missing_flavors:
        yield create("ResourceFlavor", flavor)
    for check in found.problems.missing_admission_checks:
        yield create("AdmissionCheck", check)
    for check in found.problems.inactive_admission_checks:
        yield Change("Activate", f"admissioncheck/{check}", f"condition Active of AdmissionCheck {check} to be True")
    for flavor, topology in found.tas_flavors.items():
        if kueue.tas_cache.get(flavor) is None:
            yield create("Topology", topology)


def of_namespace(kueue: "Kueue", workload: ReadOnlyTree, cluster_queue: str) -> Trouble | None:
    """Whether a ClusterQueue takes Workloads of a namespace."""
    namespace, queue = meta.namespace_of(workload), kueue.cache.hm.cluster_queues[cluster_queue]
    labels = kueue.objects.namespace_labels(namespace)
    if labels is None or queue.spec.namespace_selector.matches(labels):
        return None
    selector = str(queue.spec.namespace_selector) or "nothing"
    text = f"labels of namespace {namespace} that the namespaceSelector of clusterqueue {cluster_queue} selects ({selector})"
    change = Change("Label", f"namespace/{namespace}", text, {"selector": selector})
    return Trouble("NamespaceMismatch", f"namespace {namespace} is not selected by ClusterQueue {cluster_queue}", (change,))
