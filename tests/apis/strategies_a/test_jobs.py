"""Jobs: what the server fills in, refuses, and lets change."""

import copy
from typing import Any

import pytest

from tests.apis.strategies_a.hooks import CONTAINER, NOW, create, job, update, update_status, with_spec

UID_LABEL, NAME_LABEL = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"
EXIT_RULE = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}


def template(**spec: Any) -> dict[str, Any]:
    return {"spec": {"restartPolicy": "Never", "containers": [CONTAINER], **spec}}


def policy(*rules: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return job(podFailurePolicy={"rules": list(rules)}, **spec)


def exit_codes(*values: int) -> dict[str, Any]:
    return {"action": "FailJob", "onExitCodes": {"operator": "In", "values": list(values)}}


@pytest.mark.spec("JOB-068")
@pytest.mark.parametrize(("given", "parallelism", "completions"), [
    ({}, 1, 1), ({"parallelism": 3}, 3, None), ({"completions": 3}, 1, 3), ({"parallelism": 0}, 0, None),
])
def test_numbers_default_together(given: dict[str, int], parallelism: int, completions: int | None) -> None:
    """Given neither number, when created, then both are 1; given one, the other is 1 or stays open.
    """
    spec = create(job(**given)).spec
    assert spec["parallelism"] == parallelism
    assert spec.get("completions") == completions


@pytest.mark.spec("JOB-069")
def test_limits_per_index_lift_the_general_limit() -> None:
    """Given a limit an index, when created, then the general one is the largest number there is,
    else 6.
    """
    assert create(job()).spec["backoffLimit"] == 6
    assert create(job(completionMode="Indexed", completions=2, backoffLimitPerIndex=1)).spec["backoffLimit"] == 2147483647


@pytest.mark.spec("JOB-070")
def test_replacement_follows_the_failure_policy() -> None:
    """Given a failure policy, when created, then pods are replaced once failed, else as soon as
    they terminate.
    """
    assert create(job()).spec["podReplacementPolicy"] == "TerminatingOrFailed"
    assert create(policy(EXIT_RULE)).spec["podReplacementPolicy"] == "Failed"


@pytest.mark.spec("JOB-087")
def test_a_selector_is_generated() -> None:
    """Given a Job without a selector, when created, then selector, labels and template name its uid
    and itself.
    """
    body = job()
    body["metadata"] = {"generateName": "made-"}
    outcome = create(body)
    assert outcome.errors == []
    meta = outcome.obj["metadata"]
    labels = outcome.spec["template"]["metadata"]["labels"]
    assert outcome.spec["selector"] == {"matchLabels": {UID_LABEL: meta["uid"]}}
    assert labels == {UID_LABEL: meta["uid"], "controller-uid": meta["uid"], NAME_LABEL: meta["name"], "job-name": meta["name"]}
    assert meta["name"].startswith("made-")
    assert outcome.obj["status"] == {}


@pytest.mark.spec("JOB-078")
def test_a_selector_of_ones_own_takes_a_word() -> None:
    """Given a selector, when manualSelector is not set, then it is refused; with it, nothing is
    generated.
    """
    found = create(job(selector={"matchLabels": {"a": "b"}})).errors
    assert any("`selector` not auto-generated" in each for each in found), found
    labelled = {**template(), "metadata": {"labels": {"a": "b"}}}
    outcome = create(job(manualSelector=True, selector={"matchLabels": {"a": "b"}}, template=labelled))
    assert outcome.errors == []
    assert outcome.spec["template"]["metadata"]["labels"] == {"a": "b"}
    assert create(job(manualSelector=True, selector={}, template=labelled)).errors == []


@pytest.mark.parametrize(("body", "expected"), [
    pytest.param(job(template=template(restartPolicy="Always")),
                 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
                 marks=pytest.mark.spec("JOB-071")),
    pytest.param(policy(EXIT_RULE, template=template(restartPolicy="OnFailure")),
                 ('spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when '
                  "podFailurePolicy is specified"), marks=pytest.mark.spec("JOB-072")),
    pytest.param(job(completionMode="Indexed", parallelism=2),
                 "spec.completions: Required value: when completion mode is Indexed", marks=pytest.mark.spec("JOB-073")),
    pytest.param(job(completionMode="Indexed", completions=5, parallelism=100001),
                 ("spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is "
                  "Indexed"), marks=pytest.mark.spec("JOB-074")),
    pytest.param(policy({**EXIT_RULE, "action": "FailIndex"}),
                 ('spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be '
                  "set"), marks=pytest.mark.spec("JOB-075")),
    pytest.param(policy(exit_codes(0)),
                 ("spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator"),
                 marks=pytest.mark.spec("JOB-076")),
    pytest.param(policy(exit_codes(2, 1)),
                 "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1]: must be ordered",
                 marks=pytest.mark.spec("JOB-076")),
    pytest.param(job(managedBy="nobody"),
                 'spec.managedBy: Invalid value: "nobody": must be a domain-prefixed path (such as "acme.io/foo")',
                 marks=pytest.mark.spec("JOB-081")),
    (job(parallelism=-1), "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"),
    (job(backoffLimitPerIndex=1), "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"),
])
def test_a_bad_job_is_refused(body: dict[str, Any], expected: str) -> None:
    """Given a spec with one fault, when created, then exactly that is said."""
    assert create(body).errors == [expected]


@pytest.mark.spec("JOB-073")
def test_an_indexed_job_of_one() -> None:
    """Given neither number, when Indexed, then one completion is asked for."""
    outcome = create(job(completionMode="Indexed"))
    assert outcome.errors == []
    assert outcome.spec["completions"] == 1


@pytest.mark.spec("JOB-077")
@pytest.mark.parametrize(("rule", "text"), [
    ({"succeededIndexes": "0-2", "succeededCount": 4}, "(the number of indexes in the specified succeededIndexes field)"),
    ({"succeededIndexes": "3-1"}, "non-increasing order"),
])
def test_a_success_policy_must_be_reachable(rule: dict[str, Any], text: str) -> None:
    """Given indexes that cannot be met, when created, then the rule is refused."""
    (found,) = create(job(completionMode="Indexed", completions=5, successPolicy={"rules": [rule]})).errors
    assert found.startswith("spec.successPolicy.rules[0].succeeded")
    assert text in found


@pytest.mark.spec("JOB-079")
def test_completions_change_in_tandem_only() -> None:
    """Given a Job, when its completions change, then only an elastic one may do that, together with
    parallelism.
    """
    plain = create(job(completions=3)).obj
    assert update(plain, with_spec(plain, completions=4)).errors == ["spec.completions: Invalid value: 4: field is immutable"]
    indexed = create(job(completionMode="Indexed", completions=3, parallelism=3)).obj
    (found,) = update(indexed, with_spec(indexed, completions=5)).errors
    assert "can only be modified in tandem with spec.parallelism" in found
    assert update(indexed, with_spec(indexed, completions=5, parallelism=5)).errors == []


@pytest.mark.spec("JOB-080")
def test_a_template_is_open_until_the_first_start() -> None:
    """Given a suspended Job, when its template changes, then that is fine before it ever started,
    and never with a start.
    """
    fresh = create(job(suspend=True)).obj
    moved = copy.deepcopy(fresh["spec"]["template"])
    moved["spec"]["nodeSelector"] = {"disk": "ssd"}
    assert update(fresh, with_spec(fresh, template=moved)).errors == []
    for status in ({"startTime": NOW}, {"active": 1}):
        (found,) = update({**fresh, "status": status}, with_spec(fresh, template=moved)).errors
        assert found.startswith("spec.template: Invalid value: ")
        assert found.endswith(": field is immutable")
    running = create(job()).obj
    (found,) = update(running, with_spec(running, template=moved, suspend=True)).errors
    assert found.endswith(": field is immutable")


@pytest.mark.spec("JOB-081", "JOB-082")
def test_what_else_may_change() -> None:
    """Given a finished Job, when its lifetime changes, then that is fine; its manager stays."""
    old = create(job(managedBy="a.example/b")).obj
    old["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert update(old, with_spec(old, ttlSecondsAfterFinished=5)).errors == []
    assert update(old, with_spec(old, managedBy="a.example/c")).errors == [
        'spec.managedBy: Invalid value: "a.example/c": field is immutable']


def started(**spec: Any) -> dict[str, Any]:
    return create(job(**spec)).obj | {"status": {"startTime": NOW, "active": 2}}


def condition(kind: str) -> dict[str, Any]:
    return {"type": kind, "status": "True", "lastTransitionTime": NOW}


@pytest.mark.parametrize(("status", "text"), [
    pytest.param({"conditions": [condition("Complete")], "completionTime": NOW}, "without the SuccessCriteriaMet=true condition",
                 marks=pytest.mark.spec("JOB-083")),
    pytest.param({"conditions": [condition("FailureTarget"), condition("Failed")], "active": 1}, "active",
                 marks=pytest.mark.spec("JOB-083")),
    pytest.param({"conditions": [condition("Failed")]}, "FailureTarget", marks=pytest.mark.spec("JOB-083")),
    pytest.param({"active": 2, "ready": 3}, "cannot set more ready pods than active", marks=pytest.mark.spec("JOB-085")),
    ({"active": -1}, "must be greater than or equal to 0"),
])
def test_a_status_must_make_sense(status: dict[str, Any], text: str) -> None:
    """Given a running Job, when a controller writes a contradiction, then it is refused."""
    found = update_status(started(), {"startTime": NOW, **status}).errors
    assert found
    assert any(text in each for each in found), found


@pytest.mark.spec("JOB-084")
def test_successes_only_grow() -> None:
    """Given counted successes, when their number falls, then it is refused, but for elastic Jobs.
    """
    plain = started(completions=3, parallelism=3)
    plain["status"]["succeeded"] = 2
    (found,) = update_status(plain, {"startTime": NOW, "succeeded": 1}).errors
    assert found.startswith("status.succeeded: Invalid value: 1: ")
    elastic = started(completions=3, parallelism=3, completionMode="Indexed")
    elastic["status"] |= {"succeeded": 2, "completedIndexes": "0,2"}
    assert update_status(elastic, {"startTime": NOW, "succeeded": 1, "completedIndexes": "0"}).errors == []


def test_a_status_update_leaves_the_spec() -> None:
    """Given a Job, when its status is written, then the spec stays and the status is taken over."""
    old = started()
    outcome = update_status(old, {"startTime": NOW, "active": 1, "ready": 1})
    assert outcome.errors == []
    assert outcome.spec == old["spec"]
    assert outcome.obj["status"]["active"] == 1


@pytest.mark.parametrize(("job_spec", "expected"), [
    ({"manualSelector": True}, ['manualSelector: Unsupported value: true: supported values: "nil", "false"']),
    ({"manualSelector": False}, []),
    ({"selector": {"matchLabels": {"a": "b"}}}, ["`selector` will be auto-generated"]),
    ({}, []),
])
def test_the_jobs_of_a_cron_job_select_their_own_pods(job_spec: dict[str, Any], expected: list[str]) -> None:
    """Given a selector, or a wish for one, in a CronJob's template / then it is refused."""
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    found = create({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template, **job_spec}}}}).errors
    assert len(found) == len(expected)
    assert all(text in each for text, each in zip(expected, found, strict=True)), found
