"""The rules of a group of pods, asked of trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.pod import groups
from fakekube_controllers.kueue.jobs.pod.groups import CannotCompose, TooFewPods

FEATURES = Features()
ZERO = "group total count should be greater than zero"
NOW = 1767225600.0 + 3600


def at(seconds):
    return f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}Z"


def member(name="a", *, role="r", count=3, phase="Pending", gated=False, deleted=None, node="", created=0, finalizer=True,
           queue="q", labels=None, annotations=None, **status):
    metadata = {
        "name": name, "namespace": "n", "uid": name, "creationTimestamp": at(created),
        "labels": {names.QUEUE_LABEL: queue, names.POD_GROUP_NAME_LABEL: "g", **(labels or {})},
        "annotations": {
            names.POD_GROUP_TOTAL_COUNT_ANNOTATION: str(count), names.ROLE_HASH_ANNOTATION: role, **(annotations or {})},
        "finalizers": [names.POD_FINALIZER] if finalizer else []}
    if deleted is not None:
        metadata |= {"deletionTimestamp": at(deleted), "deletionGracePeriodSeconds": 30}
    gates = {"schedulingGates": [{"name": names.ADMISSION_GATE}]} if gated else {}
    placed = {"nodeName": node} if node else {}
    return {"metadata": metadata, "spec": {"containers": [], **gates, **placed}, "status": {"phase": phase, **status}}


def named(pods):
    return [pod["metadata"]["name"] for pod in pods]


def pod_set(name="r", count=3):
    return {"name": name, "count": count}


def workload(*pod_sets, conditions=()):
    return {"metadata": {"name": "g"}, "spec": {"podSets": [*pod_sets]}, "status": {"conditions": [*conditions]}}


@pytest.mark.spec("KUEUE-132")
def test_who_is_active():
    """Given pods in every state, when they are told apart, then the failed ones and those deleted
    before they had a node are inactive."""
    group = [
        member("waits", gated=True), member("runs", phase="Running", node="n"), member("done", phase="Succeeded"),
        member("ends", deleted=5, node="n"), member("failed", phase="Failed"), member("never", deleted=5)]
    active, inactive = groups.partition(group)
    assert named(active) == ["waits", "runs", "done", "ends"]
    assert named(inactive) == ["failed", "never"]


@pytest.mark.spec("KUEUE-137")
def test_who_is_kept():
    """Given active pods, when they are put in order, then those with a finalizer, without a gate,
    and older come first."""
    group = [member("new", created=9), member("old", created=1), member("gated", gated=True), member("loose", finalizer=False)]
    assert named(groups.sorted_active(group)) == ["old", "new", "gated", "loose"]


def test_which_inactive_pod_is_kept():
    """Given inactive pods, when they are put in order, then the one that was active last is
    first."""
    failed = {"type": "ContainersReady", "status": "False", "reason": "PodFailed", "lastTransitionTime": at(60)}
    group = [
        member("deleted", deleted=30), member("failed", phase="Failed", conditions=[failed]), member("untold", phase="Failed"),
        member("loose", phase="Failed", finalizer=False)]
    assert named(groups.sorted_inactive(group, NOW)) == ["untold", "failed", "deleted", "loose"]


@pytest.mark.spec("KUEUE-132")
def test_pod_sets_are_roles():
    """Given a group of two roles, when its pod sets are made, then there is one for each, by name,
    with as many as are active."""
    group = [member("a", role="z"), member("b", role="b"), member("c", role="z"), member("d", role="b", phase="Failed")]
    made = groups.pod_sets(group, lambda pod: {"name": "main", "count": 1, "template": pod["metadata"]["name"]})
    assert made == [{"name": "b", "count": 1, "template": "b"}, {"name": "z", "count": 2, "template": "a"}]


@pytest.mark.spec("KUEUE-143")
def test_pod_sets_of_a_fast_group():
    """Given a group that is to be admitted fast, when its pod sets are made, then its first active
    pod stands for all; without one nothing is made."""
    group = [member("a", phase="Failed"), member("b", role="x")]
    assert groups.pod_sets_of_first(group, 3, lambda _: {"name": "main", "count": 1}) == [{"name": "x", "count": 3}]
    with pytest.raises(CannotCompose, match="failed to find a runnable pod in the group"):
        groups.pod_sets_of_first(group[:1], 3, lambda _: {})


@pytest.mark.spec("KUEUE-140")
def test_members_agree():
    """Given groups whose members disagree, or are too few, when they are checked, then the
    complaint is upstream's; failed members are not asked."""
    good = [member("a"), member("b"), member("c")]
    assert groups.check(good, good, FEATURES) == 3
    for other, text in (
        (member("c", queue="x"), "pods 'a' and 'c' has different queue names: q!=x"),
        (member("c", count=4), f"pods 'a' and 'c' has different '{names.POD_GROUP_TOTAL_COUNT_ANNOTATION}' values: 3!=4"),
    ):
        group = [*good[:2], other]
        with pytest.raises(CannotCompose) as caught:
            groups.check(group, group, FEATURES)
        assert (str(caught.value), caught.value.is_retried) == (text, False)
    assert groups.check([*good, member("d", queue="x", phase="Failed")], good, FEATURES) == 3
    with pytest.raises(TooFewPods, match=r"^'g' group has fewer runnable pods than expected$"):
        groups.check(good, good[:2], FEATURES)
    fast = [member("a", annotations={names.POD_GROUP_FAST_ADMISSION_ANNOTATION: "true"})]
    assert groups.check(fast, fast, FEATURES) == 3


@pytest.mark.spec("KUEUE-141")
@pytest.mark.parametrize(("count", "text"), [
    ("two", 'strconv.Atoi: parsing "two": invalid syntax'), ("", 'strconv.Atoi: parsing "": invalid syntax'),
    ("0", f"incorrect annotation value '{names.POD_GROUP_TOTAL_COUNT_ANNOTATION}=0': {ZERO}"),
])
def test_counts(count, text):
    """Given a pod whose count is no number above zero, when it is read, then the complaint is
    Go's."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared
        groups.total_count(member(count=count), FEATURES)
    assert str(caught.value) == text


@pytest.mark.spec("KUEUE-134", "KUEUE-137")
def test_sorting_out():
    """Given a running group with a failed pod, its replacement, one pod too many and one of a role
    that nobody wants, when it is sorted out, then each has its place."""
    group = [
        member("a", phase="Running"), member("b", phase="Failed"), member("c", phase="Running", created=1),
        member("d", gated=True, created=2), member("x", role="other")]
    found = groups.sort_out(group, [pod_set(count=2)], NOW)
    assert (named(found.kept), named(found.excess), named(found.replaced), found.absent) == (["a", "c"], ["d"], ["b"], 0)
    missing = groups.sort_out(group[:2], [pod_set(count=2)], NOW)
    assert (named(missing.kept), missing.excess, missing.replaced, missing.absent) == (["a", "b"], [], [], 1)


@pytest.mark.spec("KUEUE-143")
def test_a_fast_group_misses_one_at_most():
    """Given a fast group, when some of its pods are missing, then one is waited for only where
    there is none."""
    fast = {names.POD_GROUP_FAST_ADMISSION_ANNOTATION: "true"}
    assert groups.sort_out([member("a", annotations=fast)], [pod_set()], NOW).absent == 0
    assert groups.sort_out([member("a", annotations=fast, phase="Failed")], [pod_set()], NOW).absent == 1


MEMBERS = st.lists(st.builds(
    dict, role=st.sampled_from("ab"), phase=st.sampled_from(["Pending", "Running", "Succeeded", "Failed"]), gated=st.booleans(),
    deleted=st.none() | st.integers(0, 59), node=st.sampled_from(["", "n"]), created=st.integers(0, 59),
    finalizer=st.booleans()), min_size=1, max_size=8)


@given(MEMBERS, st.lists(st.integers(1, 4), min_size=1, max_size=2))
def test_nobody_is_lost(members, counts):
    """Given any group and any pod sets, when it is sorted out, then each pod of a wanted role is in
    one list, active ones are kept up to the count, and inactive ones go only for replacements."""
    group = [member(f"p{place}", **fields) for place, fields in enumerate(members)]
    wanted = [pod_set(role, count) for role, count in zip("ab", counts, strict=False)]
    found = groups.sort_out(group, wanted, NOW)
    roles = {each["name"]: each["count"] for each in wanted}
    placed = [*found.kept, *found.excess, *found.replaced]
    assert sorted(named(placed)) == sorted(named(pod for pod in group if groups.pods.role_hash(pod) in roles))
    for role, count in roles.items():
        kept, excess, replaced = ([pod for pod in pods if groups.pods.role_hash(pod) == role] for pods in found[:3])
        active = [pod for pod in kept if groups.is_runnable_or_succeeded(pod)]
        assert len(active) <= count
        assert not excess or len(active) == count
        assert all(map(groups.is_runnable_or_succeeded, excess))
        assert not any(map(groups.is_runnable_or_succeeded, replaced))
        assert not replaced or len(kept) >= min(count, len(kept) + len(replaced))
    assert found.absent == sum(
        max(0, count - sum(groups.is_runnable_or_succeeded(pod) for pod in group if groups.pods.role_hash(pod) == role))
        for role, count in roles.items())


def test_equivalence():
    """Given a Workload, when a group is held against it, then the group may have fewer roles and
    pods, and not more; once it is finished counts are not looked at."""
    made = workload(pod_set("a", 1), pod_set("b", 2))
    assert groups.is_equivalent(made, [pod_set("b", 1)], is_finished=False)
    assert not groups.is_equivalent(made, [pod_set("b", 3)], is_finished=False)
    assert groups.is_equivalent(made, [pod_set("b", 3)], is_finished=True)
    assert not groups.is_equivalent(made, [pod_set("c", 1)], is_finished=True)
    assert not groups.is_equivalent(workload(pod_set("a", 1)), [pod_set("a", 1), pod_set("b", 1)], is_finished=False)


@pytest.mark.spec("KUEUE-133", "KUEUE-136")
def test_the_end_of_a_group():
    """Given a group, when all succeed, or all end and one says that nobody is replaced, then it is
    over, and tells how many succeeded."""
    done, failed, last = (member(phase=phase) for phase in ("Succeeded", "Failed", "Failed"))
    last["metadata"]["annotations"][names.RETRIABLE_IN_GROUP_ANNOTATION] = "false"
    assert groups.finished([done] * 3, FEATURES) == "Pods succeeded: 3/3."
    assert groups.finished([done, failed, failed], FEATURES) == ""
    assert groups.finished([done, failed, last], FEATURES) == "Pods succeeded: 1/3."
    assert groups.finished([member(phase="Running"), failed, last], FEATURES) == ""
    assert groups.finished([member(count="x", phase="Succeeded")], FEATURES) == ""


@pytest.mark.spec("KUEUE-145")
def test_what_can_be_reclaimed():
    """Given pods of two roles, when some have succeeded, then they are counted by role."""
    group = [member("a", role="y", phase="Succeeded"), member("b", role="x", phase="Succeeded"), member("c", role="y")]
    assert groups.reclaimable([*group, member("d", role="y", phase="Succeeded")]) == [
        {"name": "y", "count": 2}, {"name": "x", "count": 1}]


def test_a_group_is_active():
    """Given running pods, when one runs on after its grace, then it does not count, and with the
    gate a deleted one never does."""
    start = NOW - 3600
    ends = member(phase="Running", deleted=60, node="n")
    assert groups.is_active([member(), ends], start + 89, FEATURES)
    assert not groups.is_active([member(), ends], start + 90, FEATURES)
    assert not groups.is_active([ends], start + 61, Features(FastQuotaReleaseInPodIntegration=True))
    assert groups.is_active([member(phase="Running")], NOW, FEATURES)


@pytest.mark.spec("KUEUE-134", "KUEUE-138")
def test_waiting_for_replacement():
    """Given a Workload, when pods are missing, then its condition tells so, with the words of an
    eviction where there is one; and that none is missing only after some were."""
    evicted = {"type": "Evicted", "status": "True", "reason": "Preempted", "message": "why"}
    waits = {
        "type": "WaitingForReplacementPods", "status": "True", "reason": "PodsFailed",
        "message": "Some Failed pods need replacement"}
    assert groups.replacement_condition(workload(), 0) is None
    assert groups.replacement_condition(workload(), 1) == waits
    assert groups.replacement_condition(workload(conditions=[waits]), 2) is None
    assert groups.replacement_condition(workload(conditions=[waits, evicted]), 2) == {
        **waits, "reason": "Preempted", "message": "why"}
    over = groups.replacement_condition(workload(conditions=[waits, evicted]), 0)
    assert over == {**waits, "status": "False", "reason": "PodsReady", "message": "No pods need replacement"}
    assert groups.replacement_condition(workload(conditions=[over]), 0) is None
