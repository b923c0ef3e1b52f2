"""Carries out Stages: looks at each version of a pod or node, picks a stage that is for it, and
plays it when its time has come.

A stage that waits is dropped when its object is no longer what it is for. A stage that follows
itself, as a heartbeat does, goes on for ever, so its timer never pulls virtual time. Upstream:
kwok/pkg/kwok/controllers/{pod,node}_controller.go.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS, Resource
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.util.timers import Timer
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.stages.functions import BUILT_IN
from fakekube_controllers.kubelet.stages.manifest import read
from fakekube_controllers.kubelet.stages.render import render
from fakekube_controllers.kubelet.stages.stage import Stage, Step
from fakekube_controllers.kubelet.stages.template import Template, TemplateError

if TYPE_CHECKING:
    from fakekube.client.parameters import PatchType
    from fakekube.client.recorder import Recorder

RESOURCES: Mapping[str, Resource] = {"Pod": PODS, "Node": NODES}
OURS = (
    "Now", "StartTime", "Version", "NodeConditions", "NodeIP", "NodeName", "NodePort", "NodeIPWith", "PodIP", "PodIPWith")
NODE_CONDITIONS = (
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
)
NODE_PORT = 10250

log = logging.getLogger(__name__)

Key = tuple[str, str, str]  # kind, namespace, name


class _Pending(NamedTuple):
    uid: str
    stage: Stage
    timer: Timer


def _key(parts: Sequence[str]) -> Key:
    kind, namespace, name = parts
    return kind, namespace, name


def read_all(manifests: Sequence[Mapping[str, Any]]) -> list[Stage]:
    """All stages of some manifests. Raises StageError for the first that cannot be meant."""
    return [read(manifest, (*BUILT_IN, *OURS)) for manifest in manifests]


class Player:
    """Plays the stages that it is given.

    ``stages`` is shared with whoever adds to it, ``recalled`` another's ``dump``.
    """

    def __init__(self, ctx: Context, stages: list[Stage], addresses: Addresses, recalled: Tree) -> None:
        self._ctx, self._client, self._clock, self._rng = ctx, ctx.client, ctx.clock, ctx.rng.fork("stages")
        self._stages, self._addresses = stages, addresses
        self._recorder: Recorder = ctx.recorder("kwok_controller")
        self._started: str = recalled.get("started") or times.format_micro_time(ctx.clock.time())
        self._pending: dict[Key, _Pending] = {}
        self._due: dict[Key, Stage] = {}
        self._played: dict[Key, str] = {_key(key): name for *key, name in recalled.get("played", ())}
        self._recalled: dict[Key, tuple[str, str, float]] = {
            _key(key): (uid, name, when) for *key, uid, name, when in recalled.get("pending", ())}
        self._queue = ctx.queue("kubelet_stages")
        Worker(ctx, self._queue, self._sync).start()

    def dump(self) -> Tree:
        """What was played last of each object, and what comes next of it: kind, namespace, name,
        uid, stage and when.
        """
        pending = [[*key, found.uid, found.stage.name, found.timer.when] for key, found in self._pending.items()]
        recalled = [[*key, *found] for key, found in self._recalled.items() if key not in self._pending]
        played = [[*key, name] for key, name in self._played.items()]
        return {"started": self._started, "pending": pending + recalled, "played": played}

    def look(self, kind: str, tree: Tree) -> None:
        """An object is new, or another than before."""
        self._queue.add((kind, meta.namespace_of(tree), meta.name_of(tree)))

    def forget(self, kind: str, tree: Tree) -> None:
        """An object is gone."""
        key = (kind, meta.namespace_of(tree), meta.name_of(tree))
        self._drop(key)
        self._played.pop(key, None)

    def close(self) -> None:
        """Play nothing more."""
        for key in list(self._pending):
            self._drop(key)

    def _drop(self, key: Key) -> None:
        pending = self._pending.pop(key, None)
        if pending is not None:
            pending.timer.cancel()
        self._due.pop(key, None)

    async def _sync(self, key: Key) -> None:
        kind, namespace, name = key
        tree = self._ctx.lister(RESOURCES[kind]).get(namespace, name)
        if tree is None:
            return
        due = self._due.pop(key, None)
        if due is not None:
            # What its timer waited for may have changed in the same moment.
            if due.matches(tree):
                await self._play(due, key, tree)
                return
        else:
            pending = self._pending.get(key)
            if pending is not None and pending.uid == meta.uid_of(tree) and pending.stage.matches(tree):
                return
        self._drop(key)
        matching = [stage for stage in self._stages if stage.kind == kind and stage.matches(tree)]
        uid, chosen, when = self._recalled.pop(key, ("", "", 0.0))
        if uid == meta.uid_of(tree) and (known := next((stage for stage in matching if stage.name == chosen), None)):
            self._hold(known, key, tree, when, again=self._played.get(key) == chosen)
        elif (stage := self._pick(matching, tree)) is not None:
            await self._await(stage, key, tree)

    def _pick(self, matching: Sequence[Stage], tree: Tree) -> Stage | None:
        """By weight; those whose weight cannot be read come only where none can, as in KWOK."""
        if len(matching) <= 1:
            return matching[0] if matching else None
        weights = [stage.weight_of(tree) for stage in matching]
        known = [(stage, weight) for stage, weight in zip(matching, weights, strict=True) if weight is not None]
        total = sum(weight for _, weight in known)
        if total <= 0:
            candidates = [stage for stage, _ in known] or list(matching)
            return candidates[self._rng.randbelow(len(candidates))]
        at = self._rng.randbelow(total)
        return next(stage for stage, weight in known if (at := at - max(0, weight)) < 0)

    async def _await(self, stage: Stage, key: Key, tree: Tree) -> None:
        delay = stage.delay_seconds(tree, self._clock.time(), self._rng.uniform)
        again = self._played.get(key) == stage.name
        if delay <= 0 and not again:
            await self._play(stage, key, tree)
            return
        self._hold(stage, key, tree, self._clock.time() + max(delay, 0.001 if again else 0.0), again=again)

    def _hold(self, stage: Stage, key: Key, tree: Tree, when: float, *, again: bool) -> None:
        timer = self._clock.call_at(when, self._come, key, stage, lazy=again)
        self._pending[key] = _Pending(meta.uid_of(tree), stage, timer)

    def _come(self, key: Key, stage: Stage) -> None:
        self._pending.pop(key, None)
        self._due[key] = stage
        self._queue.add(key)

    # playing

    async def _play(self, stage: Stage, key: Key, tree: Tree) -> None:
        self._played[key] = stage.name
        try:
            for step in stage.steps:
                await self._step(step, key, tree)
        except TemplateError as error:
            text = f'Stage "{stage.name}" cannot be played: {error}'
            log.warning("%s %s: %s", key[0], meta.key_of(tree), text)
            self._recorder.event(tree, "Warning", "StageFailed", text)
        except APIError as error:
            if error.code != 404:
                raise
        if stage.immediate:
            self._queue.add(key)

    async def _step(self, step: Step, key: Key, tree: Tree) -> None:
        kind, namespace, name = key
        resource = RESOURCES[kind]
        if step.event is not None:
            type_, reason, message = step.event
            self._recorder.event(
                tree, "Warning" if type_ == "Warning" else "Normal", reason, render(message, tree, self._functions(kind, tree)))
        if step.finalizers is not None:
            wanted = _finalizers(meta.finalizers_of(tree), *step.finalizers)
            if wanted != meta.finalizers_of(tree):
                await self._client.patch(resource, name, namespace, {"metadata": {"finalizers": wanted or None}})
        if step.delete:
            await self._client.delete(resource, name, namespace, grace_period_seconds=0, uid=meta.uid_of(tree), missing_ok=True)
        elif step.patch is not None:
            subresource, root, how, made = step.patch
            body = self._made(made, kind, tree)
            if how == "json":
                body = _below(root, body)
            elif root:
                body = {root: body}
            type_of: PatchType = "json" if how == "json" else "merge" if how == "merge" else "strategic"
            await self._client.patch(resource, name, namespace, body, type=type_of, subresource=subresource)

    def _made(self, template: Template, kind: str, tree: Tree) -> Any:
        from fakekube.apimachinery import yaml

        text = render(template, tree, self._functions(kind, tree))
        try:
            return yaml.load(text.encode())[0] or {}
        except yaml.YAMLError as error:
            raise TemplateError(f"what it makes is no YAML: {error}") from error

    def _functions(self, kind: str, tree: Tree) -> Mapping[str, Callable[..., Any]]:
        node = meta.name_of(tree) if kind == "Node" else str((tree.get("spec") or {}).get("nodeName", ""))
        on_host = bool((tree.get("spec") or {}).get("hostNetwork"))
        of_node, of_pod = self._addresses.of_node, self._addresses.of_pod
        return {
            "Now": lambda: times.format_micro_time(self._clock.time()), "StartTime": lambda: self._started,
            "Version": lambda: "fakekube", "NodeName": lambda: node, "NodePort": lambda: NODE_PORT,
            "NodeIP": lambda: of_node(node), "NodeIPWith": lambda name: of_node(str(name)),
            "PodIP": lambda: of_pod(node, meta.uid_of(tree), on_host),
            "PodIPWith": lambda name, host, uid, *_: of_pod(str(name), str(uid), bool(host)),
            "NodeConditions": lambda: [
                {"type": kind, "status": status, "reason": reason, "message": message}
                for kind, status, reason, message in NODE_CONDITIONS],
        }


def _finalizers(present: Sequence[str], add: Sequence[str], remove: Sequence[str], empty: bool) -> list[str]:
    kept = [] if empty else [name for name in present if name not in remove]
    return [*kept, *(name for name in add if name not in kept)]


def _below(root: str, operations: Any) -> list[Tree]:
    if not isinstance(operations, list) or not all(isinstance(each, dict) and "path" in each for each in operations):
        raise TemplateError("what it makes is no JSON patch")
    return [{**each, "path": f"/{root}{each['path']}"} for each in operations] if root else operations
