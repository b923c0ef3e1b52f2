"""Faults that reach further than an answer: components that die, Leases that are lost, webhooks.
"""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.client.resources import JOBS, LEASES, PODS
from fakekube.composition.snapshot import decode
from fakekube.util.driver import Stalled
from tests.faults.asking import ask, create, is_there, status

JOB = {"metadata": {"name": "a"}, "spec": {"completions": 3, "parallelism": 3, "template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}


@pytest.mark.parametrize("nth", range(1, 6))
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_component_dies_with_one_of_its_writes(nth: int, moment: str) -> None:
    """Given the Job controller, which dies before or after a write of its own / when it comes back
    / then the Job completes, with three pods and no more.
    """
    async with Cluster() as cluster:
        cluster.faults.add(crash="job", components="job", verbs="write", nth=nth, moment=moment, name="dies")
        await cluster.client.create(JOBS, JOB, "default")

        async def done() -> bool:
            found = await cluster.client.get(JOBS, "a", "default")
            return any(one["type"] == "Complete" for one in found.get("status", {}).get("conditions", ()))

        await cluster.run_until(done)
        assert len((await cluster.client.list(PODS, "default")).items) == 3
        assert [(one.fault, one.component) for one in cluster.faults.meetings] == [("dies", "job")]


async def test_somebody_else_takes_a_lease() -> None:
    """Given the Lease of a leader / when it is lost with a renewal / then the renewal meets a
    conflict, and another holder stands in it.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        made = await cluster.client.create(LEASES, {"metadata": {"name": "leader"}, "spec": {"holderIdentity": "me"}}, "default")
        cluster.faults.add(lose_lease=True, resources="leases", verbs="update")
        path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader"
        answer = await ask(cluster, "PUT", path, made)
        assert (answer.status, status(answer)["reason"]) == (409, "Conflict")
        found = await cluster.client.get(LEASES, "leader", "default")
        assert (found["spec"]["holderIdentity"], found["spec"]["leaseTransitions"]) == ("fakekube-fault", 1)


@pytest.mark.parametrize(("fault", "words"), [
    ("refused", "connect: connection refused"),
    ("timeout", "context deadline exceeded"),
    ("error", "an error on the server (")])
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_a_webhook_that_fails(fault: str, words: str, policy: str) -> None:
    """Given a webhook whose call goes wrong / when an object is created / then its failurePolicy
    decides, in upstream's words, and its function was not called.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        called: list[str] = []

        @cluster.webhook("configmaps", failure_policy=policy)
        def looks(request: AdmissionRequest) -> None:
            called.append(request.name)

        met = cluster.faults.add(webhook=fault, names="looks.*")
        answer = await create(cluster, "a")
        assert (answer.status, await is_there(cluster, "a")) == ((500, False) if policy == "Fail" else (201, True))
        if policy == "Fail":
            message = status(answer)["message"]
            assert message.startswith('Internal error occurred: failed calling webhook "looks.webhooks.fakekube.dev": failed to')
            assert words in message
        assert (called, met.met) == ([], 1)
        met.remove()
        assert (await create(cluster, "b")).status == 201
        assert called == ["b"]


async def test_who_waits_in_vain_is_told_of_faults() -> None:
    """Given a Job whose pods cannot be created / when a test waits for its end / then Stalled names
    the fault, and how often it was met.
    """
    async with Cluster() as cluster:
        cluster.faults.add(name="full", resources="pods", verbs="create", error="EtcdNoSpace")
        await cluster.client.create(JOBS, JOB, "default")

        async def gone() -> bool:
            return not (await cluster.client.list(JOBS, "default")).items

        with pytest.raises(Stalled, match=r"fault full \(error EtcdNoSpace\): \d+ of \d+ matching requests met it"):
            await cluster.run_until(gone, within="1m")


async def test_a_snapshot_and_the_plan() -> None:
    """Given a cluster with a plan, part of which is used up / when it is restored, and its snapshot
    taken from a file / then what was used up stays so, and the file knows of no faults.
    """
    plan: list[dict[str, Any]] = [
        {"name": "x", "verbs": "create", "resources": "configmaps", "error": "ServerTimeout", "times": 1}]
    async with Cluster(nodes=0, controllers="", clock="manual", faults=plan) as cluster:
        snapshot = cluster.snapshot()
        assert (await create(cluster, "a")).status == 500
        await cluster.restore(snapshot)
        assert (await create(cluster, "b")).status == 201
        async with Cluster(state=decode(snapshot.encode())) as other:
            assert (await create(other, "c")).status == 201


async def test_what_waits_behind_a_slow_request_does_not_stop_time() -> None:
    """Given requests of the kubelet that take time, while keys queue behind its only worker / when
    a Job is to complete / then it does, after that time.
    """
    async with Cluster() as cluster:
        cluster.faults.add(latency="200ms", resources="pods/status", verbs="patch", every=2)
        cluster.faults.add(watch="late", lasting="100ms", resources="pods, jobs")
        cluster.faults.add(error="EtcdTimeout", resources="pods", verbs="create", times=2)
        cluster.faults.add(crash="job", resources="jobs/status", verbs="write", nth=2, moment="after")
        await cluster.client.create(JOBS, JOB, "default")

        async def done() -> bool:
            found = await cluster.client.get(JOBS, "a", "default")
            return any(one["type"] == "Complete" for one in found.get("status", {}).get("conditions", ()))

        await cluster.run_until(done, within="5m")


async def test_a_converter_that_fails() -> None:
    """Given a kind in two versions whose objects a webhook converts / when its call goes wrong /
    then a read in the other version is refused in upstream's words, and one as stored is not.
    """
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        await ask(cluster, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": "webs.example.com"}, "spec": {
                "group": "example.com", "scope": "Cluster", "names": {"plural": "webs", "kind": "Web"},
                "versions": [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")],
                "conversion": {"strategy": "Webhook", "webhook": {
                    "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/convert"}}}}})
        await ask(cluster, "POST", "/apis/example.com/v1/webs", {
            "apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "a"}})
        with cluster.faults.add(webhook="timeout", names="Web.example.com"):
            refused = await ask(cluster, "GET", "/apis/example.com/v2/webs/a")
            assert refused.status == 500
            assert status(refused)["message"] == (
                "Internal error occurred: conversion webhook for example.com/v1, Kind=Web failed: Post "
                '"https://127.0.0.1:1/convert?timeout=30s": context deadline exceeded')
            assert (await ask(cluster, "GET", "/apis/example.com/v1/webs/a")).status == 200
