"""lightkube, typed and small, as charms and operators use it."""

from collections.abc import Iterator
from pathlib import Path

import lightkube
import pytest
from lightkube.models.batch_v1 import JobSpec
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType


@pytest.fixture
def light(kubeconfig: Path, namespace: str) -> Iterator[lightkube.Client]:
    """A connected client with a field manager."""
    connected = lightkube.Client(lightkube.KubeConfig.from_file(kubeconfig), namespace=namespace, field_manager="light")
    yield connected
    connected._client._client.close()


def config_map(name: str, **data: str) -> ConfigMap:
    """A ConfigMap to create or apply."""
    return ConfigMap(metadata=ObjectMeta(name=name, labels={"suite": "x"}), data=data)


@pytest.mark.spec("API-092", "API-101", "API-104")
def test_objects_come_and_go(light: lightkube.Client) -> None:
    """Given a namespace, when ConfigMaps are created, patched in three ways, replaced, listed by
    page and deleted, then each call returns the object as it is, and what is gone is a 404.
    """
    for name in ("a", "b", "c"):
        light.create(config_map(name, x="1"))
    light.patch(ConfigMap, "a", {"data": {"y": "2"}}, patch_type=PatchType.MERGE)
    light.patch(ConfigMap, "a", [{"op": "remove", "path": "/data/x"}], patch_type=PatchType.JSON)
    patched = light.patch(ConfigMap, "a", {"metadata": {"annotations": {"k": "v"}}}, patch_type=PatchType.STRATEGIC)
    assert patched.data == {"y": "2"}
    stale = light.get(ConfigMap, "b")
    light.replace(ConfigMap(metadata=stale.metadata, data={"z": "3"}))
    with pytest.raises(lightkube.ApiError) as caught:
        light.replace(ConfigMap(metadata=stale.metadata, data={"z": "4"}))
    assert (caught.value.status.code, caught.value.status.reason) == (409, "Conflict")
    assert [item.metadata.name for item in light.list(ConfigMap, labels={"suite": "x"}, chunk_size=2)] == ["a", "b", "c"]
    assert [item.metadata.name for item in light.list(ConfigMap, fields={"metadata.name": "c"})] == ["c"]
    light.delete(ConfigMap, "a")
    light.deletecollection(ConfigMap)
    with pytest.raises(lightkube.ApiError) as caught:
        light.get(ConfigMap, "b")
    assert caught.value.status.code == 404


@pytest.mark.spec("API-113", "API-115", "API-116", "API-118")
def test_apply(light: lightkube.Client) -> None:
    """Given an applied ConfigMap, when it is applied with less, and by another manager, then what
    is no longer said is gone, the other manager meets a conflict, and force gives it the field.
    """
    first = light.apply(config_map("a", x="1", y="1"))
    assert light.apply(config_map("a", x="1", y="1")).metadata.resourceVersion == first.metadata.resourceVersion
    assert light.apply(config_map("a", x="1")).data == {"x": "1"}
    with pytest.raises(lightkube.ApiError) as caught:
        light.apply(config_map("a", x="2"), field_manager="other")
    assert 'conflict with "light": .data.x' in str(caught.value)
    forced = light.apply(config_map("a", x="2"), field_manager="other", force=True)
    assert forced.data == {"x": "2"}
    assert {entry.manager for entry in forced.metadata.managedFields} == {"light", "other"}


@pytest.mark.spec("API-041", "API-076", "API-130")
def test_a_watch_and_a_typed_status(light: lightkube.Client) -> None:
    """Given a suspended Job, when it is watched while its status is applied and it is deleted, then
    the watch tells of each in turn, and the typed objects hold the server's defaults.
    """
    template = PodTemplateSpec(spec=PodSpec(restartPolicy="Never", containers=[Container(name="c", image="i")]))
    job = light.create(Job(metadata=ObjectMeta(name="j"), spec=JobSpec(suspend=True, template=template)))
    assert job.spec is not None
    assert job.spec.backoffLimit == 6
    since = job.metadata.resourceVersion
    light.patch(Job, "j", {"metadata": {"annotations": {"k": "v"}}})
    patched = light.patch(Job.Status, "j", {"metadata": {"annotations": {"s": "t"}}})
    assert patched.metadata.annotations == {"k": "v", "s": "t"}
    light.delete(Job, "j")
    seen = []
    for kind, item in light.watch(Job, resource_version=since, fields={"metadata.name": "j"}, server_timeout=30):
        seen.append((kind, item.metadata.annotations))
        if kind == "DELETED":
            break
    assert {"k": "v"} in [annotations for _, annotations in seen]
    assert seen[-1] == ("DELETED", {"k": "v", "s": "t"})
