"""What is told of a cached object that somebody changed, and what is expected of a cache."""

from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.cache.expectations import Expectations
from fakekube.cache.mutation import CacheMutated, MutationDetector, WatchedIndexer
from fakekube.util.clock import ManualClock

START = 1767225600.0
ADVICE = "What a lister, an index or a handler gives is shared and read-only: change a copy (copy.deepcopy, or client.get)"


def pod(**more: Any) -> dict[str, Any]:
    spec = {"a": 1, "b": [1, {"c": "d"}], "e.f": "g"}
    return {"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}, "spec": spec, **more}


def told_of(change: Any, obj: dict[str, Any], acting: Acting | None = None) -> list[str]:
    """What is told when an object is changed after it was handed out."""
    told: list[CacheMutated] = []
    detector = MutationDetector(told.append)
    indexer = WatchedIndexer(detector)
    indexer.put(meta.key_of(obj), obj)
    token = ACTING.set(acting)
    found = indexer.get("ns", "p")
    ACTING.reset(token)
    change(found)
    detector.close()
    detector.close()
    return [line for mutated in told for line in str(mutated).splitlines()]


def test_every_difference_is_told_with_its_place() -> None:
    """Given a cached object / when fields are set, added, removed and changed in their type / then
    three are told by their paths with both values, and how many more there are.
    """
    def change(obj: dict[str, Any]) -> None:
        obj["spec"]["a"] = True
        del obj["kind"]

    def add(obj: dict[str, Any]) -> None:
        obj["spec"]["b"].append({"new": None})
        obj["spec"]["e.f"] = "h"
        obj["spec"]["b"][1]["c"] = "x" * 299

    head = "cached Pod ns/p was changed by the controller web at ns/p:"
    acting = Acting("web", "ns/p", "7")
    assert told_of(change, pod(), acting) == [head, '  kind: "Pod" -> (none)', "  spec.a: 1 -> true", ADVICE]
    text = '"' + "x" * 299 + "..."
    lines = [head, f'  spec.b[1].c: "d" -> {text}', '  spec.b[2]: (none) -> {"new":null}', '  spec[e.f]: "g" -> "h"']
    assert told_of(add, pod(), acting) == [*lines, ADVICE]

    def both(obj: dict[str, Any]) -> None:
        add(obj)
        obj["status"] = {}

    assert told_of(both, pod(), acting) == [*lines, "  and 1 more", ADVICE]
    fits = told_of(lambda obj: obj.update(kind="k" * 298), pod(), acting)
    assert fits[1] == '  kind: "Pod" -> "' + "k" * 298 + '"'


def test_who_had_it_is_named() -> None:
    """Given an object that was handed out outside of a reconcile, to something without a name, or
    never / when it is changed / then that is told.
    """
    def change(obj: dict[str, Any]) -> None:
        obj["spec"] = {}

    outside = "cached Pod ns/p was changed by what runs outside of a reconcile:"
    assert told_of(change, pod())[0] == outside
    assert told_of(change, pod(), Acting("", None, "7"))[0] == outside

    def reorder(obj: dict[str, Any]) -> None:
        obj["kind"] = obj.pop("kind")

    assert told_of(reorder, pod())[1:] == ["  the order of its fields", ADVICE]
    assert told_of(lambda _: None, pod()) == []


def test_expectations_of_creations_and_deletions() -> None:
    """Given expectations / when things are seen, more is expected, or five minutes pass / then they
    are satisfied as upstream's are; a key of which nothing is expected always is.
    """
    clock = ManualClock()
    found = Expectations(clock)
    assert found.satisfied("a")
    for observe in (found.creation_observed, lambda key: found.raise_expectations(key, 1, 1)):
        observe("a")
    assert found.satisfied("a")
    found.expect_creations("a", 2)
    found.creation_observed("a")
    assert not found.satisfied("a")
    found.raise_expectations("a", 1, 0)
    found.creation_observed("a")
    assert not found.satisfied("a")
    found.creation_observed("a")
    assert found.satisfied("a")
    found.expect_deletions("a", 1)
    assert not found.satisfied("a")
    clock.move_to(START + 300)
    assert not found.satisfied("a")
    clock.move_to(START + 300.5)
    assert found.satisfied("a")
    found.expect_deletions_of("a", ["x", "y"])
    assert not found.satisfied("a")
    found.expect_creations("b", 1)
    found.expect_deletions_of("b", [])
    assert not found.satisfied("b")
