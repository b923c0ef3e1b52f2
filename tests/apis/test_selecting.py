"""Which labels a fieldSelector may name, kind by kind, and the values that they have."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apis.catalog import catalog
from fakekube.endpoints.listoptions import field_label
from fakekube.registry.kind import Kind, Selectable

CATALOG = catalog("1.37", {}, {"api/all": True})


POD_LABELS = (
    "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork "
    "status.phase status.podIP status.podIPs status.nominatedNodeName"
)


def kind(resource: str) -> Kind:
    *group, version, plural = resource.split("/")
    found = CATALOG.kind(group[0] if group else "", version, plural)
    assert found is not None
    return found


def values(selectable: Selectable, obj):
    assert selectable.values is not None
    return dict(selectable.values(obj))


@pytest.mark.spec("API-065")
@pytest.mark.parametrize(
    ("resource", "labels"),
    [
        ("v1/pods", POD_LABELS),
        ("v1/nodes", "spec.unschedulable"),
        ("v1/namespaces", "status.phase"),
        ("v1/secrets", "type"),
        ("v1/services", "spec.clusterIP spec.type"),
        ("v1/replicationcontrollers", "status.replicas"),
        ("apps/v1/replicasets", ""),
        ("batch/v1/jobs", "status.successful"),
        ("certificates.k8s.io/v1/certificatesigningrequests", "spec.signerName"),
        ("certificates.k8s.io/v1/podcertificaterequests", "spec.signerName spec.podName spec.nodeName"),
        ("resource.k8s.io/v1/resourceslices", "spec.nodeName spec.driver"),
        ("v1/configmaps", ""),
    ],
)  # fmt: skip
def test_the_labels_of_a_kind(resource: str, labels: str):
    """Given a kind / when its labels are listed / then they are upstream's."""
    assert sorted(kind(resource).selectable.labels) == sorted(labels.split())


@pytest.mark.spec("API-068")
@pytest.mark.parametrize(
    ("resource", "text"),
    [
        ("v1/pods", "field label not supported: spec.foo"),
        ("v1/configmaps", '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"'),
        ("batch/v1/jobs", 'field label "spec.foo" not supported for Job'),
        ("batch/v1/cronjobs", '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"'),
        ("resource.k8s.io/v1/resourceslices",
         "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.foo"),
        ("resource.k8s.io/v1beta2/resourceslices",
         "field label not supported for resource.k8s.io/v1beta2, Kind=ResourceSlice: spec.foo"),
    ],
)  # fmt: skip
def test_an_unknown_label_is_refused_in_the_words_of_its_kind(resource: str, text: str):
    """Given a label that no kind has / when refused / then each kind words it its own way."""
    assert kind(resource).selectable.unknown.replace("{label}", "spec.foo") == text


def test_values_of_a_pod():
    """Given pods / when their fields are read / then flags are words, absent fields empty, podIPs
    always.
    """
    selectable = kind("v1/pods").selectable
    assert selectable.aliases == {"spec.host": "spec.nodeName"}
    found = values(selectable, {"spec": {"nodeName": "n"}, "status": {"podIPs": [{"ip": "10.0.0.1"}]}})
    assert found["spec.nodeName"] == "n"
    assert found["spec.hostNetwork"] == "false"
    assert found["status.podIP"] == "10.0.0.1"
    assert found["status.podIPs"] == ""
    assert found["status.phase"] == ""
    assert values(selectable, {"spec": {"hostNetwork": True}})["spec.hostNetwork"] == "true"


def test_numbers_and_flags_have_a_value_when_absent():
    """Given objects without the field / when read / then 0 and false."""
    assert values(kind("batch/v1/jobs").selectable, {}) == {"status.successful": "0"}
    assert values(kind("batch/v1/jobs").selectable, {"status": {"succeeded": 2}}) == {"status.successful": "2"}
    assert values(kind("v1/nodes").selectable, {}) == {"spec.unschedulable": "false"}


@pytest.mark.spec("API-067")
def test_events_have_two_sets_of_names_for_the_same_values():
    """Given the two APIs of events / when labels are compared / then each knows its own names only.
    """
    core, group = kind("v1/events").selectable, kind("events.k8s.io/v1/events").selectable
    assert "involvedObject.name" in core.labels
    assert "involvedObject.name" not in group.labels
    assert group.aliases["regarding.name"] == "involvedObject.name"
    assert group.aliases["reportingController"] == "reportingComponent"
    assert "source" not in [*group.labels, *group.aliases]
    event = {"involvedObject": {"kind": "Pod", "name": "p"}, "reportingComponent": "c", "type": "Normal"}
    found = values(core, event)
    assert (found["involvedObject.kind"], found["source"], found["involvedObject.uid"]) == ("Pod", "c", "")
    assert values(core, {**event, "source": {"component": "s"}})["source"] == "s"


@pytest.mark.parametrize(("resource", "known"), [
    ("v1/pods", True), ("v1/persistentvolumes", True), ("v1/nodes", False), ("v1/namespaces", False),
    ("certificates.k8s.io/v1/certificatesigningrequests", False), ("resource.k8s.io/v1/resourceslices", False),
])
def test_kinds_with_labels_of_their_own_and_no_namespace_know_only_the_name(resource: str, known: bool) -> None:
    """Given a kind / when a selector names metadata.namespace / then some kinds refuse it, as
    upstream's do.
    """
    assert field_label(kind(resource), "metadata.name") == "metadata.name"
    if known:
        assert field_label(kind(resource), "metadata.namespace") == "metadata.namespace"
        return
    with pytest.raises(APIError, match=r"field label not supported.*: metadata\.namespace"):
        field_label(kind(resource), "metadata.namespace")
