"""One component that is the kubelet of every node: it registers nodes, and takes pods bound to any node through their life.

It acts on what its caches show and on its clock, and writes status like any other client. A deleted pod gets its final status
first and then the delete that removes it. Upstream: pkg/kubelet.
"""

from collections.abc import Mapping
from typing import Any, Literal

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.meta import ObjectKey
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube_controllers.kubelet import nodes, outcomes, podstatus
from fakekube_controllers.kubelet.container import Container, container_of
from fakekube_controllers.kubelet.heartbeat import Heartbeat
from fakekube_controllers.kubelet.outcomes import BadOutcome, Callback, Defaults
from fakekube_controllers.kubelet.podrun import PodRun
from fakekube_controllers.kubelet.streams import Streams

JOB_INDEX = "batch.kubernetes.io/job-completion-index"
OBSERVED_GENERATION, PULL_CHECKED = "PodObservedGenerationTracking", "KubeletEnsureSecretPulledImages"

Tree = dict[str, Any]


class Kubelet:
    """A component for the manager.

    Options of the context: ``nodes`` (how many to register), ``node_capacity``, ``outcome`` (a callback, see ``outcomes``), and
    ``kubelet_defaults``.
    """

    name = "kubelet"
    user_agent = "kubelet"
    user: UserInfo | None = None

    def __init__(self) -> None:
        # What runs on the nodes runs on while their kubelet is down.
        self.runs: dict[str, PodRun] = {}
        self._attempts: dict[tuple[str, str], int] = {}
        self._addresses: dict[str, str] = {}
        self._node_numbers: dict[str, int] = {}
        self._pod_numbers: dict[str, int] = {}

    async def start(self, ctx: Context) -> None:
        """Register the nodes and begin to look after pods."""
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.recorder = ctx.recorder("kubelet")
        self.callback: Callback | None = ctx.options.get("outcome")
        self.defaults: Defaults = ctx.options.get("kubelet_defaults") or Defaults()
        self.pods = ctx.lister(PODS)
        self.queue, self.node_queue = ctx.queue("kubelet"), ctx.queue("kubelet_nodes")
        self.streams = Streams(ctx, self.run_of, self.queue.add)
        ctx.add_handler(PODS, self._pod_seen, self._pod_changed, self._pod_gone)
        ctx.add_handler(NODES, self._node_seen, None, self._node_gone)
        Worker(ctx, self.queue, self._sync_pod).start()
        Worker(ctx, self.node_queue, self._sync_node).start()
        self.heartbeat = Heartbeat(ctx)
        ctx.tasks.spawn(self._forget_gone(), "kubelet housekeeping")
        await self._register()

    async def stop(self) -> None:
        """Everything else belongs to the context."""
        self.streams.close()

    # nodes

    async def _register(self) -> None:
        for number in range(int(self.ctx.options.get("nodes", 0))):
            name = f"node-{number}"
            try:
                await self.client.create(NODES, nodes.node(name))
            except APIError as error:
                if error.code != 409:
                    raise
            await self._make_ready(name)

    def _node_seen(self, node: Tree) -> None:
        self.node_queue.add(meta.name_of(node))

    def _node_gone(self, node: Tree) -> None:
        self._node_numbers.pop(meta.name_of(node), None)
        self.heartbeat.end(meta.name_of(node))

    async def _sync_node(self, name: str) -> None:
        """A node that somebody made gets a kubelet too; its lease is renewed from then on."""
        node = self.ctx.lister(NODES).get("", name)
        if node is None:
            return
        if not meta.is_condition_true(node, "Ready"):
            await self._make_ready(name)
        await self.heartbeat.begin(name)

    async def _make_ready(self, name: str) -> None:
        """Post a ready status; then the taint of new nodes goes, as the node lifecycle controller would see to."""
        number = self._node_numbers.setdefault(name, len(self._node_numbers))
        node = await self.client.get(NODES, name, missing_ok=True)
        if node is None:
            return
        given = (node.get("status") or {}).get("capacity") or self.ctx.options.get("node_capacity")
        wanted = nodes.status(name, number, self.ctx.version or "0.0", self.clock.time(), given)
        kept = {key: value for key, value in (node.get("status") or {}).items() if key == "allocatable" and value}
        node["status"] = {**(node.get("status") or {}), **wanted, **kept}
        node = await self.client.update_status(NODES, node)
        taints = node["spec"].get("taints") or []
        left = [taint for taint in taints if taint["key"] != nodes.NOT_READY_TAINT]
        if len(left) != len(taints):
            await self.client.patch(NODES, name, body={"spec": {"taints": left or None}})

    # pods

    def _pod_seen(self, pod: Tree) -> None:
        if pod["spec"].get("nodeName"):
            self.queue.add(meta.key_of(pod))

    def _pod_changed(self, old: Tree, new: Tree) -> None:
        """What this kubelet wrote itself is no news."""
        run = self.runs.get(meta.uid_of(new))
        if run is None or new.get("status") != run.status or _asked_for(old) != _asked_for(new):
            self._pod_seen(new)
        else:
            run.pod = new

    async def _forget_gone(self) -> None:
        """Pods that went while the kubelet was down are told of by nobody."""
        await self.ctx.wait_for_sync()
        present = {meta.uid_of(pod): None for pod in self.pods.list()}
        self.runs = {uid: run for uid, run in self.runs.items() if uid in present}

    def _pod_gone(self, pod: Tree) -> None:
        self.runs.pop(meta.uid_of(pod), None)
        self._addresses.pop(meta.uid_of(pod), None)
        self.streams.forget(meta.uid_of(pod))

    async def _sync_pod(self, key: ObjectKey) -> None:
        pod = self.pods.get(key.namespace, key.name)
        if pod is None or not pod["spec"].get("nodeName"):
            return
        uid, now = meta.uid_of(pod), self.clock.time()
        phase = (pod.get("status") or {}).get("phase")
        run = self.runs.get(uid)
        if run is None:
            if phase in ("Succeeded", "Failed"):
                await self._remove_if_deleted(pod)
                return
            run = self.runs[uid] = self._accept(pod, now)
        run.pod = pod
        if phase in ("Succeeded", "Failed"):
            run.conclude(now, phase)
        if meta.is_deleting(pod):
            run.delete(now, float(pod["metadata"].get("deletionGracePeriodSeconds", 0)))
        due = self._advance(run, now)
        self.streams.look(uid)
        if due is not None:
            self.queue.add_after(key, due - now)
        await self._write(run, pod, now)
        if run.finished and not any(c.running for c in run.containers):
            await self._remove_when_stopped(run, key, now)

    def _advance(self, run: PodRun, now: float) -> float | None:
        try:
            return run.advance(now)
        except BadOutcome as error:
            run.fail(now, error.reason, str(error))
            return run.advance(now)

    def _accept(self, pod: Tree, now: float) -> PodRun:
        spec = pod["spec"]
        policy, attempt = spec.get("restartPolicy", "Always"), self._attempt_of(pod)

        def make(container: Mapping[str, Any], restarts_on: str) -> Container:
            return container_of(
                container, lambda number: outcomes.decide(pod, number, container, self.callback, self.defaults),
                restarts_on, _called(pod), attempt)

        init = [
            make(c, "Always" if c.get("restartPolicy") == "Always" else "Never" if policy == "Never" else "OnFailure")
            for c in spec.get("initContainers") or ()
        ]
        run = PodRun(pod, now, now, init, [make(c, policy) for c in spec["containers"]], lambda *_: None)
        run.happened = lambda what, container, _: self._tell(run, what, container)
        if (deadline := spec.get("activeDeadlineSeconds")) is not None:
            run.deadline = now + deadline
        try:
            run.starts_at = now + outcomes.start_delay_seconds(pod, self.defaults)
        except BadOutcome as error:
            run.fail(now, error.reason, str(error))
        return run

    def _attempt_of(self, pod: Tree) -> int:
        """Which try this pod is among those that replace each other."""
        owner = meta.controller_of(pod)
        if owner is None:
            return 0
        key = (owner["uid"], str(meta.annotations_of(pod).get(JOB_INDEX, "")))
        number = self._attempts.get(key, 0)
        self._attempts[key] = number + 1
        return number

    def _tell(self, run: PodRun, what: str, container: Container) -> None:
        if what == "started":
            accessible = " and can be accessed by the pod" if self.ctx.enabled(PULL_CHECKED) else ""
            text = f'Container image "{container.image}" already present on machine{accessible}'
            self._event(run, container, "Normal", "Pulled", text)
            self._event(run, container, "Normal", "Created", "Container created")
            self._event(run, container, "Normal", "Started", "Container started")
        elif what == "killing":
            self._event(run, container, "Normal", "Killing", f"Stopping container {container.name}")
        elif what == "backoff":
            text = f"Back-off restarting failed container {container.name} in pod {container.pod}"
            self._event(run, container, "Warning", "BackOff", text)

    def _event(
        self, run: PodRun, container: Container, kind: Literal["Normal", "Warning"], reason: str, message: str,
    ) -> None:
        where = "initContainers" if any(container is other for other in run.init) else "containers"
        self.recorder.event(
            run.pod, kind, reason, message, field_path=f"spec.{where}{{{container.name}}}", host=run.pod["spec"]["nodeName"])

    async def _write(self, run: PodRun, pod: Tree, now: float) -> None:
        present = pod.get("status") or {}
        node = pod["spec"]["nodeName"]
        number = self._node_numbers.setdefault(node, len(self._node_numbers))
        address = nodes.address(number)
        mine = address if pod["spec"].get("hostNetwork") else self._address_of(pod, node, number)
        status = podstatus.render(
            run, present, host_ip=address, pod_ip=mine, now=now, observed_generation=self.ctx.enabled(OBSERVED_GENERATION))
        if status == present:
            return
        run.status = status
        metadata = {key: value for key, value in pod["metadata"].items() if key != "managedFields"}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status}  # the spec is none of its business
        try:
            # Not update_status: the answer is what this wrote, and comes over the watch as well.
            path = PODS.path(meta.namespace_of(pod), meta.name_of(pod), "status")
            await self.client.request("PUT", path, body=orjson.dumps(body))
        except APIError as error:
            if error.code != 404:
                raise

    def _address_of(self, pod: Tree, node: str, number: int) -> str:
        uid = meta.uid_of(pod)
        if uid not in self._addresses:
            self._pod_numbers[node] = self._pod_numbers.get(node, -1) + 1
            self._addresses[uid] = nodes.pod_address(number, self._pod_numbers[node])
        return self._addresses[uid]

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

    # what the node proxy asks for, beside ``streams``

    def run_of(self, uid: str) -> PodRun | None:
        """What is known of a pod."""
        return self.runs.get(uid)

    def log(self, namespace: str, name: str, container: str, *, previous: bool = False) -> list[tuple[float, str]] | None:
        """The lines that a container has logged until now, with their times (Unix seconds); None when there is no such run."""
        pod = self.pods.get(namespace, name)
        run = self.runs.get(meta.uid_of(pod)) if pod is not None else None
        found = next((c for c in run.containers if c.name == container), None) if run is not None else None
        if found is None or (found.started_at is None and not previous):
            return None
        if previous:
            return found.previous_log if found.restart_count else None
        end = found.finished_at if found.finished_at is not None else self.clock.time()
        return [(at, line) for at, line in found.log if at <= end]


def _asked_for(pod: Mapping[str, Any]) -> tuple[Any, ...]:
    """What others can want of a running pod."""
    metadata = pod["metadata"]
    return (
        metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds"), metadata.get("generation"),
        metadata.get("annotations"), pod["spec"].get("nodeName"))


def _called(pod: Mapping[str, Any]) -> str:
    """A pod as the kubelet's texts call it."""
    return f"{meta.name_of(pod)}_{meta.namespace_of(pod)}({meta.uid_of(pod)})"
