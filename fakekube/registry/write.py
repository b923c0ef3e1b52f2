"""One write, and the stages that it passes, in order.

A stage knows the write and the rules of its kind, and no other stage. So a stage (a policy, a
fault, a conversion) can be added between two others without a change to either. What a later stage
needs is kept in the Write. Decoding comes before: ``endpoints`` make the tree of a Write from a
body, or from a patch and the stored object. Encoding is the storage's part of the commit, since the
bytes hold the revision. After a conflict an update starts again with a new Write. So every stage
before the commit may run twice for one request, and has no effect that a refusal would have to
undo.
Upstream: apiserver/pkg/registry/rest/{create,update}.go with the handlers around them.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from fakekube.apimachinery import empties, errors, strconv, validation
from fakekube.apimachinery.empties import Place
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Access, forbidden
from fakekube.registry import metadata as objectmeta
from fakekube.registry import preconditions
from fakekube.registry.attributes import Admission, Attributes
from fakekube.registry.strategy import Strategy
from fakekube.storage.memory import Record
from fakekube.util.turns import TakesLong

if TYPE_CHECKING:
    from fakekube.apimachinery.field_errors import FieldError
    from fakekube.registry.kind import Kind

OF_THE_SERVER = ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
"""Fields of metadata that a client cannot set on a new object."""


@dataclass(slots=True, eq=False)
class Write(Attributes):
    """A create or an update in progress; ``obj`` is what will be stored, and belongs to the write.

    ``record`` is the stored object that the write saw, ``old`` its tree; both are None for a
    create. The values directly below ``obj``, and directly below its metadata, that a patch did not
    change are those of ``old`` itself: replace one by a copy before changing it.
    """

    record: Record | None = None
    tracked: bool = True  # False: the transform saw to managedFields itself
    generated_name: str = ""  # admission does not know it before it has made its changes
    asked_revision: str = ""  # the resourceVersion in the body of a create
    conditional: bool = False  # the caller named the version that it saw
    system_fields: tuple[str, str] = ("", "")  # uid and creationTimestamp of a new object
    put_back: Sequence[Place] = ()  # what was given with nothing in it, as long as it is there

    @property
    def tree(self) -> Tree:
        """The object; there is one in every create and update."""
        assert self.obj is not None, "a delete has no object"
        return self.obj


def own_metadata(kind: "Kind", obj: Tree, namespace: str) -> Tree:
    """The metadata, with the namespace of the request.

    Raises BadRequest when the object names another.
    """
    meta: Tree = obj.setdefault("metadata", {})
    if not kind.namespaced:
        meta.pop("namespace", None)
    elif meta.setdefault("namespace", namespace) != namespace:
        raise errors.bad_request("the namespace of the provided object does not match the namespace sent on the request")
    return meta


class FieldOwnership(Protocol):
    """Who set which field; ``managedfields.manager.FieldManager`` does it."""

    def update(self, old: Tree | None, new: Tree, *, manager: str, now: str, subresource: str = "") -> None:
        """Set ``new["metadata"]["managedFields"]`` for a plain write."""


class WriteRules(Protocol):
    """What the stages of a write are told about its kind; ``store.Store`` is one."""

    kind: "Kind"
    admission: "Callable[[], Admission]"

    @property
    def strategy(self) -> Strategy:
        """The hooks of the kind."""

    @property
    def fields(self) -> FieldOwnership:
        """Ownership of the kind's fields."""


Stage = Callable[[WriteRules, Write], Awaitable[None] | None]
"""Does its part, or raises APIError. One that has to wait returns what to await.

One whose expressions take long raises TakesLong, and is asked again with turns.
"""


async def pass_through(stages: Sequence[Stage], rules: WriteRules, write: Write) -> None:
    """Let a write pass stages, one after the other.

    Raises the APIError of the first that refuses it.
    """
    for stage in stages:
        try:
            pending = stage(rules, write)
        except TakesLong:
            pending = write.ctx.finish_in_turns(partial(_at_once, stage, rules, write))
        if pending is not None:
            await pending


def _at_once(stage: Stage, rules: WriteRules, write: Write) -> None:
    pending = stage(rules, write)
    assert pending is None, "a stage that waits sees to turns itself"


# of a create


def fill_metadata(_: WriteRules, write: Write) -> None:
    """What only the server knows of a new object: uid and creationTimestamp."""
    ctx, meta = write.ctx, write.tree["metadata"]
    write.asked_revision = str(meta.pop("resourceVersion", ""))
    for name in OF_THE_SERVER:
        meta.pop(name, None)
    write.system_fields = meta["uid"], meta["creationTimestamp"] = ctx.rng.uid(), ctx.now
    objectmeta.dedupe_owner_references(meta, ctx)


def default_new(rules: WriteRules, write: Write) -> None:
    """Fill what is absent."""
    rules.strategy.default(write.tree, write.ctx)


def own_new(rules: WriteRules, write: Write) -> None:
    """Note who set which field."""
    ctx = write.ctx
    if write.tracked:
        rules.fields.update(None, write.tree, manager=ctx.field_manager, now=ctx.now, subresource=ctx.subresource)


def name_new(rules: WriteRules, write: Write) -> None:
    """Put the generated name in, unless admission gave another."""
    if write.reinvocation is not None:
        _own_what_came_back(rules, write)
    if write.generated_name:
        meta = write.tree["metadata"]
        write.name = meta["name"] = meta.get("name") or write.generated_name


def _own_what_came_back(rules: WriteRules, write: Write) -> None:
    """What only the server knows of a new object, over what somebody outside made of it."""
    meta, uid, created = own_metadata(rules.kind, write.tree, write.namespace), *write.system_fields
    write.asked_revision = str(meta.pop("resourceVersion", write.asked_revision))
    for name in OF_THE_SERVER:
        meta.pop(name, None)
    meta["uid"], meta["creationTimestamp"] = uid, created


def authorize_new(rules: WriteRules, write: Write) -> None:
    """Whether this user may have such an object. Raises Forbidden."""
    rules.strategy.authorize(write.tree, None, write.ctx)


def authorize_create(rules: WriteRules, write: Write) -> None:
    """Whether who asked to update or patch what is not there may create it. Raises Forbidden."""
    kind, user = rules.kind, write.ctx.user
    access = Access(
        "create", kind.group, kind.version, kind.plural, write.subresource, write.namespace, write.tree["metadata"]["name"])
    decision = write.ctx.cluster.authorization.authorizer.decide(user, access)
    if not decision.allowed:
        raise forbidden(user, access, decision.reason)


def prepare_new(rules: WriteRules, write: Write) -> None:
    """Clear what a client may not set, set what the kind has from the start."""
    obj = write.tree
    if write.ctx.emptied:
        _put_back(write)
    if rules.kind.tracks_generation:
        obj["metadata"]["generation"] = 1
    rules.strategy.prepare_for_create(obj, write.ctx)


def _put_back(write: Write) -> None:
    """Put back what decoding took out, until the object is validated: its metadata's aside, since
    nothing looks at that.
    """
    given = [lost.but_for("metadata") for lost in write.ctx.emptied]
    write.put_back = empties.put_back(write.tree, write.old, given)


def validate_new(rules: WriteRules, write: Write) -> None:
    """Everything that can be wrong with a new object. Raises Invalid."""
    obj, strategy, ctx = write.tree, rules.strategy, write.ctx
    found = strategy.validate_create(obj, objectmeta.validate_object_meta(obj, rules.kind), ctx)
    found = found or objectmeta.validate_path_segments(obj, rules.kind)
    if found:
        _refuse(rules, write, found)
    empties.take_out(write.put_back)
    for text in strategy.warnings(obj, None, ctx):
        ctx.warn(text)
    strategy.canonicalize(obj)


def check_new_version(_: WriteRules, write: Write) -> None:
    """A new object has no version; a dry run, which never gets to the storage, echoes the one that
    it was given.
    """
    if write.ctx.dry_run and write.asked_revision:
        write.tree["metadata"]["resourceVersion"] = write.asked_revision
    elif strconv.is_uint(write.asked_revision) and strconv.parse_uint(write.asked_revision):
        raise errors.raw("resourceVersion should not be set on objects to be created")


# of an update


def check_identity(rules: WriteRules, write: Write) -> None:
    """Whether it is still the object that the body speaks of. Raises Conflict.

    The uid is a precondition in a PUT only: in a patch another one is a change that is not allowed.
    """
    assert write.record is not None, "an update has seen an object"
    meta = write.tree["metadata"]
    objectmeta.dedupe_owner_references(meta, write.ctx)
    if not write.ctx.by_patch:
        preconditions.check_preconditions(rules.kind, write.record, meta.get("uid", ""), dry_run=write.ctx.dry_run)


def default_changed(rules: WriteRules, write: Write) -> None:
    """Fill what is absent in what has changed."""
    assert write.old is not None, "an update has seen an object"
    if write.subresource == "status":
        rules.strategy.default_status(write.tree, write.old, write.ctx)
    else:
        rules.strategy.default_update(write.tree, write.old, write.ctx)


def own_changed(rules: WriteRules, write: Write) -> None:
    """Note who changed which field."""
    ctx = write.ctx
    if write.tracked:
        rules.fields.update(write.old, write.tree, manager=ctx.field_manager, now=ctx.now, subresource=ctx.subresource)


def authorize_changed(rules: WriteRules, write: Write) -> None:
    """Whether this user may make such a change. Raises Forbidden."""
    rules.strategy.authorize(write.tree, write.old, write.ctx)


def check_version(rules: WriteRules, write: Write) -> None:
    """Whether the caller saw the stored version, if it says which one it saw.

    Raises Conflict, Invalid.
    """
    assert write.record is not None, "an update has seen an object"
    if write.reinvocation is not None:
        own_metadata(rules.kind, write.tree, write.namespace)
    write.conditional = preconditions.check_version(rules.kind, write.tree["metadata"], write.record)


def prepare_changed(rules: WriteRules, write: Write) -> None:
    """Put back what this endpoint may not change, and count the generation."""
    obj, old, ctx, kind = write.tree, write.old, write.ctx, rules.kind
    assert old is not None, "an update has seen an object"
    if ctx.emptied:
        _put_back(write)
    meta, old_meta = obj["metadata"], old["metadata"]
    objectmeta.restore(meta, old_meta)
    if not ctx.dry_run:  # what is stored has none
        meta.pop("selfLink", None)
    strategy = _strategy_for(rules, write.subresource)
    if write.subresource == "status":
        if kind.status_keeps_metadata:
            objectmeta.restore_whole(meta, old_meta)
        strategy.prepare_for_status_update(obj, old, ctx)
    else:
        strategy.prepare_for_update(obj, old, ctx)
        if kind.tracks_generation and (strategy.spec_changed(obj, old) or _empties_count(strategy, write)):
            obj["metadata"]["generation"] = old_meta.get("generation", 0) + 1
    obj["metadata"].setdefault("uid", old_meta["uid"])  # a strategy may have put other metadata in place


def _empties_count(strategy: Strategy, write: Write) -> bool:
    """Whether something with nothing in it changes the spec: neither the old object nor a default
    has anything there. Kinds that count it have no status.
    """
    return strategy.empties_count and bool(write.put_back)


def validate_changed(rules: WriteRules, write: Write) -> None:
    """Everything that can be wrong with a changed object, or with the change. Raises Invalid."""
    obj, old, ctx = write.tree, write.old, write.ctx
    assert old is not None, "an update has seen an object"
    strategy, of_status = _strategy_for(rules, write.subresource), write.subresource == "status"
    check = strategy.validate_status_update if of_status else strategy.validate_update
    found = objectmeta.validate_object_meta_update(obj, old, rules.kind, ctx) + check(obj, old, ctx)
    if found:
        _refuse(rules, write, found)
    empties.take_out(write.put_back)
    if not of_status:
        for text in strategy.warnings(obj, old, ctx):
            ctx.warn(text)
    strategy.canonicalize_changed(obj, old)


def _strategy_for(rules: WriteRules, subresource: str) -> Strategy:
    declared = rules.kind.subresource(subresource) if subresource else None
    return declared.strategy if declared and declared.strategy else rules.strategy


def _refuse(rules: WriteRules, write: Write, found: "list[FieldError]") -> None:
    obj, kind = write.tree, rules.kind.group_kind
    if rules.kind.custom:  # of which the kind itself may be wrong
        kind = kind._replace(kind=obj["kind"])
    told = validation.as_told(found, write.ctx.minor, custom=rules.kind.custom)
    raise errors.invalid(kind, obj["metadata"].get("name", ""), told)


# of both


def admit(rules: WriteRules, write: Write) -> Awaitable[None]:
    """Let admission change the object, or refuse it.

    A plugin may wait for somebody: whatever was seen before may be old.
    """
    return rules.admission().admit(write)


def review(rules: WriteRules, write: Write) -> Awaitable[None]:
    """Let admission refuse the object as it will be stored."""
    return rules.admission().validate(write)


CREATE: tuple[Stage, ...] = (
    fill_metadata, default_new, own_new, admit, name_new, authorize_new, prepare_new, validate_new, review,
    check_new_version)
CREATE_ON_UPDATE: tuple[Stage, ...] = (*CREATE[:CREATE.index(review)], authorize_create, *CREATE[CREATE.index(review):])
UPDATE: tuple[Stage, ...] = (
    check_identity, default_changed, own_changed, admit, authorize_changed, check_version, prepare_changed, validate_changed,
    review)
