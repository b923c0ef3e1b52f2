"""Everything that one cluster serves: the kinds of a release, with its feature gates and
``--runtime-config``.

Rule for releases: a group version and kind exists in exactly those releases whose published
definitions name it (the tables of fakekube/schema); ``Served.since`` and ``until`` say so. Whether
it is on by default follows upstream: stable versions are, alpha and beta ones are not, with the
betas excepted that were on before 1.24.
Upstream: pkg/controlplane/instance.go, apiserver/pkg/server/resourceconfig,
cmd/kube-apiserver/app/aggregator.go. A kind whose declaration has ``fields`` is of no published
release, and ``definitions_of`` adds it to each that ``since`` allows.
Left out: groups of aggregated API servers, but for metrics.k8s.io.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import orjson

from fakekube.apimachinery.gvk import GroupVersionKind, version_order
from fakekube.apimachinery.releases import minor_of
from fakekube.apimachinery.types import Tree
from fakekube.apis import declaration, late
from fakekube.apis.admissionregistration.declarations import GROUP as ADMISSION_REGISTRATION
from fakekube.apis.apiextensions.declarations import GROUP as API_EXTENSIONS
from fakekube.apis.apiregistration.declarations import GROUP as API_REGISTRATION
from fakekube.apis.apps.declarations import GROUP as APPS
from fakekube.apis.authentication.declarations import GROUP as AUTHENTICATION
from fakekube.apis.authorization.declarations import GROUP as AUTHORIZATION
from fakekube.apis.autoscaling.declarations import GROUP as AUTOSCALING
from fakekube.apis.batch.declarations import GROUP as BATCH
from fakekube.apis.certificates.declarations import GROUP as CERTIFICATES
from fakekube.apis.coordination.declarations import GROUP as COORDINATION
from fakekube.apis.core.declarations import GROUP as CORE
from fakekube.apis.declaration import STATUS
from fakekube.apis.discovery.declarations import GROUP as DISCOVERY
from fakekube.apis.events.declarations import GROUP as EVENTS
from fakekube.apis.flowcontrol.declarations import GROUP as FLOW_CONTROL
from fakekube.apis.internal.declarations import GROUP as INTERNAL
from fakekube.apis.lifecycle.declarations import GROUP as LIFECYCLE
from fakekube.apis.metrics.declarations import GROUP as METRICS
from fakekube.apis.networking.declarations import GROUP as NETWORKING
from fakekube.apis.node.declarations import GROUP as NODE
from fakekube.apis.policy.declarations import GROUP as POLICY
from fakekube.apis.rbac.declarations import GROUP as RBAC
from fakekube.apis.resource.declarations import GROUP as RESOURCE
from fakekube.apis.scheduling.declarations import GROUP as SCHEDULING
from fakekube.apis.storage.declarations import GROUP as STORAGE
from fakekube.apis.storagemigration.declarations import GROUP as STORAGE_MIGRATION
from fakekube.registry.kind import Conversion, Convert, Kind, Printer, Selectable, Subresource
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy
from fakekube.schema import definitions

# In the order of discovery: by priority, equal ones in upstream's order.
GROUPS = (
    CORE, API_REGISTRATION, APPS, EVENTS, AUTHENTICATION, AUTHORIZATION, AUTOSCALING, BATCH, CERTIFICATES, NETWORKING,
    POLICY, RBAC, STORAGE, ADMISSION_REGISTRATION, API_EXTENSIONS, SCHEDULING, COORDINATION, NODE, DISCOVERY, RESOURCE,
    FLOW_CONTROL, INTERNAL, STORAGE_MIGRATION, LIFECYCLE,
)  # fmt: skip

# of kinds that have a status, and no other rules here
WITH_STATUS = late.strategy("base:WITH_STATUS")



class InvalidRuntimeConfig(ValueError):
    """A ``--runtime-config`` that no server would start with; the text is upstream's."""


class Catalog(NamedTuple):
    """The kinds of one cluster in the order of discovery, and how to find them."""

    release: str
    kinds: tuple[Kind, ...]
    group_order: tuple[str, ...]
    by_resource: Mapping[tuple[str, str, str], Kind]

    def kind(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind that a path names, or None."""
        return self.by_resource.get((group, version, plural))

    def versions(self, group: str) -> tuple[str, ...]:
        """The served versions of a group, the preferred one first; empty when the group is not
        served.
        """
        return tuple(dict.fromkeys(kind.version for kind in self.kinds if kind.group == group))

    def preferred(self, group: str) -> str:
        """The version that clients should use. KeyError when the group is not served."""
        versions = self.versions(group)
        if not versions:
            raise KeyError(group)
        return versions[0]


def catalog(
    release: str, gates: Mapping[str, bool] | None = None, runtime_config: Mapping[str, bool] | None = None,
) -> Catalog:  # fmt: skip
    """The kinds that a cluster serves.

    ``release`` is like ``1.37``. ``gates`` holds the state of feature gates (``gates.Gates`` is
    such a mapping); one that is not in it counts as on, as a gate that upstream has removed.
    ``runtime_config`` maps ``api/all``, ``api/ga``, ``api/beta``, ``api/alpha``, ``group/version``
    and ``group/version/resource`` to on or off; the core group is ``/v1``. Raises
    InvalidRuntimeConfig.
    """
    minor, gates, config = minor_of(release), gates or {}, runtime_config or {}
    check_runtime_config(minor, config)
    kinds: list[Kind] = []
    for group in GROUPS:
        found = [kind for resource in group.resources for kind in _kinds(group, resource, minor, gates, config)]
        found.sort(key=lambda kind: kind.plural)
        found.sort(key=lambda kind: version_order(kind.version), reverse=True)
        kinds += found
    return Catalog(
        release, tuple(kinds), tuple(dict.fromkeys(kind.group for kind in kinds)),
        {(kind.group, kind.version, kind.plural): kind for kind in kinds},
    )  # fmt: skip


def definitions_of(release: str) -> definitions.Definitions:
    """The fields of all kinds of a release: those that were published, and those that a declaration
    names itself.
    """
    found, minor = definitions.load(release), minor_of(release)
    for group in GROUPS:
        for resource in group.resources:
            if resource.fields is not None:
                for served in resource.versions:
                    if _has(served, minor):
                        found.define(GroupVersionKind(group.name, served.version, resource.kind), resource.fields)
    return found


@cache
def metrics_kinds() -> tuple[Kind, ...]:
    """The kinds that metrics-server adds to a cluster: the same in every release, and without names
    for a single one.
    """
    found = (kind for resource in METRICS.resources for kind in _kinds(METRICS, resource, declaration.NEVER, {}, {}))
    return tuple(replace(kind, singular="") for kind in found)


def check_runtime_config(minor: int, config: Mapping[str, bool]) -> None:
    """Refuse keys that name no group and version of the release, as the command line does."""
    if dict(config) == {"api/all": False}:
        raise InvalidRuntimeConfig("invalid runtime-config with only api/all=false")
    versions = {
        group.name: [
            served.version for resource in group.resources for served in resource.versions if _has(served, minor)
        ]
        for group in GROUPS
    }
    unknown = []
    for key in config:
        if key in ("api/all", "api/ga", "api/beta", "api/alpha"):
            continue
        tokens = key.split("/")
        if len(tokens) not in (2, 3):
            raise InvalidRuntimeConfig(f"runtime-config invalid key {key}")
        if tokens[0] not in versions:
            unknown.append(f"{tokens[0]}/{tokens[1]}")
        elif tokens[1] not in versions[tokens[0]]:
            raise InvalidRuntimeConfig(f"group version {'/'.join(tokens[:2]).lstrip('/')} that has not been registered")
        elif len(tokens) == 3 and tokens[2] != tokens[2].lower():
            raise InvalidRuntimeConfig(
                f'invalid key {key}: group/version/resource and resource is always lowercase plural, not "{tokens[2]}"'
            )
    if unknown:
        raise InvalidRuntimeConfig(f"unknown api groups {','.join(sorted(dict.fromkeys(unknown)))}")


def _has(served: declaration.Served, minor: int) -> bool:
    return served.since <= minor <= served.until


def _enabled(group: str, plural: str, served: declaration.Served, config: Mapping[str, bool]) -> bool:
    """The most particular key decides."""
    stage = "alpha" if "alpha" in served.version else "beta" if "beta" in served.version else "ga"
    for key in (f"{group}/{served.version}/{plural}", f"{group}/{served.version}", f"api/{stage}", "api/all"):
        if key in config:
            return config[key]
    return served.served_by_default


def _kinds(
    group: declaration.Group, resource: declaration.Resource, minor: int, gates: Mapping[str, bool],
    config: Mapping[str, bool],
) -> Iterator[Kind]:  # fmt: skip
    versions = [
        served
        for served in resource.versions
        if _has(served, minor)
        and gates.get(served.gate, True)
        and _enabled(group.name, resource.plural, served, config)
    ]
    if not versions:
        return
    stored = resource.stored or GroupVersionKind(group.name, _stored_version(resource, minor, versions), resource.kind)
    subresources = tuple(
        Subresource(sub.name, sub.verbs, sub.kind, sub.strategy, sub.printer, table=sub.table)
        for sub in resource.subresources
        if sub.since <= minor and gates.get(sub.gate, True)
    )
    relaxing_gate, relaxed = resource.relaxed_name
    name_rule = relaxed if relaxed and gates.get(relaxing_gate, True) else resource.name_rule
    for served in versions:
        gvk, v1 = GroupVersionKind(group.name, served.version, resource.kind), served.version == "v1"
        conversion, own = _conversion(gvk, stored, served), served.unconditional_update
        yield Kind(
            group=group.name, version=served.version, kind=resource.kind, plural=resource.plural,
            singular=resource.singular or resource.kind.lower(), namespaced=resource.namespaced, verbs=resource.verbs,
            short_names=resource.short_names, categories=resource.categories, subresources=subresources,
            strategy=_strategy(resource, served, conversion), printer=_printer(resource.printer, served),
            selectable=_selectable(resource.selectable, gvk), conversion=conversion,
            table=resource.table, tracks_generation=minor >= resource.generation_since,
            create_on_update=resource.create_on_update,
            unconditional_update=resource.unconditional_update if own is None else own,
            delete_returns_object=resource.delete_returns_object or (resource.object_until_v1 and not v1),
            orphan_by_default=resource.orphan_by_default, name_rule=name_rule,
            collects_dependents=resource.collects_dependents, field_annotation=resource.field_annotation,
            metadata_checks=resource.metadata_checks, storage_path=_storage_path(group, resource),
            status_keeps_metadata=resource.status_keeps_metadata,
            reset_fields=resource.reset_fields if served.reset_fields is None else served.reset_fields,
            pod_template=resource.pod_template, selector_is_map=resource.selector_is_map,
            deprecation=served.deprecated.warning(gvk, minor) if served.deprecated else "",
            orphan_warning=resource.orphan_warning,
            served_by_default=served.served_by_default, gate=served.gate,
        )  # fmt: skip


def _storage_path(group: declaration.Group, resource: declaration.Resource) -> str:
    return f"{group.name}/{resource.plural}" if group.by_other_server else resource.storage_path


def _stored_version(resource: declaration.Resource, minor: int, versions: list[declaration.Served]) -> str:
    """The newest version: of all that exist where shapes differ, as conversions expect it, else of
    those served.
    """
    existing = [served for served in resource.versions if _has(served, minor)]
    return (existing if any(served.to_stored for served in existing) else versions)[0].version


def _strategy(
    resource: declaration.Resource, served: declaration.Served, conversion: Conversion | None,
) -> Lazy[Strategy] | None:  # fmt: skip
    strategy = served.strategy or resource.strategy or (WITH_STATUS if STATUS in resource.subresources else None)
    if served.strategy or strategy is None or conversion is None or served.to_stored is None:
        return strategy
    return _converting(strategy, conversion)


def _converting(strategy: Lazy[Strategy], conversion: Conversion) -> Lazy[Strategy]:
    def load() -> Strategy:
        from fakekube.apis.converting import ConvertingStrategy

        return ConvertingStrategy(strategy.load(), conversion.to_stored, conversion.from_stored)

    return Lazy(load)


def _selectable(selectable: Selectable, gvk: GroupVersionKind) -> Selectable:
    if "{gvk}" not in selectable.unknown:
        return selectable
    return selectable._replace(unknown=selectable.unknown.replace("{gvk}", str(gvk)))


def _conversion(gvk: GroupVersionKind, stored: GroupVersionKind, served: declaration.Served) -> Conversion | None:
    if gvk == stored:
        return None
    return Conversion(
        stored,
        _renamed(stored.api_version, served.to_stored, only_moves=served.only_moves),
        _renamed(gvk.api_version, served.from_stored, only_moves=served.only_moves),
    )


def _renamed(api_version: str, convert: Convert | None, *, only_moves: bool) -> Callable[[Tree], Tree]:
    def converted(tree: Tree) -> Tree:
        if convert is not None:
            tree = convert(tree if only_moves else orjson.loads(orjson.dumps(tree)))
        return {**tree, "apiVersion": api_version}

    return converted


def _printer(printer: Lazy[Printer] | None, served: declaration.Served) -> Lazy[Printer] | None:
    """Printers know the stored shape only."""
    to_stored = served.to_stored
    return printer if printer is None or to_stored is None else _converting_printer(printer, to_stored)


def _converting_printer(printer: Lazy[Printer], to_stored: Convert) -> Lazy[Printer]:
    def load() -> Printer:
        inner = printer.load()
        return Printer(inner.columns, lambda obj, now: inner.cells(to_stored(deepcopy(obj)), now), inner.conditions)

    return Lazy(load)
