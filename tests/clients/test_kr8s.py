"""kr8s, whose objects know how to create, patch, watch and delete themselves."""

from collections.abc import AsyncIterator
from pathlib import Path

import kr8s
import kr8s.asyncio
import pytest
from kr8s.asyncio.objects import ConfigMap, Job, Pod, new_class

# the library has not heard of the newest releases yet, and says so
pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version:UserWarning")


@pytest.fixture
async def connected(kubeconfig: Path, namespace: str) -> AsyncIterator[kr8s.asyncio.Api]:
    """The asynchronous API, in the test's namespace."""
    api = await kr8s.asyncio.api(kubeconfig=str(kubeconfig), namespace=namespace)
    yield api
    await api._session.aclose()


async def config_map(api: kr8s.asyncio.Api, name: str, **labels: str) -> ConfigMap:
    """A ConfigMap, created."""
    made: ConfigMap = await ConfigMap({"metadata": {"name": name, "labels": labels}, "data": {"a": "1"}}, api=api)
    await made.create()
    return made


@pytest.mark.spec("API-001", "API-101", "API-104")
async def test_objects_change_themselves(connected: kr8s.asyncio.Api, namespace: str) -> None:
    """Given a ConfigMap, when it is patched, labelled, annotated, refreshed and deleted through its
    object, then the server holds what the object says, and it is gone at the end.
    """
    made = await config_map(connected, "a")
    assert await made.exists()
    await made.patch({"data": {"b": "2"}})
    await made.patch([{"op": "remove", "path": "/data/a"}], type="json")
    await made.label({"tier": "x"})
    await made.annotate({"note": "y"})
    again = await ConfigMap.get("a", namespace=namespace, api=connected)
    assert again.raw["data"] == {"b": "2"}
    assert dict(again.labels) == {"tier": "x"}
    assert dict(again.annotations) == {"note": "y"}
    await made.delete()
    assert not await made.exists()
    with pytest.raises(kr8s.NotFoundError):
        await ConfigMap.get("a", namespace=namespace, api=connected, timeout=0)


@pytest.mark.spec("API-054", "API-064", "API-065")
async def test_lists_across_pages_and_selectors(connected: kr8s.asyncio.Api, namespace: str) -> None:
    """Given more objects than a page of a hundred holds, when they are got by label, then all are
    there once; a field selects one; discovery knows the kinds.
    """
    for number in range(105):
        await config_map(connected, f"m{number:03}", suite="x", odd=str(number % 2))
    names = [item.name async for item in connected.get("configmaps", label_selector={"suite": "x"})]
    assert names == [f"m{number:03}" for number in range(105)]
    odd = [item.name async for item in connected.get("cm", label_selector="suite=x,odd=1")]
    assert len(odd) == 52
    assert [item.name async for item in connected.get("configmaps", field_selector="metadata.name=m003")] == ["m003"]
    assert {"jobs", "pods", "configmaps"} <= {item["name"] for item in await connected.api_resources()}
    assert (await connected.version())["major"] == "1"


@pytest.mark.spec("API-076", "API-086")
async def test_a_watch(connected: kr8s.asyncio.Api, namespace: str) -> None:
    """Given a ConfigMap, when it is patched and deleted while it is watched, then the watch tells
    of all three states.
    """
    made = await config_map(connected, "a", suite="x")
    seen = []
    async for kind, item in connected.watch("configmaps", label_selector={"suite": "x"}):
        seen.append((kind, item.name))
        if kind == "ADDED":
            await made.patch({"data": {"b": "2"}})
        elif kind == "MODIFIED":
            await made.delete()
        else:
            break
    assert seen == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


@pytest.mark.spec("API-014", "API-053")
async def test_objects_of_a_kind_of_ones_own(connected: kr8s.asyncio.Api, namespace: str) -> None:
    """Given a built-in kind that kr8s has no class for, when a class is made for it, then it works
    like the others.
    """
    lease = new_class("Lease", "coordination.k8s.io/v1", namespaced=True, asyncio=True)
    made = await lease({"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}, api=connected)
    await made.create()
    found = [item async for item in connected.get("leases.coordination.k8s.io")]
    assert [(item.name, item.spec.holderIdentity) for item in found] == [("l", "me")]


@pytest.mark.fake_only(reason="it needs a kubelet that reads what becomes of a pod from its annotations")
@pytest.mark.fakekube(nodes=1, clock=20)
@pytest.mark.spec("API-136")
async def test_a_job_is_waited_for_and_its_logs_are_read(connected: kr8s.asyncio.Api, namespace: str) -> None:
    """Given a Job, when its condition is waited for, then it comes, and the logs of its pod say
    what the pod has said.
    """
    job = await Job({"metadata": {"name": "j"}, "spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "command": ["echo", "hi"]}]}}}}, api=connected)
    await job.create()
    await job.wait("condition=Complete", timeout=30)
    pods = [pod async for pod in Pod.list(namespace=namespace, label_selector={"job-name": "j"}, api=connected)]
    assert [[line async for line in pod.logs()] for pod in pods] == [["hi"]]
