"""A cluster of a few trees, to ask plugins and strategies about."""

from functools import cache
from typing import Any

from fakekube.apimachinery.http import UserInfo
from fakekube.apis.catalog import Catalog, catalog
from fakekube.auth.authorizer import AlwaysAllow, Authorization
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind
from fakekube.registry.strategy import WriteContext


class FixedRng:
    """Always the same, so that expectations can be written down."""

    def suffix(self, length: int = 5) -> str:
        return "x" * length

    def randbelow(self, n: int) -> int:
        return 0

    def uid(self) -> str:
        return "00000000-0000-4000-8000-000000000001"

    def uniform(self, a: float, b: float) -> float:
        return a


class World:
    """Stands in for the cluster: ``put`` places objects, the rest is what strategies may ask."""

    release = "1.37"
    authorization = Authorization(AlwaysAllow())

    def __init__(self, *gates: str) -> None:
        self.gates = gates
        self.objects: dict[tuple[str, str, str, str], dict[str, Any]] = {}

    def gate(self, name: str) -> bool:
        return name in self.gates

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> dict[str, Any] | None:
        return self.objects.get((group, resource, namespace, name))

    def select(self, group: str, resource: str, namespace: str) -> list[dict[str, Any]]:
        return [tree for key, tree in sorted(self.objects.items()) if key[:2] == (group, resource) and namespace in ("", key[2])]

    def write_status(
        self, group: str, resource: str, namespace: str, name: str, status: dict[str, Any], *, now: str,
    ) -> None:
        key = (group, resource, namespace, name)
        self.objects[key] = {**self.objects[key], "status": status}

    def put(self, group: str, resource: str, tree: dict[str, Any]) -> None:
        metadata = tree["metadata"]
        self.objects[group, resource, metadata.get("namespace", ""), metadata["name"]] = tree

    def context(self, operation: str = "CREATE", subresource: str = "", user: str = "kubernetes-admin") -> WriteContext:
        return WriteContext(
            cluster=self,
            rng=FixedRng(),
            now="2026-01-01T00:00:00Z",
            user=UserInfo(user, ("system:masters",)),
            operation=operation,
            subresource=subresource,
        )

    def attributes(
        self,
        of: Kind,
        obj: dict[str, Any] | None = None,
        old: dict[str, Any] | None = None,
        *,
        namespace: str = "t",
        subresource: str = "",
        operation: str = "",
    ) -> Attributes:
        operation = operation or ("DELETE" if obj is None else "CREATE" if old is None else "UPDATE")
        name = (obj or old or {}).get("metadata", {}).get("name", "")
        return Attributes(
            kind=of,
            namespace=namespace if of.namespaced else "",
            name=name,
            operation=operation,
            subresource=subresource,
            obj=obj,
            old=old,
            options={},
            ctx=self.context(operation, subresource),
        )


@cache
def _served() -> Catalog:
    return catalog("1.37", {}, {"api/all": True})


def kind(group: str, version: str, plural: str) -> Kind:
    """A built-in kind, as a server of 1.37 with all APIs on has it."""
    found = _served().kind(group, version, plural)
    assert found is not None, plural
    return found
