"""The Job controller may stop after any of its writes: whoever starts next finds all it needs in
the objects.
"""

import asyncio
import re

import pytest

from fakekube.apimachinery.causes import ACTING
from fakekube.client.resources import JOBS, PODS, Resource
from fakekube.composition.cluster import Cluster
from tests.controllers.world import INDEX, NAMESPACE, condition, is_tracked, job_manifest

CONTROLLERS = "job,kubelet,scheduler,serviceaccount,garbagecollector"
QUEUES = ("job", "job_orphan_pod")
MOST_CRASHES = 300  # so that a controller that gets nowhere fails instead of going on for ever
ENDLESS = {"run-duration": "forever", "ignore-sigterm": "true"}
IGNORED = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}
FATAL = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [5]}}
FAILS_INDEX = {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [7]}}
INDEXED = {"completionMode": "Indexed"}

# What runs: the Job, how its pods end (by index, "" for all of a plain Job: one exit code a pod;
# the last goes on; None runs for ever), and what is changed of its spec after how many seconds.
RUNS = {
    "plain": ({"parallelism": 2, "completions": 4}, {"": [0]}, []),
    "plain with failures": ({"parallelism": 1, "completions": 2}, {"": [1, 0, 1, 0]}, []),
    "work queue": ({"parallelism": 3}, {"": [0]}, []),
    "too many failures": ({"parallelism": 1, "completions": 3, "backoffLimit": 1}, {"": [0, 1]}, []),
    "indexed": (dict(INDEXED, parallelism=2, completions=4), {"": [0], "1": [1, 0]}, []),
    "per index": (
        dict(INDEXED, parallelism=3, completions=4, backoffLimitPerIndex=1), {"": [0], "0": [1, 0], "2": [1]}, []),
    "too many indexes": (
        dict(INDEXED, parallelism=1, completions=5, backoffLimitPerIndex=0, maxFailedIndexes=1), {"": [1], "1": [0]}, []),
    "ignored": (
        dict(INDEXED, parallelism=2, completions=2, backoffLimitPerIndex=1, podFailurePolicy={"rules": [IGNORED, FAILS_INDEX]}),
        {"0": [42, 42, 1, 0], "1": [7]}, []),
    "failed by a rule": (
        {"parallelism": 2, "completions": 2, "podFailurePolicy": {"rules": [IGNORED, FATAL]}}, {"": [42, 0, 5]}, []),
    # Under the other replacement policy, or if they ended at once, pods that are deleted after
    # success count as failed when the controller dies before it lets them go: upstream's as well.
    "success policy": (
        dict(INDEXED, parallelism=3, completions=3, podReplacementPolicy="Failed",
             successPolicy={"rules": [{"succeededIndexes": "0,1", "succeededCount": 1}]}),
        {"0": [1, 0], "": [None]}, []),
    "deadline": ({"parallelism": 2, "completions": 2, "activeDeadlineSeconds": 6}, {"": [None]}, []),
    "suspended and resumed": (
        dict(INDEXED, parallelism=2, completions=3), {"0": [0], "": [None, 0]},
        [(10, {"suspend": True}), (50, {"suspend": False})]),
    "made suspended": ({"parallelism": 2, "completions": 2, "suspend": True}, {"": [0]}, [(3, {"suspend": False})]),
    "grown": (
        dict(INDEXED, parallelism=2, completions=2), {"": [0], "1": [1, 0]}, [(2, {"parallelism": 4, "completions": 4})]),
    "shrunk": (
        dict(INDEXED, parallelism=4, completions=4), {"": [0], "2": [None], "3": [0]},
        [(6, {"parallelism": 2, "completions": 2})]),
    "replaced when failed": (
        {"parallelism": 2, "completions": 3, "podReplacementPolicy": "Failed"}, {"": [0, 1, 0]}, []),
    # no index fails: finished pods do not count for a gang, and too few would wait
    "group that grows": (
        dict(INDEXED, parallelism=2, completions=2, scheduling={"schedulingPolicy": {"gang": {}}}), {"": [0]},
        [(2, {"parallelism": 4, "completions": 4})]),
}
WORKLOADS = Resource("scheduling.k8s.io", "v1beta1", "workloads", "Workload")
POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")


class Outcomes:
    """Each pod of an index ends as the next in its list, however many pods of other indexes there
    were.
    """

    def __init__(self, codes):
        self.codes, self.made = codes, {}

    def __call__(self, pod, attempt, container):
        index = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
        codes = self.codes.get(index) or self.codes[""]
        pods = self.made.setdefault(index, {})
        number = pods.setdefault(pod["metadata"]["uid"], len(pods))
        code = codes[min(number, len(codes) - 1)]
        return ENDLESS if code is None else {"exit-code": str(code), "run-duration": "2s"}


class Crashes:
    """Counts the Job controller's writes.

    After those that ``when`` says, the controller does not live to see the answer.
    """

    def __init__(self, cluster, when):
        self.cluster, self.when, self.writes, self.crashes = cluster, when, 0, 0
        self._handle, cluster.apiserver.handle = cluster.apiserver.handle, self.handle

    async def handle(self, request):
        response = await self._handle(request)
        acting = ACTING.get()
        if request.method == "GET" or acting is None or acting.component not in QUEUES or "/events" in request.path:
            return response
        self.writes += 1
        if self.when(self.writes) and self.crashes < MOST_CRASHES:
            self.crashes += 1
            self.cluster.tasks.spawn(self._restart(), "restart of the Job controller")
            await asyncio.Event().wait()
        return response

    async def _restart(self):
        with self.cluster.activity.busy():
            await self.cluster.manager.stop_component("job")
            await self.cluster.manager.start_component("job")


async def play(name, when=lambda _: False):
    """Run one of RUNS to its end; how it ended, and the crashes."""
    spec, codes, changes = RUNS[name]
    grouped = "scheduling" in spec
    gates = "workload-aware" if grouped else ""
    async with Cluster(
        nodes=1, clock="manual", controllers=CONTROLLERS, outcome=Outcomes(codes), feature_gates=gates,
    ) as cluster:
        crashes = Crashes(cluster, when)
        await cluster.client.create(JOBS, job_manifest(**spec))
        now = 0
        for seconds, change in changes:
            await cluster.advance(seconds - now)
            await cluster.client.patch(JOBS, "j", NAMESPACE, {"spec": change})
            now = seconds

        async def finished():
            job = await cluster.client.get(JOBS, "j", NAMESPACE)
            return condition(job, "Complete") or condition(job, "Failed")

        await cluster.run_until(finished)
        await cluster.advance(60)
        job = await cluster.client.get(JOBS, "j", NAMESPACE)
        pods = (await cluster.client.list(PODS, NAMESPACE)).items
        found = ended(job, pods)
        if grouped:
            [workload] = (await cluster.client.list(WORKLOADS, NAMESPACE)).items
            [group] = (await cluster.client.list(POD_GROUPS, NAMESPACE)).items
            found["sizes"] = workload["spec"]["podGroupTemplates"][0]["schedulingPolicy"], group["spec"]["schedulingPolicy"]
            assert {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in pods} == {group["metadata"]["name"]}
        return found, crashes


def ended(job, pods):
    """What has to be the same however often the controller stopped: all but times and names made
    up.
    """
    status = {key: value for key, value in job["status"].items() if key not in ("startTime", "completionTime", "conditions")}
    status["conditions"] = [
        (c["type"], c["status"], c["reason"], re.sub(r"default/j-\w+", "default/j-?", c["message"]))
        for c in job["status"]["conditions"]]
    kept = sorted((pod["metadata"].get("annotations", {}).get(INDEX, ""), pod["status"]["phase"]) for pod in pods)
    return {"status": status, "pods": kept, "tracked": [pod["metadata"]["name"] for pod in pods if is_tracked(pod)]}


@pytest.mark.spec("JOB-001", "JOB-003", "JOB-014", "JOB-053", "JOB-120")
@pytest.mark.parametrize("name", RUNS)
async def test_a_controller_that_dies_after_every_write_gets_there(name):
    """Given any kind of Job / when the controller stops after each of its writes, unaware that it
    was done, and starts again / then the Job ends as it does without.
    """
    expected, _ = await play(name)
    assert expected["tracked"] == []
    assert expected["status"]["uncountedTerminatedPods"] == {}
    found, crashes = await play(name, lambda _: True)
    assert found == expected
    assert crashes.crashes == crashes.writes > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
async def test_a_controller_that_dies_once_anywhere_gets_there(name):
    """Given any kind of Job / when the controller stops once, after its first write, or its second,
    and so on, or after every second or third / then the Job ends as it does without.
    """
    expected, undisturbed = await play(name)
    for number in range(1, undisturbed.writes + 1):
        found, _ = await play(name, lambda write, number=number: write == number)
        assert found == expected, f"after write {number}"
    for step in (2, 3):
        found, _ = await play(name, lambda write, step=step: write % step == 0)
        assert found == expected, f"after every write {step}"
