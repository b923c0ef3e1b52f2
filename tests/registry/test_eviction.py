"""What an eviction answers, and why it is refused."""

import pytest

from fakekube.client.resources import POD_DISRUPTION_BUDGETS, PODS
from fakekube.composition.cluster import Cluster
from fakekube.registry.subresources import _why_blocked

HEALTHY = {"currentHealthy": 3, "desiredHealthy": 2}
SICK = {"currentHealthy": 2, "desiredHealthy": 2}


def denied(reason, message=""):
    return {"type": "DisruptionAllowed", "status": "False", "reason": reason, "message": message}


@pytest.mark.parametrize(("status", "text"), [
    (SICK, "The disruption budget b needs 2 healthy pods and has 2 currently"),
    ({**SICK, "conditions": [denied("InsufficientPods", "too few")]},
     "The disruption budget b needs 2 healthy pods and has 2 currently"),
    ({**SICK, "conditions": [denied("SyncFailed", "no controller")]},
     "The disruption budget b does not allow evicting pods currently because it failed sync: no controller"),
    ({**HEALTHY, "conditions": [denied("Odd", "because")]},
     "The disruption budget b does not allow evicting pods currently (Odd): because"),
    ({**HEALTHY, "conditions": [denied("Odd")]}, "The disruption budget b does not allow evicting pods currently"),
    ({**HEALTHY, "conditions": [{**denied("Odd", "because"), "status": "True"}]},
     "The disruption budget b does not allow evicting pods currently"),
    (HEALTHY, "The disruption budget b does not allow evicting pods currently"),
])
def test_a_refusal_says_why_as_upstream_does(status, text):
    """Given a budget that allows nothing / then the cause of the refusal is worded by its numbers
    and its condition.
    """
    assert _why_blocked("b", status) == text


async def test_an_eviction_answers_success_and_takes_one_disruption():
    """Given a running pod and a budget that allows one disruption / when it is evicted / then the
    answer is a Status of success, the budget has one less and names the pod, and a second eviction
    is refused with 429.
    """
    async with Cluster(nodes=1, controllers="kubelet,scheduler,serviceaccount", clock="manual") as cluster:
        for name in "ab":
            await cluster.client.create(PODS, {
                "metadata": {"name": name, "namespace": "default", "labels": {"app": "x"}},
                "spec": {"containers": [{"name": "main", "image": "nginx"}]}})
        await cluster.client.create(POD_DISRUPTION_BUDGETS, {
            "metadata": {"name": "b", "namespace": "default"},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "x"}}}})
        budget = await cluster.client.get(POD_DISRUPTION_BUDGETS, "b", "default")
        await cluster.client.update_status(POD_DISRUPTION_BUDGETS, {**budget, "status": {
            "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2, "observedGeneration": 1}})
        await cluster.advance(5)

        async def evict(name):
            return await cluster.client.request(
                "POST", f"/api/v1/namespaces/default/pods/{name}/eviction",
                body=b'{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s"}}' % name.encode())

        answer = await evict("a")
        assert (answer.status, b'"status":"Success"' in bytes(answer.body)) == (201, True)
        status = (await cluster.client.get(POD_DISRUPTION_BUDGETS, "b", "default"))["status"]
        assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (0, ["a"])
        [condition] = status["conditions"]
        assert (condition["type"], condition["status"], condition["reason"]) == ("DisruptionAllowed", "False", "InsufficientPods")
        with pytest.raises(Exception, match="Cannot evict pod as it would violate the pod's disruption budget") as caught:
            await evict("b")
        assert caught.value.code == 429
