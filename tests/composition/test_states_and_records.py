"""States of a small cluster's history, one after the other; what is found among Events and
requests, and in which words it is missed.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube import Cluster
from fakekube.apimachinery.gvk import GroupResource
from fakekube.client.resources import CONFIG_MAPS, CRON_JOBS, EVENTS, JOBS, NAMESPACES, PODS, Resource
from fakekube.composition.fleet import Fleet
from fakekube.composition.options import OptionError
from fakekube.testing import (
    History,
    HistoryError,
    HistoryForgotten,
    assert_event,
    assert_no_event,
    assert_requested,
    events,
    requests,
    timeline,
)
from fakekube.testing.fleetstate import FleetState
from fakekube.testing.present import Present

BEGAN = 1767225600.0  # 2026-01-01T00:00:00Z
MAPS = CONFIG_MAPS.group_resource


def config_map(name: str, namespace: str = "default", labels: Any = None, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels or {}}, "data": data}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """Two ConfigMaps came, one changed, the other went; each at another second."""
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "other"}})
        await cluster.advance("10s")
        await cluster.client.create(CONFIG_MAPS, config_map("a", x="1"))
        await cluster.advance("10s")
        await cluster.client.create(CONFIG_MAPS, config_map("b", "other", {"l": "v", "k": "w"}))
        await cluster.advance("10s")
        await cluster.client.patch(CONFIG_MAPS, "a", "default", {"data": {"x": "2"}}, type="merge")
        await cluster.advance("10s")
        await cluster.client.delete(CONFIG_MAPS, "b", "other")
        await cluster.advance("10s")
        yield cluster


def names(trees: Any) -> list[str]:
    """Without what the server makes by itself."""
    return sorted(name for tree in trees if not (name := tree["metadata"]["name"]).startswith("kube-"))


async def test_states_one_after_the_other(cluster: Cluster) -> None:
    """Given a history, when its states are gone through, then each has its time, its change and the
    objects of that moment, by namespace and labels.
    """
    history = History.of(cluster)
    seen = [
        (state.time - BEGAN, state.change is state.last, state.last.type, state.last.name, state.revision,
         names(state.list(CONFIG_MAPS, l="v")), names(state.list(CONFIG_MAPS, "default")), names(state.list(CONFIG_MAPS)),
         state.field(CONFIG_MAPS, "a", "data.x"), names(state.changed(CONFIG_MAPS)))
        for state in history.states()
        if state.last is not None and state.last.resource == MAPS and "kube-" not in state.last.name]
    first = seen[0][4]
    assert seen == [
        (10, True, "ADDED", "configmaps default/a", first, [], ["a"], ["a"], "1", ["a"]),
        (20, True, "ADDED", "configmaps other/b", first + 1, ["b"], ["a"], ["a", "b"], "1", ["b"]),
        (30, True, "MODIFIED", "configmaps default/a", first + 2, ["b"], ["a"], ["a", "b"], "2", ["a"]),
        (40, True, "DELETED", "configmaps other/b", first + 3, [], ["a"], ["a"], "2", [])]
    assert [change.before and change.before["data"] for change in history.of_object(CONFIG_MAPS, "a")] == [None, {"x": "1"}]
    assert [change.type for change in history.of_object(CONFIG_MAPS, "b", "other")] == ["ADDED", "DELETED"]
    assert history.of_object(CONFIG_MAPS, "b") == history.of_object(PODS, "a") == []
    assert (history.now, history.started, history.begins) == (BEGAN + 50, BEGAN, next(history.states()).number)
    found = history.change_at(str(first))
    assert found is not None
    assert found.object["data"] == {"x": "1"}
    assert history.change_at(first + 100) is None


async def test_looks_at_a_state(cluster: Cluster) -> None:
    """Given a state, when it is looked at, then each look is noted; a change concerns those alone
    who have looked at it.
    """
    history = History.of(cluster)
    last = history.ends
    state = next(history.states(last - 1))
    looks: list[Any] = []
    for look in (
        lambda: state.get(CONFIG_MAPS, "a"), lambda: state.get(NAMESPACES, "default"), lambda: state.list(CONFIG_MAPS),
        lambda: state.list(CONFIG_MAPS, "other"), lambda: state.time, lambda: state.now, lambda: state.revision,
        lambda: state.change, lambda: state.condition(JOBS, "j", "Complete"), lambda: state.field(CRON_JOBS, "c", "x.y", "n"),
        lambda: (state.at, state.number, state.last, state.moment, state.started, state.changed(CONFIG_MAPS)),
    ):
        state.looked_at = {}
        look()
        looks.append(list(state.looked_at))
    assert looks == [
        [(MAPS, "default", "a")], [(GroupResource("", "namespaces"), "", "default")], [(MAPS,)], [(MAPS, "other")],
        [None], [None], [()], [()], [(JOBS.group_resource, "default", "j")], [(CRON_JOBS.group_resource, "n", "c")], []]
    assert state.now == datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)
    assert state.moment == f"at +30s (version {last - 1})"
    assert state.concerns({}), "the first state concerns everybody"
    assert history.changes[-1].type == "DELETED"
    state.apply(history.changes[-1])
    concerned = [(), (MAPS,), (MAPS, "other"), (MAPS, "other", "b")]
    assert list(state.concerned) == concerned
    assert all(state.concerns({cast("Any", look): None}) for look in concerned)
    assert not any(state.concerns({cast("Any", look): None}) for look in (
        None, (MAPS, "default"), (MAPS, "other", "a"), (JOBS.group_resource,)))
    assert dict(state.looks_at_all_of(CONFIG_MAPS)) == {(MAPS,): None}
    assert list(state.resources([(), None, (MAPS, "other", "b")])) == [("", None), ("", None), ("", MAPS)]
    assert (list(state.changed(PODS)), state.list(PODS), state.get(PODS, "p")) == ([], [], None)


async def test_fields_and_conditions_that_are_not_there(cluster: Cluster) -> None:
    """Given a state, when a field or a condition is not there, then it is nothing."""
    conditions = [{"type": "A", "status": "False"}, {"type": "B", "status": "Unknown"}]
    await cluster.client.create(JOBS, {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
    job = await cluster.client.get(JOBS, "j", "default")
    await cluster.client.update_status(JOBS, {**job, "status": {"conditions": conditions}})
    state = Present(cluster)
    assert [state.condition(JOBS, name, type_) for name, type_ in (("j", "B"), ("j", "A"), ("j", "C"), ("k", "A"))] == [
        "Unknown", "False", "", ""]
    assert [state.field(CONFIG_MAPS, name, path) for name, path in (
        ("a", "data"), ("a", "data.x"), ("a", "data.y"), ("a", "data.x.z"), ("z", "data"))] == [{"x": "2"}, "2", None, None, None]
    assert state.get(CONFIG_MAPS, "a", "other") is None
    assert state.get(NAMESPACES, "other", "anything") is not None
    assert len(list(state.changed(NAMESPACES))) == len(state.list(NAMESPACES)) > 2
    state.looked_at, at = {None: None}, state.at
    await cluster.advance("5s")
    assert state.at == at
    state.refresh()
    assert (state.at, state.looked_at, state.number) == (at + 5, {}, cluster.apiserver.storage.revision)


async def test_versions_of_a_history(cluster: Cluster) -> None:
    """Given a history, when it is asked since a version, then what is none, to come or forgotten is
    refused in words.
    """
    history = History.of(cluster)
    ends = history.ends
    assert [history.first_revision(since) for since in (None, history.begins, ends, str(ends))] == [
        history.begins, history.begins, ends, ends]
    for since in (ends + 1, "x", "-1", "1.5", ""):
        with pytest.raises(OptionError) as refused:
            history.first_revision(since)
        assert str(refused.value) == f"since: {since!r} is no version of this cluster, which is at {ends}"
    cluster.apiserver.storage.compact(ends - 1)
    later = History.of(cluster)
    assert later.first_revision(ends - 1) == ends - 1
    with pytest.raises(HistoryForgotten) as forgotten:
        later.first_revision(ends - 2)
    assert str(forgotten.value) == (
        f"the history begins at version {ends - 1}, and {ends - 2} is before that: of a cluster's changes the last "
        f"{cluster.apiserver.storage.log.max_events:,} are retained; ask about a later part with since=, or sooner")
    assert [(state.at - BEGAN, names(state.list(CONFIG_MAPS))) for state in later.states(ends - 1)][-1] == (40, ["a"])
    assert [history.stores(resource) for resource in (MAPS, PODS.group_resource, GroupResource("x.dev", "ws"))] == [
        True, True, False]
    assert History.of(history) is history
    with pytest.raises(OptionError) as refused:
        History.of(cast("Any", {"a": cluster}))
    assert str(refused.value) == 'a fleet has a history for each of its clusters: ask about fleet["manager"], say'


async def test_the_timeline_of_a_small_object(cluster: Cluster) -> None:
    """Given objects and an Event about one, when their timelines are told, then each write has its
    line and its fields, and the Event its own.
    """
    found = await cluster.client.get(CONFIG_MAPS, "a", "default")
    about = {"kind": "ConfigMap", "name": "a", "namespace": "default", "uid": found["metadata"]["uid"]}
    metadata = {"name": "e", "namespace": "default"}
    await cluster.client.create(EVENTS, {
        "metadata": metadata, "involvedObject": about, "type": "Normal", "reason": "R", "message": "text"})
    story = timeline(cluster, CONFIG_MAPS, "a")
    numbers = [step.change.revision for step in story.steps]
    client = "by fakekube as kubernetes-admin"
    assert str(story).splitlines() == [
        "ConfigMap default/a",
        f"  #{numbers[0]} +10s ADDED configmaps default/a  POST /api/v1/namespaces/default/configmaps  {client}",
        f"  #{numbers[1]} +30s MODIFIED configmaps default/a  PATCH /api/v1/namespaces/default/configmaps/a  {client}",
        '      data.x: "1" -> "2"', "  +50s Event Normal R: text"]
    assert [step.is_event for step in story.steps] == [False, False, True]
    assert [story.values(path) for path in ("data.x", "data", "data.x.y")] == [["1", "2"], [{"x": "1"}, {"x": "2"}], [None]]
    assert str(timeline(cluster, found)) == str(story)
    assert timeline(cluster, NAMESPACES, "other").title == "Namespace other"
    assert str(timeline(cluster, CONFIG_MAPS, "none", "other")) == "ConfigMap other/none"


async def event(cluster: Cluster, name: str, about: str, **more: Any) -> None:
    involved = {"kind": "ConfigMap", "name": about, "namespace": "default", "uid": f"uid of {about}"}
    tree = {"type": "Normal", "reason": "R", "message": "some text", **more}
    await cluster.client.create(EVENTS, {"metadata": {"name": name, "namespace": "default"}, "involvedObject": involved, **tree})


async def test_which_events_match(cluster: Cluster) -> None:
    """Given Events, when they are asked for, then all that is said of one must be so, and those
    that are gone count; what is asserted in vain is told with what was wanted.
    """
    await event(cluster, "e", "a", count=2)
    await event(cluster, "f", "a", type="Warning", message="other text")
    await event(cluster, "g", "b", reason="S", count=3)
    await cluster.client.delete(EVENTS, "g", "default")

    def found(**wanted: Any) -> list[str]:
        return [each["metadata"]["name"] for each in events(cluster, **wanted)]

    assert [found(**wanted) for wanted in cast("list[dict[str, Any]]", [
        {}, {"about": "a"}, {"about": "b"}, {"about": {"metadata": {"uid": "uid of b", "name": "x"}}}, {"reason": "S"},
        {"type": "Warning"}, {"message": "^other"}, {"message": "text$"}, {"about": "a", "reason": "S"},
        {"reason": "R", "type": "Warning"}, {"type": "Normal", "message": "other"}])] == [
        ["e", "f", "g"], ["e", "f"], ["g"], ["g"], ["g"], ["f"], ["f"], ["e", "f", "g"], [], ["f"], []]
    assert assert_event(cluster, about="a", count=3)["metadata"]["name"] == "e"
    assert_event(cluster, reason="S", count=3)
    assert_no_event(cluster, reason="T")
    about = {"metadata": {"uid": "uid of a", "name": "a"}}
    for wanted, said in cast("list[tuple[dict[str, Any], str]]", [
        ({"count": 7}, "6 Events, not 7, with anything"), ({"reason": "T"}, "no Event with reason 'T'"),
        ({"about": about, "type": "X", "message": "m"}, "no Event with about 'a', type 'X', message 'm'"),
        ({"about": "z", "count": 0}, "no Event with about 'z'"),
    ]):
        with pytest.raises(HistoryError) as missed:
            assert_event(cluster, **wanted)
        assert str(missed.value).splitlines()[:2] == [said, "the last Events:"]
    with pytest.raises(HistoryError) as caught:
        assert_no_event(cluster, about="a", type="Warning")
    lines = str(caught.value).splitlines()
    assert lines[:2] == ["there is an Event R: other text", "which came about like this, the latest first:"]
    assert "ADDED events default/f  POST /api/v1/namespaces/default/events  by fakekube" in lines[2]


async def test_which_requests_match(cluster: Cluster) -> None:
    """Given requests, when they are asserted, then all that is said of one must be so, their number
    too; the latest fifteen are told where it is not.
    """
    assert [entry.verb for entry in requests(cluster, resource="configmaps", namespace="other")] == ["create", "delete"]
    assert len(requests(cluster, resource="configmaps")) == 4
    assert len(requests(cluster, resource="configmaps", user_agent="fake")) == 4
    assert requests(cluster, resource="configmaps", user_agent="kube") == []
    assert_requested(cluster, resource="configmaps", verb="create", count=2)
    assert_requested(cluster, resource="configmaps", verb="patch")
    assert_requested(cluster, resource="configmaps", verb="get", count=0)
    for _ in range(16):
        await cluster.client.get(CONFIG_MAPS, "a", "default")
    line = "  get /api/v1/namespaces/default/configmaps/a by fakekube as kubernetes-admin: 200"
    for wanted, said in cast("list[tuple[dict[str, Any], str]]", [
        ({"verb": "get", "count": 3}, "requested 16 times, not 3: verb 'get'; the latest are:"),
        ({"verb": "get", "code": 404}, "never requested: verb 'get', code '404'; the latest are:"),
        ({"verb": "get", "code": 404, "count": 1}, "never requested: verb 'get', code '404'; the latest are:"),
        ({"verb": "create", "resource": "configmaps", "count": 0},
         "requested 2 times, not 0: verb 'create', resource 'configmaps'; the latest are:"),
    ]):
        with pytest.raises(HistoryError) as missed:
            assert_requested(cluster, **wanted)
        assert str(missed.value).splitlines() == [said, *[line] * 15]


async def test_states_of_a_fleet() -> None:
    """Given a fleet, when its state is looked at, then each look is of a member, and a change
    concerns those who have looked at that member.
    """
    async with Fleet("a", "b", nodes=0, controllers="", clock="manual") as fleet:
        state = FleetState(fleet)
        assert (list(state), len(state), state.member, state.concerns({})) == (["a", "b"], 2, "a", True)
        everything = sum(len(state[name].list(NAMESPACES)) for name in state)
        assert len(list(state.changed(NAMESPACES))) == everything > len(state["a"].list(NAMESPACES))
        await fleet["b"].client.create(CONFIG_MAPS, config_map("m"))
        change = History.of(fleet["b"]).changes[-1]
        assert change.resource == MAPS
        state.note("b", change)
        assert (state.member, state.number, state.last, state.moment) == (
            "b", change.revision, change, f"at +0s (version {change.revision} of b)")
        assert (state.at, state.started) == (fleet.first.clock.time(), fleet.first.clock.time())
        assert [names(state.changed(resource)) for resource in (CONFIG_MAPS, NAMESPACES)] == [["m"], []]
        assert [state.concerns({cast("Any", look): None}) for look in (
            ("b",), ("b", MAPS), ("b", MAPS, "default"), ("b", MAPS, "default", "m"), ("a", MAPS), ("a",), None)] == [
            True, True, True, True, False, False, False]
        looks: list[Any] = []
        for look in (
            lambda: state["a"].get(CONFIG_MAPS, "x"), lambda: state.time, lambda: state.change, lambda: (state.at, state.last),
        ):
            state.looked_at = {}
            look()
            looks.append(list(state.looked_at))
        assert looks == [[("a", MAPS, "default", "x")], [None], [("a",), ("b",)], []]
        assert dict(state.looks_at_all_of(CONFIG_MAPS)) == {("a", MAPS): None, ("b", MAPS): None}
        asked: Any = [None, ("b", MAPS), ("a",)]
        assert list(state.resources(asked)) == [("a", None), ("b", None), ("b", MAPS), ("a", None)]


def test_stored_kinds() -> None:
    """Given kinds of several versions, when it is asked how they are kept, then a version that is
    converted has its own form, and what is not built in is as it is.
    """
    from fakekube.composition.options import ClusterOptions
    from fakekube.composition.storedkinds import Kinds

    kinds = Kinds(ClusterOptions.of())
    ws = Resource("x.dev", "v1", "ws", "W", namespaced=True)
    newer = Resource("events.k8s.io", "v1", "events", "Event", namespaced=True)
    assert [kinds.stored_as(each) for each in (PODS, EVENTS, newer, ws)] == [
        GroupResource("", "pods"), GroupResource("", "events"), GroupResource("", "events"), GroupResource("x.dev", "ws")]
    assert [kinds.has(GroupResource(*each)) for each in (("", "pods"), ("x.dev", "ws"), ("events.k8s.io", "events"))] == [
        True, False, False]
    record: Any = SimpleNamespace(copy_tree=lambda: {
        "kind": "Event", "apiVersion": "v1", "metadata": {"name": "e"}, "involvedObject": {"name": "o"}, "message": "m"})
    assert kinds.tree(ws, record) == kinds.tree(EVENTS, record) == record.copy_tree()
    tree = kinds.tree(newer, record)
    assert (tree["apiVersion"], tree["regarding"], tree["note"]) == ("events.k8s.io/v1", {"name": "o"}, "m")
