"""For how many seconds kubelets may keep what they read, by the number of nodes."""

from typing import Any, cast

from fakekube.apimachinery.types import Tree
from fakekube_controllers.ttl.controller import NodeTTL

ANNOTATION = "node.alpha.kubernetes.io/ttl"


class Nodes:
    """As much of a context as the controller needs, and what it does."""

    def __init__(self) -> None:
        self.client, self.nodes = self, dict[str, Tree]()
        self.queued: list[str] = []
        self.sent: list[Any] = []

    def lister(self, _resource: Any) -> "Nodes":
        return self

    def add_handler(self, _resource: Any, added: Any, updated: Any, gone: Any) -> None:
        self.added, self.updated, self.gone = added, updated, gone

    def add(self, key: Any) -> None:
        self.queued.append(key.name)

    def list(self) -> list[Tree]:
        return [*self.nodes.values()]

    def get(self, namespace: str, name: str) -> Tree | None:
        assert namespace == ""
        return self.nodes.get(name)

    async def patch(self, resource: Any, name: str, *, body: Tree, **options: str) -> None:
        self.sent.append((resource.plural, name, body, options["type"]))


def started() -> tuple[Nodes, NodeTTL]:
    world = Nodes()
    controller = NodeTTL(cast("Any", world))
    controller.setup(cast("Any", world))
    return world, controller


def node(number: int, seconds: str | None = None) -> Tree:
    return {"metadata": {"name": f"n{number}", "annotations": {} if seconds is None else {ANNOTATION: seconds}}}


class Key:
    def __init__(self, name: str) -> None:
        self.name = name


async def test_more_nodes_let_kubelets_keep_things_for_longer() -> None:
    """Given nodes that come and go one by one / then the seconds change at these numbers of nodes,
    at others on the way down than on the way up, and all nodes are looked at then.
    """
    world, controller = started()
    probe = world.nodes["n1"] = node(1)
    seen: list[tuple[int, str]] = []
    for step in [*range(1, 10002), *range(10000, -1, -1)]:
        grows = len(seen) == 0 or step > controller.count
        (world.added if grows else world.gone)(probe)
        world.sent.clear()
        await controller.reconcile(cast("Any", Key("n1")))
        [(plural, name, body, kind)] = world.sent
        assert (plural, name, kind) == ("nodes", "n1", "strategic")
        seconds = body["metadata"]["annotations"][ANNOTATION]
        if not seen or seen[-1][1] != seconds:
            seen.append((step, seconds))
    assert seen == [
        (1, "0"),
        (101, "15"),
        (501, "30"),
        (1001, "60"),
        (2001, "300"),
        (10001, "600"),
        (8999, "300"),
        (1799, "60"),
        (899, "30"),
        (449, "15"),
        (89, "0"),
    ]


async def test_only_what_has_to_be_is_written() -> None:
    """Given a node that says the right seconds, or is gone / then nothing is written; every node
    that comes or changes is looked at, and all of them at a step.
    """
    world, controller = started()
    world.nodes = {f"n{number}": node(number, "0") for number in range(101)}
    for found in world.nodes.values():
        world.added(found)
    assert world.queued == [f"n{number}" for number in [*range(100), *range(101), 100]]
    world.queued.clear()
    world.updated(node(7), node(5))
    for number in range(100, 88, -1):
        world.gone(node(number))
    assert world.queued == ["n5", *(f"n{number}" for number in range(101))]
    await controller.reconcile(cast("Any", Key("n5")))
    await controller.reconcile(cast("Any", Key("none")))
    assert world.sent == []
