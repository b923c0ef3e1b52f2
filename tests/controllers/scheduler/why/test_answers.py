"""What is said of pods and groups that wait, and that it helps."""

import pytest

from fakekube.client.resources import PODS
from fakekube.runtime.why import texts
from fakekube_controllers.scheduler.why import gangs
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

TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}
GPU = "nvidia.com/gpu"


async def nodes(client):
    await create_node(client, "small", cpu="2")
    await create_node(client, "tainted", cpu="4", taints=[TAINT])


@pytest.mark.parametrize(("spec", "said"), [
    ({"requests": {"cpu": "5"}}, "3 more cpu on node small"),
    ({"requests": {"cpu": "2500m"}}, "500m more cpu on node small"),
    ({"requests": {"cpu": "3900m"}}, "remove taint team=a:NoSchedule from node tainted, or tolerate it"),
    ({"requests": {"memory": "9Gi"}}, "1Gi more memory on node small"),
    ({"requests": {GPU: "2"}}, f"2 more {GPU} on node small"),
    ({"nodeSelector": {"disk": "ssd"}}, "label disk=ssd on node small"),
    ({"schedulingGates": [{"name": "g"}], "requests": {"cpu": "5"}},
     "lift the scheduling gate g of pod p; 3 more cpu on node small"),
])
async def test_a_pod_goes_on_with_what_is_proposed_and_not_with_half(spec, said):
    """Given two nodes, when a pod waits that fits none of them, then what is proposed is what it
    lacks on the node with the least missing; half of it does not do, and all of it does.
    """
    for half in (True, False):
        async with cluster() as running:
            await nodes(running.client)
            await create(running.client, PODS, pod("p", **spec))
            await running.settle()
            answer = await running.why("pod/p")
            assert texts(answer.changes) == said
            if half and not await halved(running.client, answer.changes):
                continue
            if not half:
                await apply(running.client, answer.changes)
            await retried(running)
            assert bool(await bound(running.client)) is not half


async def test_a_gang_lacks_a_pod_and_room():
    """Given 2 of 3 pods of a gang and too little room, when asked, then a pod and what three need
    are proposed, and do.
    """
    async with cluster() as running:
        await create_node(running.client, "n1", cpu="2")
        await create(running.client, POD_GROUPS, gang("g", 3))
        await create(running.client, PODS, *(pod(f"p{number}", "g", requests={"cpu": "2"}) for number in range(2)))
        await running.settle()
        answer = await running.why("podgroup/g")
        assert (answer.state, texts(answer.changes)) == (
            "Gated", "one more pod of group g: 2 of 3 are there; 4 more cpu on node n1")
        assert texts(answer.alternatives[0]) == "one more pod of group g: 2 of 3 are there; 2 more nodes like n1"
        assert (await running.why("pod/p0")).changes == answer.changes
        await apply(running.client, answer.changes)
        await retried(running)
        assert len(await bound(running.client)) == 3
        assert (await running.why("podgroup/g")).state == "Scheduled"


async def test_a_pod_waits_for_a_group_that_is_not_there():
    """Given a pod that names a group which does not exist, then the group is what it lacks."""
    async with cluster() as running:
        await create_node(running.client, "n1")
        await create(running.client, PODS, pod("p", "g"))
        await running.settle()
        answer = await running.why("pod/p")
        assert (answer.state, texts(answer.changes)) == ("MissingGroup", "a PodGroup named g")
        await create(running.client, POD_GROUPS, gang("g", 1))
        await retried(running)
        assert await bound(running.client)


async def test_no_node_has_the_label_of_a_placement():
    """Given a gang that is to be in one rack, and no node in a rack, then the label is proposed for
    the nodes that it needs.
    """
    async with cluster() as running:
        for name in ("n1", "n2", "n3"):
            await create_node(running.client, name, cpu="2")
        constraints = {"topology": [{"key": "rack"}]}
        await create(running.client, POD_GROUPS, gang("g", 2, schedulingConstraints=constraints))
        await create(running.client, PODS, *(pod(f"p{number}", "g", requests={"cpu": "2"}) for number in range(2)))
        await running.settle()
        answer = await running.why("podgroup/g")
        assert [change.action for change in answer.changes] == ["SetLabel", "SetLabel"]
        await apply(running.client, answer.changes)
        await retried(running)
        assert len(await bound(running.client)) == 2


async def test_a_rack_with_the_least_missing():
    """Given two racks of which one lacks one GPU less, then its GPUs are proposed."""
    async with cluster() as running:
        for name, rack, count in (("a1", "a", "1"), ("a2", "a", "2"), ("b1", "b", "2"), ("b2", "b", "2")):
            await create_node(running.client, name, labels={"rack": rack}, **{GPU: count})
        constraints = {"topology": [{"key": "rack"}]}
        await create(running.client, POD_GROUPS, gang("g", 2, schedulingConstraints=constraints))
        await create(running.client, PODS, *(pod(f"p{number}", "g", requests={GPU: "3"}) for number in range(2)))
        await running.settle()
        answer = await running.why("podgroup/g")
        assert [place.name for place in answer.places] == ["placement rack=a", "placement rack=b"]
        assert {change.target for change in answer.changes} == {"node/b1", "node/b2"}
        await apply(running.client, answer.changes)
        await retried(running)
        assert len(await bound(running.client)) == 2


async def test_a_tree_lacks_pods_of_one_group():
    """Given a composite group with one of two groups complete, then the other one's pods are what
    both lack.
    """
    async with cluster() as running:
        await create_node(running.client, "n1")
        reference = {"workloadName": "w", "templateName": "t"}
        spec = {"schedulingPolicy": {"gang": {"minGroupCount": 2}}, "workloadRef": reference}
        await create(running.client, COMPOSITES, {"metadata": {"name": "c", "namespace": "default"}, "spec": spec})
        await create(running.client, POD_GROUPS, *(
            gang(name, 2, parentCompositePodGroupName="c", workloadRef=reference) for name in ("a", "b")))
        await create(running.client, PODS, pod("a0", "a"), pod("a1", "a"), pod("b0", "b"))
        await running.settle()
        answer = await running.why("compositepodgroup/c")
        assert texts(answer.changes) == "one more pod of group b: 1 of 2 are there"
        assert (await running.why("pod/a0")).changes == answer.changes
        await apply(running.client, answer.changes)
        await retried(running)
        assert len(await bound(running.client)) == 4


async def test_a_large_gang_is_counted(monkeypatch):
    """Given a gang that is too large to be tried over and over, then a node is proposed for each
    pod without one, and does.
    """
    monkeypatch.setattr(gangs, "MAX_WORK", 1)
    async with cluster() as running:
        await create_node(running.client, "n1", cpu="2")
        await create(running.client, POD_GROUPS, gang("g", 3))
        await create(running.client, PODS, *(pod(f"p{number}", "g", requests={"cpu": "2"}) for number in range(3)))
        await running.settle()
        answer = await running.why("podgroup/g")
        assert [change.action for change in answer.changes] == ["AddNode"]
        await apply(running.client, answer.changes)
        await retried(running)
        assert len(await bound(running.client)) == 3
