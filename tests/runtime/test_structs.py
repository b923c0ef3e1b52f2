"""Objects as controllers in Go write them, numbers for scrapers, and which events matter."""

import math
from datetime import timedelta
from typing import Any

import pytest

from fakekube.client.resources import JOBS, NODES
from fakekube.runtime.configmodels import near, without_nulls
from fakekube.runtime.gostructs import CannotDecode, Structs
from fakekube.runtime.handlers import to_owner, to_self
from fakekube.runtime.metrics import Metrics
from fakekube.runtime.predicates import (
    Predicate,
    all_of,
    annotations_changed,
    any_of,
    for_objects,
    generation_changed,
    labels_changed,
    resource_version_changed,
)
from fakekube.runtime.reconcile import Result, has_setup

TABLE = """# a comment
Thing name:!s count:i share:f on:*b size:q port:v parts:[]Part labels:{}s first:!*Part needed:!Part any:x
Part kind:!s list:[][]i sizes:{}q
"""
STRUCTS = Structs(TABLE)
EMPTY = {"name": "", "first": None, "needed": {"kind": ""}}


@pytest.mark.parametrize(("value", "encoded", "shown", "compared"), [
    ({}, EMPTY, EMPTY, {}),
    (None, EMPTY, EMPTY, None),
    ({"other": 1, "name": None, "count": 0, "on": False, "size": "0.5", "port": "http", "any": [1]},
     {"other": 1, **EMPTY, "count": 0, "on": False, "size": "500m", "port": "http", "any": [1]},
     {"name": "", "on": False, "size": "500m", "port": "http", "first": None, "needed": {"kind": ""}, "any": [1]},
     {"other": 1, "on": False, "size": "500m", "port": "http", "any": [1]}),
    ({"parts": [{"list": [[1], []]}, None], "labels": {"b": "c", "a": None}, "first": {"sizes": {"z": 1, "y": "1000"}}},
     {"parts": [{"list": [[1], []], "kind": ""}, {"kind": ""}], "labels": {"b": "c", "a": ""},
      "first": {"sizes": {"z": "1", "y": "1k"}, "kind": ""}, "name": "", "needed": {"kind": ""}},
     {"name": "", "parts": [{"kind": "", "list": [[1], []]}, {"kind": ""}], "labels": {"a": "", "b": "c"},
      "first": {"kind": "", "sizes": {"y": "1k", "z": "1"}}, "needed": {"kind": ""}},
     {"parts": [{"list": [[1], []]}, {}], "labels": {"b": "c", "a": ""}, "first": {"sizes": {"z": "1", "y": "1k"}}}),
    ({"parts": [], "labels": {}, "size": 0, "share": 1.5, "port": 0, "count": 5},
     {"parts": [], "labels": {}, "size": "0", "share": 1.5, "port": 0, "count": 5, **EMPTY},
     {"name": "", "count": 5, "share": 1.5, "size": "0", "first": None, "needed": {"kind": ""}},
     {"share": 1.5, "count": 5}),
])
def test_an_object_as_go_writes_shows_and_compares_it(value: Any, encoded: Any, shown: Any, compared: Any) -> None:
    """Given trees with fields that are empty, null, unknown, and in other forms / when they are
    written, shown and compared / then they are as Go's encoder makes them.
    """
    assert STRUCTS.encoded(value, "Thing") == encoded
    found = STRUCTS.shown(value, "Thing")
    assert (found, list(found)) == (shown, list(shown))
    assert STRUCTS.compared(STRUCTS.encoded(value, "Thing") if value is not None else None, "Thing") == compared


@pytest.mark.parametrize(("value", "text"), [
    ({"name": 5}, "number into Go struct field Thing.name of type string"),
    ({"name": True}, "bool into Go struct field Thing.name of type string"),
    ({"count": "x"}, "string into Go struct field Thing.count of type int32"),
    ({"count": True}, "bool into Go struct field Thing.count of type int32"),
    ({"count": 1.5}, "number 1.5 into Go struct field Thing.count of type int32"),
    ({"on": 1}, "number into Go struct field Thing.on of type bool"),
    ({"share": "1"}, "string into Go struct field Thing.share of type float64"),
    ({"size": []}, "array into Go struct field Thing.size of type resource.Quantity"),
    ({"port": {}}, "object into Go struct field Thing.port of type intstr.IntOrString"),
    ({"parts": {}}, "object into Go struct field Thing.parts of type []Part"),
    ({"parts": [5]}, "number into Go struct field Thing.parts of type Part"),
    ({"parts": [{"list": [5]}]}, "number into Go struct field Part.parts.list of type []int32"),
    ({"labels": []}, "array into Go struct field Thing.labels of type map[string]string"),
    ({"labels": {"a": 1}}, "number into Go struct field Thing.labels of type string"),
    ({"needed": {"kind": 1}}, "number into Go struct field Part.needed.kind of type string"),
    ([], "array into Go value of type Thing"),
])
def test_what_go_cannot_read_is_told_in_its_words(value: Any, text: str) -> None:
    """Given values of another type / then the refusal is that of encoding/json."""
    with pytest.raises(CannotDecode) as error:
        STRUCTS.encoded(value, "Thing")
    assert str(error.value) == f"json: cannot unmarshal {text}"


def test_an_amount_that_is_none_is_told_in_its_readers_words() -> None:
    """Given a text that is no amount / then the refusal is that of the reader of amounts."""
    with pytest.raises(CannotDecode, match=r"^quantities must match the regular expression"):
        STRUCTS.encoded({"size": "lots"}, "Thing")


def test_what_a_scraper_reads_of_every_sort_of_number() -> None:
    """Given metrics of every sort, some never set / when they are read, and asked for / then the
    text is Prometheus', and what is wrong is named.
    """
    store = Metrics()
    gauge = store.gauge("g", "A\\b", ("x", "y"))
    for number, value in enumerate((math.inf, -math.inf, math.nan, 2.0, 2.5)):
        gauge.set(value, str(number), "z")
    counter = store.counter("c", "Count", ())
    counter.add(0)
    store.counter("never", "Never")
    assert store.text() == (
        '# HELP c Count\n# TYPE c counter\nc 0\n# HELP g A\\\\b\n# TYPE g gauge\ng{x="0",y="z"} +Inf\ng{x="1",y="z"} -Inf\n'
        'g{x="2",y="z"} NaN\ng{x="3",y="z"} 2\ng{x="4",y="z"} 2.5\n')
    counter.add(2.5)
    counter.inc()
    assert (store.value("c"), store.value("g", x="4"), store.value("g", x="3", y="z"), store.value("never")) == (3.5, 2.5, 2, 0)
    gauge.clear()
    assert store.value("g") == 0
    with pytest.raises(ValueError, match=r"^c only goes up, not by -1$"):
        counter.add(-1)
    with pytest.raises(KeyError, match="g has no label 'w': there are x, y"):
        store.value("g", w="1")
    with pytest.raises(KeyError, match="c has no label 'w': there are none"):
        store.value("c", w="1")
    with pytest.raises(KeyError, match=(
            "there is no metric m: there are c, g, never, workqueue_adds_total, workqueue_depth, workqueue_retries_total")):
        store.value("m")
    with pytest.raises(ValueError, match=r"^there is another metric c: a counter of no label$"):
        store.gauge("c", "Count")
    read: list[int] = []
    end = store.before_reading(lambda: read.append(1))
    store.text()
    store.value("c")
    end()
    store.text()
    assert len(read) == 3


def of(**metadata: Any) -> dict[str, Any]:
    return {"metadata": metadata}


@pytest.mark.parametrize(("predicate", "old", "new"), [
    (generation_changed(), of(generation=1), of(generation=2)), (labels_changed(), of(labels={"a": "b"}), of(labels={})),
    (annotations_changed(), of(annotations={"a": "b"}), of(annotations={})),
    (resource_version_changed(), of(resourceVersion="1"), of(resourceVersion="2")),
])
def test_an_update_matters_where_something_changed(predicate: Predicate, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Given updates that change what is looked at, and others / then the former matter, and so do
    all creations and deletions.
    """
    assert predicate.update(old, new)
    assert not predicate.update(old, {"metadata": {**old["metadata"], "other": 1}})
    assert predicate.create(old)
    assert predicate.delete(old)


def test_predicates_are_joined() -> None:
    """Given predicates that say yes or no / when they are joined / then one, or all, have to say
    yes to each sort of event; of an update the new state is asked.
    """
    named = for_objects(lambda obj: obj["metadata"]["name"] == "a")
    labelled = for_objects(lambda obj: "labels" in obj["metadata"])
    one, other, both, none = of(name="a"), of(name="b", labels={}), of(name="a", labels={}), of(name="b")
    any_one, all_both = [True, True, True, False], [False, False, True, False]
    for joined, wanted in ((any_of(named, labelled), any_one), (all_of(named, labelled), all_both)):
        assert [joined.create(obj) for obj in (one, other, both, none)] == wanted
        assert [joined.delete(obj) for obj in (one, other, both, none)] == wanted
        assert [joined.update(none, obj) for obj in (one, other, both, none)] == wanted
        assert [joined.update(both, obj) for obj in (one, other, both, none)] == wanted
    assert Predicate().update(one, one)


def test_whom_an_object_stands_for() -> None:
    """Given objects with owners of several kinds / when they are mapped / then to themselves, or to
    their controllers, or to all owners, of a kind and group in any version.
    """
    owners = [
        {"apiVersion": "batch/v1beta1", "kind": "Job", "name": "a", "controller": True},
        {"apiVersion": "batch/v1", "kind": "Job", "name": "b"},
        {"apiVersion": "other/v1", "kind": "Job", "name": "c", "controller": True},
        {"apiVersion": "batch/v1", "kind": "CronJob", "name": "d", "controller": True},
        {"apiVersion": "v1", "kind": "Node", "name": "e", "controller": True}]
    pod = of(name="p", namespace="ns", ownerReferences=owners)
    assert list(to_self(pod)) == [("ns", "p")]
    assert list(to_self(of(name="n"))) == [("", "n")]
    assert list(to_owner(JOBS)(pod)) == [("ns", "a")]
    assert list(to_owner(JOBS, controller_only=False)(pod)) == [("ns", "a"), ("ns", "b")]
    assert list(to_owner(NODES)(pod)) == [("", "e")]


def test_small_helpers_of_controllers() -> None:
    """Given times to wait, words and trees / then each helper answers."""
    assert Result.after(5) == (timedelta(seconds=5), False)
    assert Result.after(5, daemon=True) == (timedelta(seconds=5), True)
    assert [Result.after(seconds).requeue_after for seconds in (1e-9, 0.0, -1.0)] == [
        timedelta.resolution, timedelta(), timedelta(seconds=-1)]
    assert (Result().requeue_after, Result().daemon, has_setup(object())) == (None, False, False)
    known = ["waitForPodsReady", "podsReadyTimeout", "integrations"]
    assert [near(word, known) for word in ("waitForPodReady", "PODS", "pod", "xyz", "ready")] == [
        ": did you mean waitForPodsReady?", ": did you mean waitForPodsReady or podsReadyTimeout?", "", "",
        ": did you mean waitForPodsReady or podsReadyTimeout?"]
    given = {"a": None, "b": [{"c": None}, None], "raw": {"d": None}}
    assert without_nulls(given, "raw") == {"b": [{}, None], "raw": {"d": None}}
