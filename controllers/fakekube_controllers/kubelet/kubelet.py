"""One component that is the kubelet of every node: it registers nodes, and takes pods bound to any node through their life.

It acts on what its caches show and on its clock, and writes status like any other client. A deleted pod gets its final status
first and then the delete that removes it. Upstream: pkg/kubelet.
"""

import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.cache.indexer import by_node_name
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube_controllers.kubelet.node import agent
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.node.agent import NodeAgent
from fakekube_controllers.kubelet.outcomes import annotations, outcome
from fakekube_controllers.kubelet.outcomes.annotations import PREFIX, BadOutcome
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods import admission, runs
from fakekube_controllers.kubelet.pods import status as pod_status
from fakekube_controllers.kubelet.pods.admission import Room
from fakekube_controllers.kubelet.pods.checkpoint import Memory
from fakekube_controllers.kubelet.pods.events import Teller
from fakekube_controllers.kubelet.pods.run import TERMINAL, PodRun
from fakekube_controllers.kubelet.pods.runs import Builder, PodRuns
from fakekube_controllers.kubelet.server.reports import NODE_INDEX, Reports
from fakekube_controllers.kubelet.server.streaming import Streams
from fakekube_controllers.kubelet.staged import Staged

HOLD_STATUS, REJECT = PREFIX + "hold-status", PREFIX + "admission-reject"
FAILURES_TOLD = 40  # lines
OBSERVED_GENERATION, PULL_CHECKED = "PodObservedGenerationTracking", "KubeletEnsureSecretPulledImages"
RESTART_RULES, QUICK_RESTARTS = "ContainerRestartRules", "ReduceDefaultCrashLoopBackOffDecay"


class Kubelet:
    """A component for the manager.

    Options of the context: ``nodes`` (how many to register), ``node_capacity``, ``outcome`` (a callback, see ``outcomes``),
    ``on_exec`` and ``on_connect`` (callbacks, see ``process``), and ``kubelet_defaults``.
    """

    name = "kubelet"
    user_agent = "kubelet"
    user: UserInfo | None = None

    def __init__(self) -> None:
        # What runs on the nodes runs on while their kubelet is down.
        self.runs = PodRuns()
        self._attempts: dict[tuple[str, str], int] = {}
        self._addresses = Addresses({}, {}, {})
        self.staged = Staged(lambda uid: uid in self.runs, self._is_silent)
        self._failures: list[str] = []  # what was said of pods and cannot be meant

    def dump(self) -> Memory:
        """What runs now."""
        return self.runs.dump({
            "attempts": [[*key, number] for key, number in self._attempts.items()], **self._addresses.dump(),
            "stages": self.staged.dump()})

    def load(self, state: Memory | Tree) -> None:
        """Know what another kubelet knew."""
        rest = self.runs.load(state)
        self._attempts = {(owner, index): number for owner, index, number in rest["attempts"]}
        self._addresses = Addresses(dict(rest["nodes"]), dict(rest["addresses"]), dict(rest["pods"]))
        self.staged.load(rest.get("stages"))

    async def start(self, ctx: Context) -> None:
        """Register the nodes and begin to look after pods."""
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.teller = Teller(ctx.recorder("kubelet"), checked=ctx.enabled(PULL_CHECKED))
        self.observed_generation = ctx.enabled(OBSERVED_GENERATION)
        self.room = Room()
        for uid, run in self.runs.live.items():
            if not run.finished:
                self.room.take(run.pod["spec"]["nodeName"], uid, admission.requests_of(run.pod))
        self.defaults: Defaults = ctx.options.get("kubelet_defaults") or Defaults()
        self._builder = Builder(
            ctx.options.get("outcome"), self.defaults, self.teller.happened,
            rules=ctx.enabled(RESTART_RULES), quick=ctx.enabled(QUICK_RESTARTS))
        self.pods, self.nodes = ctx.lister(PODS), ctx.lister(NODES)
        ctx.informer(PODS).add_index(NODE_INDEX, by_node_name)
        self.queue = ctx.queue("kubelet")
        self.streams = Streams(ctx, self.run_of, self.queue.add)
        self.reports = Reports(self.pods, self.nodes, self.clock, self.defaults, self._known, self._is_silent)
        ctx.add_handler(PODS, self._pod_seen, self._pod_changed, self._pod_gone)
        Worker(ctx, self.queue, self._sync_pod).start()
        self.agent = NodeAgent(ctx, self._addresses, self._mode_changed, self.staged.has_node)
        self.staged.start(ctx, self._addresses)
        ctx.explainers.append(lambda: iter(self._failures[-FAILURES_TOLD:]))
        ctx.tasks.spawn(self._forget_gone(), "kubelet housekeeping")
        await self.agent.register(int(ctx.options.get("nodes", 0)))

    async def stop(self) -> None:
        """Everything else belongs to the context; nothing is heard of the nodes from now on."""
        self.streams.close()
        self.staged.close()
        self.agent.close()

    # nodes

    def add_stages(self, manifests: Sequence[Mapping[str, Any]]) -> None:
        """Let KWOK's Stages say how pods and nodes fare, see ``staged.py``. Raises ValueError for one that cannot be meant."""
        self.staged.add(manifests)

    def _is_silent(self, node: str) -> bool:
        return self.agent.mode_of(node) == agent.STOPPED

    def _mode_changed(self, node: str) -> None:
        """What ran on while nothing was heard of it is told of now; what is to end there ends."""
        for pod in self.pods.by_index(NODE_INDEX, node):
            self._pod_seen(pod)

    # pods

    def _pod_seen(self, pod: Tree) -> None:
        if pod["spec"].get("nodeName") and not self.staged.take(pod):
            self.queue.add(meta.key_of(pod))

    def _pod_changed(self, old: Tree, new: Tree) -> None:
        """What this kubelet wrote itself is no news; of a pod that has ended it is the last."""
        uid = new["metadata"]["uid"]
        run = self.runs.live.get(uid)
        if run is None and not self.runs.has_ended(uid):
            self._pod_seen(new)
            return
        known, status = old.get("status") if run is None else run.status, new.get("status")
        if status != known or _asked_for(old) != _asked_for(new):
            self._pod_seen(new)
        elif run is not None:
            run.pod, run.status = new, status  # as the cache has it: no copy stays
            if status is not None and status["phase"] in TERMINAL and run.over:
                self.runs.end(uid)

    async def _forget_gone(self) -> None:
        """Pods that went while the kubelet was down are told of by nobody."""
        await self.ctx.wait_for_sync()
        self.runs.forget_all_but({meta.uid_of(pod): None for pod in self.pods.list()})

    def _pod_gone(self, pod: Tree) -> None:
        uid = meta.uid_of(pod)
        self.staged.forget(pod)
        self.room.leave(pod["spec"].get("nodeName", ""), uid)
        self.runs.forget(uid)
        self._addresses.forget(uid)
        self.streams.forget(uid)

    async def _sync_pod(self, key: ObjectKey) -> None:
        pod = self.pods.get(key.namespace, key.name)
        if pod is None or not (node := pod["spec"].get("nodeName")) or self._is_silent(node):
            return
        uid, now = meta.uid_of(pod), self.clock.time()
        phase = (pod.get("status") or meta.EMPTY).get("phase")
        run = self.runs.live.get(uid)
        if run is None:
            if self.runs.has_ended(uid):
                run = self.runs.resume(uid, self._builder.run(pod, now, 0))
            elif self.staged.take(pod):  # its node was not known yet when it was seen first
                return
            elif phase in TERMINAL and not self.runs.was_known(uid):
                await self._remove_if_deleted(pod)
                return
            else:
                run = self._accept(pod, now)
                self.runs.begin(uid, run)
        self.runs.changes(uid, run)
        run.pod = pod
        if phase in TERMINAL:
            run.conclude(now, phase)
        if meta.is_deleting(pod):
            run.delete(now, float(pod["metadata"].get("deletionGracePeriodSeconds", 0)))
        if self.agent.mode_of(node) == agent.SHUTDOWN and not run.finished:
            self._shut_down(run, now)
        due = self._advance(run, now)
        self.streams.look(uid)
        if due is not None:
            self.queue.add_after(key, due - now)
        await self._tell_api(run, key, now)

    async def _tell_api(self, run: PodRun, key: ObjectKey, now: float) -> None:
        """Write what has changed, and remove what has gone; unless the pod is to look as on a dead node."""
        if annotations.of_pod(run.pod).get(HOLD_STATUS) == "true":
            return
        finished = run.finished
        if finished:
            self.room.leave(run.pod["spec"]["nodeName"], meta.uid_of(run.pod))
        told = await self._write(run, now)
        if finished and not run.running:
            await self._remove_when_stopped(run, key, now)
            if told and run.over:
                self.runs.end(meta.uid_of(run.pod))

    def _advance(self, run: PodRun, now: float) -> float | None:
        try:
            return run.advance(now)
        except BadOutcome as error:
            self._fail(run, now, error)
            return run.advance(now)

    def _fail(self, run: PodRun, now: float, error: BadOutcome) -> None:
        """What was said of the pod cannot be meant; whoever waits for something else is shown where it was said."""
        run.fail(now, error.reason, str(error))
        self.teller.pod(run, "Warning", error.reason, str(error))
        self._failures.append(f"{runs.name_in_texts(run.pod)}: {error}")
        if error.__cause__ is not None and error.reason == "OutcomeCallbackFailed":
            self._failures += "".join(traceback.format_exception(error.__cause__)).splitlines()

    def _shut_down(self, run: PodRun, now: float) -> None:
        reason, message = agent.TERMINATED
        grace = float(run.pod["spec"].get("terminationGracePeriodSeconds", 30))
        run.fail(now, reason, message, grace_seconds=grace, disruption=message)

    def _accept(self, pod: Tree, now: float) -> PodRun:
        run = self._builder.run(pod, now, self._attempt_of(pod))
        try:
            run.starts_at = now + outcome.start_delay_seconds(pod, self.defaults)
            if (evicted := outcome.evict_after_seconds(pod)) is not None:
                run.evicts_at = now + evicted
        except BadOutcome as error:
            self._fail(run, now, error)
        self._admit(run)
        for complaint in annotations.complaints(pod):
            self.teller.pod(run, "Warning", "InvalidAnnotation", complaint)
        return run

    def _admit(self, run: PodRun) -> None:
        """Take the pod, or turn it away. One whose containers ran already was taken by an earlier kubelet."""
        name, uid = run.pod["spec"]["nodeName"], meta.uid_of(run.pod)
        requests, node = admission.requests_of(run.pod), self.nodes.get("", name)
        known = self.runs.was_known(uid) or bool((run.pod.get("status") or {}).get("containerStatuses"))
        refused = None
        if wanted := annotations.of_pod(run.pod).get(REJECT):
            reason, _, message = wanted.partition(":")
            refused = admission.Refusal(reason.strip(), message.strip() or f"Node rejected the pod: {reason.strip()}")
        elif self.agent.mode_of(name) == agent.SHUTDOWN:
            refused = admission.SHUTTING_DOWN
        elif node is not None and not known and not meta.is_deleting(run.pod):
            refused = self.room.lack(node, requests) or admission.refusal(run.pod, node, self._accepted_on)
        if refused is None:
            self.room.take(name, uid, requests)
        elif run.failure is None:
            run.reject(*refused)
            self.teller.pod(run, "Warning", *refused)

    def _accepted_on(self, node: str) -> list[Tree]:
        return [pod for pod in self.pods.by_index(NODE_INDEX, node) if meta.uid_of(pod) in self.runs]

    def _attempt_of(self, pod: Tree) -> int:
        """Which try this pod is among those that replace each other."""
        owner = meta.controller_of(pod)
        if owner is None or self.runs.was_known(meta.uid_of(pod)):
            return 0
        key = (owner["uid"], str(meta.annotations_of(pod).get(outcome.JOB_INDEX, "")))
        number = self._attempts.get(key, 0)
        self._attempts[key] = number + 1
        return number

    async def _write(self, run: PodRun, now: float) -> bool:
        """Write what has changed; whether the API showed all of it already."""
        pod = run.pod
        present, node, uid = pod.get("status") or {}, pod["spec"]["nodeName"], meta.uid_of(pod)
        run.status = status = pod_status.render(
            run, present, host_ip=self._addresses.of_node(node), now=now, observed_generation=self.observed_generation,
            pod_ip=self._addresses.of_pod(node, uid, bool(pod["spec"].get("hostNetwork"))))
        changes = pod_status.changes(status, present)
        if not changes:
            return True
        body = {"metadata": {"uid": uid, "resourceVersion": meta.resource_version_of(pod)}, "status": changes}
        try:
            await self.client.patch(
                PODS, meta.name_of(pod), meta.namespace_of(pod), body, subresource="status", read_answer=False)
        except APIError as error:
            if error.code != 404:
                raise
        return False

    async def _remove_when_stopped(self, run: PodRun, key: ObjectKey, now: float) -> None:
        """A pod that was stopped is seen so for a moment, while its kubelet cleans up; one that had ended long since is not."""
        ended = max((c.finished_at or 0.0 for c in run.containers if c.ran), default=0.0)
        left = ended + self.defaults.removal_seconds - now if run.deleting_since is not None else 0.0
        if left > 0:
            self.queue.add_after(key, left)
        else:
            await self._remove_if_deleted(run.pod)

    async def _remove_if_deleted(self, pod: Mapping[str, Any]) -> None:
        if not meta.is_deleting(pod):
            return
        try:
            await self.client.delete(
                PODS, meta.name_of(pod), meta.namespace_of(pod), grace_period_seconds=0, uid=meta.uid_of(pod), missing_ok=True)
        except APIError as error:
            if error.code != 409:
                raise

    # what others ask for, beside ``reports`` and ``streams``

    def _known(self, pod: Mapping[str, Any]) -> PodRun | None:
        """What is known of a pod, to be looked at."""
        return self.runs.find(pod, lambda pod: self._builder.run(pod, self.clock.time(), 0))

    def run_of(self, pod: Mapping[str, Any]) -> PodRun | None:
        """What is known of a pod; who asks may change it."""
        run = self._known(pod)
        if run is not None:
            self.runs.changes(meta.uid_of(pod), run)
        return run

    def evict(self, namespace: str, name: str, resource: str = "memory") -> None:
        """End a pod as a node does that runs short of something. KeyError when there is no such pod here."""
        pod = self.pods.get(namespace, name)
        if pod is None or meta.uid_of(pod) not in self.runs:
            raise KeyError(f"{namespace}/{name}")
        run = self.runs.live.get(meta.uid_of(pod))
        if run is not None and not run.finished:
            self.runs.changes(meta.uid_of(pod), run)
            run.evict(self.clock.time(), resource)
            self.teller.pod(run, "Warning", *(run.failure or ("", "")))
            self.queue.add(ObjectKey(namespace, name))


def _asked_for(pod: Mapping[str, Any]) -> tuple[Any, ...]:
    """What others can want of a running pod."""
    get = pod["metadata"].get
    return (
        get("deletionTimestamp"), get("deletionGracePeriodSeconds"), get("generation"), get("annotations"),
        pod["spec"].get("nodeName"))

