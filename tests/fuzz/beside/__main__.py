"""``python -m tests.fuzz.beside KUBECONFIG SECONDS SEED``: random writes to a real cluster and to a
server of ours, all of them dry runs, and where the answers differ.

Objects come from the fuzz, and from YAML in a folder: whatever in it has an apiVersion and a kind.
Each is changed here and there by the schemas of the real server, and sent as a create, an update of
an object that both have, or one of four patches. The cluster should have the release that ours
plays, and no controllers but those of namespaces: others write to the objects. A namespace of its
own is left behind, and what stands in no namespace with names that begin with ``beside-``.
"""

import argparse
import asyncio
import copy
import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import yaml

from fakekube import Cluster
from fakekube.apimachinery.http import Request
from fakekube.client.kubeconfig import load_client
from fakekube.client.transport import Transport, TransportError
from fakekube.client.users import admin
from tests.fuzz.beside.changing import Changer, Tree
from tests.fuzz.beside.comparing import Answer, difference
from tests.fuzz.objects import objects

PATCHES = {
    "MERGE": "application/merge-patch+json", "STRATEGIC": "application/strategic-merge-patch+json",
    "JSON": "application/json-patch+json", "APPLY": "application/apply-patch+yaml"}
WAYS = ("POST", "POST", "POST", "PUT", "PUT", "STATUS", *PATCHES)
SERVERS_OWN = ("managedFields", "uid", "resourceVersion", "creationTimestamp")
VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}")
LEFT_OUT = ("Namespace", "Event", "SelfSubjectReview")


class Kind(NamedTuple):
    """A kind: its name with its version, the path of its collection, whether it has a status."""

    name: str
    path: str
    has_status: bool


class Sides:
    """Both servers."""

    def __init__(self, real: Transport, ours: Transport) -> None:
        self.both = (real, ours)

    async def ask(
        self, method: str, path: str, bodies: Any = None, media: str = "application/json", **query: str,
    ) -> list[Answer]:
        """What each answers; ``bodies`` has one for each."""
        found = []
        for side, transport in enumerate(self.both):
            body = b"" if bodies is None else json.dumps(bodies[side], ensure_ascii=False, separators=(",", ":")).encode()
            answer = await transport.request(Request(
                method, path, {name: [value] for name, value in query.items()},
                {"content-type": media, "accept": "application/json", "user-agent": "beside/1"}, body, user=admin()))
            try:
                told = orjson.loads(answer.body)
            except orjson.JSONDecodeError:
                told = answer.body.decode("latin-1")
            warnings = tuple(sorted(text for name, text in answer.headers if name.lower() == "warning"))
            found.append(Answer(answer.status, told, warnings))
        return found


class Beside:
    """One run."""

    def __init__(self, sides: Sides, seed: int, out: Path) -> None:
        self.sides, self.out, self.namespace = sides, out.open("w"), f"beside-{seed}"
        self.seed, self.counts = seed, Counter[str]()
        self._seeds: dict[str, list[Tree]] = {}
        self._stored: dict[str, list[str]] = {}
        month = datetime.now(UTC).strftime("%Y-%m")
        self._times = re.compile(month + r"-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC( m=\S+)?)")

    async def prepare(self, kinds: re.Pattern[str], seeds: Path | None) -> None:
        """Read what the real server has, and the objects to begin with."""
        schemas, self.schema_of = await self._schemas()
        self.changer = Changer(self.seed, schemas)
        self.kinds = [kind for kind in await self._served() if kinds.search(kind.name) and kind.name in self.schema_of]
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        await self.sides.ask("POST", "/api/v1/namespaces", [namespace] * 2)
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}  # which pods need
        await self.sides.ask("POST", f"/api/v1/namespaces/{self.namespace}/serviceaccounts", [account] * 2)
        paths = {kind.path.replace(self.namespace, "default"): kind.name for kind in self.kinds}
        for path, tree in objects():
            if path in paths:
                version, _, name = paths[path].rpartition("/")
                self._begin_with({**tree, "apiVersion": version, "kind": name, "metadata": {"name": "g"}})
        self._read(seeds)

    def _read(self, seeds: Path | None) -> None:
        for file in sorted(seeds.rglob("*.yaml")) if seeds is not None else ():
            for document in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader):
                self._look_for_objects(document)

    async def _get(self, path: str) -> Any:
        answer = await self.sides.both[0].request(Request("GET", path, {}, {"accept": "application/json"}, b""))
        return orjson.loads(answer.body) if answer.status == 200 else {}

    async def _schemas(self) -> tuple[Tree, dict[str, str]]:
        schemas: Tree = {}
        for path in (await self._get("/openapi/v3"))["paths"]:
            if path.startswith(("api/", "apis/")):
                schemas |= (await self._get(f"/openapi/v3/{path}")).get("components", {}).get("schemas", {})
        return schemas, {
            f"{gvk['group']}/{gvk['version']}/{gvk['kind']}".lstrip("/"): name
            for name, schema in schemas.items() for gvk in schema.get("x-kubernetes-group-version-kind", ())}

    async def _served(self) -> list[Kind]:
        groups = (await self._get("/apis"))["groups"]
        versions = [("v1", "/api/v1"), *((each["groupVersion"], f"/apis/{each['groupVersion']}")
                    for group in groups for each in group["versions"])]
        found = []
        for version, root in versions:
            resources = (await self._get(root)).get("resources", [])
            with_status = [each["name"].removesuffix("/status") for each in resources if each["name"].endswith("/status")]
            found += [
                Kind(f"{version}/{each['kind']}", f"{root}/namespaces/{self.namespace}/{each['name']}" if each["namespaced"]
                     else f"{root}/{each['name']}", each["name"] in with_status)
                for each in resources
                if "/" not in each["name"] and {"create", "get"} <= {*each["verbs"]} and each["kind"] not in LEFT_OUT]
        return found

    def _look_for_objects(self, value: Any) -> None:
        if isinstance(value, dict) and isinstance(value.get("apiVersion"), str) and isinstance(value.get("kind"), str):
            self._begin_with(value)
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            self._look_for_objects(one)

    def _begin_with(self, tree: Tree) -> None:
        self.changer.learn(tree)
        if isinstance(tree.get("metadata", {}), dict):
            self._seeds.setdefault(f"{tree['apiVersion']}/{tree['kind']}", []).append(tree)

    def _new(self, kind: Kind, name: str) -> Tree:
        version, _, word = kind.name.rpartition("/")
        seeds = self._seeds.get(kind.name)
        if not seeds:
            tree = self.changer.value({"$ref": f"/{self.schema_of[kind.name]}"}, "")
            return {**tree, "apiVersion": version, "kind": word, "metadata": {"name": name}}
        tree = copy.deepcopy(self.changer.rnd.choice(seeds))
        metadata = {key: value for key, value in tree.get("metadata", {}).items() if key not in ("namespace", "generateName")}
        return {**tree, "metadata": {**metadata, "name": name}}

    async def _object_of_both(self, kind: Kind) -> str | None:
        """The name of an object that both have, made at the first call; None when none can be."""
        if kind.name not in self._stored:
            names = self._stored[kind.name] = []
            for number in range(8):
                tree = self._new(kind, f"{self.namespace}-{number}")
                if [answer.status for answer in await self.sides.ask("POST", kind.path, [tree] * 2)] == [201, 201]:
                    names.append(tree["metadata"]["name"])
        names = self._stored[kind.name]
        return self.changer.rnd.choice(names) if names else None

    async def once(self) -> None:
        """One request to both."""
        rnd = self.changer.rnd
        kind, how, validation = rnd.choice(self.kinds), rnd.choice(WAYS), rnd.choice(("Strict", "Strict", "Warn", "Ignore"))
        query = {"dryRun": "All", "fieldManager": "beside", "fieldValidation": validation}
        schema = {"$ref": f"/{self.schema_of[kind.name]}"}
        if how == "POST" or (how == "STATUS" and not kind.has_status):
            body = self.changer.changed(self._new(kind, "g"), schema)
            return self._compare(kind, f"POST {validation}", body, await self.sides.ask("POST", kind.path, [body] * 2, **query))
        name = await self._object_of_both(kind)
        if name is None:
            return None
        path, stored = f"{kind.path}/{name}", [answer.body for answer in await self.sides.ask("GET", f"{kind.path}/{name}")]
        for tree in stored:
            tree["metadata"] = {key: value for key, value in tree["metadata"].items() if key not in SERVERS_OWN}
        changed = self.changer.changed(copy.deepcopy(stored[0]), schema)
        patch = delta(stored[0], changed)
        whole = [merged(stored[0], patch), merged(stored[1], of_other(patch, *stored))]
        if how in ("PUT", "STATUS"):
            place = f"{path}/status" if how == "STATUS" else path
            return self._compare(kind, f"{how} {validation}", changed, await self.sides.ask("PUT", place, whole, **query))
        whole = [whole[0], in_order(whole[1], whole[0])]  # an error may quote them
        bodies: list[Any] = [patch, of_other(patch, *stored)]
        if how == "JSON":
            bodies = [[{"op": "add", "path": f"/{key}", "value": tree[key]} for key in patch if key in tree and key != "metadata"]
                      for tree in whole]
        elif how == "APPLY":
            query["force"] = rnd.choice(("true", "false"))
            bodies = [{key: value for key, value in tree.items() if key != "status"} for tree in whole]
        self._compare(kind, f"{how} {validation}", bodies[0], await self.sides.ask("PATCH", path, bodies, PATCHES[how], **query))
        return None

    def _compare(self, kind: Kind, how: str, body: Any, answers: list[Answer]) -> None:
        self.counts[str(answers[0].status)] += 1
        found = difference(*answers, self._times)
        if found is not None:
            self.counts["differences"] += 1
            self.out.write(json.dumps({"kind": kind.name, "how": how, **found._asdict(), "body": body}) + "\n")
            self.out.flush()


def delta(old: Tree, new: Tree) -> Tree:
    """The merge patch from one tree to another."""
    found: Tree = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if below := delta(before, value):
                found[key] = below
        elif key not in old or value != before:
            found[key] = value
    return found


def merged(tree: Tree, patch: Tree) -> Tree:
    """What a merge patch of ``delta`` makes of a tree."""
    found = {key: value for key, value in tree.items() if patch.get(key, value) is not None}
    for key, value in patch.items():
        if value is not None:
            both = isinstance(value, dict) and isinstance(tree.get(key), dict)
            found[key] = merged(tree[key], value) if both else value
    return found


def of_other(patch: Tree, one: Tree, other: Tree) -> Tree:
    """A patch of one object with the names that were drawn for the volumes of another one."""
    text = json.dumps(patch)
    for drawn in zip(*(VOLUME.findall(json.dumps(tree)) for tree in (one, other)), strict=False):
        text = text.replace(*drawn)
    changed: Tree = json.loads(text)
    return changed


def in_order(tree: Any, like: Any) -> Any:
    """A tree with its keys in the order that they have in another one, and then the others."""
    if isinstance(tree, dict) and isinstance(like, dict):
        return {key: in_order(tree[key], like.get(key)) for key in dict.fromkeys([*like, *tree]) if key in tree}
    if isinstance(tree, list) and isinstance(like, list) and len(tree) == len(like):
        return [in_order(*pair) for pair in zip(tree, like, strict=True)]
    return tree


async def run(arguments: argparse.Namespace) -> None:
    """Send requests for so many seconds, and print what came of them."""
    real, loop = load_client(arguments.kubeconfig), asyncio.get_running_loop()
    options = {"authorization_mode": "Node,RBAC", "nodes": 0, "controllers": "namespace,serviceaccount", "clock": "real"}
    async with Cluster(**options) as cluster:
        beside = Beside(Sides(real.transport, cluster.client.transport), arguments.seed, arguments.out)
        await beside.prepare(re.compile(arguments.kinds), arguments.seeds)
        end = loop.time() + arguments.seconds
        while loop.time() < end:
            try:
                await beside.once()
            except TransportError:  # the real server panicked, and closed the connection
                beside.counts["cut off"] += 1
        print(f"seed {arguments.seed}: {dict(beside.counts)}; see {arguments.out}")
    await real.transport.close()


def main() -> None:
    """Read the arguments, and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.beside", description=__doc__)
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int)
    parser.add_argument("--kinds", default="", help="a regular expression over apps/v1/Deployment, v1/Pod")
    parser.add_argument("--seeds", type=Path, help="a folder of YAML with objects")
    parser.add_argument("--out", type=Path, default=Path(".beside.jsonl"))
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
