"""Kueue's answers: for Workloads, for queues, for jobs and for pods that it holds back."""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import Resource
from fakekube.runtime.why import Answer, Attempt, Change, Changes, Place, Reason, names
from fakekube_controllers.kueue import names as keys
from fakekube_controllers.kueue.resources import amount_quantity
from fakekube_controllers.kueue.slices.chains import slice_name
from fakekube_controllers.kueue.why import queues
from fakekube_controllers.kueue.why.room import Room
from fakekube_controllers.kueue.workload import admissionchecks, reasons, states
from fakekube_controllers.kueue.workload.info import Info

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

GATES = (keys.ADMISSION_GATE, keys.TOPOLOGY_GATE, keys.ELASTIC_JOB_GATE)
MAX_WAITING = 3  # that a queue's answer tells of


class Answers:
    """Answers for one running Kueue, as it is now."""

    def __init__(self, kueue: "Kueue") -> None:
        self._kueue = kueue

    # Workloads

    def workload(self, workload: ReadOnlyTree) -> Answer:
        """Why a Workload is not admitted."""
        about = f"workload/{meta.namespace_of(workload)}/{meta.name_of(workload)}"
        if states.is_finished(workload):
            return Answer(about, "Finished", "has finished")
        admission = states.admission(workload)
        if admission is not None and states.is_admitted(workload):
            return Answer(about, "Well", f"is admitted by clusterqueue {admission['clusterQueue']}")
        if admission is not None and states.has_quota_reservation(workload):
            return self._checked(about, workload)
        held = self._held_back(about, workload)
        if held is not None:
            return held
        trouble = queues.of_local_queue(
            self._kueue, meta.namespace_of(workload), states.spec_of(workload).get("queueName", ""))
        if trouble is None:
            return self._pending(about, workload)
        return Answer(about, trouble.state, f"is not queued: {trouble.message}", changes=trouble.changes)

    def _checked(self, about: str, workload: ReadOnlyTree) -> Answer:
        """It has quota, and not all of its checks are ready."""
        waiting = [check for check in admissionchecks.states_of(workload) if check["state"] != reasons.CHECK_READY]
        told = tuple(
            Reason(f"AdmissionCheck {check['name']}", ": ".join(filter(None, (check["state"], check.get("message")))))
            for check in waiting)
        changes = tuple(
            Change("SetCheck", f"{about}", f"state Ready of admission check {check['name']}", {"check": check["name"]})
            for check in waiting)
        names_ = names([check["name"] for check in waiting]) or "its topology"
        return Answer(about, "WaitingForChecks", f"has quota, and waits for {names_}", told, changes=changes)

    def _held_back(self, about: str, workload: ReadOnlyTree) -> Answer | None:
        """What a Workload itself says against being queued."""
        if not states.is_active(workload):
            change = Change("Activate", about, "set spec.active to true")
            return Answer(about, "Inactive", "is deactivated", changes=(change,))
        gates = states.admission_gates(workload, self._kueue.features)
        if gates:
            key = keys.ADMISSION_GATED_BY_ANNOTATION
            change = Change("RemoveAnnotation", about, f"remove annotation {key}", {"annotation": key})
            return Answer(about, "Gated", f"is held back by {gates}", changes=(change,))
        if states.is_on_hold(workload):
            return Answer(about, "OnHold", "is on hold: its job asks for no pods")
        if states.is_true(workload, reasons.WAITING_FOR_REPLACEMENT_PODS):
            change = Change("ReplacePods", about, "new pods of the group in place of those that have failed")
            return Answer(about, "WaitingForReplacementPods", "waits for new pods of its group", changes=(change,))
        again = (states.status_of(workload).get("requeueState") or meta.EMPTY).get("requeueAt")
        if again and times.parse_time(again) > self._kueue.clock.time():
            change = Change("Wait", about, f"wait until {again}", {"until": again})
            return Answer(about, "BackingOff", f"backs off until {again}", changes=(change,))
        return None

    def _pending(self, about: str, workload: ReadOnlyTree) -> Answer:
        """It waits in its queue."""
        kueue, local_queue = self._kueue, self._kueue.objects.local_queue_of(workload)
        assert local_queue is not None, "there is no trouble with its queue"
        name = states.spec_of(local_queue)["clusterQueue"]
        attempts = tuple(_attempts(workload))
        trouble = queues.of_namespace(kueue, workload, name)
        if trouble is not None:
            return Answer(about, trouble.state, f"waits in vain: {trouble.message}", attempts=attempts, changes=trouble.changes)
        info = Info(kueue.objects.adjusted(workload), kueue.info_options)
        info.cluster_queue = name
        if kueue.cache.snapshot().cluster_queue(name) is None:
            return Answer(about, "InactiveQueue", f"waits for clusterqueue {name} to begin", attempts=attempts)
        room = Room(kueue, info)
        count = kueue.queues.pending(name) or 0
        message = (
            f"is being tried, or not known to clusterqueue {name} yet" if room.place is None else
            f"waits at place {room.place + 1} of {count} in clusterqueue {name}")
        found = room.changes()
        quota, alternatives = found if found is not None else ((), ())
        state = "Pending" if found is None or quota else "Active"
        return Answer(
            about, state, message, attempts=attempts, places=room.places(), changes=quota, alternatives=alternatives)

    # queues

    def local_queue(self, local_queue: ReadOnlyTree) -> Answer:
        """Why a LocalQueue takes nothing, and how many wait in it."""
        namespace, name = meta.namespace_of(local_queue), meta.name_of(local_queue)
        about = f"localqueue/{namespace}/{name}"
        trouble = queues.of_local_queue(self._kueue, namespace, name)
        if trouble is not None:
            return Answer(about, trouble.state, f"takes nothing: {trouble.message}", changes=trouble.changes)
        count = self._kueue.queues.pending_workloads(meta.key_of(local_queue)) or 0
        leads_to = f"leads to clusterqueue {states.spec_of(local_queue)['clusterQueue']}"
        return Answer(about, "Pending" if count else "Well", f"{leads_to}; {count or 'nothing'} waiting in it")

    def cluster_queue(self, cluster_queue: ReadOnlyTree) -> Answer:
        """Why a ClusterQueue admits nothing, who holds its quota, and who waits."""
        kueue, name = self._kueue, meta.name_of(cluster_queue)
        about, found = f"clusterqueue/{name}", self._kueue.cache.hm.cluster_queues.get(name)
        if found is None:
            return Answer(about, "InFlight", "is not known to Kueue yet")
        places = tuple(self._flavor(name, flavor) for group in found.spec.resource_groups for flavor in group.flavors)
        if meta.is_deleting(cluster_queue):
            holders = [f"{key.namespace}/{key.name}" for key in found.workloads]
            ends = tuple(Change("Finish", f"workload/{key}", f"the end of workload {key}") for key in holders)
            message = f"is deleted once nobody has quota: {names(holders)}"
            return Answer(about, "Terminating", message, places=places, changes=ends)
        trouble = queues.of_cluster_queue(kueue, name)
        waiting = kueue.queues.pending_workloads_info(name)
        if trouble is not None:
            return Answer(about, trouble.state, f"admits nothing: {trouble.message}", places=places, changes=trouble.changes)
        first = tuple(self.workload(info.obj) for info in waiting[:MAX_WAITING])
        changes: Changes = first[0].changes if first else ()
        message = f"admits workloads: {len(found.workloads)} have quota, {len(waiting) or 'none'} waiting"
        return Answer(about, "Pending" if waiting else "Well", message, places=places, changes=changes, because=first)

    def _flavor(self, cluster_queue: str, flavor: str) -> Place:
        """What is used of a flavor, and by whom."""
        found = self._kueue.cache.hm.cluster_queues[cluster_queue]
        told = []
        for fr, quota in found.resource_node.quotas.items():
            if fr.flavor != flavor:
                continue
            used, show = found.resource_node.usage.get(fr, 0), fr.resource
            holders = [
                f"workload {key.namespace}/{key.name}" for key, info in found.workloads.items()
                if info.flavor_resource_usage().get(fr, 0)]
            text = f"{amount_quantity(show, used)} of {amount_quantity(show, quota.nominal)} is used"
            if used > quota.nominal:
                text += f", {amount_quantity(show, used - quota.nominal)} of it borrowed"
            told.append(Reason(fr.resource, text + (f"; held by {names(holders)}" if holders else "")))
        return Place(f"flavor/{flavor}", tuple(told))

    # jobs and pods

    def job(self, resource: Resource, job: ReadOnlyTree) -> Answer | None:
        """Why a job is suspended that Kueue manages; None for one that runs or is not managed."""
        if not states.spec_of(job).get("suspend"):
            return None
        about = f"{resource.kind.lower()}/{meta.namespace_of(job)}/{meta.name_of(job)}"
        workload = self._workload_of(job)
        if workload is not None:
            told = self.workload(workload)
            return Answer(
                about, told.state if told.state != "Well" else "Starting",
                f"is suspended until its workload {meta.name_of(workload)} is admitted", changes=told.changes,
                alternatives=told.alternatives)
        queue = meta.labels_of(job).get(keys.QUEUE_LABEL)
        if queue is None:
            return None
        trouble = queues.of_local_queue(self._kueue, meta.namespace_of(job), queue)
        return Answer(
            about, "NoWorkload", "is suspended, and has no workload yet", (trouble.reason(),) if trouble is not None else (),
            changes=trouble.changes if trouble is not None else ())

    def pod(self, pod: ReadOnlyTree) -> Answer | None:
        """Why a pod is gated; None for one that Kueue does not hold back."""
        gates = [gate["name"] for gate in states.spec_of(pod).get("schedulingGates") or () if gate["name"] in GATES]
        if not gates:
            return None
        about = f"pod/{meta.namespace_of(pod)}/{meta.name_of(pod)}"
        workload = self._workload_of(pod)
        if workload is None:
            return Answer(about, "Gated", f"is held back by {names(gates)}, and has no workload yet")
        told, name = self.workload(workload), meta.name_of(workload)
        finished, admission = states.condition(workload, reasons.FINISHED), states.admission(workload)
        if told.state == "Finished" and finished is not None:
            until = f", and its workload {name} has finished: {finished['reason']}: {finished['message']}"
        elif told.state == "Well" and admission is not None:
            count = sum(each.get("count", 1) for each in admission["podSetAssignments"])
            until = f", and its workload {name} is admitted for {count} pods"
        else:
            until = f" until its workload {name} is admitted"
        return Answer(
            about, "Gated", f"is held back by {names(gates)}{until}", changes=told.changes, alternatives=told.alternatives)

    def _workload_of(self, job: ReadOnlyTree) -> ReadOnlyTree | None:
        """The newest Workload of a job that has not finished, else the newest, by its owner, name
        or annotation.
        """
        workloads, namespace = self._kueue.objects.workloads, meta.namespace_of(job)
        said, labels = meta.annotations_of(job), meta.labels_of(job)
        named = [
            said.get(keys.PREBUILT_WORKLOAD_ANNOTATION) or labels.get(keys.PREBUILT_WORKLOAD_LABEL),
            said.get(keys.WORKLOAD_ANNOTATION), labels.get(keys.POD_GROUP_NAME_LABEL) or said.get(keys.POD_GROUP_NAME_ANNOTATION)]
        found = [*workloads.controlled_by(meta.uid_of(job)), *(
            workload for name in named if name and (workload := workloads.get(namespace, name)) is not None)]
        if not found and (chain := said.get(keys.WORKLOAD_SLICE_NAME_ANNOTATION)):
            found = [each for each in workloads.list(namespace) if slice_name(each) == chain]
        found.sort(key=lambda each: (
            not states.is_finished(each), each["metadata"].get("creationTimestamp", ""), meta.name_of(each)))
        return found[-1] if found else None


def _attempts(workload: ReadOnlyTree) -> list[Attempt]:
    """What was said when it was tried last."""
    found = states.condition(workload, reasons.QUOTA_RESERVED)
    if found is None or found["status"] != "False":
        return []
    return [Attempt(0, found.get("lastTransitionTime", ""), found.get("reason", ""), found.get("message", ""))]
