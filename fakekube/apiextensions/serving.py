"""What is served because of the CustomResourceDefinitions in storage.

Each commit of a definition is followed at once, before its writer has its answer: names are
accepted, the definition is established, its kinds are installed. So a client that never waits finds
them. Upstream has controllers for it, and clients that poll: apiextensions-apiserver/pkg/controller
and pkg/apiserver/customresource_handler.go.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import orjson

from fakekube.apiextensions import approval, cleanup, names
from fakekube.apiextensions.kinds import kinds_of, stored_kind, values_of
from fakekube.apiextensions.restating import Restating, Written
from fakekube.apimachinery import conditions
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Tree
from fakekube.registry.buckets import Buckets
from fakekube.registry.kind import Kind
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.stores import Stores
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Bucket, Event
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

if TYPE_CHECKING:
    from fakekube.webhooks.client import WebhookClient

DEFINITIONS = GroupResource("apiextensions.k8s.io", "customresourcedefinitions")
DEFINITIONS_V1 = (DEFINITIONS.group, "v1", DEFINITIONS.resource)


class Claim(NamedTuple):
    """The names that a definition wants, and those that it has."""

    group: str
    wanted: Tree
    accepted: Tree


class Served(NamedTuple):
    """What is served because of one definition, and what of the definition decides that."""

    facts: tuple[object, ...]
    terminating: bool
    kinds: tuple[Kind, ...]


class CustomResources:
    """The custom resources of one server."""

    def __init__(
        self, resources: ResourceRegistry, buckets: Buckets, stores: Stores, definitions: Definitions, clock: Clock,
        rng: Rng, webhooks: "Callable[[], WebhookClient]",
    ) -> None:
        self._webhooks = webhooks
        self._resources, self._buckets, self._stores = resources, buckets, stores
        self._definitions, self._clock, self._rng = definitions, clock, rng
        self._served: dict[str, Served] = {}
        self._claims: dict[str, Claim] = {}  # by definition
        self._written: dict[str, Written] = {}
        self._restating: dict[str, tuple[GroupResource, Restating]] = {}

    def take_over(self) -> None:
        """Serve what the definitions say that are in storage already."""
        records = self._bucket.records()
        for record in records:
            self._claims[record.name] = _claim(record.tree())
        for record in records:
            self._follow(record.name)

    def changed(self, event: Event) -> None:
        """Follow a commit of a definition, once everybody has been told of it."""
        name, claim = event.record.name, _claim(event.record.tree())
        if event.type == "DELETED":
            self._claims.pop(name, None)
            self._buckets.storage.afterwards(lambda: self._forget(name, claim.group))
        else:
            self._claims[name] = claim
            self._buckets.storage.afterwards(lambda: self._follow(name))

    @property
    def _bucket(self) -> Bucket:
        return self._buckets.bucket(DEFINITIONS)

    def _follow(self, name: str) -> None:
        """Do what is next for a definition: one write, or none and serve it.

        A write is followed in turn.
        """
        record = self._bucket.get("", name)
        if record is None:
            return
        definition, now = record.tree(), format_time(self._clock.time())
        group = definition["spec"]["group"]
        taken = (claim.accepted for claim in self._claims.values() if claim.group == group)
        status = names.named_status(definition, taken, now)
        if status is not None:
            self._write(name, status, now)
            self._reconsider(name, group)
            return
        status = names.established_status(definition, now) or approval.approved_status(definition, now)
        if status is not None:
            self._write(name, status, now)
            return
        self._serve(name, definition, record.data)
        record.uses = 0  # that it was followed is no sign that anybody reads it: its tree is large
        if cleanup.is_due(definition):
            self._clean_up(name, definition, now)

    def _forget(self, name: str, group: str) -> None:
        """Serve a definition that is gone no longer; its names are free for others."""
        if self._bucket.get("", name) is None:
            self._install(name, Served((), False, ()))
            del self._served[name]
            self._written.pop(name, None)
            self._leave(name)
            self._reconsider(name, group)

    def _reconsider(self, name: str, group: str) -> None:
        """Look again at the definitions of a group that lack names: some may be free now."""
        for other, claim in sorted(self._claims.items()):
            if other != name and claim.group == group and claim.wanted != claim.accepted:
                self._follow(other)

    def _write(self, name: str, status: Tree, now: str) -> None:
        self._stores.cluster.write_status(*DEFINITIONS, "", name, status, now=now)

    # serving

    def _serve(self, name: str, definition: Tree, data: bytes) -> None:
        """Install the kinds of an established definition, unless they are what they were."""
        status = definition["status"]
        if not conditions.is_true(status["conditions"], names.ESTABLISHED):
            return
        spec = sha256(orjson.dumps(definition["spec"], option=orjson.OPT_SORT_KEYS)).digest()
        facts: tuple[object, ...] = (definition["metadata"]["uid"], spec, status["acceptedNames"])
        if definition["spec"]["conversion"]["strategy"] == "Webhook":  # which asks for what is stored in other versions
            facts = (*facts, status["storedVersions"])
        terminating = conditions.is_true(status["conditions"], names.TERMINATING)
        before = self._served.get(name)
        if before is not None and before.facts == facts and before.terminating == terminating:
            return
        made = [
            (kind, version) for kind, version in kinds_of(definition, data, self._definitions, self._webhooks, self._rng)
            if not self._is_built_in(kind)]
        served = Served(facts, terminating, tuple(kind for kind, _ in made))
        for kind, version in made:
            self._definitions.install(kind.gvk, version.load_schema)
        self._install(name, served)
        if before is None:
            self._take_over_objects(definition)
        elif before.facts != facts:
            self._restate(name, definition)

    def _is_built_in(self, kind: Kind) -> bool:
        """Whether the server has such a kind of its own, which comes first."""
        present = self._resources.kind(kind.group, kind.version, kind.plural)
        return present is not None and not present.custom

    def _install(self, name: str, served: Served) -> None:
        before = self._served.get(name)
        self._served[name] = served
        if before is not None and before.facts != served.facts:
            self._end_watches(before.kinds)
            present = [(kind.version, kind.plural) for kind in served.kinds]
            gone = [kind for kind in before.kinds if (kind.version, kind.plural) not in present]
            self._resources.remove(*gone)
            for kind in gone:
                self._definitions.remove(kind.gvk)
        self._resources.install(*served.kinds)

    def _objects(self, definition: Tree) -> Bucket | None:
        """The objects of a definition, where there is a place for them: none of a built-in kind."""
        resource = cleanup.resource_of(definition)
        kind = self._resources.stored.get(resource)
        return self._buckets.existing(resource) if kind is not None and kind.custom else None

    def _take_over_objects(self, definition: Tree) -> None:
        """Let objects be selected that were in the storage before their kind was served."""
        bucket = self._objects(definition)
        if bucket is not None and bucket.select_by(values_of(definition)):
            for record in bucket.records():
                bucket.select_anew(record)

    def _restate(self, name: str, definition: Tree) -> None:
        """Keep the objects that are there as their changed definition has them read.

        Where there are many, who asks for them waits for the rest.
        """
        self._leave(name)
        bucket = self._objects(definition)
        if bucket is None:
            return
        selects = bucket.select_by(values_of(definition))
        if not len(bucket):
            return
        restating = Restating(
            bucket, self._written.setdefault(name, {}), definition, self._definitions, selects=selects)
        restating.portion()
        if not restating.is_done:
            resource = cleanup.resource_of(definition)
            self._restating[name] = resource, restating

            async def finish() -> None:
                await restating.finish()
                if self._restating.get(name) == (resource, restating):
                    self._leave(name)

            self._resources.pending[resource] = finish

    def _leave(self, name: str) -> None:
        """Leave what is not yet restated of objects, if anything is."""
        if name in self._restating:
            resource, restating = self._restating.pop(name)
            restating.stop()
            del self._resources.pending[resource]

    def _end_watches(self, kinds: Iterable[Kind]) -> None:
        """End the watches of kinds that change or go; clients begin anew with what is served then.
        """
        for resource in dict.fromkeys(kind.storage_resource for kind in kinds):
            bucket = self._buckets.existing(resource)
            if bucket is not None:
                bucket.close()

    # deletion

    def _clean_up(self, name: str, definition: Tree, now: str) -> None:
        """Delete the objects of a definition that is being deleted, and let it go when they are
        gone.
        """
        resource = cleanup.resource_of(definition)
        served = self._resources.stored.get(resource)
        kind = served or stored_kind(definition, self._definitions, self._webhooks, self._rng)
        bucket = self._buckets.existing(resource) if kind.custom else None
        if bucket is not None and len(bucket):
            status = cleanup.in_progress(definition, now)
            if status is not None:
                self._write(name, status, now)  # and comes here again
                return
            self._await_last(name, bucket)
            cleanup.delete_all(self._stores.store(kind), self._rng, now)
            return
        if served is None:
            self._resources.remove(kind)  # which lets go of where its objects were
        cleanup.release(self._stores.named(*DEFINITIONS_V1), name, self._rng, now)

    def _await_last(self, name: str, bucket: Bucket) -> None:
        """Come back when the last object is gone."""
        storage = self._buckets.storage

        def deleted(event: Event) -> None:
            if event.type == "DELETED" and not len(bucket):
                subscription.cancel()
                storage.afterwards(lambda: self._follow(name))

        subscription = bucket.subscribe(bucket.revision, "", deleted)


def _claim(definition: Tree) -> Claim:
    return Claim(definition["spec"]["group"], definition["spec"]["names"], definition["status"]["acceptedNames"])
