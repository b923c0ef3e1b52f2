"""OpenAPI documents of a few kinds: each path, each definition and the rest, one a line.

``python -m tests.endpoints.openapi.documents`` writes them down, for review: the difference to what
stood there is the change in behaviour.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.apis.catalog import catalog
from fakekube.endpoints.openapi.documents import OpenAPI
from fakekube.registry.kind import Kind, Subresource
from fakekube.registry.resources import ResourceRegistry
from fakekube.schema import descriptions
from fakekube.util.clock import ManualClock
from tests.schema.releases import release

FOLDER = Path(__file__).parent
TEXTS = {
    ("io.k8s.api.coordination.v1.Lease", ""): "Lease defines a lease concept.",
    ("io.k8s.api.coordination.v1.Lease", "spec"): "spec contains the specification of the Lease.",
    ("io.k8s.api.coordination.v1.LeaseSpec", "holderIdentity"): "holderIdentity contains the identity of the holder.",
}
SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
TOKEN_REQUEST = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
CHANGES = ("get", "patch", "update")


@dataclass(frozen=True)
class Things:
    """What a definition publishes."""

    digest: str = "one"
    name: str = "example.x.v1.Thing"
    list_name: str = "example.x.v1.ThingList"

    def schemas(self, printer: Any) -> Mapping[str, Tree]:
        """Both schemas by name."""
        meta = printer.reference("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta")
        return {self.name: {"type": "object"}, self.list_name: {"type": "object", "properties": {"metadata": meta}}}


def built_in(group: str, plural: str) -> Kind:
    """A kind of the newest release."""
    found = catalog("1.37").kind(group, "v1", plural)
    assert found is not None
    return found


def kinds() -> tuple[Kind, ...]:
    """With namespaces and without, with sub-resources of all verbs, a review, one of a CRD."""
    leases = replace(
        built_in("coordination.k8s.io", "leases"),
        subresources=(
            Subresource("status", CHANGES),
            Subresource("scale", CHANGES, kind=SCALE),
            Subresource("all", ("create", "delete")),
            Subresource("token", ("create",), kind=TOKEN_REQUEST),
        ),
    )
    things = Kind(
        group="x-y.example",
        version="v1",
        kind="Thing",
        plural="things",
        singular="thing",
        namespaced=True,
        custom=True,
        subresources=(Subresource("status", CHANGES), Subresource("scale", CHANGES, kind=SCALE)),
        published=Things(),
    )
    reviews = built_in("authentication.k8s.io", "selfsubjectreviews")
    return leases, built_in("node.k8s.io", "runtimeclasses"), reviews, built_in("", "limitranges"), things


def served(*chosen: Kind) -> tuple[OpenAPI, ResourceRegistry]:
    """What answers for these kinds."""
    resources = ResourceRegistry(chosen or kinds())
    return OpenAPI(release(), resources, ManualClock(), "1.37"), resources


def ask(openapi: OpenAPI, path: str, query: Mapping[str, str] | None = None, **headers: str) -> Response:
    """The answer to a GET."""
    asked = {name: [value] for name, value in (query or {}).items()}
    return openapi.answer(Request("GET", path, asked, {name.replace("_", "-"): value for name, value in headers.items()}))


def lines(document: Tree) -> list[str]:
    """A document, line by line."""

    def line(name: str, value: Any) -> str:
        return f"{name} {orjson.dumps(value).decode()}"

    parts = document.get("components", document)
    schemas = "schemas" if "components" in document else "definitions"
    found = [line(f"{path} {method}", value) for path, item in document["paths"].items() for method, value in item.items()]
    found += [line(name, value) for name, value in parts[schemas].items()]
    rest = {name: value for name, value in document.items() if name not in ("paths", "definitions", "components")}
    return [*found, line("document", rest | {name: value for name, value in parts.items() if name not in (schemas, *document)})]


def written(texts: "descriptions.Texts | None") -> dict[str, list[str]]:
    """Every document by the name of its file. ``texts`` are the descriptions, if there are any."""
    openapi, _ = served()
    found = {"v2": lines(orjson.loads(ask(openapi, "/openapi/v2").body))}
    for name in orjson.loads(ask(openapi, "/openapi/v3").body)["paths"]:
        found[f"v3-{name.replace('/', '-')}"] = lines(orjson.loads(ask(openapi, f"/openapi/v3/{name}").body))
    return {f"{name}{'-described' if texts else ''}": told for name, told in found.items()}


def main(describe: Callable[["descriptions.Texts | None"], None]) -> None:
    """Write them down."""
    for texts in (None, TEXTS):
        describe(texts)
        for name, told in written(texts).items():
            if not texts or name == "v3-apis-coordination.k8s.io-v1-described":
                (FOLDER / f"{name}.txt").write_text("\n".join(told) + "\n")


if __name__ == "__main__":

    def _describe(texts: "descriptions.Texts | None") -> None:
        descriptions.load = lambda _: texts  # type: ignore[assignment]

    main(_describe)
