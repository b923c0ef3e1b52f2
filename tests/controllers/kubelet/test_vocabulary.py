"""What annotations make of a pod: images, starts, crashes, probes, ends, and the node's refusal."""

import pytest

from fakekube.apimachinery import meta
from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.kubelet.outcomes.outcome import Outcome
from tests.controllers.kubelet.machine import Machine, container
from tests.controllers.world import NAMESPACE, job_manifest

PROBE = {"exec": {"command": ["true"]}, "periodSeconds": 10, "failureThreshold": 3}


async def waiting(machine):
    state = (await machine.status())["containerStatuses"][0]["state"]["waiting"]
    return state["reason"], state.get("message", "")


async def reasons(machine):
    return [event["reason"] for event in await machine.events()]


async def test_an_image_that_cannot_be_pulled_is_tried_again_with_back_off(machine):
    """Given an image whose first two pulls fail / then the container says so, and why it waits, and
    runs after thirty seconds.
    """
    await machine.run(restart_policy="Always", annotations={"image-pull": "fail,fail,2s"})
    await machine.advance(1)
    reason, message = await waiting(machine)
    assert reason == "ErrImagePull"
    assert message.startswith('failed to pull and unpack image "docker.io/library/busybox:latest": ')
    await machine.advance(1)
    assert await waiting(machine) == ("ImagePullBackOff", f'Back-off pulling image "busybox": ErrImagePull: {message}')
    assert await machine.phase() == "Pending"
    await machine.advance(9)
    assert (await waiting(machine))[0] == "ErrImagePull"
    await machine.advance(20)
    assert (await waiting(machine))[0] == "ContainerCreating"
    await machine.advance(2)
    assert (await machine.phase(), await machine.states()) == ("Running", ["running"])
    events = [(e["type"], e["reason"], e["message"]) for e in await machine.events()]
    for expected in (
            ("Normal", "Pulling", 'Pulling image "busybox"'), ("Warning", "Failed", f'Failed to pull image "busybox": {message}'),
            ("Warning", "Failed", "Error: ErrImagePull"), ("Normal", "BackOff", 'Back-off pulling image "busybox"'),
            ("Warning", "Failed", "Error: ImagePullBackOff"),
            ("Normal", "Pulled", 'Successfully pulled image "busybox" in 2s (2s including waiting). Image size: 0 bytes.')):
        assert expected in events


async def test_an_image_that_must_not_be_pulled_is_missing(machine):
    """Given an image that is not there and is never pulled / then the container says that."""
    await machine.run(container(imagePullPolicy="Never"), annotations={"image-pull": "fail"})
    await machine.advance(2)
    assert await waiting(machine) == ("ErrImageNeverPull", 'Container image "busybox" is not present with pull policy of Never')


async def test_an_image_whose_name_cannot_be_read_is_never_pulled(machine):
    """Given an image with a name that is none / then the container says why, in upstream's words.
    """
    await machine.run({"name": "main", "image": "Busy"})
    await machine.advance(60)
    assert await waiting(machine) == ("InvalidImageName", (
        'Failed to apply default image tag "Busy": couldn\'t parse image name "Busy": '
        "invalid reference format: repository name (library/Busy) must be lowercase"))
    assert await machine.phase() == "Pending"


async def test_a_container_that_cannot_be_made_waits(machine):
    """Given a container whose configuration is wrong / then it waits for ever, and the pod is
    pending.
    """
    await machine.run(annotations={"config-error": 'secret "key" not found'})
    await machine.advance(600)
    assert await waiting(machine) == ("CreateContainerConfigError", 'secret "key" not found')
    assert await machine.phase() == "Pending"


async def test_a_container_that_cannot_be_started_fails_and_is_tried_again(machine):
    """Given a command that is not there / then each start is an end with 128, and there is back-off
    between.
    """
    await machine.run(restart_policy="Always", annotations={"start-error": "exec: no such file"})
    await machine.advance(2)
    status = (await machine.status())["containerStatuses"][0]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    terminated = status["lastState"]["terminated"]
    assert (terminated["exitCode"], terminated["reason"], terminated["message"]) == (128, "StartError", "exec: no such file")
    assert terminated["startedAt"] == "1970-01-01T00:00:00Z"
    assert "Failed" in await reasons(machine)


@pytest.mark.spec("JOB-165")
async def test_a_container_that_is_killed_for_want_of_memory_says_so(machine):
    """Given oom / then it ends with 137 and the reason."""
    await machine.run(annotations={"oom": "true"})
    await machine.advance(3)
    terminated = (await machine.status())["containerStatuses"][0]["state"]["terminated"]
    assert (terminated["exitCode"], terminated["reason"], await machine.phase()) == (137, "OOMKilled", "Failed")


async def test_a_container_crashes_so_often_and_then_runs(machine):
    """Given two crashes and restarts / then it has been restarted twice and runs on."""
    await machine.run(restart_policy="Always", annotations={"crash-loop": "2"})
    await machine.advance(60)
    assert await machine.states() == ["running"]
    assert (await machine.status())["containerStatuses"][0]["restartCount"] == 2


async def test_readiness_comes_and_goes(machine):
    """Given readiness from five to twenty seconds and no probe / then the pod is ready in between
    alone, and no Event speaks of a probe.
    """
    await machine.run(restart_policy="Always", annotations={"ready-after": "5s", "unready-after": "20s"})
    seen = []
    for _ in range(5):
        await machine.advance(5)
        seen.append((await machine.condition("Ready"))[0])
    assert seen == ["False", "True", "True", "True", "False"]
    assert "Unhealthy" not in await reasons(machine)


async def unhealthy(machine):
    """Message and count of every Event of a failed probe."""
    return [(event["message"], event["count"]) for event in await machine.events() if event["reason"] == "Unhealthy"]


HTTP_TEXT = "Readiness probe failed: HTTP probe failed with statuscode: 503"


async def test_a_readiness_probe_fails_as_often_as_it_may_before_the_container_is_unready(machine):
    """Given a readiness probe of HTTP every 10 s, and unready-after 20 s / then the container is
    unready once three probes in a row have failed, at 40 s; the Event is counted to three and no
    further.
    """
    probe = {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 10, "failureThreshold": 3}
    await machine.run(container(readinessProbe=probe), restart_policy="Always", annotations={"unready-after": "20s"})
    await machine.advance(22)
    assert ((await machine.condition("Ready"))[0], await unhealthy(machine)) == ("True", [(HTTP_TEXT, 1)])
    await machine.advance(10)
    assert ((await machine.condition("Ready"))[0], await unhealthy(machine)) == ("True", [(HTTP_TEXT, 2)])
    await machine.advance(10)
    assert ((await machine.condition("Ready"))[0], await unhealthy(machine)) == ("False", [(HTTP_TEXT, 3)])
    await machine.advance(600)
    assert await unhealthy(machine) == [(HTTP_TEXT, 3)]


async def test_a_readiness_probe_fails_until_the_container_is_ready(machine):
    """Given a probe after 2 s and then every 5 s, which must succeed twice, and ready-after 13 s /
    then it failed at 2 s and at 7 s, of 8 s and 13 s it found nothing to say.
    """
    probe = {"httpGet": {"port": 80}, "initialDelaySeconds": 2, "periodSeconds": 5, "successThreshold": 2}
    await machine.run(container(readinessProbe=probe), restart_policy="Always", annotations={"ready-after": "13s"})
    await machine.advance(60)
    assert ((await machine.condition("Ready"))[0], await unhealthy(machine)) == ("True", [(HTTP_TEXT, 2)])


@pytest.mark.parametrize(("probe", "annotations", "text"), [
    ({"tcpSocket": {"port": 80}}, {}, "dial tcp {ip}:80: connect: connection refused"),
    ({"tcpSocket": {"port": "web"}}, {}, "dial tcp {ip}:8080: connect: connection refused"),
    ({"tcpSocket": {"port": 80, "host": "fd00::1"}}, {}, "dial tcp [fd00::1]:80: connect: connection refused"),
    ({"grpc": {"port": 80}}, {}, 'service unhealthy (responded with "NOT_SERVING")'),
    ({"exec": {"command": ["sh", "-c", "echo not yet; exit 1"]}}, {}, "not yet"),
    ({"exec": {"command": ["false"]}}, {}, "command terminated with exit code 1"),
    ({"exec": {"command": ["fsck"]}}, {"exec": '{"fsck": {"stderr": "disk on fire\\n", "exitCode": 8}}'}, "disk on fire"),
    ({"exec": {"command": ["fsck"]}}, {"exec": '{"fsck": 8}'}, "command terminated with exit code 8"),
    ({"exec": {"command": ["fsck"]}}, {}, "command terminated with exit code 1"),
])
async def test_a_probe_that_fails_says_how(machine, probe, annotations, text):
    """Given a probe of each kind that fails / then its Event says what upstream's prober does of
    such a failure, and is never empty after the colon.
    """
    main = container(readinessProbe=probe, ports=[{"name": "web", "containerPort": 8080}])
    await machine.run(main, restart_policy="Always", annotations={"ready-after": "never", **annotations})
    await machine.advance(30)
    ip = (await machine.status())["podIP"]
    assert await unhealthy(machine) == [(f"Readiness probe failed: {text.format(ip=ip)}", 3)]


async def test_a_failing_liveness_probe_restarts_the_container(machine):
    """Given a liveness probe that fails from a minute on / then after three failures, each of which
    an Event counts, the container is killed and starts anew.
    """
    await machine.run(container(livenessProbe=PROBE), restart_policy="Always", annotations={"unhealthy-after": "60s"})
    await machine.advance(80)
    assert (await machine.status())["containerStatuses"][0]["restartCount"] == 0
    text = "Liveness probe failed: command terminated with exit code 1"
    assert await unhealthy(machine) == [(text, 2)]
    await machine.advance(2)
    status = (await machine.status())["containerStatuses"][0]
    assert (status["restartCount"], status["lastState"]["terminated"]["exitCode"]) == (1, 143)
    assert await unhealthy(machine) == [(text, 3)]
    messages = [event["message"] for event in await machine.events()]
    assert "Container main failed liveness probe, will be restarted" in messages


async def test_a_container_that_is_being_stopped_is_not_asked_whether_it_lives(machine):
    """Given a liveness probe that would fail while a deleted pod takes its time to end / then
    nothing is told of it.
    """
    await machine.run(
        container(livenessProbe=PROBE), restart_policy="Always", annotations={"unhealthy-after": "10s", "term-duration": "20s"})
    await machine.advance(5)
    await machine.delete()
    await machine.advance(19)
    assert await unhealthy(machine) == []


async def test_a_startup_probe_holds_readiness_back(machine):
    """Given a startup probe that succeeds after fifteen seconds / then the container has not
    started before, nor is it ready.
    """
    await machine.run(container(startupProbe=PROBE), restart_policy="Always", annotations={"started-after": "15s"})
    await machine.advance(10)
    status = (await machine.status())["containerStatuses"][0]
    assert (status["started"], status["ready"], await machine.states()) == (False, False, ["running"])
    assert await unhealthy(machine) == [("Startup probe failed: command terminated with exit code 1", 1)]
    await machine.advance(6)
    status = (await machine.status())["containerStatuses"][0]
    assert (status["started"], status["ready"]) == (True, True)


async def test_a_startup_probe_that_never_succeeds_restarts_the_container(machine):
    """Given a startup probe that never succeeds / then the container is killed when the probe's
    patience is over.
    """
    await machine.run(container(startupProbe=PROBE), restart_policy="Always", annotations={"started-after": "never"})
    await machine.advance(22)
    assert (await machine.status())["containerStatuses"][0]["restartCount"] == 1
    assert (await unhealthy(machine))[0][1] >= 3
    assert "Container main failed startup probe, will be restarted" in [e["message"] for e in await machine.events()]


@pytest.mark.parametrize(("annotations", "spec", "seconds", "code"), [
    ({"term-duration": "7s"}, {}, 7, 143),
    ({"term-duration": "7s", "term-exit-code": "0"}, {}, 7, 0),
    ({"term-duration": "1h"}, {}, 30, 137),
    ({"ignore-sigterm": "true"}, {"terminationGracePeriodSeconds": 5}, 5, 137),
])
async def test_an_end_takes_its_time(machine, annotations, spec, seconds, code):
    """Given a container that takes so long to end / when its pod is deleted / then it ends then, or
    when its grace is over.
    """
    await machine.run(restart_policy="Always", annotations=annotations, **spec)
    await machine.advance(2)
    await machine.delete()
    await machine.advance(seconds - 0.5)
    assert await machine.states() == ["running"]
    await machine.advance(0.5)
    assert await machine.states() == [code]


async def test_what_is_to_be_done_before_the_end_takes_time_too(machine):
    """Given a preStop hook that sleeps / when the pod is deleted / then SIGTERM comes after it."""
    hook = {"preStop": {"exec": {"command": ["sleep", "4"]}}}
    await machine.run(container(lifecycle=hook), restart_policy="Always")
    await machine.advance(2)
    await machine.delete()
    await machine.advance(3.5)
    assert await machine.states() == ["running"]
    await machine.advance(0.5)
    assert await machine.states() == [143]


async def test_sidecars_end_after_the_rest(machine):
    """Given a slow container and a sidecar / when the pod is deleted / then the sidecar runs until
    the other has ended.
    """
    await machine.run(
        container("app"), initContainers=[container("side", restartPolicy="Always")], restart_policy="Always",
        annotations={"term-duration.app": "5s"})
    await machine.advance(3)
    await machine.delete()
    await machine.advance(4)
    assert await machine.states() == ["running", "running"]
    await machine.advance(1)
    assert await machine.states() == [143, 143]


async def test_a_stubborn_container_takes_its_sidecar_along_when_grace_is_over(machine):
    """Given a container that ignores SIGTERM and a sidecar / when the pod is deleted / then both go
    after thirty seconds.
    """
    await machine.run(
        container("app"), initContainers=[container("side", restartPolicy="Always")], restart_policy="Always",
        annotations={"ignore-sigterm.app": "true"})
    await machine.advance(3)
    await machine.delete()
    await machine.advance(32)
    assert await machine.pod() is None


async def test_a_rule_restarts_what_would_not_be_restarted(machine):
    """Given restart policy Never and a rule for exit code 42 / when it ends with 42, then with 1 /
    then it runs twice.
    """
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
    await machine.run(
        container(restartPolicy="Never", restartPolicyRules=rules), annotations={"exit-codes": "42,1"})
    await machine.advance(10)
    status = await machine.status()
    assert (status["phase"], status["containerStatuses"][0]["restartCount"], await machine.states()) == ("Failed", 1, [1])


async def test_a_rule_restarts_the_whole_pod(machine):
    """Given a rule that restarts all containers / when it matches / then the init container has run
    again, the other one too.
    """
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [7]}}]
    await machine.run(
        container("main", restartPolicy="Never", restartPolicyRules=rules), container("other", "sleep", "1h"),
        initContainers=[container("init")], annotations={"exit-codes.main": "7,0"})
    await machine.advance(5)
    status = await machine.status()
    assert status["initContainerStatuses"][0]["restartCount"] == 1
    assert [s["restartCount"] for s in status["containerStatuses"]] == [1, 1]
    assert status["phase"] == "Running"


async def test_a_pod_is_evicted(machine):
    """Given a pod that its node evicts / then it has failed for that, as the target of a
    disruption, with its containers.
    """
    await machine.run(restart_policy="Always", annotations={"evict-after": "30s"})
    await machine.advance(30)
    status = await machine.status()
    assert (status["phase"], status["reason"], status["message"]) == (
        "Failed", "Evicted", "The node was low on resource: memory. ")
    condition = meta.find_condition(await machine.pod(), "DisruptionTarget")
    assert (condition["status"], condition["reason"]) == ("True", "TerminationByKubelet")


async def test_a_pod_can_be_evicted_from_a_test(machine):
    """Given a running pod / when the kubelet is told to evict it / then it has failed, and an Event
    tells why.
    """
    await machine.run(restart_policy="Always")
    await machine.advance(2)
    machine.cluster.component("kubelet").evict("default", "p", "ephemeral-storage")
    await machine.advance(0)
    assert (await machine.status())["message"] == "The node was low on resource: ephemeral-storage. "
    assert "Evicted" in await reasons(machine)
    with pytest.raises(KeyError):
        machine.cluster.component("kubelet").evict("default", "nobody")


@pytest.mark.spec("JOB-169")
async def test_a_pod_of_which_nothing_is_told_stays(machine):
    """Given a pod whose status is held / when it is deleted / then it is there and terminating, as
    on a dead node.
    """
    await machine.run(restart_policy="Always")
    await machine.advance(2)
    await machine.client.patch(PODS, "p", "default", {"metadata": {"annotations": {"fakekube.dev/hold-status": "true"}}})
    await machine.delete()
    await machine.advance(3600)
    assert await machine.phase() == "Running"
    assert meta.is_deleting(await machine.pod())
    await machine.client.patch(PODS, "p", "default", {"metadata": {"annotations": {"fakekube.dev/hold-status": None}}})
    await machine.advance(2)
    assert await machine.pod() is None


@pytest.mark.spec("JOB-168")
async def test_a_pod_that_the_node_does_not_take_has_failed_without_having_run(machine):
    """Given a refusal / then the pod has failed with its reason, and says nothing of containers."""
    await machine.run(annotations={"admission-reject": "OutOfcpu"})
    status = await machine.status()
    assert (status["phase"], status["reason"], status["message"]) == (
        "Failed", "OutOfcpu", "Pod was rejected: Node rejected the pod: OutOfcpu")
    assert "containerStatuses" not in status


@pytest.mark.spec("JOB-170")
async def test_indexes_end_as_they_are_told():
    """Given an Indexed Job of five whose index 3 fails for good / then it has failed, and names
    that index.
    """
    async with Cluster(nodes=1, clock="auto") as cluster:
        manifest = job_manifest(completionMode="Indexed", completions=5, parallelism=5, backoffLimitPerIndex=0)
        manifest["spec"]["template"]["metadata"] = {"annotations": {"fakekube.dev/exit-code-by-index": "3=1,*=0"}}
        await cluster.client.create(JOBS, manifest)

        async def over():
            return meta.is_condition_true(await cluster.client.get(JOBS, "j", NAMESPACE), "Failed")

        await cluster.run_until(over)
        status = (await cluster.client.get(JOBS, "j", NAMESPACE))["status"]
        assert (status["failedIndexes"], status["completedIndexes"]) == ("3", "0-2,4")


async def test_a_callback_may_say_all_that_annotations_say():
    """Given callbacks that return an Outcome with a pull, and words / then both count."""
    async with Machine(outcome=lambda *_: Outcome(None, image_pull=("fail",))) as machine:
        await machine.run()
        await machine.advance(1)
        assert (await waiting(machine))[0] == "ErrImagePull"
    async with Machine(outcome=lambda *_: {"oom": "true"}) as machine:
        await machine.run()
        await machine.advance(3)
        assert await machine.states() == [137]


@pytest.mark.parametrize(("annotations", "text"), [
    ({"exit-code": "1", "exit-codes": "1,0"}, "annotation fakekube.dev/exit-code: contradicts fakekube.dev/exit-codes"),
    ({"oom": "true", "exit-code": "1"}, "annotation fakekube.dev/oom: contradicts fakekube.dev/exit-code"),
    ({"oom": "yes"}, "annotation fakekube.dev/oom: 'yes' is neither true nor false"),
    ({"run-duration": "forever", "exit-code": "1"}, "what runs for ever never ends"),
    ({"crash-loop": "often"}, "annotation fakekube.dev/crash-loop: 'often' is no number of crashes"),
    ({"crash-loop": "2", "exit-code": "0"}, "contradicts fakekube.dev/exit-code 0"),
    ({"exit-code-by-index": "three"}, "annotation fakekube.dev/exit-code-by-index: 'three' is no index"),
    ({"ignore-sigterm": "true", "term-duration": "1s"}, "contradicts fakekube.dev/term-duration"),
    ({"ready-after": "never", "unready-after": "5s"}, "it is never ready"),
    ({"ready-after": "9s", "unready-after": "5s"}, "annotation fakekube.dev/unready-after: it is not ready by then"),
    ({"unhealthy-after": "5s"}, "annotation fakekube.dev/unhealthy-after: container main has no livenessProbe"),
    ({"started-after.main": "5s"}, "annotation fakekube.dev/started-after: container main has no startupProbe"),
    ({"image-pull": "maybe"}, "annotation fakekube.dev/image-pull: 'maybe' is no duration"),
    ({"evict-after": "late"}, "annotation fakekube.dev/evict-after: 'late' is no duration"),
])
async def test_what_contradicts_itself_fails_the_pod_and_is_named(machine, annotations, text):
    """Given annotations that cannot all be meant / then the pod has failed, and its message names
    them.
    """
    await machine.run(annotations=annotations)
    await machine.advance(2)
    status = await machine.status()
    assert (status["phase"], status["reason"]) == ("Failed", "InvalidAnnotation")
    assert text in status["message"]
    assert "InvalidAnnotation" in await reasons(machine)


@pytest.mark.parametrize(("name", "text"), [
    ("exit-cod", "annotation fakekube.dev/exit-cod is not known: is fakekube.dev/exit-code meant?"),
    ("exit-code.mian", "annotation fakekube.dev/exit-code.mian speaks of a container that is not there: there are main"),
])
async def test_a_word_that_nobody_knows_is_told_of(machine, name, text):
    """Given an annotation with a slip in it / then an Event asks whether another one was meant, and
    the pod runs.
    """
    await machine.run(annotations={name: "1"})
    await machine.advance(3)
    assert text in [event["message"] for event in await machine.events()]
    assert await machine.phase() == "Succeeded"


async def test_who_waits_in_vain_is_shown_what_a_callback_raised(caplog):
    """Given a callback that raises / when a test waits for the pod to succeed / then it is shown
    the traceback, as the log is.
    """
    def callback(pod, attempt, name):
        raise KeyError("oops")

    async with Machine(outcome=callback) as machine:
        await machine.run()

        async def succeeded():
            return await machine.phase() == "Succeeded"

        with pytest.raises(Exception, match=r"(?s)KeyError: 'oops'.*raise KeyError") as stalled:
            await machine.cluster.run_until(succeeded)
        assert "test_vocabulary.py" in str(stalled.value)
    assert any(record.exc_info for record in caplog.records)


async def test_a_startup_probe_that_succeeds_has_no_event(machine):
    """Given a container that a startup probe holds back / when the probe succeeds / then its start
    is told once, not again.
    """
    await machine.run(container(startupProbe=PROBE), restart_policy="Always", annotations={"started-after": "5s"})
    await machine.advance(20)
    assert [event["reason"] for event in await machine.events() if event["reason"] in ("Pulled", "Created", "Started")] == [
        "Pulled", "Created", "Started"]
