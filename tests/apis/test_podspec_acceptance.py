"""What is accepted at a glance is what the checks with words have nothing to say about."""

import copy
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from fakekube.apis.core.pod_validation import own_spec_errors
from fakekube.apis.core.pod_warnings import is_quiet, pod_spec_warnings
from fakekube.apis.core.podspec_acceptance import accepts_pod_spec
from fakekube.apis.core.podspec_defaults import default_pod, default_pod_spec
from fakekube.apis.core.podspec_validation import PodSpecOptions, pod_spec_errors
from fakekube.schema.decode import Codec, DecodeError
from tests.schema.releases import schema

Tree = dict[str, Any]
CODEC = Codec(schema("v1", "Pod"))
OPTIONS = [PodSpecOptions(*each) for each in product((False, True), repeat=5)]
FILES = {"sources": [
    {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
    {"configMap": {"name": "root-ca", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}}]}
PROBE = {"httpGet": {"path": "/ready", "port": 8080}, "initialDelaySeconds": 3}
MAIN = {
    "name": "main", "image": "r.example/app:1", "command": ["run"], "workingDir": "/",
    "env": [
        {"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
    "envFrom": [{"configMapRef": {"name": "all"}}],
    "ports": [{"name": "http", "containerPort": 8080}, {"containerPort": 9090, "protocol": "UDP"}],
    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "128Mi"}},
    "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "files", "mountPath": "/files", "readOnly": True}],
    "readinessProbe": PROBE, "livenessProbe": PROBE, "lifecycle": {"preStop": {"exec": {"command": ["stop"]}}},
    "securityContext": {"runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}},
}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "a"}}}
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
    "containers": [MAIN, {"name": "other", "image": "other"}],
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
    ("fileKeyRef", {"volumeName": "data", "path": "p", "key": "k"}), ("gitRepo", {"repository": "x"}), ("grpc", {"port": 0}),
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
    ("terminationGracePeriodSeconds", -1), ("terminationMessagePolicy", "x"), ("tolerationSeconds", 1), ("value", "$(A)"),
    ("volumeDevices", [{"name": "data", "devicePath": "/dev"}]), ("windowsOptions", {"hostProcess": True}),
]


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a tree, the tree itself excepted."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def changed(data: st.DataObject, spec: Tree) -> None:
    """Something of a spec is taken away, said otherwise, said twice, or joined by something else."""
    path = data.draw(st.sampled_from(list(places(spec))))
    holder: Any = spec
    for key in path[:-1]:
        holder = holder[key]
    key, value = path[-1], holder[path[-1]]
    how = data.draw(st.sampled_from(["away", "other", "other", "added", "added", "twice"]))
    if how == "away":
        del holder[key]
    elif how == "twice" and isinstance(holder, list):
        holder.append(copy.deepcopy(value))
    elif how == "added" and isinstance(value, dict):
        name, other = data.draw(st.sampled_from(ADDED))
        value[name] = copy.deepcopy(other)
    elif isinstance(value, str):
        amount = len(path) > 1 and path[-2] in ("requests", "limits")
        holder[key] = data.draw(st.sampled_from(AMOUNTS if amount else TEXTS))
    elif isinstance(value, int) and not isinstance(value, bool):
        holder[key] = data.draw(st.sampled_from(NUMBERS))


@st.composite
def specs(draw: st.DrawFn) -> Tree:
    """Specs with some of what a plain one can have, and a few changes."""
    spec = copy.deepcopy(SPEC)
    for field in draw(st.lists(st.sampled_from([name for name in SPEC if name != "containers"]), unique=True, max_size=12)):
        del spec[field]
    data = draw(st.data())
    for _ in range(draw(st.integers(0, 3))):
        changed(data, spec)
    try:
        return CODEC.decode({"apiVersion": "v1", "kind": "Pod", "spec": spec}).tree.get("spec", {})
    except DecodeError:
        reject()


@settings(max_examples=400)
@given(specs())
def test_what_is_accepted_at_a_glance_has_nothing_wrong(spec: Tree) -> None:
    """Given a pod spec, with its defaults or as it is, when it is accepted at a glance
    Then no check has anything to say, be it a Pod's or a template's, whatever the gates are."""
    filled = copy.deepcopy(spec)
    default_pod(filled)
    default_pod_spec(filled)
    for each in (spec, filled):
        if accepts_pod_spec(each):
            for options in OPTIONS:
                assert pod_spec_errors(each, "spec", options, "") == []
                assert own_spec_errors(each, options, "pod") == []


@settings(max_examples=400)
@given(specs())
def test_what_is_quiet_at_a_glance_has_no_warning(spec: Tree) -> None:
    """Given a pod spec, when it is quiet at a glance, then there is no warning, of a Pod and of a template."""
    default_pod(spec)
    default_pod_spec(spec)
    if is_quiet(spec, {}):
        assert pod_spec_warnings(spec, {}, "spec", "metadata") == []
        assert pod_spec_warnings(spec, {}, "spec.template.spec", "spec.template.metadata") == []


@pytest.mark.parametrize("field", ["", *(name for name in SPEC if name != "containers")])
def test_usual_specs_are_accepted_at_a_glance(field: str) -> None:
    """Given a spec with all that is usual, or all but one field, when looked at, then nobody needs to search for words."""
    spec = copy.deepcopy(SPEC)
    spec.pop(field, None)
    if field == "volumes":
        del spec["containers"][0]["volumeMounts"]
    if field == "serviceAccountName":  # a token needs an account
        del spec["volumes"][1], spec["containers"][0]["volumeMounts"][1]
    default_pod(spec)
    default_pod_spec(spec)
    assert accepts_pod_spec(spec)
    assert is_quiet(spec, {})
