"""Jobs, pods and specs of a JobSet that say nothing of where they belong, or something that cannot
be: the functions of its controller and webhooks alone.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.admission_requests import Denied
from fakekube.apimachinery.errors import APIError
from fakekube.runtime.reconcile import Request
from fakekube_controllers.jobset import children, failures, inplace, podwebhooks, policies
from fakekube_controllers.jobset.children import BadLabel
from fakekube_controllers.jobset.controller import JobSetReconciler
from fakekube_controllers.jobset.failures import CannotRestart
from fakekube_controllers.jobset.features import Features
from fakekube_controllers.jobset.inplace import BadAttempt
from fakekube_controllers.jobset.status import StatusUpdate
from tests.controllers.jobset.conftest import manifest, replicated

DOMAIN = "jobset.sigs.k8s.io"
PARENT, INDEX = f"{DOMAIN}/replicatedjob-name", f"{DOMAIN}/job-index"
ATTEMPT, ALONE = f"{DOMAIN}/restart-attempt", f"{DOMAIN}/job-restart-attempt"
ALONE_TOO = Features(RestartJob=True)
NOW = "2026-01-01T00:00:00Z"
OF_W = {ATTEMPT: "0", PARENT: "w", INDEX: "1", ALONE: "0"}


def job(failed: bool = True, **labels: str) -> Any:
    conditions = [{
        "type": "Failed", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": NOW}] if failed else []
    return {"metadata": {"name": "js-w-1", "labels": labels}, "spec": {}, "status": {"conditions": conditions}}


def jobset(*jobs: Any, status: Any = None, **spec: Any) -> Any:
    return {**manifest(*(jobs or (replicated(replicas=2),)), **spec), "status": status or {}}


def without(*left_out: str, **changed: str) -> dict[str, str]:
    return {label: text for label, text in {**OF_W, **changed}.items() if label not in left_out}


@pytest.mark.parametrize(("labels", "alone", "text"), [
    (without(ATTEMPT), False, f"missing label {ATTEMPT}"),
    (without(**{ATTEMPT: "-1"}), False, f"invalid value for label {ATTEMPT}, must be integer"),
    (without(**{ATTEMPT: "٣"}), False, f"invalid value for label {ATTEMPT}, must be integer"),
    (without(**{ATTEMPT: "²"}), False, f"invalid value for label {ATTEMPT}, must be integer"),
    (without(PARENT), True, f"missing label {PARENT}"),
    (without(INDEX), True, f"missing label {INDEX}"),
    (without(**{INDEX: "x"}), True, f"invalid value for label {INDEX}, must be integer"),
    (without(**{INDEX: "2"}), True, "job index 2 is out of bounds for replicated job w"),
    (without(**{PARENT: "v"}), True, "job index 1 is out of bounds for replicated job v"),
    (without(**{ALONE: "first"}), True, f"invalid value for label {ALONE}, must be integer"),
])
def test_jobs_that_do_not_say_which_they_are(labels: Any, alone: bool, text: str) -> None:
    """Given a Job whose labels are missing or wrong / when the Jobs of its JobSet are sorted / then
    it is refused, with what is wrong.
    """
    with pytest.raises(BadLabel) as refused:
        children.sorted_out(jobset(), [job(**labels)], Features(RestartJob=alone))
    assert str(refused.value) == text


@pytest.mark.parametrize(("labels", "status", "alone", "place"), [
    (OF_W, {}, True, "failed"), (OF_W, {"restarts": 1}, True, "previous"), (OF_W, {"restarts": 1}, False, "previous"),
    (without(PARENT, INDEX, ALONE), {}, False, "failed"), (without(**{ATTEMPT: "2"}), {"restarts": 1}, False, "failed"),
    (without(ALONE), {"replicatedJobsStatus": [{"name": "w", "jobRestarts": [0, 1]}]}, True, "failed"),
    (OF_W, {"replicatedJobsStatus": [{"name": "w", "jobRestarts": [0, 1]}]}, True, "previous"),
    (OF_W, {"replicatedJobsStatus": [{"name": "w", "jobRestarts": [1, 0]}]}, True, "failed"),
    (OF_W, {"replicatedJobsStatus": [{"name": "w", "jobRestarts": [0, 1]}]}, False, "failed"),
])
def test_which_jobs_are_of_an_earlier_run(labels: Any, status: Any, alone: bool, place: str) -> None:
    """Given a Job of a run, and how often all Jobs and this one were made anew / then it is of an
    earlier run if it was made before; one from before there was a label for it alone is not.
    """
    found = children.sorted_out(jobset(status=status), [job(**labels)], Features(RestartJob=alone))
    assert [field for field, jobs in found._asdict().items() if jobs] == [place]


@pytest.mark.parametrize(("action", "labels", "features", "text"), [
    ("RestartJob", OF_W, Features(),
     "RestartJob failure policy action cannot be used when the feature gate RestartJob is disabled"),
    ("RestartJobAndIgnoreMaxRestarts", OF_W, Features(),
     "RestartJobAndIgnoreMaxRestarts failure policy action cannot be used when the feature gate RestartJob is disabled"),
    ("RestartJob", without(INDEX), ALONE_TOO, f"failed job js-w-1 missing {INDEX} label"),
    ("RestartJob", without(**{INDEX: "2"}), ALONE_TOO,
     "failed job js-w-1 has index 2 out of bounds for replicated job w (replicas: 2)"),
    ("RestartJobAndIgnoreMaxRestarts", without(**{PARENT: "v"}), ALONE_TOO,
     "failed job js-w-1 has index 1 out of bounds for replicated job v (replicas: 0)"),
])
def test_jobs_that_cannot_be_made_anew_alone(action: str, labels: Any, features: Features, text: str) -> None:
    """Given a policy that makes single Jobs anew / when the gate is off, or the failed Job does not
    say which one it is / then that is refused, and no restart is counted.
    """
    rules = [{"name": "r", "action": action}]
    update = StatusUpdate(jobset(failurePolicy={"maxRestarts": 3, "rules": rules}), NOW)
    with pytest.raises(CannotRestart) as refused:
        failures.execute(update, [job(**labels)], features)
    assert (str(refused.value), update.status, update.is_due) == (text, {"restarts": 0}, False)


PODS_OF = "in-place restart requires jobTemplate.spec.completions == jobTemplate.spec.parallelism != nil"


@pytest.mark.parametrize("counts", [{}, {"parallelism": 2}, {"completions": 2}, {"parallelism": 2, "completions": 3}])
def test_in_place_restarts_need_a_number_of_pods(counts: Any) -> None:
    """Given a JobSet that restarts pods in place / when the number of a Job's pods is not fixed /
    then that is refused.
    """
    of = jobset(replicated("a", parallelism=1, completions=1), replicated("b", **counts), failurePolicy={
        "restartStrategy": "InPlaceRestart"})
    with pytest.raises(BadAttempt) as refused:
        inplace.sync(StatusUpdate(of, NOW), [])
    assert str(refused.value) == f"b: {PODS_OF}"


@pytest.mark.parametrize(("wanted", "status", "expected"), [
    ("Complete", None, False), ("Ready", None, False),
    ("Complete", (1, 1, 0), False), ("Complete", (0, 2, 0), True), ("Complete", (0, 3, 0), False),
    ("Ready", (1, 0, 0), False), ("Ready", (1, 1, 0), True), ("Ready", (1, 0, 1), True), ("Ready", (0, 1, 1), True),
    ("Ready", (1, 1, 1), False),
])
def test_what_a_replicated_job_waits_for(wanted: str, status: Any, expected: bool) -> None:
    """Given a replicated job that depends on two Jobs of another / then it may start when just
    these are complete, or are ready in any way; never while nothing is known of them.
    """
    dependent = {"name": "b", "dependsOn": [{"name": "a", "status": wanted}]}
    known = {} if status is None else {"a": dict(zip(("ready", "succeeded", "failed"), status, strict=True))}
    assert policies.may_start(dependent, {"a": 2, "b": 1}, known) is expected


KEY = "example.com/rack"


def pod(number: int, owner: str | None = "job", **spec: Any) -> Any:
    labels = {f"{DOMAIN}/jobset-name": "js", PARENT: "w", INDEX: "0", "batch.kubernetes.io/job-completion-index": str(number)}
    owners = [{"kind": "Job", "name": "js-w-0", "uid": owner, "controller": True}] if owner else []
    return {"metadata": {
        "name": f"js-w-0-{number}-abcde", "labels": labels, "ownerReferences": owners,
        "annotations": {f"{DOMAIN}/jobset-name": "js", "alpha.jobset.sigs.k8s.io/exclusive-topology": KEY}},
        "spec": spec}


class Server:
    """Has the first pod of a Job, and perhaps a node."""

    def __init__(self, leader: Any, node: Any = None) -> None:
        self.leader, self.node = leader, node

    async def list(self, *_: Any, **options: Any) -> Any:
        """The pods of the JobSet."""
        assert options == {"label_selector": f"{DOMAIN}/jobset-name=js"}
        return SimpleNamespace(items=[self.leader])

    async def get(self, *_: Any) -> Any:
        """The node."""
        if self.node is None:
            raise APIError(404, "NotFound", 'Node "n" not found')
        return self.node


def asked(about: Any) -> Any:
    return SimpleNamespace(object=about, shown=about, namespace="default")


@pytest.mark.parametrize(("leader", "follower", "text"), [
    (pod(0, None), pod(1), 'leader pod "js-w-0-0-abcde" has no owner reference'),
    (pod(0, "earlier"), pod(1), "follower pod owner UID (job) != leader pod owner UID (earlier)"),
    (pod(0), pod(1, None), "follower pod has no owner reference"),
    (pod(0), pod(1), "leader pod not yet scheduled, not creating follower pod. this is an expected, transient error"),
])
async def test_pods_that_have_no_pod_to_follow(leader: Any, follower: Any, text: str) -> None:
    """Given the first pod of a Job, of no Job or of another one, or without a node / when another
    pod of the Job is made / then it is not changed, and is refused with what is wrong.
    """
    client: Any = Server(leader)
    await podwebhooks.default(asked(follower), client=client)
    assert follower["spec"] == {}
    follower = {**follower, "spec": {"nodeSelector": {KEY: "a"}}}
    with pytest.raises(Denied) as refused:
        await podwebhooks.validate(asked(follower), client=client)
    assert refused.value.message == text


@pytest.mark.parametrize(("node", "text"), [
    (None, 'Node "n" not found'), ({"metadata": {"name": "n"}}, f"node does not have topology label: {KEY}")])
async def test_a_first_pod_on_a_node_that_is_nowhere(node: Any, text: str) -> None:
    """Given the first pod of a Job on a node that is gone, or in no rack / when another pod of the
    Job is made / then that is an error of the webhook.
    """
    client: Any = Server(pod(0, nodeName="n"), node)
    with pytest.raises(Denied) as refused:
        await podwebhooks.default(asked(pod(1)), client=client)
    assert (refused.value.message, refused.value.code) == (text, 500)


async def test_a_cache_that_is_behind_is_waited_for() -> None:
    """Given a JobSet of which the controller has written something that its cache does not show /
    when it is reconciled / then nothing is done, and it is looked at again 5 ms later.
    """
    ctx: Any = SimpleNamespace(
        client=None, lister=lambda _: SimpleNamespace(get=lambda *_: jobset()), recorder=lambda _: None,
        metrics=SimpleNamespace(counter=lambda *_: None), enabled=lambda _: False)
    made: Any = JobSetReconciler(ctx, Features())
    made.consistency = SimpleNamespace(satisfied=lambda _: False)
    found = await made.reconcile(Request("default", "js"))
    assert found.requeue_after.total_seconds() == 0.005
