"""What must be true of a history, asked after the fact; and what a failed assertion tells."""

import pytest

from fakekube import Cluster
from fakekube.apimachinery.releases import NEWEST
from fakekube.client.resources import CONFIG_MAPS, JOBS, LEASES, PODS
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.testing import (
    BackgroundCluster,
    History,
    HistoryError,
    HistoryForgotten,
    always,
    assert_event,
    assert_no_event,
    assert_requested,
    events,
    eventually,
    leads_to,
    never,
    requests,
    run_until,
    timeline,
)
from fakekube.util.driver import Stalled

CONTROLLERS = "job,garbagecollector,scheduler,kubelet,namespace,serviceaccount"


def job(name: str, **spec):
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {**spec, "template": {
        "metadata": {"annotations": {"fakekube.dev/exit-codes": "1,0", "fakekube.dev/run-duration": "30s"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}


def complete(state) -> bool:
    return state.condition(JOBS, "j", "Complete") == "True"


def failed(state) -> bool:
    return any(pod["status"].get("phase") == "Failed" for pod in state.list(PODS))


def running(state) -> bool:
    return any(pod["status"].get("phase") == "Running" for pod in state.list(PODS))


@pytest.fixture
async def cluster():
    """A Job that failed once and then completed."""
    async with Cluster(nodes=1, clock="auto", controllers=CONTROLLERS) as cluster:
        await cluster.client.create(JOBS, job("j"))
        await run_until(cluster, complete)
        yield cluster


async def test_what_was_is_found_after_the_fact(cluster) -> None:
    """Given a Job that is long done, when its history is asked, then passing states are found, with
    the versions that they had, and nothing is moved or waited for.
    """
    before = cluster.clock.time()
    came = eventually(cluster, running, within="5s")
    assert eventually(cluster, failed, within="1m") > came
    never(cluster, lambda state: len(state.list(PODS, **{"batch.kubernetes.io/job-name": "j"})) > 2)
    always(cluster, lambda state: not complete(state) or state.field(JOBS, "j", "status.succeeded") == 1)
    leads_to(cluster, failed, complete, within="2m")
    assert cluster.clock.time() == before


async def test_states_are_asked_about_once_where_nothing_changed_that_matters(cluster) -> None:
    """Given a predicate that looks at Jobs alone, when it is asked of a whole history, then it is
    called once for each change of a Job, and once for the beginning.
    """
    asked = []
    always(cluster, lambda state: asked.append(state.get(JOBS, "j")) or True)
    assert len(asked) == 1 + len(History.of(cluster).of_object(JOBS, "j"))


@pytest.mark.parametrize(("claim", "text"), [
    (lambda c: eventually(c, lambda s: s.get(PODS, "nobody")), "was never true"),
    (lambda c: eventually(c, failed, within="3s"), "failed .* was never true within 0:00:03"),
    (lambda c: never(c, failed), r"failed .* was true at \+31s \(version \d+\)"),
    (lambda c: always(c, lambda s: not failed(s)), r"was not true at \+31s"),
    (lambda c: leads_to(c, failed, complete, within="10s"), r"failed .* came true at \+31s .*complete .* did not follow within"),
    (lambda c: leads_to(c, complete, running), r"complete .* came true at .*running .* did not follow"),
])
async def test_what_was_not_is_told_with_the_way_there(cluster, claim, text: str) -> None:
    """Given a history that is not as claimed, when it is asked, then the error says when, how it
    came about, request by request back to the test's own, and how to see it again.
    """
    with pytest.raises(HistoryError, match=text) as caught:
        claim(cluster)
    told = str(caught.value)
    assert f"seed 0, Kubernetes {NEWEST.name}, clock auto: @pytest.mark.fakekube(seed=0)" in told
    if "version" in text:
        lines = told.splitlines()
        assert "/status  by kubelet as " in lines[2]
        assert "kubelet at default/j-" in lines[2]
        assert "POST /apis/batch/v1/namespaces/default/jobs  by fakekube as kubernetes-admin" in lines[-2]


async def test_what_may_still_come_is_said_to_have_time_left() -> None:
    """Given a Job that has just been created, when its end is claimed to follow within an hour,
    then the error says that it has not yet, and until when it may.
    """
    async with Cluster(nodes=1, clock="manual", controllers=CONTROLLERS) as cluster:
        await cluster.client.create(JOBS, job("j"))
        await cluster.advance(20)
        with pytest.raises(HistoryError, match=r"did not follow yet, \+20s; it has until \+1h00m0s"):
            leads_to(cluster, lambda state: state.get(JOBS, "j"), complete, within="1h")


async def test_asking_begins_where_it_is_told_to(cluster) -> None:
    """Given a version, when a claim is made since then, then what was before does not count."""
    late = eventually(cluster, complete)
    never(cluster, running, since=late)
    with pytest.raises(OptionError, match="since: 'soon' is no version of this cluster"):
        never(cluster, running, since="soon")


async def test_what_is_forgotten_is_not_judged(cluster) -> None:
    """Given a history whose beginning was compacted away, when a claim about all of it is made,
    then the error says from where on it is retained; about what is left claims can be made.
    """
    storage = cluster.apiserver.storage
    storage.compact(storage.revision - 3)
    with pytest.raises(HistoryForgotten, match=rf"the history begins at version {storage.revision - 3}"):
        never(cluster, failed)
    eventually(cluster, complete, since=storage.revision - 3)


async def test_a_wait_that_is_in_vain_says_what_happened() -> None:
    """Given a cluster in which nothing will ever run, when a pod is waited for, then the error
    names the predicate, the last writes and the seed.
    """
    async with Cluster(nodes=0, clock="auto", controllers=CONTROLLERS, seed=7) as cluster:
        await cluster.client.create(JOBS, job("j"))
        with pytest.raises(Stalled, match=r"(?s)running .*the last writes:.*pods default/j-.*seed 7") as caught:
            await run_until(cluster, running)
        assert "leases" not in str(caught.value)


async def test_a_timeline_tells_a_pods_life(cluster) -> None:
    """Given a pod that failed, when its timeline is asked for, then it has every phase in order,
    the fields that changed, and the Events about it.
    """
    pod = next(pod for pod in (await cluster.client.list(PODS)).items if pod["status"]["phase"] == "Failed")
    name = pod["metadata"]["name"]
    story = timeline(cluster, PODS, name)
    assert str(timeline(cluster, pod)) == str(story)
    with pytest.raises(HistoryForgotten, match="nothing is retained of other"):
        timeline(cluster, {"metadata": {"name": "other", "uid": "unknown"}})
    assert story.values("status.phase") == ["Pending", "Running", "Failed"]
    text = str(story)
    assert text.startswith(f"Pod default/{name}\n")
    for part in ('spec.nodeName: (none) -> "node-0"', 'status.phase: "Pending" -> "Running"', "Event Normal Started: ",
                 "by kube-scheduler as "):
        assert part in text
    assert LEASES.plural not in text


async def test_events_are_asserted(cluster) -> None:
    """Given a Job's history, when its Events are asserted, then those that were are found, with
    their number; others are told to be missing with those that there are.
    """
    created = await cluster.client.get(JOBS, "j", "default")
    assert len(events(cluster, about=created, reason="SuccessfulCreate")) == 2
    assert assert_event(cluster, about="j", reason="Completed", type="Normal", message="^Job completed$")["count"] == 1
    assert_event(cluster, about=created, reason="SuccessfulCreate", count=2)
    assert_no_event(cluster, reason="FailedScheduling")
    text = r"(?s)no Event with about 'j', reason 'BackoffLimitExceeded'.*Normal Completed job default/j: Job completed"
    with pytest.raises(HistoryError, match=text):
        assert_event(cluster, about="j", reason="BackoffLimitExceeded")
    with pytest.raises(HistoryError, match="2 Events, not 3, with"):
        assert_event(cluster, about="j", reason="SuccessfulCreate", count=3)
    with pytest.raises(HistoryError, match="there is an Event Completed: Job completed"):
        assert_no_event(cluster, reason="Completed")


async def test_requests_are_asserted(cluster) -> None:
    """Given what a server was asked, when requests are asserted by verb, resource and user agent,
    then they are found and counted; for what was never asked the latest are listed.
    """
    assert [entry.name for entry in requests(cluster, verb="create", subresource="binding")]
    assert_requested(cluster, verb="create", resource="pods", subresource="", user_agent="kube-controller-manager", count=2)
    assert_requested(cluster, verb="delete", resource="jobs", count=0)
    with pytest.raises(HistoryError, match=r"(?s)never requested: verb 'delete', resource 'jobs'; the latest are:.*PUT|update"):
        assert_requested(cluster, verb="delete", resource="jobs")
    with pytest.raises(TypeError, match="a request has no colour"):
        requests(cluster, colour="red")


async def test_a_file_is_asked_like_a_cluster(cluster, tmp_path) -> None:
    """Given the file of a snapshot, when claims are made about it, then they are judged by the
    history in it.
    """
    from fakekube.composition.snapshot import read

    cluster.snapshot().write(tmp_path / "file")
    taken = read(tmp_path / "file")
    leads_to(taken, failed, complete)
    with pytest.raises(HistoryError, match="kubelet at default/j-"):
        never(taken, failed)


def test_a_cluster_in_the_background_is_asked_from_the_tests_thread() -> None:
    """Given a cluster in a thread of its own, when claims are made from the test's, then they are
    judged, and time can be moved until a state.
    """
    options = ClusterOptions.of(nodes=0, controllers="namespace", clock="manual")
    with BackgroundCluster(options) as server:
        server.call(lambda c: c.client.create(CONFIG_MAPS, {"metadata": {"name": "m", "namespace": "default"}}))
        eventually(server, lambda state: state.get(CONFIG_MAPS, "m"))
        assert server.call(lambda c: run_until(c, lambda state: state.get(CONFIG_MAPS, "m"))) > 0
