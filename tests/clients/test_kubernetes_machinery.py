"""The parts of the official client that stay running: leader election and watches of the dynamic
client.
"""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from kubernetes import client, dynamic
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock


class Candidate:
    """Somebody who wants to lead, and can be cut off from the lock."""

    def __init__(self, api: client.ApiClient, namespace: str, name: str, log: list[str]) -> None:
        self.lock = ConfigMapLock("leader", namespace, name)
        self.lock.api_instance = client.CoreV1Api(api)
        config = electionconfig.Config(
            self.lock, lease_duration=2, renew_deadline=1.5, retry_period=1,
            onstarted_leading=lambda: log.append(f"{name} leads"), onstopped_leading=lambda: log.append(f"{name} stops"))
        self.election = leaderelection.LeaderElection(config)
        self.thread = threading.Thread(target=self.election.run, daemon=True)

    def cut_off(self) -> None:
        """From now on no write reaches the lock; who leads gives up in the end."""
        self.lock.update = lambda *_: False


@pytest.mark.spec("API-092", "API-171")
def test_a_leader_that_is_cut_off_is_followed_by_another(
    api: client.ApiClient, namespace: str, until: Callable[..., Any]) -> None:
    """Given a leader and a follower, when the leader can no longer renew its lease, then it stops,
    and the follower leads.
    """
    log: list[str] = []
    first, second = Candidate(api, namespace, "first", log), Candidate(api, namespace, "second", log)
    first.thread.start()
    until(lambda: log == ["first leads"])
    second.thread.start()
    first.cut_off()
    until(lambda: "second leads" in log)
    until(lambda: "first stops" in log)
    found = client.CoreV1Api(api).read_namespaced_config_map("leader", namespace)
    assert '"holderIdentity": "second"' in found.metadata.annotations["control-plane.alpha.kubernetes.io/leader"]
    second.cut_off()
    first.thread.join(10)
    second.thread.join(10)
    assert sorted(log) == ["first leads", "first stops", "second leads", "second stops"]


@pytest.mark.spec("API-092", "API-171")
def test_of_two_that_saw_the_same_lock_one_gets_it(api: client.ApiClient, namespace: str) -> None:
    """Given two candidates that have read the same state of a Lease, when both write themselves
    into it, then the first succeeds and the second learns that it was late.
    """
    leases = client.CoordinationV1Api(api)
    leases.create_namespaced_lease(namespace, {"metadata": {"name": "leader"}, "spec": {"leaseDurationSeconds": 15}})
    seen = [leases.read_namespaced_lease("leader", namespace) for _ in range(2)]
    for number, lease in enumerate(seen):
        lease.spec.holder_identity = f"candidate-{number}"
    assert leases.replace_namespaced_lease("leader", namespace, seen[0]).spec.holder_identity == "candidate-0"
    with pytest.raises(client.ApiException) as caught:
        leases.replace_namespaced_lease("leader", namespace, seen[1])
    assert caught.value.status == 409
    assert leases.read_namespaced_lease("leader", namespace).spec.holder_identity == "candidate-0"


@pytest.mark.spec("API-076", "API-077", "API-113")
def test_the_dynamic_client_watches_and_applies(api: client.ApiClient, namespace: str) -> None:
    """Given nothing but discovery, when the dynamic client watches while it creates, applies and
    deletes, then it sees each state in turn; a watch without a version begins with what is there.
    """
    maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"w": "y"}}, "data": {"n": "1"}}
    since = maps.get(namespace=namespace).metadata.resourceVersion
    maps.create(namespace=namespace, body=body)
    applied = {**body, "data": {"n": "2"}}
    maps.server_side_apply(namespace=namespace, name="a", body=applied, field_manager="me", force_conflicts=True)
    begun = next(iter(maps.watch(namespace=namespace, label_selector="w=y", timeout=10)))
    assert (begun["type"], begun["object"].data.n) == ("ADDED", "2")
    maps.delete(namespace=namespace, name="a")
    seen = []
    for event in maps.watch(namespace=namespace, label_selector="w=y", resource_version=since, timeout=10):
        seen.append((event["type"], event["raw_object"]["data"]["n"]))
        if event["type"] == "DELETED":
            break
    assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]
