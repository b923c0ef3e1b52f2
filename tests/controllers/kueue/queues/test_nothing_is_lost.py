"""Whatever happens to queues, every pending Workload is in exactly one place."""

import copy

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fakekube.apimachinery import times
from fakekube_controllers.kueue.queues.requeue_reason import RequeueReason
from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Info
from tests.controllers.kueue.queues.world import World, cluster_queue, key

NAMES = st.sampled_from([f"w{number}" for number in range(6)])
QUEUES = st.sampled_from(["q0", "q1"])
CLUSTER_QUEUES = st.sampled_from(["cq0", "cq1"])


class QueuesMachine(RuleBasedStateMachine):
    """Plays users, controllers and a scheduler."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.cluster_queues: dict[str, None] = {}
        self.scheduled: list[Info] = []

    @rule(name=CLUSTER_QUEUES, strict=st.booleans(), cohort=st.sampled_from(["", "a", "b"]))
    def cluster_queue(self, name: str, strict: bool, cohort: str) -> None:
        obj = cluster_queue(name, strategy="StrictFIFO" if strict else "BestEffortFIFO", cohort=cohort)
        if name in self.cluster_queues:
            self.world.queues.update_cluster_queue(obj, spec_updated=True)
        else:
            self.world.queues.add_cluster_queue(obj)
            self.cluster_queues[name] = None

    @rule(name=st.sampled_from("ab"), parent=st.sampled_from(["", "a", "b"]))
    def cohort(self, name: str, parent: str) -> None:
        self.world.queues.add_or_update_cohort({"metadata": {"name": name}, "spec": {"parentName": parent}})

    @rule(name=CLUSTER_QUEUES)
    def delete_cluster_queue(self, name: str) -> None:
        self.cluster_queues.pop(name, None)
        self.world.queues.delete_cluster_queue(name)

    @rule(name=QUEUES, of=CLUSTER_QUEUES)
    def local_queue(self, name: str, of: str) -> None:
        if name in self.world.local_queues:
            self.world.local_queues[name]["spec"]["clusterQueue"] = of
            self.world.queues.update_local_queue(self.world.local_queues[name])
        else:
            self.world.local_queue(name, of)

    @rule(name=QUEUES)
    def delete_local_queue(self, name: str) -> None:
        self.world.local_queues.pop(name, None)
        self.world.queues.delete_local_queue(key(name))

    @rule(name=NAMES, queue=QUEUES, priority=st.integers(0, 2), cpu=st.sampled_from("12"))
    def submit(self, name: str, queue: str, priority: int, cpu: str) -> None:
        self.world.submit(name, queue=queue, priority=priority, cpu=cpu)

    @rule(name=NAMES, seconds=st.integers(0, 9))
    def back_off(self, name: str, seconds: int) -> None:
        if name in self.world.workloads:
            obj = copy.deepcopy(self.world.workloads[name])
            obj["status"]["requeueState"] = {"requeueAt": times.format_time(self.world.clock.now + seconds)}
            self.world.workloads[name] = obj
            self.world.queues.add_or_update_workload(obj)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.world.workloads.pop(name, None)
        self.world.queues.queue_associated_inadmissible_workloads_after(key(name))
        self.world.queues.delete_and_forget_workload(key(name))

    @precondition(lambda self: not self.scheduled)
    @rule()
    def take_heads(self) -> None:
        self.scheduled = self.world.queues.heads()

    @precondition(lambda self: self.scheduled)
    @rule(reason=st.sampled_from(RequeueReason), more=st.booleans())
    def put_back(self, reason: RequeueReason, more: bool) -> None:
        for info in self.scheduled:
            info.last_assignment = AssignmentClusterQueueState([{"cpu": 0 if more else -1}])
            self.world.queues.requeue_workload(info, reason)
        self.scheduled = []

    @rule(seconds=st.sampled_from([0.5, 1.0, 10.0]))
    def wait(self, seconds: float) -> None:
        self.world.clock.advance(seconds)

    def _places(self, name: str) -> list[str]:
        places = []
        for each in self.cluster_queues:
            queue = self.world.queues.cluster_queue(each)
            assert queue is not None
            places += [f"{each}/heap" for info in queue.heap if info.key.name == name]
            places += [f"{each}/inadmissible" for found in queue.inadmissible if found.name == name]
            if queue.inflight is not None and queue.inflight.key.name == name:
                places.append(f"{each}/inflight")
        return places

    @invariant()
    def every_pending_workload_is_in_one_place(self) -> None:
        in_work = {info.key.name for info in self.scheduled}
        for name, obj in self.world.workloads.items():
            of = self.world.local_queues.get(obj["spec"]["queueName"])
            places = self._places(name)
            assert len(places) <= 1, (name, places)
            if of is not None and of["spec"]["clusterQueue"] in self.cluster_queues and name not in in_work:
                assert len(places) == 1, name

    @invariant()
    def what_is_gone_is_nowhere(self) -> None:
        for number in range(6):
            if f"w{number}" not in self.world.workloads:
                assert not self._places(f"w{number}")

    @invariant()
    def what_may_be_tried_comes_up(self) -> None:
        """A ClusterQueue with a Workload in its heap gives a head."""
        for name in self.cluster_queues:
            queue = self.world.queues.cluster_queue(name)
            assert queue is not None
            snapshot = [info for info in queue.snapshot() if queue.heap.get(info.key) is not None]
            assert self.world.queues.has_pending_active(name) == bool(snapshot)


TestQueues = QueuesMachine.TestCase
TestQueues.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
