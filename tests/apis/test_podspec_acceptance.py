"""What is accepted at a glance is what the checks with words have nothing to say about."""

import copy
from collections.abc import Iterator
from functools import reduce
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.types import Tree
from fakekube.apis.core.pod_validation import own_spec_errors
from fakekube.apis.core.pod_warnings import has_no_warnings, pod_spec_warnings
from fakekube.apis.core.podspec_acceptance import accepts_pod_spec
from fakekube.apis.core.podspec_defaults import default_pod, default_pod_spec
from fakekube.apis.core.podspec_validation import PodSpecOptions
from fakekube.schema.decode import Codec, DecodeError
from tests.schema.releases import schema

CODEC = Codec(schema("v1", "Pod"))
OPTIONS = [PodSpecOptions(*[False] * 5), PodSpecOptions(*[True] * 5)]
FILES = {"sources": [
    {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
    {"configMap": {"name": "root-ca", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}}]}
PROBE = {"httpGet": {"path": "/ready", "port": 8080}, "initialDelaySeconds": 3, "successThreshold": 1}
MAIN = {
    "name": "main", "image": "r.example/app:1", "command": ["run"], "workingDir": "/",
    "env": [
        {"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}, {"name": "D"}],
    "envFrom": [{"configMapRef": {"name": "all"}}],
    "ports": [{"name": "http", "containerPort": 8080}, {"containerPort": 9090, "protocol": "UDP"}],
    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "128Mi"}},
    "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "files", "mountPath": "/files", "readOnly": True}],
    "readinessProbe": PROBE, "livenessProbe": PROBE, "lifecycle": {"preStop": {"exec": {"command": ["stop"]}}},
    "securityContext": {"runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}},
}
SELECTOR = {"matchLabels": {"app": "a"}}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}
TERM = {"topologyKey": "zone", "labelSelector": SELECTOR}
NODE_TERM = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SPEC: Tree = {
    "serviceAccountName": "default", "restartPolicy": "Always", "priorityClassName": "high", "hostname": "h", "subdomain": "s",
    "activeDeadlineSeconds": 60, "imagePullSecrets": [{"name": "pull"}], "nodeSelector": {"pool": "a"}, "nodeName": "node-1",
    "securityContext": {"fsGroup": 1}, "preemptionPolicy": "Never", "schedulingGates": [{"name": "example.com/gate"}],
    "schedulingGroup": {"podGroupName": "gang"}, "topologySpreadConstraints": [SPREAD],
    "tolerations": [
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3},
        {"key": "b", "value": "c", "effect": "NoSchedule"}],
    "affinity": {
        "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [NODE_TERM]}}, "podAntiAffinity": {REQUIRED: [TERM]}},
    "containers": [MAIN, {"name": "other", "image": "other", "ports": [{"name": "more", "containerPort": 7070}]}],
    "initContainers": [
        {"name": "first", "image": "first"}, {"name": "side", "image": "side", "restartPolicy": "Always", "startupProbe": PROBE}],
    "volumes": [
        {"name": "data", "emptyDir": {}}, {"name": "files", "projected": FILES},
        {"name": "keys", "secret": {"secretName": "s", "items": [{"key": "k", "path": "a"}, {"key": "l", "path": "b"}]}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}}],
}
TEXTS = [
    "", "UPPER", "a.b", "a_b", "-x", " pad ", "/abs", "a/b", "a/", "..", "../up", "..x", "x" * 64, "x" * 254, "é", "main",
    "data", "http", "Never", "OnFailure", "None", "Exists", "Lt", "In", "NoExecute", "NoSchedule", "latest", "TCP", "HTTPS",
    "metadata.labels", "metadata.labels['a']", "kubernetes.io/x", "beta.kubernetes.io/os", "A", "token", "ca.crt/x",
]
AMOUNTS = ["0", "1", "2", "-1", "1500m", "64Mi", "256Mi", "100n", "1.500", "+5", "1e3", "1e-1"]
NUMBERS = [-1, 0, 1, 80, 599, 3600, 8080, 65535, 65536, 2**31 - 1, 2**32 + 1]
ADDED: list[tuple[str, Any]] = [
    ("allowPrivilegeEscalation", False), ("clusterTrustBundle", {"name": "x", "path": "token"}),
    ("configMap", {"name": "x", "items": [{"key": "k", "path": "p"}]}), ("defaultMode", 512), ("dnsPolicy", "None"),
    ("ephemeral", {"volumeClaimTemplate": {"spec": {}}}), ("ephemeralContainers", [{"name": "e", "image": "e"}]),
    ("valueFrom", {"fileKeyRef": {"volumeName": "files", "path": "p", "key": "k"}}), ("grpc", {"port": 0}),
    ("gitRepo", {"repository": "x"}), ("beta.kubernetes.io/os", "linux"),
    ("hostAliases", [{"ip": "x"}]), ("hostIP", "10.0.0.1"), ("hostNetwork", True), ("hostPID", True), ("hostPort", 80),
    ("hostPath", {"path": "a/../b"}), ("hostUsers", False), ("imagePullPolicy", "x"), ("iscsi", {"initiatorName": "x"}),
    ("lifecycle", {"preStop": {"sleep": {"seconds": 31}}}), ("lifecycle", {"preStop": {}}), ("lifecycle", {"stopSignal": "x"}),
    ("matchLabelKeys", ["app"]), ("minDomains", 0), ("mode", 4096), ("mountPropagation", "Bidirectional"), ("operator", "Gt"),
    ("os", {"name": "windows"}), ("overhead", {"memory": "1500m"}), ("path", "a/../b"), ("podCertificate", {"signerName": "x"}),
    ("privileged", True), ("procMount", "Unmasked"), ("rbd", {"image": "x"}), ("resizePolicy", [{"resourceName": "x"}]),
    ("resourceClaims", [{"name": "gpu"}]), ("resourceFieldRef", {"resource": "limits.x"}), ("restartPolicy", "Always"),
    ("resources", {"claims": [{"name": "gpu"}]}), ("resources", {"limits": {"example.com/gpu": "1500m"}}),
    ("resources", {"limits": {"hugepages-2Mi": "2Mi"}}), ("resources", {"requests": {"cpu": "1"}}),
    ("restartPolicyRules", [{"action": "Restart"}]), ("runtimeClassName", "UPPER"), ("sizeLimit", "-1"), ("subPath", "../x"),
    ("serviceAccountToken", {"path": "token", "expirationSeconds": 1}), ("shareProcessNamespace", True),
    ("preemptionPolicy", "x"), ("terminationGracePeriodSeconds", -1), ("terminationMessagePolicy", "x"),
    ("ports", [{"containerPort": 1, "hostPort": 80}, {"containerPort": 2, "hostPort": 80}]), ("tolerationSeconds", 1),
    ("value", "$(A)"), ("value", "x"),
    ("volumeDevices", [{"name": "data", "devicePath": "/dev"}]), ("windowsOptions", {"hostProcess": True}),
]


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of a tree and of everything in it."""
    yield path
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(value, (*path, key))


def at(spec: Tree, path: tuple[Any, ...]) -> Any:
    """What is at a place of a spec."""
    return reduce(lambda node, key: node[key], path, spec)


def instead(spec: Tree, path: tuple[Any, ...]) -> list[Any]:
    """All that can be tried at a place of a spec; None is to be taken away."""
    value, others = at(spec, path), list[Any]([None])
    if isinstance(value, dict):
        others += [{**value, name: added} for name, added in ADDED]
    elif isinstance(value, list):
        others += [[*value, value[-1]]] if value else []
    elif isinstance(value, str):
        others += AMOUNTS if path[-2:-1] in (("requests",), ("limits",)) else TEXTS
    elif not isinstance(value, bool):
        others += NUMBERS
    return others if path else others[1:]


def changed(spec: Tree, path: tuple[Any, ...], other: Any) -> Tree:
    """A copy of a spec with something else at a place."""
    copied = {"spec": orjson.loads(orjson.dumps(spec))}
    holder, key = at(copied, ("spec", *path)[:-1]), ("spec", *path)[-1]
    if other is None:
        del holder[key]
    else:
        holder[key] = orjson.loads(orjson.dumps(other))
    return copied["spec"]


def decoded(spec: Tree) -> Iterator[Tree]:
    """A spec as the server gets it, with the defaults of a Pod, and with those of a template; none
    for one without sense.
    """
    try:
        tree: Tree = CODEC.decode({"apiVersion": "v1", "kind": "Pod", "spec": spec}).tree.get("spec", {})
    except DecodeError:
        return
    default_pod_spec(tree)
    yield tree
    default_pod(tree)
    default_pod_spec(tree)
    yield tree


def check(spec: Tree) -> None:
    """What is accepted has no errors, be it a Pod's or a template's, whatever the gates are; and so
    for warnings.
    """
    if accepts_pod_spec(spec):
        for options in OPTIONS:
            assert own_spec_errors(spec, options, "pod") == []
    if has_no_warnings(spec, {}):
        assert pod_spec_warnings(spec, {}, "spec", "metadata") == []


@pytest.mark.parametrize("field", SPEC)
def test_one_change_of_a_usual_spec_is_accepted_only_if_it_is_good(field: str) -> None:
    """Given a usual spec, of which something in one field, or beside it, is gone, other, or there
    twice When it is accepted at a glance, with or without warnings, then the checks that have words
    have none for it.
    """
    for path in places(SPEC):
        if path[:1] == (field,) or (not path and field == "containers"):
            for other in instead(SPEC, path):
                for spec in decoded(changed(SPEC, path, other)):
                    check(spec)


@given(st.data())
def test_what_is_accepted_at_a_glance_has_nothing_wrong(data: st.DataObject) -> None:
    """Given a spec that differs from a usual one in several places, decoded and defaulted When it
    is accepted at a glance, with or without warnings, then the checks that have words have none for
    it.
    """
    spec = copy.deepcopy(SPEC)
    for field in data.draw(st.lists(st.sampled_from([name for name in SPEC if name != "containers"]), unique=True, max_size=9)):
        del spec[field]
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(list(places(spec))))
        spec = changed(spec, path, data.draw(st.sampled_from(instead(spec, path))))
    for tree in decoded(spec):
        check(tree)


CLAIM = {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}
ISCSI = {"targetPortal": f"{'p' * 63}:1", "iqn": "iqn.2016-04.a.b:c", "lun": 0, "initiatorName": "iqn.2016-04.a.b:c"}


@pytest.mark.parametrize("volumes", [
    [{"name": "own", "ephemeral": CLAIM}, {"name": "of-it", "persistentVolumeClaim": {"claimName": "pod-own"}}],
    [{"name": "far", "iscsi": ISCSI}],
], ids=["a claim of the pod's own", "a portal too long for its name"])
def test_what_volumes_say_together_with_names_is_not_accepted_at_a_glance(volumes: list[Tree]) -> None:
    """Given volumes that are wrong only beside the name of the pod, or their own
    When the spec is looked at, then it is not accepted, and the checks have words for it."""
    for spec in decoded({"containers": [{"name": "a", "image": "a"}], "volumes": volumes}):
        assert len(own_spec_errors(spec, PodSpecOptions(is_pod=True), "pod")) == 1
        check(spec)
        assert not accepts_pod_spec(spec)


@pytest.mark.parametrize("field", ["", *(name for name in SPEC if name != "containers")])
def test_usual_specs_are_accepted_at_a_glance(field: str) -> None:
    """Given a spec with all that is usual, or all but one field, when looked at, then nobody needs
    to search for words.
    """
    spec = copy.deepcopy(SPEC)
    spec.pop(field, None)
    if field == "volumes":
        del spec["containers"][0]["volumeMounts"]
    if field == "serviceAccountName":  # a token needs an account
        del spec["volumes"][1], spec["containers"][0]["volumeMounts"][1]
    default_pod(spec)
    default_pod_spec(spec)
    assert accepts_pod_spec(spec)
    assert has_no_warnings(spec, {})
