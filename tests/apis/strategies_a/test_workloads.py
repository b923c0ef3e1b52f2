"""CronJobs, Deployments and the other kinds that make pods: what the server fills in, refuses, and
lets change.
"""

import copy
from typing import Any

import pytest

from tests.apis.strategies_a.hooks import CONTAINER, create, job, update, update_status, with_spec

LABELS = {"app": "a"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}


def workload(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": {
        "selector": {"matchLabels": LABELS}, "template": TEMPLATE, **spec}}


def cron_job(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {
        "schedule": "* * * * *", "jobTemplate": {"spec": job()["spec"]}, **spec}}


def test_a_deployment_is_filled_in() -> None:
    """Given a template and a selector, when created, then the way of rolling out has its values."""
    spec = create(workload("Deployment")).spec
    assert {name: value for name, value in spec.items() if name not in ("template", "selector")} == {
        "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}}
    assert spec["template"]["spec"]["restartPolicy"] == "Always"


@pytest.mark.parametrize(("kind", "field", "value"), [
    ("StatefulSet", "updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 1}}),
    ("StatefulSet", "podManagementPolicy", "OrderedReady"),
    ("StatefulSet", "persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Retain", "whenScaled": "Retain"}),
    ("DaemonSet", "updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
    ("DaemonSet", "revisionHistoryLimit", 10), ("ReplicaSet", "replicas", 1),
])
def test_other_kinds_are_filled_in(kind: str, field: str, value: Any) -> None:
    """Given no more than a template and a selector, when created, then this is the default."""
    outcome = create(workload(kind))
    assert outcome.errors == []
    assert outcome.spec[field] == value


def test_a_replication_controller_takes_labels_from_its_template() -> None:
    """Given neither selector nor labels, when created, then those of the template serve as both."""
    body = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "w"}, "spec": {"template": TEMPLATE}}
    outcome = create(body)
    assert outcome.errors == []
    assert outcome.spec["selector"] == LABELS
    assert outcome.obj["metadata"]["labels"] == LABELS


@pytest.mark.parametrize(("body", "expected"), [
    (workload("Deployment", replicas=-1), "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
    (workload("Deployment", template={"metadata": {"labels": {"app": "b"}}, "spec": {"containers": [CONTAINER]}}),
     'spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`'),
    (workload("Deployment", strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
     "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"),
    (workload("Deployment", template={**TEMPLATE, "spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}),
     'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'),
    (workload("Deployment", progressDeadlineSeconds=5, minReadySeconds=5),
     "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"),
    (workload("StatefulSet", podManagementPolicy="Random"),
     'spec.podManagementPolicy: Invalid value: "Random": must be \'OrderedReady\' or \'Parallel\''),
    (cron_job(schedule=""), "spec.schedule: Required value"),
    (cron_job(schedule="61 * * * *"), 'spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61'),
    (cron_job(timeZone="Nowhere/None"), 'spec.timeZone: Invalid value: "Nowhere/None": unknown time zone Nowhere/None'),
    (cron_job(schedule="TZ=UTC * * * * *"),
     ('spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead')),
    (cron_job(startingDeadlineSeconds=-1), "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"),
])
def test_a_bad_spec_is_refused(body: dict[str, Any], expected: str) -> None:
    """Given a spec with one fault, when created, then exactly that is said."""
    assert create(body).errors == [expected]


def test_a_cron_job_is_filled_in() -> None:
    """Given a schedule and a template, when created, then runs may overlap and some history is
    kept.
    """
    spec = create(cron_job()).spec
    assert spec["concurrencyPolicy"] == "Allow"
    assert spec["suspend"] is False
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (3, 1)
    assert "selector" not in spec["jobTemplate"]["spec"]


def test_a_zone_within_the_schedule_may_stay() -> None:
    """Given an old CronJob with a zone in its schedule, when something else changes, then it passes
    with a warning.
    """
    old = create(cron_job()).obj
    old["spec"]["schedule"] = "TZ=UTC * * * * *"
    outcome = update(old, with_spec(old, suspend=True))
    assert outcome.errors == []
    assert any("TZ" in text for text in outcome.warnings)


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "DaemonSet"])
def test_a_selector_stays(kind: str) -> None:
    """Given a workload, when its selector changes, then that is refused."""
    old = create(workload(kind)).obj
    changed = with_spec(old, selector={"matchLabels": {"app": "b"}})
    changed["spec"]["template"]["metadata"] = {"labels": {"app": "b"}}
    (found,) = update(old, changed).errors
    assert found.startswith("spec.selector: Invalid value: ")
    assert found.endswith(": field is immutable")


def test_a_stateful_set_hardly_changes() -> None:
    """Given a StatefulSet, when its service name changes, then that is refused; its size may
    change.
    """
    old = create(workload("StatefulSet", serviceName="s")).obj
    assert update(old, with_spec(old, serviceName="t")).errors == ['spec.serviceName: Invalid value: "t": field is immutable']
    assert update(old, with_spec(old, replicas=5)).errors == []


def test_what_may_not_change_prints_as_its_internal_type() -> None:
    """Given a stateful set with claims and a controller, when they change, then structs have Go's
    names and maps are sorted.
    """
    claim = {"metadata": {"name": "d", "labels": {"z": "1", "b": "2"}}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    old = create(workload("StatefulSet")).obj
    [found] = update(old, with_spec(old, volumeClaimTemplates=[claim])).errors
    assert found.startswith(
        'spec.volumeClaimTemplates: Invalid value: [{"name":"d","labels":{"b":"2","z":"1"},"Spec":'
        '{"AccessModes":["ReadWriteOnce"],"Selector":null,"Resources":{"Limits":null,"Requests":{"storage":"1Gi"}},')


def test_declared_rules_of_a_controller_speak_last_and_in_their_own_order() -> None:
    """Given a replication controller with three faults, when created, then those of declarative
    rules come after the other.
    """
    body = workload("ReplicationController", minReadySeconds=-1, replicas=-1, selector={"Bad Key!": "v"}) | {"apiVersion": "v1"}
    assert [error.partition(":")[0] for error in create(body).errors] == [
        "spec.template.metadata.labels", "spec.replicas", "spec.minReadySeconds"]


def test_revisions_of_a_controller_stay() -> None:
    """Given a revision, when its data changes, then that is refused; its number may rise."""
    old = create({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r"}, "data": {"a": 1},
                  "revision": 1}).obj
    changed = copy.deepcopy(old)
    changed["data"] = {"a": 2}
    (found,) = update(old, changed).errors
    assert found.startswith("data: Invalid value: ")
    changed["data"], changed["revision"] = {"a": 1}, 2
    assert update(old, changed).errors == []


def test_a_status_must_add_up() -> None:
    """Given a ReplicaSet, when more replicas are ready than there are, then that is refused."""
    old = create(workload("ReplicaSet")).obj
    found = update_status(old, {"replicas": 1, "readyReplicas": 2}).errors
    assert found == ["status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"]
    assert update_status(old, {"replicas": 2, "readyReplicas": 2}).errors == []


def test_a_pod_template_is_a_pod_spec() -> None:
    """Given a PodTemplate, when created, then its template is filled in and checked as a pod's."""
    body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"}, "template": copy.deepcopy(TEMPLATE)}
    assert create(body).obj["template"]["spec"]["dnsPolicy"] == "ClusterFirst"
    body["template"]["spec"]["containers"] = []
    assert create(body).errors == ["template.spec.containers: Required value"]
