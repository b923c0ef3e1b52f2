"""Subscriptions: who is told what, and until when."""

from fakekube.storage.memory import Bucket, Event, Subscription
from tests.storage.pods import pod


class Log:
    """Takes events down as type, name and revision."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, int]] = []

    def __call__(self, event: Event) -> None:
        self.seen.append((event.type, event.record.name, event.revision))


def test_history_comes_first_then_the_present(bucket: Bucket) -> None:
    """Given events before and after a subscription / when it begins in the past / then it sees each
    once, in order.
    """
    a = bucket.create(pod("a"))
    log = Log()
    bucket.subscribe(1, "", log)
    bucket.delete(a)
    bucket.create(pod("b"))
    assert log.seen == [("ADDED", "a", 2), ("DELETED", "a", 3), ("ADDED", "b", 4)]


def test_a_namespace_hears_only_of_itself(bucket: Bucket) -> None:
    """Given a subscriber to one namespace / when things happen in two / then it hears of one."""
    bucket.create(pod("a", "one"))
    log = Log()
    bucket.subscribe(1, "one", log)
    bucket.create(pod("b", "two"))
    bucket.create(pod("c", "one"))
    assert [name for _, name, _ in log.seen] == ["a", "c"]


def test_a_field_hears_of_what_comes_stays_and_leaves(bucket: Bucket) -> None:
    """Given subscribers to two nodes' pods / when a pod moves / then both hear of it, and each of
    its own besides.
    """
    one, two = Log(), Log()
    bucket.subscribe(1, "", one, field=("spec.nodeName", "n1"))
    bucket.subscribe(1, "", two, field=("spec.nodeName", "n2"))
    record = bucket.create(pod("a", node="n1"))
    record = bucket.update(pod("a", node="n2"), record)
    bucket.update(pod("a", node="n2", labels={"x": "y"}), record)
    assert [revision for _, _, revision in one.seen] == [2, 3]
    assert [revision for _, _, revision in two.seen] == [3, 4]


def test_a_subscription_may_begin_in_the_future(bucket: Bucket) -> None:
    """Given a subscription from a revision to come / when events pass it / then only those behind
    it are told.
    """
    log = Log()
    bucket.subscribe(3, "", log)
    for name in "abc":
        bucket.create(pod(name))
    assert log.seen == [("ADDED", "c", 4)]


def test_nothing_comes_after_cancel_even_within_an_event(bucket: Bucket) -> None:
    """Given two subscribers of which the first cancels the second / when an event comes
    / then the second is not told.
    """
    second, log = [], Log()
    bucket.subscribe(1, "", lambda _: second[0].cancel())
    second.append(bucket.subscribe(1, "", log))
    bucket.create(pod("a"))
    second[0].cancel()
    assert log.seen == []


def test_cancel_while_the_past_is_told(bucket: Bucket) -> None:
    """Given a subscriber that has enough after its first event / when it cancels later
    / then live events do not come.
    """
    bucket.create(pod("a"))
    log = Log()
    subscription: Subscription = bucket.subscribe(1, "", log)
    subscription.cancel()
    bucket.create(pod("b"))
    assert len(log.seen) == 1


def test_a_subscription_that_ends_twice_ends_once(bucket: Bucket) -> None:
    """Given two subscriptions with the same receiver / when one is cancelled twice / then the other
    hears on, and nobody has heard of the cancelled one again.
    """
    log, other = Log(), Log()
    gone, stays = bucket.subscribe(1, "", log), bucket.subscribe(1, "", other)
    gone.cancel()
    gone.cancel()
    bucket.create(pod("a"))
    assert (log.seen, other.seen) == ([], [("ADDED", "a", 2)])
    assert (gone.active, stays.active) == (False, True)
    stays.cancel()
    bucket.create(pod("b"))
    assert len(other.seen) == 1
