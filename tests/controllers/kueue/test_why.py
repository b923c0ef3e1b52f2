"""Why things wait in Kueue: what the answer asks for is given, and is enough."""

import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

from fakekube.apimachinery import meta
from fakekube.client.resources import JOBS, NAMESPACES, PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue.names import (
    ADMISSION_CHECKS,
    ADMISSION_GATED_BY_ANNOTATION,
    CLUSTER_QUEUES,
    ELASTIC_JOB_GATE,
    LOCAL_QUEUES,
    QUEUE_LABEL,
    RESOURCE_FLAVORS,
    WORKLOAD_ANNOTATION,
    WORKLOADS,
)

CONTROLLERS = "job,garbagecollector,namespace"


class World:
    """A cluster with Kueue, and what tests do to it."""

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    async def flavor(self, name="f", **spec):
        await self.client.create(RESOURCE_FLAVORS, {"metadata": {"name": name}, "spec": spec})

    async def queue(self, name="q", quotas=None, flavors=("f",), **spec):
        """A ClusterQueue with a LocalQueue of its name."""
        quotas = quotas or {"cpu": {"nominalQuota": "4"}}
        offered = [
            {"name": flavor, "resources": [{"name": each, **quota} for each, quota in quotas.items()]} for flavor in flavors]
        group = {"coveredResources": [*quotas], "flavors": offered}
        await self.client.create(CLUSTER_QUEUES, {
            "metadata": {"name": name}, "spec": {"namespaceSelector": {}, "resourceGroups": [group], **spec}})
        await self.client.create(LOCAL_QUEUES, {"metadata": {"name": name}, "spec": {"clusterQueue": name}}, "default")
        await self.cluster.advance(3)

    async def job(self, name, cpu="1", queue="q", requests=None, parallelism=1, **spec):
        container = {"name": "c", "image": "a", "resources": {"requests": requests or {"cpu": cpu}}}
        template = {"spec": {"restartPolicy": "Never", "containers": [container], **spec}}
        await self.client.create(JOBS, {
            "metadata": {"name": name, "labels": {QUEUE_LABEL: queue}},
            "spec": {"parallelism": parallelism, "completions": parallelism, "template": template}}, "default")
        await self.cluster.advance(3)

    async def workload(self, job):
        """The name of the Workload of a Job."""
        owner = meta.uid_of(await self.client.get(JOBS, job, "default"))
        return next(meta.name_of(each) for each in (await self.client.list(WORKLOADS, "default")).items
                    if meta.owners_of(each)[0]["uid"] == owner)

    async def why(self, job):
        return await self.cluster.why(f"workload/{await self.workload(job)}")

    async def is_admitted(self, job):
        workload = await self.client.get(WORKLOADS, await self.workload(job), "default")
        return meta.is_condition_true(workload, "Admitted")

    async def give(self, changes):
        """Do what an answer asks for."""
        for change in changes:
            await getattr(self, f"_{re.sub('(?<!^)(?=[A-Z])', '_', change.action).lower()}")(change)
        await self.cluster.advance(10)

    async def _add_quota(self, change):
        name = change.target.partition("/")[2]
        queue = await self.client.get(CLUSTER_QUEUES, name)
        for group in queue["spec"]["resourceGroups"]:
            for flavor in group["flavors"]:
                for quota in flavor["resources"]:
                    if (flavor["name"], quota["name"]) == (change.details["flavor"], change.details["resource"]):
                        quota["nominalQuota"] = str(milli(quota["nominalQuota"]) + milli(change.details["amount"])) + "m"
        await self.client.update(CLUSTER_QUEUES, queue)

    async def _finish(self, change):
        _, namespace, name = change.target.split("/")
        workload = await self.client.get(WORKLOADS, name, namespace)
        await self.client.delete(JOBS, meta.owners_of(workload)[0]["name"], namespace, propagation_policy="Background")

    async def _set_stop_policy(self, change):
        kind, *names = change.target.split("/")
        resource = LOCAL_QUEUES if kind == "localqueue" else CLUSTER_QUEUES
        await self.client.patch(resource, names[-1], names[0] if len(names) > 1 else "", {"spec": change.details})

    async def _create(self, change):
        kind, _, name = change.target.partition("/")
        if kind == "resourceflavor":
            await self.flavor(name)
        elif kind == "clusterqueue":
            await self.client.create(CLUSTER_QUEUES, {"metadata": {"name": name}, "spec": QUEUE})
        elif kind == "localqueue":
            namespace, _, name = name.partition("/")
            await self.client.create(LOCAL_QUEUES, {"metadata": {"name": name}, "spec": {"clusterQueue": "q"}}, namespace)
        else:
            await self.client.create(ADMISSION_CHECKS, {"metadata": {"name": name}, "spec": {"controllerName": "a.example/c"}})

    async def _activate(self, change):
        kind, _, name = change.target.partition("/")
        if kind == "workload":
            namespace, _, name = name.partition("/")
            await self.client.patch(WORKLOADS, name, namespace, {"spec": {"active": True}})
            return
        condition = {"type": "Active", "status": "True", "reason": "Test", "message": "", "lastTransitionTime": TIME}
        await self.client.patch(ADMISSION_CHECKS, name, "", {"status": {"conditions": [condition]}}, subresource="status")

    async def _set_check(self, change):
        _, namespace, name = change.target.split("/")
        check = {"name": change.details["check"], "state": "Ready", "message": "", "lastTransitionTime": TIME}
        await self.client.patch(WORKLOADS, name, namespace, {"status": {"admissionChecks": [check]}}, subresource="status")

    async def _label(self, change):
        key, _, value = change.details["selector"].partition("=")
        await self.client.patch(NAMESPACES, change.target.partition("/")[2], "", {"metadata": {"labels": {key: value}}})

    async def _remove_annotation(self, change):
        _, namespace, name = change.target.split("/")
        workload = await self.client.get(WORKLOADS, name, namespace)
        job = meta.owners_of(workload)[0]["name"]
        await self.client.patch(JOBS, job, namespace, {"metadata": {"annotations": {change.details["annotation"]: None}}})


TIME = "2026-01-01T00:00:00Z"
QUEUE = {"namespaceSelector": {}, "resourceGroups": [
    {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]}


def milli(text):
    return int(text.removesuffix("m")) if text.endswith("m") else int(text) * 1000


@pytest.fixture
async def world():
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, kueue=True) as cluster:
        yield World(cluster)


async def test_a_workload_that_waits_is_told_what_is_left_and_who_has_the_rest(world):
    """Given a queue whose quota two jobs hold When a third waits Then its answer has its place,
    what is asked, used and held by whom, the least quota that is enough, and whose end would do;
    and each of the two does."""
    await world.flavor()
    await world.queue()
    await world.job("a", "3")
    await world.job("b", "1")
    await world.job("c", "2")
    answer = await world.why("c")
    assert (answer.state, answer.message) == ("Pending", "waits at place 1 of 1 in clusterqueue q")
    [place] = answer.places
    a, b = await world.workload("a"), await world.workload("b")
    assert (place.name, place.reasons[0].message) == (
        "flavor/f", f"asks 2, 0 is left: 4 of 4 is used; held by workload default/{a} (3), workload default/{b} (1)")
    assert [change.text for change in answer.changes] == ["2 more cpu of nominal quota for flavor f in clusterqueue q"]
    assert [[change.target for change in each] for each in answer.alternatives] == [[f"workload/default/{a}"]]
    assert "insufficient unused quota" in answer.attempts[0].message
    job = await world.cluster.why("job/c")
    assert (job.state, job.changes, job.alternatives) == ("Pending", answer.changes, answer.alternatives)
    assert job.message == f"is suspended until its workload {await world.workload('c')} is admitted"
    await world.give(answer.changes)
    assert await world.is_admitted("c")
    await world.job("d", "2")
    answer = await world.why("d")
    assert not await world.is_admitted("d")
    await world.give(answer.alternatives[0])
    assert await world.is_admitted("d")
    assert (await world.why("d")).message == "is admitted by clusterqueue q"


async def test_those_before_it_are_counted(world):
    """Given three jobs that wait, of which each could use what the next lacks When the last is
    asked about Then the answer is enough for all of them."""
    await world.flavor()
    await world.queue(quotas={"cpu": {"nominalQuota": "1"}})
    for name, cpu in (("a", "1"), ("b", "2"), ("c", "3"), ("d", "1")):
        await world.job(name, cpu)
    answer = await world.why("d")
    assert answer.message == "waits at place 3 of 3 in clusterqueue q"
    await world.give(answer.changes)
    assert await world.is_admitted("d")


async def test_many_before_it_are_counted(world):
    """Given two queues of a cohort in which thirty jobs wait for what one has When the last but two
    of one is asked about Then its answer is enough, and no more than all of them ask."""
    await world.flavor()
    await world.queue("q", quotas={"cpu": {"nominalQuota": "1"}}, cohortName="all")
    await world.queue("r", quotas={"cpu": {"nominalQuota": "0"}}, cohortName="all")
    for number in range(16):
        await world.job(f"q{number}", "1")
        await world.job(f"r{number}", "2", "r")
    answer = await world.why("q13")
    assert answer.message == "waits at place 13 of 15 in clusterqueue q"
    [change] = answer.changes
    assert 13 <= int(change.details["amount"]) <= 15 + 32
    await world.give(answer.changes)
    assert await world.is_admitted("q13")


async def test_a_strict_queue_waits_for_its_head(world):
    """Given a strict queue whose head does not fit When the next is asked about, which would fit
    Then the answer is what the head lacks."""
    await world.flavor()
    await world.queue(quotas={"cpu": {"nominalQuota": "2"}}, queueingStrategy="StrictFIFO")
    await world.job("a", "1")
    await world.job("b", "2")
    await world.job("c", "1")
    answer = await world.why("c")
    assert not await world.is_admitted("c")
    await world.give(answer.changes)
    assert await world.is_admitted("c")


async def test_the_flavor_that_lacks_least_is_asked_for(world):
    """Given a flavor with a taint that the pods do not tolerate, and two others When a job fits
    none Then the answer speaks of all, and asks for quota of the one that lacks least."""
    await world.flavor("tainted", nodeTaints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    await world.flavor("f")
    await world.flavor("g")
    await world.queue(flavors=("tainted", "f", "g"))
    await world.job("a", "2")
    await world.job("b", "5")
    answer = await world.why("b")
    assert [place.name for place in answer.places] == ["flavor/tainted", "flavor/f", "flavor/g"]
    assert "untolerated taint" in answer.places[0].reasons[0].message
    assert [change.details for change in answer.changes] == [{"flavor": "g", "resource": "cpu", "amount": "1"}]
    await world.give(answer.changes)
    assert await world.is_admitted("b")


async def test_a_resource_that_is_not_covered(world):
    """Given a job that asks for what its queue does not cover When it is asked about Then the
    answer names the resource."""
    await world.flavor()
    await world.queue()
    await world.job("a", requests={"cpu": "1", "memory": "1Gi"})
    [change] = (await world.why("a")).changes
    assert (change.action, change.details) == ("CoverResource", {"resource": "memory", "amount": "1Gi"})


async def test_what_could_be_borrowed_is_told(world):
    """Given a cohort of two queues, of which the other's job borrows When a job waits Then the
    answer tells what could be borrowed, and that the other's Workload holds quota; more quota does.
    """
    await world.flavor()
    await world.queue("q", cohortName="all")
    await world.queue("r", cohortName="all")
    await world.job("a", "6", "r")
    await world.job("b", "3")
    answer = await world.why("b")
    told = answer.places[0].reasons[0].message
    assert told == (
        f"asks 3, 2 is left: 0 of 4 is used, 0 could be borrowed; held by workload default/{await world.workload('a')} (6)")
    assert [change.details["amount"] for change in answer.changes] == ["1"]
    await world.give(answer.changes)
    assert await world.is_admitted("b")


async def test_those_before_it_in_other_queues_are_counted(world):
    """Given two queues of a cohort, and jobs of both that wait for what they would borrow When the
    last is asked about Then the answer is enough for those that are let in before it."""
    await world.flavor()
    await world.queue("q", quotas={"cpu": {"nominalQuota": "1"}}, cohortName="all")
    await world.queue("r", quotas={"cpu": {"nominalQuota": "1"}}, cohortName="all")
    await world.job("a", "2", "r")
    await world.job("b", "2", "r")
    await world.job("c", "1", "r")
    await world.job("d", "1")
    answer = await world.why("d")
    assert answer.message == "waits at place 1 of 1 in clusterqueue q"
    assert not await world.is_admitted("d")
    assert answer.changes
    await world.give(answer.changes)
    assert await world.is_admitted("d")


async def test_a_strict_queue_of_the_cohort_keeps_what_its_head_waits_for(world):
    """Given a strict queue of the cohort whose head could borrow all that is there When a job of
    another queue waits Then the answer is enough in spite of it."""
    await world.flavor()
    await world.queue("q", quotas={"cpu": {"nominalQuota": "0"}}, cohortName="all")
    await world.queue("r", quotas={"cpu": {"nominalQuota": "4"}}, cohortName="all", queueingStrategy="StrictFIFO")
    await world.job("a", "2", "r")
    await world.job("b", "3", "r")
    await world.job("c", "1")
    answer = await world.why("c")
    if not await world.is_admitted("c"):
        assert answer.changes
        await world.give(answer.changes)
    assert await world.is_admitted("c")


async def stopped(world):
    await world.flavor()
    await world.queue(stopPolicy="Hold")
    await world.job("a")
    return "Stopped"


async def stopped_local(world):
    await world.flavor()
    await world.queue()
    await world.client.patch(LOCAL_QUEUES, "q", "default", {"spec": {"stopPolicy": "Hold"}})
    await world.job("a")
    return "Stopped"


async def no_flavor(world):
    await world.queue()
    await world.job("a")
    return "FlavorNotFound"


async def no_local_queue(world):
    await world.flavor()
    await world.client.create(CLUSTER_QUEUES, {"metadata": {"name": "q"}, "spec": QUEUE})
    await world.job("a", queue="other")
    return "MissingLocalQueue"


async def no_cluster_queue(world):
    await world.flavor()
    await world.client.create(LOCAL_QUEUES, {"metadata": {"name": "q"}, "spec": {"clusterQueue": "q"}}, "default")
    await world.job("a")
    return "MissingClusterQueue"


async def no_check(world):
    await world.flavor()
    await world.queue(admissionChecksStrategy={"admissionChecks": [{"name": "c"}]})
    await world.job("a")
    return "AdmissionCheckNotFound"


async def other_namespace(world):
    await world.flavor()
    await world.queue(namespaceSelector={"matchLabels": {"team": "a"}})
    await world.job("a")
    return "NamespaceMismatch"


async def inactive(world):
    await world.flavor()
    await world.queue()
    await world.job("blocking", "4")
    await world.job("a")
    await world.client.patch(WORKLOADS, await world.workload("a"), "default", {"spec": {"active": False}})
    await world.client.delete(JOBS, "blocking", "default", propagation_policy="Background")
    await world.cluster.advance(3)
    return "Inactive"


async def gated(world):
    await world.flavor()
    await world.queue()
    await world.job("blocking", "4")
    template = {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "a", "resources": {"requests": {"cpu": "1"}}}]}}
    await world.client.create(JOBS, {
        "metadata": {"name": "a", "labels": {QUEUE_LABEL: "q"}, "annotations": {ADMISSION_GATED_BY_ANNOTATION: "a.example/x"}},
        "spec": {"template": template}}, "default")
    await world.client.delete(JOBS, "blocking", "default", propagation_policy="Background")
    await world.cluster.advance(3)
    return "Gated"


@pytest.mark.parametrize("trouble", [
    stopped, stopped_local, no_flavor, no_local_queue, no_cluster_queue, no_check, other_namespace, inactive, gated])
async def test_what_an_answer_asks_for_is_enough(world, trouble):
    """Given a job that waits for another reason than quota When what its answer asks for is done,
    and done again as long as it asks for more Then it is admitted."""
    state = await trouble(world)
    answer = await world.why("a")
    assert answer.state == state
    assert (await world.cluster.why("job/a")).state == state
    for _ in range(4):
        if not answer.changes:
            break
        await world.give(answer.changes)
        answer = await world.why("a")
    assert await world.is_admitted("a")


async def test_queues_answer(world):
    """Given a queue with a job and one that waits When queues are asked about Then they say who has
    quota and who waits, what would do, and of a queue that is deleted, whose end it waits for."""
    await world.flavor()
    await world.queue()
    assert (await world.cluster.why("clusterqueue/q")).state == "Well"
    await world.job("a", "3")
    await world.job("b", "3")
    answer = await world.cluster.why("clusterqueue/q")
    a, b = await world.workload("a"), await world.workload("b")
    assert (answer.state, answer.message) == ("Pending", "admits workloads: 1 have quota, 1 waiting")
    assert answer.places[0].reasons[0].message == f"3 of 4 is used; held by workload default/{a}"
    assert [each.about for each in answer.because] == [f"workload/default/{b}"]
    assert [change.details["amount"] for change in answer.changes] == ["2"]
    assert (await world.cluster.why("localqueue/q")).message == "leads to clusterqueue q; 1 waiting in it"
    await world.client.delete(CLUSTER_QUEUES, "q")
    await world.cluster.advance(3)
    answer = await world.cluster.why("clusterqueue/q")
    assert (answer.state, [change.target for change in answer.changes]) == ("Terminating", [f"workload/default/{a}"])


async def test_a_gated_pod_waits_for_its_workload(world):
    """Given a plain pod that waits for quota When it is asked about Then it is held back until its
    Workload is admitted, and what that lacks is told."""
    await world.flavor()
    await world.queue(quotas={"cpu": {"nominalQuota": "1"}})
    container = {"name": "c", "image": "a", "resources": {"requests": {"cpu": "2"}}}
    await world.client.create(
        PODS, {"metadata": {"name": "p", "labels": {QUEUE_LABEL: "q"}}, "spec": {"containers": [container]}}, "default")
    await world.cluster.advance(3)
    answer = await world.cluster.why("pod/p")
    assert (answer.state, [change.details["amount"] for change in answer.changes]) == ("Gated", ["1"])


@pytest.mark.parametrize(("status", "text"), [
    ({"conditions": [{"type": "Finished", "status": "True", "reason": "OutOfSync", "message": "m"}]},
     "has finished: OutOfSync: m"),
    ({"conditions": [{"type": "QuotaReserved", "status": "True", "reason": "r", "message": ""},
                     {"type": "Admitted", "status": "True", "reason": "r", "message": ""}],
      "admission": {"clusterQueue": "q", "podSetAssignments": [{"name": "main", "count": 1}]}}, "is admitted for 1 pods"),
])
async def test_a_gated_pod_may_wait_for_no_admission(world, status, text):
    """Given a gated pod whose Workload has finished, or is admitted and not for it When it is asked
    about Then that is told, and not that an admission would help."""
    await world.flavor()
    await world.queue()
    template = {"spec": {"containers": [{"name": "c", "image": "a", "resources": {"requests": {"cpu": "1"}}}]}}
    await world.client.create(WORKLOADS, {
        "metadata": {"name": "w"}, "spec": {"podSets": [{"name": "main", "count": 1, "template": template}]}}, "default")
    for condition in status["conditions"]:
        condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    await world.client.patch(WORKLOADS, "w", "default", {"status": status}, subresource="status")
    await world.client.create(PODS, {
        "metadata": {"name": "p", "annotations": {WORKLOAD_ANNOTATION: "w"}},
        "spec": {**template["spec"], "schedulingGates": [{"name": ELASTIC_JOB_GATE}]}}, "default")
    await world.cluster.settle()
    answer = await world.cluster.why("pod/p")
    assert answer.message == f"is held back by {ELASTIC_JOB_GATE}, and its workload w {text}"


@settings(
    max_examples=6, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(
    sizes=some.lists(some.tuples(some.sampled_from("qrs"), some.integers(1, 4)), min_size=3, max_size=9),
    quotas=some.tuples(*[some.integers(0, 3)] * 3), fair=some.booleans(),
    strategies=some.tuples(*[some.sampled_from(["BestEffortFIFO", "StrictFIFO"])] * 3))
async def test_what_is_asked_for_is_enough_in_a_cohort(sizes, quotas, fair, strategies):
    """Given three queues of a cohort and jobs of any sizes in them When a job waits and is given
    the quota that its answer asks for Then it is admitted."""
    configuration = {"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}} if fair else True
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, kueue=configuration) as cluster:
        world = World(cluster)
        await world.flavor()
        for name, quota, strategy in zip("qrs", quotas, strategies, strict=True):
            await world.queue(
                name, {"cpu": {"nominalQuota": str(quota)}}, cohortName="all", queueingStrategy=strategy)
        for number, (queue, cpu) in enumerate(sizes):
            await world.job(f"j{number}", str(cpu), queue)
        last = f"j{len(sizes) - 1}"
        if not await world.is_admitted(last):
            answer = await world.why(last)
            assert answer.changes
            await world.give(answer.changes)
            assert await world.is_admitted(last)


@settings(
    max_examples=5, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(
    sizes=some.lists(some.integers(1, 5), min_size=2, max_size=6), quota=some.integers(0, 6),
    strategy=some.sampled_from(["BestEffortFIFO", "StrictFIFO"]), flavors=some.sampled_from([("f",), ("f", "g")]))
async def test_what_is_asked_for_is_always_enough(sizes, quota, strategy, flavors):
    """Given queues and jobs of any sizes When a job waits and is given the quota that its answer
    asks for Then it is admitted."""
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, kueue=True) as cluster:
        world = World(cluster)
        for flavor in flavors:
            await world.flavor(flavor)
        await world.queue(quotas={"cpu": {"nominalQuota": str(quota)}}, flavors=flavors, queueingStrategy=strategy)
        for number, cpu in enumerate(sizes):
            await world.job(f"j{number}", str(cpu))
        last = f"j{len(sizes) - 1}"
        if not await world.is_admitted(last):
            answer = await world.why(last)
            assert answer.changes
            await world.give(answer.changes)
            assert await world.is_admitted(last)
