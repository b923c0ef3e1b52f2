"""What a demonstration does besides its words: options, pauses, logs, and what others declare."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from fakekube.apimachinery.types import Tree
from fakekube.cli.demos import autoscaler, groups, stage
from fakekube.cli.demos.commands import demo
from fakekube.cli.main import cli
from fakekube.client.resources import CONFIG_MAPS, PODS
from fakekube.runtime.demo import Demo

SPEEDS = {
    "job": 10.0, "cronjob": 30.0, "failure-policy": 10.0, "success-policy": 10.0, "rollout": 10.0, "node-failure": 15.0,
    "drain": 5.0, "statefulset": 5.0, "autoscaler": 20.0, "probes": 10.0, "gang": 10.0, "preemption": 10.0, "topology": 10.0,
    "composite": 5.0, "spreading": 5.0, "flaky-operator": 10.0, "garbage-collection": 3.0,
}
PODS_ON_NODES = ("POD", "STATUS", "READY", "NODE")
STAGES: dict[str, tuple[int, str, tuple[str, ...], str]] = {
    "job": (2, "", PODS_ON_NODES, "pods"), "cronjob": (2, "", ("OBJECT", "STATUS", "KIND"), "jobs pods"),
    "failure-policy": (2, "", PODS_ON_NODES, "pods"), "success-policy": (2, "", PODS_ON_NODES, "pods"),
    "rollout": (2, "", ("POD", "STATUS", "READY", "IMAGE"), "pods"),
    "node-failure": (2, "", ("NAME", "STATUS", "READY", "NODE"), "nodes pods"),
    "drain": (2, "", ("NAME", "STATUS", "READY", "NODE"), "nodes pods"),
    "statefulset": (2, "", ("NAME", "STATUS", "READY", "IMAGE"), "pods persistentvolumeclaims"),
    "autoscaler": (2, "", ("NAME", "KIND", "STATUS"), "horizontalpodautoscalers pods"),
    "probes": (2, "", ("NAME", "KIND", "STATUS", "READY", "RESTARTS"), "pods endpointslices"),
    "gang": (0, "workload-aware", ("NAME", "STATUS", "NODE"), "podgroups pods"),
    "preemption": (0, "workload-aware", ("NAME", "STATUS", "NODE"), "podgroups pods"),
    "topology": (0, "workload-aware", ("NAME", "STATUS", "NODE"), "podgroups pods"),
    "composite": (0, "workload-aware", ("NAME", "STATUS", "NODE"), "podgroups pods"),
    "spreading": (0, "", ("NAME", "STATUS", "NODE"), "pods"),
    "flaky-operator": (1, "", ("NAME", "STATUS", "KIND"), "pods secrets"),
    "garbage-collection": (2, "", ("NAME", "KIND", "STATUS", "OWNER"), "deployments replicasets pods"),
}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """With which options stories would run; none does."""
    found: list[Any] = []
    monkeypatch.setattr(stage, "run", lambda *arguments, **values: found.append((*arguments, values)))
    return found


@pytest.mark.parametrize("name", SPEEDS)
def test_each_story_has_a_speed_of_its_own(ran: list[Any], name: str) -> None:
    """Given a story, when it is asked for without an option, then it runs at its speed, and nothing
    else is switched on.
    """
    assert CliRunner().invoke(cli, ["demo", name]).exit_code == 0
    assert ran == [(name, SPEEDS[name], {"pauses": False, "manifests": False, "join": False, "kubeconfig": None, "seed": 0})]
    assert demo.commands.keys() == SPEEDS.keys()


@pytest.mark.parametrize("name", STAGES)
def test_what_each_story_is_played_on(name: str) -> None:
    """Given a story, when its stage is looked at, then so many nodes, these gates, the columns of
    its table and what it follows are its own; it has one cluster, which runs nothing besides.
    """
    story = stage.story_of(name)
    followed = " ".join(resource.plural for resource in story.follows())
    assert (story.nodes, story.feature_gates, story.header, followed) == STAGES[name]
    assert (story.options, story.members, len(story.extra)) == ({}, (), 1 if name == "flaky-operator" else 0)
    assert (story.pauses, story.shows_manifests, story.seed) == (False, False, 0)


ROWS: tuple[tuple[str, Callable[[Tree], tuple[str, ...]], Tree, tuple[str, ...]], ...] = (
    ("pod of a group", groups.pod_row, {"spec": {}}, ("a", "Pending", "")),
    ("pod of a group that runs", groups.pod_row, {"spec": {"nodeName": "n"}, "status": {"phase": "Running"}},
     ("a", "Running", "n")),
    ("pod of a group that goes", groups.pod_row, {"spec": {}, "metadata": {"name": "a", "deletionTimestamp": "t"}},
     ("a", "Terminating", "")),
    ("group", groups.group_row, {"spec": {"schedulingPolicy": {"basic": {}}}}, ("a", "Waiting", "(no gang)")),
    ("group of a Job", groups.group_row, {
        "metadata": {"name": "a", "ownerReferences": [{"name": "b", "uid": "u", "controller": True}]},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
        "status": {"conditions": [{"type": "PodGroupInitiallyScheduled", "status": "True", "reason": "Scheduled"}]}},
     ("b", "Scheduled", "(gang of 3)")),
    ("group that waits", groups.group_row, {
        "spec": {"schedulingPolicy": {}},
        "status": {"conditions": [{"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable"}]}},
     ("a", "Unschedulable", "(no gang)")),
    ("pod that is scaled", autoscaler.pod_row, {}, ("a", "Pod", "Pending")),
    ("pod that is scaled away", autoscaler.pod_row, {"metadata": {"name": "a", "deletionTimestamp": "t"}},
     ("a", "Pod", "Terminating")),
    ("autoscaler", autoscaler.autoscaler_row, {}, ("a", "Autoscaler", "not measured yet: 0 replicas")),
    ("autoscaler of one", autoscaler.autoscaler_row, {"status": {"desiredReplicas": 1, "currentMetrics": [
        {"resource": {}}, {"pods": {"current": {"averageValue": "87500m"}}}]}},
     ("a", "Autoscaler", "88 of 100 a pod: 1 replica")),
    ("autoscaler of many", autoscaler.autoscaler_row, {"status": {"desiredReplicas": 2, "currentMetrics": [
        {"pods": {"current": {"averageValue": "150"}}}]}}, ("a", "Autoscaler", "150 of 100 a pod: 2 replicas")),
)


@pytest.mark.parametrize(("row", "obj", "cells"), [pytest.param(*rest, id=name) for name, *rest in ROWS])
def test_rows_of_stories(row: Callable[[Tree], tuple[str, ...]], obj: Tree, cells: tuple[str, ...]) -> None:
    """Given an object, also before it has a status, when a story shows it, then its row is so."""
    assert row({"metadata": {"name": "a"}, **obj}) == cells


def test_what_stories_create() -> None:
    """Given names and numbers, when manifests are made of them, then each is there."""
    made = yaml.safe_load(groups.job("a", 3, seconds=7, scheduling="{x: y}", priority="high"))
    assert made == {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "default"}, "spec": {
            "parallelism": 3, "completions": 3, "completionMode": "Indexed", "scheduling": {"x": "y"}, "template": {
                "metadata": {"annotations": {"fakekube.dev/run-duration": "7s"}}, "spec": {
                    "restartPolicy": "Never", "priorityClassName": "high", "containers": [{
                        "name": "train", "image": "train:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}}
    plain = yaml.safe_load(groups.job("a", 3, seconds=7))
    assert (plain["spec"]["scheduling"], plain["spec"]["template"]["spec"]["priorityClassName"]) == ({}, "")
    room = {"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "2"}
    assert [*yaml.safe_load_all(groups.nodes("a", "b", gpus=2, labels={"rack": "r"}))] == [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"rack": "r"}},
         "status": {"capacity": room, "allocatable": room}} for name in ("a", "b")]


@pytest.mark.parametrize(("kind", "name", "share"), [
    ("Pods", "requests_per_second", "50000m"), ("Object", "requests_per_second", None), ("Pods", "other", None)])
def test_what_an_autoscaler_measures(kind: str, name: str, share: str | None) -> None:
    """Given a story of an autoscaler, when it measures, then the load is shared by its pods, and
    nothing else is measured.
    """
    story: Any = stage.story_of("autoscaler")
    story.table = SimpleNamespace(header=story.header, rows={})
    assert story.metric(SimpleNamespace(type=kind, name=name)) == share
    story.table.rows = {one: (one, "Pod", status) for one, status in (("a", "Running"), ("b", "Running"), ("c", "Pending"))}
    assert story.metric(SimpleNamespace(type=kind, name=name)) == (None if share is None else "25000m")


def test_options_of_a_story(ran: list[Any]) -> None:
    """Given every option, when a story is asked for, then it runs with them."""
    words = ["demo", "job", "--speed", "2.5", "--pause", "--manifests", "--join", "--kubeconfig", "file", "--seed", "7"]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert ran == [("job", 2.5, {"pauses": True, "manifests": True, "join": True, "kubeconfig": "file", "seed": 7})]


@pytest.mark.parametrize("join", [False, True])
def test_how_a_story_is_played(monkeypatch: pytest.MonkeyPatch, join: bool) -> None:
    """Given options, when a story runs, then it is played with them, joined or not, while warnings
    are not logged, and are again afterwards, be it that it was ended.
    """
    played: list[Any] = []

    async def play(story: stage.Story, *more: Any) -> None:
        root = logging.root.manager.disable
        played.append((type(story).__module__, story.pauses, story.shows_manifests, story.seed, more, root))
        if join:
            raise asyncio.CancelledError

    monkeypatch.setattr(stage, "_play_joined" if join else "play", play)
    stage.run("job", 2.0, pauses=True, manifests=True, join=join, kubeconfig="file" if join else None, seed=7)
    more = (2.0, "file") if join else (2.0,)
    assert played == [("fakekube.cli.demos.job", True, True, 7, more, logging.WARNING)]
    assert logging.root.manager.disable == logging.NOTSET


async def nothing(_: object) -> None:
    """A story without words."""


def test_what_a_package_declares() -> None:
    """Given a demonstration of a package, when it is made a story, then all that it declares is the
    story's; without a table and outcomes of its own it has pods, and those of their annotations.
    """
    def outcome(pod: Tree, attempt: int, container: str) -> Tree:
        return {"told": (pod, attempt, container)}

    def row(obj: Tree) -> tuple[str, ...]:
        return (str(obj),)

    story = stage.declared(Demo(
        nothing, "", addons=("a",), header=("X",), follows={CONFIG_MAPS: row}, told={"R": "r"}, outcome=outcome, nodes=5,
        options={"o": 1}, fleet=("m",)))
    assert (story.extra, story.header, story.told, story.nodes, story.options, story.members) == (
        ("a",), ("X",), {"R": "r"}, 5, {"o": 1}, ("m",))
    assert (story.follows(), story.outcome({}, 2, "main"), story.metric(None)) == (
        {CONFIG_MAPS: row}, {"told": ({}, 2, "main")}, None)
    plain = stage.declared(Demo(nothing, ""))
    assert (plain.follows(), plain.outcome({}, 0, "main")) == ({PODS: stage.pod_row}, None)
    assert (plain.nodes, plain.header, plain.members) == (2, ("POD", "STATUS", "READY", "NODE"), ())


@pytest.mark.parametrize(("pod", "row"), [
    ({}, ("Pending", "no", "")),
    ({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}, "spec": {"nodeName": "n"}},
     ("Running", "yes", "n")),
    ({"status": {"phase": "Failed", "reason": "Evicted", "conditions": [{"type": "Ready", "status": "False"}]}},
     ("Evicted", "no", "")),
    ({"metadata": {"name": "p", "deletionTimestamp": "now"}, "status": {"phase": "Running"}}, ("Terminating", "no", "")),
])
def test_the_row_of_a_pod(pod: Tree, row: tuple[str, ...]) -> None:
    """Given a pod, when it is shown, then its status is what kubectl would call it."""
    assert stage.pod_row({"metadata": {"name": "p"}, "spec": {}, **pod}) == ("p", *row)


@pytest.mark.parametrize(("typed", "stays"), [(b"\n", True), (b"", False)])
async def test_somebody_who_presses_enter(
    typed: bytes, stays: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    """Given a pause, when Enter is pressed, then there will be more of them; when the input has
    ended, then not. Nothing reads from it afterwards.
    """
    reading, writing = os.pipe()
    os.write(writing, typed)
    os.close(writing)
    with os.fdopen(reading) as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert await stage._wait_for_enter() is stays
        assert asyncio.get_running_loop().remove_reader(reading) is False
    assert capsys.readouterr().out == "    [Enter]"


async def test_nobody_presses_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an input that cannot be waited for, when a story pauses, then it goes on without."""
    def fileno() -> int:
        raise ValueError

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(fileno=fileno))
    assert await stage._wait_for_enter() is False


async def test_time_stands_while_a_sentence_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given pauses, when sentences are said, then time stands while each is read, until nobody is
    there to read; then none stops it.
    """
    story, done = stage.declared(Demo(nothing, "")), []

    async def wait() -> bool:
        done.append("wait")
        return done.count("wait") < 2

    clock: Any = SimpleNamespace(pause=lambda: done.append("pause"), resume=lambda: done.append("resume"))
    table: Any = SimpleNamespace(say=done.append, skip_line=lambda: done.append("skip"))
    cluster: Any = SimpleNamespace(clock=clock)
    story.cluster, story.table, story.pauses = cluster, table, True
    monkeypatch.setattr(stage, "_wait_for_enter", wait)
    for text in ("a", "b", "c"):
        await story.say(text)
    assert done == ["a", "pause", "wait", "skip", "resume", "b", "pause", "wait", "skip", "resume", "c"]


@pytest.mark.parametrize("shows", [False, True])
async def test_manifests_are_shown_when_that_is_wanted(shows: bool) -> None:
    """Given a story, when it creates something, then that is loaded, and shown before if wanted."""
    story, done = stage.declared(Demo(nothing, "")), []

    async def load(text: str) -> None:
        done.append(("load", text))

    cluster: Any = SimpleNamespace(load=load)
    table: Any = SimpleNamespace(quote=lambda text: done.append(("quote", text)))
    story.cluster, story.table, story.shows_manifests = cluster, table, shows
    await story.create("x")
    assert done == [("quote", "x"), ("load", "x")][0 if shows else 1:]


async def test_a_table_that_breaks_ends_the_story() -> None:
    """Given a row that cannot be made, when a story waits, then it ends with that error alone."""
    def row(_: Tree) -> tuple[str, ...]:
        raise RuntimeError("no row")

    async def tell(story: Any) -> None:
        await story.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}")
        await story.until(lambda: False)

    with pytest.raises(RuntimeError, match="no row"):
        await stage.play(stage.declared(Demo(tell, "", header=("X",), follows={CONFIG_MAPS: row}, nodes=0)), "manual")
