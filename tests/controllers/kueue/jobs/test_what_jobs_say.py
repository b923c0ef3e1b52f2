"""What labels and annotations of jobs may say: gates of admission, Workloads, how long they run."""

from typing import Any

import pytest

from fakekube.client.resources import JOBS, STATEFUL_SETS
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import objects, validation
from fakekube_controllers.kueue.webhooks import admissiongates
from tests.controllers.kueue.jobs.web import Web

GATED = "kueue.x-k8s.io/admission-gated-by"
PATH = f"metadata.annotations[{GATED}]"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
LONG = f"a.b/{'c' * 60}"


class Set(Web):
    """A kind that has Workloads of several parts."""

    resource = STATEFUL_SETS


class Job(Web):
    """A kind that may have one Workload that was there before."""

    resource = JOBS


def job(text: str | None) -> dict[str, Any]:
    """A job that others gate."""
    return {"metadata": {"name": "j", "namespace": "n", "annotations": {} if text is None else {GATED: text}}}


@pytest.mark.parametrize(("text", "wanted"), [
    (None, []), ("", []), ("a.b/c", []), ("a.b/c, a.b/d", []), (f"a.b/{'c' * 59}", []),
    (LONG, [f"{PATH}: Too long: may not be more than 63 bytes"]),
    ("a.b/c,a.b/c", [f'{PATH}: Invalid value: "a.b/c,a.b/c": duplicate gate name: a.b/c']),
    ("a.b/c,,a.b/d", [f'{PATH}: Invalid value: "a.b/c,,a.b/d": cannot contain empty gate names']),
    (f"a.b/c,a.b/c,{LONG}", [
        f'{PATH}: Invalid value: "a.b/c,a.b/c,{LONG}": duplicate gate name: a.b/c',
        f"{PATH}: Too long: may not be more than 63 bytes"]),
    ("c", [f'{PATH}: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")']),
])
def test_names_of_gates(text: str | None, wanted: list[str]) -> None:
    """Given a job or a Workload with names of gates, when it is made or changed without another
    gate, then each name that is empty, there twice, no path or too long is told, in their order.
    """
    found = job(text)
    assert [*map(str, validation.admission_gate_errors(found, Features()))] == wanted
    assert [*map(str, admissiongates.on_create(found))] == wanted
    assert [*map(str, validation.admission_gate_update_errors(found, found, Features()))] == wanted
    assert [*map(str, admissiongates.on_update(found, found))] == wanted


@pytest.mark.parametrize(("before", "now", "wanted"), [
    (None, "a.b/c", ["cannot add admission gate after creation"]),
    ("", "a.b/c", ["cannot add admission gate after creation"]),
    ("a.b/c", "a.b/c,a.b/d", ["can only remove gates, not add new ones"]),
    ("a.b/c,a.b/d", "a.b/d", []),
    ("a.b/c", None, []),
    ("a.b/c", "", []),
])
def test_gates_only_go(before: str | None, now: str | None, wanted: list[str]) -> None:
    """Given a job or a Workload with gates or without, when it is changed, then it may have fewer
    and no others; where there is no such feature, nobody looks.
    """
    expected = [f"{PATH}: Forbidden: {text}" for text in wanted]
    assert [*map(str, validation.admission_gate_update_errors(job(before), job(now), Features()))] == expected
    assert [*map(str, admissiongates.on_update(job(before), job(now)))] == expected
    off = Features(AdmissionGatedBy=False)
    assert validation.admission_gate_update_errors(job(before), job(now), off) == []
    assert validation.admission_gate_errors(job("c"), off) == []


@pytest.mark.parametrize(("kind", "labels", "wanted"), [
    (Set, {PREBUILT: "w"}, [
        f'metadata.labels[{PREBUILT}]: Forbidden: Is not supported for "apps/v1, Kind=StatefulSet"']),
    (Set, {PREBUILT: "W"}, [
        f'metadata.labels[{PREBUILT}]: Invalid value: "W": {SUBDOMAIN}',
        f'metadata.labels[{PREBUILT}]: Forbidden: Is not supported for "apps/v1, Kind=StatefulSet"']),
    (Job, {PREBUILT: "w"}, []),
    (Set, {}, []),
])
def test_kinds_without_a_workload_from_before(
    kind: type[Web], labels: dict[str, str], wanted: list[str],
) -> None:
    """Given a kind whose jobs make their Workloads themselves, when one names a Workload, then that
    is refused; other kinds may.
    """
    obj = {"metadata": {"name": "s", "namespace": "n", "labels": labels}, "spec": {}}
    found = [str(each) for each in validation.errors_on_create(kind(Features(), obj)) if PREBUILT in each.field]
    assert found == wanted


@pytest.mark.parametrize(("label", "annotation", "gate", "wanted"), [
    ("l", "a", True, "a"), ("l", "", True, "l"), ("", "a", True, "a"), ("", "", True, ""),
    ("l", "a", False, "l"), ("", "a", False, ""), ("", "a" * 63, False, ""), ("", "a" * 64, False, "a" * 64),
    ("l", "a" * 64, False, "l"),
])
def test_a_job_names_its_workload_in_a_label_or_an_annotation(label: str, annotation: str, gate: bool, wanted: str) -> None:
    """Given a job that names a Workload in a label, an annotation or both, when it is asked which,
    then the annotation counts if that is on; otherwise the label, and an annotation that is too
    long for a label.
    """
    obj = {"metadata": {"labels": {PREBUILT: label}, "annotations": {PREBUILT: annotation}}}
    assert objects.prebuilt_workload_name(obj, Features(WorkloadIdentifierAnnotations=gate)) == wanted
