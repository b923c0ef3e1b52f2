"""What the server has: versions, groups, resources, in the old documents and in the aggregated one.

All of it follows from the Kinds that are served, in their order. Upstream:
apiserver/pkg/endpoints/discovery and its ``aggregated`` package.
"""

import base64
from collections.abc import Sequence

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


@memoized(4)
def aggregated(kinds: tuple[Kind, ...]) -> Tree:
    """Groups with all their resources in one document; give the core group's kinds, or all the
    others.

    Clusters that serve the same kinds share the document, so it is not to be changed.
    """
    groups: dict[str, dict[str, list[Kind]]] = {}
    for kind in kinds:
        groups.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
    items = [
        {"metadata": {"name": group} if group else {}, "versions": [
            {"version": version, "resources": [_aggregated_resource(kind) for kind in found], "freshness": "Current"}
            for version, found in versions.items()
        ]}
        for group, versions in groups.items()
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated_resource(kind: Kind) -> Tree:
    row: Tree = {
        "resource": kind.plural, "responseKind": {"group": "", "version": "", "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster", "singularResource": kind.singular,
        "verbs": _verbs(kind),
    }
    if kind.short_names:
        row["shortNames"] = list(kind.short_names)
    if kind.categories:
        row["categories"] = list(kind.categories)
    if kind.subresources:
        row["subresources"] = [
            _aggregated_subresource(kind, sub)
            for sub in sorted(kind.subresources, key=lambda sub: "" if kind.custom else sub.name)
        ]
    return row


def _aggregated_subresource(kind: Kind, sub: Subresource) -> Tree:
    gvk = sub.kind or kind.gvk
    same = (gvk.group, gvk.version) == (kind.group, kind.version)
    response = {"group": "" if same else gvk.group, "version": "" if same else gvk.version, "kind": gvk.kind}
    return {"subresource": sub.name, "responseKind": response, "verbs": list(sub.verbs)}


def etag(data: bytes) -> str:
    """The entity tag of a document."""
    return f'"{_digest("sha512", data).hex().upper()}"'


def _digest(algorithm: str, data: bytes) -> bytes:
    import hashlib

    return hashlib.new(algorithm, data).digest()
