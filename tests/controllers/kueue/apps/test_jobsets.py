"""JobSets on their way through Kueue."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import JOBSETS
from tests.controllers.jobset.conftest import replicated
from tests.controllers.kueue.jobs.conftest import QUEUE, condition_of
from tests.controllers.world import NAMESPACE


def jobset(*jobs, name="js", labels=None, **spec):
    jobs = jobs or (replicated("head"), replicated("work", 2, parallelism=3, completions=3))
    metadata = {"name": name, "namespace": NAMESPACE, "labels": QUEUE if labels is None else labels}
    return {"metadata": metadata, "spec": {"replicatedJobs": [*jobs], **spec}}


async def create(apps, *jobs, **fields):
    """Create a JobSet and let the controllers do what they do."""
    await apps.client.create(JOBSETS, jobset(*jobs, **fields))
    await apps.advance(2)
    return await apps.client.get(JOBSETS, "js", NAMESPACE)


async def status(apps, **fields):
    await apps.client.patch(JOBSETS, "js", NAMESPACE, {"status": fields}, subresource="status")
    await apps.advance(2)


@pytest.mark.spec("KUEUE-175")
async def test_a_jobset_has_one_workload(apps):
    """Given a JobSet with a queue, when it is created, then it is suspended, and has one Workload
    with a pod set for each of its jobs; its own Jobs have none."""
    made = await create(apps)
    workload = await apps.workload()
    assert made["spec"]["suspend"] is True
    assert [(each["name"], each["count"]) for each in workload["spec"]["podSets"]] == [("head", 1), ("work", 6)]
    assert workload["spec"]["podSets"][1]["topologyRequest"] == {
        "podIndexLabel": "batch.kubernetes.io/job-completion-index", "subGroupCount": 2,
        "subGroupIndexLabel": "jobset.sigs.k8s.io/job-index"}
    await apps.admit(workload)
    await apps.advance(2)
    made = await apps.client.get(JOBSETS, "js", NAMESPACE)
    assert made["spec"]["suspend"] is False
    selectors = [job["template"]["spec"]["template"]["spec"]["nodeSelector"] for job in made["spec"]["replicatedJobs"]]
    assert selectors == [{"zone": "a"}, {"zone": "a"}]
    assert len((await apps.client.list(JOBS, NAMESPACE)).items) == 3
    assert len(await apps.workloads()) == 1
    assert len(await apps.all_names()) == 7
    assert await apps.gated() == []


@pytest.mark.spec("KUEUE-175")
async def test_an_evicted_jobset_is_as_it_was(apps):
    """Given a running JobSet, when it is evicted, then it is suspended with its templates as they
    were, and gives its quota back once none of its Jobs is active."""
    before = await create(apps)
    await apps.admit(await apps.workload())
    await apps.advance(2)
    await apps.evict(await apps.workload())
    await apps.advance(35)
    after = await apps.client.get(JOBSETS, "js", NAMESPACE)
    assert after["spec"] == before["spec"]
    assert condition_of(await apps.workload(), "QuotaReserved")[0] == "False"


@pytest.mark.spec("KUEUE-175")
@pytest.mark.parametrize(("type_", "reason"), [("Completed", "Succeeded"), ("Failed", "Failed")])
async def test_the_end_of_a_jobset(apps, type_, reason):
    """Given a running JobSet, when it says that it has ended, then its Workload is finished with
    its words."""
    await create(apps)
    await apps.admit(await apps.workload())
    said = {"type": type_, "status": "True", "reason": "R", "message": "why", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    await status(apps, conditions=[said])
    assert condition_of(await apps.workload(), "Finished") == ("True", reason, "why")


@pytest.mark.spec("KUEUE-175")
async def test_a_jobset_gives_back_what_has_succeeded(apps):
    """Given a running JobSet, when one of its Jobs has succeeded, then the pods of that need no
    quota any more."""
    await create(apps)
    await apps.admit(await apps.workload())
    await apps.advance(2)
    for place in range(3):
        name = next(each for each in await apps.all_names() if each.startswith(f"js-work-0-{place}-"))
        await apps.says(name, "Succeeded")
    await apps.advance(2)
    assert (await apps.workload())["status"]["reclaimablePods"] == [{"name": "work", "count": 3}]


@pytest.mark.spec("KUEUE-175")
async def test_a_jobset_of_too_many_jobs(apps):
    """Given a JobSet of 19 jobs, when it is created, then there is no Workload."""
    await create(apps, *(replicated(f"j{place}") for place in range(19)))
    assert await apps.workloads() == []


@pytest.mark.spec("KUEUE-175")
async def test_topologies_of_a_jobset(apps):
    """Given a JobSet, when two of its annotations do not go together, then it is refused at their
    place."""
    both = {names.PODSET_REQUIRED_TOPOLOGY_ANNOTATION: "a", names.PODSET_PREFERRED_TOPOLOGY_ANNOTATION: "b"}
    job = replicated("w")
    job["template"]["spec"]["template"]["metadata"] = {"annotations": both}
    with pytest.raises(APIError) as caught:
        await apps.client.create(JOBSETS, jobset(job))
    path = "spec.replicatedJobs[0].template.spec.template.metadata.annotations"
    assert f"{path}: Invalid value: must not contain more than one topology annotation" in caught.value.message


@pytest.mark.spec("KUEUE-175")
async def test_a_jobset_that_starts_by_itself(apps):
    """Given a JobSet that waits, when somebody lets it run, then it is suspended again."""
    await create(apps)
    await apps.client.patch(JOBSETS, "js", NAMESPACE, {"spec": {"suspend": False}})
    await apps.advance(2)
    assert (await apps.client.get(JOBSETS, "js", NAMESPACE))["spec"]["suspend"] is True
    assert await apps.told("js", "Stopped") == ["Not admitted by cluster queue"]
    assert len(await apps.workloads()) == 1


@pytest.mark.spec("KUEUE-175")
async def test_a_topology_that_cannot_be_read(apps):
    """Given a JobSet whose annotation is no boolean, when it is created, then it is refused in Go's
    words."""
    job = replicated("w")
    annotations = {names.PODSET_UNCONSTRAINED_TOPOLOGY_ANNOTATION: "maybe"}
    job["template"]["spec"]["template"]["metadata"] = {"annotations": annotations}
    with pytest.raises(APIError) as caught:
        await apps.client.create(JOBSETS, jobset(job))
    text = 'admission webhook "vjobset.kb.io" denied the request: strconv.ParseBool: parsing "maybe": invalid syntax'
    assert (caught.value.code, caught.value.message) == (403, text)
