"""From a CustomResourceDefinition to Kinds: one for each served version.

Names come from ``status.acceptedNames``, the rest from the spec. What takes work (schemas, rules,
columns) is made when the first object asks for it. Upstream:
apiextensions-apiserver/pkg/apiserver/customresource_handler.go (getOrCreateServingInfoFor) and
customresource_discovery_controller.go.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from fakekube.apiextensions.version import DefinedVersion
from fakekube.apimachinery import jsonpath
from fakekube.apimachinery.gvk import GroupVersionKind, version_order
from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Conversion, Kind, Printer, Published, ScalePaths, Selectable, Subresource
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy
from fakekube.schema.decode import BodyReader
from fakekube.schema.definitions import Definitions
from fakekube.util.rng import Rng

if TYPE_CHECKING:
    from fakekube.apiextensions.remote import WebhookConverter
    from fakekube.webhooks.client import WebhookClient

VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
SUBRESOURCE_VERBS = ("get", "patch", "update")
SCALE = GroupVersionKind("autoscaling", "v1", "Scale")


def kinds_of(
    definition: Tree, data: bytes, definitions: Definitions, webhooks: "Callable[[], WebhookClient]", rng: Rng,
) -> tuple[tuple[Kind, DefinedVersion], ...]:
    """The kinds of a definition whose names were accepted, each with the version that it is made
    of.

    ``definition`` is read-only from now on, ``data`` the same in JSON. ``definitions`` are those of
    the server: schemas refer to them for metadata. ``webhooks`` gives what calls webhooks, ``rng``
    the uids of reviews.
    """
    entries = [
        {name: value for name, value in entry.items() if name != "schema"} for entry in definition["spec"]["versions"]]
    bare = {**definition, "spec": {**definition["spec"], "versions": entries}}
    stored = next(entry["name"] for entry in entries if entry["storage"])
    versions = {entry["name"]: DefinedVersion(bare, entry, definitions, data) for entry in entries}
    converter = _converter(bare, webhooks, rng)
    return tuple(
        (_kind(version, versions[stored], converter), version) for version in versions.values() if version.entry["served"])


def stored_kind(
    definition: Tree, definitions: Definitions, webhooks: "Callable[[], WebhookClient]", rng: Rng,
) -> Kind:
    """The kind of the version that objects are stored in, served or not; arguments as above."""
    entry = next(entry for entry in definition["spec"]["versions"] if entry["storage"])
    version = DefinedVersion(definition, entry, definitions)
    return _kind(version, version, _converter(definition, webhooks, rng))


def _converter(
    definition: Tree, webhooks: "Callable[[], WebhookClient]", rng: Rng,
) -> "WebhookConverter | None":
    if definition["spec"]["conversion"]["strategy"] != "Webhook":
        return None
    from fakekube.apiextensions.remote import WebhookConverter

    return WebhookConverter(definition, webhooks, rng)


def _kind(version: DefinedVersion, stored: DefinedVersion, converter: "WebhookConverter | None") -> Kind:
    definition, gvk = version.definition, version.gvk
    names = definition["status"]["acceptedNames"]
    return Kind(
        group=gvk.group, version=gvk.version, kind=gvk.kind, plural=names["plural"], singular=names.get("singular", ""),
        namespaced=version.namespaced, verbs=VERBS, short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()), subresources=tuple(_subresources(version)),
        strategy=_strategy(version), printer=_printer(version), codec=_reader(version),
        selectable=_selectable(version), conversion=_conversion(version, stored, converter),
        published=_published(version), tracks_generation=True, status_keeps_metadata=True, scale_paths=_scale_paths(version),
        unconditional_update=False, custom=True, own_list_kind=names.get("listKind", ""),
        refuses_new=version.is_terminating, deprecation=_deprecation(version))


def _subresources(version: DefinedVersion) -> Iterator[Subresource]:
    if version.has_status:
        yield Subresource("status", SUBRESOURCE_VERBS)
    if "scale" in version.subresources:
        yield Subresource("scale", SUBRESOURCE_VERBS, SCALE)


def _scale_paths(version: DefinedVersion) -> ScalePaths | None:
    scale = version.subresources.get("scale")
    if scale is None:
        return None
    return ScalePaths(scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath", ""))


def _strategy(version: DefinedVersion) -> Lazy[Strategy]:
    def load() -> Strategy:
        from fakekube.apiextensions.strategy import CustomResourceStrategy

        return CustomResourceStrategy(version)

    return Lazy(load)


def _printer(version: DefinedVersion) -> Lazy[Printer]:
    def load() -> Printer:
        from fakekube.apiextensions.printing import printer_of

        return printer_of(version.entry.get("additionalPrinterColumns") or [])

    return Lazy(load)


def _selectable(version: DefinedVersion) -> Selectable:
    """Its own fields can be named; the texts are those of all versions, since objects are stored
    once.
    """
    labels = tuple(field["jsonPath"].removeprefix(".") for field in version.entry.get("selectableFields") or ())
    return Selectable(labels, values_of(version.definition), unknown="")


def values_of(definition: Tree) -> Callable[[Tree], Mapping[str, str]] | None:
    """The texts of an object that any version of a definition lets select; None when none does."""
    declared = [field["jsonPath"] for entry in definition["spec"]["versions"] for field in entry.get("selectableFields") or ()]
    paths = [(text.removeprefix("."), jsonpath.compiled(text)) for text in dict.fromkeys(declared)]

    def values(obj: Tree) -> dict[str, str]:
        return {label: _text_at(path, obj) for label, path in paths}

    return values if paths else None


def _text_at(path: jsonpath.JSONPath, obj: Tree) -> str:
    try:
        found = path.find(obj)
    except jsonpath.NotApplicable:
        return ""
    return "" if not found or found[0] is None else jsonpath.text_of(found[0])


def _published(version: DefinedVersion) -> Lazy[Published]:
    def load() -> Published:
        from fakekube.apiextensions.publishing import PublishedVersion

        return PublishedVersion(version)

    return Lazy(load)


def _reader(version: DefinedVersion) -> Lazy[BodyReader]:
    def load() -> BodyReader:
        return version.reader

    return Lazy(load)


def _conversion(
    version: DefinedVersion, stored: DefinedVersion, converter: "WebhookConverter | None",
) -> Conversion | None:
    """Between two versions the fields stay that both know, unless a webhook converts. The stored
    one's defaults come with a write, since stored objects are read with them.
    """
    if converter is not None:
        return _remote_conversion(version, stored, converter)
    if version.name == stored.name:
        return None

    def to_stored(tree: Tree) -> Tree:
        return stored.reader.converted(tree, defaults=True)

    def from_stored(tree: Tree) -> Tree:
        return version.reader.converted(tree)

    return Conversion(stored.gvk, to_stored, from_stored)


def _remote_conversion(version: DefinedVersion, stored: DefinedVersion, converter: "WebhookConverter") -> Conversion | None:
    """None where all objects are stored in this very version."""
    if version is stored and version.definition["status"]["storedVersions"] == [version.name]:
        return None
    from fakekube.apiextensions.remote import RemoteVersion

    remote = RemoteVersion(version, stored, converter)
    return Conversion(stored.gvk, remote.to_stored, remote.from_stored, remote)


def _deprecation(version: DefinedVersion) -> str:
    """What answers in a deprecated version warn of; empty for others."""
    entry, gvk = version.entry, version.gvk
    if not entry.get("deprecated"):
        return ""
    if "deprecationWarning" in entry:
        return str(entry["deprecationWarning"])
    better = [
        other["name"] for other in version.definition["spec"]["versions"]
        if other["served"] and not other.get("deprecated") and version_order(other["name"]) > version_order(gvk.version)]
    instead = f"; use {gvk.group}/{max(better, key=version_order)} {gvk.kind}" if better else ""
    return f"{gvk.api_version} {gvk.kind} is deprecated{instead}"
