"""Which pods a RayCluster has, as Kueue counts them."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.kueue.jobs.ray import groups

FEATURES: Any = SimpleNamespace(TopologyAwareScheduling=False)
DEFAULT = {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"cpu": "500m", "memory": "512Mi"}}
OWN = {"requests": {"cpu": "1"}}


def template(name: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": name}]}}


@pytest.mark.parametrize(("fields", "beside"), [
    ({}, []), ({"enableInTreeAutoscaling": False}, []), ({"autoscalerOptions": {"resources": OWN}}, []),
    ({"enableInTreeAutoscaling": True}, [{"name": "autoscaler", "resources": DEFAULT}]),
    ({"enableInTreeAutoscaling": True, "autoscalerOptions": {}}, [{"name": "autoscaler", "resources": DEFAULT}]),
    ({"enableInTreeAutoscaling": True, "autoscalerOptions": {"resources": OWN}}, [{"name": "autoscaler", "resources": OWN}]),
])
def test_the_head_has_an_autoscaler_beside_it(fields: dict[str, Any], beside: list[Any]) -> None:
    """Given a cluster that scales itself, or does not / when its pods are counted / then the head
    has the autoscaler's container, with the resources that it is given, or KubeRay's.
    """
    spec: Any = {"headGroupSpec": {"template": template("head")}, **fields}
    assert groups.pod_sets(spec, FEATURES) == [
        {"name": "head", "count": 1, "template": {"spec": {"containers": [{"name": "head"}, *beside]}}}]
    assert spec["headGroupSpec"]["template"] == template("head")


@pytest.mark.parametrize(("group", "count"), [
    ({}, 1), ({"replicas": 0}, 0), ({"replicas": 3}, 3), ({"numOfHosts": 4}, 4), ({"replicas": 3, "numOfHosts": 2}, 6),
    ({"replicas": 3, "numOfHosts": 0}, 3), ({"replicas": 3, "numOfHosts": -2}, 3),
])
def test_workers_are_counted_by_hosts(group: dict[str, Any], count: int) -> None:
    """Given a group of workers with several hosts each / when its pods are counted / then there are
    as many as replicas times hosts, under the group's name in small letters.
    """
    spec: Any = {
        "headGroupSpec": {"template": template("head")},
        "workerGroupSpecs": [{"groupName": "GPU", "template": template("worker"), **group}]}
    assert groups.pod_sets(spec, FEATURES)[1:] == [{"name": "gpu", "count": count, "template": template("worker")}]
