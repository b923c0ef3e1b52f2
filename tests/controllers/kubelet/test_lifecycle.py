"""A pod's life on a node: start, run, end, restart, deletion."""

import itertools

import pytest

from fakekube.client.resources import PODS
from tests.controllers.kubelet.machine import container


async def test_a_command_is_understood(machine):
    """Given a pod that sleeps for a second / then it is pending, runs a second later, and succeeds
    after one more.
    """
    await machine.run(container("main", "sleep", "1"))
    assert (await machine.phase(), await machine.states()) == ("Pending", ["ContainerCreating"])
    await machine.advance(1)
    assert (await machine.phase(), await machine.states()) == ("Running", ["running"])
    assert await machine.condition("Ready") == ("True", "")
    await machine.advance(1)
    assert (await machine.phase(), await machine.states()) == ("Succeeded", [0])
    assert await machine.condition("Ready") == ("False", "PodCompleted")
    terminated = (await machine.status())["containerStatuses"][0]["state"]["terminated"]
    assert (terminated["startedAt"], terminated["finishedAt"]) == ("2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z")
    assert terminated["reason"] == "Completed"


async def test_conditions_are_in_the_kubelets_order_and_speak_of_a_generation(machine):
    """Given a running pod / then its conditions are those of a kubelet, in its order, each of this
    generation.
    """
    await machine.run()
    await machine.advance(1)
    status = await machine.status()
    assert [c["type"] for c in status["conditions"]] == [
        "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
    assert [c["observedGeneration"] for c in status["conditions"]] == [1] * 5
    assert status["observedGeneration"] == 1


@pytest.mark.spec("JOB-162")
async def test_a_pod_ends_with_its_last_container(machine):
    """Given two containers that are never restarted / when one has failed and the other runs / then
    the pod runs / when that has ended too / then the pod has failed.
    """
    await machine.run(container("bad", "sh", "-c", "exit 1"), container("good", "sleep", "5"))
    await machine.advance(3)
    assert (await machine.phase(), await machine.states()) == ("Running", [1, "running"])
    await machine.advance(4)
    assert (await machine.phase(), await machine.states()) == ("Failed", [1, 0])
    assert await machine.condition("ContainersReady") == ("False", "PodFailed")


@pytest.mark.spec("JOB-161")
async def test_a_failing_container_is_restarted_with_back_off(machine):
    """Given exit codes 1, 1, 0 and OnFailure / then it is restarted at once, then after ten
    seconds, and the pod succeeds.
    """
    await machine.run(restart_policy="OnFailure", annotations={"exit-codes": "1,1,0"})
    await machine.advance(2)
    status = await machine.status()
    assert status["containerStatuses"][0]["restartCount"] == 1
    assert status["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 1
    await machine.advance(1)
    assert (await machine.phase(), await machine.states()) == ("Running", ["CrashLoopBackOff"])
    waiting = (await machine.status())["containerStatuses"][0]["state"]["waiting"]
    uid = (await machine.pod())["metadata"]["uid"]
    assert waiting["message"] == f"back-off 10s restarting failed container=main pod=p_default({uid})"
    await machine.advance(9.5)
    assert await machine.states() == ["CrashLoopBackOff"]
    await machine.advance(0.5)
    assert await machine.states() == ["running"]
    await machine.advance(1)
    assert await machine.phase() == "Succeeded"
    assert (await machine.status())["containerStatuses"][0]["restartCount"] == 2
    assert [e["reason"] for e in await machine.events()].count("BackOff") == 1


async def test_back_off_doubles_up_to_five_minutes(machine):
    """Given a container that always fails at once / then it restarts ever later, never more than
    five minutes.
    """
    await machine.run(restart_policy="Always", annotations={"exit-code": "1", "run-duration": "0s"})
    started = []
    last = -1
    for _ in range(1200):
        await machine.advance(1)
        count = (await machine.status())["containerStatuses"][0]["restartCount"]
        if count != last:
            last = count
            started.append(machine.cluster.clock.time())
    gaps = [round(later - earlier) for earlier, later in itertools.pairwise(started)]
    assert gaps == [10, 20, 40, 80, 160, 300, 300]


async def test_a_pod_of_restart_policy_always_runs_for_ever(machine):
    """Given a pod that says nothing of its end / then it runs for a day."""
    await machine.run(restart_policy="Always")
    await machine.advance(86_400)
    assert await machine.phase() == "Running"
    assert (await machine.status())["containerStatuses"][0]["restartCount"] == 0


@pytest.mark.spec("JOB-163")
async def test_an_init_container_that_fails_fails_a_pod_that_is_never_restarted(machine):
    """Given restartPolicy Never / when an init container fails / then the pod has failed and its
    app never ran.
    """
    await machine.run(initContainers=[container("init", "sh", "-c", "exit 3")])
    await machine.advance(2)
    assert (await machine.phase(), await machine.states()) == ("Failed", [3, "PodInitializing"])


@pytest.mark.spec("JOB-163")
async def test_an_init_container_that_fails_is_tried_again_otherwise(machine):
    """Given restartPolicy OnFailure / when an init container fails once / then it is restarted, and
    then the app runs.
    """
    await machine.run(
        initContainers=[container("init")], restart_policy="OnFailure", annotations={"exit-codes.init": "1,0"})
    assert await machine.condition("Initialized") == ("False", "ContainersNotInitialized")
    await machine.advance(3)
    assert (await machine.phase(), await machine.states()) == ("Running", [0, "running"])
    assert (await machine.status())["initContainerStatuses"][0]["restartCount"] == 1
    await machine.advance(1)
    assert await machine.phase() == "Succeeded"


async def test_init_containers_run_one_after_the_other(machine):
    """Given two init containers / then the second starts when the first has ended, and the app
    after both.
    """
    await machine.run(container("app", "sleep", "9"), initContainers=[container("a", "sleep", "2"), container("b", "sleep", "3")])
    seen = []
    for _ in range(6):
        await machine.advance(1)
        seen.append((await machine.states())[:2])
    waiting = seen[0][1]
    assert seen == [["running", waiting]] * 2 + [[0, "running"]] * 3 + [[0, 0]]
    assert await machine.phase() == "Running"


async def test_a_sidecar_runs_along_and_does_not_keep_the_pod(machine):
    """Given a sidecar / then the app starts once it runs, it runs on, and is stopped when the app
    has ended.
    """
    await machine.run(container("app", "sleep", "4"), initContainers=[container("side", restartPolicy="Always")])
    await machine.advance(3)
    assert (await machine.phase(), await machine.states()) == ("Running", ["running", "running"])
    await machine.advance(2)
    assert (await machine.phase(), await machine.states()) == ("Succeeded", [143, 0])


@pytest.mark.spec("JOB-164")
async def test_a_deleted_pod_fails_and_then_goes(machine):
    """Given a running pod that a finalizer holds / when it is deleted / then it is not ready and
    has failed by SIGTERM / when the finalizer is taken / then it is gone.
    """
    await machine.run(restart_policy="Always")
    await machine.advance(2)
    await machine.client.patch(PODS, "p", "default", {"metadata": {"finalizers": ["example.com/hold"]}})
    await machine.delete()
    assert (await machine.phase(), await machine.states()) == ("Failed", [143])
    assert (await machine.condition("Ready"))[0] == "False"
    await machine.client.patch(PODS, "p", "default", {"metadata": {"finalizers": None}})
    await machine.advance(1)
    assert await machine.pod() is None


@pytest.mark.spec("JOB-164")
async def test_a_stubborn_pod_is_killed_after_its_grace_period(machine):
    """Given a container that ignores SIGTERM / when its pod is deleted / then it runs on, not
    ready, for thirty seconds.
    """
    await machine.run(restart_policy="Always", annotations={"ignore-sigterm": "true"})
    await machine.advance(2)
    watch = await machine.client.watch(PODS, "default", field_selector="metadata.name=p")
    await machine.delete()
    assert (await machine.phase(), await machine.states()) == ("Running", ["running"])
    assert await machine.condition("Ready") == ("False", "ContainersNotReady")
    await machine.advance(29)
    assert await machine.phase() == "Running"
    await machine.advance(2)
    assert await machine.pod() is None
    last = None
    async with watch:
        async for event in watch:
            last = event.object["status"]
            if event.type == "DELETED":
                break
    assert last["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137
    assert last["phase"] == "Failed"


async def test_a_deleted_pod_is_seen_unready_for_a_moment(machine):
    """Given a running pod / when it is deleted / then it is there for a second more, not ready, and
    then it is gone.
    """
    await machine.run(restart_policy="Always")
    await machine.advance(2)
    await machine.delete()
    assert (await machine.phase(), (await machine.condition("Ready"))[0]) == ("Failed", "False")
    await machine.advance(0.9)
    assert (await machine.condition("Ready"))[0] == "False"
    await machine.advance(0.1)
    assert await machine.pod() is None


async def test_a_pod_that_is_deleted_before_it_started_goes_at_once(machine):
    """Given a pod that waits to start / when it is deleted / then it goes without having run."""
    await machine.run(annotations={"start-delay": "1h"})
    await machine.delete()
    assert await machine.pod() is None


async def test_a_pod_has_only_so_much_time_if_it_says_so(machine):
    """Given a pod with activeDeadlineSeconds 10 that would run on / then it has failed after ten
    seconds, with the reason.
    """
    await machine.run(container("main", "sleep", "infinity"), activeDeadlineSeconds=10)
    await machine.advance(9)
    assert await machine.phase() == "Running"
    await machine.advance(1)
    status = await machine.status()
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert status["message"] == "Pod was active on the node longer than the specified deadline"
    assert await machine.states() == [143]


@pytest.mark.spec("JOB-167")
async def test_a_pod_may_become_ready_later(machine):
    """Given a readiness five seconds after the start / then the pod runs and is ready five seconds
    later.
    """
    await machine.run(restart_policy="Always", annotations={"ready-after": "5s"})
    await machine.advance(5)
    assert (await machine.phase(), await machine.condition("Ready")) == ("Running", ("False", "ContainersNotReady"))
    await machine.advance(1)
    assert await machine.condition("Ready") == ("True", "")


async def test_a_readiness_gate_has_to_be_opened(machine):
    """Given a readiness gate / then the running pod is not ready / when somebody opens the gate /
    then it is.
    """
    await machine.run(restart_policy="Always", readinessGates=[{"conditionType": "example.com/served"}])
    await machine.advance(2)
    assert await machine.condition("ContainersReady") == ("True", "")
    assert await machine.condition("Ready") == ("False", "ReadinessGatesNotReady")
    body = {"status": {"conditions": [{"type": "example.com/served", "status": "True"}]}}
    await machine.client.patch(PODS, "p", "default", body, type="strategic", subresource="status")
    await machine.advance(1)
    assert await machine.condition("Ready") == ("True", "")


async def test_events_tell_of_containers(machine):
    """Given a pod that runs / then its events name the container and the node, with a kubelet's
    words.
    """
    await machine.run()
    await machine.advance(2)
    told = [event for event in await machine.events() if event["source"].get("component") == "kubelet"]
    assert [(event["reason"], event["message"]) for event in told] == [
        ("Pulled", 'Container image "busybox" already present on machine and can be accessed by the pod'),
        ("Created", "Container created"), ("Started", "Container started")]
    assert [event["involvedObject"]["fieldPath"] for event in told] == ["spec.containers{main}"] * 3
    assert [event["source"]["host"] for event in told] == ["node-0"] * 3


async def test_a_restart_that_waits_is_told_with_the_pod_that_waits(machine):
    """Given a container that fails again and again / then an Event says which container of which
    pod is restarted late, and is counted.
    """
    await machine.run(container("main", "false"), restart_policy="Always")
    await machine.advance(60)
    pod = await machine.pod()
    told = [event for event in await machine.events() if event["reason"] == "BackOff"]
    text = f"Back-off restarting failed container main in pod p_default({pod['metadata']['uid']})"
    assert [(event["type"], event["message"]) for event in told] == [("Warning", text)]
    assert told[0]["involvedObject"]["fieldPath"] == "spec.containers{main}"
    assert told[0]["count"] > 1


async def test_a_startup_probe_that_never_succeeds_keeps_the_container_from_being_ready(machine):
    """Given a startup probe that never succeeds, and a container that would be ready at once / then
    it is neither started nor ready, before it is killed and after.
    """
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 10, "failureThreshold": 3}
    await machine.run(container(startupProbe=probe), restart_policy="Always", annotations={"started-after": "never"})
    for _ in range(8):
        await machine.advance(5)
        [status] = (await machine.status())["containerStatuses"]
        assert (status["started"], status["ready"]) == (False, False)
    assert (await machine.condition("Ready")) == ("False", "ContainersNotReady")
