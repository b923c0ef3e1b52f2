"""The object of a write as somebody else wants to see it: in another version, or as a sub-resource.

Upstream: apiserver/pkg/admission/conversion.go.
"""

from fakekube.admission.services import Services
from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.registry import scale
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind, strategy_of
from fakekube.schema.decode import Decoded, DecodeError

SCHEME = "pkg/api/legacyscheme/scheme.go:30"
CORE = "core"
OF_THE_SERVER = ("uid", "creationTimestamp")
"""What a new object has only after mutating admission."""


def shown_kind(kind: Kind, subresource: str) -> GroupVersionKind:
    """What travels over a path: the kind, or that of the sub-resource."""
    found = kind.subresource(subresource) if subresource else None
    return found.kind if found is not None and found.kind is not None else kind.gvk


def in_version(attrs: Attributes, tree: Tree | None, kind: Kind, wanted: Kind) -> Tree | None:
    """An object of one kind as another version of it."""
    if tree is None or kind is wanted:
        return tree
    known = attrs.converted.get((id(tree), wanted.version)) if attrs.converted is not None else None
    if known is not None and known[0] is tree:
        return known[1]
    stored = tree if kind.conversion is None else kind.conversion.to_stored(tree)
    return stored if wanted.conversion is None else wanted.conversion.from_stored(stored)


def _is_remote(kind: Kind) -> bool:
    return kind.conversion is not None and kind.conversion.remote is not None


async def prepare(services: Services, attrs: Attributes, wanted: Kind) -> None:
    """Have the objects of a write converted where somebody else does that, so that ``shown`` has
    them in the version ``wanted``. Raises APIError.
    """
    if wanted is attrs.kind or not (_is_remote(wanted) or _is_remote(attrs.kind)):
        return
    if attrs.converted is None:
        attrs.converted = {}
    for tree in (attrs.obj, attrs.old):
        if tree is not None and (id(tree), wanted.version) not in attrs.converted:
            attrs.converted[id(tree), wanted.version] = tree, await _converted(services, tree, attrs.kind, wanted)


async def take_back(services: Services, attrs: Attributes, decoded: Tree, wanted: Kind) -> Tree:
    """What somebody outside made of an object, in the version of the request. Raises APIError."""
    if wanted is attrs.kind or not (_is_remote(wanted) or _is_remote(attrs.kind)):
        return taken(services, attrs, decoded, wanted)
    return await _converted(services, decoded, wanted, attrs.kind)


async def _converted(services: Services, tree: Tree, kind: Kind, wanted: Kind) -> Tree:
    before, after, source = kind.conversion, wanted.conversion, tree
    if before is not None:
        if before.remote is not None:
            await before.remote.store(tree)
        source = before.to_stored(tree)
    if after is None:
        return source
    if after.remote is None:
        return after.from_stored(source)
    # what is read has a version; this was never stored, and has one that no other has
    marked = {**source, "metadata": {**source["metadata"], "resourceVersion": services.rng.uid()}}
    await after.remote.read([marked])
    found = after.from_stored(marked)
    meta = {name: value for name, value in found["metadata"].items() if name != "resourceVersion"}
    if "resourceVersion" in source["metadata"]:
        meta["resourceVersion"] = source["metadata"]["resourceVersion"]
    return {**found, "metadata": meta}


def shown(services: Services, attrs: Attributes, tree: Tree | None, wanted: Kind, *, final: bool) -> Tree | None:
    """An object of a write as it is shown outside: not to be changed.

    ``final`` says that it has passed mutating admission: a new object has its uid only then.
    """
    if tree is None:
        return None
    if attrs.subresource == "scale":
        return scale.written_scale_of(services.stores.store(attrs.kind), tree)
    if shown_kind(attrs.kind, attrs.subresource) != attrs.kind.gvk:
        return tree
    found = in_version(attrs, tree, attrs.kind, wanted)
    if found is not None and attrs.operation == "CREATE" and tree is attrs.obj and not final:
        metadata = dict(found["metadata"])
        for name in OF_THE_SERVER:
            metadata.pop(name, None)
        found = {**found, "metadata": metadata}
    return found


def decoded(services: Services, attrs: Attributes, tree: Tree, wanted: Kind) -> Tree:
    """What somebody outside made of what was shown, decoded and defaulted.

    Raises APIError for what is not of its kind.
    """
    gvk = shown_kind(wanted, attrs.subresource)
    found, _, attrs.ctx.emptied = _decoded(services, tree, gvk, wanted)
    if gvk == wanted.gvk:
        strategy_of(wanted).default(found, attrs.ctx)
    if wanted is not attrs.kind and attrs.obj is not None:  # a conversion knows an object by its uid
        meta = attrs.obj["metadata"]
        found.setdefault("metadata", {}).update({name: meta[name] for name in OF_THE_SERVER if name in meta})
    return found


def taken(services: Services, attrs: Attributes, decoded: Tree, wanted: Kind) -> Tree:
    """The object that a write stores, given such an object."""
    gvk = shown_kind(wanted, attrs.subresource)
    if attrs.subresource == "scale":
        assert attrs.obj is not None
        return scale.with_scale(services.stores.store(attrs.kind), attrs.obj, decoded)
    found = in_version(attrs, decoded, wanted, attrs.kind) if gvk == wanted.gvk else decoded
    assert found is not None
    return found


def _decoded(services: Services, tree: Tree, gvk: GroupVersionKind, kind: Kind) -> Decoded:
    found = (str(tree.get("apiVersion") or ""), str(tree.get("kind") or ""))
    if found != (gvk.api_version, gvk.kind):
        raise _other_kind(services, *found, gvk)
    codec = kind.codec if kind.custom and gvk == kind.gvk else services.codec(gvk)
    assert codec is not None, "what is served can be read"
    try:
        return codec.decode(tree, converter=kind.custom)  # nulls of a custom object stay for the validation
    except DecodeError as error:
        raise errors.internal(str(error)) from None


def _other_kind(services: Services, api_version: str, kind: str, wanted: GroupVersionKind) -> APIError:
    group, _, version = api_version.rpartition("/")
    if services.codec(GroupVersionKind(group, version, kind)) is None:
        return errors.internal(f'no kind "{kind}" is registered for version "{api_version}" in scheme "{SCHEME}"')
    package = wanted.group.partition(".")[0] or CORE
    return errors.raw(f"converting ({version}.{kind}) to ({package}.{wanted.kind}): unknown conversion")
