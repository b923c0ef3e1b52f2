"""How a trace looks: to people, to tools that show traces, and to programs."""

import sys
from typing import Any
from urllib.request import Request, urlopen

import orjson
import pytest

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, JOBS, PODS
from fakekube.testing import BackgroundCluster, History, explain
from fakekube.tracing.otlp import OTLPError
from fakekube.tracing.text import lines, offset_text
from fakekube.tracing.trace import Trace
from tests.tracing.test_reading import JOB, Histories

COLUMNS = """\
configmaps ns/b: 4 changes, and what led to them

+0s #1  ○ agent as u: update configmaps ns/a, which made it; only the request is known
+1s #2  ├─● copier at ns/b: update configmaps ns/b, which made it
+2s #3  ● copier at ns/b: update configmaps ns/b
        │     data.x: "0" -> "1"
+3s #4  ● copier at ns/b: update configmaps ns/b
              data.x: "1" -> "2"
              it met the fault slow-etcd

+4s #5  ● other at ns/b: update configmaps ns/b; it acted on no change that is known
              data.a: (none) -> "3"
              data.x: "2" -> (none)

● is a change of the object, ○ one of another. What stands below in the same column came of it.
Times are since the cluster began.
Where only the request is known, nobody said what led to it: a test, a person or a client over a network sent it.
copier: agent as u
other: agent as u"""


def made() -> Histories:
    history = Histories()
    root = history.write("a")
    history.write("b", str(root), x="0")
    second = history.write("b", str(root), x="1")
    history.write("b", str(second), fault="slow-etcd", x="2")
    history.write("b", "", "other", a="3")
    return history


async def traced_job() -> tuple[Trace, list[str]]:
    """The trace of a Job that has run, and the names of its pods."""
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.client.create(JOBS, {**JOB, "spec": {**JOB["spec"], "completions": 3, "parallelism": 3}})
        await cluster.advance("1h")
        pods = [pod["metadata"]["name"] for pod in (await cluster.client.list(PODS, "default")).items]
        return await cluster.trace("job/report"), pods


def test_people_read_a_tree() -> None:
    """Given changes of which two came of one, and one that came of nothing, when their trace is
    printed, then what came of something stands below it, the larger part in the same column.
    """
    assert str(made().trace("b")) == COLUMNS


def test_what_is_left_out_is_said_in_words() -> None:
    """Given an object with a predecessor and 10,000 changes, each of which led to the next, when
    the last two are told, then the text is short, and says what is not in it.
    """
    history = Histories()
    history.write("a")
    history.delete("a")
    before = history.write("a", x="0")
    for number in range(1, 10_000):
        before = history.write("a", str(before), x=str(number))
    text = str(history.trace("a", last=2))
    assert len(text.splitlines()) < 30
    assert text.startswith("configmaps ns/a: 10,000 changes, and what led to them\nTold are the last 2 of them (--last)")
    assert "Before it another object had its name, whose changes are left out." in text
    assert "… 9,993 changes, each of which led to the next, are left out here" in text
    assert "Told is the last one of them" in str(history.trace("a", last=1))
    assert "--last" not in str(history.trace("a", last=0))


def test_a_branch_may_be_a_long_way() -> None:
    """Given two long ways from one change, when they are told, then each says what is left out of
    it where it begins, in its own column.
    """
    history = Histories()
    root = history.write("root")
    ends = []
    for name in ("a", "b"):
        before = root
        for number in range(20):
            before = history.write(name, str(before), x=str(number))
        ends.append(before)
    for end in ends:
        history.write("target", str(end), x=str(end))
    text = str(history.trace("target"))
    assert text.count("… 15 changes, each of which led to the next, are left out here") == 2
    assert [line.lstrip()[:5] for line in text.splitlines() if "…" in line] == ["│ … 1", "… 15 "]


def test_a_history_of_many_branches_is_not_deep() -> None:
    """Given 2,000 changes each of which came of one before it, in the shape of a comb, when all are
    told, then no line is deeper than a few columns.
    """
    history = Histories()
    spine = history.write("spine")
    for number in range(1_000):
        history.write("a", str(spine), x=str(number))
        spine = history.write("spine", str(spine), x=str(number))
    told = [line for line in lines(history.trace("a", last=0)) if "●" in line]
    assert len(told) > 1_000
    assert max(line.index("●") for line in told) < 30


@pytest.mark.parametrize(("field", "title"), [
    ("data.a", 'configmaps ns/b: data.a is "3" since +4s, because:'),
    ("data.x", "configmaps ns/b: data.x is gone since +4s, because:"),
])
def test_a_field_is_the_title(field: str, title: str) -> None:
    """Given a field with a value, and one that is gone, when what led there is printed, then the
    title has what it is, and since when.
    """
    assert str(made().trace("b", field=field)).splitlines()[0] == title


def test_clients_over_a_network_are_known_by_their_requests_alone() -> None:
    """Given a write over HTTP that answers to another, as an operator's does, when it is traced,
    then it is a first request, with its user agent and user, and the text says what that means.
    """
    with BackgroundCluster(nodes=0, clock="manual") as server:
        body = orjson.dumps({"metadata": {"name": "a"}})
        headers = {"Content-Type": "application/json", "User-Agent": "operator/1"}
        urlopen(Request(f"{server.url}/api/v1/namespaces/default/configmaps", body, headers)).close()
        found = server.trace("configmap/a")
    assert [(step.origin, step.component) for step in found.steps] == [("Request", "")]
    assert "operator/1 as kubernetes-admin: create configmaps default/a; only the request is known" in str(found)
    assert "nobody said what led to it" in str(found)


async def test_json_has_all_of_it() -> None:
    """Given the trace of a Job, and one of a field that is gone, when it is made of its own JSON,
    then it is the same.
    """
    found, _ = await traced_job()
    for one in (found, made().trace("b"), made().trace("b", field="data.x"), made().trace("b", field="data.a")):
        assert Trace.of(orjson.loads(orjson.dumps(one.tree()))) == one


def slices(events: list[dict[str, Any]], category: str) -> list[dict[str, Any]]:
    return [event for event in events if event["ph"] == "X" and event["cat"] == category]


async def test_chrome_draws_tracks_slices_and_arrows() -> None:
    """Given the trace of a Job with three pods, when it is in Chrome's format, then each component
    has a track, slices of one track lie within each other or apart, each request within its
    reconcile, and an arrow leads from each cause to its effect and forward in time.
    """
    found, pods = await traced_job()
    tree = orjson.loads(orjson.dumps(found.chrome()))
    events = tree["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert set(names.values()) == {"fakekube as kubernetes-admin", "job", "scheduler", "kubelet"}
    requests = slices(events, "request")
    assert len(requests) == len(found.steps)
    assert {names[event["tid"]] for event in requests if event["name"].startswith("create pods/binding")} == {"scheduler"}
    for reconcile in slices(events, "reconcile"):
        begin, end = reconcile["ts"], reconcile["ts"] + reconcile["dur"]
        on_it = [event for event in requests if event["tid"] == reconcile["tid"]]
        assert any(begin <= event["ts"] and event["ts"] + event["dur"] <= end for event in on_it)
        assert all(event["ts"] >= end or event["ts"] + event["dur"] <= begin or
                   (begin <= event["ts"] and event["ts"] + event["dur"] <= end) for event in on_it)
    at = {(event["tid"], event["ts"]): event["args"]["version"] for event in requests}
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    arrows = {at[event["tid"], event["ts"]]: at[starts[event["id"]]["tid"], starts[event["id"]]["ts"]]
              for event in events if event["ph"] == "f"}
    assert arrows == {step.revision: step.led_by for step in found.steps if step.led_by}
    assert all(starts[event["id"]]["ts"] < event["ts"] for event in events if event["ph"] == "f")
    assert len(pods) == 3


def test_a_slice_says_what_is_known() -> None:
    """Given changes with a fault, with none before them, and one after a long way, when they are in
    Chrome's format, then the slices say so.
    """
    args = [event["args"] for event in slices(made().trace("b").chrome()["traceEvents"], "request")]
    assert [each.get("cause") for each in args] == [
        "only the request is known", None, None, None, "a component that acted on no change that is known"]
    assert args[3]["fault"] == "slow-etcd"
    assert args[2]["fields"] == {"data.x": '"0" -> "1"'}
    assert (args[0]["method"], args[0]["path"], args[0]["user"], args[0]["user agent"]) == (
        "PUT", "/api/v1/namespaces/ns/configmaps/a", "u", "agent")


@pytest.mark.parametrize(("seconds", "text"), [
    (0, "+0s"), (0.5, "+0.5s"), (61, "+1m1s"), (3_600, "+1h00m0s"), (90_061, "+25h01m1s")])
def test_times_are_short(seconds: float, text: str) -> None:
    """Given a time since the cluster began, when it is shown, then hours and minutes are apart."""
    assert offset_text(seconds) == text


async def test_the_report_of_a_failed_test_names_the_fault() -> None:
    """Given a write that met a fault, when the last writes are explained, then its line says so."""
    from fakekube.apimachinery.causes import CAUSE, Cause

    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
        record = cluster.apiserver.storage.bucket(CONFIG_MAPS.group_resource).get("default", "a")
        assert record is not None
        CAUSE.set(Cause(cluster.clock.time(), "PUT", "/a", "u", "agent", None, "slow-etcd"))
        cluster.apiserver.storage.bucket(CONFIG_MAPS.group_resource).update({**record.copy_tree(), "data": {"x": "1"}}, record)
        CAUSE.set(None)
        history = History.of(cluster)
    assert explain.line(history, history.changes[-1]).endswith("by agent as u, which met the fault slow-etcd")
    assert "the fault" not in explain.line(history, history.changes[-2])


def test_otlp_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an environment without OpenTelemetry's SDK, when a trace is sent, then what to install
    is said.
    """
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(OTLPError, match=r"OTLP needs fakekube\[otlp\]"):
        made().trace("b").send("http://127.0.0.1:4318")
