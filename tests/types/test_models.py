"""What a model's author relies on: what is written, what is an error, and whose a model is."""

import pytest
from pydantic import ValidationError

from fakekube.client.resources import CONFIG_MAPS, PODS
from fakekube.client.typed import TypedClient
from fakekube.composition.cluster import Cluster
from fakekube.runtime import Context, Request, controller
from fakekube.types import ConfigMap, Container, Job, ObjectMeta, Pod, PodSpec, PolicyRule, Role

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def test_what_is_filled_in_place_is_written_and_what_is_only_read_is_not() -> None:
    """Given an empty pod, when all its parts are looked at and one is filled, then its tree holds
    that one alone.
    """
    pod = Pod()
    assert (pod.metadata.labels, pod.spec.containers, pod.spec.affinity, pod.status.phase) == ({}, [], None, "")
    assert pod.to_tree() == {"apiVersion": "v1", "kind": "Pod"}
    pod.spec.containers.append(Container(name="c"))
    expected = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c"}]}}
    assert pod.to_tree() == expected
    assert pod.model_dump(by_alias=True, exclude_unset=True) == expected


def test_a_null_lasts_until_the_field_is_set_or_filled() -> None:
    """Given a Role whose rules are null, when it is read, then they are an empty list; written,
    null; and filled, not.
    """
    role = Role.from_tree({"rules": None})
    assert role.rules == []
    assert role.to_tree()["rules"] is None
    role.rules.append(PolicyRule(verbs=["get"]))
    assert role.to_tree()["rules"] == [{"verbs": ["get"]}]


def test_two_models_share_nothing() -> None:
    """Given a tree, when it is read and the model is changed everywhere, then the tree and another
    model stay as they were.
    """
    tree = POD | {"unheardOf": {"deep": [1]}}
    changed, other = Pod.from_tree(tree), Pod.from_tree(tree)
    changed.unheardOf["deep"].append(2)
    changed.spec.containers[0].image = "j"
    changed.metadata.labels["a"] = "b"
    assert other.to_tree() == tree == POD | {"unheardOf": {"deep": [1]}}
    written = changed.to_tree()
    written["unheardOf"]["deep"].append(3)
    assert changed.unheardOf == {"deep": [1, 2]}


@pytest.mark.parametrize("tree", [
    {"kind": "Job", "apiVersion": "batch/v1"}, {"kind": "Pod", "apiVersion": "v2"}, {"metadata": {"generation": "1"}},
    {"spec": {"hostNetwork": 1}}, {"metadata": {"labels": {"a": 1}}}, {"spec": []},
])
def test_what_is_of_another_type_is_an_error(tree: dict) -> None:
    """Given a tree with a kind, a version or a value of another type, when it is read, then it is
    an error.
    """
    with pytest.raises(ValidationError):
        Pod.from_tree(tree)


def test_an_object_of_another_kind_is_named() -> None:
    """Given a Job, when it is read as a Pod, then the error names both."""
    with pytest.raises(ValidationError, match="Job of batch/v1 is not Pod of v1"):
        Pod.from_tree(Job().to_tree())


async def test_the_client_reads_and_writes_models() -> None:
    """Given a cluster, when a model is created, read, listed, changed, patched, applied and
    deleted, then each call gives the model of what the server has.
    """
    async with Cluster(nodes=0, clock="manual") as cluster:
        client = TypedClient(cluster.client)
        made = await client.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"x": "1"}))
        assert (made.metadata.namespace, made.data) == ("default", {"x": "1"})
        made.data["y"] = "2"
        assert (await client.update(made)).data == {"x": "1", "y": "2"}
        assert (await client.patch(ConfigMap, "a", body={"data": {"x": None}})).data == {"y": "2"}
        applied = await client.apply(ConfigMap(metadata=ObjectMeta(name="b", namespace="default"), data={"z": "3"}))
        assert applied.metadata.managed_fields[0].operation == "Apply"
        listed = await client.list(ConfigMap, "default", field_selector="metadata.name!=kube-root-ca.crt")
        assert [item.metadata.name for item in listed.items] == ["a", "b"]
        assert listed.resource_version == applied.metadata.resource_version
        await client.delete(ConfigMap, "a")
        assert await client.get(ConfigMap, "a", missing_ok=True) is None
        await client.delete(ConfigMap, "a", missing_ok=True)
        pod = await client.create(Pod(metadata=ObjectMeta(name="p"), spec=PodSpec(containers=[Container(name="c", image="i")])))
        pod.status.phase = "Failed"
        assert (await client.update_status(pod)).status.phase == "Failed"
        assert (await cluster.client.get(PODS, "p"))["status"]["phase"] == "Failed"


async def test_a_lister_gives_models_of_ones_own() -> None:
    """Given a controller declared by classes, when it changes what its lister gave, then the cache
    stays as it was.
    """
    seen: list[str] = []

    class Reader:
        def __init__(self, ctx: Context) -> None:
            self.maps = ctx.lister(ConfigMap)

        async def reconcile(self, request: Request) -> None:
            found = self.maps.get(*request)
            if found is not None and "x" in found.data:
                found.data["x"] += "!"
                again = self.maps.list("default", {"a": "b"})
                seen.extend(item.data["x"] for item in [found, *again])

    async with Cluster(nodes=0, clock="manual") as cluster:
        cluster.manager.add(controller("reader").for_(ConfigMap).complete(Reader))
        await cluster.manager.start_component("reader")
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "labels": {"a": "b"}}, "data": {"x": "1"}})
        await cluster.settle()
    assert seen == ["1!", "1"]
