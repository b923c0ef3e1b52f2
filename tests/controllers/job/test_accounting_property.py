"""Whatever a Job's pods do, and whoever interferes: each is accounted for once, none is held in the
end, and the Job ends in one way only.

What became of a pod is read from its own history: how it was when it lost its tracking finalizer.
One that had ended by then was counted, unless a rule ignores its failure; one that was on its way
out was counted as failed or let go, by how the Job fared; one that ran on was let go.
"""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.job import indexes, policies
from tests.controllers.world import NAMESPACE, condition, is_active, is_tracked, job_manifest, phase

pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")

CONTROLLERS = "job,kubelet,scheduler,serviceaccount,podgc"
TERMINAL, INTERIM = ("Complete", "Failed"), ("SuccessCriteriaMet", "FailureTarget")
GROWING = ("succeeded", "failed")


def rules(actions):
    """Rules of a podFailurePolicy for the codes 1, 2 and 3 in turn."""
    return {"rules": [
        {"action": action, "onExitCodes": {"operator": "In", "values": [code]}} for code, action in enumerate(actions, 1)]}


plain = st.fixed_dictionaries({"parallelism": st.integers(1, 4), "backoffLimit": st.integers(0, 5)}, optional={
    "completions": st.integers(1, 6), "activeDeadlineSeconds": st.integers(5, 60),
    "podReplacementPolicy": st.sampled_from(["Failed", "TerminatingOrFailed"]), "suspend": st.just(True),
})
of_failures = st.lists(st.sampled_from(["Ignore", "Count", "FailJob"]), max_size=3).map(rules)
of_indexes = st.lists(st.sampled_from(["Ignore", "Count", "FailJob", "FailIndex"]), max_size=3).map(rules)
numbers = st.integers(0, 2)


@st.composite
def specs(draw):
    """The spec of a small Job of any kind."""
    spec = draw(plain)
    per_index = False
    if draw(st.booleans()):
        size = spec["completions"] = spec.get("completions", 3)
        spec["completionMode"] = "Indexed"
        if per_index := draw(st.booleans()):
            spec["backoffLimitPerIndex"] = draw(numbers)
            spec["backoffLimit"] = draw(st.sampled_from([spec["backoffLimit"], 100]))
            if draw(st.booleans()):
                spec["maxFailedIndexes"] = draw(st.integers(0, size))
        if draw(st.booleans()):
            all_of_them = f"0-{size - 1}" if size > 1 else "0"
            rule = draw(st.sampled_from([
                {"succeededCount": 1}, {"succeededIndexes": "0"}, {"succeededIndexes": all_of_them, "succeededCount": 1}]))
            spec["successPolicy"] = {"rules": [rule]}
    if draw(st.booleans()):
        spec["podFailurePolicy"] = draw(of_indexes if per_index else of_failures)
        spec.pop("podReplacementPolicy", None)
    return spec


codes = st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 3]), max_size=10).map(lambda found: [*found, 0])
durations = st.lists(st.integers(1, 9), min_size=1, max_size=5)
events = st.lists(st.tuples(st.integers(0, 12), st.one_of(
    st.sampled_from([("suspend", True), ("suspend", False), ("restart", 0)]),
    st.tuples(st.just("delete"), st.integers(0, 3)), st.tuples(st.just("parallelism"), st.integers(1, 5)))), max_size=6)


class Fates:
    """What became of each pod, as its own history tells it: a set of uids for each fate."""

    def __init__(self, job, story):
        self.held, self.indexes, self.fates = {}, {}, {}
        for event_type, pod in story:
            uid = pod["metadata"]["uid"]
            self.indexes[uid] = indexes.index_of(pod)
            if event_type == "DELETED" or not is_tracked(pod):
                self.fates.setdefault(uid, self._fate(job, pod))
            else:
                self.held[uid] = None

    def _fate(self, job, pod):
        if phase(pod) == "Failed" and not policies.match_failure_policy(job["spec"].get("podFailurePolicy"), pod).counts:
            return "ignored"
        if phase(pod) in ("Succeeded", "Failed"):
            return phase(pod)
        return "terminating" if "deletionTimestamp" in pod["metadata"] else "let go"

    def count(self, fate):
        return sum(found == fate for found in self.fates.values())

    def of_indexes(self, fate):
        return sorted({self.indexes[uid] for uid, found in self.fates.items() if found == fate})


async def interfere(cluster, what, value):
    """Do one thing to the Job, or to the pod of that number of those that run."""
    if what == "restart":
        await cluster.manager.stop_component("job")
        await cluster.manager.start_component("job")
    elif what == "delete":
        pods = [pod for pod in (await cluster.client.list(PODS, NAMESPACE)).items if is_active(pod)]
        if value < len(pods):
            await cluster.client.delete(PODS, pods[value]["metadata"]["name"], NAMESPACE)
    else:
        await cluster.client.patch(JOBS, "j", NAMESPACE, {"spec": {what: value}})


async def heard(watch):
    watch.stop()
    async with watch:
        return [(event.type, event.object) async for event in watch]


async def play(spec, codes, durations, events):
    """Run a Job to its end; the Job, its pods, and the histories of both."""
    made = {}

    def outcome(pod, attempt, container):
        number = made.setdefault(pod["metadata"]["uid"], len(made))
        return {"exit-code": str(codes[number % len(codes)]), "run-duration": f"{durations[number % len(durations)]}s"}

    async with Cluster(nodes=1, clock="manual", controllers=CONTROLLERS, outcome=outcome) as cluster:
        watches = [await cluster.client.watch(resource, NAMESPACE) for resource in (PODS, JOBS)]
        await cluster.client.create(JOBS, job_manifest(**spec))
        for seconds, (what, value) in events:
            await cluster.advance(seconds)
            await interfere(cluster, what, value)
        await interfere(cluster, "suspend", False)

        async def finished():
            job = await cluster.client.get(JOBS, "j", NAMESPACE)
            return any(condition(job, kind) for kind in TERMINAL)

        await cluster.run_until(finished)
        await cluster.advance(60)
        job = await cluster.client.get(JOBS, "j", NAMESPACE)
        pods = (await cluster.client.list(PODS, NAMESPACE)).items
        return job, pods, *[await heard(watch) for watch in watches]


def check_end(job, pods):
    """Nothing is left to do, and the conditions agree."""
    status = job["status"]
    assert not any(is_tracked(pod) for pod in pods)
    assert status["uncountedTerminatedPods"] == {}
    assert (status.get("active", 0), status["terminating"], status["ready"]) == (0, 0, 0)
    complete, failed = (condition(job, kind) for kind in TERMINAL)
    assert bool(complete) != bool(failed)
    assert [bool(condition(job, kind)) for kind in INTERIM] == [bool(complete), bool(failed)]
    assert ("completionTime" in status) == bool(complete)


def check_counts(job, fates):
    """Every pod that there ever was is in one of the numbers, or was let go."""
    status, spec = job["status"], job["spec"]
    assert sorted(fates.fates) == sorted(fates.held)
    done = fates.of_indexes("Succeeded")
    if spec.get("completionMode") == "Indexed":
        assert status.get("completedIndexes", "") == indexes.Indexes.of(done).text()
        assert status.get("succeeded", 0) == len(done)
    else:
        assert status.get("succeeded", 0) == fates.count("Succeeded")
    sure, possible = fates.count("Failed"), fates.count("terminating")
    assert sure <= status.get("failed", 0) <= sure + possible
    assert sum(map(fates.count, ("Succeeded", "Failed", "ignored", "terminating", "let go"))) == len(fates.held)
    if "backoffLimitPerIndex" in spec:
        lost = indexes.parse(status["failedIndexes"])
        assert not lost.common(indexes.Indexes.of(done))
        assert lost.common(indexes.Indexes.of(fates.of_indexes("Failed") + fates.of_indexes("terminating"))) == len(lost)
    else:
        assert "failedIndexes" not in status


def check_reason(job):
    """The reason that is given holds."""
    status, spec = job["status"], job["spec"]
    reason = next(c["reason"] for c in status["conditions"] if c["type"] in TERMINAL)
    if reason == "CompletionsReached":
        assert status.get("succeeded", 0) >= spec.get("completions", 1)
    elif reason == "BackoffLimitExceeded":
        assert status["failed"] > spec["backoffLimit"]
    elif reason == "MaxFailedIndexesExceeded":
        assert len(indexes.parse(status["failedIndexes"])) > spec["maxFailedIndexes"]
    elif reason == "FailedIndexes":
        assert status["failedIndexes"]
    else:
        assert reason in ("SuccessPolicy", "PodFailurePolicy", "DeadlineExceeded")


def check_history(story):
    """Numbers only grow, what ended stays so, and no state contradicts itself."""
    before = {}
    for _, job in story:
        status = job.get("status", {})
        for name in GROWING:
            assert status.get(name, 0) >= before.get(name, 0), name
        assert status.get("ready", 0) <= status.get("active", 0)
        kinds = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"} - {"Suspended"}
        assert kinds >= {c["type"] for c in before.get("conditions") or () if c["status"] == "True"} - {"Suspended"}
        assert len(kinds & set(TERMINAL)) <= 1
        assert len(kinds & set(INTERIM)) <= 1
        before = status


async def check(spec, codes, durations, events):
    job, pods, pod_story, job_story = await play(spec, codes, durations, events)
    fates = Fates(job, pod_story)
    check_end(job, pods)
    check_counts(job, fates)
    check_reason(job)
    check_history(job_story)
    if not events and condition(job, "Failed"):
        assert job["status"].get("failed", 0) == fates.count("Failed") + fates.count("terminating")


EVERY_RULE = {"parallelism": 2, "completions": 2, "backoffLimit": 5, "podFailurePolicy": rules(["Ignore", "Count", "FailJob"])}
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]


@settings(max_examples=30, deadline=None, suppress_health_check=QUIET)
@given(spec=specs(), codes=codes, durations=durations, events=st.one_of(st.just([]), events))
@example(spec=EVERY_RULE, codes=[1, 2, 0], durations=[2], events=[])
@example(spec=EVERY_RULE, codes=[1, 2, 2, 0], durations=[3], events=[(1, ("delete", 0)), (1, ("restart", 0))])
@pytest.mark.spec("JOB-033", "JOB-037", "JOB-053", "JOB-097")
async def test_every_pod_is_accounted_for(spec, codes, durations, events):
    """Given any small Job, any fate of its pods, and anybody who suspends, resizes, deletes or
    restarts / when it has ended / then each pod was counted once or let go, none is tracked,
    nothing is uncounted, and it ended well or badly, not both.
    """
    await check(spec, codes, durations, events)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(max_examples=400, deadline=None, suppress_health_check=QUIET)
@given(spec=specs(), codes=codes, durations=durations, events=events)
async def test_every_pod_is_accounted_for_at_length(spec, codes, durations, events):
    """The same for many more."""
    await check(spec, codes, durations, events)
