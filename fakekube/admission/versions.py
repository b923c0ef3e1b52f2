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
from fakekube.schema.decode import DecodeError

SCHEME = "pkg/api/legacyscheme/scheme.go:30"
CORE = "core"


def shown_kind(kind: Kind, subresource: str) -> GroupVersionKind:
    """What travels over a path: the kind, or that of the sub-resource."""
    found = kind.subresource(subresource) if subresource else None
    return found.kind if found is not None and found.kind is not None else kind.gvk


def in_version(tree: Tree | None, kind: Kind, wanted: Kind) -> Tree | None:
    """An object of one kind as another version of it."""
    if tree is None or kind is wanted:
        return tree
    stored = tree if kind.conversion is None else kind.conversion.to_stored(tree)
    return stored if wanted.conversion is None else wanted.conversion.from_stored(stored)


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
    if attrs.operation == "CREATE" and tree is attrs.obj and not final:
        meta = {name: value for name, value in tree["metadata"].items() if name not in ("uid", "creationTimestamp")}
        tree = {**tree, "metadata": meta}
    return in_version(tree, attrs.kind, wanted)


def taken(services: Services, attrs: Attributes, tree: Tree, wanted: Kind) -> Tree:
    """The object that a write stores, given what somebody outside made of what was shown.

    ``tree`` is decoded and defaulted here. Raises APIError for one that is not of its kind.
    """
    gvk = shown_kind(wanted, attrs.subresource)
    decoded = _decoded(services, tree, gvk, wanted)
    if gvk == wanted.gvk:
        strategy_of(wanted).default(decoded, attrs.ctx)
    if attrs.subresource == "scale":
        assert attrs.obj is not None
        return scale.with_scale(services.stores.store(attrs.kind), attrs.obj, decoded)
    found = in_version(decoded, wanted, attrs.kind) if gvk == wanted.gvk else decoded
    assert found is not None
    return found


def _decoded(services: Services, tree: Tree, gvk: GroupVersionKind, kind: Kind) -> Tree:
    found = (str(tree.get("apiVersion") or ""), str(tree.get("kind") or ""))
    if found != (gvk.api_version, gvk.kind):
        raise _other_kind(services, *found, gvk)
    codec = kind.codec if kind.custom and gvk == kind.gvk else services.codec(gvk)
    assert codec is not None, "what is served can be read"
    try:
        return codec.decode(tree).tree
    except DecodeError as error:
        raise errors.internal(str(error)) from None


def _other_kind(services: Services, api_version: str, kind: str, wanted: GroupVersionKind) -> APIError:
    group, _, version = api_version.rpartition("/")
    if services.codec(GroupVersionKind(group, version, kind)) is None:
        return errors.internal(f'no kind "{kind}" is registered for version "{api_version}" in scheme "{SCHEME}"')
    package = wanted.group.partition(".")[0] or CORE
    return errors.raw(f"converting ({version}.{kind}) to ({package}.{wanted.kind}): unknown conversion")
