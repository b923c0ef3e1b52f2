"""Upstream's own managers of custom workloads beside a served cluster, with their definitions and
webhooks.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.clients.managers import MARKS, SECONDS, running

pytestmark = [pytest.mark.fake_only(reason="a real cluster has its own"), *MARKS]


@pytest.mark.fakekube(tls=True, authorization_mode="Node,RBAC", nodes=2)
def test_jobsets_by_their_own_manager(
    api: client.ApiClient, kubeconfig: Path, namespace: str, tmp_path: Path, until: Callable[..., Any]) -> None:
    """Given JobSet's manager beside a cluster that decides by roles, when a JobSet is created, then
    its webhook fills it, its Jobs run, and it completes; what its definition forbids is refused.
    """
    custom, batch = client.CustomObjectsApi(api), client.BatchV1Api(api)
    kind = ("jobset.x-k8s.io", "v1alpha2", namespace, "jobsets")
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "command": ["sleep", "1"]}]}
    body = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "demo"},
        "spec": {"replicatedJobs": [{"name": "workers", "replicas": 2, "template": {"spec": {
            "parallelism": 2, "completions": 2, "backoffLimit": 0, "template": {"spec": pod}}}}]}}
    with running("jobset", kubeconfig, tmp_path) as log:
        until(lambda: b"beside" in log.read_bytes(), seconds=SECONDS)
        made = until(lambda: custom.create_namespaced_custom_object(*kind, body))
        assert made["spec"]["successPolicy"] == {"operator": "All"}
        until(lambda: (custom.get_namespaced_custom_object(*kind, "demo").get("status") or {}).get(
            "terminalState") == "Completed", seconds=90.0)
        jobs = batch.list_namespaced_job(namespace).items
        assert sorted((job.metadata.name, job.status.succeeded) for job in jobs) == [
            ("demo-workers-0", 2), ("demo-workers-1", 2)]
        wrong = {**body, "metadata": {"name": "wrong"}, "spec": {"successPolicy": {"operator": "Some"}}}
        with pytest.raises(client.ApiException) as refused:
            custom.create_namespaced_custom_object(*kind, wrong)
        assert (refused.value.status, "supported values" in refused.value.body) == (422, True)
