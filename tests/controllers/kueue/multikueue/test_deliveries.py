"""What is heard late, or again, changes nothing in where a Job runs and how it ends.

Each is a story of the plays of MultiKueue with the faults under which it once ended otherwise.
"""

import pytest

from tests.exploration.plays.multikueue import PLAYS
from tests.exploration.plays.play import CALM, stage_of

DISPATCHED, _, REPLACED, *_ = PLAYS
MANAGER = {"clusters": "manager", "users": "system:kube-controller-manager", "user_agents": "kueue"}
BY_MANAGER = {"users": "kubernetes-admin", "user_agents": "kueue"}
WORKLOADS, JOBS = "workloads.kueue.x-k8s.io", "jobs.batch"


async def end_of(play, *rules):
    """How a story ends with faults."""
    async with stage_of(play._replace(options={**play.options, "faults": rules}), CALM) as fleet:
        return await play.story(fleet)


@pytest.mark.spec("KUEUE-155")
async def test_a_watch_may_end_while_the_next_is_opened():
    """Given a manager whose watches of a worker end one after the other, one of them before all are
    open again, when the Job ends there, then the manager connects once more, hears of it, and
    nothing is left.
    """
    again = {**BY_MANAGER, "clusters": "worker1", "watch": "expire"}
    rules = {**again, "resources": WORKLOADS, "events": 1, "times": 3}, {**again, "resources": JOBS, "events": 2, "times": 2}
    assert await end_of(DISPATCHED, *rules) == await end_of(DISPATCHED)


@pytest.mark.spec("KUEUE-155")
async def test_a_worker_that_hears_late_evicts_a_copy():
    """Given a Job that was evicted because its worker is lost, and another worker that hears of
    Workloads 5 s late, when its copy there is inactive and not yet evicted, then the manager waits
    for it rather than make it anew, and the Job runs there.
    """
    late = {**MANAGER, "clusters": "worker1", "resources": WORKLOADS, "watch": "late", "lasting": "5s"}
    *_, pods = await end_of(REPLACED, late)
    assert pods == [0, 1, 1]


@pytest.mark.spec("KUEUE-155")
async def test_no_copy_is_made_of_a_job_that_is_being_stopped():
    """Given a manager that hears of nothing for 20 s from the moment at which it begins to stop a
    Job whose worker is lost, when another worker admits the Workload, then the copy there is of the
    Job as it is after that, and runs.
    """
    still = {**MANAGER, "resources": JOBS, "watch": "stall", "events": 8, "lasting": "20s", "times": 1}
    assert await end_of(REPLACED, still) == await end_of(REPLACED)


@pytest.mark.timeout(60)
async def test_what_is_left_of_a_wait_may_be_less_than_a_microsecond():
    """Given a manager that hears of Workloads 20 ms late, so that it looks at one less than half a
    microsecond before its time is over, when it waits for what is left, then time passes, and the
    Job ends.
    """
    late = {**MANAGER, "resources": WORKLOADS, "watch": "late", "lasting": "20ms"}
    assert await end_of(REPLACED, late) == await end_of(REPLACED)
