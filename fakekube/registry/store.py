"""The one order of steps that every write takes, for built-ins and custom resources alike.

create:  own metadata, the stages ``write.CREATE``, commit
update:  read, transform, the stages ``write.UPDATE``, commit; again when another write came between
delete:  see ``deletion.py``

A kind's Strategy fills in what differs. Trees that a caller or a hook gives away belong to the
store from then on; what the store gives out is read-only. Upstream:
apiserver/pkg/registry/generic/registry/store.go and rest/{create,update}.go.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.managedfields.entries import same_but_for_times
from fakekube.registry import metadata as objectmeta
from fakekube.registry import preconditions, write
from fakekube.registry.attributes import Admission, Attributes
from fakekube.registry.kind import Kind, RemoteConversion, strategy_of
from fakekube.registry.strategy import SERVER_MANAGER, Cluster, Strategy, WriteContext
from fakekube.registry.write import FieldOwnership, Write
from fakekube.storage.memory import Bucket, KeyExists, Record, Stale

GENERATED_NAME_TRIES = 8
MAX_UPDATE_TRIES = 5

Transform = Callable[[Tree | None], Tree]
"""From the stored object (read-only; None when there is none) to the one to store, which the store
then owns.
"""


class Written:
    """The outcome of a create or an update.

    ``record`` is what is stored, None after a dry run and after a write that emptied the finalizers
    of a terminating object. Who only passes bytes on never pays for ``tree``.
    """

    __slots__ = ("_load", "_tree", "created", "record")

    def __init__(
        self, tree: Tree | None, record: Record | None = None, *, created: bool = False,
        load: "Callable[[Record], Tree] | None" = None,
    ) -> None:
        self._tree, self.record, self.created, self._load = tree, record, created, load

    @property
    def tree(self) -> Tree:
        """The object in the endpoint's version; read-only."""
        if self._tree is None:
            assert self._load is not None, "an outcome has a tree or a record"
            assert self.record is not None, "an outcome has a tree or a record"
            self._tree = self._load(self.record)
        return self._tree


class Store:
    """The objects of one kind, in one version."""

    def __init__(
        self, kind: Kind, bucket: Bucket, *, cluster: Cluster, admission: Callable[[], Admission],
        fields: Callable[[], FieldOwnership],
    ) -> None:
        """``admission`` and ``fields`` are asked when they are needed, since they come after the
        store.
        """
        self.kind, self.bucket, self.cluster, self.admission = kind, bucket, cluster, admission
        self._make_fields = fields
        self._fields: FieldOwnership | None = None

    @cached_property
    def strategy(self) -> Strategy:
        """The rules of this kind, loaded with the first write."""
        return strategy_of(self.kind)

    @property
    def fields(self) -> FieldOwnership:
        """Ownership of this kind's fields, made on first use."""
        if self._fields is None:
            self._fields = self._make_fields()
        return self._fields

    # reading

    def find(self, namespace: str, name: str) -> Record:
        """The stored record. Raises NotFound."""
        record = self.bucket.get(namespace, name)
        if record is None:
            raise errors.not_found(self.kind.group_resource, name)
        return record

    def load(self, record: Record) -> Tree:
        """A record's object in this version; read-only."""
        if self.kind.conversion is None:
            return record.tree()
        return self.kind.conversion.from_stored(record.tree())

    async def ready(self, *records: Record) -> None:
        """Wait until ``load`` knows what these records are in this version. Raises APIError."""
        if self._remote is not None:
            await self._remote.read([record.tree() for record in records])

    @property
    def _remote(self) -> RemoteConversion | None:
        return self.kind.conversion.remote if self.kind.conversion is not None else None

    # writing

    async def create(self, ctx: WriteContext, namespace: str, tree: Tree) -> Written:
        """Store a new object, or say why not.

        ``tree`` has passed the schema and belongs to the store now.

        Raises APIError: AlreadyExists, Invalid, Forbidden and what admission refuses with.
        """
        meta = write.own_metadata(self.kind, tree, namespace)
        generated = ""
        if not meta.get("name") and meta.get("generateName"):
            meta.pop("name", None)
            generated = self._free_name(namespace, meta["generateName"], ctx)
        try:
            return await self._create(ctx, namespace, tree, generated=generated)
        except KeyExists as error:
            raise self._exists_error(namespace, error.name, generated=bool(generated)) from None

    def _free_name(self, namespace: str, base: str, ctx: WriteContext) -> str:
        """A generated name that nobody has; after eight tries the last one, taken as it is."""
        for _ in range(GENERATED_NAME_TRIES):
            name = objectmeta.generate_name(base, ctx.rng)
            if self.bucket.get(namespace, name) is None:
                break
        return name

    async def _create(
        self, ctx: WriteContext, namespace: str, obj: Tree, *, tracked: bool = True, generated: str = "",
        stages: Sequence[write.Stage] = write.CREATE,
    ) -> Written:
        """The steps of every create, whichever verb asks for it.

        Raises KeyExists, and APIError as ``create`` does.
        """
        attrs = self.attributes(ctx, namespace, obj, None)
        attrs.tracked, attrs.generated_name = tracked, generated
        await write.pass_through(stages, self, attrs)
        if self.bucket.dropped:  # while somebody was waited for
            raise errors.no_such_path()
        if self._remote is None:
            return self._commit_new(ctx, namespace, attrs.tree)
        await self._remote.store(attrs.tree)
        written = self._commit_new(ctx, namespace, attrs.tree)
        if written.record is not None:
            await self.ready(written.record)
        return written

    def _commit_new(self, ctx: WriteContext, namespace: str, obj: Tree) -> Written:
        if ctx.dry_run:
            name = obj["metadata"]["name"]
            if self.bucket.get(namespace, name) is not None:
                raise KeyExists(namespace, name)
            return Written(obj, created=True)
        record = self.bucket.create(self._stored(obj))
        self.strategy.after_create(obj, ctx)
        return Written(None, record, created=True, load=self.load)

    async def update(
        self, ctx: WriteContext, namespace: str, name: str, transform: Transform, *, create: bool = False, tracked: bool = True,
    ) -> Written:
        """Change a stored object through ``transform``, which may be asked again when another write
        comes between.

        ``ctx.subresource`` "status" takes the status hooks. ``create`` stores the result when there
        is no object, as apply does and PUT does for kinds that allow it. ``tracked`` False means
        that ``transform`` has seen to managedFields itself. Raises APIError: NotFound, Conflict,
        Invalid and what admission refuses with.
        """
        for _ in range(MAX_UPDATE_TRIES):
            record = self.bucket.get(namespace, name)
            if record is None:
                if not (create or (self.kind.create_on_update and ctx.subresource in ("", "status"))):
                    raise errors.not_found(self.kind.group_resource, name)
                return await self._create_on_update(ctx, namespace, name, transform, tracked=tracked)
            if self._remote is not None:
                await self.ready(record)
            attrs = await self._changed(ctx, namespace, record, transform, tracked=tracked)
            if self._remote is not None:
                await self._remote.store(attrs.tree)
            try:
                written = self._commit_change(ctx, record, attrs.tree)
                if self._remote is not None and written.record is not None:
                    await self.ready(written.record)
                return written
            except Stale:
                if attrs.conditional:
                    break
        raise errors.conflict(self.kind.group_resource, name)

    async def _changed(
        self, ctx: WriteContext, namespace: str, record: Record, transform: Transform, *, tracked: bool,
    ) -> Write:
        """The write that the transform makes of a stored object, all checks passed."""
        old = self.load(record)
        obj = transform(old)
        write.own_metadata(self.kind, obj, namespace)
        attrs = self.attributes(ctx, namespace, obj, old)
        attrs.record, attrs.tracked = record, tracked
        await write.pass_through(write.UPDATE, self, attrs)
        return attrs

    def _commit_change(self, ctx: WriteContext, record: Record, obj: Tree) -> Written:
        """One synchronous step: nothing can come between the checks here and the commit."""
        old = self.load(record)
        obj["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
        current = self.bucket.get(record.namespace, record.name)
        if current is not record:
            raise Stale(record.namespace, record.name)
        if self._is_done_with(obj, old):
            if not ctx.dry_run:
                self.remove(old, record, ctx)
            return Written(obj)
        if same_but_for_times(obj, old):
            return Written(old, record)
        if ctx.dry_run:
            return Written(obj)
        changed = self.bucket.update(self._stored(obj), record)
        return Written(None, changed, load=self.load)

    def _is_done_with(self, obj: Tree, old: Tree) -> bool:
        """Whether this write took the last thing that kept a deleted object: its finalizers, or its
        kind's own hold.
        """
        old_meta = old["metadata"]
        return (
            "deletionTimestamp" in old_meta
            and not old_meta.get("deletionGracePeriodSeconds")
            and not obj["metadata"].get("finalizers")
            and not self.strategy.holds_deletion(obj)
        )

    async def _create_on_update(
        self, ctx: WriteContext, namespace: str, name: str, transform: Transform, *, tracked: bool,
    ) -> Written:
        obj = transform(None)
        meta = write.own_metadata(self.kind, obj, namespace)
        if uid := meta.get("uid"):
            raise preconditions.uid_conflict(self.kind, namespace, name, uid, "", dry_run=ctx.dry_run)
        ctx.operation = "CREATE"
        if not ctx.dry_run:
            # of an object that is gone: upstream takes no notice of it
            meta.pop("resourceVersion", None)
        try:
            return await self._create(ctx, namespace, obj, tracked=tracked, stages=write.CREATE_ON_UPDATE)
        except KeyExists:
            raise self._exists_error(namespace, name, generated=False) from None

    # metadata

    def _exists_error(self, namespace: str, name: str, *, generated: bool) -> APIError:
        existing = self.bucket.get(namespace, name)
        terminating = existing is not None and "deletionTimestamp" in existing.tree()["metadata"]
        error = errors.already_exists(self.kind.group_resource, name, terminating=terminating)
        if generated:
            details = dict(error.details or {}) | {"retryAfterSeconds": 1}
            text = f"{error.message}, the server was not able to generate a unique name for the object"
            return APIError(409, "AlreadyExists", text, details)
        return error

    # admission and storage

    def attributes(self, ctx: WriteContext, namespace: str, obj: Tree | None, old: Tree | None) -> Write:
        """What admission is told about this write, and the stages with it."""
        name = ((obj or old or {}).get("metadata") or {}).get("name", "")
        return Write(self.kind, namespace, name, ctx.operation, ctx.subresource, obj, old, ctx.options, ctx)

    async def admitted(self, ctx: WriteContext, namespace: str, name: str, obj: Tree) -> Tree:
        """What admission makes of an object that is posted to a sub-resource, and not stored.

        ``ctx`` says to which, and whether it is a CREATE or a CONNECT. Raises what admission
        refuses with.
        """
        chain = self.admission()
        attrs = Attributes(self.kind, namespace, name, ctx.operation, ctx.subresource, obj, None, ctx.options, ctx)
        await chain.admit(attrs)
        await chain.validate(attrs)
        assert attrs.obj is not None, "admission does not take objects away"
        return attrs.obj

    def replace(self, obj: Tree, expected: Record) -> Record:
        """Commit a change that needs no checks any more.

        Raises Stale when another write came first.
        """
        return self.bucket.update(self._stored(obj), expected)

    def write_status(self, namespace: str, name: str, status: Tree, *, now: str) -> None:
        """Commit a new status, past admission and validation; nothing when there is no such object.

        It is the server's own write, at the time ``now``.
        """
        record = self.bucket.get(namespace, name)
        if record is not None:
            old = self.load(record)
            new = {**old, "metadata": dict(old["metadata"]), "status": status}
            self.fields.update(old, new, manager=SERVER_MANAGER, now=now, subresource="status")
            self.replace(new, record)

    def remove(self, obj: Tree, expected: Record, ctx: WriteContext) -> Record:
        """Commit a removal; ``obj`` is the last state. Raises Stale when another write came first.
        """
        last = self.bucket.delete(expected, self._stored({**obj, "metadata": dict(obj["metadata"])}))
        self.strategy.after_delete(obj, ctx)
        return last

    def _stored(self, obj: Tree) -> Tree:
        """The object as it is kept, with its type in front."""
        kind = self.kind
        if kind.conversion is None:
            obj["kind"], obj["apiVersion"] = kind.kind, kind.api_version
            return obj
        return kind.conversion.to_stored(obj)
