"""pykube-ng, with its queries and its objects that are dictionaries."""

from collections.abc import Iterator
from pathlib import Path

import pykube
import pytest


@pytest.fixture
def cube(kubeconfig: Path) -> Iterator[pykube.HTTPClient]:
    """A connected client."""
    connected = pykube.HTTPClient(pykube.KubeConfig.from_file(str(kubeconfig)))
    yield connected
    connected.session.close()


def config_map(cube: pykube.HTTPClient, namespace: str, name: str, **labels: str) -> pykube.ConfigMap:
    """A ConfigMap, created."""
    made = pykube.ConfigMap(cube, {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "data": {"a": "1"}})
    made.create()
    return made


@pytest.mark.spec("API-101", "API-104", "API-141")
def test_objects_update_what_has_changed(cube: pykube.HTTPClient, namespace: str) -> None:
    """Given a ConfigMap, when its dictionary is changed and updated, patched, and another copy is
    behind, then the server holds the sum of the changes; after a delete it is gone.
    """
    made = config_map(cube, namespace, "a")
    behind = pykube.ConfigMap.objects(cube).filter(namespace=namespace).get_by_name("a")
    made.obj["data"]["b"] = "2"
    made.update()
    behind.patch({"data": {"c": "3"}})
    made.reload()
    assert made.obj["data"] == {"a": "1", "b": "2", "c": "3"}
    made.annotations["k"] = "v"
    made.update()
    assert pykube.ConfigMap.objects(cube, namespace=namespace).get(name="a").annotations == {"k": "v"}
    made.delete()
    assert not made.exists()
    with pytest.raises(pykube.exceptions.HTTPError) as caught:
        made.reload()
    assert (caught.value.code, str(caught.value)) == (404, 'configmaps "a" not found')


@pytest.mark.spec("API-064", "API-065", "API-077")
def test_queries_and_a_watch(cube: pykube.HTTPClient, namespace: str) -> None:
    """Given three ConfigMaps, when they are queried by labels and fields and watched, then each
    answer holds what it should.
    """
    for name, tier in (("a", "x"), ("b", "y"), ("c", "z")):
        config_map(cube, namespace, name, tier=tier)
    every = pykube.ConfigMap.objects(cube, namespace=namespace)
    assert [item.name for item in every.filter(selector={"tier__in": {"x", "y"}})] == ["a", "b"]
    assert [item.name for item in every.filter(selector="tier,tier!=x")] == ["b", "c"]
    assert [item.name for item in every.filter(field_selector={"metadata.name": "c"})] == ["c"]
    seen = []
    for event in every.filter(selector={"tier": "x"}).watch():
        seen.append((event.type, event.object.obj["data"]))
        if event.type == "ADDED":
            event.object.patch({"data": {"b": "2"}})
        elif event.type == "MODIFIED":
            event.object.delete()
        else:
            break
    assert seen == [("ADDED", {"a": "1"}), ("MODIFIED", {"a": "1", "b": "2"}), ("DELETED", {"a": "1", "b": "2"})]


@pytest.mark.spec("API-132")
def test_a_deployment_is_scaled_and_a_cronjob_suspended(cube: pykube.HTTPClient, namespace: str) -> None:
    """Given a Deployment and a CronJob, when pykube's own methods scale the one and suspend the
    other, then they say so.
    """
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    deployment = pykube.Deployment(cube, {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": template}})
    deployment.create()
    # its controller writes too, so that an update may be too late
    deployment.patch({"spec": {"replicas": 0}})
    deployment.reload()
    assert deployment.replicas == 0
    job = {"spec": {"template": {"spec": template["spec"] | {"restartPolicy": "Never"}}}}
    cron = pykube.CronJob(cube, {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c", "namespace": namespace},
        "spec": {"schedule": "@hourly", "jobTemplate": job}})
    cron.create()
    cron.patch({"spec": {"suspend": True}})
    assert [item.obj["spec"]["suspend"] for item in pykube.CronJob.objects(cube, namespace=namespace)] == [True]
