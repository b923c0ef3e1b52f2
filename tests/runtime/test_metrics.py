"""Counters, gauges and histograms, how they are read in a test, and the text of a scrape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.client.resources import NAMESPACES
from fakekube.composition.cluster import Cluster
from fakekube.runtime.metrics import Metrics
from fakekube.util.activity import Activity
from fakekube.util.clock import START, ManualClock
from fakekube.workqueue.queue import WorkQueue


def test_a_counter_counts_by_labels():
    """Given a counter of two labels / when it counts / then it is read whole, by one label and by
    both; 0 for what never was.
    """
    store = Metrics()
    seen = store.counter("seen_total", "Seen.", ["kind", "result"])
    seen.inc("a", "good")
    seen.add(2, "a", "bad")
    seen.inc("b", "good")
    assert store.value("seen_total") == 4
    assert store.value("seen_total", kind="a") == 3
    assert store.value("seen_total", kind="a", result="bad") == 2
    assert store.value("seen_total", kind="c") == 0


def test_what_is_unknown_is_told():
    """Given a store / when another metric or label is asked for, or a counter is to go down / then
    it says what there is.
    """
    store = Metrics()
    counter = store.counter("seen_total", "Seen.", ["kind"])
    with pytest.raises(KeyError, match=r"no metric sen_total: there are seen_total, workqueue_adds_total"):
        store.value("sen_total")
    with pytest.raises(KeyError, match=r"seen_total has no label 'kin': there are kind"):
        store.value("seen_total", kin="a")
    with pytest.raises(ValueError, match="only goes up"):
        counter.add(-1, "a")


def test_a_name_stands_for_one_metric():
    """Given a counter / when it is asked for again / then it is the same; with other labels, or as
    a gauge, it is refused.
    """
    store = Metrics()
    assert store.counter("seen_total", "Seen.", ["kind"]) is store.counter("seen_total", "Seen.", ["kind"])
    with pytest.raises(ValueError, match="another metric seen_total: a counter of kind"):
        store.counter("seen_total", "Seen.")
    with pytest.raises(ValueError, match="another metric"):
        store.gauge("seen_total", "Seen.", ["kind"])


def test_the_text_is_what_prometheus_reads():
    """Given one of each kind / then the text has help, type and every line, labels escaped, buckets
    cumulative.
    """
    store = Metrics()
    store.counter("b_total", "Help\nof two lines.", ["name"]).inc('a"b\\c\nd')
    store.gauge("a", "A gauge.").set(0.5)
    histogram = store.histogram("c_seconds", "How long.", ["kind"], buckets=(0.1, 1))
    for seconds in (0.1, 0.5, 7.5):
        histogram.observe(seconds, "k")
    assert store.value("c_seconds") == 3
    assert store.text() == """\
# HELP a A gauge.
# TYPE a gauge
a 0.5
# HELP b_total Help\\nof two lines.
# TYPE b_total counter
b_total{name="a\\"b\\\\c\\nd"} 1
# HELP c_seconds How long.
# TYPE c_seconds histogram
c_seconds_bucket{kind="k",le="0.1"} 1
c_seconds_bucket{kind="k",le="1"} 2
c_seconds_bucket{kind="k",le="+Inf"} 3
c_seconds_sum{kind="k"} 8.1
c_seconds_count{kind="k"} 3
"""


@given(st.lists(st.floats(0, 10)))
def test_the_last_bucket_holds_all(sizes):
    """Given any observations / then each bucket counts those up to its bound, and the last one all.
    """
    store = Metrics()
    histogram = store.histogram("h", "H.", buckets=(1, 2, 5))
    for size in sizes:
        histogram.observe(size)
    found = {values[-1]: number for name, values, _, number in histogram.samples() if name == "h_bucket"}
    assert found == ({"1": sum(s <= 1 for s in sizes), "2": sum(s <= 2 for s in sizes), "5": sum(s <= 5 for s in sizes),
                      "+Inf": len(sizes)} if sizes else {})


def test_queues_are_counted_while_they_live_and_after():
    """Given a queue / when keys are added twice and tried again / then that is counted, also once
    it is gone.
    """
    clock, activity = ManualClock(START, Activity()), Activity()
    store = Metrics()
    queue = WorkQueue(clock, activity, name="q")
    store.watch_queue(queue)
    for key in ("a", "a", "b"):
        queue.add(key)
    queue.add_rate_limited("c")
    assert (store.value("workqueue_adds_total", name="q"), store.value("workqueue_depth", name="q")) == (2, 2)
    queue.shut_down()
    store.drop_queue(queue)
    assert store.value("workqueue_adds_total", name="q") == 2
    assert store.value("workqueue_retries_total", name="q") == 1
    assert store.value("workqueue_depth", name="q") == 0


async def test_a_cluster_shows_what_its_controllers_count():
    """Given a controller at work / when /metrics is asked / then it has the lines of both, also
    after a restore.
    """
    async with Cluster(nodes=0, clock="manual", controllers="serviceaccount") as cluster:
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.settle()
        answer = await cluster.client.request("GET", "/metrics")
        text = answer.body.decode()
        assert "apiserver_request_total" in text
        assert 'workqueue_adds_total{name="serviceaccount"}' in text
        assert text.count("# TYPE workqueue_adds_total counter") == 1
        before = cluster.metrics.value("workqueue_adds_total")
        await cluster.restore(cluster.snapshot())
        assert 'workqueue_adds_total{name="serviceaccount"}' in (await cluster.client.request("GET", "/metrics")).body.decode()
        assert cluster.metrics.value("workqueue_adds_total") >= before


def test_queues_are_told_in_upstreams_words():
    """Given a manager's metrics / when they are read / then the queues' are called as upstream
    calls them, each with its help.
    """
    store, clock = Metrics(), ManualClock(START, Activity())
    queue = WorkQueue(clock, Activity(), name="q")
    store.watch_queue(queue)
    queue.add("a")
    assert [line for line in store.text().splitlines() if "workqueue" in line] == [
        "# HELP workqueue_adds_total Total number of adds handled by workqueue",
        "# TYPE workqueue_adds_total counter",
        'workqueue_adds_total{name="q"} 1',
        "# HELP workqueue_depth Current depth of workqueue",
        "# TYPE workqueue_depth gauge",
        'workqueue_depth{name="q"} 1',
        "# HELP workqueue_retries_total Total number of retries handled by workqueue",
        "# TYPE workqueue_retries_total counter",
        'workqueue_retries_total{name="q"} 0',
    ]
