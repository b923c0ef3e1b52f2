"""A fork is the same state, and from then on nobody's business but its own."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube.storage.memory import Bucket, Storage
from tests.storage.pods import PODS, pod, pods

NAMES, NAMESPACES, NODES = ("a", "b", "c"), ("ns", "ns-2"), ("", "n1", "n2")
writes = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMESPACES), st.sampled_from((*NODES, None))), max_size=12)


def write(bucket: Bucket, changes: list[tuple[str, str, str | None]]) -> None:
    """Create, update or (without a node) delete."""
    for name, namespace, node in changes:
        present = bucket.get(namespace, name)
        if node is None:
            if present is not None:
                bucket.delete(present)
        elif present is None:
            bucket.create(pod(name, namespace, node=node, labels={"node": node}))
        else:
            bucket.update(pod(name, namespace, node=node, labels={"node": node}), present)


def all_of(bucket: Bucket) -> dict[str, Any]:
    """Whatever can be asked of a bucket."""
    return {
        "records": [(record.data, record.revision) for record in bucket.records()],
        "names": {namespace: [record.name for record in bucket.records(namespace)] for namespace in NAMESPACES},
        "by node": {node: [record.data for record in bucket.by_field("spec.nodeName", node)] for node in NODES},
        "by label": {node: [record.data for record in bucket.by_label("node", node) or ()] for node in NODES},
        "history": [(event.type, event.revision, event.record.data) for event in bucket.history()],
        "past": [[record.data for record in bucket.at(revision).page().records]
                 for revision in range(bucket.compacted, bucket.revision + 1)],
        "counts": (len(bucket), bucket.revision, bucket.compacted),
    }


@settings(max_examples=150, deadline=None)
@given(before=writes, left=writes, right=writes, later=writes, indexed=st.booleans(), max_events=st.sampled_from([4, 1000]),
       plain_events=st.sampled_from([0, 3, 1000]))
def test_both_sides_of_a_fork_are_as_if_there_were_no_other(before, left, right, later, indexed, max_events, plain_events
) -> None:
    """Given any writes, a fork, and different writes on both sides, one of which forks again, when
    each is asked for all that it knows, then its answers are those of a storage that saw just its
    own writes.
    """
    def fresh(*parts: list[tuple[str, str, str | None]]) -> dict[str, Any]:
        bucket = pods(Storage(max_events=max_events))  # nothing packed
        for changes in parts:
            write(bucket, changes)
        return all_of(bucket)

    storage = Storage(max_events=max_events, plain_events=plain_events)
    one = pods(storage)
    write(one, before)
    if indexed:
        all_of(one)
    two = pods(storage.fork())
    write(one, left)
    write(two, right)
    three = pods(two.storage.fork())
    write(two, later)
    assert all_of(one) == fresh(before, left)
    assert all_of(two) == fresh(before, right, later)
    assert all_of(three) == fresh(before, right)


def test_a_fork_is_not_heard_of_where_it_came_from() -> None:
    """Given a watcher of a bucket, when a fork is written to, then the watcher hears nothing; it
    still hears of its own.
    """
    storage = Storage()
    heard: list[str] = []
    pods(storage).subscribe(1, "", lambda event: heard.append(event.record.name))
    pods(storage.fork()).create(pod("there"))
    pods(storage).create(pod("here"))
    assert heard == ["here"]


def test_a_fork_copies_no_object() -> None:
    """Given a bucket with objects, when it is forked, then both have the very same records."""
    storage = Storage()
    bucket = pods(storage)
    for number in range(100):
        bucket.create(pod(f"p{number}"))
    assert all(a is b for a, b in zip(bucket.records(), storage.fork().bucket(PODS).records(), strict=True))
