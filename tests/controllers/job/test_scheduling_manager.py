"""The Workload and the PodGroup of a Job in Kubernetes 1.37."""

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, CRON_JOBS, JOBS
from fakekube_controllers.job import schedulingobjects
from tests.controllers.job.grouped import GroupWorld, Outage, cluster_with_groups
from tests.controllers.world import NAMESPACE, condition, job_manifest

GANG = {"schedulingPolicy": {"gang": {}}}
FINALIZER = "scheduling.k8s.io/podgroup-protection"


@pytest.fixture
async def world():
    async with cluster_with_groups() as cluster:
        yield GroupWorld(cluster)


def size_of(obj):
    """The minCount of a Workload or of a PodGroup."""
    spec = obj["spec"]
    policy = spec["podGroupTemplates"][0]["schedulingPolicy"] if "podGroupTemplates" in spec else spec["schedulingPolicy"]
    return policy["gang"]["minCount"]


@pytest.mark.spec("WAS-130")
def test_names_are_upstreams():
    """Given upstream's examples / when names are made / then they are the same, as long as a name
    may be, and another uid gives another one.
    """
    job = {"metadata": {"name": "my-job", "uid": "uid-123"}}
    workload = schedulingobjects.workload_name(job)
    assert workload == "my-job-795ddf89fd"
    assert schedulingobjects.group_name(workload, "my-job-pgt-0") == "my-job-795ddf89fd-my-job-pgt-0-74cffdfb57"
    assert schedulingobjects.group_name("my-workload", "my-template") == "my-workload-my-template-67bd6bbcc4"
    assert schedulingobjects.workload_name({"metadata": {"name": "my-job", "uid": "uid-124"}}) != workload
    for first, second in ((200, 200), (50, 240), (240, 50)):
        name = schedulingobjects.group_name("w" * first, "t" * second)
        parts = [len(part) for part in name.split("-")]
        assert len(name) == 253
        assert parts[:2] == ([121, 120] if first == second else [50, 201 - parts[2]] if first == 50 else [201 - parts[2], 50])
    assert len(schedulingobjects.workload_name({"metadata": {"name": "j" * 253, "uid": "u"}})) == 253


@pytest.mark.spec("WAS-106", "WAS-031", "JOB-132")
async def test_every_job_gets_a_workload_and_a_group(world):
    """Given a Job that says nothing of scheduling / when it runs / then it has a basic Workload
    and PodGroup, made before its pods, which carry the group and have the Job as only owner.
    """
    job = await world.create_job(parallelism=2, completions=2)
    workload, group = await world.both()
    owner = meta.controller_reference({"apiVersion": "batch/v1", "kind": "Job", **job})
    assert workload["metadata"]["ownerReferences"] == [owner]
    assert workload["spec"] == {
        "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
        "podGroupTemplates": [{"name": "j-pgt-0", "schedulingPolicy": {"basic": {}}, "schedulingConstraints": None}],
    }
    assert group["metadata"]["ownerReferences"] == [owner, {
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "name": workload["metadata"]["name"],
        "uid": workload["metadata"]["uid"]}]
    assert group["metadata"]["finalizers"] == [FINALIZER]
    reference = {"workloadName": workload["metadata"]["name"], "templateName": "j-pgt-0"}
    assert group["spec"] == {
        "workloadRef": reference, "schedulingPolicy": {"basic": {}}, "disruptionMode": {"single": {}}, "priority": 0}
    assert await world.group_names() == [group["metadata"]["name"]] * 2
    assert [pod["metadata"]["ownerReferences"] for pod in await world.active()] == [[owner]] * 2
    assert "scheduling" not in job["spec"]
    events = await world.events()
    assert events[:2] == [
        ("Normal", "WorkloadCreated", f"Created Workload {workload['metadata']['name']} for Job j"),
        ("Normal", "PodGroupCreated", f"Created PodGroup {group['metadata']['name']} for Job j")]
    assert [reason for _, reason, _ in events[2:]] == ["SuccessfulCreate"] * 2
    assert schedulingobjects.workload_name(job) == workload["metadata"]["name"]


@pytest.mark.spec("WAS-107", "WAS-108", "WAS-113", "WAS-114")
async def test_a_gang_has_the_size_of_its_job(world):
    """Given a gang of no number / when the Job's parallelism changes while pods run / then both
    objects follow; a number that is given holds, and follows as well; the Job keeps what it says.
    """
    job = await world.create_job(parallelism=4, completions=6, scheduling=GANG)
    assert [size_of(obj) for obj in await world.both()] == [4, 4]
    assert job["spec"]["scheduling"] == GANG
    job = await world.change_job(parallelism=6)
    assert [size_of(obj) for obj in await world.both()] == [6, 6]
    assert job["spec"]["scheduling"] == GANG
    before = [pod["metadata"]["uid"] for pod in await world.active()]
    await world.change_job(scheduling={"schedulingPolicy": {"gang": {"minCount": 2}}})
    assert [size_of(obj) for obj in await world.both()] == [2, 2]
    assert [pod["metadata"]["uid"] for pod in await world.active()] == before
    await world.change_job(scheduling={"schedulingPolicy": {"gang": {"minCount": None}}}, parallelism=0)
    assert [size_of(obj) for obj in await world.both()] == [1, 1]


@pytest.mark.spec("WAS-109", "WAS-131")
async def test_all_blocks_arrive():
    """Given constraints, mode, claims and a priority class / when the Job runs / then Workload and
    PodGroup have them all.
    """
    async with cluster_with_groups(TopologyAwareWorkloadScheduling=True, DRAWorkloadResourceClaims=True) as cluster:
        world = GroupWorld(cluster)
        await world.client.create(await world.client.resource("priorityclasses.scheduling.k8s.io"), {
            "metadata": {"name": "high"}, "value": 7})
        blocks = {
            "schedulingConstraints": {"topology": [{"key": "zone"}]}, "disruptionMode": {"all": {}},
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "none"}],
        }
        manifest = job_manifest(parallelism=2, scheduling={"schedulingPolicy": {"gang": {"minCount": 2}}, **blocks})
        manifest["spec"]["template"]["spec"]["priorityClassName"] = "high"
        await world.client.create(JOBS, manifest)
        await world.advance(1)
        workload, group = await world.both()
        expected = {**blocks, "schedulingPolicy": {"gang": {"minCount": 2}}, "priorityClassName": "high"}
        [template] = workload["spec"]["podGroupTemplates"]
        assert template == {"name": "j-pgt-0", **expected}
        assert group["spec"] == {**expected, "priority": 7, "workloadRef": group["spec"]["workloadRef"]}


@pytest.mark.spec("WAS-102", "WAS-115", "JOB-133")
async def test_jobs_that_get_nothing(world):
    """Given a Job whose template names a group, and one that another controller owns / when they
    run / then nothing is made, and the first one's pods keep the group.
    """
    manifest = job_manifest("own")
    manifest["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "mine"}
    await world.client.create(JOBS, manifest)
    await owned_job(world, "owned")
    assert sorted(map(str, await world.group_names())) == ["None", "mine"]
    assert await world.workloads() == await world.groups() == []


async def owned_job(world, name="j", parent="parent", annotations=None, **spec):
    """A Job of a config map."""
    owner = await world.client.get(CONFIG_MAPS, parent, NAMESPACE, missing_ok=True)
    if owner is None:
        owner = await world.client.create(CONFIG_MAPS, {"metadata": {"name": parent, "namespace": NAMESPACE}})
    manifest = job_manifest(name, **spec)
    reference = meta.controller_reference({"apiVersion": "v1", "kind": "ConfigMap", **owner})
    manifest["metadata"] |= {"ownerReferences": [reference], "annotations": annotations or {}}
    await world.client.create(JOBS, manifest)
    await world.advance(1)


async def parent_workload(world, *templates, **spec):
    return await world.client.create(world.WORKLOADS, {
        "metadata": {"name": "parents", "namespace": NAMESPACE},
        "spec": {"controllerRef": {"kind": "ConfigMap", "name": "parent"}, "podGroupTemplates": [*templates], **spec}})


DELEGATED = {"scheduling.k8s.io/group-template-name": "workers"}
WORKERS = {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 2}}}


@pytest.mark.spec("WAS-116", "WAS-118")
async def test_a_delegated_job_gets_a_group_of_its_parents_template(world):
    """Given a parent's Workload and an annotation that names a template / when the Job runs / then
    it has a PodGroup of that template, owned by the Job alone, which follows the template at the
    Job's next sync.
    """
    workload = await parent_workload(world, {"name": "driver", "schedulingPolicy": {"basic": {}}}, WORKERS)
    await owned_job(world, annotations=DELEGATED, parallelism=2)
    [group] = await world.groups()
    assert group["metadata"]["name"] == schedulingobjects.group_name("parents", "workers")
    assert [owner["kind"] for owner in group["metadata"]["ownerReferences"]] == ["Job"]
    assert group["spec"]["workloadRef"] == {"workloadName": "parents", "templateName": "workers"}
    assert await world.group_names() == [group["metadata"]["name"]] * 2
    workload["spec"]["podGroupTemplates"][1]["schedulingPolicy"]["gang"]["minCount"] = 1
    await world.client.update(world.WORKLOADS, workload)
    await world.advance(5)
    assert size_of((await world.groups())[0]) == 2
    await world.change_job(backoffLimit=4)
    assert size_of((await world.groups())[0]) == 1


@pytest.mark.spec("WAS-117")
@pytest.mark.parametrize("templates", [[], [{"name": "other", "schedulingPolicy": {"basic": {}}}]])
async def test_a_delegated_job_does_not_wait_for_its_template(world, templates):
    """Given no Workload of the parent, or none with that template / when the Job runs / then its
    pods are made without a group, and it gets none later.
    """
    if templates:
        await parent_workload(world, *templates)
    await owned_job(world, annotations=DELEGATED)
    assert await world.group_names() == [None]
    if not templates:
        await parent_workload(world, WORKERS)
        await world.change_job(backoffLimit=4)
    assert await world.groups() == []


async def test_an_empty_template_name_is_the_first_one(world):
    """Given an annotation without a name / when the Job runs / then the group is of the first
    template.
    """
    await parent_workload(world, WORKERS, {"name": "driver", "schedulingPolicy": {"basic": {}}})
    await owned_job(world, annotations={"scheduling.k8s.io/group-template-name": ""})
    [group] = await world.groups()
    assert group["spec"]["workloadRef"]["templateName"] == "workers"


@pytest.mark.spec("WAS-119")
@pytest.mark.parametrize("key", ["parent-compositepodgroup", "parent-composite-podgroup"])
@pytest.mark.parametrize("below", [True, False])
async def test_a_delegated_group_hangs_below_a_composite_where_the_kep_is_followed(key, below):
    """Given a template below a composite one and an annotation that names the parent group / when
    the gate is on / then the PodGroup is made and has that parent; as upstream there is none.
    """
    annotations = {**DELEGATED, f"scheduling.k8s.io/{key}": "root"}
    gates = {"TopologyAwareWorkloadScheduling": True, "CompositePodGroup": True, "ParentCompositePodGroups": below}
    async with cluster_with_groups(**gates) as cluster:
        world = GroupWorld(cluster)
        middle = {"name": "middle", "schedulingPolicy": {"basic": {}}, "podGroupTemplates": [WORKERS]}
        composite = {"name": "root", "schedulingPolicy": {"basic": {}}, "compositePodGroupTemplates": [middle]}
        await parent_workload(world, compositePodGroupTemplates=[composite])
        await owned_job(world, annotations=annotations)
        found = [group["spec"].get("parentCompositePodGroupName") for group in await world.groups()]
        assert found == (["root"] if below else [])


@pytest.mark.spec("WAS-120")
@pytest.mark.parametrize("follows_kep", [False, True])
async def test_jobs_of_cron_jobs(follows_kep):
    """Given a CronJob / when it makes a Job / then that has no objects, as upstream; with the gate
    it has both, as KEP-5547.
    """
    async with cluster_with_groups(CronJobWorkloads=follows_kep) as cluster:
        world = GroupWorld(cluster)
        await world.client.create(CRON_JOBS, {"metadata": {"name": "c", "namespace": NAMESPACE}, "spec": {
            "schedule": "* * * * *", "jobTemplate": {"spec": job_manifest(scheduling=GANG)["spec"]}}})
        await world.advance(61)
        assert [len(await world.workloads()), len(await world.groups())] == [follows_kep, follows_kep]
        assert [name is not None for name in await world.group_names()] == [follows_kep]


@pytest.mark.spec("WAS-121")
@pytest.mark.parametrize("follows_kep", [False, True])
async def test_a_workload_of_the_user(follows_kep):
    """Given a Workload that a user made for the Job / when it runs / then the controller makes one
    of its own, as upstream; with the gate it uses the user's, does not change it, and leaves it.
    """
    async with cluster_with_groups(UserWorkloadsForJobs=follows_kep) as cluster:
        world = GroupWorld(cluster)
        theirs = await world.client.create(world.WORKLOADS, {
            "metadata": {"name": "theirs", "namespace": NAMESPACE},
            "spec": {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"}, "podGroupTemplates": [WORKERS]}})
        await world.create_job(parallelism=3, scheduling=GANG)
        made = [each for each in await world.workloads() if each["metadata"]["name"] != "theirs"]
        [group] = await world.groups()
        used = "theirs" if follows_kep else made[0]["metadata"]["name"]
        assert group["spec"]["workloadRef"]["workloadName"] == used
        assert len(made) == (not follows_kep)
        await world.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Background")
        await world.advance(5)
        assert await world.workloads() == [theirs]


async def test_a_workload_of_the_user_that_does_not_fit():
    """Given that Workloads of users are used, and one with two templates / when the Job runs / then
    its pods have no group, and nothing is made.
    """
    async with cluster_with_groups(UserWorkloadsForJobs=True) as cluster:
        world = GroupWorld(cluster)
        two = [{"name": each, "schedulingPolicy": {"basic": {}}} for each in "ab"]
        theirs = await world.client.create(world.WORKLOADS, {
            "metadata": {"name": "theirs", "namespace": NAMESPACE},
            "spec": {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"}, "podGroupTemplates": two}})
        await world.create_job()
        assert await world.group_names() == [None]
        assert (await world.workloads(), await world.groups()) == ([theirs], [])


@pytest.mark.spec("WAS-122")
async def test_what_is_ambiguous_is_not_used(world):
    """Given a second PodGroup of the Job's own, then a second Workload / when pods are made / then
    they have no group, and no Event tells of it.
    """
    await world.create_job(parallelism=1, completions=9)
    workload, group = await world.both()

    async def again(resource, obj):
        copied = {**obj, "metadata": {**obj["metadata"], "name": "again", "uid": "", "resourceVersion": ""}}
        await world.client.create(resource, copied)

    await again(world.POD_GROUPS, group)
    await world.change_job(parallelism=2)
    assert sorted(map(str, await world.group_names())) == sorted([group["metadata"]["name"], "None"])
    await world.client.delete(world.POD_GROUPS, "again", NAMESPACE)
    await again(world.WORKLOADS, workload)
    await world.settle()
    await world.change_job(parallelism=3)
    assert (await world.group_names()).count(None) == 2
    assert [type_ for type_, _, _ in await world.events() if type_ != "Normal"] == []


async def test_a_workload_with_several_templates_holds_the_job(world):
    """Given a Workload of the Job's own that has two templates / when the Job syncs / then it is
    tried again and again, without pods; when there is one template, it goes on.
    """
    await world.client.create(JOBS, job_manifest(suspend=True))
    await world.advance(1)
    workload, _ = await world.both()
    name = workload["metadata"]["name"]
    await world.client.delete(world.WORKLOADS, name, NAMESPACE)
    two = [{"name": each, "schedulingPolicy": {"basic": {}}} for each in "ab"]
    metadata = {key: workload["metadata"][key] for key in ("name", "namespace", "ownerReferences")}
    await world.client.create(world.WORKLOADS, {
        "metadata": metadata, "spec": {**workload["spec"], "podGroupTemplates": two}})
    await world.change_job(suspend=False)
    await world.advance(10)
    assert await world.active() == []
    await world.client.delete(world.WORKLOADS, name, NAMESPACE)
    await world.advance(60)
    assert await world.group_names() == [None]


@pytest.mark.spec("WAS-105", "WAS-123", "WAS-132", "JOB-134")
async def test_pods_wait_while_groups_cannot_be_made(world):
    """Given that neither Workloads nor PodGroups can be made / when a Job is / then there are no
    pods and no status, and Events tell of the Workload; when first the one and then the other can
    be made, there is one of each, and the pods.
    """
    outage = Outage(world.cluster, "/workloads", "/podgroups")
    job = await world.create_job(parallelism=2)
    assert job["status"] == {}
    assert set(await world.reasons()) == {"FailedWorkloadCreate"}
    [text, *_] = [message for _, _, message in await world.events()]
    assert text == "Failed to create Workload for Job j: 404 page not found"
    outage.ends("/workloads")
    await world.advance(30)
    [workload] = await world.workloads()
    assert await world.groups() == await world.pods() == []
    await world.cluster.restart_controller("job")
    outage.ends()
    await world.advance(60)
    assert [each["metadata"]["uid"] for each in await world.workloads()] == [workload["metadata"]["uid"]]
    [group] = await world.groups()
    assert await world.group_names() == [group["metadata"]["name"]] * 2
    assert (await world.reasons()).count("WorkloadCreated") == (await world.reasons()).count("PodGroupCreated") == 1


@pytest.mark.spec("WAS-124", "WAS-126")
async def test_a_job_made_suspended_has_its_objects_first(world):
    """Given a Job that is created suspended / when it has its condition / then it has its objects;
    resumed, suspended and resumed it keeps them, and pods carry the group.
    """
    await world.create_job(suspend=True)
    workload, group = await world.both()
    assert (await world.reasons())[:3] == ["WorkloadCreated", "PodGroupCreated", "Suspended"]
    for suspended in (False, True, False):
        job = await world.change_job(suspend=suspended)
        assert condition(job, "Suspended")["status"] == str(suspended)
        assert await world.group_names() == [] if suspended else [group["metadata"]["name"]]
    assert [each["metadata"]["uid"] for each in await world.both()] == [each["metadata"]["uid"] for each in (workload, group)]


@pytest.mark.spec("WAS-124", "WAS-128")
async def test_jobs_from_before_the_gate_stay_as_they_are():
    """Given a Job that runs and one that was suspended while the gate was off / when it is on /
    then neither gets objects; switched off again, a Job keeps its block, its objects and its pods'
    group, and new pods have none.
    """
    async with cluster_with_groups(WorkloadWithJob=False) as cluster:
        world = GroupWorld(cluster)
        job = await world.create_job("running", parallelism=1, scheduling=GANG)
        assert "scheduling" not in job["spec"]
        await world.create_job("suspended", suspend=True)
        await world.switch(WorkloadWithJob=True)
        await world.change_job("running", parallelism=2)
        await world.change_job("suspended", suspend=False)
        assert await world.group_names() == [None] * 3
        assert await world.workloads() == []
        await world.create_job(parallelism=1, scheduling=GANG)
        _, group = await world.both()
        await world.switch(WorkloadWithJob=False)
        job = await world.change_job(parallelism=2, backoffLimit=1)
        assert job["spec"]["scheduling"] == GANG
        assert sorted(map(str, await world.group_names())) == sorted(["None"] * 4 + [group["metadata"]["name"]])
        await world.switch(WorkloadWithJob=True)
        await world.change_job(parallelism=3)
        assert (await world.group_names()).count(group["metadata"]["name"]) == 2
        assert size_of((await world.both())[1]) == 3


@pytest.mark.spec("WAS-125", "WAS-123")
async def test_a_restart_finds_what_there_is(world):
    """Given a Job with objects and pods / when the controller restarts and a pod fails / then the
    new pod has the same group, and nothing is made again.
    """
    await world.create_job(parallelism=2)
    workload, group = await world.both()
    await world.cluster.restart_controller("job")
    await world.fail((await world.active())[0])
    await world.advance(30)
    assert await world.group_names() == [group["metadata"]["name"]] * 2
    assert await world.both() == (workload, group)


@pytest.mark.spec("WAS-127")
async def test_a_deleted_job_takes_its_objects_with_it(world):
    """Given a Job with a pod that a node holds / when it is deleted / then the Workload goes at
    once, and the PodGroup after the pod.
    """
    await world.create_job(parallelism=2)
    [pod, _] = await world.active()
    await world.bind(pod)
    await world.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Background")
    await world.advance(5)
    assert await world.workloads() == []
    [group] = await world.groups()
    assert group["metadata"]["deletionTimestamp"]
    await world.delete_pods(pod, grace_period_seconds=0)
    await world.advance(5)
    assert await world.groups() == []


@pytest.mark.spec("WAS-129")
@pytest.mark.parametrize(("length", "reason"), [(57, "WorkloadCreated"), (58, "FailedWorkloadCreate")])
async def test_long_names(world, length, reason):
    """Given a Job whose template would have too long a name / when it is made / then its Workload
    is refused, an Event tells it, and the Job has no pods and no status; a letter less is fine.
    """
    name = "j" * length
    job = await world.create_job(name)
    assert (await world.reasons())[0] == reason
    assert bool(await world.active()) == bool(job["status"]) == (length == 57)


@pytest.mark.spec("WAS-110", "WAS-111", "WAS-112")
async def test_the_server_says_what_a_jobs_block_may_be(world):
    """Given blocks that are wrong, and changes that are not possible / when they are written / then
    the server refuses them; both numbers may be raised at once.
    """
    async def told(write):
        with pytest.raises(APIError) as raised:
            await write
        return [(cause["field"], cause["message"]) for cause in raised.value.details["causes"]]

    where = "spec.scheduling.schedulingPolicy"
    over = [(f"{where}.gang.minCount", "Invalid value: 5: must not be greater than parallelism (4)")]
    five = {"schedulingPolicy": {"gang": {"minCount": 5}}}
    assert await told(world.client.create(JOBS, job_manifest(parallelism=4, scheduling=five))) == over
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": job_manifest(parallelism=4, scheduling=five)["spec"]}}
    [(field, _)] = await told(world.client.create(CRON_JOBS, {
        "metadata": {"name": "c", "namespace": NAMESPACE}, "spec": spec}))
    assert field == f"spec.jobTemplate.{where}.gang.minCount"
    all_alone = {"disruptionMode": {"all": {}}}
    assert await told(world.client.create(JOBS, job_manifest(scheduling=all_alone))) == [(
        "spec.scheduling.disruptionMode",
        'Invalid value: "": the disruptionMode `all` is not supported with the Basic scheduling policy')]
    await world.create_job(parallelism=4, scheduling=GANG)
    await world.change_job(parallelism=5, scheduling=five)
    immutable, cleared = "Invalid value: null: field is immutable", "Invalid value: null: field cannot be cleared once set"
    variant = (
        "Invalid value: null: the basic/gang policy variant is immutable after creation; "
        "only schedulingPolicy.gang.minCount may be updated")
    both = 'Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`'
    changes = [
        ({"schedulingPolicy": {"basic": {}, "gang": None}}, [("schedulingPolicy", variant)]),
        ({"schedulingPolicy": {"basic": {}}}, [("schedulingPolicy", variant), ("schedulingPolicy", both)]),
        ({"schedulingPolicy": None}, [("schedulingPolicy", cleared)]),
        ({"disruptionMode": {}}, [("disruptionMode", immutable)]),
        ({"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}}, [("schedulingConstraints", immutable)]),
        ({"resourceClaims": [{"name": "A"}]}, [("resourceClaims", immutable)]),
        ({"resourceClaims": [{"name": each} for each in "abcde"]}, [
            ("resourceClaims", immutable), ("resourceClaims", "Too many: 5: must have at most 4 items")]),
    ]
    for change, expected in changes:
        found = await told(world.client.patch(JOBS, "j", NAMESPACE, {"spec": {"scheduling": change}}))
        assert found == [(f"spec.scheduling.{field}", text) for field, text in expected]
    assert await told(world.client.patch(JOBS, "j", NAMESPACE, {"spec": {"scheduling": None}})) == [("spec.scheduling", cleared)]
    await world.create_job("plain")
    assert await told(world.client.patch(JOBS, "plain", NAMESPACE, {"spec": {"scheduling": GANG}})) == [
        ("spec.scheduling", "Invalid value: null: field cannot be set once created")]
    spec["jobTemplate"]["spec"]["scheduling"] = GANG
    await world.client.create(CRON_JOBS, {"metadata": {"name": "c", "namespace": NAMESPACE}, "spec": spec})

    def change_cron_job(scheduling):
        return world.client.patch(CRON_JOBS, "c", NAMESPACE, {"spec": {"jobTemplate": {"spec": {"scheduling": scheduling}}}})

    assert await told(change_cron_job(None)) == [("spec.jobTemplate.spec.scheduling", cleared)]
    await change_cron_job({"schedulingPolicy": {"basic": {}, "gang": None}})
