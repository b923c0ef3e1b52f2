"""Jobs that run on another cluster."""

import pytest

from fakekube.client.resources import EVENTS, JOBS
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER, NS, check_of, condition

pytestmark = pytest.mark.fakekube(controllers="*,kueue", nodes=2, fleet="manager,worker1,worker2")


async def admitted(fleet: Fleet) -> bool:
    found = await workers.workloads(fleet, MANAGER)
    return bool(found) and condition(found[0], "Admitted")[0] == "True"


@pytest.mark.spec("KUEUE-152", "KUEUE-153", "JOB-211")
async def test_a_job_runs_on_the_worker_that_has_room(fake_fleet: Fleet) -> None:
    """Given two workers of which one has room, when a Job is queued on the manager, then both get a
    copy of its Workload, the one with room keeps it and gets the Job, and the local Job shows how
    that fares without a pod of its own; at the end nothing stays on the worker.
    """
    await workers.set_up(fake_fleet, ("2", "0"))
    client = fake_fleet[MANAGER].client
    made = await client.create(JOBS, workers.job())
    assert (made["spec"]["suspend"], made["spec"]["managedBy"]) == (True, "kueue.x-k8s.io/multikueue")
    await fake_fleet.run_until(lambda: admitted(fake_fleet))
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert check_of(local) == ("Ready", 'The workload was admitted on "worker1"')
    assert local["status"]["clusterName"] == "worker1"
    assert "nominatedClusterNames" not in local["status"]
    await fake_fleet.advance("5s")
    assert await workers.workloads(fake_fleet, "worker2") == await workers.jobs(fake_fleet, "worker2") == []
    [remote], [copy] = await workers.jobs(fake_fleet, "worker1"), await workers.workloads(fake_fleet, "worker1")
    assert remote["metadata"]["labels"]["kueue.x-k8s.io/multikueue-origin"] == "multikueue"
    assert remote["metadata"]["annotations"]["kueue.x-k8s.io/prebuilt-workload-name"] == local["metadata"]["name"]
    assert "managedBy" not in remote["spec"]
    assert copy["metadata"]["ownerReferences"][0]["uid"] == remote["metadata"]["uid"]
    shown = await client.get(JOBS, "j", NS)
    assert (shown["spec"]["suspend"], shown["status"]["active"]) == (False, 1)
    assert await workers.pods(fake_fleet, MANAGER) == []
    assert len(await workers.pods(fake_fleet, "worker1")) == 1
    await fake_fleet.advance("15m")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert condition(local, "Finished")[:2] == ("True", "Succeeded")
    assert (await client.get(JOBS, "j", NS))["status"]["succeeded"] == 1
    assert await workers.workloads(fake_fleet, "worker1") == await workers.jobs(fake_fleet, "worker1") == []
    told = [event["message"] for event in (await client.list(EVENTS, NS)).items if event["reason"] == "MultiKueue"]
    assert told == ['The workload was admitted on "worker1"']


@pytest.mark.spec("KUEUE-154")
async def test_a_workload_that_is_evicted_on_its_worker_finds_another(fake_fleet: Fleet) -> None:
    """Given a Job that runs on the first worker, when the queue there is drained, then the check
    asks for another try, and the Job runs on the second worker.
    """
    await workers.set_up(fake_fleet, ("2", "0"))
    await fake_fleet[MANAGER].client.create(JOBS, workers.job())
    await fake_fleet.run_until(lambda: admitted(fake_fleet))
    await fake_fleet.advance("5s")
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "2"}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    await fake_fleet["worker2"].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"resourceGroups": groups}})
    await fake_fleet["worker1"].client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": {"stopPolicy": "HoldAndDrain"}})
    await fake_fleet.advance("3m")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert local["status"]["clusterName"] == "worker2"
    assert check_of(local)[0] == "Ready"
    assert [len(await workers.pods(fake_fleet, name)) for name in workers.WORKERS] == [0, 1]


@pytest.mark.spec("KUEUE-155")
async def test_an_outage_is_borne_for_a_while(fake_fleet: Fleet) -> None:
    """Given a Job that runs on a worker, when the worker cannot be reached for five minutes, then
    nothing happens; when for more than fifteen, the Job runs on another, and what is left on the
    first is collected once it is back.
    """
    await workers.set_up(fake_fleet, ("2", "2"))
    await fake_fleet[MANAGER].client.create(JOBS, workers.job())
    await fake_fleet.run_until(lambda: admitted(fake_fleet))
    await fake_fleet.advance("5s")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    first = local["status"]["clusterName"]
    [other] = [name for name in workers.WORKERS if name != first]
    fake_fleet.cut(first)
    await fake_fleet.advance("5m")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert (check_of(local)[0], local["status"]["clusterName"]) == ("Ready", first)
    await fake_fleet.advance("20m")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert local["status"]["clusterName"] == other
    fake_fleet.mend(first)
    await fake_fleet.advance("10m")
    assert await workers.workloads(fake_fleet, first) == await workers.jobs(fake_fleet, first) == []


@pytest.mark.spec("KUEUE-156")
async def test_what_is_deleted_here_goes_there(fake_fleet: Fleet) -> None:
    """Given Jobs on a worker, when one is deleted here, then it goes there; when another is while
    the worker is away, it goes once it is back.
    """
    await workers.set_up(fake_fleet, ("4",))
    for name in ("a", "b"):
        await fake_fleet[MANAGER].client.create(JOBS, workers.job(name))
    await fake_fleet.advance("10s")
    assert len(await workers.jobs(fake_fleet, "worker1")) == 2
    await fake_fleet[MANAGER].client.delete(JOBS, "a", NS, propagation_policy="Background")
    await fake_fleet.advance("5s")
    assert [each["metadata"]["name"] for each in await workers.jobs(fake_fleet, "worker1")] == ["b"]
    fake_fleet.cut("worker1")
    await fake_fleet[MANAGER].client.delete(JOBS, "b", NS, propagation_policy="Background")
    await fake_fleet.advance("30s")
    assert len(await workers.jobs(fake_fleet, "worker1")) == 1
    fake_fleet.mend("worker1")
    await fake_fleet.advance("10m")
    assert await workers.workloads(fake_fleet, "worker1") == await workers.jobs(fake_fleet, "worker1") == []


@pytest.mark.spec("KUEUE-157")
async def test_a_job_that_others_manage_is_rejected(fake_fleet: Fleet) -> None:
    """Given a Job of before there was a queue, which nobody said that MultiKueue manages, when it
    gets quota, then the check is rejected, and its Workload is deactivated.
    """
    await fake_fleet[MANAGER].client.create(JOBS, workers.job())
    await workers.set_up(fake_fleet, ("2",))
    await fake_fleet.advance("10s")
    assert await workers.workloads(fake_fleet, "worker1") == []
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert not local["spec"]["active"]


@pytest.mark.spec("KUEUE-159")
async def test_a_job_of_the_same_name_is_left_alone(fake_fleet: Fleet) -> None:
    """Given a Job of the same name on the worker that is none of ours, when one is sent there, then
    it stays as it is, also when the local one is deleted.
    """
    await workers.set_up(fake_fleet, ("2",))
    plain = workers.job()
    del plain["metadata"]["labels"]
    before = await fake_fleet["worker1"].client.create(JOBS, plain)
    await fake_fleet[MANAGER].client.create(JOBS, workers.job())
    await fake_fleet.advance("30s")
    await fake_fleet[MANAGER].client.delete(JOBS, "j", NS, propagation_policy="Background")
    await fake_fleet.advance("30s")
    [there] = await workers.jobs(fake_fleet, "worker1")
    assert (there["metadata"]["uid"], there["spec"]) == (before["metadata"]["uid"], before["spec"])


@pytest.mark.spec("KUEUE-161")
async def test_other_checks_come_first(fake_fleet: Fleet) -> None:
    """Given a second check that is pending, when a Job is queued, then nothing is sent to the
    worker until that check is ready.
    """
    client = fake_fleet[MANAGER].client
    await client.create(names.ADMISSION_CHECKS, {"metadata": {"name": "mine"}, "spec": {"controllerName": "example.com/mine"}})
    active = {"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    await client.patch(names.ADMISSION_CHECKS, "mine", "", {"status": {"conditions": [active]}}, subresource="status")
    await workers.set_up(fake_fleet, ("2",), ("mine",))
    await client.create(JOBS, workers.job())
    await fake_fleet.advance("10s")
    assert await workers.workloads(fake_fleet, "worker1") == []
    [local] = await workers.workloads(fake_fleet, MANAGER)
    checks = [each | ({"state": "Ready"} if each["name"] == "mine" else {}) for each in local["status"]["admissionChecks"]]
    await client.patch(
        names.WORKLOADS, local["metadata"]["name"], NS, {"status": {"admissionChecks": checks}}, subresource="status")
    await fake_fleet.run_until(lambda: admitted(fake_fleet), within="1m")


@pytest.mark.spec("KUEUE-163", "KUEUE-164")
async def test_an_elastic_job_changes_its_size_on_its_worker(fake_fleet: Fleet) -> None:
    """Given an elastic Job on a worker, when it grows, then the new slice goes to that worker
    alone, and the Job there grows once it is admitted; when it shrinks, there is no new slice.
    """
    await workers.set_up(fake_fleet, ("3", "3"))
    client = fake_fleet[MANAGER].client
    await client.create(JOBS, workers.job(
        cpu="1", parallelism=1, completions=9, annotations={names.ELASTIC_JOB_ANNOTATION: "true"}))
    await fake_fleet.run_until(lambda: admitted(fake_fleet))
    await fake_fleet.advance("5s")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    first = local["status"]["clusterName"]
    [other] = [name for name in workers.WORKERS if name != first]
    await client.patch(JOBS, "j", NS, {"spec": {"parallelism": 2}})
    await fake_fleet.advance("20s")
    assert (await workers.jobs(fake_fleet, first))[0]["spec"]["parallelism"] == 2
    assert await workers.workloads(fake_fleet, other) == await workers.jobs(fake_fleet, other) == []
    local_slices = await workers.workloads(fake_fleet, MANAGER)
    unfinished = [each for each in local_slices if condition(each, "Finished")[0] != "True"]
    replaced = [each for each in local_slices if condition(each, "Finished")[0] == "True"]
    assert [condition(each, "Finished")[1] for each in replaced] == ["WorkloadSliceReplaced"]
    assert [each["spec"]["podSets"][0]["count"] for each in unfinished] == [2]
    await client.patch(JOBS, "j", NS, {"spec": {"parallelism": 1}})
    await fake_fleet.advance("20s")
    assert (await workers.jobs(fake_fleet, first))[0]["spec"]["parallelism"] == 1
    assert len(await workers.workloads(fake_fleet, MANAGER)) == len(local_slices)


@pytest.mark.spec("KUEUE-160")
async def test_pods_of_a_group_run_on_a_worker(fake_fleet: Fleet) -> None:
    """Given a group of two pods, when it is queued, then both run on a worker, and the local ones
    stay gated and show how those fare.
    """
    from fakekube.client.resources import PODS

    await workers.set_up(fake_fleet, ("4",))
    client = fake_fleet[MANAGER].client
    for name in ("a", "b"):
        pod = workers.job()["spec"]["template"]
        metadata = {
            **pod["metadata"], "name": name, "namespace": NS, "labels": {
                names.QUEUE_LABEL: "q", names.POD_GROUP_NAME_LABEL: "g"}}
        metadata["annotations"] = {**metadata["annotations"], names.POD_GROUP_TOTAL_COUNT_ANNOTATION: "2"}
        await client.create(PODS, {"metadata": metadata, "spec": pod["spec"]})
    await fake_fleet.advance("20s")
    assert [pod["status"]["phase"] for pod in await workers.pods(fake_fleet, "worker1")] == ["Running", "Running"]
    here = await workers.pods(fake_fleet, MANAGER)
    assert [pod["status"]["phase"] for pod in here] == ["Running", "Running"]
    assert all(pod["spec"]["schedulingGates"] for pod in here)
    await fake_fleet.advance("15m")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert condition(local, "Finished")[:2] == ("True", "Succeeded")


@pytest.mark.spec("KUEUE-158")
async def test_a_copy_that_is_out_of_sync_is_to_be_sent_again(fake_fleet: Fleet) -> None:
    """Given a Job that runs on a worker, when its copy there is finished as out of sync, then the
    local one is not finished but evicted, as its check asks for another try.
    """
    await workers.set_up(fake_fleet, ("2",))
    await fake_fleet[MANAGER].client.create(JOBS, workers.job())
    await fake_fleet.run_until(lambda: admitted(fake_fleet))
    await fake_fleet.advance("5s")
    [copy] = await workers.workloads(fake_fleet, "worker1")
    finished = {
        "type": "Finished", "status": "True", "reason": "OutOfSync", "message": "out of sync",
        "lastTransitionTime": "2026-01-01T00:01:00Z"}
    changed = {**copy, "status": {**copy["status"], "conditions": [*copy["status"]["conditions"], finished]}}
    await fake_fleet["worker1"].client.update(names.WORKLOADS, changed, subresource="status")
    await fake_fleet.advance("2s")
    told = [
        event["message"] for event in (await fake_fleet[MANAGER].client.list(EVENTS, NS)).items
        if (event["reason"], event["type"]) == ("MultiKueue", "Warning")]
    text = 'Remote workload on worker cluster "worker1" is out of sync with its user job, resetting for re-dispatch'
    assert told == [f'{text}, Previously: "Ready"']
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert condition(local, "Finished") == ("", "", "")
    assert condition(local, "Evicted")[:2] == ("True", "AdmissionCheck")


async def nominated(fleet: Fleet) -> list[str]:
    """The workers that the local Workload may go to."""
    [local] = await workers.workloads(fleet, MANAGER)
    found: list[str] = local["status"].get("nominatedClusterNames", [])
    return found


@pytest.mark.spec("KUEUE-162")
@pytest.mark.fakekube(fleet="manager,a,b,c,d,e", nodes=0, kueue={
    "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
    "multiKueue": {"dispatcherName": "kueue.x-k8s.io/multikueue-dispatcher-incremental"},
    "integrations": {"frameworks": ["batch/job"]}})
async def test_workers_are_nominated_a_few_at_a_time(fake_fleet: Fleet) -> None:
    """Given four workers without room and a dispatcher that nominates a few, when a Job is queued,
    then three get a copy, and the fourth after five minutes; a fifth that is added to the
    configuration later is nominated after five more.
    """
    await workers.set_up(fake_fleet, ("0",) * 5, used=("a", "b", "c", "d", "e"), listed=4)
    await fake_fleet[MANAGER].client.create(JOBS, workers.job())
    await fake_fleet.advance("5s")
    assert await nominated(fake_fleet) == ["a", "b", "c"]
    assert [len(await workers.workloads(fake_fleet, name)) for name in "abcd"] == [1, 1, 1, 0]
    await fake_fleet.advance("4m")
    assert await nominated(fake_fleet) == ["a", "b", "c"]
    await fake_fleet.advance("2m")
    assert await nominated(fake_fleet) == ["a", "b", "c", "d"]
    clusters = {"spec": {"clusters": ["a", "b", "c", "d", "e"]}}
    await fake_fleet[MANAGER].client.patch(names.MULTIKUEUE_CONFIGS, "c", "", clusters)
    await fake_fleet.advance("6m")
    assert await nominated(fake_fleet) == ["a", "b", "c", "d", "e"]
    assert [len(await workers.workloads(fake_fleet, name)) for name in "de"] == [1, 1]


@pytest.mark.spec("KUEUE-162")
async def test_a_worker_that_is_added_gets_what_waits(fake_fleet: Fleet) -> None:
    """Given a Job that waits as its only worker has no room, when another worker is added to the
    configuration, then it goes there.
    """
    await workers.set_up(fake_fleet, ("0", "2"), listed=1)
    await fake_fleet[MANAGER].client.create(JOBS, workers.job())
    await fake_fleet.advance("10s")
    assert await nominated(fake_fleet) == ["worker1"]
    clusters = {"spec": {"clusters": ["worker1", "worker2"]}}
    await fake_fleet[MANAGER].client.patch(names.MULTIKUEUE_CONFIGS, "c", "", clusters)
    await fake_fleet.run_until(lambda: admitted(fake_fleet), within="1m")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    assert local["status"]["clusterName"] == "worker2"
