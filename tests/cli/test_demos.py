"""Demonstrations: each is told on virtual time, and what it printed is looked at as somebody would
who reads it.
"""

import io
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import pytest
import yaml

from fakekube.cli.demos import stage
from fakekube.cli.live import LiveTable
from fakekube.cli.main import cli
from fakekube_controllers.jobset import demo as jobset_demo
from fakekube_controllers.kueue.demos import borrow, elastic, multikueue, podgroup, queue

from .conftest import FAKEKUBE, START_SECONDS

Run = Callable[..., subprocess.CompletedProcess[str]]

PAGES = Path(__file__).parents[2] / "docs" / "demos"
BROUGHT = {
    "jobset": (jobset_demo.demo, [
        "Workers depend on the driver", "the scheduler picks a node: Successfully assigned default/train-driver-0-0-",
        "train-driver-0-0.train is an address", "A worker has failed",
        "the JobSet starts anew: applying RestartJobSet failure policy action (first failed job: train-worker-1)",
        "the JobSet is done: jobset completed successfully", "succeeded in run 2: the set is Completed",
        "the Jobs that have ended: train-worker-0, train-worker-1", "At the end: OBJECT STATUS READY NODE train Completed",
    ]),
    "queue": (queue.demo, [
        "three Jobs of one cpu each", "Two are admitted, and their Jobs run", "Now one comes that needs both cpus and is urgent",
        "a Workload gives way: Preempted to accommodate a workload", "The other Job gave way", "All four are done",
        "At the end: OBJECT STATUS SAYS KIND job-0 Complete",
    ]),
    "borrow": (borrow.demo, [
        "what one does not use, the other may borrow", "red has borrowed 2 cpus of blue's",
        "due to reclamation within the cohort", "What is red's own is safe", "All five are done",
        "At the end: OBJECT STATUS SAYS KIND red-0 Complete",
    ]),
    "elastic": (elastic.demo, [
        "the annotation kueue.x-k8s.io/elastic-job", "new pods wait behind a gate", "The Job was never suspended",
        "2 more needed Workload", "the four others run on", "admitted at once: three pods run",
        "At the end: OBJECT STATUS SAYS KIND train Running 3 active",
    ]),
    "pod-group": (podgroup.demo, [
        "Pods without a Job", "there is no Workload before the group is complete", "One of them is going to fail", "c has failed",
        "d was let through at once", "At the end: OBJECT STATUS SAYS KIND a Succeeded",
    ]),
    "multikueue": (multikueue.demo, [
        "Three clusters", 'MultiKueue: The workload was admitted on "worker2"', "worker2 admitted it, keeps it and runs the Job",
        "nothing is left on the worker", "which we cut off now", "was lost for too long", "what was left there is collected",
        "At the end: OBJECT STATUS SAYS KIND CLUSTER big Complete 0 active Job manager",
    ]),
}
"""Demonstrations that come with add-ons."""
STORIES = {
    "job": [
        "A cluster with two nodes is up", "the Job controller makes a pod: Created pod: hello-",
        "the scheduler picks a node: Successfully assigned default/hello-", "the kubelet starts the container",
        "A pod has failed", "Three pods have succeeded: the Job is Complete", "We delete the Job", "Nothing is left of hello",
        "At the end: no object of these is left.",
    ],
    "failure-policy": [
        "Three Jobs with the same podFailurePolicy", "flaky has exited with 1",
        "failed with exit code 42 matching FailJob rule at index 0", "hopeless has exited with 42: FailJob",
        "is evicted through the API", "failures that it was charged with: 0", "At the end: POD STATUS READY NODE flaky-",
    ],
    "success-policy": [
        "An Indexed Job of four pods", "All four run",
        "SuccessCriteriaMet. What then happens: the Job controller deletes the workers",
        "the Job is done: Job completed", "succeeded 1 of 4, failed 0, completed indexes '0'", "only the leader's is left",
        "At the end: POD STATUS READY NODE training-0-",
    ],
    "cronjob": [
        "A CronJob for every minute", "made: Created job report-", "The second one takes ninety seconds",
        "Not starting job because prior execution is running and concurrency policy is Forbid", "concurrencyPolicy Forbid",
        "We suspend it", "The newest Job is still report-", "One run was started for the minutes that were missed",
        "At the end: OBJECT STATUS KIND report-",
    ],
    "rollout": [
        "the Deployment: Scaled up replica set", "Version 1 serves", "Three pods of version 2 are ready",
        "ProgressDeadlineExceeded. 3 pods of version 2 serve on", "We go back", "At the end: POD STATUS READY IMAGE web-",
    ],
    "node-failure": [
        "All four run", "the node controller: Node node-1 status is now: NodeNotReady", "calls the node Unknown",
        "a taint drives a pod away", "They stay Terminating", "Four pods are ready again", "Ready for new pods",
        "At the end: NAME STATUS READY NODE node-0 Ready (node) node-1 Ready (node)",
    ],
    "drain": [
        "one of the four may be unavailable at a time", "First it is cordoned: no new pods", "Ready,SchedulingDisabled",
        "The pods that run there stay", "evicted: web-", "429 for web-",
        "Cannot evict pod as it would violate the pod's disruption budget. Again in 5 s.",
        "is empty, four pods are ready elsewhere, and never were fewer than three", "the scheduler moves no pod that runs",
        "At the end: NAME STATUS READY NODE node-0 Ready (node) node-1 Ready (node)",
    ],
    "statefulset": [
        "They are made one at a time", "Create Pod db-0 in StatefulSet db successful",
        "Create Pod db-2 in StatefulSet db successful", "We delete db-1", "db-1 is gone", "there are never two db-1",
        "Delete Pod db-2 in StatefulSet db successful", "The update went from db-2 down to db-0", "Their claims stay",
        "data-db-0 Bound (claim) data-db-1 Bound (claim) data-db-2 Bound (claim) db-0 Running yes db:2",
    ],
    "autoscaler": [
        "1 to 6 replicas, so that a pod has 100 requests a second", "The load rises to 350",
        "New size: 4; reason: pods metric requests_per_second above target", "Four pods share the load",
        "New size: 6; reason: pods metric requests_per_second above target",
        "The condition ScalingLimited says it: TooManyReplicas",
        "30 seconds later there are still 6", "New size: 1; reason: All metrics below target", "one pod is left",
        "At the end: NAME KIND STATUS web Autoscaler 50 of 100 a pod: 1 replica",
    ],
    "probes": [
        "slow, takes 22 seconds to start", "web Service to nobody", "web Service to slow", "It is ready now",
        "busy, has a readinessProbe", "Readiness probe failed", "no readiness probe ever restarts it",
        "Liveness probe failed", "Container main failed liveness probe, will be restarted", "one restart",
        "At the end: NAME KIND STATUS READY RESTARTS",
    ],
    "gang": [
        "spec.scheduling says that each is a gang", "alpha Scheduled (gang of 3)",
        "a pod gets a node: Successfully assigned default/alpha-0-", "alpha runs", "beta Unschedulable (gang of 3)",
        "One GPU is free, and none of beta's pods takes it",
        "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining", "gamma Scheduled (no gang)", "what waits holds nothing",
        "alpha is done, and beta has started, whole", "beta Scheduled (gang of 4)", "minCount is 4",
        "All of them are Complete: alpha, beta, gamma", "At the end: NAME STATUS NODE alpha Scheduled (gang of 3)",
    ],
    "preemption": [
        "Now comes urgent", "a pod has to go: Preempted by podgroup", "urgent Scheduled (gang of 3)",
        "went with both of its pods, not with one; of singles 1 could stay", "Their Jobs have made new pods, which wait",
        "urgent is done. batch runs again, whole.", "For batch the 2 pods that had to go count as failed",
        "At the end: NAME STATUS NODE batch Scheduled (gang of 2)",
    ],
    "topology": [
        "two in the rack east, two in the rack west", "It is in east", "train Scheduled (gang of 4)",
        "Seven GPUs were free, but only west had four", "next Unschedulable (gang of 4)", "and three GPUs in east: it waits",
        "0/2 placements are available", "train is done, and next has west for itself, though single still runs in east",
        "At the end: NAME STATUS NODE single Scheduled (no gang)",
    ],
    "composite": [
        "wants both (minGroupCount: 2)", "2 of them wait: the other child of their parent is not complete",
        "servers Unschedulable (gang of 2)", "nobody starts", "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining",
        "workers Scheduled (gang of 3)", "all five start in one attempt",
        "At the end: NAME STATUS NODE servers Scheduled (gang of 2) workers Scheduled (gang of 3) servers-0 Running node-0",
    ],
    "spreading": [
        "north with two nodes, south with one", "There are 2 in north and 2 in south",
        "the scheduler finds none: 0/3 nodes are available", "There are 3 in north and 2 in south", "The sixth waits",
        "south is open again: 3 in north and 3 in south",
        "At the end: NAME STATUS NODE web-",
    ],
    "flaky-operator": [
        "if self.has_made(PODS, shop): return await self.make(PODS, shop, POD)", "It says: passed",
        "Now the strategy intermediate-states", "seed 100 fails: a shop has no Secret", "shrunk from 3 deviations to 1 in 2 runs",
        "> +0s fault: shops dies after its write 5 is committed (create pods)", "ADDED pods default/shoes",
        "fakekube demo flaky-operator --seed 100", "- if self.has_made(PODS, shop): + if self.has_made(SECRETS, shop):",
        "50 seeds, 1 distinct history, no failure", "@pytest.mark.fakekube(strategies=",
        "At the end: NAME STATUS KIND books Running Pod",
    ],
    "garbage-collection": [
        "Each names its owner in metadata.ownerReferences", "propagationPolicy Background", "The Deployment was gone at once",
        "web Deployment Terminating nobody", "with the finalizer foregroundDeletion", "Only the Deployment is gone",
        "adopted it. No pod was replaced.", "At the end: NAME KIND STATUS OWNER",
    ],
}


def words(text: str) -> str:
    """A text without its lines and columns, and without the times in front."""
    return " ".join(re.sub(r"(?m)^  \d\d:\d\d:\d\d  ", "", text).split())


@pytest.mark.parametrize("name", STORIES)
async def test_a_demo_tells_its_story(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given no terminal and virtual time, when a demonstration is told, then its story comes in
    order with a header before the first row and the end state last, nothing is cut, and no line is
    longer than 80 columns.
    """
    monkeypatch.setenv("COLUMNS", "80")
    await stage.play(stage.story_of(name), "manual")
    is_told(capsys.readouterr().out, STORIES[name], stage.story_of(name).header)


@pytest.mark.parametrize("name", BROUGHT)
async def test_a_demo_of_an_add_on_tells_its_story(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given the demonstration that an add-on declares, when it is told, then it comes as our own
    do, and the command knows it where it is installed.
    """
    monkeypatch.setenv("COLUMNS", "80")
    declared, story = BROUGHT[name]
    await stage.play(stage.declared(declared()), "manual")
    is_told(capsys.readouterr().out, story, declared().header)
    monkeypatch.setattr(stage, "installed", lambda: {name: SimpleNamespace(load=lambda: declared)})
    demo = cli.commands["demo"]
    assert isinstance(demo, click.Group)
    with click.Context(demo) as context:
        assert name in demo.list_commands(context)
        command = demo.get_command(context, name)
    assert command is not None
    assert command.help == declared().about
    assert stage.story_of(name).header == declared().header


def is_told(printed: str, story: list[str], header: tuple[str, ...]) -> None:
    """What came out has all of a story in order, between a header and the state at the end."""
    told = words(printed)
    places = [told.find(text) for text in story]
    assert [text for text, place in zip(story, places, strict=True) if place < 0] == []
    assert places == sorted(places)
    assert "\x1b" not in printed
    assert [line for line in printed.splitlines() if len(line) > 80] == []
    rows = [line.split() for line in printed.splitlines() if re.match(r"  \d\d:\d\d:\d\d  |  TIME ", line)]
    assert rows[0] == ["TIME", *header]
    assert told.rfind("At the end: ") > told.rfind(" is gone ")


def test_every_demo_has_a_story_that_is_tested_and_a_page() -> None:
    """Given the demonstrations, when tests and pages are looked for, then each has both."""
    demo = cli.commands["demo"]
    assert isinstance(demo, click.Group)
    assert set(demo.commands) == set(STORIES)
    assert {page.stem for page in PAGES.glob("*.md")} == set(STORIES)


def test_the_list_of_demos_is_not_cut() -> None:
    """Given 80 columns, when the demonstrations are listed, then each has a sentence that ends."""
    done = subprocess.run(
        [*FAKEKUBE, "demo", "--help"], capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "80"})
    listed = done.stdout.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in listed] == sorted([*STORIES, *stage.installed()])
    assert [line for line in listed if not line.endswith(".") or line.endswith("...") or len(line) > 80] == []


@pytest.mark.parametrize("seed", [3, 17])
def test_what_a_flaky_operator_is_told_to_fail_with_replays(fakekube: Run, seed: int) -> None:
    """Given the demonstration from some seed on, when the command that it tells is run, then that
    one finds the same with its first seed, shrunk to the same fault, and tells the same story.
    """
    first = fakekube("demo", "flaky-operator", "--seed", str(seed), "--speed", "300")
    assert (first.returncode, first.stderr) == (0, "")
    command = re.search(r"fakekube (demo flaky-operator --seed (\d+))", first.stdout)
    assert command is not None
    assert int(command[2]) >= seed
    again = fakekube(*command[1].split(), "--speed", "300")
    assert f"1 seed, 2 distinct histories, seed {command[2]} fails" in again.stdout
    stories = [re.search(r"shrunk from (?:.|\n)*?to have it again", each.stdout) for each in (first, again)]
    assert stories[0] is not None
    assert stories[1] is not None
    assert stories[0][0] == stories[1][0]


async def test_a_garbage_collection_goes_in_the_order_of_its_policy(capsys: pytest.CaptureFixture[str]) -> None:
    """Given the demonstration, when owners are deleted in the background and in the foreground,
    then the Deployment is gone before its pods the first time, and after them the second.
    """
    await stage.play(stage.story_of("garbage-collection"), "manual")
    gone = re.findall(r"(\S+) is gone\n", capsys.readouterr().out)
    kinds = [{1: "Deployment", 2: "ReplicaSet", 3: "Pod"}[len(name.split("-"))] for name in gone]
    assert kinds == [
        "Deployment", "ReplicaSet", "Pod", "Pod", "Pod", "Pod", "ReplicaSet", "Deployment", "Deployment"]


def test_a_demo_runs_on_scaled_time_from_the_command_line(fakekube: Run) -> None:
    """Given no terminal, when the demonstration of the README runs much faster than the wall, then
    its story is printed, and nothing stands on standard error.
    """
    done = fakekube("demo", "job", "--speed", "150")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing is left of hello" in words(done.stdout)


def test_a_demo_shows_what_it_creates(fakekube: Run) -> None:
    """Given --manifests, when a demonstration runs, then its YAML is printed as it is, before what
    becomes of it: what is copied from there can be created.
    """
    done = fakekube("demo", "composite", "--speed", "300", "--manifests")
    assert (done.returncode, done.stderr) == (0, "")
    texts = [text for text in done.stdout.split("\n\n") if text.startswith("    apiVersion")]
    quoted = ["".join(f"{line}\n" for line in text.splitlines() if line.startswith("    ")) for text in texts]
    made = [each for text in quoted for each in yaml.safe_load_all(textwrap.dedent(text))]
    assert [(each["kind"], each["metadata"]["name"]) for each in made][2:6] == [
        ("Workload", "training"), ("CompositePodGroup", "training"), ("PodGroup", "servers"), ("PodGroup", "workers")]
    assert done.stdout.index("minGroupCount: 2}}\n") < done.stdout.index("servers-0 ")


def test_time_stands_while_people_read(fakekube: Run) -> None:
    """Given pauses and somebody who presses Enter once and leaves, when the demonstration runs,
    then it waits after the first step, and goes on without pauses once nobody is there.
    """
    done = fakekube("demo", "success-policy", "--speed", "150", "--pause", typed="\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[Enter]") == 2
    assert "completed indexes '0'" in words(done.stdout)


async def test_what_lasts_only_for_a_moment_is_seen() -> None:
    """Given a story that waits for a row, when it comes and goes between two looks of the clock,
    then the story goes on, with what it found.
    """
    story = stage.story_of("job")
    story.table = LiveTable(story.header, lambda: "00:00:00")

    async def run_until(predicate: Callable[[], bool], *, within: str) -> None:
        story.table.put("a", ("a", "Running", "yes", "n"))
        story.look()
        story.table.drop("a")
        story.look()
        assert predicate()

    story.cluster = cast("Any", SimpleNamespace(run_until=run_until))
    assert await story.until(lambda: story.rows(status="Running")) == [("a", "Running", "yes", "n")]
    story.look()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_is_joined_stays_for_kubectl_until_it_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    """Given --join with a kubeconfig of its own, when the story is over, then the cluster still
    answers where the line to be pasted leads, with what the story left; a signal ends it with exit
    code 0.
    """
    file = tmp_path / "with space"
    with subprocess.Popen(
        [*FAKEKUBE, "demo", "success-policy", "--speed", "150", "--join", "--kubeconfig", str(file)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:
        assert process.stdout is not None
        printed, end = "", time.monotonic() + START_SECONDS
        while printed.count("export KUBECONFIG") < 2 and time.monotonic() < end and process.poll() is None:
            printed += process.stdout.readline()
        config = json.loads(file.read_text())
        url, token = config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"]
        request = urllib.request.Request(
            f"{url}/api/v1/namespaces/default/pods", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            pods = json.load(answer)["items"]
        process.send_signal(number)
        printed += process.communicate(timeout=30)[0]
    assert [pod["metadata"]["name"].rsplit("-", 1)[0] for pod in pods] == ["training-0"]
    assert printed.count(f"\n    export KUBECONFIG='{file}'\n") == 2
    assert "Traceback" not in printed
    assert process.returncode == 0
    assert url.startswith("http://127.0.0.1:")


def test_a_temporary_kubeconfig_is_gone_at_the_end() -> None:
    """Given --join alone, when the demonstration is interrupted, then the kubeconfig that it named
    is gone.
    """
    with subprocess.Popen(
        [*FAKEKUBE, "demo", "job", "--join"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:
        assert process.stdout is not None
        path = None
        while path is None and (line := process.stdout.readline()):
            found = re.match(r"    export KUBECONFIG=(\S+)", line)
            path = Path(found[1]) if found else None
        assert path is not None
        assert path.stat().st_mode & 0o077 == 0
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
    assert (process.returncode, "Traceback" in rest) == (0, False)
    assert not path.exists()
    assert not path.parent.exists()


@pytest.mark.parametrize(("options", "text"), [
    (("--speed", "0"), "the speed must be above 0"),
    (("--kubeconfig", "file"), "--kubeconfig is for --join"),
    (("--join", "--kubeconfig", "nowhere/file"), "nowhere"),
])
def test_options_that_cannot_be_meant_are_told(fakekube: Run, options: tuple[str, ...], text: str) -> None:
    """Given an option with a mistake, when the demonstration is asked for, then one line says what
    is wrong.
    """
    done = fakekube("demo", "job", *options)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


class Terminal(io.StringIO):
    """Standard output that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_table_is_redrawn_and_never_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a terminal of 40 columns, when rows are wider, then they are cut there, so that as many
    lines are erased as were drawn; a note is broken into lines and keeps its words; the table
    stands below, header first.
    """
    output = Terminal()
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    table = LiveTable(("NAME", "STATUS"), lambda: "00:00:00")
    table.put("a", ("a" * 30, "Running on a node"))
    message = "the message of an Event that is longer than a line of this terminal"
    table.note(message)
    table.end()
    printed = output.getvalue()
    assert all(len(line) <= 40 for line in re.sub(r"\x1b\[[0-9]*[A-Z]|\r", "", printed).splitlines())
    erased, last = printed.rsplit("\x1b[0J", 1)
    assert erased.endswith("\x1b[2A\r")
    assert words(last).startswith(message)
    assert [line.split()[0] for line in last.splitlines()[-2:]] == ["NAME", "a" * 30]


def test_what_was_typed_below_the_table_is_erased_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a table of two lines with a prompt below, when Enter was pressed there, then three
    lines are erased before the table is drawn again, and two the next time.
    """
    output = Terminal()
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setenv("TERM", "xterm")
    table = LiveTable(("NAME", "STATUS"), lambda: "00:00:00")
    table.put("a", ("a", "Pending"))
    table.skip_line()
    table.put("a", ("a", "Running"))
    table.put("a", ("a", "Succeeded"))
    assert re.findall(r"\x1b\[([0-9]+)A", output.getvalue()) == ["3", "2"]


def test_a_terminal_that_cannot_redraw_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a terminal of the type dumb, when a row is set, then it is a plain line below a header.
    """
    output = Terminal()
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setenv("TERM", "dumb")
    LiveTable(("NAME", "STATUS"), lambda: "00:00:00").put("a", ("a", "Running"))
    assert [line.split() for line in output.getvalue().splitlines()] == [["TIME", "NAME", "STATUS"], ["00:00:00", "a", "Running"]]
