"""A story: a cluster, what is done to it, and everything that was written and said meanwhile.

``python -m tests.controllers.stories.story [FILE...]`` plays these files, or those of this folder,
and writes down what happened, for review: the difference to what stood there is the change in
behaviour. Stories of an add-on stand in a folder of its own tests.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.composition.cluster import Cluster
from fakekube.testing.explain import offset
from fakekube.testing.history import Change, History
from fakekube.util.treediff import MISSING, differences
from fakekube_controllers.kueue.admissionchecks.autoscaler import autoscaler

FOLDER = Path(__file__).parent
IGNORED = ("metadata.resourceVersion", "metadata.managedFields", "metadata.uid", "metadata.creationTimestamp",
           "spec.claimRef.resourceVersion")
SILENT = ("leases", "flowschemas", "prioritylevelconfigurations")
SUFFIX_LENGTH = 5
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def stories(folder: Path = FOLDER) -> list[str]:
    """The names of all in a folder."""
    return sorted(file.stem for file in folder.glob("*.yaml"))


async def play(name: str, folder: Path = FOLDER) -> list[str]:
    """What happened, a line for each write, each field that it changed, and each Event; at last
    what was refused, and the metrics that were looked at.
    """
    story = yaml.load((folder / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    extra = [_addon(name, told) for name, told in story.get("addons", {}).items()]
    async with Cluster(**{"nodes": 1, "clock": "manual", "extra": extra, **story.get("options", {})}) as cluster:
        await cluster.settle()
        began, refused = cluster.apiserver.storage.revision, list[str]()
        for step in story["steps"]:
            if "refused" in step:
                refused += [line for each in step["refused"] for line in await _refused(cluster, each)]
            elif "metrics" in step:
                refused += [line for line in cluster.metrics.text().splitlines() if step["metrics"] in line]
            else:
                await _step(cluster, step)
        await cluster.settle()
        return [*happened(cluster, began, story.get("without", ())), *refused]


def happened(cluster: Cluster, began: int, without: Sequence[str]) -> list[str]:
    """What happened since a revision, but for what some user agents did."""
    return list(_told(History.of(cluster), began, without))


def _addon(name: str, told: Tree | None) -> Any:
    """An add-on with a configuration or with switches; an autoscaler leaves all to the story."""
    if name == "autoscaler":
        return autoscaler(lambda _: None)
    addon = import_module(f"fakekube_controllers.{name}").addon
    return addon(told) if name == "kueue" else addon(**told or {})


async def _refused(cluster: Cluster, what: Tree) -> list[str]:
    """Why an object is not created, or a step not done."""
    try:
        if "kind" in what:
            await cluster.client.create(await cluster.client.for_object(what), what)
        else:
            await _step(cluster, what)
    except APIError as error:
        told = [f"    {each.get('reason')} {each.get('field')}: {each.get('message')}" for each in error.causes]
        return [f"REFUSED {error.code} {error.reason}: {error.message}", *told]
    return [f"ACCEPTED {_json(what)}"]


async def _step(cluster: Cluster, step: Tree) -> None:
    """One deed: its name, what it is done to, and with what."""
    ((deed, what),) = step.items()
    client = cluster.client
    if deed == "advance":
        await cluster.advance(what)
    elif deed == "load":
        await cluster.load(what)
        await cluster.settle()
    elif deed in ("stop", "start", "restart"):
        await getattr(cluster, f"{deed}_controller")(what)
    elif deed in ("stop_kubelet", "start_kubelet", "shut_down", "drain"):
        await getattr(cluster.node(what), deed)()
    else:
        kind, _, name = what["of"].partition("/")
        resource = await client.resource(kind)
        namespace = what.get("in", "default") if resource.namespaced else ""
        if deed == "own":
            owners = []
            for each in what["by"]:
                owner = await client.get(resource, each.partition("/")[2], namespace)
                owners.append({"apiVersion": resource.api_version, "kind": resource.kind, "name": owner["metadata"]["name"],
                               "uid": owner["metadata"]["uid"], "blockOwnerDeletion": what.get("block", False)})
            await client.create(resource, {"metadata": {"name": name, "namespace": namespace, "ownerReferences": owners}})
        elif deed == "patch":
            await client.patch(
                resource, name, namespace, what["with"], type=what.get("type", "merge"), subresource=what.get("through", ""))
        elif deed == "delete":
            await client.delete(
                resource, name, namespace, propagation_policy=what.get("policy", ""), grace_period_seconds=what.get("grace"))
        elif deed == "evict":
            await client.evict(name, namespace)
        else:
            raise ValueError(f"nobody knows how to {deed}")
        await cluster.settle()


def _told(history: History, began: int, without: Sequence[str]) -> Iterator[str]:
    """Without what some user agents do. Of an object that is made like one before it, by the same
    owner, only what is different.
    """
    names, like = _Names(history), dict[Any, Tree]()
    for change in history.changes:
        if change.revision <= began or change.resource.resource in SILENT or _agent(change) in (*without, "the server"):
            continue
        at = offset(history, change.time)
        if change.resource.resource == "events":
            if change.type != "DELETED":
                yield names.plain(f"{at} {_event(change.object)}")
            continue
        yield names.plain(f"{at} {change.type} {change.name} by {_by(change)}")
        before, after = change.before, change.object
        if change.type == "ADDED" and _agent(change) != "fakekube":
            key = change.resource, *(owner["uid"] for owner in after["metadata"].get("ownerReferences", ()))
            before, like[key] = like.get(key), after
            if before is None:
                yield names.plain(f"    {_json(_without(after))}")
        if before is not None and change.type != "DELETED":
            for field in differences(before, after, ignored=IGNORED):
                yield names.plain(f"    {field.path}: {_json(field.old)} -> {_json(field.new)}")


def _agent(change: Change) -> str:
    return "the server" if change.cause is None else change.cause.user_agent.partition("/")[0]


def _by(change: Change) -> str:
    assert change.cause is not None
    return f"{_agent(change)} {change.cause.method} {change.cause.path.partition('?')[0].rpartition('/')[2]}"


def _event(event: Tree) -> str:
    about = event["involvedObject"]
    source = event.get("source", {}).get("component") or event.get("reportingComponent", "")
    field = f" {about['fieldPath']}" if "fieldPath" in about else ""
    count = event.get("count") or (event.get("series") or {}).get("count") or 1
    times = "" if count == 1 else f" ({count} times)"
    what = f"{about['kind']} {about.get('namespace', '')}/{about['name']}{field}"
    return f"EVENT {event['type']} {event['reason']} {source} {what}: {event.get('message', '')}{times}"


def _without(tree: Tree) -> Tree:
    ignored = [path.rpartition(".")[2] for path in IGNORED]
    return {**tree, "metadata": {name: value for name, value in tree["metadata"].items() if name not in ignored}}


def _json(value: Any) -> str:
    return "none" if value is MISSING else json.dumps(value, sort_keys=True, ensure_ascii=False)


class _Names:
    """Calls what chance has named by the order in which it came."""

    def __init__(self, history: History) -> None:
        self._names: dict[str, str] = {}
        counts: dict[str, int] = {}
        for change in history.changes:
            meta = change.object["metadata"]
            kind = change.resource.resource
            self._names.setdefault(meta["uid"], f"uid-of-{kind}-{meta['name']}")
            base = meta.get("generateName", "")
            suffix = meta["name"].removeprefix(base)
            if base and len(suffix) == SUFFIX_LENGTH and meta["name"] not in self._names and kind != "events":
                counts[base] = counts.get(base, 0) + 1
                self._names[meta["name"]] = f"{base}#{counts[base]}"
        by_length = sorted((name for name in self._names if not UID.fullmatch(name)), key=len, reverse=True)
        self._pattern = re.compile("|".join([UID.pattern, *map(re.escape, by_length)]))

    def plain(self, line: str) -> str:
        """The line without what chance has named."""
        for _ in range(2):  # the uid of a name
            line = self._pattern.sub(lambda found: self._names.get(found[0], "uid"), line)
        return line


async def _write_down(files: list[str]) -> None:
    for file in [Path(each) for each in files] or [FOLDER / f"{name}.yaml" for name in stories()]:
        file.with_suffix(".txt").write_text("\n".join(await play(file.stem, file.parent)) + "\n")


if __name__ == "__main__":
    asyncio.run(_write_down(sys.argv[1:]))
