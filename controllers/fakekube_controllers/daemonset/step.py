"""What a DaemonSet lacks and has too much of on its nodes, and which old pods may give way to new
ones now.

Nothing here writes. Upstream: podsShouldBeOnNode in pkg/controller/daemon/daemon_controller.go,
rollingUpdate in update.go.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.intstr import scaled
from fakekube.apimachinery.types import Tree
from fakekube.runtime import pods
from fakekube_controllers.daemonset import placing
from fakekube_controllers.daemonset.backoff import Backoff
from fakekube_controllers.daemonset.placing import Decision

RecordEvent = Callable[[str, str, str], None]


class Plan(NamedTuple):
    """Nodes that are to get a pod, and pods that are to go."""

    create: list[str]
    delete: list[Tree]


class Step:
    """A DaemonSet, its nodes and its pods by node, at one time.

    ``wait_seconds``: when a failed pod is due, if one is.
    """

    def __init__(
        self, owner: Tree, nodes: Sequence[Tree], found: Iterable[Tree], revision_hash: str, now: float,
    ) -> None:
        self.owner, self.hash, self.now = owner, revision_hash, now
        self.nodes = {meta.name_of(node): node for node in nodes}
        self.tolerations = placing.tolerations_of(owner["spec"]["template"]["spec"])
        self.decisions = {name: placing.node_should_run(owner, self.tolerations, node) for name, node in self.nodes.items()}
        self.by_node: dict[str, list[Tree]] = {}
        for pod in found:
            if pods.is_finished(pod) and pods.is_terminating(pod):
                continue
            target = placing.target_of(pod)
            if target is not None:
                self.by_node.setdefault(target, []).append(pod)
        self.min_ready: int = owner["spec"].get("minReadySeconds", 0)
        self.wait_seconds: float | None = None

    def _is_available(self, pod: Tree) -> bool:
        return pods.is_available(pod, self.min_ready, self.now)

    def _decision(self, node: str) -> Decision:
        return self.decisions.get(node, Decision(should_run=False, may_stay=False))

    @property
    def _rolling(self) -> Tree:
        strategy = self.owner["spec"]["updateStrategy"]
        rolling: Tree = (strategy.get("rollingUpdate") or {}) if strategy.get("type") == "RollingUpdate" else {}
        return rolling

    def _share(self, name: str, total: int) -> int:
        return scaled(self._rolling.get(name, 0), total, round_up=True)

    # what is lacking, and what is too much

    def manage(self, backoff: Backoff, record: RecordEvent) -> Plan:
        """One pod on each node where one is to be (while surging an old and a new one), and none
        elsewhere.
        """
        plan = Plan([], [])
        for node, decision in self.decisions.items():
            there = self.by_node.get(node)
            if decision.should_run and not there:
                plan.create.append(node)
            elif decision.may_stay:
                self._manage_node(node, there or [], plan, backoff, record)
            elif there:
                plan.delete.extend(pod for pod in there if not pods.is_terminating(pod))
        for node, there in self.by_node.items():
            # nobody else deletes a pod that waits for a node which is not there
            if node not in self.nodes:
                plan.delete.extend(pod for pod in there if not pod["spec"].get("nodeName"))
        return plan

    def _manage_node(self, node: str, there: list[Tree], plan: Plan, backoff: Backoff, record: RecordEvent) -> None:
        living = []
        for pod in there:
            if pods.is_terminating(pod):
                continue
            what = f"daemon pod {meta.namespace_of(pod)}/{meta.name_of(pod)} on node {node}"
            if pods.phase(pod) == "Failed":
                if self._is_due(node, backoff):
                    record("Warning", "FailedDaemonPod", f"Found failed {what}, will try to kill it")
                    plan.delete.append(pod)
            elif pods.phase(pod) == "Succeeded":
                record("Normal", "SucceededDaemonPod", f"Found succeeded {what}, will try to delete it")
                plan.delete.append(pod)
            else:
                living.append(pod)
        living.sort(key=seniority)
        if self._share("maxSurge", 1) == 0:
            plan.delete.extend(living[1:])
        elif not living:
            if self._decision(node).should_run:
                plan.create.append(node)
        else:
            plan.delete.extend(self._beyond_surge(living))

    def _is_due(self, node: str, backoff: Backoff) -> bool:
        key = meta.uid_of(self.owner), (self.owner.get("status") or meta.EMPTY).get("observedGeneration", 0), node
        wait = backoff.remaining_seconds(key, self.now)
        if wait is None:
            backoff.failed(key, self.now)
            return True
        self.wait_seconds = wait if self.wait_seconds is None else min(wait, self.wait_seconds)
        return False

    def _beyond_surge(self, living: Sequence[Tree]) -> list[Tree]:
        """All but the oldest new pod and, while that is not available and the old one is ready, the
        oldest old one.
        """
        new = [pod for pod in living if meta.labels_of(pod).get(placing.HASH_LABEL) == self.hash]
        old = [pod for pod in living if meta.labels_of(pod).get(placing.HASH_LABEL) != self.hash]
        surplus = new[1:] + old[1:]
        if new and old and (not pods.is_ready(old[0]) or self._is_available(new[0])):
            surplus.append(old[0])
        return surplus

    # old pods

    def rolling_update(self) -> Plan:
        """Which old pods may go, or which nodes may get a new pod beside the old one, within the
        strategy's limits.
        """
        wanted = [node for node, decision in self.decisions.items() if decision.should_run]
        by_node = {**self.by_node, **{node: [] for node in wanted if node not in self.by_node}}
        surge, unavailable = self._share("maxSurge", len(wanted)), self._share("maxUnavailable", len(wanted))
        if wanted and not surge and not unavailable:
            unavailable = 1
        states = {node: self._new_and_old(there) for node, there in by_node.items()}
        if surge:
            return self._surge(states, surge, len(wanted))
        return Plan([], self._replace(states, unavailable))

    def _new_and_old(self, there: Sequence[Tree]) -> tuple[Tree | None, Tree | None] | None:
        """The new and the old pod of a node; None while it has several of either."""
        alive = [pod for pod in there if not pods.is_terminating(pod)]
        new = [pod for pod in alive if placing.is_updated(self.owner, pod, self.hash)]
        old = [pod for pod in alive if not placing.is_updated(self.owner, pod, self.hash)]
        if len(new) > 1 or len(old) > 1:
            return None
        return new[0] if new else None, old[0] if old else None

    def _replace(self, states: dict[str, tuple[Tree | None, Tree | None] | None], most: int) -> list[Tree]:
        down = 0
        allowed: list[Tree] = []
        candidates: list[Tree] = []
        for state in states.values():
            new, old = state or (None, None)
            if (new is None) == (old is None):  # nothing, or too much: that is for others to mend
                down += 1
            elif new is not None:
                down += not self._is_available(new)
            elif old is not None and not self._is_available(old):
                allowed.append(old)
                down += 1
            elif old is not None and down < most:
                candidates.append(old)
        return allowed + candidates[:max(0, most - down)]

    def _surge(
        self, states: dict[str, tuple[Tree | None, Tree | None] | None], most: int, wanted: int,
    ) -> Plan:
        surging = available = 0
        plan = Plan([], [])
        unwanted: list[Tree] = []
        candidates: list[str] = []
        for node, state in states.items():
            if state is None:
                surging += 1
                continue
            new, old = state
            shown = old or new
            available += shown is not None and self._is_available(shown)
            if old is None:
                continue
            if new is not None:
                if self._is_available(new):
                    plan.delete.append(old)
                else:
                    surging += 1
            elif not self._is_available(old):
                if self._decision(node).should_run:
                    plan.create.append(node)
                else:
                    plan.delete.append(old)
            elif not self._decision(node).should_run:
                unwanted.append(old)
            elif surging < most:
                candidates.append(node)
        # what is to leave its node leaves once there are enough elsewhere
        plan.delete.extend(unwanted[:max(0, available - wanted)])
        plan.create.extend(candidates[:max(0, most - surging)])
        return plan

    # status

    def status(self, *, observed: bool) -> Tree:
        """The status that the pods make; ``observed``: whether this generation was acted on."""
        counts = dict.fromkeys((
            "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
            "updatedNumberScheduled", "numberAvailable"), 0)
        for node, decision in self.decisions.items():
            there = sorted(self.by_node.get(node, ()), key=seniority)
            if not decision.should_run:
                counts["numberMisscheduled"] += bool(there)
                continue
            counts["desiredNumberScheduled"] += 1
            if there:
                counts["currentNumberScheduled"] += 1
                counts["numberReady"] += pods.is_ready(there[0])
                counts["numberAvailable"] += self._is_available(there[0])
                counts["updatedNumberScheduled"] += placing.is_updated(self.owner, there[0], self.hash)
        before = self.owner.get("status") or {}
        optional = {
            "updatedNumberScheduled": counts.pop("updatedNumberScheduled"),
            "numberAvailable": counts.pop("numberAvailable"),
        }
        optional["numberUnavailable"] = counts["desiredNumberScheduled"] - optional["numberAvailable"]
        optional["observedGeneration"] = (
            meta.generation_of(self.owner) if observed else before.get("observedGeneration", 0))
        status: Tree = {**before, **counts}
        for name, number in optional.items():
            status[name] = number
            if not number:
                del status[name]
        return status

    def seconds_until_available(self) -> float | None:
        """How long until the next ready pod becomes available; None when no time would change
        anything.
        """
        if not self.min_ready:
            return None
        return pods.seconds_until_available((pod for there in self.by_node.values() for pod in there), self.min_ready, self.now)


def seniority(pod: Tree) -> tuple[bool, str, str]:
    """Sorts pods on their node before those that wait for it, and old ones before new ones."""
    return not pod["spec"].get("nodeName"), pod["metadata"]["creationTimestamp"], meta.name_of(pod)
