"""Whatever a Job's pods do: each is accounted for once, none is held in the end, and the Job ends in one way only."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakekube.client.resources import JOBS, PODS
from fakekube.cluster import Cluster
from fakekube_controllers.job import indexes
from tests.controllers.world import NAMESPACE, condition, is_tracked, job_manifest

pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")

specs = st.fixed_dictionaries({
    "completionMode": st.sampled_from(["NonIndexed", "Indexed"]), "parallelism": st.integers(1, 4),
    "completions": st.integers(1, 5), "backoffLimit": st.integers(0, 4),
}, optional={
    "backoffLimitPerIndex": st.integers(0, 2), "podReplacementPolicy": st.sampled_from(["Failed", "TerminatingOrFailed"]),
})
CONTROLLERS = "job,kubelet,scheduler,serviceaccount"

codes = st.lists(st.sampled_from([0, 0, 0, 1]), min_size=1, max_size=12)
durations = st.lists(st.integers(1, 9), min_size=1, max_size=5)


class Story:
    """Watches pods come and go: what a Job ought to have counted."""

    def __init__(self):
        self.ended = {}  # by uid: the phase, and the index
        self.seen = {}

    def hear(self, event_type, pod):
        uid, phase = pod["metadata"]["uid"], pod["status"].get("phase")
        self.seen[uid] = None
        if phase in ("Succeeded", "Failed"):
            self.ended[uid] = (phase, indexes.index_of(pod))

    def count(self, phase):
        return sum(ended[0] == phase for ended in self.ended.values())


async def play(spec, codes, durations):
    """Run a Job to its end; the Job, its pods, and their story."""
    made = []

    def outcome(pod, attempt, container):
        number = len(made)
        made.append(pod["metadata"]["uid"])
        return {"exit-code": str(codes[number % len(codes)]), "run-duration": f"{durations[number % len(durations)]}s"}

    async with Cluster(nodes=1, clock="manual", controllers=CONTROLLERS, outcome=outcome) as cluster:
        watch = await cluster.client.watch(PODS, NAMESPACE)
        await cluster.client.create(JOBS, job_manifest(**spec))

        async def finished():
            job = await cluster.client.get(JOBS, "j", NAMESPACE)
            return condition(job, "Complete") or condition(job, "Failed")

        await cluster.run_until(finished)
        await cluster.advance(30)
        job = await cluster.client.get(JOBS, "j", NAMESPACE)
        pods = (await cluster.client.list(PODS, NAMESPACE)).items
        story = Story()
        watch.stop()
        async with watch:
            async for event in watch:
                story.hear(event.type, event.object)
        return job, pods, story


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spec=specs, codes=codes, durations=durations)
@pytest.mark.spec("JOB-033", "JOB-037", "JOB-053", "JOB-097")
async def test_every_pod_is_accounted_for(spec, codes, durations):
    """Given any small Job and any fate of its pods / when it has ended
    / then each pod was counted once or let go, none is tracked, nothing is uncounted, and it ended well or badly, not both.
    """
    if spec["completionMode"] == "NonIndexed":
        spec.pop("backoffLimitPerIndex", None)
    job, pods, story = await play(spec, codes, durations)
    status = job["status"]
    assert not any(is_tracked(pod) for pod in pods)
    assert status["uncountedTerminatedPods"] == {}
    assert (status.get("active", 0), status["terminating"], status["ready"]) == (0, 0, 0)
    assert sorted(story.ended) == sorted(story.seen)
    complete, failed = condition(job, "Complete"), condition(job, "Failed")
    assert bool(complete) != bool(failed)
    assert bool(condition(job, "SuccessCriteriaMet")) == bool(complete)
    assert bool(condition(job, "FailureTarget")) == bool(failed)
    assert ("completionTime" in status) == bool(complete)
    succeeded, failures = status.get("succeeded", 0), status.get("failed", 0)
    assert failures == story.count("Failed")
    if spec["completionMode"] == "Indexed":
        done = sorted({index for phase, index in story.ended.values() if phase == "Succeeded"})
        assert status.get("completedIndexes", "") == indexes.text_of(done)
        assert succeeded == len(done)
    else:
        assert succeeded == story.count("Succeeded")
    if complete:
        assert succeeded >= spec["completions"]
    elif "backoffLimitPerIndex" not in spec:
        assert failures > spec["backoffLimit"]
