"""The Workload and the PodGroup of a Job in Kubernetes 1.36."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS
from tests.controllers.job.grouped import INDEXED, GroupWorld, Outage, cluster_with_groups
from tests.controllers.world import NAMESPACE, job_manifest


@pytest.fixture
async def world():
    async with cluster_with_groups("1.36") as cluster:
        yield GroupWorld(cluster)


@pytest.mark.spec("WAS-100")
async def test_a_static_indexed_job_is_a_gang(world):
    """Given an indexed Job that runs all its pods at once / when it is made / then it has a
    Workload, a PodGroup and then pods of that group.
    """
    await world.create_job(**INDEXED)
    workload, group = await world.both()
    policy = {"gang": {"minCount": 4}}
    assert workload["spec"] == {
        "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
        "podGroupTemplates": [{"name": "j-pgt-0", "schedulingPolicy": policy, "schedulingConstraints": None}],
    }
    name = workload["metadata"]["name"]
    assert group["spec"]["schedulingPolicy"] == policy
    assert group["spec"]["podGroupTemplateRef"] == {"workload": {"workloadName": name, "podGroupTemplateName": "j-pgt-0"}}
    job, of = group["metadata"]["ownerReferences"]
    assert (job["kind"], job["controller"], of["kind"], of["apiVersion"], of["name"]) == (
        "Job", True, "Workload", "scheduling.k8s.io/v1alpha2", name)
    assert await world.group_names() == [group["metadata"]["name"]] * 4
    assert await world.reasons() == ["WorkloadCreated", *["SuccessfulCreate"] * 4]


@pytest.mark.spec("WAS-101")
@pytest.mark.parametrize("spec", [
    {"parallelism": 1, "completions": 1}, {"completionMode": "NonIndexed"}, {"completions": 5}, {"parallelism": 0},
])
async def test_jobs_of_other_shapes_get_nothing(world, spec):
    """Given a Job that is no gang / when it runs, and later takes the shape of one / then it has no
    objects.
    """
    job = await world.create_job(**{**INDEXED, **spec})
    if spec.get("completionMode") != "NonIndexed":
        await world.change_job(parallelism=job["spec"]["completions"])
    assert await world.workloads() == await world.groups() == []
    assert set(await world.group_names()) <= {None}


@pytest.mark.spec("WAS-102")
async def test_a_group_in_the_template_opts_out(world):
    """Given a template with a group / when the Job runs / then nothing is made and pods keep it."""
    manifest = job_manifest(**INDEXED)
    manifest["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "mine"}
    await world.client.create(JOBS, manifest)
    await world.advance(1)
    assert await world.group_names() == ["mine"] * 4
    assert await world.workloads() == []


@pytest.mark.spec("WAS-104", "WAS-121")
@pytest.mark.parametrize("owned", [False, True])
async def test_a_workload_that_does_not_fit_means_plain_pods(world, owned):
    """Given a Workload of the user's, or one of the Job's with two templates / when pods are made /
    then they have no group, and no Event tells of it.
    """
    workload = {"metadata": {"name": "w", "namespace": NAMESPACE}, "spec": {
        "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
        "podGroupTemplates": [{"name": name, "schedulingPolicy": {"basic": {}}} for name in ("ab" if owned else "a")]}}
    if owned:
        await world.client.create(JOBS, job_manifest(**INDEXED, suspend=True))
        await world.advance(1)
        made, _ = await world.both()
        workload["metadata"]["ownerReferences"] = made["metadata"]["ownerReferences"]
        await world.client.delete(world.WORKLOADS, made["metadata"]["name"], NAMESPACE)
        await world.client.create(world.WORKLOADS, workload)
        await world.settle()
        await world.change_job(suspend=False)
    else:
        await world.client.create(world.WORKLOADS, workload)
        await world.settle()
        await world.create_job(**INDEXED)
    assert await world.group_names() == [None] * 4
    assert [type_ for type_, _, _ in await world.events() if type_ != "Normal"] == []


@pytest.mark.spec("WAS-105", "WAS-132", "WAS-129")
async def test_pods_wait_while_groups_cannot_be_made(world):
    """Given that Workloads, then PodGroups cannot be made / when a Job is / then it has no pods, no
    status and no Events; when they can, there is one of each, and the pods.
    """
    outage = Outage(world.cluster, "/workloads", "/podgroups")
    job = await world.create_job(**INDEXED)
    assert (job["status"], await world.events(), await world.pods()) == ({}, [], [])
    outage.ends("/workloads")
    await world.advance(30)
    [workload] = await world.workloads()
    assert await world.pods() == []
    outage.ends()
    await world.advance(60)
    assert [each["metadata"]["uid"] for each in await world.workloads()] == [workload["metadata"]["uid"]]
    assert len([name for name in await world.group_names() if name]) == 4


@pytest.mark.spec("WAS-123", "WAS-124")
async def test_a_group_is_made_again_and_a_workload_is_not(world):
    """Given a suspended gang / when its PodGroup is deleted / then it is made again under its name;
    when the Workload is, it is not, and new pods go without.
    """
    await world.create_job(**INDEXED)
    workload, group = await world.both()
    await world.change_job(suspend=True)
    await world.advance(5)
    name = group["metadata"]["name"]
    await world.client.delete(world.POD_GROUPS, name, NAMESPACE)
    await world.settle()
    await world.change_job(backoffLimit=3)
    [again] = await world.groups()
    assert again["metadata"]["name"] == name
    assert again["metadata"]["uid"] != group["metadata"]["uid"]
    await world.client.delete(world.WORKLOADS, workload["metadata"]["name"], NAMESPACE)
    await world.settle()
    await world.change_job(suspend=False)
    assert await world.workloads() == []
    assert await world.group_names() == [None] * 4


@pytest.mark.spec("WAS-103")
async def test_the_parallelism_of_a_gang_is_frozen(world):
    """Given a gang, one of a group that the template names, and a plain Job / when parallelism
    changes / then it is forbidden for both gangs, also as a dry run and while suspended; all else
    may change, and so may the plain Job.
    """
    async def refused(name="j", **options):
        with pytest.raises(APIError) as raised:
            await world.client.patch(JOBS, name, NAMESPACE, {"spec": {"parallelism": 2, "completions": 2}}, **options)
        return raised.value.code, raised.value.message

    await world.create_job(**INDEXED)
    [group] = await world.groups()
    shown = group["metadata"]["name"]
    text = f'jobs.batch "j" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup "{shown}"'
    assert await refused() == await refused(dry_run=True) == (403, text)
    await world.change_job(suspend=True)
    assert await refused() == (403, text)
    await world.change_job(backoffLimit=2)
    for name, policy in (("gang", {"gang": {"minCount": 2}}), ("basic", {"basic": {}})):
        await world.client.create(world.POD_GROUPS, {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"schedulingPolicy": policy}})
        manifest = job_manifest(name, parallelism=4, completions=4, completionMode="Indexed")
        manifest["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": name}
        await world.client.create(JOBS, manifest)
    assert (await refused("gang"))[0] == 403
    await world.change_job("basic", parallelism=2)
    await world.create_job("plain", parallelism=2, completions=4)
    await world.change_job("plain", parallelism=3)


@pytest.mark.spec("WAS-030")
async def test_a_group_names_a_template_that_there_is(world):
    """Given a Workload / when groups refer to it, to a template that it does not have, to none that
    there is and to one that is being deleted / then only the first is made.
    """
    workload = await world.client.create(world.WORKLOADS, {
        "metadata": {"name": "w", "namespace": NAMESPACE, "finalizers": ["example.com/hold"]},
        "spec": {"podGroupTemplates": [{"name": "t", "schedulingPolicy": {"basic": {}}}]}})

    async def told(name, workload, template):
        try:
            await world.client.create(world.POD_GROUPS, {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
                "podGroupTemplateRef": {"workload": {"workloadName": workload, "podGroupTemplateName": template}},
                "schedulingPolicy": {"basic": {}}}})
        except APIError as error:
            return error.code, error.message.partition(" is forbidden: ")[2]
        return 201, ""

    assert await told("a", "w", "t") == (201, "")
    assert await told("b", "w", "no") == (403, 'PodGroup rejected: PodGroupTemplate "no" not found in Workload "w"')
    assert await told("c", "no", "t") == (403, 'PodGroup rejected: Workload "no" not found')
    await world.client.delete(world.WORKLOADS, workload["metadata"]["name"], NAMESPACE)
    assert await told("d", "w", "t") == (403, 'PodGroup rejected: Workload "w" is being deleted')
    async with cluster_with_groups() as cluster:
        newer = GroupWorld(cluster)
        await newer.client.create(newer.POD_GROUPS, {"metadata": {"name": "e", "namespace": NAMESPACE}, "spec": {
            "workloadRef": {"workloadName": "no", "templateName": "t"}, "schedulingPolicy": {"basic": {}}}})
