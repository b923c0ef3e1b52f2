"""HorizontalPodAutoscalers of autoscaling/v1: what is told of them and who owns what, before they
are stored in v2.
"""

from typing import Any

from tests.apiserver.conftest import Api

AUTOSCALERS = "/apis/autoscaling/v1/namespaces/t/horizontalpodautoscalers"
CURRENT = "autoscaling.alpha.kubernetes.io/current-metrics"


def autoscaler(**target: Any) -> dict[str, Any]:
    """One for a Deployment."""
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", **target}
    return {"metadata": {"name": "h"}, "spec": {"scaleTargetRef": reference, "maxReplicas": 2}}


async def test_a_status_is_owned_by_its_annotation(api: Api) -> None:
    """Given an autoscaler of v1 / when its status tells the use of cpu, in a dry run / then the
    annotation that keeps it is there and owned; through the object's own endpoint it is owned only.
    """
    await api("POST", AUTOSCALERS, autoscaler())
    told = {**autoscaler(), "status": {"currentReplicas": 1, "desiredReplicas": 1, "currentCPUUtilizationPercentage": 10}}
    answer = (await api("PUT", f"{AUTOSCALERS}/h/status?dryRun=All", told)).tree
    assert answer["metadata"]["annotations"] == {CURRENT: (
        '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":10,"currentAverageValue":"0"}}]')}
    answer = (await api("PUT", f"{AUTOSCALERS}/h?dryRun=All", told)).tree
    assert "annotations" not in answer["metadata"]
    owned = [entry["fieldsV1"].get("f:metadata", {}) for entry in answer["metadata"]["managedFields"]]
    assert {"f:annotations": {".": {}, f"f:{CURRENT}": {}}} in owned


async def test_a_group_must_be_named(api: Api) -> None:
    """Given an API version whose group is empty / when it is to be scaled / then refused; a version
    may be empty.
    """
    refused = await api("POST", AUTOSCALERS, autoscaler(apiVersion="/x"))
    assert 'spec.scaleTargetRef.apiVersion: Invalid value: "/x": apiVersion must specify API group' in refused.message
    assert (await api("POST", AUTOSCALERS, autoscaler(apiVersion="apps/"))).status == 201
