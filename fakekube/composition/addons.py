"""Puts into a cluster what an add-on brings, before its controllers run.

Everything is applied, so that a cluster that has it already, from a snapshot or from an earlier
run, stays as it is. Definitions come first and are waited for.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.composition import manifests as files
from fakekube.webhooks.callables import conversion_url

if TYPE_CHECKING:
    from fakekube.runtime.addon import AddOn

DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)
ESTABLISHED = "Established"


def definitions_of(addon: "AddOn") -> list[Tree]:
    """The CustomResourceDefinitions of its kinds, and those among its manifests.

    Raises OptionError for a manifest that is none, ValueError for kinds that do not go together.
    """
    return [*_of_kinds(addon), *(tree for tree in _manifests(addon.manifests) if _is_definition(tree))]


async def install(client: Client, addon: "AddOn", conversion: "Callable[[str], Tree] | None" = None) -> None:
    """Apply what an add-on brings; returns once its kinds are served.

    ``conversion`` gives the ``clientConfig`` of the webhook that converts objects of a definition;
    by default it leads to a function of this process. Raises APIError for what the server refuses,
    and as ``definitions_of``.
    """
    manager = f"fakekube-{addon.name}"
    definitions = [_converting(tree, addon, conversion or _in_process) for tree in definitions_of(addon)]
    for tree in definitions:
        await client.apply(tree, field_manager=manager)
    for tree in definitions:
        await _established(client, meta.name_of(tree))
    for tree in _manifests(addon.manifests):
        if not _is_definition(tree):
            await client.apply(tree, field_manager=manager)


def _in_process(name: str) -> Tree:
    return {"url": conversion_url(name)}


def _converting(definition: Tree, addon: "AddOn", client_config: Callable[[str], Tree]) -> Tree:
    """A definition, with its conversion webhook if it has one."""
    name = meta.name_of(definition)
    if name not in addon.conversions:
        return definition
    webhook = {"clientConfig": client_config(name), "conversionReviewVersions": ["v1"]}
    return {**definition, "spec": {**definition["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}}


def _of_kinds(addon: "AddOn") -> Iterator[Tree]:
    if not addon.kinds:
        return
    from fakekube.types.definitions import definition_of

    by_resource: dict[tuple[str, str], list[Any]] = {}
    for kind in addon.kinds:
        by_resource.setdefault((kind.resource.group, kind.resource.plural), []).append(kind)
    for versions in by_resource.values():
        yield definition_of(*versions)


def _manifests(given: "Iterable[Tree | str | Path]") -> Iterator[Tree]:
    for each in given:
        if isinstance(each, Path):
            yield from files.read_files(each)
        elif isinstance(each, str):
            yield from files.read(each)
        else:
            yield each


def _is_definition(tree: Tree) -> bool:
    return (tree["apiVersion"], tree["kind"]) == (DEFINITIONS.api_version, DEFINITIONS.kind)


async def _established(client: Client, name: str) -> None:
    found = await client.get(DEFINITIONS, name)
    if _is_established(found):
        return
    version = meta.resource_version_of(found)
    async with await client.watch(DEFINITIONS, field_selector=f"metadata.name={name}", resource_version=version) as events:
        async for event in events:
            if _is_established(event.object):
                return


def _is_established(definition: Tree) -> bool:
    return conditions.is_true((definition.get("status") or meta.EMPTY).get("conditions") or (), ESTABLISHED)
