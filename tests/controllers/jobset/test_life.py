"""From the Jobs that a JobSet makes to its end."""

from hashlib import sha1

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, PERSISTENT_VOLUME_CLAIMS, SERVICES
from fakekube_controllers.jobset import sync
from fakekube_controllers.jobset.names import JOBSETS
from tests.controllers.jobset.conftest import manifest, replicated
from tests.controllers.world import NAMESPACE

L = "jobset.sigs.k8s.io/"


@pytest.mark.spec("JOB-182")
async def test_jobs_are_made_counted_and_completed(world):
    """Given a JobSet of two replicated jobs / when their Jobs run and succeed one after the other
    / then the status counts each, and the JobSet is completed with the last.
    """
    await world.create(replicated("a", 2), replicated("b", parallelism=2, completions=2))
    assert sorted(await world.jobs()) == ["js-a-0", "js-a-1", "js-b-0"]
    assert await world.counters() == {"b": (0, 0, 0, 1, 0), "a": (0, 0, 0, 2, 0)}
    await world.start_pods("js-b-0")
    assert (await world.counters())["b"] == (1, 0, 0, 1, 0)
    await world.finish("js-a-0", "js-b-0")
    assert await world.counters() == {"b": (0, 1, 0, 0, 0), "a": (0, 1, 0, 1, 0)}
    assert await world.condition("Completed") is None
    await world.finish("js-a-1")
    assert await world.counters() == {"b": (0, 1, 0, 0, 0), "a": (0, 2, 0, 0, 0)}
    assert await world.condition("Completed") == ("True", "AllJobsCompleted", "jobset completed successfully")
    assert (await world.status())["terminalState"] == "Completed"
    assert await world.told() == [("Normal", "AllJobsCompleted", "jobset completed successfully")]
    assert world.cluster.metrics.value("jobset_completed_total", jobset_name="js", namespace=NAMESPACE) == 1


async def test_many_jobs_are_made_in_turns(world, monkeypatch):
    """Given more replicas than are made at once / when a JobSet is created / then all are made."""
    monkeypatch.setattr(sync, "MAX_JOBS_AT_ONCE", 2)
    await world.create(replicated("a", 5), replicated("b", 2))
    assert sorted(await world.jobs()) == [*(f"js-a-{index}" for index in range(5)), "js-b-0", "js-b-1"]


async def test_labels_say_which_job_of_how_many(world):
    """Given two groups / when Jobs are made / then labels and annotations of Job and pods number
    them within replicated job, group and JobSet.
    """
    await world.create(replicated("a"), replicated("b", 2, groupName="g"), replicated("c", groupName="g"))
    job = (await world.jobs())["js-b-1"]
    uid = (await world.jobset())["metadata"]["uid"]
    wanted = {
        "jobset-name": "js", "jobset-uid": uid, "replicatedjob-name": "b", "replicatedjob-replicas": "2", "global-replicas": "4",
        "restart-attempt": "0", "job-index": "1", "job-global-index": "2", "group-name": "g", "group-replicas": "3",
        "job-group-index": "1", "job-key": sha1(f"{NAMESPACE}/js-b-1".encode()).hexdigest()}
    for metadata in (job["metadata"], job["spec"]["template"]["metadata"]):
        assert {key.removeprefix(L): value for key, value in metadata["labels"].items() if key.startswith(L)} == wanted
        assert {key.removeprefix(L): value for key, value in metadata["annotations"].items() if key.startswith(L)} == wanted


@pytest.mark.spec("JOB-183")
async def test_jobs_of_another_jobset_of_that_name_do_not_count(world):
    """Given a Job whose owner has the JobSet's name and another uid / when it fails / then the
    JobSet goes on.
    """
    await world.create(replicated())
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "js", "uid": "1-2-3", "controller": True}
    labels = (await world.jobs())["js-w-0"]["metadata"]["labels"]
    await world.cluster.stop_controller("garbagecollector")
    await world.client.create(JOBS, {
        "metadata": {"name": "other", "namespace": NAMESPACE, "ownerReferences": [owner], "labels": labels},
        "spec": replicated()["template"]["spec"]})
    await world.advance(1)
    await world.finish("other", exit_code=1)
    assert await world.condition("Failed") is None
    assert await world.counters() == {"w": (0, 0, 0, 1, 0)}


@pytest.mark.spec("JOB-184")
@pytest.mark.parametrize(("policy", "finished", "completes"), [
    ({"operator": "All"}, ["js-a-0", "js-b-0"], False),
    ({"operator": "All"}, ["js-a-0", "js-b-0", "js-b-1"], True),
    ({"operator": "All", "targetReplicatedJobs": ["b"]}, ["js-a-0", "js-b-0"], False),
    ({"operator": "All", "targetReplicatedJobs": ["b"]}, ["js-b-0", "js-b-1"], True),
    ({"operator": "Any"}, ["js-b-1"], True),
    ({"operator": "Any", "targetReplicatedJobs": ["b"]}, ["js-a-0"], False),
    ({"operator": "Any", "targetReplicatedJobs": ["b"]}, ["js-b-1"], True),
])
async def test_the_success_policy_says_when_it_is_enough(world, policy, finished, completes):
    """Given a success policy / when some Jobs have succeeded / then the JobSet is completed or not.
    """
    await world.create(replicated("a"), replicated("b", 2), successPolicy=policy)
    await world.finish(*finished)
    assert (await world.condition("Completed") is not None) == completes


@pytest.mark.spec("JOB-195")
@pytest.mark.parametrize(("exit_code", "state"), [(0, "Completed"), (1, "Failed")])
async def test_what_still_runs_goes_at_the_end(world, exit_code, state):
    """Given a JobSet of which one Job decides / when that has ended / then the others are deleted.
    """
    await world.create(replicated("a"), replicated("b"), successPolicy={"operator": "Any"})
    await world.finish("js-a-0", exit_code=exit_code)
    assert (await world.status())["terminalState"] == state
    assert sorted(await world.jobs()) == ["js-a-0"]


@pytest.mark.spec("JOB-195")
async def test_a_finished_jobset_goes_after_its_time(world):
    """Given a time to live / when the JobSet has been completed for so long / then it is gone with
    all it had.
    """
    await world.create(replicated(), ttlSecondsAfterFinished=60)
    await world.finish("js-w-0")
    await world.advance(50)
    assert (await world.status())["terminalState"] == "Completed"
    await world.advance(20)
    assert await world.client.get(JOBSETS, "js", NAMESPACE, missing_ok=True) is None
    assert (await world.jobs(), await world.services()) == ({}, ["kubernetes"])


@pytest.mark.spec("JOB-195")
@pytest.mark.parametrize("suspend", [False, True])
async def test_a_jobset_of_another_controller_is_left_alone(world, suspend):
    """Given another manager / when the JobSet is created and its status written / then there are no
    Jobs, and the status stays.
    """
    await world.create(replicated(), managedBy="example.com/other", suspend=suspend)
    await world.client.patch(JOBSETS, "js", NAMESPACE, {"status": {"restarts": 3}}, subresource="status")
    await world.change(ttlSecondsAfterFinished=1)
    assert await world.jobs() == {}
    assert await world.status() == {"restarts": 3}


@pytest.mark.spec("JOB-195")
async def test_a_job_that_cannot_be_made_is_told(world):
    """Given a template that no Job may have / when its Job is refused / then an Event says why, and
    there is no status.
    """
    await world.create(replicated(parallelism=2))
    [(kind, reason, text)] = await world.told()
    assert (kind, reason) == ("Warning", "JobCreationFailed")
    assert text.startswith('job "js-w-0" creation failed with error: Job.batch "js-w-0" is invalid: spec.completions')
    assert await world.status() == {}


async def test_a_name_that_is_taken_is_tried_again(world):
    """Given a Job of nobody with the name / when it is deleted / then the JobSet makes its own."""
    await world.client.create(JOBS, {
        "metadata": {"name": "js-w-0", "namespace": NAMESPACE}, "spec": replicated()["template"]["spec"] | {"suspend": True}})
    await world.create(replicated())
    assert (await world.told())[0][2] == 'job "js-w-0" creation failed with error: jobs.batch "js-w-0" already exists'
    await world.client.delete(JOBS, "js-w-0", NAMESPACE, propagation_policy="Background")
    await world.advance(60)
    assert (await world.jobs())["js-w-0"]["metadata"]["ownerReferences"][0]["kind"] == "JobSet"


@pytest.mark.spec("JOB-193")
async def test_a_headless_service_gives_pods_their_names(world):
    """Given a JobSet / when its Service is deleted / then it comes back; with no host names there
    is none.
    """
    await world.create(replicated())
    service = await world.client.get(SERVICES, "js", NAMESPACE)
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"] == {f"{L}jobset-name": "js"}
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert (await world.jobs())["js-w-0"]["spec"]["template"]["spec"]["subdomain"] == "js"
    await world.client.delete(SERVICES, "js", NAMESPACE)
    await world.advance(1)
    assert "js" in await world.services()
    await world.create(replicated(), name="without", network={"enableDNSHostnames": False})
    assert "without" not in await world.services()
    assert "subdomain" not in (await world.jobs())["without-w-0"]["spec"]["template"]["spec"]


@pytest.mark.spec("JOB-193")
async def test_a_generated_name_is_that_of_the_service(world):
    """Given a JobSet whose name is generated / when it is created / then Service and Jobs have it.
    """
    wanted = manifest(replicated())
    del wanted["metadata"]["name"]
    wanted["metadata"]["generateName"] = "run-"
    created = await world.client.create(JOBSETS, wanted)
    await world.advance(1)
    name = created["metadata"]["name"]
    assert name in await world.services()
    assert [*await world.jobs()] == [f"{name}-w-0"]


@pytest.mark.spec("JOB-193")
async def test_every_job_knows_the_coordinator(world):
    """Given a coordinator / when Jobs are made / then each has its address as label and annotation.
    """
    await world.create(
        replicated("a", completions=1), replicated("b", 2, completions=1), coordinator={"replicatedJob": "b", "jobIndex": 1},
        network={"subdomain": "net"})
    for job in (await world.jobs()).values():
        for metadata in (job["metadata"], job["spec"]["template"]["metadata"]):
            assert metadata["labels"][f"{L}coordinator"] == metadata["annotations"][f"{L}coordinator"] == "js-b-1-0.net"


@pytest.mark.spec("JOB-194")
async def test_claims_are_shared_and_stay_or_go(world):
    """Given claims that go and claims that stay, of a suspended JobSet / when it is created and
    deleted / then there are both, Jobs that mount them have volumes, and one claim is left.
    """
    def policy(name, **fields):
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        return {"templates": [{"metadata": {"name": name, "labels": {"l": "1"}}, "spec": claim}], **fields}

    mounts = [{"name": "data", "mountPath": "/d"}, {"name": "keep", "mountPath": "/k"}]
    pods = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox", "volumeMounts": mounts}]}}
    await world.create(
        replicated("a", template=pods), replicated("b"), suspend=True,
        volumeClaimPolicies=[policy("data"), policy("keep", retentionPolicy={"whenDeleted": "Retain"})])
    claims = {each["metadata"]["name"]: each for each in (await world.client.list(PERSISTENT_VOLUME_CLAIMS, NAMESPACE)).items}
    assert [*claims] == ["data-js", "keep-js"]
    assert all(each["metadata"]["labels"] == {"l": "1", f"{L}jobset-name": "js"} for each in claims.values())
    jobs = await world.jobs()
    assert [each["persistentVolumeClaim"]["claimName"] for each in jobs["js-a-0"]["spec"]["template"]["spec"]["volumes"]] == [
        "data-js", "keep-js"]
    assert "volumes" not in jobs["js-b-0"]["spec"]["template"]["spec"]
    await world.client.delete(JOBSETS, "js", NAMESPACE, propagation_policy="Background")
    await world.advance(5)
    left = await world.client.list(PERSISTENT_VOLUME_CLAIMS, NAMESPACE)
    assert [each["metadata"]["name"] for each in left.items] == ["keep-js"]


@pytest.mark.spec("JOB-192")
async def test_created_suspended_and_resumed_with_another_template(world):
    """Given a suspended JobSet / when its template is changed and it is resumed / then the Jobs run
    with what was changed merged in.
    """
    await world.create(replicated(), suspend=True)
    assert await world.condition("Suspended") == ("True", "SuspendedJobs", "jobset is suspended")
    assert await world.counters() == {"w": (0, 0, 0, 0, 1)}
    jobs = (await world.jobset())["spec"]["replicatedJobs"]
    pods = jobs[0]["template"]["spec"]["template"]
    pods["metadata"] = {"labels": {"x": "1"}, "annotations": {"y": "2"}}
    pods["spec"] |= {"nodeSelector": {"zone": "a"}, "tolerations": [{"key": "k", "operator": "Exists"}]}
    pods["spec"]["schedulingGates"] = [{"name": "e.com/g"}]
    await world.change(suspend=False, replicatedJobs=jobs)
    job = (await world.jobs())["js-w-0"]
    template = job["spec"]["template"]
    assert job["spec"]["suspend"] is False
    assert template["metadata"]["labels"]["x"] == "1"
    assert template["metadata"]["annotations"]["y"] == "2"
    assert template["metadata"]["labels"][f"{L}jobset-name"] == "js"
    assert template["spec"]["nodeSelector"] == {"zone": "a"}
    assert template["spec"]["tolerations"] == [{"key": "k", "operator": "Exists"}]
    assert template["spec"]["schedulingGates"] == [{"name": "e.com/g"}]
    assert await world.condition("Suspended") == ("False", "ResumeJobs", "jobset is resumed")
    assert [reason for _, reason, _ in await world.told()] == ["SuspendedJobs", "ResumeJobs"]


@pytest.mark.spec("JOB-192")
async def test_a_running_jobset_is_suspended_and_resumed(world):
    """Given a running JobSet / when it is suspended and resumed / then its Jobs are, too, as if
    they had never started.
    """
    await world.create(replicated(replicas=2))
    assert (await world.jobs())["js-w-0"]["status"]["startTime"]
    await world.change(suspend=True)
    assert await world.counters() == {"w": (0, 0, 0, 0, 2)}
    assert await world.pods() == []
    await world.change(suspend=False)
    assert await world.counters() == {"w": (0, 0, 0, 2, 0)}
    assert {job["spec"]["suspend"] for job in (await world.jobs()).values()} == {False}


@pytest.mark.spec("JOB-192")
async def test_a_job_that_still_says_when_it_started_is_resumed(world):
    """Given a suspended Job with a start time, as Kueue may leave one / when the JobSet is resumed
    / then the time is taken off first, so that the template may change.
    """
    await world.cluster.stop_controller("job")
    await world.create(replicated(), suspend=True)
    await world.client.patch(JOBS, "js-w-0", NAMESPACE, {"status": {"startTime": "2026-01-01T00:00:00Z"}}, subresource="status")
    jobs = (await world.jobset())["spec"]["replicatedJobs"]
    jobs[0]["template"]["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "b"}
    await world.change(suspend=False, replicatedJobs=jobs)
    job = (await world.jobs())["js-w-0"]
    assert job["spec"]["template"]["spec"]["nodeSelector"] == {"zone": "b"}
    assert "startTime" not in job["status"]


@pytest.mark.spec("JOB-196")
async def test_in_order_each_waits_for_the_one_before(world):
    """Given an order of startup / when the first is ready / then the second is made, and conditions
    tell how far it is.
    """
    await world.create(replicated("a"), replicated("b"), startupPolicy={"startupPolicyOrder": "InOrder"})
    assert [*await world.jobs()] == ["js-a-0"]
    text = "in order startup policy is in progress"
    assert await world.condition("StartupPolicyInProgress") == ("True", "InOrderStartupPolicyInProgress", text)
    await world.start_pods("js-a-0")
    assert sorted(await world.jobs()) == ["js-a-0", "js-b-0"]
    await world.start_pods("js-b-0")
    text = "in order startup policy has completed"
    assert await world.condition("StartupPolicyCompleted") == ("True", "InOrderStartupPolicyCompleted", text)
    assert (await world.condition("StartupPolicyInProgress"))[0] == "False"


@pytest.mark.spec("JOB-196")
@pytest.mark.parametrize("order", ["InOrder", "AnyOrder"])
async def test_suspended_in_any_order_all_jobs_are_made_and_none_runs(world, order):
    """Given a suspended JobSet / when it is resumed / then its Jobs run at once, or in order."""
    await world.create(replicated("a"), replicated("b"), startupPolicy={"startupPolicyOrder": order}, suspend=True)
    assert {name: job["spec"]["suspend"] for name, job in (await world.jobs()).items()} == {"js-a-0": True, "js-b-0": True}
    await world.change(suspend=False)
    in_order = order == "InOrder"
    assert {name: job["spec"]["suspend"] for name, job in (await world.jobs()).items()} == {"js-a-0": False, "js-b-0": in_order}
    assert (await world.condition("Suspended"))[0] == ("True" if in_order else "False")
    await world.start_pods("js-a-0")
    await world.start_pods("js-b-0")
    assert not any(job["spec"]["suspend"] for job in (await world.jobs()).values())
    assert (await world.condition("Suspended"))[0] == "False"


@pytest.mark.spec("JOB-197")
async def test_jobs_wait_for_what_they_depend_on(world):
    """Given dependencies on ready and on complete Jobs / when these come so far / then those that
    wait are made.
    """
    await world.create(
        replicated("a"), replicated("b", dependsOn=[{"name": "a", "status": "Ready"}]),
        replicated("c", dependsOn=[{"name": "b", "status": "Complete"}, {"name": "a", "status": "Ready"}]))
    assert [*await world.jobs()] == ["js-a-0"]
    await world.start_pods("js-a-0")
    assert sorted(await world.jobs()) == ["js-a-0", "js-b-0"]
    await world.start_pods("js-b-0")
    assert "js-c-0" not in await world.jobs()
    await world.finish("js-b-0")
    assert sorted(await world.jobs()) == ["js-a-0", "js-b-0", "js-c-0"]


@pytest.mark.spec("JOB-197")
async def test_a_job_waits_for_all_that_it_depends_on(world):
    """Given a Job that waits for two to complete / when one has / then it still waits."""
    await world.create(
        replicated("a"), replicated("b"),
        replicated("c", dependsOn=[{"name": "a", "status": "Complete"}, {"name": "b", "status": "Complete"}]))
    await world.finish("js-a-0")
    assert "js-c-0" not in await world.jobs()
    await world.finish("js-b-0")
    assert "js-c-0" in await world.jobs()


@pytest.mark.spec("JOB-197")
async def test_dependencies_hold_after_a_resume(world):
    """Given a suspended JobSet with a dependency / when it is resumed / then the Job that waits is
    made only when it may.
    """
    await world.create(replicated("a"), replicated("b", dependsOn=[{"name": "a", "status": "Ready"}]), suspend=True)
    assert [*await world.jobs()] == ["js-a-0"]
    await world.change(suspend=False)
    assert [*await world.jobs()] == ["js-a-0"]
    await world.start_pods("js-a-0")
    assert sorted(await world.jobs()) == ["js-a-0", "js-b-0"]


async def test_a_jobset_without_jobs_rests(world):
    """Given a JobSet without Jobs / when it is created / then it has a Service and no status."""
    await world.client.create(JOBSETS, {"metadata": {"name": "js", "namespace": NAMESPACE}})
    await world.advance(5)
    assert (await world.status(), "js" in await world.services()) == ({}, True)


async def test_a_restart_of_the_controller_changes_nothing(world):
    """Given a running JobSet / when its controller is stopped and started / then the same Jobs run,
    and no Event is told.
    """
    await world.create(replicated(replicas=2))
    before = {name: job["metadata"]["uid"] for name, job in (await world.jobs()).items()}
    await world.restart("jobset")
    await world.advance(5)
    assert {name: job["metadata"]["uid"] for name, job in (await world.jobs()).items()} == before
    assert await world.told() == []


async def test_an_unknown_gate_is_a_mistake():
    """Given a gate that JobSet does not have / when the add-on is made / then it is refused."""
    from fakekube_controllers.jobset import addon

    with pytest.raises(TypeError, match="RestartAll"):
        addon(RestartAll=True)


async def test_an_update_of_a_stale_jobset_is_refused(world):
    """Given a status written meanwhile / when the older one is written / then it is a conflict."""
    created = await world.create(replicated())
    with pytest.raises(APIError, match="the object has been modified"):
        await world.client.update_status(JOBSETS, created)
