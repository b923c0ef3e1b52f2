"""From a name or a kind to a resource, by asking the server. Upstream: client-go/restmapper.

Reads the aggregated documents (two requests for everything) and keeps them until something is not
found, then asks once more: a CustomResourceDefinition may have come since.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import orjson

from fakekube.apimachinery.gvk import GroupResource, GroupVersionKind, api_version, split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.client.rest import RESTClient
from fakekube.util.memory import memoized

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class Entry(NamedTuple):
    """A resource and its other names."""

    resource: Resource
    singular: str
    short_names: tuple[str, ...]
    verbs: tuple[str, ...] = ()


class Served(NamedTuple):
    """What a document names; ``stale`` are group versions of which the server knows no more."""

    entries: tuple[Entry, ...]
    stale: tuple[str, ...] = ()


class Discovery:
    """What a server serves, in its own order of preference.

    ``stale`` are the group versions (``metrics.k8s.io/v1beta1``) of servers behind it that were
    away when it was asked last.
    """

    def __init__(self, rest: RESTClient) -> None:
        self._rest = rest
        self._entries: list[Entry] = []
        self._by_kind: Mapping[tuple[str, str], tuple[Resource, ...]] = {}
        self.stale: tuple[str, ...] = ()

    async def resource(self, name: str) -> Resource:
        """A resource by its plural, singular, short name or kind.

        Also by ``plural.group`` or ``plural.version.group``. KeyError when there is none.
        """
        def named() -> Resource | None:
            return next((entry.resource for entry in self._entries if _is_called(entry, name)), None)

        return await self._find(named, name)

    async def for_kind(self, gvk: GroupVersionKind) -> Resource:
        """By group, kind and, unless it is empty, version."""
        def of_kind() -> Resource | None:
            of_any_version = self._by_kind.get((gvk.group, gvk.kind), ())
            return next((each for each in of_any_version if gvk.version in ("", each.version)), None)

        return await self._find(of_kind, str(gvk))

    async def for_object(self, obj: Tree) -> Resource:
        """By apiVersion and kind of a manifest."""
        group, version = split_api_version(obj["apiVersion"])
        return await self.for_kind(GroupVersionKind(group, version, obj["kind"]))

    def forget(self) -> None:
        """Ask the server anew next time: a definition may have come, or come back as another
        one.
        """
        self._know([])

    def _know(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._by_kind = _by_kind(tuple(entries))

    async def all(self, verbs: Iterable[str] = ()) -> list[Resource]:
        """Every resource that has all of ``verbs``, each once; read anew.

        Each is in the version that the server prefers.
        """
        self._know(await self._load())
        return list(_preferred(tuple(self._entries), tuple(verbs)))

    async def _find(self, look: Callable[[], Resource | None], what: str) -> Resource:
        for refresh in (False, True):
            if refresh or not self._entries:
                self._know(await self._load())
            found = look()
            if found is not None:
                return found
        raise KeyError(f"the server doesn't have a resource type {what!r}")

    async def _load(self) -> list[Entry]:
        entries, stale = list[Entry](), list[str]()
        for path in ("/api", "/apis"):
            response = await self._rest.request("GET", path, accept=AGGREGATED)
            known = _aggregated(response.body)
            if known is None:
                entries.extend(await self._load_each(orjson.loads(response.body)))
            else:
                entries.extend(known.entries)
                stale.extend(known.stale)
        self.stale = tuple(stale)
        return entries

    async def _load_each(self, document: Tree) -> list[Entry]:
        """For servers without aggregated discovery: one request a version."""
        if document.get("kind") == "APIVersions":
            paths = [f"/api/{version}" for version in document["versions"]]
        else:
            versions = [version for group in document["groups"] for version in _preferred_first(group)]
            paths = [f"/apis/{version['groupVersion']}" for version in versions]
        entries: list[Entry] = []
        for path in paths:
            tree = orjson.loads((await self._rest.request("GET", path)).body)
            group, version = split_api_version(tree["groupVersion"])
            entries.extend(
                Entry(
                    Resource(group, version, item["name"], item["kind"], item["namespaced"]),
                    item.get("singularName", ""), tuple(item.get("shortNames") or ()), tuple(item.get("verbs") or ()),
                )
                for item in tree["resources"] if "/" not in item["name"]
            )
        return entries


def _preferred_first(group: Tree) -> list[Tree]:
    preferred = (group.get("preferredVersion") or {}).get("groupVersion")
    return sorted(group["versions"], key=lambda version: version["groupVersion"] != preferred)


@memoized(16)
def _aggregated(body: bytes) -> Served | None:
    """What an aggregated document names, None for one of another kind.

    Servers that are alike send the same bytes.
    """
    document = orjson.loads(body)
    if document.get("kind") != "APIGroupDiscoveryList":
        return None
    return Served(tuple(_entries_of_groups(document)), tuple(
        api_version((group.get("metadata") or {}).get("name", ""), version["version"])
        for group in document["items"] for version in group["versions"] if version.get("freshness") == "Stale"))


@memoized(16)
def _preferred(entries: tuple[Entry, ...], verbs: tuple[str, ...]) -> tuple[Resource, ...]:
    """Every resource that has all verbs, each in the version that comes first."""
    found: dict[GroupResource, Resource] = {}
    for entry in entries:
        if all(verb in entry.verbs for verb in verbs):
            found.setdefault(entry.resource.group_resource, entry.resource)
    return tuple(found.values())


@memoized(16)
def _by_kind(entries: tuple[Entry, ...]) -> Mapping[tuple[str, str], tuple[Resource, ...]]:
    """The resources of each group and kind, in their order."""
    found: dict[tuple[str, str], tuple[Resource, ...]] = {}
    for entry in entries:
        kind = entry.resource.group_kind
        found[kind] = (*found.get(kind, ()), entry.resource)
    return MappingProxyType(found)


def _entries_of_groups(document: Tree) -> Iterator[Entry]:
    for group in document["items"]:
        for version in group["versions"]:
            for item in version.get("resources") or ():
                yield Entry(
                    Resource(
                        (group.get("metadata") or {}).get("name", ""), version["version"], item["resource"],
                        item["responseKind"]["kind"], item["scope"] == "Namespaced",
                    ),
                    item.get("singularResource", ""), tuple(item.get("shortNames") or ()),
                    tuple(item.get("verbs") or ()),
                )


def _is_called(entry: Entry, name: str) -> bool:
    resource = entry.resource
    if name in (resource.plural, entry.singular, resource.kind) or name in entry.short_names:
        return True
    plural, _, rest = name.partition(".")
    return plural in (resource.plural, entry.singular) and rest in (
        resource.group, f"{resource.version}.{resource.group}" if resource.group else resource.version,
    )
