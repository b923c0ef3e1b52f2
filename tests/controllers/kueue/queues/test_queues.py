"""Who is next in a queue, what becomes of those that were tried in vain, and when they come back.
"""

import copy

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.queues.requeue_reason import RequeueReason
from tests.controllers.kueue.queues.world import World, cluster_queue, key, workload


def world(strategy: str = "BestEffortFIFO", **features: bool) -> World:
    made = World(Features(**features))
    made.cluster_queue(strategy=strategy)
    made.local_queue()
    return made


def requeue(of: World, reason: RequeueReason) -> list[str]:
    """Take the heads and put all of them back for one reason; who they were."""
    heads = of.queues.heads()
    for info in heads:
        of.queues.requeue_workload(info, reason)
    return [info.key.name for info in heads]


def counts(of: World, name: str = "cq") -> tuple[int, int]:
    found = of.queues.cluster_queue(name)
    assert found is not None
    return found.pending_active, found.pending_inadmissible


def test_the_order_is_priority_then_age_then_uid() -> None:
    """Given four Workloads, when heads are taken, then by priority, then age, then uid."""
    made = world()
    for name, priority, created in (("d", 0, 5), ("a", 0, 5), ("old", 0, 1), ("high", 9, 9)):
        made.submit(name, priority=priority, created=created)
    assert [info.key.name for info in made.queues.pending_workloads_info("cq")] == ["high", "old", "a", "d"]
    assert [made.heads() for _ in range(5)] == [["high"], ["old"], ["a"], ["d"], []]


def test_each_cluster_queue_has_one_head_and_an_inactive_one_none() -> None:
    """Given two ClusterQueues, when one is inactive, then its Workload stays where it is."""
    made = world()
    made.cluster_queue("other")
    made.local_queue("p", of="other")
    made.submit("a")
    made.submit("b", queue="p")
    made.inactive["other"] = None
    assert made.heads() == ["a"]
    del made.inactive["other"]
    assert made.heads() == ["b"]


@pytest.mark.spec("KUEUE-039")
def test_a_strict_queue_keeps_its_head_and_another_goes_on() -> None:
    """Given a head that does not fit, when heads are taken again, then a StrictFIFO queue gives it
    again, and a BestEffortFIFO queue the next one.
    """
    strict, best = world("StrictFIFO"), world()
    for made in (strict, best):
        made.submit("first", cpu="2", created=1)
        made.submit("second", created=2)
    assert [requeue(strict, RequeueReason.NO_FIT) for _ in range(2)] == [["first"], ["first"]]
    assert [requeue(best, RequeueReason.NO_FIT) for _ in range(3)] == [["first"], ["second"], []]
    assert (counts(strict), counts(best)) == ((2, 0), (0, 2))


def test_even_a_strict_queue_lets_go_of_what_its_namespace_forbids() -> None:
    """Given a StrictFIFO queue, when the head's namespace does not match, then the next one is
    tried.
    """
    made = world("StrictFIFO")
    made.submit("first", created=1)
    made.submit("second", created=2)
    assert [requeue(made, RequeueReason.NAMESPACE_MISMATCH) for _ in range(2)] == [["first"], ["second"]]


@pytest.mark.parametrize("reason", [
    RequeueReason.FAILED_AFTER_NOMINATION, RequeueReason.PENDING_PREEMPTION, RequeueReason.PREEMPTION_FAILED])
def test_some_reasons_let_a_head_try_again_at_once(reason: RequeueReason) -> None:
    """Given a BestEffortFIFO queue, when its head fails for such a reason, then it is the head
    again.
    """
    made = world()
    made.submit("a")
    assert [requeue(made, reason) for _ in range(2)] == [["a"], ["a"]]


def test_a_preemptor_stays_first_until_it_is_gone() -> None:
    """Given a head that preempts, when one of higher priority comes, then the preemptor is first;
    when it is deleted, then no more.
    """
    made = world()
    made.submit("a")
    requeue(made, RequeueReason.PENDING_PREEMPTION)
    made.submit("high", priority=5)
    assert [info.key.name for info in made.queues.pending_workloads_info("cq")] == ["a", "high"]
    assert requeue(made, RequeueReason.PENDING_PREEMPTION) == ["a"]
    made.queues.delete_workload(key("a"))
    made.queues.add_or_update_workload(made.workloads["a"])
    assert made.heads() == ["high"]


def test_what_was_tried_in_vain_comes_back_a_second_after_a_change() -> None:
    """Given two ClusterQueues of a tree, when something ends in one, then a second later what the
    other tried in vain is tried again, and what a third without a cohort tried is not.
    """
    made = World()
    for name, cohort in (("cq", "left"), ("other", "right"), ("alone", "")):
        made.cluster_queue(name, cohort=cohort)
        made.local_queue(f"q-{name}", of=name)
    for cohort in ("left", "right"):
        made.queues.add_or_update_cohort({"metadata": {"name": cohort}, "spec": {"parentName": "root"}})
    made.submit("a", queue="q-other")
    made.submit("b", queue="q-alone")
    made.clock.advance(5)
    requeue(made, RequeueReason.NO_FIT)
    made.submit("done", queue="q-cq")
    ended: list[str] = []
    made.queues.queue_associated_inadmissible_workloads_after(key("done"), lambda: ended.append("done"))
    made.queues.delete_workload(key("done"))
    made.clock.advance(0.9)
    assert made.heads() == []
    made.clock.advance(0.2)
    assert (made.heads(), ended) == (["a"], ["done"])
    assert counts(made, "alone") == (0, 1)


def test_cohorts_in_a_circle_wait_until_it_is_broken() -> None:
    """Given cohorts that are each other's parents, when something changes, then nothing is tried
    again; when the circle is broken, then it is.
    """
    made = world()
    made.queues.update_cluster_queue(cluster_queue("cq", cohort="a"), spec_updated=True)
    made.submit("w")
    made.clock.advance(2)
    requeue(made, RequeueReason.NO_FIT)
    for name, parent in (("a", "b"), ("b", "a")):
        made.queues.add_or_update_cohort({"metadata": {"name": name}, "spec": {"parentName": parent}})
    made.queues.notify_retry_inadmissible(["cq"])
    made.clock.advance(5)
    assert made.heads() == []
    made.queues.add_or_update_cohort({"metadata": {"name": "b"}, "spec": {}})
    made.clock.advance(5)
    assert made.heads() == ["w"]


def test_a_change_while_a_head_is_tried_is_not_missed() -> None:
    """Given a head that is being tried, when what was tried in vain is flushed meanwhile, then the
    head is tried again at once.
    """
    made = world()
    made.submit("a")
    made.clock.advance(2)
    made.queues.notify_retry_inadmissible(["cq"])
    [info] = made.queues.heads()
    made.clock.advance(2)
    assert made.queues.requeue_workload(info, RequeueReason.NO_FIT)
    assert counts(made) == (1, 0)


@pytest.mark.spec("KUEUE-052")
def test_what_has_the_same_shape_is_not_tried_either() -> None:
    """Given three Workloads of one shape and one of another, when the first does not fit, then the
    others of its shape are not tried, with a later one; without the gate they are.
    """
    for enabled in (True, False):
        made = world(SchedulingEquivalenceHashing=enabled)
        for number in range(3):
            made.submit(f"same-{number}", created=number)
        made.submit("other", cpu="7", created=9)
        assert requeue(made, RequeueReason.NO_FIT) == ["same-0"]
        made.submit("same-late", created=20)
        assert counts(made) == ((1, 4) if enabled else (4, 1))
        assert made.queues.get_no_fit_reason(made.workloads["same-1"]) == ("PendingEvaluation" if enabled else None)
        made.queues.notify_retry_inadmissible(["cq"])
        made.clock.advance(2)
        assert counts(made) == (5, 0)


def test_one_that_was_tried_in_vain_is_tried_again_when_it_changes() -> None:
    """Given an inadmissible Workload, when only its status changes, then it stays; when its spec
    does, then it is tried again.
    """
    made = world()
    made.submit("a")
    made.clock.advance(2)
    requeue(made, RequeueReason.GENERIC)
    told = copy.deepcopy(made.workloads["a"])
    told["status"]["conditions"] = [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "m"}]
    made.queues.add_or_update_workload(told)
    assert counts(made) == (0, 1)
    smaller = copy.deepcopy(told)
    smaller["spec"]["podSets"][0]["count"] = 0
    made.queues.add_or_update_workload(smaller)
    assert counts(made) == (1, 0)


def test_one_that_backs_off_waits_for_its_time() -> None:
    """Given a time to be requeued at, when it is queued before, then it is not tried; after, then
    it is.
    """
    made = world()
    obj = made.submit("a")
    obj = made.workloads["a"] = copy.deepcopy(obj)
    obj["status"]["requeueState"] = {"requeueAt": "1970-01-01T00:01:00Z", "count": 1}
    made.queues.delete_workload(key("a"))
    made.queues.add_or_update_workload(obj)
    made.queues.notify_retry_inadmissible(["cq"])
    made.clock.advance(30)
    assert made.heads() == []
    made.queues.notify_retry_inadmissible(["cq"])
    made.clock.advance(31)
    made.queues.notify_retry_inadmissible(["cq"])
    made.clock.advance(2)
    assert made.heads() == ["a"]


def test_one_that_backs_off_does_so_when_kueue_starts_again() -> None:
    """Given a Workload that backs off, when Kueue learns of it by its LocalQueue, then it is not
    tried before its time.
    """
    made = World()
    obj = made.workloads["a"] = workload("a")
    obj["status"]["requeueState"] = {"requeueAt": "1970-01-01T00:01:00Z", "count": 1}
    made.cluster_queue()
    made.local_queue()
    made.queues.add_or_update_workload(obj)
    made.clock.advance(30)
    assert (made.heads(), counts(made)) == ([], (0, 1))
    made.clock.advance(31)
    made.queues.notify_retry_inadmissible(["cq"])
    made.clock.advance(2)
    assert made.heads() == ["a"]


def test_namespaces_that_do_not_match_stay_out() -> None:
    """Given a queue for no namespace, when it is flushed, then nothing comes back."""
    made = world()
    made.submit("a")
    made.clock.advance(2)
    requeue(made, RequeueReason.NAMESPACE_MISMATCH)
    closed = cluster_queue("cq")
    del closed["spec"]["namespaceSelector"]
    made.queues.update_cluster_queue(closed, spec_updated=True)
    made.clock.advance(2)
    assert counts(made) == (0, 1)


def test_queues_may_come_in_any_order() -> None:
    """Given Workloads before their LocalQueue, and that before its ClusterQueue, when both are
    there, then they are pending; when the LocalQueue goes, then they are not.
    """
    made = World()
    made.submit("a")
    made.local_queue()
    assert made.queues.pending_workloads(key("q")) == 1
    assert made.queues.cluster_queue_for_workload(made.workloads["a"]) == ("cq", False)
    made.cluster_queue()
    assert counts(made) == (1, 0)
    made.queues.delete_local_queue(key("q"))
    assert (counts(made), made.queues.pending_workloads(key("q"))) == ((0, 0), None)


def test_a_workload_that_moves_waits_in_its_new_queue_only() -> None:
    """Given a pending Workload, when it names another LocalQueue, then it waits only there."""
    made = world()
    made.cluster_queue("other")
    made.local_queue("p", of="other")
    obj = copy.deepcopy(made.submit("a"))
    obj["spec"]["queueName"] = "p"
    made.queues.add_or_update_workload(obj)
    assert (counts(made), counts(made, "other")) == ((0, 0), (1, 0))
