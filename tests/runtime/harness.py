"""A server of a page, whose faults can be ordered, and a manager over it: the engine is tested
without the real one.
"""

from contextlib import asynccontextmanager

import orjson

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.cache.mutation import MutationDetector
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import Resource
from fakekube.runtime.manager import Manager
from fakekube.util.activity import Activity
from fakekube.util.clock import ManualClock
from fakekube.util.driver import VirtualDriver
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

WEBS = Resource("example.com", "v1", "webs", "Web")


def merge(target, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif key == "ownerReferences" and value and value[0].get("$patch") == "delete":
            result[key] = [owner for owner in result.get(key, []) if owner["uid"] != value[0]["uid"]]
        else:
            result[key] = merge(result.get(key), value)
    return result


class TinyStream:
    def __init__(self, server, plural, namespace, since):
        self.server, self.plural, self.namespace, self.since = server, plural, namespace, since

    def start(self, sink):
        self.sink = sink
        self.server.streams.append(self)
        if self.since < self.server.compacted:
            status = APIError(410, "Expired", f"too old resource version: {self.since}").status()
            sink.send(Frame(orjson.dumps({"type": "ERROR", "object": status}) + b"\n"))
            self.end()
            return
        for revision, plural, frame, namespace in self.server.log:
            if revision > self.since:
                self.deliver(plural, frame, namespace)

    def deliver(self, plural, frame, namespace):
        if plural == self.plural and self.namespace in ("", namespace):
            self.sink.send(frame)

    def end(self):
        self.stop()
        self.sink.end()

    def stop(self):
        if self in self.server.streams:
            self.server.streams.remove(self)


class TinyServer:
    """Objects by (plural, namespace, name); knows neither kinds nor validation."""

    def __init__(self, rng=None):
        self.rng = rng or Rng("server")
        self.objects, self.log, self.streams = {}, [], []
        self.revision, self.compacted = 1, 0
        self.requests: list[Request] = []
        self.fault = None  # called with every request; what it raises is the answer

    async def handle(self, request: Request) -> Response:
        self.requests.append(request)
        try:
            if self.fault is not None:
                self.fault(request)
            return self.answer(request)
        except APIError as error:
            return Response(error.code, orjson.dumps(error.status()))

    def answer(self, request):
        parts = request.path.strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = ""
        if parts[0] == "namespaces" and len(parts) > 2:
            namespace, parts = parts[1], parts[2:]
        plural, name = parts[0], parts[1] if len(parts) > 1 else ""
        body = orjson.loads(request.body) if request.body else {}
        if request.flag("watch"):
            return Response(stream=TinyStream(self, plural, namespace, int(request.param("resourceVersion", "0"))))
        if request.method == "GET" and not name:
            items = [obj for (p, ns, _), obj in self.objects.items() if p == plural and namespace in ("", ns)]
            return self.ok({"kind": "List", "metadata": {"resourceVersion": str(self.revision)}, "items": items})
        if request.method == "POST":
            return self.ok(self.create(plural, namespace, body), 201)
        key = (plural, namespace, name)
        if key not in self.objects:
            raise APIError(404, "NotFound", f'{plural} "{name}" not found')
        old = self.objects[key]
        if request.method == "GET":
            return self.ok(old)
        if request.method == "DELETE":
            return self.ok(self.commit("DELETED", key, old))
        if request.method == "PATCH":
            body = merge(old, body)
        elif body["metadata"].get("resourceVersion") not in (None, old["metadata"]["resourceVersion"]):
            raise APIError(409, "Conflict", "the object has been modified")
        return self.ok(self.commit("MODIFIED", key, body))

    def create(self, plural, namespace, obj):
        metadata = {"namespace": namespace, "uid": self.rng.uid(), **obj["metadata"]}
        if "name" not in metadata:
            metadata["name"] = metadata["generateName"] + self.rng.suffix()
        key = (plural, namespace, metadata["name"])
        if key in self.objects:
            raise APIError(409, "AlreadyExists", f'{plural} "{metadata["name"]}" already exists')
        return self.commit("ADDED", key, {**obj, "metadata": metadata})

    def commit(self, event_type, key, obj):
        self.revision += 1
        obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.revision)}}
        if event_type == "DELETED":
            del self.objects[key]
        else:
            self.objects[key] = obj
        frame = Frame(orjson.dumps({"type": event_type, "object": obj}) + b"\n")
        self.log.append((self.revision, key[0], frame, key[1]))
        for stream in list(self.streams):
            stream.deliver(key[0], frame, key[1])
        return obj

    def compact(self):
        self.compacted, self.log = self.revision, []

    def cut(self):
        for stream in list(self.streams):
            stream.end()

    def names(self, plural):
        return [name for p, _, name in self.objects if p == plural]

    def ok(self, tree, status=200):
        return Response(status, orjson.dumps(tree))


class Harness:
    """A server, a client, a manager and who moves their time."""

    def __init__(self, server=None, seed=0, **options):
        self.server = server or TinyServer(Rng(f"{seed}/server"))
        self.activity = Activity()
        self.clock = ManualClock(activity=self.activity)
        self.driver = VirtualDriver(self.clock, self.activity)
        self.tasks = Tasks(on_failure=self.driver.fail)
        self.client = Client(InProcess(self.server), user_agent="test")
        self.detector = MutationDetector(self.driver.fail)
        self.manager = Manager(
            self.client, clock=self.clock, activity=self.activity, rng=Rng(seed), tasks=self.tasks,
            detector=self.detector, **options,
        )
        self.driver.explainers.append(self.manager.explain)

    async def start(self, *components):
        for component in components:
            self.manager.add(component)
        await self.manager.start()
        await self.driver.settle()

    async def web(self, name, **spec):
        return await self.client.create(WEBS, {"metadata": {"name": name}, "spec": spec})


@asynccontextmanager
async def harness(**options):
    """A harness that is taken down, and whose caches nobody changed."""
    world = Harness(**options)
    yield world
    await world.manager.stop()
    await world.tasks.close()
    world.driver.raise_failure()
    assert world.activity.idle
