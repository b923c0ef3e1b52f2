"""What admission sees of a connection, and a watch whose objects somebody else converts."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.converting import ConvertedStream
from fakekube.endpoints.listoptions import parse_list_options
from fakekube.registry.attributes import AdmitAll, Attributes
from fakekube.registry.kind import Conversion
from tests.apiserver.conftest import Api
from tests.endpoints.reads import OTHER, Sink, World, from_stored, to_other

POD = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
EXEC = {"kind": "PodExecOptions", "apiVersion": "v1"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "pods/p/exec?command=ls&command=-l&stdin=1&stdout=true&stderr=0&tty=false&container=c&container=d&path=x",
            ("p", "exec", {**EXEC, "stdin": True, "stdout": True, "container": "c", "path": "x", "command": ["ls", "-l"]}),
        ),
        ("pods/p/exec?stdin=FALSE&stdout=no&stderr=&container=", ("p", "exec", {**EXEC, "stdout": True, "stderr": True})),
        ("pods/p/attach", ("p", "attach", {"kind": "PodAttachOptions", "apiVersion": "v1"})),
        (
            "pods/p/portforward?ports=80,81&ports=82&command=a",
            ("p", "portforward", {"kind": "PodPortForwardOptions", "apiVersion": "v1", "command": ["a"], "ports": [80, 81, 82]}),
        ),
        (
            "services/https:s:80/proxy/x?path=/y",
            ("80", "proxy", {"kind": "ServiceProxyOptions", "apiVersion": "v1", "path": "/y"}),
        ),
        ("services/s/proxy/x", ("s", "proxy", {"kind": "ServiceProxyOptions", "apiVersion": "v1"})),
    ],
)
async def test_admission_sees_the_options_of_a_connection(api: Api, path: str, expected: tuple[str, str, Tree]) -> None:
    """Given a query, when somebody connects, then admission sees a CONNECT with the kind's options
    as the query has them, what is empty or false left out.
    """
    await api("POST", "/api/v1/namespaces/t/pods", POD)
    seen: list[tuple[Any, ...]] = []

    class Listening(AdmitAll):
        async def validate(self, attrs: Attributes) -> None:
            seen.append((attrs.operation, attrs.namespace, attrs.name, attrs.subresource, attrs.obj, attrs.old))

    api.server.stores.admission = Listening()
    await api("GET", f"/api/v1/namespaces/t/{path}")
    name, subresource, options = expected
    assert seen == [("CONNECT", "t", name, subresource, options, None)]


class Elsewhere:
    """Who converts objects, unless they are wrong; each takes as long as it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.wrong = ""
        self.free = asyncio.Event()
        self.free.set()

    async def read(self, trees: Sequence[Tree]) -> None:
        await self.free.wait()
        [tree] = trees
        self.asked.append(tree["metadata"]["name"])
        if tree["metadata"]["name"] == self.wrong:
            raise APIError(500, "", "cannot be converted")

    async def store(self, tree: Tree) -> None:
        raise AssertionError


class Converting(World):
    """A watch of pods in a version that somebody else knows."""

    def __init__(self, *, timeout: str = "3600", render: Any = None, **query: str) -> None:
        super().__init__()
        self.elsewhere, self.sink = Elsewhere(), Sink()
        conversion = Conversion(GroupVersionKind("", "v1", "Pod"), to_other, from_stored, self.elsewhere)
        scope: Any = SimpleNamespace(
            kind=replace(OTHER, conversion=conversion),
            store=SimpleNamespace(bucket=self.bucket),
            services=SimpleNamespace(rng=None),
            empty={"kind": "Pod", "apiVersion": "other/v2"},
        )
        query = {"resourceVersion": "1", "timeoutSeconds": timeout, **query}
        options = parse_list_options({name: [value] for name, value in query.items()}, scope.kind, watch=True)
        self.converted = ConvertedStream(scope, "ns", options, self.clock, render)

    @property
    def told(self) -> list[tuple[str, Any, Any]]:
        return [
            (event["type"], event["object"].get("apiVersion"), event["object"].get("spec", event["object"].get("message")))
            for event in self.sink.events
        ]


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_events_wait_for_their_conversion_in_order() -> None:
    """Given a watch in another version, when objects come while their conversion takes its time,
    then each is told in that version, in order, as bytes and as trees, and bookmarks are not
    converted.
    """
    world = Converting(allowWatchBookmarks="1")
    world.elsewhere.free.clear()
    world.converted.start(world.sink)
    world.make("a", node="n1")
    world.change("a", node="n2")
    world.pass_time(60)
    await settle()
    assert world.sink.frames == []
    world.elsewhere.free.set()
    await settle()
    assert world.told == [
        ("ADDED", "other/v2", {"host": "n1"}),
        ("MODIFIED", "other/v2", {"host": "n2"}),
        ("BOOKMARK", "other/v2", None),
    ]
    assert world.elsewhere.asked == ["a", "a"]
    assert world.sink.frames[0].data.startswith(b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"other/v2"')
    assert world.sink.frames[0].data.endswith(b"}\n")
    world.converted.stop()
    world.converted.stop()


async def test_an_object_that_cannot_be_converted_ends_the_watch() -> None:
    """Given objects of which one cannot be converted, when they come, then the watch tells those
    before it, one ERROR, and ends; nothing is left that waits.
    """
    world = Converting()
    world.elsewhere.wrong = "b"
    world.converted.start(world.sink)
    for name in "abc":
        world.make(name)
    await settle()
    assert world.told == [("ADDED", "other/v2", {"host": ""}), ("ERROR", "v1", "cannot be converted")]
    assert (world.sink.ended, world.elsewhere.asked, world.clock.timers()) == (1, ["a", "b"], [])


async def test_a_watch_that_is_converted_ends_with_its_time_or_its_receiver() -> None:
    """Given watches, when time is over, or the receiver leaves while an object is converted, then
    the first ends once what came before is told, the other tells nothing more, and ends nothing.
    """
    world = Converting(timeout="5")
    world.converted.start(world.sink)
    world.make("a")
    world.pass_time(5)
    await settle()
    assert ([event["type"] for event in world.sink.events], world.sink.ended) == (["ADDED"], 1)
    left = Converting()
    left.elsewhere.free.clear()
    left.converted.start(left.sink)
    left.make("a")
    await settle()
    left.converted.stop()
    left.elsewhere.free.set()
    await settle()
    assert (left.sink.frames, left.sink.ended, left.clock.timers()) == ([], 0, [])


async def test_a_watch_that_is_converted_may_show_another_form() -> None:
    """Given a form, when objects come, then each goes through its conversion, and then the form."""
    world = Converting(render=lambda tree: {"kind": "Shown", "spec": tree["spec"]})
    world.converted.start(world.sink)
    world.make("a", node="n1")
    await settle()
    assert [event["object"] for event in world.sink.events] == [{"kind": "Shown", "spec": {"host": "n1"}}]
    world.converted.stop()
