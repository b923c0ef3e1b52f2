"""What is declared of every kind of every release, against lists that are written out.

``kinds.txt`` has a line for each kind and each way in which it differs between releases: from which
to which one it is so, its group and version, what it is called, and all that is not usual.
``unconfigured.txt`` has what a server that is told nothing serves in another way, ``columns.txt``
the columns of Tables, ``groups.txt`` how the APIServices rank.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fakekube.apimachinery import releases
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis.apiregistration import local
from fakekube.apis.catalog import GROUPS, catalog, metrics_kinds
from fakekube.apis.converting import ConvertingStrategy
from fakekube.apis.gates import Gates
from fakekube.registry.kind import Kind, Selectable, Subresource

FOLDER = Path(__file__).parent
RELEASES = [each.name for each in releases.RELEASES]
VERBS = "create,delete,deletecollection,get,list,patch,update,watch"
TOLD_APART = ("group", "version", "kind", "plural", "verbs", "subresources", "selectable", "conversion", "strategy", "printer")
UNKNOWN = '"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def shown(value: Any) -> str:
    """One value of a declaration as text without spaces."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, GroupVersionKind):
        return "/".join(filter(None, value))
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, dict):
        return ";".join(f"{key}:{shown(each)}" for key, each in sorted(value.items()))
    return str(value).replace(" ", "_")


def of_subresource(sub: Subresource) -> str:
    """``scale(get,patch,update;autoscaling/v1/Scale;printer)``."""
    parts = [shown(sub.verbs)]
    parts += [shown(sub.kind)] if sub.kind else []
    parts += ["strategy"] if sub.strategy else []
    parts += ["printer"] if sub.printer else []
    parts += [] if sub.table else ["no-table"]
    return f"{sub.name}({';'.join(parts)})"


def of_selectable(selectable: Selectable) -> Iterator[str]:
    """What a fieldSelector may name."""
    if selectable.labels:
        yield f"selectable={shown(selectable.labels)}"
    if selectable.aliases:
        yield f"aliases={shown(dict(selectable.aliases))}"
    if selectable.unknown != UNKNOWN:
        yield f"unknown={shown(selectable.unknown)}"


def described(kind: Kind) -> str:
    """All that is declared of a kind."""
    parts = [f"{kind.api_version} {kind.kind} {kind.plural}"]
    for field in fields(Kind):
        value = getattr(kind, field.name)
        if field.name not in TOLD_APART and value != field.default:
            parts.append(f"{field.name}={shown(value)}")
    verbs = shown(kind.verbs)
    parts += [f"verbs={verbs}"] if verbs != VERBS else []
    parts += of_selectable(kind.selectable)
    parts += [f"stored={shown(kind.conversion.stored)}"] if kind.conversion else []
    parts += ["strategy" if not isinstance(kind.strategy, ConvertingStrategy) else "converting-strategy"] if kind.strategy else []
    parts += ["printer"] if kind.printer else []
    return " ".join(parts + [of_subresource(sub) for sub in kind.subresources])


@cache
def kinds(release: str) -> tuple[Kind, ...]:
    """All kinds that the release can serve."""
    return catalog(release, {}, {"api/all": True}).kinds


def listed(name: str, release: str) -> list[str]:
    """What a list says of a release; each of its lines begins with the releases of which it is."""
    found, minor = [], releases.minor_of(release)
    for line in (FOLDER / name).read_text().splitlines():
        span, _, text = line.partition(" ")
        first, _, last = span.partition("-")
        if releases.minor_of(first) <= minor <= releases.minor_of(last or first):
            found.append(text)
    return sorted(found)


def declared(release: str) -> Iterable[str]:
    """Every kind with everything on, and the two of the metrics server."""
    return (described(kind) for kind in (*kinds(release), *metrics_kinds()))


def unconfigured(release: str) -> Iterator[str]:
    """What is otherwise without any option: kinds that are missing, and such that differ."""
    usual = catalog(release, Gates(release)).by_resource
    for kind in kinds(release):
        here = usual.get((kind.group, kind.version, kind.plural))
        name = f"{kind.api_version} {kind.plural}"
        if here is None:
            yield f"{name} missing"
        elif described(here) != described(kind):
            before, after = described(kind).split(" "), described(here).split(" ")
            parts = [f"-{part}" for part in before if part not in after] + [f"+{part}" for part in after if part not in before]
            yield f"{name} {' '.join(parts)}"


def columns(release: str) -> Iterator[str]:
    """The columns of Tables: name, type, format, and + for those that a wide one has."""
    for kind in (*kinds(release), *metrics_kinds()):
        printers = {"": kind.printer} | {f"/{sub.name}": sub.printer for sub in kind.subresources}
        for name, printer in printers.items():
            if printer is not None:
                texts = [
                    ":".join(filter(None, (each.name, each.type, each.format))) + "+" * each.priority for each in printer.columns
                ]
                yield f"{kind.api_version} {kind.plural}{name} {' | '.join(texts)}"


def ranks(release: str) -> Iterator[str]:
    """The APIServices of a server: how groups and versions rank."""
    for each in local.built_in(GROUPS, kinds(release)):
        spec = each["spec"]
        yield f"{each['metadata']['name']} {spec['groupPriorityMinimum']} {spec['versionPriority']}"


@pytest.mark.parametrize("release", RELEASES)
def test_everything_that_is_declared_of_a_kind(release: str) -> None:
    """Given a release with all versions and gates / when its kinds are asked for all that is said
    of them / then it is what the list says of the release.
    """
    assert sorted(declared(release)) == listed("kinds.txt", release)


@pytest.mark.parametrize("release", RELEASES)
def test_what_a_server_without_options_serves(release: str) -> None:
    """Given a release and no options / when compared with all that it has / then what is missing or
    otherwise is what the list says.
    """
    assert sorted(unconfigured(release)) == listed("unconfigured.txt", release)


@pytest.mark.parametrize("release", RELEASES)
def test_the_columns_of_every_table(release: str) -> None:
    """Given a release / when its printers are asked for their columns / then they have these names,
    types and priorities.
    """
    assert sorted(columns(release)) == listed("columns.txt", release)


@pytest.mark.parametrize("release", RELEASES)
def test_how_groups_and_versions_rank(release: str) -> None:
    """Given a release / when its own APIServices are listed / then with the priorities of
    upstream's table.
    """
    assert sorted(ranks(release)) == listed("groups.txt", release)
