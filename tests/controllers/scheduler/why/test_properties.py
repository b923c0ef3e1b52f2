"""What is proposed does, and half of it does not, whatever the cluster and the pods are like.

An example is data, from which the same cluster is made twice: once to do all, once to do half.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from fakekube.runtime.why import Changes
from tests.controllers.scheduler.why.applying import (
    COMPOSITES,
    POD_GROUPS,
    apply,
    bound,
    cluster,
    create,
    create_node,
    gang,
    halved,
    pod,
    retried,
)

GPU, REQUIRED = "nvidia.com/gpu", "requiredDuringSchedulingIgnoredDuringExecution"


class Node(NamedTuple):
    """A node; ``used`` CPUs are taken by a pod."""

    cpu: int
    gpus: int
    used: int
    zone: str
    is_tainted: bool
    is_cordoned: bool


class Asked(NamedTuple):
    """What every pod of an example asks for."""

    cpu: int
    gpus: int
    zone: str
    tolerates: bool
    is_gated: bool
    port: bool
    apart: bool  # from pods that are alike
    spread: bool
    near: bool  # those that are alike, by zone


NODES = st.lists(st.builds(
    Node, st.integers(0, 6), st.integers(0, 4), st.integers(0, 2), st.sampled_from(["", "a", "b"]), st.booleans(),
    st.sampled_from([False, False, True])), max_size=4)
RARELY = st.sampled_from([False, False, False, True])
ASKED = st.builds(
    Asked, st.integers(1, 8), st.integers(0, 6), st.sampled_from(["", "", "a", "c"]), st.booleans(), RARELY, RARELY, RARELY,
    RARELY, RARELY)


async def make_nodes(running: Cluster, nodes: list[Node]) -> None:
    for number, node in enumerate(nodes):
        labels = {"zone": node.zone} if node.zone else {}
        taints = [{"key": "team", "value": "a", "effect": "NoSchedule"}] if node.is_tainted else []
        await create_node(running.client, f"n{number}", cpu=str(node.cpu), labels=labels, taints=taints,
                          unschedulable=node.is_cordoned, **{GPU: str(node.gpus)})
        if node.used:
            labels = {"app": "m" if node.used == 2 else "filler"}
            filler = pod(f"filler-{number}", requests={"cpu": str(node.used)}, labels=labels)
            filler["spec"]["nodeName"] = f"n{number}"
            await create(running.client, PODS, filler)
    await running.settle()


def member(name: str, asked: Asked, group: str = "") -> Any:
    requests = {"cpu": str(asked.cpu), **({GPU: str(asked.gpus)} if asked.gpus else {})}
    spec: dict[str, Any] = {"requests": requests}
    if asked.zone:
        spec["nodeSelector"] = {"zone": asked.zone}
    if asked.tolerates:
        spec["tolerations"] = [{"key": "team", "operator": "Exists"}]
    if asked.is_gated:
        spec["schedulingGates"] = [{"name": "g"}]
    selector = {"matchLabels": {"app": "m"}}
    affinity = {"podAffinity": {REQUIRED: [{"labelSelector": selector, "topologyKey": "zone"}]}} if asked.near else {}
    alike = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    if asked.apart:
        affinity["podAntiAffinity"] = {REQUIRED: [alike]}
    if affinity:
        spec["affinity"] = affinity
    if asked.spread:
        spec["topologySpreadConstraints"] = [{**alike, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    made = pod(name, group, labels={"app": "m"}, **spec)
    if asked.port:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return made


async def members_bound(running: Cluster) -> int:
    return sum(not name.startswith(("filler", "new-on-")) for name in await bound(running.client))


async def do_what_is_proposed(
    make: Any, what: str, wanted: int, count: Callable[[Cluster], Awaitable[int]] = members_bound,
) -> None:
    """Make a cluster, and when it does not ``count`` to what is wanted, do what is proposed, and
    half of it. The nodes that are added come before all others by name, and after them: of several
    that are as good the scheduler takes the first.
    """
    async with cluster() as running:
        await make(running)
        await retried(running)
        if await count(running) >= wanted:
            return
        answer = await running.why(what)
        assert answer.changes, f"nothing is proposed:\n{answer}"

    async def after(changes: Changes, do: Any, prefix: str) -> int | None:
        """What is counted after changes; None where there was nothing to halve."""
        async with cluster() as other:
            await make(other)
            await retried(other)
            if await do(other.client, changes, prefix) is False:
                return None
            await retried(other)
            return await count(other)

    for changes in (answer.changes, *answer.alternatives):
        for prefix in ("a", "z"):
            assert await after(changes, apply, prefix) >= wanted, f"not with {changes} of names with {prefix}:\n{answer}"
    halves = [await after(answer.changes, halved, prefix) for prefix in ("a", "z")]
    assert None in halves or min(halves) < wanted, f"half of it does as well:\n{answer}"


@settings(max_examples=15)
@given(NODES, ASKED)
def test_a_pod(nodes: list[Node], asked: Asked) -> None:
    """Given any nodes and a pod, when it waits and what is proposed is done, then it has a node;
    when half of it is done, it has none. A pod that is to be near pods and on another node than all
    of them is left out: it may need two nodes that are changed for each other's sake, of which
    nothing is proposed.
    """
    alone = asked._replace(near=asked.near and not asked.apart)

    async def make(running: Cluster) -> None:
        await make_nodes(running, nodes)
        await create(running.client, PODS, member("p", alone))

    asyncio.run(do_what_is_proposed(make, "pod/p", 1))


@settings(max_examples=15)
@given(NODES, ASKED, st.integers(1, 4), st.integers(0, 2), st.booleans())
def test_a_gang(nodes: list[Node], asked: Asked, minimum: int, more: int, in_zone: bool) -> None:
    """Given any nodes and a gang, of which a pod may be missing, maybe to be in one zone, when it
    waits and what is proposed is done, then as many pods as it needs have nodes, and not with half.
    Pods that are to be near others are left out: a gang that is to be apart as well may need more
    than is ever proposed at once.
    """
    alone = asked._replace(near=False)
    constraints = {"schedulingConstraints": {"topology": [{"key": "zone"}]}} if in_zone else {}

    async def make(running: Cluster) -> None:
        await make_nodes(running, nodes)
        await create(running.client, POD_GROUPS, gang("g", minimum, **constraints))
        await create(running.client, PODS, *(member(f"p{number}", alone, "g") for number in range(max(1, minimum + more - 1))))

    asyncio.run(do_what_is_proposed(make, "podgroup/g", minimum))


# a group's pods, of which each asks for the same, and its minimum, which is their number
GROUPS = st.lists(st.tuples(st.integers(1, 3), ASKED), min_size=1, max_size=3)
REFERENCE = {"workloadName": "w", "templateName": "t"}


@settings(max_examples=15)
@given(NODES, GROUPS, st.none() | st.integers(1, 3))
def test_a_tree_of_unlike_groups(nodes: list[Node], groups: list[tuple[int, Asked]], minimum: int | None) -> None:
    """Given any nodes and a composite group of gangs that ask for other things, when it waits and
    what is proposed is done, then as many gangs as it needs have nodes, and not with half.
    """
    _do_what_is_proposed_of_a_tree(nodes, groups, minimum)


def test_pods_that_may_go_anywhere_may_take_the_nodes_of_others() -> None:
    """Given no nodes, and a tree of three gangs, of which two are for a zone each, when what is
    proposed is done, then all have nodes, though the first may have one of the others' zones.
    """
    plain = Asked(1, 0, "", *[False] * 6)
    _do_what_is_proposed_of_a_tree([], [(1, plain._replace(zone=zone)) for zone in ("", "a", "c")], 3)


def _do_what_is_proposed_of_a_tree(nodes: list[Node], groups: list[tuple[int, Asked]], minimum: int | None) -> None:
    wanted = 1 if minimum is None else min(minimum, len(groups))
    policy: Any = {"basic": {}} if minimum is None else {"gang": {"minGroupCount": wanted}}

    async def make(running: Cluster) -> None:
        await make_nodes(running, nodes)
        await create(running.client, COMPOSITES, {"metadata": {"name": "root", "namespace": "default"}, "spec": {
            "schedulingPolicy": policy, "workloadRef": REFERENCE}})
        for number, (count, asked) in enumerate(groups):
            plain = asked._replace(is_gated=False, port=False, apart=False, spread=False, near=False)
            parent = {"workloadRef": REFERENCE, "parentCompositePodGroupName": "root"}
            await create(running.client, POD_GROUPS, gang(f"g{number}", count, **parent))
            await create(running.client, PODS, *(member(f"p{number}-{each}", plain, f"g{number}") for each in range(count)))

    async def whole(running: Cluster) -> int:
        names = await bound(running.client)
        return sum(all(f"p{number}-{each}" in names for each in range(count)) for number, (count, _) in enumerate(groups))

    asyncio.run(do_what_is_proposed(make, "compositepodgroup/root", wanted, whole))
