"""The parts of the Job controller that only compute: indexes, rules, back-off, ranking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apis.gates import Gates
from fakekube_controllers.job import backoff, indexes, pods, policies
from fakekube_controllers.job.backoff import Backoff
from fakekube_controllers.job.features import ALL, Features

T0 = "2026-01-01T00:00:00Z"


def pod(
    name="p", phase="Running", *, ready=None, index=None, node="n", created=T0, ended=None, code=None, restarts=0, **metadata,
):
    """A pod; ``ended`` is when its container did, ``ready`` since when it is ready."""
    statuses = [{"name": "main", "restartCount": restarts, "state": {}}]
    if code is not None or ended is not None:
        statuses[0]["state"] = {"terminated": {"exitCode": code or 0, "finishedAt": ended}}
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": ready}] if ready else []
    annotations = {} if index is None else {indexes.INDEX: str(index)}
    return {
        "metadata": {
            "name": name, "namespace": "n", "uid": name, "creationTimestamp": created, "annotations": annotations, **metadata},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, "containerStatuses": statuses, "conditions": conditions},
    }


def numbers(found):
    """What is in a set of small indexes, one by one."""
    return [index for index in range(400) if index in found]


@pytest.mark.parametrize(("listed", "text"), [
    ([], ""), ([0], "0"), ([1, 0], "0,1"), ([0, 1, 2], "0-2"), ([0, 1, 2, 5, 7, 8], "0-2,5,7,8"), ([3, 3, 4, 5, 9], "3-5,9")])
def test_indexes_are_written_as_runs(listed, text):
    """Given indexes in any order / then runs of three and more are written as ranges."""
    assert indexes.Indexes.of(listed).text() == text


@given(st.sets(st.integers(0, 300)))
def test_what_is_written_is_read_back(chosen):
    """Given any set of indexes / then its text reads back to the same, ascending, and cut off where
    completions end.
    """
    text = indexes.Indexes.of(chosen).text()
    assert numbers(indexes.parse(text)) == sorted(chosen)
    assert numbers(indexes.parse(text, 100)) == sorted(index for index in chosen if index < 100)
    assert indexes.parse(text).text() == text


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)), st.integers(0, 45))
def test_sets_of_indexes_are_sets(one, other, end):
    """Given two sets of indexes / then their union, what they have in common, and what is missing
    are those of Python's sets.
    """
    left, right = indexes.Indexes.of(one), indexes.Indexes.of(other)
    assert numbers(left.union(right)) == sorted(one | other)
    assert (len(left), left.common(right)) == (len(one), len(one & other))
    assert list(left.missing(end)) == [index for index in range(end) if index not in one]


def test_two_thousand_million_indexes_cost_what_their_text_does():
    """Given a Job's status in which all but the last of as many completions as there can be are
    done Then the only index that is missing is found, and a successPolicy that asks for all of them
    is met, without making a list.
    """
    most = 2**31 - 1
    done = indexes.parse(f"0-{most - 2}", most)
    assert list(done.missing(most)) == [most - 1]
    everything = done.union(indexes.Indexes.of([most - 1]))
    assert len(everything) == most
    rules = {"rules": [{"succeededIndexes": f"0-{most - 1}"}]}
    assert policies.match_success_policy(rules, done) == ""
    assert policies.match_success_policy(rules, everything) == "Matched rules at index 0"


def test_what_is_no_index_is_dropped():
    """Given a text with parts that are no indexes / then the others are read."""
    assert numbers(indexes.parse("0,x,2-y,3-4,-1")) == [0, 3, 4]
    assert indexes.index_of(pod()) is None
    assert indexes.index_of({"metadata": {"annotations": {indexes.INDEX: "-1"}}}) is None


@pytest.mark.parametrize(("failures", "seconds"), [(1, 10), (2, 20), (3, 40), (6, 320), (7, 600), (40, 600)])
def test_the_wait_doubles_up_to_ten_minutes(failures, seconds):
    """Given so many failures / then the wait after the last is ten seconds, doubled with each, ten
    minutes at most.
    """
    assert Backoff(failures, 100.0).remaining_seconds(100.0) == seconds
    assert Backoff(failures, 100.0).remaining_seconds(100.0 + seconds + 1) == 0.0
    assert backoff.remaining_seconds(failures, 100.0, 105.0) == seconds - 5


def test_only_failures_after_the_last_success_count():
    """Given pods that ended / then failures before the latest success are forgotten, later ones
    counted.
    """
    early, late = pod("a", "Failed", ended="2026-01-01T00:00:01Z"), pod("b", "Failed", ended="2026-01-01T00:00:09Z")
    success = pod("c", "Succeeded", ended="2026-01-01T00:00:05Z")
    assert Backoff(3, 1.0).after([], []) == (3, 1.0)
    assert Backoff(3, 1.0).after([success], []) == (0, None)
    assert Backoff(3, 1.0).after([], [late, early]).failures == 5
    assert Backoff(3, 1.0).after([success], [late, early]) == (1, pods.finish_time(late))
    assert Backoff(3, 1.0).after([success], [early]) == (0, None)
    assert Backoff().remaining_seconds(5.0) == 0.0


def test_when_a_pod_ended_is_told_by_the_best_evidence():
    """Given less and less evidence / then the end is the container's, the loss of readiness, the
    deletion, the creation.
    """
    container = pod(ended="2026-01-01T00:00:07Z")
    assert pods.finish_time(container) % 60 == 7
    unready = pod()
    unready["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:06Z"}]
    assert pods.finish_time(unready) % 60 == 6
    deleted = pod(deletionTimestamp="2026-01-01T00:00:40Z", deletionGracePeriodSeconds=30)
    assert pods.finish_time(deleted) % 60 == 10
    assert pods.finish_time(pod(created="2026-01-01T00:00:03Z")) % 60 == 3


def test_pods_that_got_further_are_kept_longer():
    """Given pods in every state / then unscheduled, pending, unready, lately ready ones go first,
    in this order.
    """
    wanted = [
        pod("unscheduled", "Pending", node=""), pod("pending", "Pending"), pod("unready"),
        pod("restarted", ready="2026-01-01T00:00:09Z", restarts=3), pod("late", ready="2026-01-01T00:00:09Z"),
        pod("young", ready=T0, created="2026-01-01T00:00:05Z"), pod("old", ready=T0),
    ]
    for order in (wanted, wanted[::-1], wanted[3:] + wanted[:3]):
        assert [p["metadata"]["name"] for p in sorted(order, key=pods.rank)] == [p["metadata"]["name"] for p in wanted]


@pytest.mark.spec("JOB-106")
def test_surplus_pods_of_a_plain_job_are_those_that_got_least_far():
    """Given four pods of which two are too many / then the pending ones go."""
    active = [pod("a"), pod("b", "Pending"), pod("c"), pod("d", "Pending", node="")]
    assert [p["metadata"]["name"] for p in pods.surplus(active, 2, None)] == ["d", "b"]
    assert pods.surplus(active, 4, None) == []


@pytest.mark.spec("JOB-107", "JOB-108")
def test_surplus_pods_of_an_indexed_job_are_doubles_and_those_without_a_place():
    """Given doubles, a pod without an index and one beyond the last index / then these go, whatever
    the number wanted.
    """
    active = [
        pod("kept", index=0, ready=T0), pod("double", index=0), pod("none"), pod("beyond", index=7), pod("one", index=1)]
    assert sorted(p["metadata"]["name"] for p in pods.surplus(active, 5, 3)) == ["beyond", "double", "none"]


def rule(action, operator="In", values=(), container=None, conditions=None):
    if conditions is not None:
        return {"action": action, "onPodConditions": conditions}
    named = {} if container is None else {"containerName": container}
    return {"action": action, "onExitCodes": {"operator": operator, "values": list(values), **named}}


@pytest.mark.parametrize(("rules", "code", "action"), [
    ([rule("FailJob", values=[5])], 5, "FailJob"), ([rule("FailJob", values=[5])], 6, ""),
    ([rule("Ignore", values=[5]), rule("FailJob", values=[5])], 5, "Ignore"),
    ([rule("FailJob", "NotIn", [1, 2])], 3, "FailJob"), ([rule("FailJob", "NotIn", [1, 2])], 2, ""),
    ([rule("FailIndex", values=[5], container="other")], 5, ""),
    ([rule("FailIndex", values=[5], container="main")], 5, "FailIndex"),
])
def test_the_first_rule_that_matches_an_exit_code_decides(rules, code, action):
    """Given rules and a pod that failed with a code / then the first that matches says what is
    done.
    """
    assert policies.match_failure_policy({"rules": rules}, pod(phase="Failed", code=code)).action == action


@pytest.mark.spec("JOB-117")
def test_a_container_that_ended_well_never_matches():
    """Given a NotIn rule / when a container of a failed pod exited with 0 / then the rule does not
    match it.
    """
    assert policies.match_failure_policy({"rules": [rule("FailJob", "NotIn", [7])]}, pod(phase="Failed", code=0)).action == ""


@pytest.mark.spec("JOB-116", "JOB-165")
def test_init_containers_are_looked_at_too():
    """Given a rule for an init container / when that failed / then it matches, and says its name.
    """
    failed = pod(phase="Failed", code=0)
    failed["status"]["initContainerStatuses"] = [{"name": "setup", "state": {"terminated": {"exitCode": 137}}}]
    verdict = policies.match_failure_policy({"rules": [rule("FailJob", values=[137], container="setup")]}, failed)
    assert verdict.message == "Container setup for pod n/p failed with exit code 137 matching FailJob rule at index 0"


def test_conditions_match_by_type_and_status():
    """Given rules for a condition / then type and status both have to be there."""
    failed = pod(phase="Failed")
    failed["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
    pattern = {"type": "DisruptionTarget", "status": "True"}
    verdict = policies.match_failure_policy({"rules": [rule("Count"), rule("FailJob", conditions=[pattern])]}, failed)
    assert verdict == ("FailJob", "Pod n/p has condition DisruptionTarget matching FailJob rule at index 1")
    other = {**pattern, "status": "False"}
    assert policies.match_failure_policy({"rules": [rule("Ignore", conditions=[other])]}, failed).action == ""
    assert policies.match_failure_policy({"rules": [rule("Ignore", conditions=[pattern])]}, failed).counts is False


def test_a_pod_that_has_not_failed_is_not_judged():
    """Given a rule that would match / when the pod runs / then it says nothing."""
    assert policies.match_failure_policy({"rules": [rule("FailJob", values=[5])]}, pod(phase="Running", code=5)).action == ""


@pytest.mark.parametrize(("rules", "completed", "number"), [
    ([{"succeededIndexes": "0-2"}], [0, 1, 2], 0), ([{"succeededIndexes": "0-2"}], [0, 2, 3], None),
    ([{"succeededCount": 2}], [5, 9], 0), ([{"succeededCount": 2}], [5], None),
    ([{"succeededIndexes": "0-4", "succeededCount": 2}], [0, 9, 4], 0),
    ([{"succeededIndexes": "9"}, {"succeededCount": 1}], [0], 1), ([{"succeededCount": 1}], [], None),
])
def test_success_rules(rules, completed, number):
    """Given rules and completed indexes / then the first that is met is named, or none."""
    expected = "" if number is None else f"Matched rules at index {number}"
    assert policies.match_success_policy({"rules": rules}, indexes.Indexes.of(completed)) == expected


def test_a_controller_that_is_told_nothing_does_all_it_can():
    """Given no gates and no version, as beside a cluster that is not ours / then all is on, as in
    the newest release.
    """
    assert Features.of({}, "") == ALL == Features.of(Gates("1.37"), "1.37")
    assert Features.of(Gates("1.35"), "1.35") == ALL._replace(forgets_start=False)
    assert not Features.of(Gates("1.30"), "1.30").interim_conditions
