"""Rules that hold for writes of built-in kinds, whoever writes."""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import CONFIG_MAPS, CRON_JOBS, DEPLOYMENTS, JOBS, LEASES, PODS, SECRETS, SERVICES

TEMPLATE: Tree = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
DEPLOYMENT: Tree = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}}
JOB_TEMPLATE: Tree = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}}


async def refusal(awaitable: Any) -> APIError:
    with pytest.raises(APIError) as caught:
        await awaitable
    return caught.value


def owner(uid: str, *, controller: bool = False) -> Tree:
    reference: Tree = {"apiVersion": "v1", "kind": "Secret", "name": f"s-{uid}", "uid": uid}
    return reference | ({"controller": True} if controller else {})


@pytest.mark.spec("API-040", "API-043")
async def test_pods_and_secrets_get_their_defaults(client: Client) -> None:
    """Given the smallest Pod and a Secret with plain text, when created, then defaults are there
    and the text is encoded.
    """
    pod = await client.create(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}, "default")
    spec = pod["spec"]
    assert (spec["restartPolicy"], spec["dnsPolicy"], spec["schedulerName"], spec["terminationGracePeriodSeconds"]) == (
        "Always", "ClusterFirst", "default-scheduler", 30)
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    assert [t["key"] for t in spec["tolerations"]] == ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    assert (pod["metadata"]["generation"], pod["status"]) == (1, {"phase": "Pending", "qosClass": "BestEffort"})
    secret = await client.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"a": "b"}}, "default")
    assert (secret["type"], secret["data"], "stringData" in secret) == ("Opaque", {"a": "Yg=="}, False)


@pytest.mark.spec("API-042")
async def test_a_cron_jobs_template_is_no_job_yet(client: Client) -> None:
    """Given a CronJob, when created, then its template has the defaults of pods and not those of
    Jobs.
    """
    made = await client.create(CRON_JOBS, {"metadata": {"name": "c"}, "spec": {
        "schedule": "* * * * *", "jobTemplate": {"spec": {"template": JOB_TEMPLATE}}}}, "default")
    job = made["spec"]["jobTemplate"]["spec"]
    assert "backoffLimit" not in job
    assert job["template"]["spec"]["dnsPolicy"] == "ClusterFirst"
    assert (made["spec"]["concurrencyPolicy"], made["spec"]["suspend"]) == ("Allow", False)


@pytest.mark.spec("API-049", "API-050")
async def test_owner_references(client: Client) -> None:
    """Given references twice, when created, then a repeated one is dropped and two controllers are
    refused.
    """
    twice = await client.create(CONFIG_MAPS, {"metadata": {"name": "a", "ownerReferences": [owner("u"), owner("u")]}}, "default")
    assert len(twice["metadata"]["ownerReferences"]) == 1
    both = [owner("u", controller=True), owner("v", controller=True)]
    error = await refusal(client.create(CONFIG_MAPS, {"metadata": {"name": "b", "ownerReferences": both}}, "default"))
    assert error.code == 422
    assert 'Only one reference can have Controller set to true. Found "true" in references for Secret/s-u and Secret/s-v' in (
        error.message)


@pytest.mark.spec("API-099", "API-100")
async def test_what_may_not_change(client: Client) -> None:
    """Given a Pod, a Job, a Service and an immutable ConfigMap, when what is fixed changes, then it
    is a 422.
    """
    await client.create(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}, "default")
    error = await refusal(client.patch(PODS, "p", "default", {"spec": {"hostname": "h"}}))
    assert (error.code, "pod updates may not change fields other than" in error.message) == (422, True)
    changed = await client.patch(PODS, "p", "default", {"spec": {"activeDeadlineSeconds": 5}})
    assert changed["spec"]["activeDeadlineSeconds"] == 5
    await client.create(JOBS, {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": JOB_TEMPLATE}}, "default")
    error = await refusal(client.patch(JOBS, "j", "default", {"spec": {"completions": 4}}))
    assert error.causes[0] == {
        "reason": "FieldValueInvalid", "message": "Invalid value: 4: field is immutable", "field": "spec.completions"}
    service = await client.create(SERVICES, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}, "default")
    other = "10.0.0.99" if service["spec"]["clusterIP"] != "10.0.0.99" else "10.0.0.98"
    error = await refusal(client.patch(SERVICES, "s", "default", {"spec": {"clusterIP": other, "clusterIPs": [other]}}))
    assert (error.code, "immutable" in error.message or "may not change" in error.message) == (422, True)
    await client.create(CONFIG_MAPS, {"metadata": {"name": "m"}, "data": {"a": "1"}, "immutable": True}, "default")
    error = await refusal(client.patch(CONFIG_MAPS, "m", "default", {"data": {"a": "2"}}))
    assert "data: Forbidden: field is immutable when `immutable` is set" in error.message


@pytest.mark.spec("API-106", "API-112")
async def test_finalizers_by_patch(client: Client) -> None:
    """Given two finalizers, when a strategic patch deletes one, then the other stays; none may be
    added while deleting.
    """
    names = ["example.com/a", "example.com/b"]
    await client.create(CONFIG_MAPS, {"metadata": {"name": "a", "finalizers": names}}, "default")
    body = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}}
    left = await client.patch(CONFIG_MAPS, "a", "default", body, type="strategic")
    assert left["metadata"]["finalizers"] == ["example.com/b"]
    await client.delete(CONFIG_MAPS, "a", "default")
    error = await refusal(client.patch(CONFIG_MAPS, "a", "default", {"metadata": {"finalizers": names}}))
    assert error.message.endswith(
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "
        '[]string{"example.com/a"}')


@pytest.mark.spec("API-110", "API-111", "API-114")
async def test_patches_that_are_refused(client: Client) -> None:
    """Given patches to something invalid, to another uid, and with options of apply, then each gets
    its error.
    """
    await client.create(DEPLOYMENTS, DEPLOYMENT, "default")
    error = await refusal(client.patch(DEPLOYMENTS, "d", "default", {"spec": {"replicas": -1}}))
    assert error.causes[0] == {
        "reason": "FieldValueInvalid", "message": "Invalid value: -1: must be greater than or equal to 0",
        "field": "spec.replicas"}
    error = await refusal(client.patch(DEPLOYMENTS, "d", "default", {"metadata": {"uid": "x"}}))
    assert error.code in (409, 422)
    renamed = await client.patch(DEPLOYMENTS, "d", "default", {"metadata": {"generateName": "x"}})
    assert renamed["metadata"]["generateName"] == "x"
    error = await refusal(client.patch(DEPLOYMENTS, "d", "default", {}, force=True))
    assert error.message == (
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch')
    path = "/apis/apps/v1/namespaces/default/deployments/d"
    error = await refusal(client.request("PATCH", path, body=b"{}", content_type="application/apply-patch+yaml"))
    assert error.message.endswith("fieldManager: Required value: is required for apply patch")


def applied(**data: str) -> Tree:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": data}


async def apply(client: Client, manager: str, *, force: bool = False, **data: str) -> Tree:
    return await client.patch(
        CONFIG_MAPS, "a", "default", applied(**data), type="apply", field_manager=manager, force=force)


@pytest.mark.spec("API-113", "API-115", "API-116", "API-117", "API-118")
async def test_who_owns_what_after_apply(client: Client) -> None:
    """Given two appliers, when they agree, disagree, force and leave out, then fields are shared,
    defended, taken, removed.
    """
    first = await apply(client, "one", k="1", mine="1")
    assert await apply(client, "one", k="1", mine="1") == first
    await apply(client, "two", k="1")
    error = await refusal(apply(client, "two", k="2"))
    assert (error.code, error.causes[0]["reason"], error.causes[0]["field"]) == (409, "FieldManagerConflict", ".data.k")
    assert error.message == 'Apply failed with 1 conflict: conflict with "one": .data.k'
    assert (await apply(client, "two", force=True, k="2"))["data"] == {"k": "2", "mine": "1"}
    assert (await apply(client, "one"))["data"] == {"k": "2"}, "what only one owned goes, what two took stays"
    entries = (await client.get(CONFIG_MAPS, "a", "default"))["metadata"]["managedFields"]
    assert {entry["manager"]: entry["fieldsV1"]["f:data"] for entry in entries} == {"one": {}, "two": {"f:k": {}}}


@pytest.mark.spec("API-119", "API-121")
async def test_apply_that_cannot_be_typed(client: Client) -> None:
    """Given applies with a repeated key and an unknown field, then both are 500 in upstream's
    words.
    """
    ports = [{"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "TCP"}]
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": ports}}
    error = await refusal(client.patch(SERVICES, "s", "default", body, type="apply"))
    assert (error.code, error.reason) == (500, "")
    assert 'duplicate entries for key [port=80,protocol="TCP"]' in error.message
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "spec": {"foo": 1}}
    error = await refusal(client.patch(CONFIG_MAPS, "a", "default", body, type="apply"))
    assert error.message == (
        "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .spec: field not declared in schema")


@pytest.mark.spec("API-122", "API-130")
async def test_the_status_endpoint(client: Client) -> None:
    """Given a Job, when its status is applied and its annotations are patched there, then spec
    stays and both are kept.
    """
    await client.create(JOBS, {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": JOB_TEMPLATE}}, "default")
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
    body |= {"spec": {"parallelism": 9}, "status": {"ready": 0}}
    told = await client.patch(JOBS, "j", "default", body, type="apply", subresource="status", field_manager="m")
    assert (told["spec"]["parallelism"], told["status"]) == (1, {"ready": 0})
    assert [e["subresource"] for e in told["metadata"]["managedFields"] if e["manager"] == "m"] == ["status"]
    noted = await client.patch(JOBS, "j", "default", {"metadata": {"annotations": {"a": "b"}}}, subresource="status")
    assert noted["metadata"]["annotations"] == {"a": "b"}


@pytest.mark.spec("API-126")
async def test_many_updaters_become_ancient(client: Client) -> None:
    """Given eleven updaters, when each has written, then the oldest are one entry."""
    await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k0": "1"}}, "default", field_manager="m0")
    for number in range(1, 12):
        await client.patch(CONFIG_MAPS, "a", "default", {"data": {f"k{number}": "1"}}, field_manager=f"m{number}")
    entries = (await client.get(CONFIG_MAPS, "a", "default"))["metadata"]["managedFields"]
    assert any(entry["manager"] == "ancient-changes" for entry in entries)
    assert len(entries) <= 11


@pytest.mark.spec("API-138")
async def test_ephemeral_containers_only_grow(client: Client) -> None:
    """Given a pod, when an ephemeral container is added and then taken away, then the first is done
    and the second refused.
    """
    await client.create(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}, "default")
    body = {"spec": {"ephemeralContainers": [{"name": "d", "image": "busybox"}]}}
    grown = await client.patch(PODS, "p", "default", body, type="strategic", subresource="ephemeralcontainers")
    assert [c["name"] for c in grown["spec"]["ephemeralContainers"]] == ["d"]
    assert grown["metadata"]["generation"] == 2
    fewer = {"spec": {"ephemeralContainers": []}}
    error = await refusal(client.patch(PODS, "p", "default", fewer, subresource="ephemeralcontainers"))
    assert (error.code, "may not be" in error.message) == (422, True)


@pytest.mark.spec("API-171")
async def test_one_of_two_leaders(client: Client) -> None:
    """Given a Lease that two candidates have read, when both take it, then one has it and the other
    gets a Conflict.
    """
    lease = await client.create(LEASES, {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 15}}, "default")
    taken = await client.update(LEASES, {**lease, "spec": {**lease["spec"], "holderIdentity": "one"}})
    assert taken["spec"]["holderIdentity"] == "one"
    error = await refusal(client.update(LEASES, {**lease, "spec": {**lease["spec"], "holderIdentity": "two"}}))
    assert (error.code, error.reason) == (409, "Conflict")
