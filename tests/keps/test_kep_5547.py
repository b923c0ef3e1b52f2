"""The examples of KEP-5547, Jobs with Workloads, in the form of 1.37 and of 1.36."""

from typing import Any

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS
from tests.keps.examples import GPU, ZONE, Examples, cluster_with, example, kinds


def specs(objects: list[Tree]) -> list[Any]:
    """The specs of Workloads and PodGroups without what the server and hashes of names add."""
    found = []
    for entry in objects:
        spec = {key: value for key, value in entry["spec"].items() if key not in ("preemptionPolicy", "priority", "workloadRef")}
        if entry["kind"] == "PodGroup":
            spec.setdefault("disruptionMode", {"single": {}})
        else:
            spec["podGroupTemplates"] = [
                {"schedulingConstraints": None, **template} for template in spec["podGroupTemplates"]]
        found.append(spec)
    return found


async def test_a_training_job_starts_whole_in_one_zone() -> None:
    """Given a Job of four GPUs as a gang in one zone, when a zone has three, then no pod starts and
    no GPU is wasted; when another has room, then all run there, and can only be disrupted together.
    """
    async with cluster_with("5547-1.37-gang") as cluster:
        found = Examples(cluster)
        await found.node(labels={ZONE: "zone-a"}, **{GPU: 3})
        assert await found.places() == {"": 4}
        [(name, told)] = (await found.told()).items()
        assert told == ("False", "Unschedulable")
        await found.nodes("rack-b1", "rack-b2")
        assert (await found.zones(), (await found.places())[""]) == ({"zone-b"}, 0)
        assert await found.told() == {name: ("True", "Scheduled")}
        [group] = await found.all_groups()
        assert group["spec"]["disruptionMode"] == {"all": {}}


@pytest.mark.parametrize("name", ["gang", "basic"])
async def test_the_controller_makes_what_the_kep_shows(name: str) -> None:
    """Given a Job, when its Workload and PodGroup are compared with those made by hand, then they
    say the same of the same names, and each is owned as the KEP says.
    """
    by_hand = example(f"5547-1.37-{name}-objects")
    async with cluster_with(f"5547-1.37-{name}") as cluster:
        found = Examples(cluster)
        await cluster.advance(1)
        [workload], [group] = (await found.client.list(found.workloads)).items, await found.all_groups()
        assert specs([workload, group]) == specs(kinds(by_hand, "Workload") + kinds(by_hand, "PodGroup"))
        [job] = (await found.client.list(JOBS)).items
        assert [(owner["kind"], owner["name"], owner.get("controller")) for owner in meta.owners_of(workload)] == [
            ("Job", meta.name_of(job), True)]
        assert [(owner["kind"], owner["name"], owner.get("controller")) for owner in meta.owners_of(group)] == [
            ("Job", meta.name_of(job), True), ("Workload", meta.name_of(workload), None)]
        reference = {"podGroupName": meta.name_of(group)}
        assert all(pod["spec"]["schedulingGroup"] == reference for pod in await found.pods())


@pytest.mark.parametrize(("name", "missing"), [("gang", 3), ("basic", 0)])
async def test_objects_made_by_hand_do_the_same(name: str, missing: int) -> None:
    """Given the objects by hand with one pod, when there is room, then the pod of the gang waits
    for the three others, and the other one runs.
    """
    objects = f"5547-1.37-{name}-objects"
    async with cluster_with(objects) as cluster:
        found = Examples(cluster)
        await found.nodes()
        assert (await found.places())[""] == bool(missing)
        [pod] = kinds(example(objects), "Pod")
        await found.more(pod, missing, pod["metadata"]["namespace"])
        assert (await found.places())[""] == 0


async def test_a_job_that_says_nothing_is_scheduled_pod_by_pod() -> None:
    """Given a Job of ten pods without a block, when there is room for some of them, then these run,
    and the others when there is more.
    """
    async with cluster_with("5547-1.37-basic") as cluster:
        found = Examples(cluster)
        await found.node(pods=6)
        assert await found.places() == {"small": 6, "": 4}
        [told] = (await found.told()).values()
        assert told == ("True", "Scheduled")
        await found.nodes()
        assert (await found.places())[""] == 0


@pytest.mark.spec("WAS-120")
@pytest.mark.parametrize("kep", [False, True])
async def test_the_jobs_of_a_cron_job(kep: bool) -> None:
    """Given a CronJob whose Jobs are gangs, when its hour comes and there are three GPUs, then in
    1.37 three pods run, since such Jobs have no group; with the gate for what the KEP says, none.
    """
    gates = f"workload-aware,CronJobWorkloads={str(kep).lower()}"
    async with cluster_with("5547-1.37-cronjob", gates=gates) as cluster:
        found = Examples(cluster)
        await found.node(labels={ZONE: "zone-a"}, **{GPU: 3})
        assert await found.pods() == []
        await cluster.advance("6h")
        assert await found.places() == ({"": 4} if kep else {"small": 3, "": 1})
        assert len(await found.all_groups()) == kep
        [job] = (await found.client.list(JOBS)).items
        assert job["spec"]["scheduling"] == {"schedulingPolicy": {"gang": {}}}
        await found.nodes()
        assert (await found.places())[""] == 0


@pytest.mark.spec("WAS-113")
async def test_a_job_grows_and_its_gang_with_it() -> None:
    """Given the gang of the KEP with its size left out, when the Job grows, then Workload and
    PodGroup follow; its other fields of scheduling cannot change.
    """
    async with cluster_with("5547-1.37-gang") as cluster:
        found = Examples(cluster)
        await found.nodes()
        grown = {"spec": {"parallelism": 6, "completions": 6}}
        await found.client.patch(JOBS, "distributed-training", "training", body=grown)
        await cluster.advance(5)
        [workload], [group] = (await found.client.list(found.workloads)).items, await found.all_groups()
        policy = {"gang": {"minCount": 6}}
        assert (workload["spec"]["podGroupTemplates"][0]["schedulingPolicy"], group["spec"]["schedulingPolicy"]) == (
            policy, policy)
        assert ((await found.places())[""], sum((await found.places()).values())) == (0, 6)
        assert await found.zones() in ({"zone-a"}, {"zone-b"})
        changed = {"spec": {"scheduling": {"disruptionMode": {"all": None, "single": {}}}}}
        with pytest.raises(APIError, match=r"spec\.scheduling\.disruptionMode"):
            await found.client.patch(JOBS, "distributed-training", "training", body=changed)


@pytest.mark.spec("WAS-100", "WAS-103")
async def test_in_1_36_an_indexed_job_is_a_gang_by_its_shape() -> None:
    """Given an Indexed Job of eight pods at once, when there are seven GPUs, then none of them
    starts, and it cannot be made smaller; with one more, all do. What is made the KEP shows.
    """
    async with cluster_with("5547-1.36-gang", release="1.36") as cluster:
        found = Examples(cluster)
        await found.node(**{GPU: 7})
        assert await found.places() == {"": 8}
        [told] = (await found.told()).values()
        assert told == ("False", "Unschedulable")
        with pytest.raises(APIError, match="cannot change parallelism for a Job referencing gang-scheduled PodGroup"):
            await found.client.patch(JOBS, "distributed-training", "training", body={"spec": {"parallelism": 7}})
        by_hand = example("5547-1.36-gang-objects")
        [template] = kinds(by_hand, "Workload")[0]["spec"]["podGroupTemplates"]
        [workload], [group] = (await found.client.list(found.workloads)).items, await found.all_groups()
        assert workload["spec"]["controllerRef"] == kinds(by_hand, "Workload")[0]["spec"]["controllerRef"]
        assert [{key: made[key] for key in template} for made in workload["spec"]["podGroupTemplates"]] == [template]
        assert group["spec"]["schedulingPolicy"] == kinds(by_hand, "PodGroup")[0]["spec"]["schedulingPolicy"]
        assert group["spec"]["podGroupTemplateRef"] == {"workload": {
            "workloadName": meta.name_of(workload), "podGroupTemplateName": template["name"]}}
        await found.nodes("rack-a1")
        assert ((await found.places())[""], await found.told()) == (0, {meta.name_of(group): ("True", "Scheduled")})


async def test_objects_of_1_36_made_by_hand_do_the_same() -> None:
    """Given the objects by hand with one pod, when there is room, then it waits for seven more."""
    async with cluster_with("5547-1.36-gang-objects", release="1.36") as cluster:
        found = Examples(cluster)
        await found.nodes()
        assert await found.places() == {"": 1}
        [pod] = kinds(example("5547-1.36-gang-objects"), "Pod")
        await found.more(pod, 7, "training")
        assert (await found.places())[""] == 0
