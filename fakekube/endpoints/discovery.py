"""What the server has: versions, groups, resources, in the old documents and in the aggregated one.

All of it follows from the Kinds that are served, in their order. Upstream:
apiserver/pkg/endpoints/discovery and its ``aggregated`` package.
"""

import base64
from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Kind, Subresource
from fakekube.util.memory import memoized

Kinds = Sequence[Kind]

AGGREGATED = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""What the media type of aggregated discovery says beside the format."""


def core_versions(kinds: Kinds, address: str) -> Tree:
    """The document of ``/api``. ``address`` is host and port by which the client came."""
    versions = list(dict.fromkeys(kind.version for kind in kinds if not kind.group))
    return {
        "kind": "APIVersions", "versions": versions,
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def group_list(kinds: Kinds) -> Tree:
    """The document of ``/apis``.

    Groups with custom kinds stand in the order of the names of their APIServices.
    """
    groups = dict.fromkeys(kind.group for kind in kinds if kind.group and not kind.custom)
    custom = sorted((f"{kind.version}.{kind.group}", kind.group) for kind in kinds if kind.custom)
    groups |= dict.fromkeys(group for _, group in custom)
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(kinds, group) for group in groups]}


def group_document(kinds: Kinds, group: str) -> Tree:
    """The document of ``/apis/<group>``."""
    return {"kind": "APIGroup", "apiVersion": "v1"} | _group(kinds, group)


def _group(kinds: Kinds, group: str) -> Tree:
    found = [
        {"groupVersion": f"{group}/{version}", "version": version}
        for version in dict.fromkeys(kind.version for kind in kinds if kind.group == group)
    ]
    return {"name": group, "versions": found, "preferredVersion": found[0]}


def resource_list(kinds: Kinds, group: str, version: str, *, hashes: bool = True) -> Tree:
    """The document of ``/api/v1`` or ``/apis/<group>/<version>``."""
    found = [kind for kind in kinds if (kind.group, kind.version) == (group, version)]
    rows: list[Tree] = []
    for kind in found:
        rows.append(_resource_row(kind, hashes=hashes))
        rows += [_subresource_row(kind, sub) for sub in kind.subresources]
    if not all(kind.custom for kind in found):
        rows.sort(key=lambda row: str(row["name"]))
    head: Tree = {"kind": "APIResourceList"} | ({"apiVersion": "v1"} if group else {})
    group_version = f"{group}/{version}" if group else version
    return head | {"groupVersion": group_version, "resources": rows}


def _resource_row(kind: Kind, *, hashes: bool) -> Tree:
    row: Tree = {
        "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced, "kind": kind.kind,
        "verbs": _verbs(kind),
    }
    if kind.short_names:
        row["shortNames"] = list(kind.short_names)
    if kind.categories:
        row["categories"] = list(kind.categories)
    if hashes and "create" in kind.verbs and "get" in kind.verbs:
        row["storageVersionHash"] = storage_version_hash(kind)
    return row


def _verbs(kind: Kind) -> list[str]:
    return [verb for verb in kind.verbs if verb not in ("create", "patch", "update") or not kind.refuses_new]


def _subresource_row(kind: Kind, sub: Subresource) -> Tree:
    row: Tree = {"name": f"{kind.plural}/{sub.name}", "singularName": "", "namespaced": kind.namespaced}
    gvk = sub.kind or kind.gvk
    if (gvk.group, gvk.version) != (kind.group, kind.version):
        row |= {"group": gvk.group, "version": gvk.version}
    return row | {"kind": gvk.kind, "verbs": list(sub.verbs)}


def storage_version_hash(kind: Kind) -> str:
    """Eight bytes of the hash of what objects are stored as, in base64."""
    stored = kind.conversion.stored if kind.conversion else kind.gvk
    return base64.b64encode(_digest("sha256", "/".join(stored).encode())[:8]).decode()


class _Resource(NamedTuple):
    """What the aggregated document says of a kind; the memo of documents holds no Kind, which holds
    the cluster that serves it.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    subresources: tuple[tuple[str, GroupVersionKind, tuple[str, ...]], ...]

    @classmethod
    def of(cls, kind: Kind) -> "_Resource":
        below = [(sub.name, sub.kind or kind.gvk, tuple(sub.verbs)) for sub in kind.subresources]
        if not kind.custom:
            below.sort(key=lambda sub: sub[0])
        return cls(
            kind.group, kind.version, kind.kind, kind.plural, kind.singular, kind.namespaced, tuple(_verbs(kind)),
            tuple(kind.short_names), tuple(kind.categories), tuple(below))


def aggregated(kinds: Kinds) -> Tree:
    """Groups with all their resources in one document; give the core group's kinds, or all the
    others.

    Clusters that serve the same share the document, so it is not to be changed.
    """
    return _document(tuple(map(_Resource.of, kinds)))


@memoized(4)
def _document(resources: tuple[_Resource, ...]) -> Tree:
    groups: dict[str, dict[str, list[_Resource]]] = {}
    for resource in resources:
        groups.setdefault(resource.group, {}).setdefault(resource.version, []).append(resource)
    items = [
        {"metadata": {"name": group} if group else {}, "versions": [
            {"version": version, "resources": [_aggregated_resource(one) for one in found], "freshness": "Current"}
            for version, found in versions.items()
        ]}
        for group, versions in groups.items()
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated_resource(resource: _Resource) -> Tree:
    row: Tree = {
        "resource": resource.plural, "responseKind": {"group": "", "version": "", "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster", "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        row["shortNames"] = list(resource.short_names)
    if resource.categories:
        row["categories"] = list(resource.categories)
    if resource.subresources:
        row["subresources"] = [_aggregated_subresource(resource, *sub) for sub in resource.subresources]
    return row


def _aggregated_subresource(resource: _Resource, name: str, gvk: GroupVersionKind, verbs: tuple[str, ...]) -> Tree:
    same = (gvk.group, gvk.version) == (resource.group, resource.version)
    response = {"group": "" if same else gvk.group, "version": "" if same else gvk.version, "kind": gvk.kind}
    return {"subresource": name, "responseKind": response, "verbs": list(verbs)}


def etag(data: bytes) -> str:
    """The entity tag of a document."""
    return f'"{_digest("sha512", data).hex().upper()}"'


def _digest(algorithm: str, data: bytes) -> bytes:
    import hashlib

    return hashlib.new(algorithm, data).digest()
