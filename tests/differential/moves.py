"""The single requests of a random scenario, drawn with what earlier answers said: names, versions,
objects, tokens.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from benchmarks import shapes
from fakekube.registry.kind import Kind
from tests.differential.servers import APPLY, JSON, MERGE, PATCH, STRATEGIC, Tree
from tests.releases.specimens import ENDING, NAMES, TEMPLATE, collection, specimen

NAMESPACES = ("default", "default", "default", "kube-system", "other", "missing")
NAMES_DRAWN = ("a", "b", "c", "d", "e")
PROTOBUF, YAML = "application/vnd.kubernetes.protobuf", "application/yaml"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
ACCEPTS = ("", "", "", TABLE, TABLE, PROTOBUF, YAML, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
MANAGERS = ("one", "two", "three")
COMMON = (  # kinds that come often: those with templates, and those that decide about others
    "pods", "pods", "pods", "pods", "jobs", "jobs", "deployments", "replicasets", "configmaps", "configmaps", "limitranges",
    "resourcequotas", "priorityclasses", "serviceaccounts", "namespaces", "services", "secrets", "nodes")
GROUPS = ("", "apps", "batch", "scheduling.k8s.io")
OBJECTS = 400


class Move(NamedTuple):
    """One request."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    kind: Kind | None = None
    canonical: bool = False

    @property
    def text(self) -> str:
        """What is asked, on a line."""
        query = "&".join(f"{name}={value}" for name, value in self.query.items())
        media, accept = self.headers.get("content-type", "").rpartition("/")[2], self.headers.get("accept", "")
        body = self.body[:2000].decode(errors="replace").replace("\n", " ")
        return f"{self.method} {self.path}{'?' + query if query else ''} {media} {accept} {body}"


class Moves:
    """Draws requests. ``learn`` is told every answer."""

    def __init__(self, rng: random.Random, kinds: Sequence[Kind]) -> None:
        self.rng, self.kinds = rng, list(kinds)
        self.common = [kind for name in COMMON for kind in kinds if kind.plural == name and kind.group in GROUPS]
        self.objects: dict[str, tuple[Kind, Tree]] = {}  # by path, as last seen
        self.revisions: list[int] = [1]
        self.pages: list[tuple[Kind, str, str]] = []

    def learn(self, move: Move, status: int, body: bytes, revision: int) -> None:
        """Keep what an answer tells."""
        self.revisions = [*self.revisions[-20:], revision]
        if move.kind is None or status >= 300 or body[:1] != b"{":
            return
        tree = orjson.loads(body)
        metadata = tree.get("metadata") or {}
        if tree.get("kind") == move.kind.kind and "uid" in metadata and move.query.get("dryRun") is None:
            path = f"{collection(move.kind, metadata.get('namespace', ''))}/{metadata['name']}"
            if move.method == "DELETE" and "deletionTimestamp" not in metadata:
                self.objects.pop(path, None)
            else:
                self.objects[path] = move.kind, tree
            while len(self.objects) > OBJECTS:
                del self.objects[next(iter(self.objects))]
        elif metadata.get("continue"):
            self.pages = [*self.pages[-5:], (move.kind, move.path, metadata["continue"])]

    def draw(self) -> Move:
        """A request."""
        rng = self.rng
        writes: list[tuple[int, Callable[[], Move]]] = [
            (26, self.create), (8, self.template_again), (5, self.broken), (4, self.raw), (6, self.delete), (12, self.listing),
            (4, self.watch), (2, self.next_page)]
        if self.objects:
            writes += [(7, self.put), (7, self.json_patch), (8, self.merge_patch), (7, self.strategic_patch), (8, self.apply),
                       (8, self.status), (5, self.subresource), (5, self.get)]
        return rng.choices([make for _, make in writes], [weight for weight, _ in writes])[0]()

    def every(self, kind: Kind) -> list[Move]:
        """The life of a small right object of a kind, twice over: what is remembered of the first
        one meets the second one.
        """
        path, tree = collection(kind), specimen(kind)
        item = f"{path}/{tree.get('metadata', {}).get('name', '')}"
        label = {"metadata": {"labels": {"l": "1"}}}

        def write(method: str, where: str, body: Any, media: str = JSON, **query: str) -> Move:
            return Move(method, where, orjson.dumps(body), {"content-type": media}, query, kind)

        moves = [write("POST", path, tree, dryRun="All")]
        for value in "12":
            moves += [
                write("POST", path, tree), Move("GET", item, kind=kind), Move("GET", path, b"", {"accept": TABLE}, {}, kind),
                write("PUT", item, {**tree, "metadata": {**tree.get("metadata", {}), "annotations": {"a": value}}}),
                write("PATCH", item, label, MERGE), write("PATCH", item, {"metadata": {"labels": {"s": value}}}, STRATEGIC),
                write("PATCH", item, [{"op": "add", "path": "/metadata/labels/j", "value": value}], PATCH),
                write("PATCH", item, {**tree, "metadata": {**tree.get("metadata", {}), "labels": {"b": value}}}, APPLY,
                      fieldManager="one", force="true"),
                write("PATCH", f"{item}/status", {"status": {"conditions": []}}, MERGE),
                write("POST", path, {**tree, "spec": "wrong", "extra": value}, fieldValidation="Strict"),
                Move("GET", path, b"", {"accept": PROTOBUF}, {"limit": "1"}, kind),
                write("DELETE", item, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})]
        return moves

    # what is drawn

    def kind(self) -> Kind:
        return self.rng.choice(self.common if self.rng.random() < 0.7 else self.kinds)

    def name(self) -> str:
        return self.rng.choice(NAMES_DRAWN)

    def some(self) -> tuple[str, Kind, Tree]:
        """An object that was seen, and its path."""
        path = self.rng.choice(list(self.objects))
        return path, *self.objects[path]

    def options(self, **more: str) -> dict[str, str]:
        """Options of a write."""
        rng, query = self.rng, dict(more)
        if rng.random() < 0.12:
            query["dryRun"] = "All"
        if rng.random() < 0.25:
            query["fieldManager"] = rng.choice(MANAGERS)
        if rng.random() < 0.3:
            query["fieldValidation"] = rng.choice(("Strict", "Warn", "Ignore"))
        return query

    def tree(self, kind: Kind) -> Tree:
        """A new object of a kind, right for the most part."""
        rng, tree = self.rng, orjson.loads(orjson.dumps(specimen(kind, self.name())))
        metadata = tree.setdefault("metadata", {})
        if kind.kind not in NAMES and "get" in kind.verbs and rng.random() < 0.2:
            metadata["generateName"] = f"{metadata.pop('name')}-"
        if rng.random() < 0.5:
            metadata["labels"] = {"app": rng.choice("xyz"), "run": str(rng.randrange(4))}
        if rng.random() < 0.2:
            metadata["annotations"] = {"note": rng.choice(('"spec":', "n", '{"spec":{}}', ""))}
        if rng.random() < 0.1:
            metadata["finalizers"] = ["example.com/hold"]
        if rng.random() < 0.15 and self.objects:
            _, owner_kind, owner = self.some()
            metadata["ownerReferences"] = [{
                "apiVersion": owner_kind.api_version, "kind": owner_kind.kind, "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"]}]
        spec = self.pod_spec()
        if kind.kind == "Pod":
            tree["spec"] = spec
        elif kind.kind == "LimitRange" and rng.random() < 0.7:
            tree["spec"] = {"limits": [{"type": "Container", "defaultRequest": {"cpu": f"{rng.randrange(1, 5)}00m"}}]}
        elif kind.kind == "ResourceQuota" and rng.random() < 0.7:
            tree["spec"] = {"hard": {rng.choice(("pods", "requests.cpu", "count/jobs.batch")): str(rng.randrange(12))}}
        elif kind.kind == "PriorityClass" and rng.random() < 0.5:
            tree |= {"globalDefault": rng.random() < 0.5, "value": rng.randrange(100)}
        elif kind.kind == "Namespace" and rng.random() < 0.7:
            metadata["name"] = "other"
        elif (template := _template(tree)) is not None and rng.random() < 0.8:
            template["spec"] = spec | {"restartPolicy": template["spec"].get("restartPolicy", "Always")}
        return tree

    def pod_spec(self) -> Tree:
        """One of few specs, or one that never was."""
        rng = self.rng
        if rng.random() < 0.35:
            return orjson.loads(orjson.dumps(rng.choice((TEMPLATE, ENDING))["spec"]))
        spec = shapes.pod(rng.randrange(6) if rng.random() < 0.6 else rng.randrange(100_000))["spec"]
        spec.pop("runtimeClassName", None)
        if rng.random() < 0.15:
            name = rng.choice(("kube-api-access-UPPER", "kube-api-access-abcde", "own"))
            spec["volumes"] = [*spec.get("volumes", ()), {"name": name, "emptyDir": {}}]
        if rng.random() < 0.15:
            spec[rng.choice(("hostname", "subdomain", "nodeName", "priorityClassName"))] = rng.choice(("a", "UPPER", "b"))
        if rng.random() < 0.1:
            spec["terminationGracePeriodSeconds"] = rng.choice((1, 1.0, 30, 1.5))
        return spec

    # writes

    def create(self) -> Move:
        kind = self.kind()
        return self.send("POST", collection(kind, self.rng.choice(NAMESPACES)), self.tree(kind), kind=kind)

    def template_again(self) -> Move:
        """A pod of a spec that came often, with a new name."""
        kind = next(kind for kind in self.kinds if kind.kind == "Pod")
        tree = shapes.pod(self.rng.randrange(2))
        tree["metadata"]["name"] = f"again-{self.rng.randrange(1_000_000)}"
        return self.send("POST", collection(kind), tree, kind=kind)

    def send(
        self, method: str, path: str, tree: Any, media: str = JSON, *, kind: Kind | None = None, **query: str,
    ) -> Move:
        """A request with a tree for its body."""
        headers = {"content-type": media, "user-agent": self.rng.choice(MANAGERS)}
        if self.rng.random() < 0.2:
            headers["accept"] = self.rng.choice((JSON, TABLE, PROTOBUF, YAML))
        return Move(method, path, orjson.dumps(tree), headers, self.options(**query), kind, canonical=self.rng.random() < 0.3)

    def broken(self) -> Move:
        """A create whose body is wrong somewhere."""
        move, rng = self.create(), self.rng
        body = move.body
        at = rng.randrange(len(body))
        change = rng.randrange(5)
        if change == 0:
            body = body[:at]
        elif change == 1:
            body = body[:at] + bytes([rng.randrange(32, 127)]) + body[at + 1:]
        elif change == 2:
            body = body[:-1] + b',"extra":{"spec":1}}'
        elif change == 3:
            body = body[:-1] + b',"metadata":{"name":"twice"}}'
        else:
            body = body.replace(b'"spec":', rng.choice((b'"Spec":', b'"spec" : ', b'"spec":null,"spec":', b'"sp\\u0065c":')))
        return move._replace(body=body, canonical=False)

    def raw(self) -> Move:
        """A create with the keys in another order, at the top and below."""
        move, rng = self.create(), self.rng

        def shuffled(value: Any) -> Any:
            if isinstance(value, dict):
                names = list(value)
                rng.shuffle(names)
                return {name: shuffled(value[name]) for name in names}
            return [shuffled(item) for item in value] if isinstance(value, list) else value

        return move._replace(body=orjson.dumps(shuffled(orjson.loads(move.body))))

    def put(self) -> Move:
        path, kind, tree = self.some()
        tree = orjson.loads(orjson.dumps(tree))
        self.change(tree)
        if self.rng.random() < 0.3:
            tree["metadata"].pop("resourceVersion", None)
        if self.rng.random() < 0.2:
            tree["metadata"].pop("managedFields", None)
        return self.send("PUT", path, tree, kind=kind)

    def change(self, tree: Tree) -> None:
        """Something else in an object."""
        rng, metadata = self.rng, tree["metadata"]
        what = rng.randrange(5)
        if what == 0:
            metadata.setdefault("labels", {})["changed"] = str(rng.randrange(3))
        elif what == 1:
            metadata.pop("finalizers", None)
        elif what == 2 and isinstance(tree.get("spec"), dict):
            tree["spec"].update(orjson.loads(orjson.dumps(specimen_spec(rng))))
        elif what == 3 and (template := _template(tree)) is not None:
            template["spec"] = self.pod_spec()
        else:
            metadata["annotations"] = {"note": str(rng.randrange(5))}

    def json_patch(self) -> Move:
        path, kind, _ = self.some()
        rng = self.rng
        operations = [rng.choice((
            {"op": "add", "path": "/metadata/labels", "value": {"patched": str(rng.randrange(3))}},
            {"op": "replace", "path": "/metadata/labels/app", "value": "z"},
            {"op": "remove", "path": "/metadata/finalizers"},
            {"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}},
            {"op": "test", "path": "/kind", "value": kind.kind},
            {"op": "replace", "path": "/spec/containers/0/image", "value": f"image:{rng.randrange(5)}"},
        )) for _ in range(rng.randint(1, 2))]
        return self.send("PATCH", path, operations, PATCH, kind=kind)

    def merge_patch(self) -> Move:
        path, kind, _ = self.some()
        rng = self.rng
        return self.send("PATCH", path, rng.choice((
            {"metadata": {"labels": {"merged": str(rng.randrange(3))}}},
            {"metadata": {"labels": None, "annotations": {"m": str(rng.randrange(5))}}},
            {"metadata": {"finalizers": []}},
            {"spec": {"parallelism": rng.randrange(3), "replicas": rng.randrange(3)}},
            {"data": {"key": str(rng.randrange(5))}},
            {"spec": {"activeDeadlineSeconds": rng.randrange(1, 100)}},
        )), MERGE, kind=kind)

    def strategic_patch(self) -> Move:
        path, kind, tree = self.some()
        rng, metadata = self.rng, tree["metadata"]
        container = {"name": "main", "image": f"image:{rng.randrange(5)}"}
        return self.send("PATCH", path, rng.choice((
            {"metadata": {"uid": metadata["uid"], "$deleteFromPrimitiveList/finalizers": ["example.com/hold"]}},
            {"metadata": {"labels": {"strategic": str(rng.randrange(3))}}},
            {"spec": {"containers": [container]}},
            {"spec": {"template": {"spec": {"containers": [container]}}}},
            {"spec": {"tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute"}]}},
        )), STRATEGIC, kind=kind)

    def apply(self) -> Move:
        rng = self.rng
        kind = self.kind() if rng.random() < 0.5 else self.some()[1]
        tree = self.tree(kind)
        tree["metadata"].pop("generateName", None)
        name = tree["metadata"].setdefault("name", self.name())
        query = {"fieldManager": rng.choice(MANAGERS)} | ({"force": "true"} if rng.random() < 0.5 else {})
        return self.send("PATCH", f"{collection(kind)}/{name}", tree, APPLY, kind=kind, **query)

    def status(self) -> Move:
        """The status by a patch of either form, or by a PUT."""
        path, kind, tree = self.some()
        rng = self.rng
        condition = {"type": rng.choice(("Ready", "Available")), "status": rng.choice(("True", "False")), "reason": "R",
                     "lastTransitionTime": "2026-01-01T00:00:00Z", "message": str(rng.randrange(50))}
        status = {"conditions": [condition]} if rng.random() < 0.5 else {"phase": rng.choice(("Running", "Active"))}
        if rng.random() < 0.3:
            return self.send("PUT", f"{path}/status", {**tree, "status": {**(tree.get("status") or {}), **status}}, kind=kind)
        return self.send("PATCH", f"{path}/status", {"status": status}, rng.choice((MERGE, STRATEGIC)), kind=kind)

    def subresource(self) -> Move:
        """Something below a pod, a workload, a namespace or a service account."""
        path, kind, tree = self.some()
        rng, metadata = self.rng, tree["metadata"]
        name, namespace = metadata["name"], metadata.get("namespace", "")
        head = {"metadata": {"name": name, "namespace": namespace}}
        if kind.kind == "Pod":
            which = rng.randrange(4)
            if which == 0:
                target = {"kind": "Node", "name": rng.choice("ab")}
                return self.send("POST", f"{path}/binding", {"apiVersion": "v1", "kind": "Binding", **head, "target": target})
            if which == 1:
                return self.send("POST", f"{path}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", **head})
            if which == 2:
                ephemeral = {"name": f"debug-{rng.randrange(3)}", "image": "busybox"}
                return self.send("PATCH", f"{path}/ephemeralcontainers", {
                    "spec": {"ephemeralContainers": [ephemeral]}}, STRATEGIC, kind=kind)
            return self.send("PATCH", f"{path}/resize", {"spec": {"containers": [
                {"name": "main", "resources": {"requests": {"cpu": "10m"}}}]}}, STRATEGIC, kind=kind)
        if kind.kind == "ServiceAccount":
            token = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
            return self.send("POST", f"{path}/token", token)
        if kind.kind == "Namespace":
            return self.send("PUT", f"{path}/finalize", {**tree, "spec": {"finalizers": []}}, kind=kind)
        return self.send("PATCH", f"{path}/scale", {"spec": {"replicas": rng.randrange(3)}}, MERGE)

    def delete(self) -> Move:
        rng = self.rng
        if not self.objects or rng.random() < 0.15:
            kind = self.kind()
            query = {"labelSelector": rng.choice(("app=x", "run in (1,2)", "app!=y"))}
            return Move("DELETE", collection(kind), b"", {}, self.options(**query), kind)
        path, kind, tree = self.some()
        options: Tree = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if rng.random() < 0.5:
            options["gracePeriodSeconds"] = rng.choice((0, 1, 30))
        if rng.random() < 0.4:
            options["propagationPolicy"] = rng.choice(("Foreground", "Background", "Orphan"))
        if rng.random() < 0.3:
            options["preconditions"] = {"uid": tree["metadata"]["uid"] if rng.random() < 0.7 else "other"}
        return self.send("DELETE", path, options, kind=kind)

    # reads

    def get(self) -> Move:
        path, kind, _ = self.some()
        accept = self.rng.choice(("", "", TABLE, PROTOBUF, YAML))
        return Move("GET", path, b"", {"accept": accept} if accept else {}, {}, kind)

    def listing(self) -> Move:
        rng, kind = self.rng, self.kind()
        while "list" not in kind.verbs:
            kind = self.kind()
        query: dict[str, str] = {}
        if rng.random() < 0.35:
            query["limit"] = str(rng.randrange(1, 5))
        if rng.random() < 0.35:
            query["labelSelector"] = rng.choice(("app=x", "app", "run!=1", "app in (x,y)", "!app"))
        if rng.random() < 0.2:
            query["fieldSelector"] = rng.choice(("metadata.name=a", "metadata.namespace!=default", "status.phase=Running"))
        if rng.random() < 0.4:
            query["resourceVersion"] = str(self.revision())
            if rng.random() < 0.6:
                query["resourceVersionMatch"] = rng.choice(("Exact", "NotOlderThan"))
        path = collection(kind)
        if rng.random() < 0.3 and kind.namespaced:
            path = path.replace("/namespaces/default", "")
        accept = rng.choice(ACCEPTS)
        return Move("GET", path, b"", {"accept": accept} if accept else {}, query, kind)

    def next_page(self) -> Move:
        if not self.pages:
            return self.listing()
        kind, path, token = self.rng.choice(self.pages)
        return Move("GET", path, b"", {}, {"continue": token, "limit": str(self.rng.randrange(1, 5))}, kind)

    def watch(self) -> Move:
        move, rng = self.listing(), self.rng
        if move.kind is None or "watch" not in move.kind.verbs:
            return move
        query = {name: value for name, value in move.query.items() if name in ("labelSelector", "fieldSelector")}
        query["watch"] = "true"
        chosen = rng.randrange(3)
        if chosen:
            query["resourceVersion"] = str(self.revision())
        if chosen == 2:
            query["allowWatchBookmarks"] = "true"
        return move._replace(query=query, headers={"accept": TABLE} if rng.random() < 0.2 else {})

    def revision(self) -> int:
        """One that was, or will be soon."""
        return max(0, self.rng.choice(self.revisions) - self.rng.choice((0, 0, 0, 1, 5, -1)))


def _template(tree: Tree) -> Tree | None:
    """The pod template in a workload."""
    spec: Any = tree.get("spec")
    found = tree.get("template") or (spec.get("template") if isinstance(spec, dict) else None)
    return found if isinstance(found, dict) and isinstance(found.get("spec"), dict) else None


def specimen_spec(rng: random.Random) -> Tree:
    """Fields of a spec that some kinds have."""
    return rng.choice((
        {"replicas": rng.randrange(3)}, {"suspend": rng.random() < 0.5}, {"parallelism": rng.randrange(3)},
        {"activeDeadlineSeconds": rng.randrange(1, 50)}, {"containers": [{"name": "main", "image": "other"}]}))
