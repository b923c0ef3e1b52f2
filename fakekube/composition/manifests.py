"""Manifests from files and directories: YAML of several documents, Lists among them, created in the
order given, but for namespaces and definitions, which come first.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.composition.options import OptionError

ENDINGS = (".yaml", ".yml", ".json")  # kubectl's
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")  # kustomize's
KWOK_GROUPS = ("kwok.x-k8s.io", "config.kwok.x-k8s.io")


class Need(Enum):
    """What others need an object for, in the order in which objects are created, whatever order a
    bundle has.

    Namespaces hold objects, definitions make kinds, and a server that is asked to create a
    definition serves it when it answers.
    """

    NAMESPACES = "namespaces"
    KINDS = "kinds"
    NOTHING = "nothing"


NEEDED = {
    ("v1", "Namespace"): Need.NAMESPACES, ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): Need.KINDS}


def read(text: str, name: str = "manifest") -> list[Tree]:
    """The objects in a YAML text.

    Raises OptionError for what is no manifest, with the file's name.
    """
    from fakekube.apimachinery import yamlfiles

    try:
        documents = yamlfiles.documents(text, name)
    except yamlfiles.FileError as error:
        raise OptionError(str(error)) from error
    result: list[Tree] = []
    for document in documents:
        if document is not None:
            result.extend(_unpacked(document, name))
    return result


def read_files(path: Path) -> list[Tree]:
    """The objects in a file, or in the YAML and JSON files of a directory, sorted by name; what is
    below it is left out.

    Raises OptionError, with the file's name, for what is no manifest or cannot be read, and for a
    folder that kustomize builds something of.
    """
    if not path.is_dir():
        return read(_text_of(path), str(path))
    for name in KUSTOMIZATIONS:
        if (path / name).is_file():
            raise OptionError(f"{path}: a folder with a {name} is built first: give what kubectl kustomize {path} prints")
    files = sorted(each for each in path.iterdir() if each.suffix in ENDINGS and not each.is_dir())
    if not files:
        raise OptionError(f"{path}: there is no file of {', '.join(f'*{ending}' for ending in ENDINGS)} in this directory")
    return [tree for each in files for tree in read(_text_of(each), str(each))]


def _text_of(path: Path) -> str:
    from fakekube.apimachinery import yamlfiles

    try:
        return yamlfiles.text_of(path)
    except yamlfiles.FileError as error:
        raise OptionError(str(error)) from error


def _unpacked(document: object, name: str) -> Iterator[Tree]:
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str) or "apiVersion" not in document:
        is_file = isinstance(document, str) and document.endswith(ENDINGS)
        hint = f": for a file of that name say Path({document!r})" if is_file else ""
        raise OptionError(f"{name}: a document without apiVersion and kind is no manifest{hint}")
    if document["kind"] == "List" and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _unpacked(item, name)
    else:
        yield document


async def create_all(
    client: Client, manifests: "Path | str | Iterable[Tree]", *, add_stages: Callable[[list[Tree]], None] | None = None,
) -> list[Tree]:
    """Create them, and apply over what exists already; the objects as the server has them then, in
    the order given.

    KWOK's Stages and its configuration are no objects of the cluster; they go to ``add_stages``,
    before anything is created. Raises OptionError for what is no manifest or of a kind that is not
    served, APIError for what the server refuses.
    """
    name = str(manifests) if isinstance(manifests, Path) else "manifest"
    if isinstance(manifests, Path):
        trees = read_files(manifests)
    elif isinstance(manifests, str):
        trees = read(manifests)
    else:
        trees = list(manifests)
    stages = [tree for tree in trees if _is_for_kwok(tree)]
    if stages:
        _add(stages, name, add_stages)
    trees = [tree for tree in trees if not _is_for_kwok(tree)]
    places: dict[Need, list[int]] = {need: [] for need in Need}
    for place, tree in enumerate(trees):
        places[NEEDED.get((tree["apiVersion"], tree["kind"]), Need.NOTHING)].append(place)
    created: dict[int, Tree] = {}
    for need in Need:
        try:
            for place in places[need]:
                created[place] = await _create(client, trees[place])
        finally:
            if need is Need.KINDS and places[need]:
                client.forget_resources()  # once for all: to ask what is served takes as long as a definition
    return [created[place] for place in range(len(trees))]


def _is_for_kwok(tree: Tree) -> bool:
    return str(tree["apiVersion"]).partition("/")[0] in KWOK_GROUPS


def _add(stages: list[Tree], name: str, add_stages: Callable[[list[Tree]], None] | None) -> None:
    for tree in stages:
        if tree["kind"] not in ("Stage", "KwokConfiguration"):
            raise OptionError(f"{name}: KWOK's {tree['kind']} is not supported: only Stage and KwokConfiguration are")
    if add_stages is None:
        raise OptionError(f"{name}: Stages are for the kubelet, and none runs here")
    try:
        add_stages(stages)
    except ValueError as error:
        raise OptionError(f"{name}: {error}") from error


async def _create(client: Client, tree: Tree) -> Tree:
    try:
        resource = await client.for_object(tree)
    except (KeyError, ValueError) as error:
        raise OptionError(f'no matches for kind "{tree["kind"]}" in version "{tree["apiVersion"]}"') from error
    namespace = meta.namespace_of(tree) or (client.namespace if resource.namespaced else "")
    try:
        return await client.create(resource, tree, namespace)
    except APIError as error:
        if error.reason != "AlreadyExists":
            raise
        return await client.patch(resource, meta.name_of(tree), namespace, tree, type="apply", force=True)
