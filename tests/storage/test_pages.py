"""Pages of lists: order, where they end, what they choose."""

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.memory import Bucket, Record, Storage
from tests.storage.pods import pod


def keys(records: list[Record]) -> list[str]:
    return [f"{record.namespace}/{record.name}" for record in records]


@pytest.mark.spec("API-074")
def test_keys_sort_by_their_bytes_across_namespaces(bucket: Bucket) -> None:
    """Given namespaces of which one begins like another / when all are listed / then order is that
    of whole keys.
    """
    for namespace in ("a", "a-b", "a.b", "b"):
        bucket.create(pod("x", namespace))
    assert keys(bucket.records()) == ["a-b/x", "a.b/x", "a/x", "b/x"]


def test_names_sort_by_their_bytes(bucket: Bucket) -> None:
    """Given names with signs and digits / when they are listed / then bytes decide, whatever the
    order of creation.
    """
    for name in ("ab", "a0", "a.b", "a-b", "a", "0a"):
        bucket.create(pod(name))
    assert [record.name for record in bucket.records("ns")] == ["0a", "a", "a-b", "a.b", "a0", "ab"]


def test_pages_go_on_where_they_ended(bucket: Bucket) -> None:
    """Given five objects in three namespaces / when they are read by twos
    / then each comes once, and the rest is counted.
    """
    for key in (("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y")):
        bucket.create(pod(key[1], key[0]))
    first = bucket.page(limit=2)
    second = bucket.page(limit=2, start=first.next_start)
    third = bucket.page(limit=2, start=second.next_start)
    assert (keys(first.records), first.remaining) == (["a/x", "a/y"], 3)
    assert (keys(second.records), second.remaining) == (["b/x", "c/x"], 1)
    assert (keys(third.records), third.remaining, third.next_start) == (["c/y"], 0, "")


def test_a_page_is_filled_with_what_matches(bucket: Bucket) -> None:
    """Given objects of which some match / when a page of two is read
    / then two that match, and a next page if any key is left.
    """
    for name in "abcde":
        bucket.create(pod(name, labels={"t": "1"} if name in "ace" else None))
    page = bucket.page("ns", limit=2, match=lambda record: record.labels.get("t") == "1")
    assert [record.name for record in page.records] == ["a", "c"]
    assert page.next_start == "c\0"
    rest = bucket.page("ns", limit=2, start=page.next_start, match=lambda record: record.labels.get("t") == "1")
    assert [record.name for record in rest.records] == ["e"]
    assert rest.next_start == ""


def test_what_matches_is_found_however_far_it_is(bucket: Bucket) -> None:
    """Given 1,200 objects of which the 3rd, 700th, 1,000th and last match / when a page of three is
    read and the next one / then they have these, and a page that is full with the last one has no
    next.
    """
    for number in range(1_200):
        bucket.create(pod(f"p{number:04}", labels={"t": "1"} if number in (3, 700, 1_000, 1_199) else None))

    def match(record: Record) -> bool:
        return record.label("t") == "1"

    first = bucket.page("ns", limit=3, match=match)
    assert [record.name for record in first.records] == ["p0003", "p0700", "p1000"]
    assert (first.next_start, first.remaining) == ("p1000\0", 199)
    rest = bucket.page("ns", limit=1, start=first.next_start, match=match)
    assert ([record.name for record in rest.records], rest.next_start, rest.remaining) == (["p1199"], "", 0)


def test_a_page_of_the_past_has_what_came_and_went_since_undone(bucket: Bucket) -> None:
    """Given objects of which some were deleted and others created since / when the past is read by
    twos / then it has what was there, in order, and counts the rest.
    """
    for name in "bdfh":
        bucket.create(pod(name))
    then = bucket.revision
    for name in "ach":
        present = bucket.get("ns", name)
        if present is None:
            bucket.create(pod(name))
        else:
            bucket.delete(present)
    bucket.create(pod("x", "other"))
    first = bucket.at(then).page("ns", limit=2)
    second = bucket.at(then).page("ns", limit=2, start=first.next_start)
    assert ([record.name for record in first.records], first.remaining) == (["b", "d"], 2)
    assert ([record.name for record in second.records], second.next_start) == (["f", "h"], "")
    assert keys(bucket.at(then).page().records) == ["ns/b", "ns/d", "ns/f", "ns/h"]


def test_objects_without_a_namespace(storage: Storage) -> None:
    """Given a cluster-scoped resource / when it is read in pages / then its keys are names."""
    nodes = storage.add_bucket(GroupResource("", "nodes"), fields=None)
    for name in ("n2", "n1"):
        nodes.create({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}})
    page = nodes.page(limit=1)
    assert page.next_start == "n1\0"
    assert [record.name for record in nodes.page(start=page.next_start).records] == ["n2"]
    assert nodes.get("", "n1") is page.records[0]


def test_so_many_labels_have_an_index_and_no_more(bucket: Bucket) -> None:
    """Given questions about many labels / when there are enough indexes / then the answer is that a
    scan must do.
    """
    bucket.create(pod("a", labels={"k0": "v"}))
    answers = [bucket.by_label(f"k{number}", "v") for number in range(9)]
    assert answers[0] is not None
    assert [record.name for record in answers[0]] == ["a"]
    assert answers[7] == []
    assert answers[8] is None
