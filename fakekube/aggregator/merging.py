"""Discovery of all servers in one: the groups that APIServices name, in the order that they say.

Upstream: kube-aggregator/pkg/apiserver/handler_apis.go,
pkg/apis/apiregistration/v1/helper, apiserver/pkg/endpoints/discovery/aggregated/handler.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fakekube.aggregator.remote import Remote
from fakekube.apimachinery.gvk import version_order
from fakekube.apimachinery.types import Tree
from fakekube.apis.apiregistration.local import CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY, OWN_GROUP, version_priority
from fakekube.apis.catalog import GROUPS
from fakekube.apis.metrics.declarations import GROUP as METRICS
from fakekube.endpoints import discovery
from fakekube.registry.kind import Kind

OWN_PRIORITY = 20001
"""The aggregator's own group comes first."""


class Named(NamedTuple):
    """What discovery needs of an APIService."""

    group: str
    version: str
    group_priority: int
    version_priority: int

    @property
    def name(self) -> str:
        """That of the object."""
        return f"{self.version}.{self.group}"


def named(spec: Tree) -> Named:
    """The same of a specification."""
    return Named(
        spec.get("group", ""), spec.get("version", ""), spec.get("groupPriorityMinimum", 0), spec.get("versionPriority", 0))


def groups_of(services: Iterable[Named]) -> dict[str, list[str]]:
    """Groups with their versions, each in the order of discovery."""
    found: dict[str, list[Named]] = {}
    for service in sorted(services, key=lambda each: (-each.group_priority, each.name)):
        if service.group:
            found.setdefault(service.group, []).append(service)
    return {group: [each.version for each in sorted(theirs, key=_preference)] for group, theirs in found.items()}


def _preference(service: Named) -> tuple[int, tuple[int, ...], str]:
    return (-service.version_priority, tuple(-part for part in version_order(service.version)), service.version)


def group(name: str, versions: Sequence[str]) -> Tree:
    """A group as the plain documents have it."""
    found = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": found, "preferredVersion": found[0]}


def group_list(services: Iterable[Named]) -> Tree:
    """The document of ``/apis``."""
    groups = groups_of(services)
    groups.pop(OWN_GROUP, None)
    found = [group(OWN_GROUP, ["v1"]), *(group(name, versions) for name, versions in groups.items())]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def aggregated(kinds: tuple[Kind, ...], remotes: Mapping[Named, Remote]) -> Tree:
    """The aggregated document of ``/apis``: what other servers serve comes before what we serve
    under the same name.
    """
    document = discovery.aggregated(kinds)  # which others share
    priorities, rows = _of_kinds(kinds), dict[tuple[str, str], Tree]()
    for item in document["items"]:
        for row in item["versions"]:
            rows[item["metadata"]["name"], row["version"]] = row
    for service, remote in remotes.items():
        key = (service.group, service.version)
        priorities[key], rows[key] = service, _row(remote)
    of_group: dict[str, int] = {}
    for service in priorities.values():
        of_group[service.group] = max(of_group.get(service.group, 0), service.group_priority)
    items = []
    for name in sorted(of_group, key=lambda each: (-of_group[each], each)):
        services = sorted((each for each in priorities.values() if each.group == name), key=_preference)
        items.append({"metadata": {"name": name}, "versions": [rows[name, each.version] for each in services]})
    return {**document, "items": items}


def _of_kinds(kinds: Iterable[Kind]) -> dict[tuple[str, str], Named]:
    built_in = {each.name: each for each in (*GROUPS, METRICS)}
    found: dict[tuple[str, str], Named] = {}
    for kind in kinds:
        name, version = kind.group, kind.version
        if kind.custom:
            service = Named(name, version, CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY)
        else:
            priority = OWN_PRIORITY if name == OWN_GROUP else built_in[name].priority
            service = Named(name, version, priority, version_priority(built_in[name], version))
        found.setdefault((name, version), service)
    return found


def _row(remote: Remote) -> Tree:
    documents = remote.documents
    is_current = remote.is_available and documents is not None and documents.resources is not None
    row: Tree = {"version": remote.version}
    if is_current and documents is not None and documents.resources:
        row["resources"] = list(documents.resources)
    return row | {"freshness": "Current" if is_current else "Stale"}
