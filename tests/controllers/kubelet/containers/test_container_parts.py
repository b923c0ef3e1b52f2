"""How a container's specification is read, and what images, states and ids are called."""

from collections.abc import Mapping
from typing import Any

import pytest

from fakekube_controllers.kubelet.containers import images, states
from fakekube_controllers.kubelet.containers.config import ContainerConfig, Probe, config_of, granted_seconds
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.outcomes.outcome import Outcome


def config(spec: Mapping[str, Any], pod: Mapping[str, Any] | None = None, *, rules: bool = True,
quick: bool = False) -> ContainerConfig:
    return config_of(spec, {"spec": pod or {}}, rules=rules, quick=quick)


RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}


def hook(**action: Any) -> dict[str, Any]:
    return {"lifecycle": {"preStop": action}}


@pytest.mark.parametrize(("spec", "pod", "expected"), [
    ({}, {}, ContainerConfig()), ({}, {"terminationGracePeriodSeconds": 5}, ContainerConfig(grace_seconds=5.0)),
    ({}, {"terminationGracePeriodSeconds": 0}, ContainerConfig(grace_seconds=0.0)),
    ({"imagePullPolicy": "Never"}, {}, ContainerConfig(pull_policy="Never")),
    ({"restartPolicyRules": [RULE]}, {}, ContainerConfig(rules=(RULE,))),
    ({"livenessProbe": {"exec": {}}}, {}, ContainerConfig(liveness=Probe(0.0, 10.0, 3, 1, None))),
    ({"startupProbe": {"initialDelaySeconds": 1, "periodSeconds": 2, "failureThreshold": 4, "successThreshold": 5}}, {},
     ContainerConfig(startup=Probe(1.0, 2.0, 4, 5, None))),
    ({"readinessProbe": {"periodSeconds": 7, "terminationGracePeriodSeconds": 0}}, {},
     ContainerConfig(readiness=Probe(0.0, 7.0, 3, 1, 0.0))),
    ({"livenessProbe": {"terminationGracePeriodSeconds": 9}}, {}, ContainerConfig(liveness=Probe(0.0, 10.0, 3, 1, 9.0))),
    (hook(sleep={"seconds": 4}), {}, ContainerConfig(pre_stop_seconds=4.0)), (hook(sleep={"seconds": 0}), {}, ContainerConfig()),
    (hook(exec={"command": ["sleep", "6"]}), {}, ContainerConfig(pre_stop_seconds=6.0)),
    (hook(exec={"command": ["sleep", "infinity"]}), {}, ContainerConfig()),
    (hook(exec={"command": ["run"]}), {}, ContainerConfig()),
    (hook(httpGet={"port": 1}), {}, ContainerConfig()), (hook(exec=None), {}, ContainerConfig()),
])
def test_a_configuration_is_what_the_specification_says(
        spec: Mapping[str, Any], pod: Mapping[str, Any], expected: ContainerConfig) -> None:
    """Given a container and its pod / then it is run so, and by upstream's defaults otherwise."""
    assert config(spec, pod) == expected


def test_gates_change_rules_and_back_off() -> None:
    """Given restart rules off, or quick restarts on / then no rule counts, or back-off is shorter.
    """
    assert config({"restartPolicyRules": [RULE]}, rules=False) == ContainerConfig()
    assert config({}, quick=True) == ContainerConfig(back_off_seconds=1.0, max_back_off_seconds=60.0)
    assert ContainerConfig() == ContainerConfig((), None, None, None, 0.0, 30.0, "IfNotPresent", 10.0, 300.0)
    assert [granted_seconds(count) for count in (0, 7, -1, 2**62, 9_223_372_036)] == [0.0, 7.0, 0.0, 0.0, 9_223_372_036.0]
    probe = Probe(1.0, 5.0, 3, 2, None)
    assert (probe.seconds_to_fail, probe.seconds_to_succeed) == (10.0, 5.0)


@pytest.mark.parametrize(("rules", "actions"), [
    ((), ["", ""]), ((RULE,), ["Restart", ""]), (({**RULE, "exitCodes": {"operator": "NotIn", "values": [1]}},), ["", "Restart"]),
    (({"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [2]}}, RULE),
     ["Restart", "RestartAllContainers"]),
    (({"action": "A", "exitCodes": {"operator": "In", "values": [1, 2]}}, RULE), ["A", "A"]), (({"action": "A"},), ["", ""]),
    (({"action": "A", "exitCodes": {"operator": "In"}},), ["", ""]),
    (({"action": "A", "exitCodes": {"operator": "NotIn"}},), ["A", "A"]),
])
def test_the_first_rule_that_matches_decides(rules: tuple[Any, ...], actions: list[str]) -> None:
    """Given restart rules / then the exit codes 1 and 2 come to this."""
    assert [ContainerConfig(rules=rules).action(code) for code in (1, 2)] == actions


@pytest.mark.parametrize(("image", "why"), [
    ("nginx", ""), ("nginx:1.2-a_b", ""), ("a/b/c:d", ""), ("localhost/a", ""), ("Host.example.COM:5000/a:b", ""),
    ("HOST:5000/a", ""),
    ("a@sha256:" + "0" * 64, ""), ("Nginx", "invalid reference format: repository name (library/Nginx) must be lowercase"),
    ("a/B:c", "invalid reference format: repository name (a/B) must be lowercase"),
    ("B@sha256:" + "0" * 64, "invalid reference format: repository name (library/B) must be lowercase"),
    ("a:::b", "invalid reference format"), ("", "invalid reference format"), ("a b", "invalid reference format"),
    ("-a", "invalid reference format"), ("a:" + "t" * 129, "invalid reference format"),
    ("a@sha256:0", "invalid reference format"),
])
def test_an_images_name_is_read_or_refused(image: str, why: str) -> None:
    """Given the name of an image / then it can be read, or upstream's words say why not."""
    said = f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": {why}'
    assert images.name_error(image) == (said if why else "")


@pytest.mark.parametrize(("image", "whole"), [
    ("x", "docker.io/library/x:latest"), ("x:1", "docker.io/library/x:1"), ("a/x", "docker.io/a/x:latest"),
    ("localhost/x", "localhost/x:latest"), ("h.io/x", "h.io/x:latest"), ("h:5/x", "h:5/x:latest"), ("h:5/x:1", "h:5/x:1"),
    ("x@sha256:0", "docker.io/library/x@sha256:0"),
])
def test_a_pull_that_fails_names_the_whole_image(image: str, whole: str) -> None:
    """Given an image that no registry has / then containerd's words name it with host and tag."""
    assert images.not_found(image) == (
        f'failed to pull and unpack image "{whole}": failed to resolve reference "{whole}": {whole}: not found')


def test_pulls_back_off_and_some_images_do_not_exist() -> None:
    """Given pulls that fail / then each waits twice as long, up to five minutes."""
    assert [images.back_off_seconds(number) for number in range(1, 8)] == [10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]
    assert [images.does_not_exist(image) for image in ("a:does-not-exist", "does-not-exist", "does-not-exist:1")] == [True, True,
    False]


@pytest.mark.parametrize(("code", "outcome", "expected"), [
    (0, None, {"exitCode": 0, "reason": "Completed"}), (2, None, {"exitCode": 2, "reason": "Error"}),
    (0, Outcome(reason="R", message="M"), {"exitCode": 0, "reason": "R", "message": "M"}),
    (128, Outcome(reason="StartError"), {"exitCode": 128, "reason": "StartError", "startedAt": "1970-01-01T00:00:00Z"}),
])
def test_an_end_is_shown_with_its_reason(code: int, outcome: Outcome | None, expected: Mapping[str, Any]) -> None:
    """Given how a container ended / then the API's state has reason, times and id."""
    times = {"startedAt": "1970-01-01T00:00:05Z", "finishedAt": "1970-01-01T00:00:09Z", "containerID": "id"}
    assert states.terminated(code, outcome, 5.0, 9.0, "id") == times | dict(expected)
    assert states.terminated(0, None, None, None, "")["finishedAt"] == "1970-01-01T00:00:00Z"


def test_what_waits_says_why() -> None:
    """Given a reason and a message / then the state has both, or the reason alone."""
    assert states.waiting("R", "") == {"waiting": {"reason": "R"}}
    assert states.waiting("R", "M") == {"waiting": {"reason": "R", "message": "M"}}
    texts = [states.crash_loop_back_off(seconds, "c", "p")["waiting"]["message"].split()[1] for seconds in (10.9, 59.0, 60.0,
    300.0)]
    assert texts == ["10s", "59s", "1m0s", "5m0s"]


def test_an_id_is_the_same_in_every_run() -> None:
    """Given a container's name, restarts and start / then its id follows from them alone."""
    assert states.container_id("c", 2, 1.5) == "fakekube://" + b"c-2-1500".hex() + "0" * 48
    assert states.container_id("c", 0, None) == "fakekube://" + b"c-0-0".hex() + "0" * 54
    assert len(states.container_id("c" * 99, 0, None)) == len("fakekube://") + 64


def test_a_container_is_shown_from_its_creation_to_its_end() -> None:
    """Given a container / then its whole status is this before, during and after its run, and in
    back-off.
    """
    container = Container("c", "img", lambda _: Outcome(2.0, 3, message="M"), "Always", "p_n(u)")
    whole = {"name": "c", "lastState": {}, "ready": False, "restartCount": 0, "image": "img", "imageID": "", "started": False}
    assert container.status(0.0) == whole | {"state": {"waiting": {"reason": "ContainerCreating"}}}
    container.start(10.0)
    ids = {"imageID": "fakekube://img", "containerID": states.container_id("c", 0, 10.0)}
    running = {"state": {"running": {"startedAt": "1970-01-01T00:00:10Z"}}, "ready": True, "started": True}
    assert container.status(11.0) == whole | ids | running
    container.step(12.0)
    ended = {"terminated": {
        "exitCode": 3, "reason": "Error", "message": "M", "startedAt": "1970-01-01T00:00:10Z",
        "finishedAt": "1970-01-01T00:00:12Z", "containerID": ids["containerID"]}}
    assert container.status(12.0) == whole | ids | {"state": ended}
    container.step(12.0)
    ids["containerID"] = states.container_id("c", 1, 12.0)
    assert container.status(13.0) == whole | ids | {
        "state": {"running": {"startedAt": "1970-01-01T00:00:12Z"}}, "ready": True, "started": True, "lastState": ended,
        "restartCount": 1}
    container.step(14.0)
    again = {"terminated": {**ended["terminated"], "startedAt": "1970-01-01T00:00:12Z", "finishedAt": "1970-01-01T00:00:14Z",
                            "containerID": ids["containerID"]}}
    assert (container.restarts_at, container.due, container.done) == (24.0, 24.0, False)
    assert container.status(14.0) == whole | ids | {"restartCount": 1, "lastState": again, "state": {"waiting": {
        "reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container=c pod=p_n(u)"}}}
