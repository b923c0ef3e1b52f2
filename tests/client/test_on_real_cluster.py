"""The client and the engine on a real control plane: what they send is what it takes.

Run with ``pytest -m real --kubeconfig FILE``; the cluster needs the namespace and service account
controllers. The same steps run against our own server by default, so that both are held to one
script.
"""

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.client import Client
from fakekube.client.http import HTTP
from fakekube.client.kubeconfig import load_client
from fakekube.client.resources import CONFIG_MAPS, EVENTS, JOBS, LEASES, NAMESPACES, PODS, SECRETS
from fakekube.composition.cluster import Cluster
from fakekube.runtime import controller
from fakekube.runtime.ownership import ControllerRefManager
from fakekube.runtime.standalone import run_components
from fakekube.util.activity import Activity
from fakekube.util.drivers import RealDriver
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks
from fakekube.util.wallclock import RealClock

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture(params=["ours", pytest.param("real", marks=pytest.mark.real)])
async def client(request):
    if request.param == "real":
        path = request.config.getoption("--kubeconfig")
        if not path:
            pytest.skip("--kubeconfig names no cluster")
        client = load_client(path)
        yield client
        await client.close()
        return
    async with Cluster(clock="real", controllers="namespace,serviceaccount") as cluster:
        server = await cluster.serve()
        client = Client(HTTP(server.url, headers={"authorization": f"Bearer {cluster.token}"}))
        yield client
        await client.close()


@pytest.fixture
async def namespace(client):
    made = await client.create(NAMESPACES, {"metadata": {"generateName": "engine-"}})
    name = meta.name_of(made)

    async def has_namespace_defaults():
        return await client.get(CONFIG_MAPS, "kube-root-ca.crt", name, missing_ok=True) is not None

    await eventually(has_namespace_defaults)
    yield name
    await client.delete(NAMESPACES, name)


async def eventually(predicate):
    await RealDriver(RealClock(), Activity()).run_until(predicate, within=20)


async def test_claiming(client, namespace):
    """Given an orphaned pod, when a Job claims it and lets it go, then its owner references and
    finalizers follow.
    """
    job = await client.create(JOBS, {"metadata": {"name": "j"}, "spec": {"template": TEMPLATE}}, namespace)
    pod = await client.create(PODS, {"metadata": {"name": "p"}, **TEMPLATE}, namespace)
    refs = ControllerRefManager(client, PODS, job, Everything(), finalizers=["example.com/tracking"])
    assert await refs.claim([pod]) == [pod]
    owned = await client.get(PODS, "p", namespace)
    assert meta.is_controlled_by(owned, job)
    assert meta.finalizers_of(owned) == ["example.com/tracking"]
    await refs.release(owned)
    released = await client.get(PODS, "p", namespace)
    assert meta.owners_of(released) == meta.finalizers_of(released) == []


class Everything:
    """Selects all labels."""

    def matches(self, labels):
        return True


async def test_apply_and_conflict(client, namespace):
    """Given an applied object, when another manager applies another value, then it conflicts, in
    these words.
    """
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": namespace}}
    await client.apply({**config, "data": {"k": "1"}})
    with pytest.raises(APIError) as raised:
        await client.with_options(user_agent="other").apply({**config, "data": {"k": "2"}}, force=False)
    assert str(raised.value) == 'Apply failed with 1 conflict: conflict with "fakekube": .data.k'


async def test_initial_events_end_with_a_bookmark(client, namespace):
    """Given objects, when watched with initial events, then they come, and then the bookmark that
    says so.
    """
    types = []
    async with await client.watch(CONFIG_MAPS, namespace, send_initial_events=True) as events:
        async for event in events:
            types.append(event.type)
            if event.type == "BOOKMARK":
                assert meta.annotations_of(event.object) == {"k8s.io/initial-events-end": "true"}
                break
    assert types == ["ADDED", "BOOKMARK"]


async def test_eviction_and_tokens(client, namespace):
    """Given a pod and a service account, when evicted and asked for a token, then it goes and a
    token comes.
    """
    await client.create(PODS, {"metadata": {"name": "p"}, **TEMPLATE}, namespace)
    await client.evict("p", namespace, grace_period_seconds=0)
    assert await client.get(PODS, "p", namespace, missing_ok=True) is None

    async def has_account():
        return await client.resource("serviceaccounts") and (await client.list(
            await client.resource("serviceaccounts"), namespace)).items

    await eventually(has_account)
    assert (await client.create_token("default", namespace))["status"]["token"]


async def test_lists_come_in_pages(client, namespace):
    """Given objects, when listed one by one, then tokens lead through them all, and each carries
    its kind.
    """
    for name in "ab":
        await client.create(CONFIG_MAPS, {"metadata": {"name": name}}, namespace)
    names, token = [], ""
    while True:
        page = await client.list(CONFIG_MAPS, namespace, limit=1, continue_token=token)
        names += [meta.name_of(item) for item in page.items]
        assert all(item["kind"] == "ConfigMap" for item in page.items)
        if not (token := page.continue_token):
            break
    assert names == ["a", "b", "kube-root-ca.crt"]


class Keeper:
    def __init__(self, ctx):
        self.client, self.events = ctx.client, ctx.recorder("keeper")
        self.maps, self.secrets = ctx.lister(CONFIG_MAPS), ctx.lister(SECRETS)

    async def reconcile(self, request):
        config = self.maps.get(*request)
        if config is None or "kept" not in meta.labels_of(config) or self.secrets.controlled_by(meta.uid_of(config)):
            return
        await self.client.create(SECRETS, {"metadata": {
            "name": request.name, "namespace": request.namespace,
            "ownerReferences": [meta.controller_reference(config)],
        }})
        for _ in range(2):
            self.events.event(config, "Normal", "Kept", "made a secret")
            self.events.report(config, "Normal", "Reported", "Keeping", "made a secret")


async def test_a_program_of_controllers(client, namespace):
    """Given a controller as a program with a lease, when its objects change, then it acts, and
    tells by Events.
    """
    tasks, lease = Tasks(), f"keeper-{Rng.unpredictable().suffix()}"
    keeper = controller("keeper").for_(CONFIG_MAPS).owns(SECRETS).complete(Keeper)
    tasks.spawn(run_components(client.with_options(user_agent="keeper"), [keeper], lease=lease), "program")
    await client.create(CONFIG_MAPS, {"metadata": {"name": "a", "labels": {"kept": "yes"}}}, namespace)

    async def kept():
        return await client.get(SECRETS, "a", namespace, missing_ok=True)

    async def told():
        events = (await client.list(EVENTS, namespace)).items
        counts = {event["reason"]: event.get("count") or event.get("series", {}).get("count") for event in events}
        return counts == {"Kept": 2, "Reported": 2}

    await eventually(kept)
    await eventually(told)
    await client.delete(SECRETS, "a", namespace)
    await eventually(kept)
    assert (await client.get(LEASES, lease, "kube-system"))["spec"]["holderIdentity"].startswith("fakekube_")
    await tasks.close()
    await client.delete(LEASES, lease, "kube-system")
