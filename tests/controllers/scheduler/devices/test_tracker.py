"""What the scheduler knows of claims between its decisions, its writes, and what it sees."""

from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import meta
from fakekube_controllers.scheduler.devices.model import DeviceID
from fakekube_controllers.scheduler.devices.tracker import ClaimTracker
from tests.controllers.scheduler.devices.cases import DRIVER, allocation, claim
from tests.controllers.scheduler.plugins.cases import Objects


def state(version, device=None, name="c", uid=None):
    """A state of a claim, with a device or without."""
    made = claim(name=name)
    made["metadata"] |= {"resourceVersion": str(version), "uid": uid or name}
    return made | ({"status": {"allocation": allocation(device)}} if device else {})


def is_taken(tracker, device):
    return tracker.allocated.is_whole(DeviceID(DRIVER, "p", device))


def tracker_of(*claims):
    objects = list(claims)
    tracker = ClaimTracker(Objects(objects), shares=True)
    for each in claims:
        tracker.seen(each)
    return tracker, objects


def test_what_was_written_counts_before_it_is_seen():
    """Given a claim that was written with a device / when an older state is seen after that / then
    the newer one is believed; when that is seen, too, what is seen later is.
    """
    tracker, objects = tracker_of(state(1))
    tracker.assume(state(3, "a"))
    tracker.seen(state(2))
    assert meta.resource_version_of(tracker.get("n", "c")) == "3"
    assert is_taken(tracker, "a")
    objects[0] = state(3, "a")
    tracker.seen(objects[0])
    objects[0] = state(4)
    tracker.seen(objects[0])
    assert meta.resource_version_of(tracker.get("n", "c")) == "4"
    assert not is_taken(tracker, "a")


def test_what_is_older_than_the_cache_is_not_assumed():
    """Given a claim of which a newer state is known / when an answer comes late / then it counts
    for nothing.
    """
    tracker, _ = tracker_of(state(5))
    tracker.assume(state(4, "a"))
    assert meta.resource_version_of(tracker.get("n", "c")) == "5"
    assert not is_taken(tracker, "a")


def test_a_claim_of_the_same_name_is_another():
    """Given a claim that was written / when it is gone, and another of its name comes / then the
    first one's device is free.
    """
    tracker, objects = tracker_of(state(1))
    tracker.assume(state(3, "a"))
    objects[0] = state(2, uid="other")
    tracker.gone(state(3, "a"))
    tracker.seen(objects[0])
    assert meta.uid_of(tracker.get("n", "c")) == "other"
    assert not is_taken(tracker, "a")


def test_a_decision_counts_until_the_last_pod_gives_up_or_it_is_written():
    """Given a decision that two pods share / when one gives up / then it holds; when the other
    does, it is over. One that is written is over at once, and the claim counts itself.
    """
    tracker, _ = tracker_of(state(1))
    for _ in range(2):
        tracker.reserve("c", allocation("a"))
    assert not tracker.release("c")
    assert is_taken(tracker, "a")
    assert tracker.release("c")
    assert not is_taken(tracker, "a")
    tracker.reserve("c", allocation("a"))
    tracker.reserve("c", allocation("a"))
    tracker.assume(state(2, "a"))
    assert tracker.release("c", is_done=True)
    assert is_taken(tracker, "a")
    tracker.reserve("c", allocation("b"))
    assert tracker.pending("c") is None
    assert not tracker.release("c")


steps = st.lists(st.tuples(
    st.sampled_from(["see", "free", "assume", "reserve", "release", "done", "gone"]), st.integers(0, 2),
    st.sampled_from(["a", "b"])), max_size=30)


@given(steps)
def test_devices_are_counted_as_claims_have_them(listed):
    """Given claims that come, change and go, decisions that hold and end / when all of them are
    gone / then no device is taken; before that exactly those that a claim has or is to have.
    """
    tracker, objects = tracker_of()
    has, wants = {}, {}
    for version, (what, number, device) in enumerate(listed, 1):
        name = f"c{number}"
        known = next((each for each in objects if meta.name_of(each) == name), None)
        if what in ("see", "free", "assume"):
            found = state(version, None if what == "free" else device, name)
            if what != "assume":
                objects[:] = [each for each in objects if each is not known] + [found]
                tracker.seen(found)
            else:
                tracker.assume(found)
            has[name] = None if what == "free" else device
        elif what == "gone":
            tracker.gone(state(version, None, name))
            objects[:] = [each for each in objects if each is not known]
            has.pop(name, None)
        elif what == "reserve":
            tracker.reserve(name, allocation(device))
            if name in wants:
                wants[name][1] += 1
            elif not has.get(name):
                wants[name] = [device, 1]
        elif name in wants:
            tracker.release(name, is_done=what == "done")
            wants[name][1] -= 1
            if not wants[name][1] or what == "done":
                del wants[name]
        taken = {has.get(each) or (wants[each][0] if each in wants else None) for each in {*has, *wants}}
        assert {each for each in "ab" if is_taken(tracker, each)} == taken - {None}
