"""How many Events of the same sort there are: each number of upstream's, at its edge."""

from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube.client.correlator import Correlator
from fakekube.client.event_series import Series
from fakekube.client.recorder import object_reference
from fakekube.util.clock import ManualClock


class World:
    """A correlator and a clock; Events are named by their numbers."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.correlator = Correlator(self.clock)
        self.start, self.count = self.clock.time(), 0

    def at(self, seconds: float) -> None:
        self.clock.move_to(self.start + seconds)

    def event(self, message: str = "m", **more: Any) -> tuple[Tree, Tree | None] | None:
        """What becomes of an Event: it, as it is written, and its patch."""
        self.count += 1
        event = {
            "metadata": {"name": f"e{self.count}"}, "source": {"component": "c"}, "type": "Normal", "reason": "R",
            "involvedObject": {"kind": "Pod", "name": "a", "uid": "u", "namespace": "ns", "apiVersion": "v1"},
            "message": message, "firstTimestamp": f"t{self.count}", "lastTimestamp": f"t{self.count}", "count": 1, **more}
        found = self.correlator.correlate(event)
        return None if found is None else (found.event, found.patch)


def test_a_repetition_is_counted_in_the_first_event() -> None:
    """Given an Event / when it comes again and again / then the first is patched with its count,
    time and message.
    """
    world = World()
    first = world.event()
    assert first is not None
    assert (first[0]["metadata"]["name"], first[1]) == ("e1", None)
    for number in (2, 3):
        again = world.event()
        assert again is not None
        assert (again[0]["metadata"]["name"], again[0]["firstTimestamp"], again[0]["count"]) == ("e1", "t1", number)
        assert again[1] == {"count": number, "lastTimestamp": f"t{number}", "message": "m"}


def test_what_differs_in_anything_is_another_event() -> None:
    """Given an Event / when one comes that differs in its source, object, type, reason, field or
    message / then it is written by itself; one that differs in its version is not another.
    """
    world = World()
    involved = {"kind": "Pod", "name": "a", "uid": "u", "namespace": "ns", "apiVersion": "v1"}
    assert world.event() is not None
    others: list[dict[str, Any]] = [
        {"source": {"component": "d"}}, {"source": {"component": "c", "host": "h"}}, {"type": "Warning"}, {"reason": "S"},
        {"message": "n"}, *({"involvedObject": {**involved, name: "x"}} for name in (*involved, "fieldPath"))]
    for more in others:
        found = world.event(**{"message": "m", **more})
        assert found is not None
        assert found[1] is None, more
    found = world.event(involvedObject={**involved, "resourceVersion": "9"})
    assert found is not None
    assert found[1] == {"count": 2, "lastTimestamp": f"t{world.count}", "message": "m"}


def test_the_tenth_similar_event_combines_and_ten_minutes_end_it() -> None:
    """Given Events that differ by message / when the tenth comes within ten minutes of the one
    before / then it stands for all further ones; a second later than that, they are new again.
    """
    world = World()
    assert [found[1] for number in range(9) if (found := world.event(f"m{number}"))] == [None] * 9
    combined = world.event("m9")
    assert combined is not None
    assert (combined[0]["message"], combined[1]) == ("(combined from similar events): m9", None)
    world.at(600)
    again = world.event("m10")
    assert again is not None
    assert (again[0]["metadata"]["name"], again[1]) == ("e10", {
        "count": 2, "lastTimestamp": "t11", "message": "(combined from similar events): m10"})
    world.at(1200.5)
    fresh = world.event("m11")
    assert fresh is not None
    assert (fresh[0]["message"], fresh[1]) == ("m11", None)


def test_a_source_has_twenty_five_events_and_one_more_in_five_minutes() -> None:
    """Given a flood of Events about one object / when the 26th comes / then it is dropped, and
    counted; 300 seconds later there is room for one, an hour later for twelve, never for more than
    25; another object has its own room.
    """
    world = World()

    def written(count: int, **more: Any) -> int:
        return sum(world.event(**more) is not None for _ in range(count))

    assert written(30) == 25
    world.at(299)
    assert written(2) == 0
    world.at(300)
    assert written(2) == 1
    world.at(300 + 3600)
    assert written(20) == 12
    world.at(10_000_000)
    found = [one for _ in range(40) if (one := world.event()) is not None]
    assert len(found) == 25
    assert found[0][0]["count"] == 55
    assert written(40, involvedObject={"kind": "Pod", "name": "b"}) == 25


def test_the_oldest_of_many_is_forgotten() -> None:
    """Given Events about 4096 objects, the first of them seen again meanwhile / when one more comes
    / then the second is forgotten, and the first is not.
    """
    world = World()

    def about(name: str) -> Tree | None:
        found = world.event(involvedObject={"kind": "Pod", "name": name})
        assert found is not None
        return found[1]

    for number in range(4096):
        assert about(f"p{number}") is None
    assert about("p0") is not None
    assert about("new") is None
    assert about("p0") is not None
    assert about("p1") is None
    assert about("p3") is not None


def test_a_series_is_written_with_its_second_event_and_at_its_end() -> None:
    """Given reports of the same / when they come again and end / then the second is written at
    once, further ones after six minutes of silence, and one that came but twice, or was not
    repeated, not again.
    """
    clock = ManualClock()
    series, start = Series(clock), clock.time()

    def report(**more: Any) -> Tree:
        return {"type": "Normal", "action": "a", "reason": "r", "reportingController": "c", "reportingInstance": "i",
                "regarding": {"name": "p"}, "note": f"n{clock.time()}", **more}

    assert not series
    first = series.observe(report())
    assert first is not None
    assert (first.patch, "series" in first.event) == (None, False)
    for name in ("type", "action", "reason", "reportingController", "reportingInstance", "regarding", "related"):
        other = series.observe(report(**{name: {"name": "other"}}))
        assert other is not None
        assert other.patch is None
    clock.move_to(start + 1)
    second = series.observe(report(note="other"))
    time = f"2026-01-01T00:00:0{1}.000000Z"
    assert second is not None
    assert second.patch is not None
    assert second.patch["series"]["count"] == 2
    assert second.event["note"] == f"n{start}"
    assert second.event["series"] == second.patch["series"]
    assert second.patch["series"]["lastObservedTime"].endswith(time[-11:])
    clock.move_to(start + 2)
    assert series.observe(report()) is None
    clock.move_to(start + 361.9)
    assert list(series.finish()) == []
    assert series
    clock.move_to(start + 362)
    finished = list(series.finish())
    assert [found.patch and found.patch["series"]["count"] for found in finished] == [3]
    assert not series


def test_what_an_event_says_of_its_object() -> None:
    """Given objects / when an Event refers to them / then it has what they say, in upstream's
    order, and nothing that is empty.
    """
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {
        "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7", "labels": {}}}
    assert list(object_reference(pod, "spec.containers{c}").items()) == [
        ("kind", "Pod"), ("namespace", "ns"), ("name", "a"), ("uid", "u"), ("apiVersion", "v1"), ("resourceVersion", "7"),
        ("fieldPath", "spec.containers{c}")]
    assert object_reference({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}) == {
        "kind": "Node", "name": "n", "apiVersion": "v1"}
