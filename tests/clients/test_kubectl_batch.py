"""What users of kubectl do with CronJobs, budgets and Services: running one by hand, draining,
looking at endpoints.
"""

import json
import shutil
from collections.abc import Callable

import pytest

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="it needs nodes whose kubelets run any image, and hours that pass in seconds"),
    pytest.mark.fakekube(nodes=2, clock=60),
]

Kubectl = Callable[..., str]


@pytest.mark.spec("API-172")
def test_a_cron_job_runs_by_itself_and_by_hand(inside: Kubectl) -> None:
    """Given a CronJob of kubectl, when its minute comes, and when it is run by hand, then both Jobs
    complete, get and describe tell of them, and a suspended one says so; deleting it takes all
    along.
    """
    inside("create", "cronjob", "tick", "--image=busybox", "--schedule=* * * * *", "--", "echo", "tock")
    job = inside("create", "job", "by-hand", "--from=cronjob/tick")
    assert job == "job.batch/by-hand created\n"
    assert inside("wait", "--for=condition=complete", "job/by-hand", "--timeout=30s") == "job.batch/by-hand condition met\n"
    assert inside("logs", "job/by-hand") == "tock\n"
    made = json.loads(inside("get", "job", "by-hand", "-o", "json"))["metadata"]
    assert made["annotations"]["cronjob.kubernetes.io/instantiate"] == "manual"
    assert made["ownerReferences"][0]["name"] == "tick"
    inside("wait", "--for=jsonpath={.status.lastSuccessfulTime}", "cronjob/tick", "--timeout=30s")
    inside("wait", "--for=jsonpath={.status.lastScheduleTime}", "cronjob/tick", "--timeout=30s")
    inside("patch", "cronjob", "tick", "-p", '{"spec":{"suspend":true}}')
    header, row = inside("get", "cronjob", "tick").splitlines()
    assert header.split() == ["NAME", "SCHEDULE", "TIMEZONE", "SUSPEND", "ACTIVE", "LAST", "SCHEDULE", "AGE"]
    assert row.split()[:8] == ["tick", "*", "*", "*", "*", "*", "<none>", "True"]
    described = inside("describe", "cronjob", "tick")
    for text in ("Schedule:                      * * * * *", "Concurrency Policy:            Allow", "SuccessfulCreate"):
        assert text in described
    inside("delete", "cronjob", "tick")
    inside("wait", "--for=delete", "job", "--all", "--timeout=30s")


@pytest.mark.spec("JOB-181")
def test_a_node_is_drained_as_budgets_allow(inside: Kubectl) -> None:
    """Given a Deployment on one node and a budget that lets no pod go, when the node is drained,
    then drain gives up and says why; once the budget allows it, then the pods move to the other
    node.
    """
    inside("cordon", "node-1")
    inside("create", "deployment", "web", "--image=image:1", "--replicas=2")
    inside("rollout", "status", "deployment/web", "--timeout=30s")
    inside("create", "pdb", "web", "--selector=app=web", "--min-available=2")
    inside("wait", "--for=jsonpath={.status.currentHealthy}=2", "pdb/web", "--timeout=30s")
    assert inside("get", "pdb", "web").splitlines()[1].split()[:4] == ["web", "2", "N/A", "0"]
    inside("uncordon", "node-1")
    refused = inside("drain", "node-0", "--timeout=1s", code=1)
    assert "Cannot evict pod as it would violate the pod's disruption budget." in refused
    inside("patch", "pdb", "web", "-p", '{"spec":{"minAvailable":0}}')
    inside("wait", "--for=jsonpath={.status.disruptionsAllowed}=2", "pdb/web", "--timeout=30s")
    assert inside("drain", "node-0", "--timeout=30s").endswith("node/node-0 drained\n")
    inside("rollout", "status", "deployment/web", "--timeout=30s")
    nodes = inside("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}")
    assert nodes.split() == ["node-1", "node-1"]
    inside("uncordon", "node-0")


@pytest.mark.spec("API-172")
def test_a_service_shows_its_endpoints(inside: Kubectl) -> None:
    """Given a Deployment that is exposed, when its pods are ready, then describe, endpoints and
    slices show their addresses; when it is scaled to none, then none are left.
    """
    inside("create", "deployment", "web", "--image=image:1", "--replicas=2", "--port=80")
    inside("expose", "deployment", "web")
    inside("rollout", "status", "deployment/web", "--timeout=30s")
    inside("wait", "--for=jsonpath={.endpoints[1].conditions.ready}=true", "endpointslice", "--all", "--timeout=30s")
    ips = sorted(inside("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].status.podIP}").split())
    slices = json.loads(inside("get", "endpointslices", "-l", "kubernetes.io/service-name=web", "-o", "json"))["items"]
    assert sorted(address for endpoint in slices[0]["endpoints"] for address in endpoint["addresses"]) == ips
    described = inside("describe", "service", "web")
    assert all(f"{ip}:80" in described for ip in ips)
    inside("scale", "deployment", "web", "--replicas=0")
    inside("wait", "--for=delete", "pod", "-l", "app=web", "--timeout=30s")
    assert inside("get", "endpoints", "web", "-o", "jsonpath={.subsets}") == ""
