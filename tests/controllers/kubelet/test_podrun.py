"""A pod's life as a chain of instants, without a cluster."""

import pytest

from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.outcomes.outcome import Outcome
from fakekube_controllers.kubelet.pods.run import PodRun


def container(name="main", *outcomes, restarts_on="Never"):
    """A container whose runs fare as listed, the last of them for ever."""
    planned = list(outcomes) or [Outcome()]
    return Container(name, "image", lambda attempt: planned[min(attempt, len(planned) - 1)], restarts_on)


def run_of(*apps, init=(), starts_at=1.0, **more):
    told = []
    run = PodRun({"spec": {}}, 0.0, starts_at, list(init), list(apps), lambda _, *event: told.append(event), **more)
    return run, [] if told is None else told


def story(run, until=1000.0):
    """The instants at which something happens, with the phase after each."""
    result, now = [], 0.0
    while (due := run.advance(now)) is not None and due <= until:
        now = due
        run.advance(now)
        result.append((now, run.phase))
    return result


def test_one_container_from_start_to_end():
    """Given a run of two seconds that starts at one / then the pod runs at one and has succeeded at
    three.
    """
    run, told = run_of(container("main", Outcome(2.0)))
    assert story(run) == [(1.0, "Running"), (3.0, "Succeeded")]
    assert [(what, at) for what, _, at in told] == [("started", 1.0), ("ended", 3.0)]


def test_nothing_is_missed_when_time_jumps():
    """Given a chain of runs / when time is asked only at its end / then each happened at its own
    instant.
    """
    run, told = run_of(container("main", Outcome(1.0, 1), Outcome(1.0, 1), Outcome(1.0), restarts_on="OnFailure"))
    assert run.advance(500.0) is None
    assert run.phase == "Succeeded"
    assert [(what, at) for what, _, at in told] == [
        ("started", 1.0), ("ended", 2.0), ("started", 2.0), ("back-off", 3.0), ("started", 13.0), ("ended", 14.0)]


def test_init_containers_come_first_and_sidecars_run_along():
    """Given a sidecar and an init container / then the app starts when the init container has
    ended, and ends the sidecar.
    """
    side, setup = container("side", Outcome(None), restarts_on="Always"), container("setup", Outcome(5.0))
    run, told = run_of(container("app", Outcome(3.0)), init=[side, setup])
    assert story(run) == [(1.0, "Pending"), (6.0, "Running"), (9.0, "Succeeded")]
    assert [each.name for what, each, _ in told if what == "started"] == ["side", "setup", "app"]
    assert (side.exit_code, side.running) == (143, False)


def test_a_failed_init_container_ends_the_pod():
    """Given an init container that fails and is not restarted / then the pod has failed and the app
    never starts.
    """
    run, _ = run_of(container("app"), init=[container("setup", Outcome(1.0, 2))])
    assert story(run) == [(1.0, "Pending"), (2.0, "Failed")]


def test_a_long_run_makes_the_next_restart_quick_again():
    """Given failures after short and after long runs / then a run of ten minutes makes the back-off
    begin anew.
    """
    runs = [Outcome(1.0, 1), Outcome(1.0, 1), Outcome(700.0, 1), Outcome(None)]
    main = container("main", *runs, restarts_on="Always")
    run, told = run_of(main)
    run.advance(2000.0)
    assert [at for what, _, at in told if what == "started"] == [1.0, 2.0, 13.0, 713.0]
    assert main.failures == 1


@pytest.mark.parametrize(("stubborn", "end", "code"), [(False, 10.0, 143), (True, 40.0, 137)])
def test_a_deletion_stops_what_runs(stubborn, end, code):
    """Given a container that runs on / when its pod is deleted at ten with thirty seconds of grace
    / then it ends at once by SIGTERM, or, if it ignores that, at forty by SIGKILL.
    """
    main = container("main", Outcome(None, ignore_sigterm=stubborn), restarts_on="Always")
    run, told = run_of(main)
    run.advance(5.0)
    run.delete(10.0, 30.0)
    run.advance(60.0)
    assert (main.finished_at, main.exit_code, run.phase) == (end, code, "Failed")
    assert [what for what, _, _ in told] == ["started", "killing", "ended"]


def test_a_shorter_grace_period_counts_and_a_longer_does_not():
    """Given a stubborn container being stopped / when the grace period is said again, shorter,
    longer / then the shortest holds.
    """
    main = container("main", Outcome(None, ignore_sigterm=True), restarts_on="Always")
    run, _ = run_of(main)
    run.advance(5.0)
    for grace in (30.0, 3.0, 60.0):
        run.delete(10.0, grace)
    run.advance(100.0)
    assert main.finished_at == 13.0


def test_what_ends_by_itself_while_it_is_stopped_ends_as_it_would():
    """Given a stubborn container with two seconds to go / when it is deleted / then it ends well in
    its own time.
    """
    main = container("main", Outcome(12.0, ignore_sigterm=True))
    run, _ = run_of(main)
    run.advance(5.0)
    run.delete(11.0, 30.0)
    run.advance(60.0)
    assert (main.finished_at, main.exit_code, run.phase) == (13.0, 0, "Succeeded")


def test_what_never_started_is_of_unknown_fate():
    """Given a pod that waits to start / when it is deleted / then it has failed and its container
    says that nobody knows.
    """
    main = container()
    run, _ = run_of(main, starts_at=100.0)
    run.advance(5.0)
    run.delete(10.0, 30.0)
    run.advance(10.0)
    assert run.phase == "Failed"
    terminated = main.status(10.0)["state"]["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (137, "ContainerStatusUnknown")


def test_a_deadline_fails_the_pod_as_a_whole():
    """Given a deadline at seven / then what runs on is stopped then, and the pod has failed for
    that reason.
    """
    main = container("main", Outcome(None))
    run, _ = run_of(main, deadline=7.0)
    assert story(run) == [(1.0, "Running"), (7.0, "Failed")]
    assert run.failure == ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
    assert main.finished_at == 7.0


def test_readiness_comes_when_it_is_due_and_goes_with_the_end():
    """Given readiness two seconds after the start of a run of five / then the container is ready
    from three to six.
    """
    main = container("main", Outcome(5.0, ready_after_seconds=2.0))
    run, _ = run_of(main)
    ready = []
    for now in (1.0, 2.9, 3.0, 5.9, 6.0):
        run.advance(now)
        ready.append(main.ready)
    assert ready == [False, False, True, True, False]


@pytest.mark.parametrize(("failures", "text"), [(2, "10s"), (3, "20s"), (5, "1m20s"), (9, "5m0s")])
def test_a_wait_is_told_as_go_prints_it(failures, text):
    """Given a container in back-off / then its message has the wait as Go prints durations."""
    main = container("main", Outcome(0.0, 1), restarts_on="Always")
    main.pod = "p_n(u)"
    main.start(0.0)
    main.failures = failures - 1
    main.step(0.0)
    waiting = main.status(1.0)["state"]["waiting"]
    assert waiting == {
        "reason": "CrashLoopBackOff", "message": f"back-off {text} restarting failed container=main pod=p_n(u)"}
