"""What users of kubectl see of pods that are spread, kept together and kept apart: where they go,
and why some do not.
"""

import json
import re
import shutil
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="it counts on the nodes that there are"),
    pytest.mark.fakekube(nodes=4, clock=20),
]

Kubectl = Callable[..., str]
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@pytest.fixture
def zoned(inside: Kubectl) -> Kubectl:
    """Four nodes in two zones."""
    for number in range(4):
        inside("label", "node", f"node-{number}", f"{ZONE}=zone-{'ab'[number % 2]}")
    return inside


def deployment(name: str, replicas: int, **spec: Any) -> str:
    """A Deployment whose pods have this spec."""
    labels = {"app": name}
    return json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
            "containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "100m"}}}], **spec}}}})


def nodes_of(kubectl: Kubectl, name: str) -> list[str]:
    """The nodes of a Deployment's pods, sorted; empty for a pod without one."""
    template = '{range .items[*]}{.spec.nodeName}{"\\n"}{end}'
    return sorted(kubectl("get", "pods", "-l", f"app={name}", "-o", f"jsonpath={template}").split("\n")[:-1])


def alike(name: str) -> dict[str, Any]:
    """The selector of a Deployment's pods."""
    return {"labelSelector": {"matchLabels": {"app": name}}}


def failed(kubectl: Kubectl, name: str) -> tuple[str, str]:
    """What ``describe`` says of a pod of the Deployment without a node: reason and text, and the
    same of ``get events``.
    """
    pending = ("pods", "-l", f"app={name}", "--field-selector", "spec.nodeName=")
    kubectl("wait", "--for=condition=PodScheduled=False", *pending, "--timeout=30s")
    pod = kubectl("get", *pending, "-o", "name").split()[0]
    described = kubectl("describe", pod)
    told = re.search(r"Warning  (FailedScheduling)  \S+ +default-scheduler  (.*)", described)
    assert told is not None, described
    events = kubectl("get", "events", "--field-selector", f"involvedObject.name={pod.partition('/')[2]}")
    assert told[2] in events
    return told[1], told[2]


def test_pods_are_spread_over_zones_and_no_further(zoned: Kubectl) -> None:
    """Given a Deployment that spreads over zones, one of which is cordoned, when it has more pods
    than the skew allows, then the next one waits, and says why.
    """
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **alike("web")}
    zoned("cordon", "node-1", "node-3")
    zoned("apply", "-f", "-", stdin=deployment("web", 2, topologySpreadConstraints=[constraint]))
    zoned("wait", "--for=jsonpath={.status.readyReplicas}=1", "deployment/web", "--timeout=30s")
    assert failed(zoned, "web") == (
        "FailedScheduling",
        ("0/4 nodes are available: 2 node(s) didn't match pod topology spread constraints, 2 node(s) were unschedulable. "
        "preemption: 0/4 nodes are available: 2 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling."))
    zoned("uncordon", "node-1")
    zoned("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    assert {"node-1"} < set(nodes_of(zoned, "web"))


def test_pods_that_do_not_stand_each_other(zoned: Kubectl) -> None:
    """Given a Deployment whose pods each want a node of their own, when it has more pods than there
    are nodes, then one waits, and says why.
    """
    alone = {"podAntiAffinity": {REQUIRED: [{"topologyKey": HOSTNAME, **alike("db")}]}}
    zoned("apply", "-f", "-", stdin=deployment("db", 5, affinity=alone))
    zoned("wait", "--for=jsonpath={.status.readyReplicas}=4", "deployment/db", "--timeout=30s")
    assert nodes_of(zoned, "db") == ["", "node-0", "node-1", "node-2", "node-3"]
    assert failed(zoned, "db") == (
        "FailedScheduling",
        ("0/4 nodes are available: 4 node(s) didn't match pod anti-affinity rules. "
        "preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod."))


def test_pods_that_follow_others(zoned: Kubectl) -> None:
    """Given pods that want to be in the zone of another kind, when there is none, then they wait;
    when there is one, then they go there.
    """
    near = {"podAffinity": {REQUIRED: [{"topologyKey": ZONE, **alike("db")}]}}
    zoned("apply", "-f", "-", stdin=deployment("web", 3, affinity=near))
    assert failed(zoned, "web")[1] == (
        "0/4 nodes are available: 4 node(s) didn't match pod affinity rules. "
        "preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.")
    zoned("apply", "-f", "-", stdin=deployment("db", 1, nodeName="node-3"))
    zoned("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    assert set(nodes_of(zoned, "web")) <= {"node-1", "node-3"}


def test_pods_of_a_deployment_are_spread_by_default(zoned: Kubectl) -> None:
    """Given a Deployment that says nothing of it, when it has as many pods as there are nodes, then
    each node has one.
    """
    zoned("apply", "-f", "-", stdin=deployment("web", 4))
    zoned("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    assert nodes_of(zoned, "web") == ["node-0", "node-1", "node-2", "node-3"]
