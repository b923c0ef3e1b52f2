"""The shape of a pod, its role hash, its gates, its group: pure functions of trees."""

import pytest

from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.pods import LabelError

DEFAULT_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for state in ("not-ready", "unreachable")]

RICH = {
    "containers": [{
        "name": "c", "image": "a:1",
        "ports": [{"containerPort": 80, "name": "http", "protocol": "TCP"}, {"containerPort": 81, "hostPort": 0, "hostIP": ""}],
        "resources": {
            "requests": {"memory": "1024Mi", "cpu": "1500m", "ephemeral-storage": "1000k"}, "limits": {"cpu": "2"}}}],
    "initContainers": [{"name": "i"}], "nodeSelector": {"z": "1", "a": "<&>"}, "runtimeClassName": "rc",
    "overhead": {"cpu": "100m"}, "priority": 10,
    "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 1, "podAffinityTerm": {"topologyKey": "t", "labelSelector": {"matchLabels": {"b": "1", "a": "2"}}}}]}},
    "tolerations": [
        {"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, {"operator": "Exists"}],
    "topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"a": "b"}}, "minDomains": 2}],
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}], "resources": {"requests": {"cpu": "2000m"}}}


def spec(**requests):
    resources = {"resources": {"requests": requests}} if requests else {}
    return {"containers": [{"name": "c", **resources}], "priority": 0, "tolerations": DEFAULT_TOLERATIONS}


def pod(*, labels=None, annotations=None, **fields):
    metadata = {"name": "p", "namespace": "n", "labels": labels or {}, "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {**spec(), **fields}}


@pytest.mark.spec("KUEUE-128")
@pytest.mark.parametrize(("shape", "expected"), [
    (spec(), "bf90803c"), (spec(cpu="1"), "4b0469f7"), (spec(cpu="1000m"), "4b0469f7"), (RICH, "9fbb4e26"),
    ({"containers": [{"name": "c"}], "affinity": {}, "resources": {}}, "f694a34a"),
    ({"containers": [{"name": "c"}]}, "7aa6c7b8"),
])
def test_role_hash(shape, expected):
    """Given pods whose hashes upstream's own function has computed, when theirs are computed, then
    they are the same, to the digit."""
    assert pods.generate_role_hash(shape) == expected


@pytest.mark.spec("KUEUE-128")
def test_what_does_not_make_a_role():
    """Given pods that differ in image, command, environment or volumes, when their hashes are
    computed, then they are one role; where they differ in what they ask for, they are not."""
    base = {**spec(cpu="1")}
    alike = {**base, "volumes": [{"name": "v", "emptyDir": {}}], "nodeName": "n", "containers": [
        {**base["containers"][0], "image": "b", "command": ["x"], "env": [{"name": "A", "value": "b"}]}]}
    assert pods.generate_role_hash(alike) == pods.generate_role_hash(base)
    assert pods.generate_role_hash(spec(cpu="2")) != pods.generate_role_hash(base)
    assert pods.generate_role_hash({**base, "nodeSelector": {"a": "b"}}) != pods.generate_role_hash(base)


def test_a_told_role_counts():
    """Given a pod whose annotation tells its role, when it is asked for, then that counts."""
    assert pods.role_hash(pod(annotations={names.ROLE_HASH_ANNOTATION: "main"})) == "main"
    assert pods.role_hash(pod()) == "bf90803c"


def test_gates():
    """Given a pod, when it is gated twice and let go, then it had one gate, and has no list
    left."""
    made = pod()
    assert pods.gate(made, names.ADMISSION_GATE)
    assert not pods.gate(made, names.ADMISSION_GATE)
    assert pods.is_gated(made)
    assert pods.is_suspended(made)
    assert made["spec"]["schedulingGates"] == [{"name": names.ADMISSION_GATE}]
    assert pods.gate(made, "other")
    assert pods.ungate(made, names.ADMISSION_GATE)
    assert not pods.ungate(made, names.ADMISSION_GATE)
    assert pods.ungate(made, "other")
    assert "schedulingGates" not in made["spec"]


@pytest.mark.spec("KUEUE-148")
def test_where_a_group_is_named():
    """Given a pod with a group in a label, in an annotation or in both, when its group is asked
    for, then the annotation counts first, and does not count without its gate."""
    labels, annotations = {names.POD_GROUP_NAME_LABEL: "l"}, {names.POD_GROUP_NAME_ANNOTATION: "a"}
    both, off = pod(labels=labels, annotations=annotations), Features(WorkloadIdentifierAnnotations=False)
    assert pods.pod_group_name(both, Features()) == "a"
    assert pods.pod_group_name(both, off) == "l"
    assert pods.pod_group_name(pod(labels=labels), Features()) == "l"
    assert pods.pod_group_name(pod(), Features()) == ""
    for features, field in ((Features(), "annotations"), (off, "labels")):
        put = pod()
        pods.set_pod_group_name(put, "g", features)
        assert put["metadata"][field] == {names.POD_GROUP_NAME_LABEL: "g"}


@pytest.mark.parametrize(("value", "text"), [
    ("x", 'invalid unsigned integer: strconv.ParseUint: parsing "x": invalid syntax'),
    ("-1", 'invalid unsigned integer: strconv.ParseUint: parsing "-1": invalid syntax'),
    ("3", "validation error: value should be less than 3"),
])
def test_numbers_in_labels(value, text):
    """Given a pod whose index is no number below the group's size, when it is read, then the
    complaint is upstream's."""
    with pytest.raises(LabelError) as caught:
        pods.number_of_label(pod(labels={"i": value}), "i", 3)
    assert str(caught.value) == f'incorrect label value "{value}" for Pod "n/p": {text}'
    assert pods.number_of_label(pod(labels={"i": "2"}), "i", 3) == 2
    assert pods.number_of_label(pod(), "i", 3) is None
