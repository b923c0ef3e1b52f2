"""What has no namespace, when it is played on another cluster: it gets names of its own, kinds are
defined by one test at a time, and what others would notice is not played.
"""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, NODES
from fakekube.recording.asking import Target
from fakekube.recording.exchanges import Exchange
from fakekube.recording.plan import HOOKED, NOTICED_BY_OTHERS, SAYS_FOR_ALL, Conversation, plan
from fakekube.recording.player import play_all
from fakekube.recording.report import totals
from tests.recording.test_playing import DEFINITION, EMPTY, names_of, played, recorded, told

Tree = dict[str, Any]


async def made_up(cluster: Cluster) -> None:
    """A kind, a class and a ConfigMap that have the name of a namespace which the server made up.
    """
    client = cluster.client
    name = (await client.create(NAMESPACES, {"metadata": {"generateName": "suite-"}}))["metadata"]["name"]
    group = f"{name}.example.com"
    definitions = await client.resource("customresourcedefinitions")
    await client.create(definitions, {
        **DEFINITION, "metadata": {"name": f"shirts.{group}"}, "spec": {**DEFINITION["spec"], "group": group}})
    shirts = await client.resource(f"shirts.{group}")
    await client.create(shirts, {"apiVersion": f"{group}/v1", "kind": "Shirt", "metadata": {"name": "s"}, "color": "red"}, name)
    assert (await client.list(shirts, name)).items
    await client.request("GET", f"/apis/{group}/v1")
    classes = await client.resource("priorityclasses")
    await client.create(classes, {"metadata": {"name": name}, "value": 7})
    await client.list(classes, field_selector=f"metadata.name={name}")
    await client.get(classes, name)
    await client.create(CONFIG_MAPS, {"metadata": {"name": f"of-{name}"}}, name)
    await client.get(CONFIG_MAPS, f"of-{name}", name)
    await client.delete(classes, name)
    await client.delete(definitions, f"shirts.{group}")


async def test_names_that_are_made_of_other_names() -> None:
    """Given a story whose group, class and ConfigMap have the name of its namespace in theirs /
    when it is played / then every path leads to what was made there, and nothing differs or is
    left.
    """
    conversation = await recorded(made_up, cluster_scoped=True)
    async with Cluster(nodes=0, clock="auto", seed=9) as cluster:
        result = await played(conversation, cluster)
        assert (told(result), result.left) == ([], [])
        assert not [step.reason for step in conversation.steps if step.reason]
        assert await names_of(cluster) == [*EMPTY]


async def two_shirts(cluster: Cluster) -> None:
    client = cluster.client
    await client.create(await client.resource("customresourcedefinitions"), DEFINITION)
    shirts = await client.resource("shirts")
    for name in ("a", "b"):
        await client.create(shirts, {
            "apiVersion": "stable.example.com/v1", "kind": "Shirt", "metadata": {"name": name, "finalizers": ["x.y/held"]}})
        await cluster.advance("1s")
    assert len((await client.list(shirts, "default")).items) == 2


async def test_tests_that_define_the_same_kind_take_turns() -> None:
    """Given three recordings that define the same kind, with objects that nobody lets go / when
    they are played at the same time / then none meets the definition of another one.
    """
    conversations = [await recorded(two_shirts, cluster_scoped=True) for _ in range(3)]
    async with Cluster(nodes=0, clock="auto") as cluster:
        names = iter("abc")
        target = Target(InProcess(cluster.apiserver), cluster.apiserver.clock)
        plays = await play_all(target, conversations, suffix=lambda: next(names), wait_seconds=2.0, jobs=3)
        assert [told(play) for play in plays] == [[], [], []]
        assert [play.left for play in plays] == [[], [], []]
        assert await names_of(cluster, await cluster.client.resource("customresourcedefinitions")) == []


def planned_reasons(conversation: Conversation) -> list[str]:
    return [step.reason for step in conversation.steps if step.exchange.method == "POST"]


@pytest.mark.parametrize(("resource", "body", "noticed"), [
    ("nodes", {}, True),
    ("persistentvolumes", {"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}}, True),
    ("priorityclasses", {"value": 1, "globalDefault": True}, True),
    ("priorityclasses", {"value": 1}, False),
    ("storageclasses", {"provisioner": "x", "metadata": {"annotations": {
        "storageclass.kubernetes.io/is-default-class": "true"}}}, True),
    ("storageclasses", {"provisioner": "x"}, False),
    ("clusterroles", {"rules": [], "metadata": {"labels": {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}}}, True),
    ("clusterroles", {"rules": []}, False),
    ("clusterrolebindings", {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}]}, True),
    ("clusterrolebindings", {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": "x", "namespace": "default"}]}, False),
])
async def test_what_others_would_notice(resource: str, body: Tree, noticed: bool) -> None:
    """Given an object without a namespace that gives others something, or one that does not / when
    it is planned, with leave for such / then the first is not played, unless nobody else is there.
    """
    async def story(cluster: Cluster) -> None:
        client = cluster.client
        made = {**body, "metadata": {"name": "x", **body.get("metadata", {})}}
        await client.create(await client.resource(resource), made)

    conversation = await recorded(story, cluster_scoped=True, nodes=0, controllers="")
    assert planned_reasons(conversation) == [NOTICED_BY_OTHERS if noticed else ""]
    alone = await recorded(story, cluster_scoped=True, alone=True, nodes=0, controllers="")
    assert planned_reasons(alone) == [""]
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(alone, cluster)
        assert ([each for each in told(result) if not each.startswith("state")], result.left) == ([], [])
        assert await names_of(cluster, NODES) == []


HOOK: Tree = {"metadata": {"name": "h"}, "webhooks": [{
    "name": "h.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"}, "failurePolicy": "Ignore", "sideEffects": "None",
    "admissionReviewVersions": ["v1"], "timeoutSeconds": 1,
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}]}


async def test_what_a_webhook_would_see_is_not_missed() -> None:
    """Given a story whose ConfigMap a webhook of its own sees / when it is played without the
    webhook / then the ConfigMap is not made, and neither list nor watch is blamed for it.
    """
    async def story(cluster: Cluster) -> None:
        client = cluster.client
        await client.create(CONFIG_MAPS, {"metadata": {"name": "before"}})
        await client.create(await client.resource("validatingwebhookconfigurations"), HOOK)
        async with await client.watch(CONFIG_MAPS, "default") as events:
            await client.create(CONFIG_MAPS, {"metadata": {"name": "seen"}})
            async for event in events:
                if event.object["metadata"]["name"] == "seen":
                    break
        await client.list(CONFIG_MAPS, "default")

    conversation = await recorded(story, cluster_scoped=True)
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(conversation, cluster)
        asked = [(step.exchange.info.verb, step.reason) for step in conversation.steps if step.exchange.info.is_resource]
        assert asked == [("create", ""), ("create", SAYS_FOR_ALL), ("watch", ""), ("create", HOOKED), ("list", "")]
        assert (told(result), totals([result]).differ) == ([], 0)


@pytest.mark.parametrize(("group", "reason"), [
    ("queues.example.com", NOTICED_BY_OTHERS), ("storage.k8s.io", ""), ("apiregistration.k8s.io", ""), ("", "")])
async def test_objects_on_which_controllers_of_others_act(group: str, reason: str) -> None:
    """Given an object without a namespace, of a custom kind that the test does not define / when it
    is planned / then it is not played, unless nobody else is there; of Kubernetes' own kinds it is.
    """
    path = f"/apis/{group}/v1/things" if group else "/api/v1/things"
    line = {"number": 1, "cluster": "0", "method": "POST", "path": path, "query": {}, "code": 201, "body": {},
            "answer": {"metadata": {"name": "x"}}}
    for alone in (False, True):
        [step] = plan("", {}, [Exchange(line)], cluster_scoped=True, alone=alone).steps
        assert step.reason == ("" if alone else reason)
