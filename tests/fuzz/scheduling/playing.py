"""One scenario, played beside upstream's scheduler and with ours, in step: after each step both are
to show the same.

What nodes do, which neither has, is done here: pods that are bound start, each a minute after the
one before, and those that are being deleted end when the scenario says so.

What upstream draws at random is left out: which of several placements of a group it reports when
none will do, which it takes of those with the same score, and of which of several nodes it evicts
pods where as much is lost. So is what depends on time: at which instants a group is tried again,
and so the Events of that; the condition of a group that was scheduled, which upstream overwrites
when it tries the rest of the group before it sees what it wrote.
"""

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fakekube.testing.background import BackgroundCluster
from tests.fuzz.scheduling.drawing import BACKOFF_SECONDS, Scenario
from tests.fuzz.scheduling.groups import COMPOSITES, POD_GROUPS
from tests.fuzz.scheduling.requests import Ask

Tree = dict[str, Any]
QUIET_SECONDS, PATIENCE_SECONDS = 0.15, 7.0
REST_SECONDS = BACKOFF_SECONDS + 1.2
"""Pods in back-off are tried in another order. Its end counts in whole seconds."""
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
FIRST_START = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = (("group", POD_GROUPS), ("composite", COMPOSITES))
SCORE = re.compile(r'final score for podGroup" podGroup="([^"]*)" placement="[^"]*" score=(\d+)')
TYPES = ("PodScheduled", "DisruptionTarget")


class Difference(NamedTuple):
    """What two schedulers show after a step of a scenario: where they part, and what each has.
    """

    step: int
    asked: list[Any]
    parts: dict[str, tuple[Any, Any]]


class Side:
    """A cluster and what is seen in it."""

    def __init__(self, cluster: BackgroundCluster) -> None:
        self.cluster, self._names, self._started = cluster, dict[str, str](), 0
        self._groups: dict[str, str] = {}  # of pods, by their names
        self._placed: set[str] = set()  # groups for which there may be several placements

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """An answer's body, of a refusal too."""
        media = "application/merge-patch+json" if method == "PATCH" else "application/json"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.cluster.url + path, data, {"Content-Type": media}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                told = json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)
        metadata = told.get("metadata") or {}
        if "uid" in metadata:
            self._names[metadata["uid"]] = f"{told['kind']}/{metadata['name']}"
        return told

    def play(self, step: list[Ask]) -> list[str]:
        """Send the requests of a step; what refusals say."""
        told = []
        for ask in step:
            if ask.method == "FINISH":
                self._end_deleted()
                continue
            answer = self.ask(ask.method, ask.path, ask.body)
            told.append(answer["message"] if answer.get("kind") == "Status" and "message" in answer else "")
        return told

    def _pods(self) -> list[Tree]:
        found = self.ask("GET", "/api/v1/pods")["items"]
        return sorted(found, key=lambda pod: (pod["metadata"]["namespace"], int(pod["metadata"]["name"][1:])))

    def _end_deleted(self) -> None:
        for pod in self._pods():
            metadata = pod["metadata"]
            if "deletionTimestamp" in metadata:
                path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
                self.ask("DELETE", path, {"gracePeriodSeconds": 0})

    def start_bound(self) -> None:
        """Pods that have got a node run."""
        for pod in self._pods():
            metadata, status = pod["metadata"], pod.get("status") or {}
            if pod["spec"].get("nodeName") and "startTime" not in status:
                self._started += 1
                start = (FIRST_START + timedelta(minutes=self._started)).strftime("%Y-%m-%dT%H:%M:%SZ")
                phase = status.get("phase") if status.get("phase") in ("Succeeded", "Failed") else "Running"
                self.ask("PATCH", f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status",
                         {"status": {"phase": phase, "startTime": start}})

    def _text(self, text: str) -> str:
        return UID.sub(lambda found: self._names.get(found[0], "UID"), text)

    def seen(self) -> Tree:
        """What a user can see, without what is drawn."""
        found: Tree = {}
        for pod in self._pods():
            status = pod.get("status") or {}
            one: Tree = {
                "node": pod["spec"].get("nodeName"), "nominated": status.get("nominatedNodeName"), "phase": status.get("phase"),
                "is deleted": "deletionTimestamp" in pod["metadata"]}
            for condition in status.get("conditions") or ():
                if condition["type"] in TYPES:
                    one[condition["type"]] = self._condition(condition)
            found |= {f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']} {key}": value for key, value in one.items()}
        groups = {word: self.ask("GET", path).get("items") or () for word, path in KINDS}
        for word, listed in groups.items():
            for group in listed:
                for condition in (group.get("status") or {}).get("conditions") or ():
                    found[f"{word} {group['metadata']['name']} {condition['type']}"] = self._condition(condition)
        self._note_placed([group for listed in groups.values() for group in listed])
        self._groups |= {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": name for pod in self._pods()
                         if (name := pod["spec"].get("schedulingGroup", {}).get("podGroupName"))}
        for event in self.ask("GET", "/apis/events.k8s.io/v1/events")["items"]:
            told = [event.get(key) or "" for key in ("type", "reason", "action", "note")]
            regarding, related = (event.get(key) or {} for key in ("regarding", "related"))
            name = f"event {regarding.get('kind')} {regarding.get('name')}: {self._text(' '.join(told))}"
            found[name] = [event.get("reportingController"), related.get("kind"), related.get("name")]
        return found

    def _note_placed(self, groups: list[Tree]) -> None:
        """Note the groups in whose trees one has a topology constraint."""
        parents = {group["metadata"]["name"]: group["spec"].get("parentCompositePodGroupName") for group in groups}

        def root_of(name: str) -> str:
            above = [name]
            while (parent := parents.get(above[-1])) and parent not in above:
                above.append(parent)
            return above[-1]

        placed = {root_of(group["metadata"]["name"]) for group in groups if group["spec"].get("schedulingConstraints")}
        self._placed |= {name for name in parents if root_of(name) in placed}

    def is_drawn(self, name: str) -> bool:
        """Whether a part of what is seen depends on a placement that upstream draws, or on when a
        group is tried again.
        """
        what, _, rest = name.partition(" ")
        which, _, key = rest.partition(" ")
        if what == "pod":
            return key == "PodScheduled" and self._groups.get(which) in self._placed
        if what == "group":
            return which in self._placed
        is_member = f"default/{key.partition(':')[0]}" in self._groups
        return what == "event" and which == "Pod" and is_member and " FailedScheduling " in key

    def _condition(self, condition: Tree) -> list[str]:
        return [condition["status"], condition.get("reason") or "", self._text(condition.get("message") or "")]


def parts(real: Tree, ours: Tree, is_drawn: Callable[[str], bool] = lambda _: False) -> dict[str, tuple[Any, Any]]:
    """Where two states differ, and what each has there."""
    both = {name: (real.get(name, "(absent)"), ours.get(name, "(absent)")) for name in dict.fromkeys([*real, *ours])}
    return {name: (left, right) for name, (left, right) in both.items()
            if left != right and not is_drawn(name) and not _is_overwritten(name, left, right)}


def _is_overwritten(name: str, real: Any, ours: Any) -> bool:
    """Whether upstream has overwritten that a group was scheduled."""
    return (name.endswith(" PodGroupInitiallyScheduled") and ours[:1] == ["True"]
            and real != "(absent)" and real[2].startswith("pod group is unschedulable"))


def has_tie(log: str) -> bool:
    """Whether two placements of a group had the best score, by what upstream's scheduler says."""
    best: dict[str, list[int]] = {}
    last = ""
    for group, score in SCORE.findall(log):
        if group != last:
            best[group] = []
        last = group
        best[group].append(int(score))
        if best[group].count(max(best[group])) > 1:
            return True
    return False


def play(scenario: Scenario, scheduler: str, folder: Path) -> Difference | None:
    """Play until the first difference; None when there is none.

    ``scheduler``: the path of upstream's; ``folder``: for its files.
    """
    with _both(scenario, scheduler, folder) as (real, ours):
        for number, step in enumerate(scenario.steps):
            begun = time.monotonic()
            answers = [side.play(step) for side in (real, ours)]
            asked = [[*ask, answer] for ask, answer in zip(step, answers[1], strict=False)]
            if answers[0] != answers[1]:
                return Difference(number, asked, {"answers": (answers[0], answers[1])})
            ours.cluster.settle(grace=0)
            ours.cluster.advance(PATIENCE_SECONDS, grace=0)  # so long the largest groups back off
            seen = ours.seen()
            if found := _until_alike(real, seen):
                drawn = has_tie((folder / "scheduler.log").read_text()) or evicts_the_same(found)
                return None if drawn else Difference(number, asked, found)
            if sum(name.endswith(" PodScheduled") and value[1] == "Unschedulable" for name, value in seen.items()) > 1:
                time.sleep(max(0.0, begun + REST_SECONDS - time.monotonic()))
            for side in (real, ours):
                side.start_bound()
    return None


def evicts_the_same(found: Mapping[str, tuple[Any, Any]]) -> bool:
    """Whether both evict the same pods, for another node: any of several where as much is lost."""
    evicted = [sorted(name.split(": ")[0] for name, each in found.items() if " Preempted " in name and each[side] != "(absent)")
               for side in (0, 1)]
    return bool(evicted[0]) and evicted[0] == evicted[1]


def _until_alike(real: Side, ours: Tree) -> dict[str, tuple[Any, Any]]:
    """Wait until upstream's scheduler rests, longer when it differs; what differs then."""
    last, since = real.seen(), time.monotonic()
    while True:
        found = parts(last, ours, real.is_drawn)
        if time.monotonic() - since > (PATIENCE_SECONDS if found else QUIET_SECONDS):
            return found
        time.sleep(0.03)
        now = real.seen()
        if now != last:
            last, since = now, time.monotonic()


def options_of(scenario: Scenario) -> Tree:
    """The options of both clusters."""
    return {"nodes": 0, "disable_admission_plugins": "TaintNodesByCondition", "event_ttl": 0,
            "feature_gates": "workload-aware" if scenario.gates else ""}


def prepare(side: Side) -> None:
    """Make the namespaces, with what pods need."""
    for namespace in ("default", "other"):
        side.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace, "labels": {"team": f"of-{namespace}"}}})
        side.ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})


@contextmanager
def _both(scenario: Scenario, scheduler: str, folder: Path) -> Iterator[tuple[Side, Side]]:
    options = options_of(scenario)
    with ExitStack() as stack:
        real = stack.enter_context(BackgroundCluster(
            kubeconfig=folder / "kubeconfig", clock="real", controllers="podgroup-protection", **options))
        ours = stack.enter_context(BackgroundCluster(
            kubeconfig=folder / "kubeconfig-ours", clock="manual", controllers="scheduler,podgroup-protection",
            scheduler_config=scenario.configuration, **options))
        stack.enter_context(_started(scenario, scheduler, folder, real.kubeconfig))
        sides = Side(real), Side(ours)
        for side in sides:
            prepare(side)
        yield sides


@contextmanager
def _started(scenario: Scenario, scheduler: str, folder: Path, kubeconfig: Path) -> Iterator[None]:
    """Upstream's scheduler beside a server; it is ready inside the block."""
    configuration = {**scenario.configuration, "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 1000},
                     "leaderElection": {"leaderElect": False}}
    (folder / "scheduler.yaml").write_text(yaml.safe_dump(configuration))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    gates = ",".join(f"{gate}=true" for gate in scenario.gates)
    with (folder / "scheduler.log").open("wb") as log:
        process = subprocess.Popen(
            [shutil.which(scheduler) or scheduler, f"--config={folder / 'scheduler.yaml'}", f"--secure-port={port}",
             "--bind-address=127.0.0.1", f"--cert-dir={folder / 'certificates'}", f"--authentication-kubeconfig={kubeconfig}",
             f"--authorization-kubeconfig={kubeconfig}", "--authentication-tolerate-lookup-failure=true", "-v=4",
             "--vmodule=schedule_one_podgroup=10",
             *([f"--feature-gates={gates}"] if gates else [])], stdout=log, stderr=log)
    try:
        _wait_until_ready(port, process, folder / "scheduler.log")
        yield
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_ready(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    import ssl

    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{port}/readyz", timeout=5, context=trusting):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the scheduler is not ready: {log.read_text()[-2000:]}")
