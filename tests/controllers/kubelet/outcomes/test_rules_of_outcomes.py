"""What every annotation, command and image makes of one run of a container."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fakekube_controllers.kubelet.outcomes import annotations, commands, probes, servers
from fakekube_controllers.kubelet.outcomes.annotations import InvalidOutcome
from fakekube_controllers.kubelet.outcomes.outcome import (
    Defaults,
    Outcome,
    decide,
    evict_after_seconds,
    start_delay_seconds,
)

PROBED = {"name": "c", "image": "i", "livenessProbe": {"exec": {}}, "startupProbe": {"exec": {}}}


def pod(texts: Mapping[str, str], *containers: Mapping[str, Any], policy: str = "Never", **spec: Any) -> dict[str, Any]:
    named = {f"fakekube.dev/{name}": text for name, text in texts.items()}
    return {"metadata": {"name": "p", "annotations": named}, "spec": {
        "restartPolicy": policy, "containers": list(containers or [PROBED]), **spec}}


def outcome(texts: Mapping[str, str], container: Mapping[str, Any] = PROBED, number: int = 0, **spec: Any) -> Outcome:
    return decide(pod(texts, container, **spec), number, container, None, Defaults(run_seconds=3.0))


@pytest.mark.parametrize(("texts", "expected"), [
    ({}, Outcome(3.0)), ({"run-duration": "90s"}, Outcome(90.0)), ({"run-duration": "forever"}, Outcome(None)),
    ({"exit-code": "0"}, Outcome(3.0)), ({"exit-code": " 7 "}, Outcome(3.0, 7)), ({"exit-code": "255"}, Outcome(3.0, 255)),
    ({"exit-codes": "4,5"}, Outcome(3.0, 4)), ({"exit-code-by-index": "*=6"}, Outcome(3.0, 6)),
    ({"exit-code-by-index": "1=6"}, Outcome(3.0)), ({"exit-code": "2", "reason": "R", "message": "M"}, Outcome(3.0, 2, "R", "M")),
    ({"oom": "true", "message": "M"}, Outcome(3.0, 137, "OOMKilled", "M")),
    ({"oom": "false", "reason": "R"}, Outcome(3.0, 0, "R")),
    ({"oom": "true", "exit-code": "137"}, Outcome(3.0, 137, "OOMKilled")), ({"crash-loop": "forever"}, Outcome(3.0, 1)),
    ({"crash-loop": "true"}, Outcome(3.0, 1)), ({"crash-loop": "1", "exit-code": "9"}, Outcome(3.0, 9)),
    ({"crash-loop": "0", "exit-code": "9"}, Outcome(3.0)), ({"crash-loop": "1", "oom": "true"}, Outcome(3.0, 137, "OOMKilled")),
    ({"ready-after": "5s"}, Outcome(3.0, ready_after_seconds=5.0)),
    ({"ready-after": "never"}, Outcome(3.0, ready_after_seconds=None)),
    ({"unready-after": "5s"}, Outcome(3.0, unready_after_seconds=5.0)),
    ({"ready-after": "4s", "unready-after": "5s"}, Outcome(3.0, ready_after_seconds=4.0, unready_after_seconds=5.0)),
    ({"unhealthy-after": "6s"}, Outcome(3.0, unhealthy_after_seconds=6.0)),
    ({"started-after": "7s"}, Outcome(3.0, started_after_seconds=7.0)),
    ({"started-after": "never"}, Outcome(3.0, started_after_seconds=None)),
    ({"image-pull": "fail, ok ,5s"}, Outcome(3.0, image_pull=("fail", "ok", 5.0))),
    ({"image-pull-message": "P"}, Outcome(3.0, pull_message="P")), ({"start-error": "S"}, Outcome(3.0, start_error="S")),
    ({"config-error": "C"}, Outcome(3.0, config_error="C")), ({"log": "a\nb"}, Outcome(3.0, log=((0.0, "a"), (0.0, "b")))),
    ({"ignore-sigterm": "true"}, Outcome(3.0, ignore_sigterm=True)), ({"term-duration": "8s"}, Outcome(3.0, term_seconds=8.0)),
    ({"term-exit-code": "0"}, Outcome(3.0, term_exit_code=0)), ({"term-exit-code": "12"}, Outcome(3.0, term_exit_code=12)),
    ({"cpu-usage": "5m"}, Outcome(3.0, cpu="5m")), ({"memory-usage": "5Mi"}, Outcome(3.0, memory="5Mi")),
    ({"exec": '{"a": 1}'}, Outcome(3.0)), ({"exit-code.c": "3", "exit-code": "4"}, Outcome(3.0, 3)),
    ({"exit-code.other": "3"}, Outcome(3.0)), ({"start-delay": "9s", "hold-status": "true"}, Outcome(3.0)),
])
def test_an_annotation_decides_one_thing(texts: Mapping[str, str], expected: Outcome) -> None:
    """Given annotations / then the run goes as they say, and otherwise as without them."""
    assert outcome(texts) == expected


@pytest.mark.parametrize(("texts", "number", "code"), [
    ({"exit-codes": "1,2"}, 0, 1), ({"exit-codes": "1,2"}, 1, 2), ({"exit-codes": "1,2"}, 2, 2), ({"crash-loop": "2"}, 1, 1),
    ({"crash-loop": "2"}, 2, 0), ({"crash-loop": "forever"}, 99, 1), ({"crash-loop": "1", "exit-code": "5"}, 1, 0),
])
def test_an_attempt_ends_as_its_number_says(texts: Mapping[str, str], number: int, code: int) -> None:
    """Given codes by attempt, or so many crashes / then this attempt ends with this code."""
    assert outcome(texts, number=number).exit_code == code


@pytest.mark.parametrize(("index", "code"), [("3", 1), ("4", 7), (None, 7)])
def test_an_index_ends_as_it_is_listed(index: str | None, code: int) -> None:
    """Given codes by completion index / then a pod has its own, and the star's if it has none."""
    tree = pod({"exit-code-by-index": " 3=1 , *=7"})
    if index is not None:
        tree["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] = index
    assert decide(tree, 0, PROBED, None, Defaults()).exit_code == code



@pytest.mark.parametrize(("texts", "name", "complaint"), [
    *(({one: "1", other: "1"}, one, f"contradicts fakekube.dev/{other}") for one, other in (
        ("exit-code", "exit-codes"), ("exit-code", "exit-code-by-index"), ("exit-codes", "exit-code-by-index"),
        ("crash-loop", "exit-codes"), ("crash-loop", "exit-code-by-index"), ("oom", "exit-codes"), ("oom", "exit-code-by-index"),
        ("oom", "reason"), ("ignore-sigterm", "term-duration"), ("ignore-sigterm", "term-exit-code"),
        ("start-error", "config-error"))),
    *(({"run-duration": "forever", key: text}, "run-duration",
       f"what runs for ever never ends, and fakekube.dev/{key} says how it does") for key, text in (
        ("exit-code", "1"), ("exit-codes", "1"), ("exit-code-by-index", "1=1"), ("oom", "true"), ("crash-loop", "1"))),
    ({"oom": "true", "exit-code": "1"}, "oom",
     "contradicts fakekube.dev/exit-code: what is killed for want of memory ends with 137"),
    ({"crash-loop": "1", "exit-code": "0"}, "crash-loop", "contradicts fakekube.dev/exit-code 0"),
    ({"exit-code": "256"}, "exit-code", "'256' is no exit code"), ({"exit-code": "-1"}, "exit-code", "'-1' is no exit code"),
    ({"exit-code": "1234567890"}, "exit-code", "'1234567890' is no exit code"),
    ({"exit-codes": "1,"}, "exit-codes", "'' is no exit code"),
    ({"exit-code-by-index": "1=x"}, "exit-code-by-index", "'x' is no exit code"),
    ({"exit-code-by-index": "1"}, "exit-code-by-index", "'1' is no index with its exit code: say 3=1 or *=0"),
    ({"exit-code-by-index": "a=1"}, "exit-code-by-index", "'a=1' is no index with its exit code: say 3=1 or *=0"),
    ({"crash-loop": "-1"}, "crash-loop", "'-1' is no number of crashes"), ({"oom": "1"}, "oom", "'1' is neither true nor false"),
    ({"run-duration": "x"}, "run-duration", "'x' is no duration"),
    ({"term-exit-code": "x"}, "term-exit-code", "'x' is no exit code"),
    ({"ready-after": "never", "unready-after": "5s"}, "unready-after", "contradicts fakekube.dev/ready-after: it is never ready"),
    ({"ready-after": "5s", "unready-after": "5s"}, "unready-after", "it is not ready by then"),
    ({"unready-after": "0s"}, "unready-after", "it is not ready by then"),
])
def test_a_contradiction_is_told(texts: Mapping[str, str], name: str, complaint: str) -> None:
    """Given annotations that cannot all be meant / then the first is named, and what is wrong."""
    with pytest.raises(InvalidOutcome) as refused:
        outcome(texts, number=1)
    assert refused.value.reason == "InvalidAnnotation"
    assert str(refused.value).startswith(f"annotation fakekube.dev/{name}: {complaint}")


def test_what_is_said_false_contradicts_nothing() -> None:
    """Given flags that are false / then what they would contradict may be said."""
    assert outcome({"oom": "false", "exit-codes": "2", "ignore-sigterm": "false", "term-duration": "4s"}) == Outcome(
        3.0, 2, term_seconds=4.0)


def test_a_probe_that_is_not_there_is_named_unless_another_container_has_it() -> None:
    """Given a word of a probe for all containers / then one without the probe is refused only if
    none has it, or if it is named.
    """
    bare = {"name": "c", "image": "i"}
    for key, probe in (("unhealthy-after", "livenessProbe"), ("started-after", "startupProbe")):
        text = f"annotation fakekube.dev/{key}: container c has no {probe}"
        other = {"name": "other", "image": "i", probe: {"exec": {}}}
        with pytest.raises(InvalidOutcome, match=f"^{text}$"):
            outcome({key: "5s"}, bare)
        with pytest.raises(InvalidOutcome, match=f"^{text}$"):
            decide(pod({f"{key}.c": "5s"}, bare, other), 0, bare, None, Defaults())
        assert decide(pod({key: "5s"}, bare, other), 0, bare, None, Defaults()).run_seconds == 1.0
        assert decide(pod({key: "5s"}, bare, initContainers=[other]), 0, bare, None, Defaults()).run_seconds == 1.0


@pytest.mark.parametrize(("container", "policy", "expected"), [
    ({}, "Never", Outcome(3.0)), ({}, "OnFailure", Outcome(3.0)), ({}, "Always", Outcome(None)),
    ({"stdin": True}, "Never", Outcome(None)),
    ({"restartPolicy": "Always"}, "Never", Outcome(None)), ({"restartPolicy": "Never"}, "Always", Outcome(3.0)),
    ({"command": ["sleep"], "args": ["5"]}, "Always", Outcome(5.0)),
    ({"command": ["sh", "-c", "echo a; sleep 2; exit 4"]}, "Never", Outcome(2.0, 4, log=((0.0, "a"),))),
    ({"readinessProbe": {"initialDelaySeconds": 4}}, "Never", Outcome(3.0, ready_after_seconds=4.0)),
    ({"readinessProbe": {"successThreshold": 3}}, "Never", Outcome(3.0, ready_after_seconds=20.0)),
    ({"readinessProbe": {"initialDelaySeconds": 1, "periodSeconds": 2, "successThreshold": 2}}, "Never",
     Outcome(3.0, ready_after_seconds=3.0)),
    ({"readinessProbe": {"exec": {"command": ["false"]}}}, "Never", Outcome(3.0, ready_after_seconds=None)),
    ({"startupProbe": {"exec": {"command": ["false"]}}}, "Never", Outcome(3.0, started_after_seconds=None)),
    ({"livenessProbe": {"exec": {"command": ["false"]}, "initialDelaySeconds": 6}}, "Never",
     Outcome(3.0, unhealthy_after_seconds=6.0)),
    ({"livenessProbe": {"exec": {"command": ["false"]}}}, "Never", Outcome(3.0, unhealthy_after_seconds=0.0)),
    ({"livenessProbe": {"exec": {"command": ["true"]}}, "readinessProbe": {"exec": None}}, "Never", Outcome(3.0)),
])
def test_without_annotations_the_container_itself_decides(container: Mapping[str, Any], policy: str, expected: Outcome) -> None:
    """Given a container and a restart policy / then its command, its probes and the policy decide.
    """
    assert outcome({}, {"name": "c", "image": "i", **container}, policy=policy) == expected


@pytest.mark.parametrize(("answer", "expected"), [
    (4, Outcome(3.0, 4)), (0, Outcome(3.0)), ({"exit-code": 6, "log": "x"}, Outcome(3.0, 6, log=((0.0, "x"),))),
    (Outcome(8.0, 9), Outcome(8.0, 9)), (None, Outcome(3.0, 2)), ({}, Outcome(3.0, 2)),
])
def test_a_callback_goes_first(answer: Any, expected: Outcome) -> None:
    """Given a callback and an annotation / then what it returns counts, and the annotation's rest.
    """
    assert decide(pod({"exit-code": "2"}), 0, PROBED, lambda *_: answer, Defaults(run_seconds=3.0)) == expected


def test_a_callbacks_code_ends_what_would_run_on() -> None:
    """Given a pod that runs for ever and a callback with a code / then it ends after the usual
    time.
    """
    tree = pod({}, policy="Always")
    assert decide(tree, 0, PROBED, lambda *_: 5, Defaults(run_seconds=3.0)) == Outcome(3.0, 5)


@pytest.mark.parametrize(("answer", "text"), [
    ({"exit-code": 1, "exit-cod": 1, "xyz": 2}, "the callback said 'exit-cod', which is not known"),
    ({"start-delay": "1s"}, "the callback said 'start-delay', which is not known"),
    (1.5, "the callback returned 1.5, which is no outcome"),
    ("x", "the callback returned 'x', which is no outcome"),
])
def test_a_callbacks_nonsense_is_named(answer: Any, text: str) -> None:
    """Given a callback that says what nobody knows / then container and attempt are named."""
    with pytest.raises(InvalidOutcome) as refused:
        decide(pod({}), 2, PROBED, lambda *_: answer, Defaults())
    assert (refused.value.reason, str(refused.value)) == ("OutcomeCallbackFailed", f"outcome of container c, attempt 2: {text}")


def test_delays_of_the_pod_are_read() -> None:
    """Given words for the pod as a whole / then they are durations, and have defaults."""
    assert [start_delay_seconds(pod(texts), Defaults()) for texts in ({}, {"start-delay": "1m"})] == [1.0, 60.0]
    assert [evict_after_seconds(pod(texts)) for texts in ({}, {"evict-after": "1m"})] == [None, 60.0]
    assert Defaults() == Defaults(1.0, 1.0, 1.0, "1m", "8Mi")


def test_every_word_is_known_and_slips_are_told_of() -> None:
    """Given annotations of all kinds / then each slip has its line, and nothing else has one."""
    known = ["run-duration", "exit-code", "exit-codes", "exit-code-by-index", "reason", "message", "oom", "crash-loop",
    "ready-after", "unready-after", "unhealthy-after", "started-after", "image-pull", "image-pull-message", "start-error",
    "config-error", "log", "ignore-sigterm", "term-duration", "term-exit-code", "cpu-usage", "memory-usage", "exec"]
    whole = ["start-delay", "admission-reject", "evict-after", "hold-status", "metric.anything"]
    names = [*known, *whole, *(f"{word}.c" for word in known), *(f"{word}.i" for word in known)]
    init = {"name": "i", "image": "i"}
    tree = pod(dict.fromkeys(names, "x"), initContainers=[init])
    tree["metadata"]["annotations"]["example.com/exit-cod"] = "x"
    assert annotations.warnings(tree) == []
    slips = dict.fromkeys(("exit-cod", "xyz", "exit-code.d", "start-delay.c", "metric", "metric.", "evict-aftr"), "x")
    said = "annotation fakekube.dev/"
    assert annotations.warnings(pod(slips, initContainers=[init])) == [
        f"{said}exit-cod is not known: is fakekube.dev/exit-code meant?", f"{said}xyz is not known",
        f"{said}exit-code.d speaks of a container that is not there: there are i, c",
        f"{said}start-delay.c is not known: is fakekube.dev/start-error meant?", f"{said}metric is not known",
        f"{said}metric. is not known", f"{said}evict-aftr is not known: is fakekube.dev/evict-after meant?"]


FOREVER = (None, 0, ())


@pytest.mark.parametrize(("words", "expected"), [
    (["sleep", "infinity"], FOREVER), (["sleep", "inf"], FOREVER), (["sleep", "1", "2"], None), (["sleep"], None),
    (["sleep", "x"], None),
    (["/bin/echo", "a", "b"], (0, 0, ((0, "a b"),))), (["exit", "3"], (0, 3, ())), (["exit", "1", "2"], None),
    (["exit", "x"], None),
    (["exit"], (0, 0, ())), (["true"], (0, 0, ())), (["false"], (0, 1, ())), (["true", "x"], None), (["set", "-e"], (0, 0, ())),
    *(([shell, "-c", "sleep 2"], (2, 0, ())) for shell in ("sh", "bash", "ash", "/bin/sh", "/bin/bash", "/bin/ash")),
    *((["sh", flag, "sleep 2"], (2, 0, ())) for flag in ("-c", "-ec", "-xc", "-exc")), (["sh", "-x", "sleep 2"], None),
    (["sh", "-c"], None),
    (["zsh", "-c", "sleep 2"], None), (["sh", "-c", "sleep 1 && sleep 2\nsleep 3; # done"], (6, 0, ())),
    (["sh", "-c", ""], (0, 0, ())),
    (["sh", "-c", "false; echo a"], (0, 0, ((0, "a"),))), (["sh", "-c", "false; sleep 1"], (1, 0, ())),
    (["sh", "-c", "false; exit"], (0, 1, ())), (["sh", "-c", "false; set -x"], (0, 1, ())),
    (["sh", "-c", "exit 2; sleep 9"], (0, 2, ())),
    (["sh", "-c", "exit 256"], (0, 0, ())), (["sh", "-c", "echo a; sleep infinity; exit 1"], (None, 0, ((0, "a"),))),
    (["sh", "-c", "sleep 3; echo a; sleep inf"], (None, 0, ((3, "a"),))), (["sh", "-c", "echo 'a"], None),
    (["sh", "-c", "sleep 1; run"], None),
])
def test_a_command_has_an_effect(words: Sequence[str], expected: Any) -> None:
    """Given a command / then it takes so long, ends so and says so much, or nobody knows."""
    assert commands.effect_of(words) == expected


@pytest.mark.parametrize(("probe", "texts", "output"), [
    ({"exec": {"command": ["false"]}}, {}, "command terminated with exit code 1"),
    ({"exec": None}, {}, "command terminated with exit code 1"),
    ({"exec": {"command": ["sh", "-c", "echo a; echo b; exit 3"]}}, {}, "a\nb"),
    ({"exec": {"command": ["run", "it"]}}, {"fakekube.dev/exec": '{"run it": 300}'}, "command terminated with exit code 44"),
    ({"exec": {"command": ["run"]}}, {"fakekube.dev/exec.c": '{"run": {"stdout": "o\\n", "stderr": "e\\n\\n"}}'}, "o\ne"),
    ({"exec": {"command": ["run"]}}, {"fakekube.dev/exec": '{"run": "text"}'}, "command terminated with exit code 1"),
    ({"tcpSocket": {"port": "web"}}, {}, "dial tcp 10.0.0.1:8080: connect: connection refused"),
    ({"tcpSocket": {"port": "other"}}, {}, "dial tcp 10.0.0.1:other: connect: connection refused"),
    ({"tcpSocket": {"port": 9, "host": "h"}}, {}, "dial tcp h:9: connect: connection refused"),
    ({"tcpSocket": {"port": 9, "host": "::1"}}, {}, "dial tcp [::1]:9: connect: connection refused"),
    ({"grpc": {"port": 9}}, {}, 'service unhealthy (responded with "NOT_SERVING")'),
    ({"httpGet": {"port": 9}}, {}, "HTTP probe failed with statuscode: 503"),
])
def test_a_probe_says_how_it_failed(probe: Mapping[str, Any], texts: Mapping[str, str], output: str) -> None:
    """Given a probe that fails / then it says this, in the words of upstream's prober."""
    container = {"name": "c", "ports": [{"containerPort": 1}, {"name": "web", "containerPort": 8080}]}
    assert probes.failure_output(texts, container, probe, "10.0.0.1") == output


def test_a_broken_answer_is_the_annotations_fault() -> None:
    """Given an exec annotation that is no JSON object / then a probe that asks it is refused."""
    container = {"name": "c", "readinessProbe": {"exec": {"command": ["run"]}}}
    for text in ("{", "[]", "1"):
        with pytest.raises(InvalidOutcome) as refused:
            probes.failing({"fakekube.dev/exec": text}, container)
        assert str(refused.value) == f"annotation fakekube.dev/exec: annotation fakekube.dev/exec is no JSON object: {text}"


def test_images_of_servers_are_known_by_their_last_name() -> None:
    """Given the images that run until they are stopped / then these are they, with the ports on
    which they answer over HTTP.
    """
    ports = {
        "caddy": (80, 443), "echoserver": (8080,), "hello-app": (8080,), "hello-kubernetes": (8080,), "hello-node": (8080,),
        "http-echo": (5678,), "httpd": (80,), "jetty": (8080,), "kubernetes-bootcamp": (8080,), "nginx": (80,),
        "nginx-unprivileged": (8080,), "podinfo": (9898,), "tomcat": (8080,), "traefik": (80,), "whoami": (80,)}
    silent = ["cassandra", "envoy", "haproxy", "mariadb", "memcached", "mongo", "mysql", "nats", "postgres", "rabbitmq", "redis",
    "registry", "valkey"]
    for name in (*ports, *silent):
        assert servers.runs_until_stopped({"image": name})
        assert servers.http_ports({"image": f"host:5000/a/{name}:1@sha256:0"}) == ports.get(name, ())
        assert servers.http_ports({"image": name, "command": ["x"]}) == ()
    for word in ("pause", "netexec", "nettest", "porter", "serve-hostname", "test-webserver"):
        assert servers.runs_until_stopped({"image": "agnhost", "args": [word]})
    assert [servers.runs_until_stopped(each) for each in (
        {"image": "pause-arm64"}, {"image": "pauses"}, {"image": "agnhost"}, {"image": "agnhost", "args": ["x"]},
        {"image": "nginx", "args": ["-g"]},
        {"image": "nginx", "args": ["x"]}, {"image": "nginx", "command": ["x"]}, {"image": None}, {},
    )] == [True, False, True, False, True, False, False, False, False]
