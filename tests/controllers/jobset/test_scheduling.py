"""Both shapes in which KEP-6089 lets a JobSet say how it is scheduled, and what becomes of them."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.jobset import addon
from fakekube_controllers.jobset.names import JOBSETS
from fakekube_controllers.jobset.scheduling import COMPOSITES, POD_GROUPS, WORKLOADS
from tests.controllers.jobset.conftest import CONTROLLERS, JobSets, manifest, replicated
from tests.controllers.world import NAMESPACE

RACK = "topology.kubernetes.io/rack"
ALONE = {"schedulingPolicy": {"basic": {}}}


def cluster_with(**features):
    return Cluster(
        nodes=0, clock="manual", controllers=f"{CONTROLLERS},podgroup-protection", feature_gates="workload-aware",
        extra=[addon(WorkloadAwareScheduling=True, **features)])


@pytest.fixture
async def aware():
    """A cluster with workload-aware scheduling, in which JobSet takes part."""
    async with cluster_with() as cluster:
        yield JobSets(cluster)


async def templates(world):
    """The root of the Workload's templates, and by name the others with where they stand."""
    workload = await world.client.get(WORKLOADS, "js", NAMESPACE)
    assert workload["metadata"]["ownerReferences"][0]["kind"] == "JobSet"
    assert workload["spec"]["controllerRef"] == {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "js"}
    [root] = workload["spec"]["compositePodGroupTemplates"]
    found = {root["name"]: root}
    for group in root["compositePodGroupTemplates"]:
        [leaf] = group["podGroupTemplates"]
        found |= {group["name"]: group, leaf["name"]: leaf}
    return found


def policy_of(template):
    return template["schedulingPolicy"]


async def tree(world):
    """The names of groups with those of their parents."""
    found = {}
    for resource in (COMPOSITES, POD_GROUPS):
        for group in (await world.client.list(resource, NAMESPACE)).items:
            found[group["kind"], group["metadata"]["name"]] = group["spec"].get("parentCompositePodGroupName")
    return found


async def test_without_a_word_all_jobs_start_together(aware):
    """Given a JobSet that says nothing of scheduling / when it is created / then it is a gang of
    its replicated jobs, each a gang of its Jobs, and every pod belongs to the group of its Job.
    """
    await aware.create(replicated("driver"), replicated("workers", 2, parallelism=3, completions=3))
    found = await templates(aware)
    assert {name: policy_of(template) for name, template in found.items()} == {
        "jobset": {"gang": {"minGroupCount": 2}}, "group-driver": {"gang": {"minGroupCount": 1}}, "job-driver": {"basic": {}},
        "group-workers": {"gang": {"minGroupCount": 2}}, "job-workers": {"basic": {}}}
    assert await tree(aware) == {
        ("CompositePodGroup", "js"): None, ("CompositePodGroup", "js-driver"): "js", ("CompositePodGroup", "js-workers"): "js",
        ("PodGroup", "js-driver-0"): "js-driver", ("PodGroup", "js-workers-0"): "js-workers",
        ("PodGroup", "js-workers-1"): "js-workers"}
    assert {
        (pod["metadata"]["labels"]["batch.kubernetes.io/job-name"], pod["spec"]["schedulingGroup"]["podGroupName"])
        for pod in await aware.pods()} == {(name, name) for name in ("js-driver-0", "js-workers-0", "js-workers-1")}


@pytest.mark.parametrize("shape", ["template", "target"])
async def test_replicated_jobs_say_it_in_their_template_or_are_targeted(aware, shape):
    """Given blocks for one replicated job in either shape / when the JobSet is created / then its
    Jobs are scheduled so, and the others as by default.
    """
    blocks = {
        "schedulingPolicy": {"gang": {}}, "schedulingConstraints": {"topology": [{"key": RACK}]}, "disruptionMode": {"all": {}}}
    in_template = {"scheduling": blocks} if shape == "template" else {}
    root = ALONE if shape == "template" else {
        **ALONE, "replicatedJobSchedulingPolicies": [{"targetReplicatedJob": "workers", **blocks}]}
    await aware.create(
        replicated("driver"), replicated("workers", 2, parallelism=3, completions=3, **in_template), scheduling=root)
    found = await templates(aware)
    assert policy_of(found["jobset"]) == {"basic": {}}
    assert policy_of(found["job-driver"]) == {"basic": {}}
    leaf = found["job-workers"]
    assert policy_of(leaf) == {"gang": {"minCount": 3}}
    assert (leaf["schedulingConstraints"], leaf["disruptionMode"]) == ({"topology": [{"key": RACK}]}, {"all": {}})
    group = await aware.client.get(POD_GROUPS, "js-workers-1", NAMESPACE)
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
    assert "scheduling" not in (await aware.jobs())["js-workers-0"]["spec"]


async def test_names_of_drafts_are_read(aware):
    """Given ``level`` and ``topologyConstraints``, as the KEP's examples have them / when the
    JobSet is created / then they are the key and the topology.
    """
    policies = [{
        "targetReplicatedJob": "w", "schedulingConstraints": {"topologyConstraints": [{"level": RACK}]}}]
    await aware.create(replicated(), scheduling={**ALONE, "replicatedJobSchedulingPolicies": policies})
    assert (await templates(aware))["job-w"]["schedulingConstraints"] == {"topology": [{"key": RACK}]}


@pytest.mark.parametrize("spec", [
    {"startupPolicy": {"startupPolicyOrder": "InOrder"}}, {"dependsOn": [{"name": "a", "status": "Ready"}]}])
async def test_what_starts_one_after_the_other_does_not_wait_for_all(aware, spec):
    """Given an order or a dependency / when the JobSet is created / then its replicated jobs are no
    gang, which would wait for ever.
    """
    second = replicated("b", **{key: value for key, value in spec.items() if key == "dependsOn"})
    await aware.create(replicated("a"), second, **{key: value for key, value in spec.items() if key != "dependsOn"})
    found = await templates(aware)
    assert (policy_of(found["jobset"]), policy_of(found["group-a"])) == ({"basic": {}}, {"gang": {"minGroupCount": 1}})
    [pod] = await aware.pods()
    assert pod["spec"]["schedulingGroup"] == {"podGroupName": "js-a-0"}


def of_class(name, priority):
    template = replicated()["template"]["spec"]["template"]
    template["spec"]["priorityClassName"] = priority
    return replicated(name, template=template)


async def test_the_priority_of_pods_is_that_of_their_groups(aware):
    """Given pods of one class / when the JobSet is created / then all its groups have the class."""
    await aware.create(of_class("a", "system-node-critical"), of_class("b", "system-node-critical"))
    found = await templates(aware)
    assert {template.get("priorityClassName") for template in found.values()} == {"system-node-critical"}


async def test_pods_of_several_priorities_are_no_group(aware):
    """Given pods of two classes / when the JobSet is created / then it has no groups, and is
    refused if it asks for any.
    """
    jobs = of_class("a", "system-node-critical"), of_class("b", "system-cluster-critical")
    await aware.create(*jobs)
    assert (await tree(aware), len(await aware.jobs())) == ({}, 2)
    text = r"spec\.replicatedJobs: Invalid value: all pods must have the same priorityClassName to be scheduled in groups"
    with pytest.raises(APIError, match=text):
        await aware.create(*jobs, name="other", scheduling=ALONE)


async def test_delegated_groups_are_left_to_the_controller_of_jobs():
    """Given delegation / when the JobSet is created / then it makes the Workload and the groups of
    groups, and its Jobs are told template and parent.
    """
    async with cluster_with(DelegatedPodGroups=True) as cluster:
        world = JobSets(cluster)
        await world.cluster.stop_controller("job")
        await world.create(replicated("w", 2))
        assert await tree(world) == {("CompositePodGroup", "js"): None, ("CompositePodGroup", "js-w"): "js"}
        for job in (await world.jobs()).values():
            annotations = job["metadata"]["annotations"]
            assert annotations["scheduling.k8s.io/group-template-name"] == "job-w"
            assert annotations["scheduling.k8s.io/parent-compositepodgroup"] == "js-w"
            assert "schedulingGroup" not in job["spec"]["template"]["spec"]


async def test_objects_come_back_and_stay_through_restarts(aware):
    """Given a JobSet with groups / when a Workload is deleted, and Jobs are made anew / then there
    are the same groups, of which the new pods are.
    """
    await aware.create(replicated(replicas=2), failurePolicy={"maxRestarts": 1})
    before = {group["metadata"]["uid"] for group in (await aware.client.list(POD_GROUPS, NAMESPACE)).items}
    await aware.cluster.stop_controller("garbagecollector")
    await aware.client.delete(WORKLOADS, "js", NAMESPACE)
    await aware.advance(1)
    await aware.client.get(WORKLOADS, "js", NAMESPACE)
    await aware.cluster.start_controller("garbagecollector")
    await aware.finish("js-w-0", exit_code=1)
    await aware.advance(5)
    assert {group["metadata"]["uid"] for group in (await aware.client.list(POD_GROUPS, NAMESPACE)).items} == before
    assert {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in await aware.active()} == {"js-w-0", "js-w-1"}


async def test_a_suspended_jobset_has_its_groups(aware):
    """Given a suspended JobSet / when it is created and resumed / then its groups are there before
    its pods.
    """
    await aware.create(replicated(), suspend=True)
    assert ("PodGroup", "js-w-0") in await tree(aware)
    assert await aware.pods() == []
    await aware.change(suspend=False)
    [pod] = await aware.pods()
    assert pod["spec"]["schedulingGroup"] == {"podGroupName": "js-w-0"}


async def test_everything_goes_with_the_jobset(aware):
    """Given a JobSet with groups / when it is deleted / then they are gone."""
    await aware.create(replicated())
    await aware.client.delete(JOBSETS, "js", NAMESPACE, propagation_policy="Background")
    await aware.advance(10)
    assert (await tree(aware), (await aware.client.list(WORKLOADS, NAMESPACE)).items) == ({}, [])


async def test_gangs_follow_the_size_of_their_jobs():
    """Given an elastic JobSet of gangs / when its Jobs get more pods / then templates and groups
    want as many.
    """
    async with cluster_with(ElasticJobSet=True) as cluster:
        world = JobSets(cluster)
        gang = {"schedulingPolicy": {"gang": {}}}
        await world.create(replicated(parallelism=2, completions=2, scheduling=gang))
        patch = [{"op": "replace", "path": f"/spec/replicatedJobs/0/template/spec/{field}", "value": 3}
                 for field in ("parallelism", "completions")]
        await world.client.patch(JOBSETS, "js", NAMESPACE, patch, type="json")
        await world.advance(2)
        assert policy_of((await templates(world))["job-w"]) == {"gang": {"minCount": 3}}
        group = await world.client.get(POD_GROUPS, "js-w-0", NAMESPACE)
        assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}


@pytest.mark.parametrize(("job", "scheduling", "field", "text"), [
    ({"scheduling": {"schedulingPolicy": {"gang": {"minCount": 0}}}}, None,
     "spec.replicatedJobs[0].template.spec.scheduling.schedulingPolicy.gang.minCount",
     "Invalid value: 0: must be greater than or equal to 1"),
    ({}, {"schedulingPolicy": {"gang": {"minGroupCount": 0}}}, "spec.scheduling.schedulingPolicy.gang.minGroupCount",
     "Invalid value: 0: must be greater than or equal to 1"),
    ({}, {"replicatedJobSchedulingPolicies": [{"targetReplicatedJob": "w", "disruptionMode": {}}]},
     "spec.scheduling.replicatedJobSchedulingPolicies[0].disruptionMode",
     'Invalid value: "": must specify one of: `single`, `all`'),
    ({}, {"replicatedJobSchedulingPolicies": [{"targetReplicatedJob": "x"}]}, "<nil>",
     "Internal error: invalid replicatedJob name 'x' in scheduling does not appear in .spec.ReplicatedJobs"),
    ({"scheduling": ALONE}, {"replicatedJobSchedulingPolicies": [{"targetReplicatedJob": "w"}]},
     "spec.replicatedJobs[0].template.spec.scheduling",
     "Forbidden: may not be set when spec.scheduling.replicatedJobSchedulingPolicies targets the replicated job"),
])
async def test_blocks_that_are_refused(aware, job, scheduling, field, text):
    """Given blocks that make no sense / when the JobSet is created / then it is refused, and told
    where they are.
    """
    spec = {"scheduling": scheduling} if scheduling is not None else {}
    with pytest.raises(APIError) as caught:
        await aware.client.create(JOBSETS, manifest(replicated(**job), **spec))
    assert [(cause["field"], cause["message"]) for cause in caught.value.causes] == [(field, text)]


async def test_it_may_not_change(aware):
    """Given a JobSet / when how it is scheduled changes / then that is refused."""
    await aware.create(replicated())
    with pytest.raises(APIError, match=r"spec\.scheduling: Invalid value: .*: field is immutable"):
        await aware.change(scheduling=ALONE)


async def test_an_object_of_that_name_is_not_taken_over(aware):
    """Given a Workload of somebody else with the JobSet's name / when the JobSet is created / then
    an Event says so, and there are no Jobs.
    """
    await aware.client.create(WORKLOADS, {
        "metadata": {"name": "js", "namespace": NAMESPACE},
        "spec": {"podGroupTemplates": [{"name": "t", "schedulingPolicy": {"basic": {}}}]}})
    await aware.create(replicated())
    text = f"Workload {NAMESPACE}/js already exists and is not controlled by JobSet {NAMESPACE}/js"
    assert (await aware.told())[0] == ("Warning", "SchedulingObjectsFailed", text)
    assert await aware.jobs() == {}
    await aware.client.delete(WORKLOADS, "js", NAMESPACE)
    await aware.advance(60)
    assert [*await aware.jobs()] == ["js-w-0"]


async def test_a_cluster_without_groups_of_groups_runs_jobsets_as_ever():
    """Given the feature in a cluster without the gates / when a JobSet is created / then its Jobs
    run, and nobody is told.
    """
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[addon(WorkloadAwareScheduling=True)]) as cluster:
        world = JobSets(cluster)
        await world.create(replicated(scheduling=ALONE))
        [pod] = (await cluster.client.list(PODS, NAMESPACE)).items
        assert "schedulingGroup" not in pod["spec"]
        assert [*await world.jobs()] == ["js-w-0"]


async def test_without_the_feature_the_fields_are_unknown(world):
    """Given JobSet as it is released / when a JobSet says how it is scheduled / then that is
    dropped.
    """
    created = await world.create(replicated(scheduling=ALONE), scheduling=ALONE)
    assert "scheduling" not in created["spec"]
    assert "scheduling" not in created["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert "scheduling.k8s.io/group-template-name" not in (await world.client.get(
        JOBS, "js-w-0", NAMESPACE))["metadata"]["annotations"]
