"""One reconcile of a Deployment and its ReplicaSets, and what is written for it: the sets' sizes
and revisions, the status.

What was written is what the rest of the reconcile sees. Upstream:
pkg/controller/deployment/sync.go.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.errors import APIError, is_namespace_terminating
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.recorder import EventType, Recorder
from fakekube.client.resources import DEPLOYMENTS, REPLICA_SETS, Resource
from fakekube.runtime.revisions import template_hash
from fakekube_controllers.deployment import annotations, facts
from fakekube_controllers.deployment import status as statuses

MAX_NAME = 253
CREATE_ERROR = "ReplicaSetCreateError"


class RolloutContext(NamedTuple):
    """What a rollout works with.

    ``wrote`` is called with every answer to a write, ``release`` is the cluster's.
    """

    client: Client
    recorder: Recorder
    wrote: Callable[[Resource, ReadOnlyTree], None]
    counts_terminating: bool
    release: str


class Rollout:
    """A Deployment (an own copy) with the ReplicaSets that are its own, and what it takes to change
    them.
    """

    def __init__(self, deployment: Tree, sets: Sequence[Tree], context: RolloutContext, now: float) -> None:
        self.deployment, self.context, self.now = deployment, context, now
        self.sets = sorted(sets, key=facts.by_age)
        self.new: Tree | None = None

    @property
    def old(self) -> list[Tree]:
        """All sets but the one with the Deployment's template, the oldest first."""
        uid = meta.uid_of(self.new) if self.new else ""
        return [one for one in self.sets if meta.uid_of(one) != uid]

    # the new set and the revision

    async def find_new(self, *, create: bool = False) -> Tree | None:
        """Look for the set with the Deployment's template, number it as the latest revision, and
        perhaps make it.

        Raises APIError.
        """
        self.new = facts.find_new(self.deployment, self.sets)
        revision = facts.max_revision(self.old) + 1
        if self.new is not None:
            await self._update_new(self.new, revision)
        elif create:
            await self._create_new(revision)
        return self.new

    async def _update_new(self, new: Tree, revision: int) -> None:
        spec, min_ready = new["spec"], self.deployment["spec"].get("minReadySeconds", 0)
        current = dict(meta.annotations_of(new))
        wanted = annotations.of_new_set(self.deployment, current, revision)
        if wanted != current or spec.get("minReadySeconds", 0) != min_ready:
            metadata = {**new["metadata"], "annotations": wanted}
            spec = {key: value for key, value in spec.items() if key != "minReadySeconds"}
            if min_ready:
                spec["minReadySeconds"] = min_ready
            self.new = await self._update_set({**new, "metadata": metadata, "spec": spec})
            return
        changed = self._set_revision(wanted.get(facts.REVISION, ""))
        status = self.deployment.setdefault("status", {})
        if facts.has_deadline(self.deployment) and conditions.find(status.get("conditions"), statuses.PROGRESSING) is None:
            self._set_progressing("True", "FoundNewReplicaSet", f'Found new replica set "{meta.name_of(new)}"')
            changed = True
        if changed:
            await self.write_status(status)

    async def _create_new(self, revision: int) -> None:
        new = self._fresh_set(revision)
        known = False
        try:
            made = await self.context.client.create(REPLICA_SETS, new)
        except APIError as error:
            if error.reason != "AlreadyExists":
                await self._report_failure(new, error)
                raise
            known, made = True, await self._resolve_collision(new, error)
        else:
            self.context.wrote(REPLICA_SETS, made)
        self.new = made
        self.sets = sorted([*(one for one in self.sets if meta.uid_of(one) != meta.uid_of(made)), made], key=facts.by_age)
        if not known and facts.wanted(made):
            text = f"Scaled up replica set {meta.name_of(made)} from 0 to {facts.wanted(made)}"
            self.event("Normal", "ScalingReplicaSet", text)
        changed = self._set_revision(str(revision))
        if not known and facts.has_deadline(self.deployment):
            self._set_progressing("True", "NewReplicaSetCreated", f'Created new replica set "{meta.name_of(made)}"')
            changed = True
        if changed:
            await self.write_status(self.deployment.setdefault("status", {}))

    def _fresh_set(self, revision: int) -> Tree:
        deployment = self.deployment
        spec, status = deployment["spec"], deployment.get("status") or {}
        pod_hash = template_hash(spec["template"], status.get("collisionCount"), self.context.release)
        own_labels = {**meta.labels_of(spec["template"]), facts.HASH_LABEL: pod_hash}
        selector = spec["selector"]
        template = {**spec["template"], "metadata": {**(spec["template"].get("metadata") or {}), "labels": own_labels}}
        name = f"{meta.name_of(deployment)[:MAX_NAME - 1 - len(pod_hash)]}-{pod_hash}"
        new: Tree = {
            "apiVersion": REPLICA_SETS.api_version, "kind": REPLICA_SETS.kind,
            "metadata": {
                "name": name, "namespace": meta.namespace_of(deployment), "labels": own_labels,
                "ownerReferences": [meta.controller_reference(deployment)],
                "annotations": annotations.of_new_set(deployment, {}, revision) | annotations.of_sizes(deployment),
            },
            "spec": {
                "replicas": 0, "template": template, "selector": {
                    **selector, "matchLabels": {**(selector.get("matchLabels") or {}), facts.HASH_LABEL: pod_hash}},
            },
        }
        if spec.get("minReadySeconds"):
            new["spec"]["minReadySeconds"] = spec["minReadySeconds"]
        new["spec"]["replicas"] = facts.size_of_new(deployment, [*self.sets, new], new)
        return new

    async def _resolve_collision(self, new: Tree, error: APIError) -> Tree:
        """The set that has the name already, if it is what was to be made; otherwise the hash is to
        be another one.

        Raises APIError: the one given, once a collision was counted.
        """
        there = await self.context.client.get(REPLICA_SETS, meta.name_of(new), meta.namespace_of(new))
        template = self.deployment["spec"]["template"]
        if meta.is_controlled_by(there, self.deployment) and facts.same_template(template, there["spec"]["template"]):
            return there
        status = self.deployment.setdefault("status", {})
        await self.write_status({**status, "collisionCount": status.get("collisionCount", 0) + 1})
        raise error

    async def _report_failure(self, new: Tree, error: APIError) -> None:
        if is_namespace_terminating(error):
            return
        text = f'Failed to create new replica set "{meta.name_of(new)}": {error}'
        self.event("Warning", CREATE_ERROR, text)
        if facts.has_deadline(self.deployment):
            self._set_progressing("False", CREATE_ERROR, text)
            await self.write_status(self.deployment["status"])

    def _set_revision(self, revision: str) -> bool:
        if meta.annotations_of(self.deployment).get(facts.REVISION, "") == revision:
            return False
        self.deployment["metadata"].setdefault("annotations", {})[facts.REVISION] = revision
        return True

    def _set_progressing(self, status: str, reason: str, message: str) -> None:
        fresh = statuses.condition(statuses.PROGRESSING, status, reason, message, self.now)
        facts.set_condition(self.deployment.setdefault("status", {}), fresh)

    # sizes

    async def scale(self, one: Tree, size: int, *, always: bool = False) -> bool:
        """Give a set its size, and note what it was scaled for; whether the size changed.

        ``always`` brings the notes up to date even where the size is right. Raises APIError.
        """
        before = facts.wanted(one)
        notes = annotations.of_sizes(self.deployment)
        if before == size and (not always or notes.items() <= meta.annotations_of(one).items()):
            return False
        metadata = {**one["metadata"], "annotations": {**meta.annotations_of(one), **notes}}
        await self._update_set({**one, "metadata": metadata, "spec": {**one["spec"], "replicas": size}})
        if before == size:
            return False
        way = "up" if before < size else "down"
        self.event("Normal", "ScalingReplicaSet", f"Scaled {way} replica set {meta.name_of(one)} from {before} to {size}")
        return True

    async def _update_set(self, one: Tree) -> Tree:
        written = await self.context.client.update(REPLICA_SETS, one)
        self.context.wrote(REPLICA_SETS, written)
        uid = meta.uid_of(written)
        self.sets = [written if meta.uid_of(other) == uid else other for other in self.sets]
        if self.new is not None and meta.uid_of(self.new) == uid:
            self.new = written
        return written

    async def clean_up(self) -> None:
        """Delete the oldest revisions beyond the history's limit, those that are empty.

        Raises APIError.
        """
        limit = self.deployment["spec"].get("revisionHistoryLimit", facts.MAX_INT32)
        alive = sorted((one for one in self.old if not meta.is_deleting(one)), key=facts.by_revision)
        for one in alive[:max(0, len(alive) - limit)]:
            seen = facts.counted(one, "observedGeneration")
            if facts.wanted(one) or facts.counted(one, "replicas") or meta.generation_of(one) > seen:
                continue
            await self.context.client.delete(REPLICA_SETS, meta.name_of(one), meta.namespace_of(one), missing_ok=True)

    # the Deployment

    def status(self) -> Tree:
        """The status that the sets make now."""
        return statuses.calculate(
            self.deployment, self.sets, self.new, self.now, terminating=self.context.counts_terminating)

    async def write_status(self, status: Tree) -> None:
        """Write the status, and the revision in the annotations. Raises APIError."""
        self.deployment["status"] = status
        self._written(await self.context.client.update_status(DEPLOYMENTS, self.deployment))

    async def write(self) -> None:
        """Write the Deployment itself. Raises APIError."""
        self._written(await self.context.client.update(DEPLOYMENTS, self.deployment))

    def _written(self, written: Tree) -> None:
        self.context.wrote(DEPLOYMENTS, written)
        self.deployment["metadata"]["resourceVersion"] = meta.resource_version_of(written)

    async def write_status_if_new(self, status: Tree) -> bool:
        """Write the status when it says something new; whether it did. Raises APIError."""
        if status == (self.deployment.get("status") or {}):
            return False
        await self.write_status(status)
        return True

    def event(self, kind: EventType, reason: str, message: str) -> None:
        """Say something about the Deployment."""
        self.context.recorder.event(self.deployment, kind, reason, message)
