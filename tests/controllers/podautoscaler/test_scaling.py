"""Autoscalers at work: when they look, what they measure, how they scale, and what they tell."""

import pytest

from fakekube.client.resources import DEPLOYMENTS, EVENTS, HORIZONTAL_POD_AUTOSCALERS, REPLICA_SETS, SERVICES
from fakekube.composition.cluster import Cluster
from tests.controllers.podautoscaler.scaling import (
    SYNC,
    Scaling,
    average,
    cluster_of,
    external,
    of_object,
    per_pod,
    utilization,
)
from tests.controllers.world import NAMESPACE

UTILIZATION = "cpu resource utilization (percentage of request)"


async def scale_events(world):
    return [(reason, text) for _, reason, text in await world.events("web") if reason != "ScalingReplicaSet"]


async def test_load_makes_more_pods_and_its_end_fewer(world):
    """Given two pods that use half more than they should / then there are three / when they use
    next to nothing / then after five minutes there is one; Events and status tell it.
    """
    await world.deploy(2, cpu="75m")
    await world.autoscale(utilization(50))
    assert await world.replicas() == 3
    status = (await world.autoscaler())["status"]
    assert status["currentMetrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 75, "averageValue": "75m"}}}]
    assert (status["currentReplicas"], status["desiredReplicas"], status["lastScaleTime"], status["observedGeneration"]) == (
        2, 3, "2026-01-01T00:01:00Z", 1)
    assert await world.conditions() == {
        "AbleToScale": ("True", "SucceededRescale"), "ScalingActive": ("True", "ValidMetricFound"),
        "ScalingLimited": ("False", "DesiredWithinRange"), "ScaledToZero": ("False", "NotScaledToZero")}
    await world.advance(60)
    assert await world.replicas() == 8  # by way of five, since new pods use as much
    await world.use(cpu="1m")
    await world.advance(240)
    assert await world.conditions() | {"ScaledToZero": None} == {
        "AbleToScale": ("True", "ScaleDownStabilized"), "ScalingActive": ("True", "ValidMetricFound"),
        "ScalingLimited": ("False", "DesiredWithinRange"), "ScaledToZero": None}
    await world.advance(120)
    assert await world.replicas() == 1
    assert (await scale_events(world))[0] == ("SuccessfulRescale", f"New size: 3; reason: {UTILIZATION} above target")
    assert (await scale_events(world))[-1] == ("SuccessfulRescale", "New size: 1; reason: All metrics below target")


async def test_it_looks_every_fifteen_seconds(world):
    """Given an autoscaler that is content / when the load changes / then nothing happens before its
    next turn, and looking alone writes nothing.
    """
    await world.deploy(2, cpu="50m")
    await world.autoscale(utilization(50))
    before = (await world.autoscaler())["metadata"]["resourceVersion"]
    await world.advance(5 * SYNC)
    assert (await world.autoscaler())["metadata"]["resourceVersion"] == before
    await world.use(cpu="100m")
    await world.advance(SYNC - 1)
    assert await world.replicas() == 2
    await world.advance(1)
    assert await world.replicas() == 4


async def test_waiting_pulls_no_time():
    """Given automatic time / when all is still / then the next look has moved no clock."""
    async with cluster_of(clock="auto") as cluster:
        world = Scaling(cluster)
        await world.deploy(1)
        await world.autoscale(utilization(50))
        before = cluster.clock.now()
        await cluster.settle()
        assert cluster.clock.now() == before


async def test_a_changed_spec_is_looked_at_at_once(world):
    """Given an autoscaler / when its bounds change / then the scale is within them at once, for
    that reason.
    """
    await world.deploy(4)
    await world.autoscale(utilization(50))
    for patch, replicas, reason in (
        ({"maxReplicas": 3}, 3, "Current number of replicas above Spec.MaxReplicas"),
        ({"maxReplicas": 9, "minReplicas": 6}, 6, "Current number of replicas below Spec.MinReplicas"),
    ):
        await world.client.patch(HORIZONTAL_POD_AUTOSCALERS, "web", NAMESPACE, {"spec": patch})
        await world.settle()
        assert await world.replicas() == replicas
        assert ("SuccessfulRescale", f"New size: {replicas}; reason: {reason}") in await scale_events(world)


async def test_before_1_37_it_waits_for_its_first_turn():
    """Given 1.36 / when an autoscaler is made / then it is looked at after fifteen seconds, and
    observes no generation.
    """
    async with cluster_of(kubernetes_version="1.36") as cluster:
        world = Scaling(cluster)
        await world.deploy(2, cpu="75m")
        await world.autoscale(utilization(50))
        assert await world.replicas() == 2
        await world.advance(SYNC)
        assert await world.replicas() == 3
        assert "observedGeneration" not in (await world.autoscaler())["status"]


async def test_a_deleted_autoscaler_is_forgotten(world):
    """Given an autoscaler / when it is deleted / then load changes nothing, and nothing waits for
    it.
    """
    await world.deploy(2, cpu="50m")
    await world.autoscale(utilization(50))
    await world.client.delete(HORIZONTAL_POD_AUTOSCALERS, "web", NAMESPACE)
    await world.use(cpu="1")
    await world.advance(120)
    assert await world.replicas() == 2


async def test_what_is_off_by_little_is_left(world):
    """Given a metric less than a tenth off / then nothing is done / when its tolerance is less /
    then it is.
    """
    await world.deploy(3, cpu="54m")
    await world.autoscale(utilization(50))
    assert await world.replicas() == 3
    patch = {"spec": {"behavior": {"scaleUp": {"tolerance": "50m"}}}}
    await world.client.patch(HORIZONTAL_POD_AUTOSCALERS, "web", NAMESPACE, patch)
    await world.settle()
    assert await world.replicas() == 4


async def test_averages_of_memory(world):
    """Given pods that use a half more memory than they should / then the status tells bytes as
    memory is written.
    """
    await world.deploy(2)
    await world.use(memory="96Mi")
    await world.autoscale(average("64Mi", "memory"))
    assert await world.replicas() == 3
    current = (await world.autoscaler())["status"]["currentMetrics"][0]["resource"]
    assert current == {"name": "memory", "current": {"averageValue": "96Mi"}}
    assert ("SuccessfulRescale", "New size: 3; reason: memory resource above target") in await scale_events(world)


async def test_one_container_alone(world):
    """Given a metric of one container / then what others use does not count; a container that is
    not there is an error.
    """
    await world.deploy(2, cpu="50m", annotations={"fakekube.dev/cpu-usage.main": "100m"})
    target = {"type": "Utilization", "averageUtilization": 50}
    metric = {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "main", "target": target}}
    await world.autoscale(metric)
    assert await world.replicas() == 4
    assert (await world.autoscaler())["status"]["currentMetrics"] == [{"type": "ContainerResource", "containerResource": {
        "name": "cpu", "container": "main", "current": {"averageUtilization": 100, "averageValue": "100m"}}}]
    metric["containerResource"]["container"] = "nope"
    await world.client.patch(HORIZONTAL_POD_AUTOSCALERS, "web", NAMESPACE, {"spec": {"metrics": [metric]}})
    await world.settle()
    found = await world.condition("ScalingActive")
    assert (found["reason"], found["message"]) == ("FailedGetContainerResourceMetric", (
        "the HPA was unable to compute the replica count: failed to get cpu utilization: did not receive metrics for targeted "
        "pods (pods might be unready)"))


async def test_pods_without_requests(world):
    """Given pods that request no CPU / then their utilization cannot be told, and the status says
    of which container.
    """
    await world.deploy(1, requests={})
    await world.autoscale(utilization(50))
    name = (await world.all_pods())[0]["metadata"]["name"]
    why = f"failed to get cpu utilization: missing request for cpu in container main of Pod {name}"
    found = await world.condition("ScalingActive")
    assert (found["status"], found["reason"]) == ("False", "FailedGetResourceMetric")
    assert found["message"] == f"the HPA was unable to compute the replica count: {why}"
    assert await scale_events(world) == [
        ("FailedGetResourceMetric", why), ("FailedComputeMetricsReplicas", (
            f"invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: {why}"))]
    assert (await world.autoscaler())["status"]["currentMetrics"] == [{"type": ""}]


async def test_without_metrics_server():
    """Given a cluster without metrics.k8s.io / then the famous error."""
    async with cluster_of(metrics_server=False) as cluster:
        world = Scaling(cluster)
        await world.deploy(1)
        await world.autoscale(utilization(50))
        assert (await world.condition("ScalingActive"))["message"] == (
            "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource "
            "cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get "
            "pods.metrics.k8s.io)")


async def test_metrics_by_annotation(world):
    """Given metrics of pods, of an object and from outside, each in its annotation / then the one
    that asks for most decides.
    """
    await world.deploy(2, annotations={"fakekube.dev/metric.requests": "20"})
    await world.client.create(SERVICES, {
        "metadata": {"name": "web", "namespace": NAMESPACE, "annotations": {"fakekube.dev/metric.hits": "500m"}},
        "spec": {"ports": [{"port": 80}]}})
    await world.autoscale(
        per_pod("requests", "20"), of_object("hits", type="Value", value="1"), external("queue", type="AverageValue",
        averageValue="10"))
    assert await world.replicas() == 2
    # one is missing, and the rest ask for more
    assert (await world.condition("ScalingActive"))["reason"] == "ValidMetricFound"
    await world.client.patch(HORIZONTAL_POD_AUTOSCALERS, "web", NAMESPACE, {
        "metadata": {"annotations": {"fakekube.dev/metric.queue": "35"}}})
    await world.advance(SYNC)
    assert await world.replicas() == 4
    assert ("SuccessfulRescale", "New size: 4; reason: external metric queue(nil) above target") in await scale_events(world)
    status = (await world.autoscaler())["status"]["currentMetrics"]
    assert [status[0]["pods"]["current"], status[1]["object"]["current"], status[2]["external"]["current"]] == [
        {"averageValue": "20"}, {"value": "500m"}, {"averageValue": "17500m"}]


async def test_metrics_by_callback():
    """Given a callback / then it is asked for each pod, for the object, and for what is outside,
    where it may give several.
    """
    asked = []

    def measure(query):
        asked.append((query.type, query.name, (query.object or {}).get("kind"), str(query.selector)))
        return {"Pods": 40, "Object": "2", "External": [10, "5"]}[query.type]

    async with cluster_of(on_metric=measure) as cluster:
        world = Scaling(cluster)
        await world.deploy(2)
        await world.client.create(SERVICES, {"metadata": {"name": "web", "namespace": NAMESPACE}, "spec": {
            "ports": [{"port": 80}]}})
        await world.autoscale(
            per_pod("requests", "40", selector={"matchLabels": {"verb": "GET"}}),
            of_object("hits", type="AverageValue", averageValue="1"), external("queue", type="Value", value="15"))
        assert asked == [
            ("Pods", "requests", "Pod", "verb=GET"), ("Pods", "requests", "Pod", "verb=GET"), ("Object", "hits", "Service", ""),
            ("External", "queue", None, "")]
        assert await world.replicas() == 2
        assert [each[each["type"].lower()]["current"] for each in (await world.autoscaler())["status"]["currentMetrics"]] == [
            {"averageValue": "40"}, {"averageValue": "1"}, {"value": "15"}]


@pytest.mark.parametrize(("metric", "reason", "text"), [
    (per_pod("m", "1"), "FailedGetPodsMetric", (
        "unable to get metric m: unable to fetch metrics from custom metrics API: no custom metrics API "
        "(custom.metrics.k8s.io) registered")),
    (of_object("m", kind="Namespace", type="Value", value="1"), "FailedGetObjectMetric", (
        "unable to get metric m on Namespace default/web: unable to fetch metrics from custom metrics API: no custom metrics API "
        "(custom.metrics.k8s.io) registered")),
    (of_object("m", type="Value", value="1"), "FailedGetObjectMetric", (
        "unable to get metric m on Service default/web: unable to fetch metrics from custom metrics API: no custom metrics API "
        "(custom.metrics.k8s.io) registered")),
    (external("m", type="Value", value="1"), "FailedGetExternalMetric", (
        "unable to get external metric default/m/nil: unable to fetch metrics from external metrics API: the server could not "
        "find the requested resource (get m.external.metrics.k8s.io)")),
])
async def test_metrics_that_nobody_gives(world, metric, reason, text):
    """Given a metric that neither callback nor annotation gives / then the condition and the Event
    of a cluster without adapters.
    """
    await world.deploy(1)
    await world.autoscale(metric)
    found = await world.condition("ScalingActive")
    assert (found["status"], found["reason"]) == ("False", reason)
    assert found["message"] == f"the HPA was unable to compute the replica count: {text}"
    assert (reason, text) in await scale_events(world)


@pytest.mark.parametrize(("said", "text"), [
    (None, "no metrics returned from external metrics API"),
    ("much", "unable to fetch metrics from external metrics API: m is 'much': quantities must match"),
    (ValueError("boom"), "unable to fetch metrics from external metrics API: the callback for metrics raised ValueError: boom"),
])
async def test_callbacks_that_say_nothing_of_use(said, text):
    """Given a callback that returns nothing, returns nonsense, or raises / then the condition tells
    it, and nothing breaks.
    """
    def measure(query):
        if isinstance(said, Exception):
            raise said
        return said

    async with cluster_of(on_metric=measure) as cluster:
        world = Scaling(cluster)
        await world.deploy(1)
        await world.autoscale(external("m", type="Value", value="1"))
        assert f"unable to get external metric default/m/nil: {text}" in (await world.condition("ScalingActive"))["message"]


async def test_a_callback_and_an_object_that_is_not_there():
    """Given a callback / when the object is not there / then it is not asked, and the condition
    names the object.
    """
    async with cluster_of(on_metric=lambda _: 1) as cluster:
        world = Scaling(cluster)
        await world.deploy(1)
        await world.autoscale(of_object("m", type="Value", value="1"))
        assert (await world.condition("ScalingActive"))["message"].endswith(
            'unable to fetch metrics from custom metrics API: services "web" not found')


@pytest.mark.parametrize(("target", "text"), [
    ({"name": "nope"}, 'deployments.apps "nope" not found'),
    ({"kind": "Nope"}, 'no matches for kind "Nope" in group "apps"'),
    ({"kind": "DaemonSet"}, "the server could not find the requested resource"),
])
async def test_targets_that_have_no_scale(world, target, text):
    """Given a target that is not there, of no kind, or that cannot be scaled / then AbleToScale is
    False and says why.
    """
    await world.autoscale(utilization(50), target=target)
    found = await world.condition("AbleToScale")
    assert (found["status"], found["reason"]) == ("False", "FailedGetScale")
    assert found["message"].startswith("the HPA controller was unable to get the target's current scale: ")
    assert text.split('"')[-1] in found["message"]
    assert (await scale_events(world))[0][0] == "FailedGetScale"


async def test_two_autoscalers_for_the_same_pods(world):
    """Given two autoscalers of one target / then the second one finds the pods taken, and the first
    one when it looks again.
    """
    await world.deploy(2, cpu="75m")
    await world.autoscale(utilization(50))
    await world.autoscale(utilization(50), name="other")
    text = "pods by selector app=web are controlled by more than one HPA (e.g. [default/other default/web])"
    found = await world.condition("ScalingActive", "other")
    assert (found["status"], found["reason"], found["message"]) == ("False", "AmbiguousSelector", text)
    await world.advance(SYNC)
    assert (await world.conditions())["ScalingActive"] == ("False", "AmbiguousSelector")
    await world.client.delete(HORIZONTAL_POD_AUTOSCALERS, "other", NAMESPACE)
    await world.advance(SYNC)
    assert (await world.conditions())["ScalingActive"] == ("True", "ValidMetricFound")


async def test_a_scale_of_none_is_left_alone(world):
    """Given a target that somebody scaled to nothing / then scaling is disabled / when it is scaled
    up again / then it is on.
    """
    await world.deploy(1, cpu="1")
    await world.client.patch(DEPLOYMENTS, "web", NAMESPACE, {"spec": {"replicas": 0}})
    await world.autoscale(utilization(50))
    found = await world.condition("ScalingActive")
    assert (found["status"], found["reason"], found["message"]) == (
        "False", "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
    await world.client.patch(DEPLOYMENTS, "web", NAMESPACE, {"spec": {"replicas": 1}})
    await world.advance(60)
    assert (await world.conditions())["ScalingActive"][1] == "ValidMetricFound"


async def test_to_nothing_and_back():
    """Given a metric from outside and no minimum / when it is 0 / then there are no pods, by the
    autoscaler's own doing / when it is more / then there are again; had somebody else scaled to
    nothing, it would stay so.
    """
    queue = [0]
    async with cluster_of(on_metric=lambda _: queue[0]) as cluster:
        world = Scaling(cluster)
        await world.deploy(2)
        await world.autoscale(external("queue", type="AverageValue", averageValue="10"), minReplicas=0)
        await world.advance(330)
        assert await world.replicas() == 0
        found = await world.condition("ScaledToZero")
        assert (found["status"], found["message"]) == ("True", "the HPA controller scaled the workload to zero")
        await world.advance(60)
        assert await world.replicas() == 0
        queue[0] = 25
        await world.advance(SYNC)
        assert await world.replicas() == 3
        assert (await world.conditions())["ScaledToZero"] == ("False", "NotScaledToZero")
        await world.client.patch(DEPLOYMENTS, "web", NAMESPACE, {"spec": {"replicas": 0}})
        await world.advance(60)
        assert (await world.replicas(), (await world.conditions())["ScalingActive"][1]) == (0, "ScalingDisabled")


async def test_other_kinds_can_be_scaled(world):
    """Given an autoscaler of a ReplicaSet of the same labels / then that is scaled, through the
    same sub-resource.
    """
    await world.client.create(REPLICA_SETS, {"metadata": {"name": "web", "namespace": NAMESPACE}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}, "annotations": {"fakekube.dev/cpu-usage": "100m"}},
            "spec": {"containers": [{"name": "m", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]}}}})
    await world.advance(60)
    await world.autoscale(utilization(50), target={"kind": "ReplicaSet"})
    assert (await world.client.get(REPLICA_SETS, "web", NAMESPACE))["spec"]["replicas"] == 4


async def test_new_pods_do_not_count_yet(world):
    """Given pods that are ready for less than a window / then there are no metrics that count /
    when the window is over / then they do.
    """
    await world.deploy(2, cpu="100m")
    await world.autoscale(utilization(50))
    await world.advance(5)  # the two that came are ready for four seconds
    assert await world.replicas() == 4
    await world.client.patch(HORIZONTAL_POD_AUTOSCALERS, "web", NAMESPACE, {"spec": {"maxReplicas": 20}})
    await world.settle()
    assert await world.replicas() == 4  # were they counted, there would be eight
    await world.advance(30)
    assert await world.replicas() == 8


@pytest.mark.parametrize(("release", "conflicts"), [("1.37", False), ("1.36", True)])
async def test_an_autoscaler_waits_for_its_own_status(release, conflicts):
    """Given an autoscaler whose controller does not hear of what it wrote / when its turn comes /
    then it waits; before 1.37 its next status meets a conflict.
    """
    template = {"metadata": {"labels": {"a": "b"}, "annotations": {"fakekube.dev/cpu-usage": "90m"}}, "spec": {
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    async with Cluster(nodes=1, clock="manual", kubernetes_version=release) as cluster:
        await cluster.client.create(DEPLOYMENTS, {"metadata": {"name": "web", "namespace": "default"}, "spec": {
            "replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}})
        await cluster.client.create(HORIZONTAL_POD_AUTOSCALERS, {"metadata": {"name": "web", "namespace": "default"}, "spec": {
            "scaleTargetRef": target, "maxReplicas": 4}})
        await cluster.advance("1s")
        with cluster.faults.add(watch="stall", resources="horizontalpodautoscalers.autoscaling", lasting="10m"):
            await cluster.advance("5m")
        told = [event["reason"] for event in (await cluster.client.list(EVENTS, "default")).items]
        assert ("FailedUpdateStatus" in told) == conflicts
        await cluster.advance("5m")
        assert (await cluster.client.get(DEPLOYMENTS, "web", "default"))["status"]["readyReplicas"] == 4
