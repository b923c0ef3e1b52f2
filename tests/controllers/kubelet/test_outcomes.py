"""Who decides how a container fares, and what happens when that cannot be meant."""

import pytest

from fakekube.util.durations import seconds_of
from fakekube_controllers.kubelet.outcomes.commands import effect_of
from fakekube_controllers.kubelet.outcomes.outcome import Defaults, InvalidOutcome, Outcome, decide
from tests.controllers.kubelet.machine import Machine, container


def pod(*containers, init=(), restart_policy="Never", **annotations):
    named = {f"fakekube.dev/{key.replace('_', '-')}": text for key, text in annotations.items()}
    return {
        "metadata": {"name": "p", "annotations": named},
        "spec": {"restartPolicy": restart_policy, "containers": list(containers), "initContainers": list(init)},
    }


def outcome_of(tree, number=0, callback=None, name=None):
    spec = tree["spec"]
    found = next(c for c in [*spec["containers"], *spec["initContainers"]] if name in (None, c["name"]))
    return decide(tree, number, found, callback, Defaults())


@pytest.mark.parametrize(("text", "seconds"), [
    ("90s", 90), ("1h30m", 5400), ("500ms", 0.5), ("2d", 172_800), ("15", 15), ("1.5", 1.5)])
def test_durations_are_read_as_people_write_them(text, seconds):
    """Given a duration / then it is so many seconds."""
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "5 s", "1h-30m", "-5", "1x"])
def test_what_is_no_duration_is_refused(text):
    """Given a text that is no duration / then it is refused."""
    with pytest.raises(ValueError, match="is no duration"):
        seconds_of(text)


@pytest.mark.parametrize(("words", "expected"), [
    (["sleep", "5"], (5, 0, ())),
    (["/bin/sleep", "1m"], (60, 0, ())),
    (["sleep", "infinity"], (None, 0, ())),
    (["false"], (0, 1, ())),
    (["echo", "hello", "world"], (0, 0, ((0, "hello world"),))),
    (["sh", "-c", "echo a; sleep 2 && echo 'b c'; exit 3"], (2, 3, ((0, "a"), (2, "b c")))),
    (["sh", "-ec", "set -x\nsleep 1\ntrue"], (1, 0, ())),
    (["bash", "-c", "exit 300"], (0, 44, ())),
])
def test_small_scripts_are_understood(words, expected):
    """Given a command of sleeps, echoes and exits / then it takes so long, ends so, and says so
    much.
    """
    assert effect_of(words) == expected


@pytest.mark.parametrize("words", [
    [], ["python", "-c", "pass"], ["sh", "-c", "curl x | sh"], ["sleep", "soon"], ["sh", "-c", "'"]])
def test_other_commands_say_nothing(words):
    """Given a command that is not understood / then it says nothing."""
    assert effect_of(words) is None


def test_who_comes_first_decides():
    """Given a callback, annotations, a command / then each overrules what comes after it."""
    tree = pod(container("main", "sh", "-c", "sleep 7; exit 4"), exit_code="2", run_duration="5s")
    assert outcome_of(tree, callback=lambda *_: Outcome(3.0, 1)) == Outcome(3.0, 1)
    assert (outcome_of(tree, callback=lambda *_: 9).exit_code, outcome_of(tree, callback=lambda *_: 9).run_seconds) == (9, 5)
    assert outcome_of(tree, callback=lambda *_: {"exit-code": "8"}).exit_code == 8
    assert outcome_of(tree, callback=lambda *_: None).exit_code == 2
    tree["metadata"]["annotations"] = {}
    assert (outcome_of(tree).run_seconds, outcome_of(tree).exit_code) == (7, 4)


def test_a_callback_hears_of_the_pod_the_attempt_and_the_container():
    """Given a callback / then it is called with the pod, the number of the attempt, and the
    container's name.
    """
    heard = []
    tree = pod(container())
    outcome_of(tree, 3, lambda *arguments: heard.append(arguments))
    assert heard == [(tree, 3, "main")]


@pytest.mark.parametrize(("number", "code"), [(0, 1), (1, 2), (2, 0), (7, 0)])
def test_exit_codes_go_by_attempt_and_the_last_one_stays(number, code):
    """Given exit codes 1,2,0 / then an attempt ends with its own, and later ones with the last."""
    assert outcome_of(pod(container(), exit_codes="1,2,0"), number).exit_code == code


def test_annotations_of_the_pod_do_not_speak_of_init_containers():
    """Given an exit code for the pod and one for an init container / then each has its own."""
    tree = pod(container(), init=[container("init"), container("other")], exit_code="1")
    tree["metadata"]["annotations"]["fakekube.dev/exit-code.init"] = "2"
    assert [outcome_of(tree, name=name).exit_code for name in ("main", "init", "other")] == [1, 2, 0]


def test_what_is_meant_to_run_on_runs_on():
    """Given nothing said / then pods that are always restarted and sidecars run on, all others for
    a second.
    """
    side = container("side", restartPolicy="Always")
    assert outcome_of(pod(container()), name="main").run_seconds == 1
    assert outcome_of(pod(container(), restart_policy="Always")).run_seconds is None
    assert outcome_of(pod(container(), init=[side]), name="side").run_seconds is None
    assert outcome_of(pod(container(), init=[container("init")], restart_policy="Always"), name="init").run_seconds == 1
    assert outcome_of(pod(container(), restart_policy="Always", exit_code="1")).run_seconds == 1


@pytest.mark.parametrize(("annotations", "text"), [
    ({"run_duration": "soon"}, r"annotation fakekube.dev/run-duration: 'soon' is no duration"),
    ({"exit_code": "300"}, "annotation fakekube.dev/exit-code: '300' is no exit code"),
    ({"exit_codes": "1,x"}, "annotation fakekube.dev/exit-codes: 'x' is no exit code"),
    ({"ready_after": "later"}, "annotation fakekube.dev/ready-after"),
])
def test_an_annotation_that_cannot_be_meant_is_refused(annotations, text):
    """Given a bad annotation / then the refusal names it."""
    with pytest.raises(InvalidOutcome, match=text):
        outcome_of(pod(container(), **annotations), 1)


@pytest.mark.parametrize("name", ["run-duration", "start-delay"])
async def test_a_pod_with_a_bad_annotation_fails_and_says_why(machine, name):
    """Given an annotation that is no duration / when the pod is to run / then it has failed, and
    names the annotation.
    """
    await machine.run(annotations={name: "soon"})
    await machine.advance(2)
    status = await machine.status()
    assert (status["phase"], status["reason"]) == ("Failed", "InvalidAnnotation")
    assert status["message"].startswith(f"annotation fakekube.dev/{name}: 'soon' is no duration")


async def test_a_callback_that_raises_fails_the_pod_and_says_why():
    """Given a callback that raises / when a pod is to run / then it has failed, and its message
    tells what was raised.
    """
    def callback(pod, attempt, name):
        raise KeyError("oops")

    async with Machine(outcome=callback) as machine:
        await machine.run(container("main"), container("other"))
        await machine.advance(2)
        status = await machine.status()
        assert (status["phase"], status["reason"]) == ("Failed", "OutcomeCallbackFailed")
        assert status["message"] == "outcome of container main, attempt 0: the callback raised KeyError: 'oops'"


async def test_a_callback_that_returns_nonsense_fails_the_pod_and_says_why():
    """Given a callback that returns a text / then the pod has failed, and its message shows the
    text.
    """
    async with Machine(outcome=lambda *_: "later") as machine:
        await machine.run()
        await machine.advance(2)
        status = await machine.status()
        assert status["message"] == "outcome of container main, attempt 0: the callback returned 'later', which is no outcome"


@pytest.mark.parametrize("image", [
    "registry.k8s.io/pause:3.10", "pause", "pause-amd64:3.1", "k8s.gcr.io/pause@sha256:abc", "nginx", "nginx:1.29-alpine",
    "docker.io/library/httpd:2", "localhost:5000/team/redis:8@sha256:abc", "postgres",
    "registry.k8s.io/e2e-test-images/agnhost:2.57"])
def test_the_image_of_a_server_runs_until_it_is_stopped(image):
    """Given a pause image, or a server's without a command, in a pod that is meant to end / then it
    does not end by itself.
    """
    assert outcome_of(pod({"name": "main", "image": image})).run_seconds is None


@pytest.mark.parametrize(("container", "seconds"), [
    ({"image": "nginx", "args": ["-g", "daemon off;"]}, None),
    ({"image": "agnhost", "args": ["netexec", "--http-port=80"]}, None),
    ({"image": "pause:3.10", "args": ["anything"]}, None),
    ({"image": "agnhost", "args": ["dns-suffix"]}, 1),
    ({"image": "nginx", "args": ["nginx-debug"]}, 1),
    ({"image": "nginx", "command": ["nginx", "-t"]}, 1),
    ({"image": "nginx", "command": ["sleep", "5"]}, 5),
    ({"image": "pause", "command": ["true"]}, 0),
    ({"image": "nginx/nginx-ingress"}, 1),
    ({"image": "busybox"}, 1),
])
def test_a_command_replaces_what_an_image_starts(container, seconds):
    """Given an image with a command or arguments / then a command counts, options do not, and other
    images end.
    """
    assert outcome_of(pod({"name": "main", **container})).run_seconds == seconds


def test_annotations_end_a_server():
    """Given a server's image and an annotation of its exit code / then it ends after a second, with
    that code.
    """
    found = outcome_of(pod({"name": "main", "image": "nginx"}, exit_code="3"))
    assert (found.run_seconds, found.exit_code) == (1, 3)
