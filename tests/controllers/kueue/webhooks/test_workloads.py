"""What a Workload may be, and how it may change."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.kueue.names import (
    ADMISSION_GATED_BY_ANNOTATION,
    CLUSTER_QUEUES,
    ELASTIC_JOB_ANNOTATION,
    LOCAL_QUEUES,
    MULTIKUEUE_CLUSTERS,
    MULTIKUEUE_CONFIGS,
    WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION,
    WORKLOADS,
)
from tests.controllers.kueue.webhooks.conftest import TEMPLATE, podset


@pytest.mark.spec("KUEUE-014")
async def test_podsets_by_number(rules):
    """Given Workloads of no podset, nineteen and eighteen When they are created Then the last is
    there; and one podset without a name is called main, and may be empty."""
    assert "at least 1 items" in await rules.invalid(rules.workload())
    assert "Too many: 19" in await rules.invalid(rules.workload(*(podset(f"p{number}") for number in range(19))))
    await rules.workload(*(podset(f"p{number}") for number in range(18)))
    await rules.client.delete(WORKLOADS, "x", "default")
    made = await rules.workload({"template": TEMPLATE, "count": 0})
    assert [(each["name"], each["count"]) for each in made["spec"]["podSets"]] == [("main", 0)]
    assert made["spec"]["podSets"][0]["template"] == TEMPLATE


@pytest.mark.spec("KUEUE-015")
@pytest.mark.parametrize(("podsets", "annotations", "text"), [
    ([podset("a", 2, minCount=1), podset("b", 2, minCount=1)], {},
     "spec.podSets: Invalid value: 2: at most one podSet can use minCount"),
    ([podset(requests={"pods": "1"})], {},
     ('spec.podSets[0].template.spec.containers[0].resources.requests[pods]: Invalid value: "pods": '
     "the key is reserved for internal kueue use")),
    ([podset(requests={"cpu": "-1"})], {},
     ('spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: Invalid value: "-1": '
     "must be greater than or equal to 0")),
    ([podset(count=2, minCount=1)], {ELASTIC_JOB_ANNOTATION: "true"},
     "spec.podSets: Invalid value: 1: partial admission and elastic job cannot be used together"),
])
async def test_podsets_that_may_not_be(rules, podsets, annotations, text):
    """Given podsets that cannot be When the Workload is created Then the webhook says why."""
    assert await rules.denied(rules.workload(*podsets, annotations=annotations)) == text


@pytest.mark.spec("KUEUE-015", "KUEUE-016")
async def test_rules_of_the_definition(rules):
    """Given a minimum above the count, and classes that are told badly When Workloads are created
    Then the definition refuses them."""
    assert "minCount should be positive and less or equal to count" in await rules.invalid(
        rules.workload(podset(count=1, minCount=2)))
    ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
    assert "priority should not be nil when priorityClassRef is set" in await rules.invalid(
        rules.workload(podset(), priorityClassRef=ref))
    mixed = {**ref, "group": "scheduling.k8s.io"}
    assert "only the PriorityClass kind is allowed" in await rules.invalid(
        rules.workload(podset(), priorityClassRef=mixed, priority=1))


@pytest.mark.spec("KUEUE-017", "KUEUE-021", "KUEUE-022")
async def test_what_is_reserved_stays(rules):
    """Given a Workload with quota When its podsets, queue, time or class change Then all is refused
    but fewer pods."""
    await rules.workload(podset(count=2), queueName="q")
    await rules.change(WORKLOADS, {"spec": {"maximumExecutionTimeSeconds": 90}})
    await rules.reserve()
    shown = (
        '{"name":"main","template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"a:1","resources":'
        '{"requests":{"cpu":"1"}}}],"restartPolicy":"Never"}},"count":3}')
    assert await rules.denied(rules.change(WORKLOADS, {"spec": {"podSets": [podset(count=3)]}})) == (
        f"spec.podSets.0: Invalid value: {shown}: field is immutable")
    assert "spec.podSets.0: Invalid value" in await rules.denied(
        rules.change(WORKLOADS, {"spec": {"podSets": [podset(count=2, requests={"cpu": "2"})]}}))
    ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
    for spec, field in (
            ({"queueName": "other"}, "queueName"), ({"maximumExecutionTimeSeconds": 1}, "maximumExecutionTimeSeconds"),
            ({"priorityClassRef": ref, "priority": 1}, "priorityClassRef")):
        assert f"{field} is immutable while workload quota reserved" in await rules.invalid(
            rules.change(WORKLOADS, {"spec": spec}))
    changed = await rules.change(WORKLOADS, {"spec": {"podSets": [podset(count=1)]}})
    assert changed["spec"]["podSets"][0]["count"] == 1


@pytest.mark.spec("KUEUE-018", "KUEUE-019")
async def test_admission(rules):
    """Given a Workload When quota is reserved without admission, with podsets that it does not
    have, with parts that do not come out even, or changed Then it is refused; it may be taken back.
    """
    await rules.workload(podset(count=2), queueName="q")
    assert await rules.denied(rules.reserve(admission=None)) == (
        "status.admission: Required value: must be set while the QuotaReserved condition is true")

    def admission(name="main", queue="q", cpu="2"):
        assigned = {"name": name, "count": 2, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": cpu}}
        return {"clusterQueue": queue, "podSetAssignments": [assigned]}

    assert await rules.denied(rules.reserve(admission=admission("other"))) == (
        'status.admission.podSetAssignments[0].name: Not found: "other"')
    assert "resourceUsage[cpu]: Invalid value" in await rules.denied(rules.reserve(admission=admission(cpu="2001m")))
    await rules.reserve()
    assert await rules.denied(rules.reserve(admission=admission(queue="r"))) == (
        'status.admission: Invalid value: {"clusterQueue":"r","podSetAssignments":[{"name":"main","flavors":{"cpu":"f"},'
        '"resourceUsage":{"cpu":"2"},"count":2}]}: field is immutable')
    await rules.change(WORKLOADS, {"status": {"admission": None, "conditions": []}}, "status")


@pytest.mark.spec("KUEUE-020")
async def test_reclaimable_pods(rules):
    """Given a Workload with quota When pods are given back Then there may be no more than it has,
    and never fewer than before."""
    await rules.workload(podset(count=2), queueName="q")
    await rules.reserve()

    def reclaim(count, name="main"):
        return rules.change(WORKLOADS, {"status": {"reclaimablePods": [{"name": name, "count": count}]}}, "status")

    assert await rules.denied(reclaim(1, "other")) == (
        'status.reclaimablePods[other].name: Unsupported value: "other": supported values: "main"')
    assert await rules.denied(reclaim(3)) == (
        "status.reclaimablePods[main].count: Invalid value: 3: should be less or equal to 2")
    await reclaim(2)
    assert await rules.denied(reclaim(1)) == "status.reclaimablePods[main].count: Invalid value: 1: cannot be less than 2"
    assert await rules.denied(rules.change(WORKLOADS, {"status": {"reclaimablePods": []}}, "status")) == (
        "status.reclaimablePods[main]: Required value: cannot be removed")


@pytest.mark.spec("KUEUE-020")
async def test_an_elastic_job_that_shrank_gives_back_fewer(rules):
    """Given an elastic Workload that gave back two pods of two When it shrinks to one and gives
    back one Then it may."""
    await rules.workload(podset(count=2), queueName="q", annotations={ELASTIC_JOB_ANNOTATION: "true"})
    await rules.reserve(reclaimablePods=[{"name": "main", "count": 2}])
    await rules.change(WORKLOADS, {"spec": {"podSets": [podset(count=1)]}})
    changed = await rules.change(WORKLOADS, {"status": {"reclaimablePods": [{"name": "main", "count": 1}]}}, "status")
    assert changed["status"]["reclaimablePods"] == [{"name": "main", "count": 1}]


def check(state="Ready", message="", **update):
    return {"name": "a", "state": state, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
            "podSetUpdates": [{"name": "main", **update}]}


@pytest.mark.spec("KUEUE-023")
async def test_updates_of_a_check_that_is_ready(rules):
    """Given a check that is ready with labels for pods When they change Then it is refused; its
    message may change, and updates are for podsets that there are."""
    await rules.workload(podset(), queueName="q")

    def say(*checks):
        return rules.change(WORKLOADS, {"status": {"admissionChecks": [*checks]}}, "status")

    assert 'podSetUpdates[0].name: Unsupported value: "other"' in await rules.denied(
        say({**check(), "podSetUpdates": [{"name": "other"}]}))
    assert 'podSetUpdates[0].labels: Invalid value: "@"' in await rules.denied(say(check(labels={"@": "b"})))
    await say(check(labels={"a": "b"}))
    assert await rules.denied(say(check(labels={"a": "c"}))) == (
        'status.admissionChecks[0].podSetUpdates: Invalid value: [{"name":"main","labels":{"a":"c"}}]: field is immutable')
    changed = await say(check(message="done", labels={"a": "b"}))
    assert changed["status"]["admissionChecks"][0]["message"] == "done"


@pytest.mark.spec("KUEUE-024")
async def test_the_cluster_is_one_that_was_nominated(rules):
    """Given a Workload for which one cluster was nominated When another is chosen Then it is
    refused, unless the Workload replaces a slice; once chosen it stays."""
    await rules.workload(podset(), queueName="q")

    def say(**status):
        return rules.change(WORKLOADS, {"status": status}, "status")

    await say(nominatedClusterNames=["one"])
    assert await rules.denied(say(clusterName="two", nominatedClusterNames=None)) == (
        'status.clusterName: Invalid value: "two": when setting clusterName it must be one of the nominatedClusterNames')
    await rules.change(WORKLOADS, {"metadata": {"annotations": {WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION: "default/w"}}})
    await say(clusterName="two", nominatedClusterNames=None)
    assert "clusterName is immutable once set" in await rules.invalid(say(clusterName="one"))


@pytest.mark.spec("KUEUE-025")
async def test_multikueue(rules):
    """Given configurations of no cluster, of too many, of one twice, and clusters of no source or
    of two When they are created Then they are refused; a kubeconfig is in a Secret unless told."""
    for clusters, text in (([], "at least 1 items"), ([f"c{number}" for number in range(21)], "Too many: 21"),
                           (["a", "a"], "must be unique")):
        assert text in await rules.invalid(rules.create(MULTIKUEUE_CONFIGS, {"clusters": clusters}))
    config, profile = {"location": "s"}, {"name": "p"}
    for source in ({}, {"kubeConfig": config, "clusterProfileRef": profile}):
        with pytest.raises(APIError):
            await rules.create(MULTIKUEUE_CLUSTERS, {"clusterSource": source})
    made = await rules.create(MULTIKUEUE_CLUSTERS, {"clusterSource": {"kubeConfig": config}})
    assert made["spec"]["clusterSource"]["kubeConfig"]["locationType"] == "Secret"


async def test_gates_of_admission_can_only_go(rules):
    """Given a Workload that waits for two gates When one goes it may; others cannot come; and names
    of gates are looked at."""
    key = ADMISSION_GATED_BY_ANNOTATION
    path = f"metadata.annotations[{key}]"
    assert await rules.denied(rules.workload(podset(), annotations={key: "a.example/x, a.example/x"})) == (
        f'{path}: Invalid value: "a.example/x, a.example/x": duplicate gate name: a.example/x')
    assert "cannot contain empty gate names" in await rules.denied(rules.workload(podset(), annotations={key: "a.example/x,"}))
    await rules.workload(podset(), annotations={key: "a.example/x,a.example/y"})
    await rules.change(WORKLOADS, {"metadata": {"annotations": {key: "a.example/y"}}})
    assert await rules.denied(rules.change(WORKLOADS, {"metadata": {"annotations": {key: "a.example/x"}}})) == (
        f"{path}: Forbidden: can only remove gates, not add new ones")
    await rules.change(WORKLOADS, {"metadata": {"annotations": {key: None}}})
    assert await rules.denied(rules.change(WORKLOADS, {"metadata": {"annotations": {key: "a.example/x"}}})) == (
        f"{path}: Forbidden: cannot add admission gate after creation")


@pytest.mark.parametrize("podsets", ["x", [None], [{"count": "x"}], [{"template": {"spec": {"containers": 1}}}], [[]]])
async def test_what_is_no_workload_is_refused(rules, podsets):
    """Given podsets that are none When the Workload is created Then it is a bad request."""
    code, _ = await rules.refused(rules.create(WORKLOADS, {"podSets": podsets}))
    assert code in (400, 422)


@pytest.mark.parametrize("resource", [WORKLOADS, CLUSTER_QUEUES, LOCAL_QUEUES, MULTIKUEUE_CLUSTERS])
@pytest.mark.parametrize("spec", [None, "x", [], {"podSets": "x", "resourceGroups": [None], "kubeConfig": 1}])
async def test_no_shape_is_a_defect(rules, resource, spec):
    """Given specs of any shape, or none, in both versions When the objects are created Then nothing
    but what converts them fails, and that says so."""
    told = []
    for version in ("v1beta1", "v1beta2"):
        try:
            await rules.create(resource._replace(version=version), spec, version)
        except APIError as error:
            told.append((error.code, error.message))
    assert [text for code, text in told if code == 500 and not text.startswith("conversion webhook for")] == []
