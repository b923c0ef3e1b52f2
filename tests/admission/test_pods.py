"""Plugins that look at pods: accounts, priorities, tolerations, runtime classes, topology labels.
"""

import asyncio

import pytest

from fakekube.admission.defaults import DefaultTolerationSeconds, PodTopologyLabels
from fakekube.admission.pod_resize import PodResizeValidator
from fakekube.admission.priority import Priority
from fakekube.admission.runtime_class import RuntimeClass, merge_tolerations
from fakekube.admission.service_account import ServiceAccount
from fakekube.apimachinery.errors import APIError
from tests.admission.world import World, kind

PODS = kind("", "v1", "pods")
POD_GROUPS = kind("scheduling.k8s.io", "v1beta1", "podgroups")
CLASSES = kind("scheduling.k8s.io", "v1", "priorityclasses")


def pod(**spec):
    return {"metadata": {"name": "p", "namespace": "t"}, "spec": {"containers": [{"name": "a"}], **spec}}


def refusal(plugin, attrs, step="admit"):
    async def look():
        if (pending := getattr(plugin, step)(attrs)) is not None:
            await pending

    with pytest.raises(APIError) as caught:
        asyncio.run(look())
    return caught.value.message


@pytest.fixture
def world():
    world = World("PodTopologyLabelsAdmission", "GenericWorkload")
    world.put("", "serviceaccounts", {"metadata": {"name": "default", "namespace": "t"}})
    world.put(
        "",
        "serviceaccounts",
        {
            "metadata": {"name": "robot", "namespace": "t"},
            "imagePullSecrets": [{"name": "pull"}],
            "automountServiceAccountToken": False,
        },
    )
    world.put(
        "scheduling.k8s.io",
        "priorityclasses",
        {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "PreemptLowerPriority"},
    )
    return world


def test_a_pod_gets_the_default_account_and_its_token(world):
    """Given a bare pod / when admitted / then account, projected volume and a mount for each
    container.
    """
    obj = pod()
    ServiceAccount().admit(world.attributes(PODS, obj))
    spec = obj["spec"]
    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    assert [volume["name"] for volume in spec["volumes"]] == ["kube-api-access-xxxxx"]
    assert spec["containers"][0]["volumeMounts"] == [
        {
            "name": "kube-api-access-xxxxx",
            "readOnly": True,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        },
    ]
    assert spec["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"] == 3607


def test_an_account_may_keep_its_token_and_lend_its_pull_secrets(world):
    """Given an account without automount / when a pod uses it / then pull secrets but no volume."""
    obj = pod(serviceAccountName="robot")
    ServiceAccount().admit(world.attributes(PODS, obj))
    assert obj["spec"]["imagePullSecrets"] == [{"name": "pull"}]
    assert "volumes" not in obj["spec"]


def test_a_pod_of_a_missing_account_is_refused(world):
    """Given no such account / when a pod names it / then 403 says who was looked for."""
    assert refusal(ServiceAccount(), world.attributes(PODS, pod(serviceAccountName="nobody"))) == (
        'pods "p" is forbidden: error looking up service account t/nobody: serviceaccount "nobody" not found'
    )


def test_a_mirror_pod_refers_to_no_account(world):
    """Given a mirror pod with an account / when admitted / then 403; without one / then it stays as
    it is.
    """
    obj = pod(serviceAccountName="robot")
    obj["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert refusal(ServiceAccount(), world.attributes(PODS, obj)).endswith("a mirror pod may not reference service accounts")
    bare = pod()
    bare["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    ServiceAccount().admit(world.attributes(PODS, bare))
    assert bare["spec"] == pod()["spec"]


def test_a_guarded_account_grants_only_its_own_secrets(world):
    """Given an account that enforces its secrets / when a pod mounts another / then 403 names both.
    """
    world.put(
        "",
        "serviceaccounts",
        {
            "metadata": {
                "name": "strict",
                "namespace": "t",
                "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"},
            },
            "secrets": [{"name": "mine"}],
        },
    )
    obj = pod(serviceAccountName="strict", volumes=[{"name": "v", "secret": {"secretName": "other"}}])
    assert refusal(ServiceAccount(), world.attributes(PODS, obj)).endswith(
        'volume with secret.secretName="other" is not allowed because service account strict does not reference that secret'
    )


@pytest.mark.spec("API-167")
def test_a_priority_class_becomes_a_number(world):
    """Given a pod that names a class / when admitted / then value and policy; without a class /
    then 0.
    """
    obj, bare = pod(priorityClassName="high"), pod()
    Priority().admit(world.attributes(PODS, obj))
    Priority().admit(world.attributes(PODS, bare))
    assert (obj["spec"]["priority"], obj["spec"]["preemptionPolicy"]) == (1000, "PreemptLowerPriority")
    assert bare["spec"]["priority"] == 0
    assert "priorityClassName" not in bare["spec"]


def test_a_priority_cannot_be_chosen_by_hand(world):
    """Given a number, a policy or a class that is not the class's / when admitted / then 403."""
    assert "the integer value of priority (1) must not be provided in pod spec; priority admission controller computed" in (
        refusal(Priority(), world.attributes(PODS, pod(priorityClassName="high", priority=1)))
    )
    assert "the string value of PreemptionPolicy (Never) must not be provided in pod spec" in (
        refusal(Priority(), world.attributes(PODS, pod(preemptionPolicy="Never")))
    )
    assert refusal(Priority(), world.attributes(PODS, pod(priorityClassName="x"))).endswith(
        "no PriorityClass with name x was found"
    )


def test_an_update_keeps_the_priority(world):
    """Given an update without priority / when admitted / then the old one is put back, and the old
    object untouched.
    """
    old = pod(priority=7, preemptionPolicy="Never")
    obj = pod()
    Priority().admit(world.attributes(PODS, obj, old))
    assert (obj["spec"]["priority"], obj["spec"]["preemptionPolicy"]) == (7, "Never")


def test_a_default_class_reaches_pods_and_pod_groups_and_is_alone(world):
    """Given a global default / then pods and groups get it; a second default is refused."""
    world.put("scheduling.k8s.io", "priorityclasses", {"metadata": {"name": "usual"}, "value": 5, "globalDefault": True})
    group = {"metadata": {"name": "g", "namespace": "t"}, "spec": {}}
    Priority().admit(world.attributes(POD_GROUPS, group))
    assert group["spec"] == {"priority": 5, "priorityClassName": "usual"}
    second = {"metadata": {"name": "two"}, "value": 1, "globalDefault": True}
    assert refusal(Priority(), world.attributes(CLASSES, second), "validate") == (
        'priorityclasses.scheduling.k8s.io "two" is forbidden: '
        "PriorityClass usual is already marked as default. Only one default can exist"
    )
    wrong = {"metadata": {"name": "g"}, "spec": {"priority": 9}}
    assert "priority set in the pod group (9) must match the priority computed (5)" in (
        refusal(Priority(), world.attributes(POD_GROUPS, wrong))
    )


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        (None, ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]),
        ({"operator": "Exists"}, [None]),
        (
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists"},
            ["node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"],
        ),
    ],
)
def test_tolerations_for_five_minutes(world, given, keys):
    """Given tolerations / when admitted / then those for nodes in trouble come at the end unless
    covered.
    """
    obj = pod(**({"tolerations": [given]} if given else {}))
    DefaultTolerationSeconds().admit(world.attributes(PODS, obj))
    assert [toleration.get("key") for toleration in obj["spec"]["tolerations"]] == keys


def test_a_runtime_class_gives_overhead_nodes_and_tolerations(world):
    """Given a class with all three / when a pod names it / then it has them; an overhead alone is
    refused.
    """
    world.put(
        "node.k8s.io",
        "runtimeclasses",
        {
            "metadata": {"name": "kata"},
            "handler": "kata",
            "overhead": {"podFixed": {"cpu": "100m"}},
            "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}]},
        },
    )
    obj = pod(runtimeClassName="kata", tolerations=[{"key": "k", "operator": "Equal", "value": "v"}])
    RuntimeClass().admit(world.attributes(PODS, obj))
    RuntimeClass().validate(world.attributes(PODS, obj))
    assert obj["spec"]["overhead"] == {"cpu": "100m"}
    assert obj["spec"]["nodeSelector"] == {"a": "b"}
    assert obj["spec"]["tolerations"] == [{"key": "k", "operator": "Exists"}]
    other = pod(runtimeClassName="kata", nodeSelector={"a": "c"})
    assert refusal(RuntimeClass(), world.attributes(PODS, other)).endswith(
        "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c"
    )
    assert refusal(RuntimeClass(), world.attributes(PODS, pod(runtimeClassName="x"))).endswith(
        'pod rejected: RuntimeClass "x" not found'
    )
    assert refusal(RuntimeClass(), world.attributes(PODS, pod(overhead={"cpu": "1"})), "validate").endswith(
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    )


def test_equal_tolerations_are_kept_once():
    """Given twice the same / when merged / then one is left."""
    one = {"key": "k", "operator": "Exists"}
    assert merge_tolerations([dict(one), dict(one)]) == [one]


def test_a_binding_carries_the_topology_of_its_node(world):
    """Given a node with a zone / when a pod is bound to it / then the binding has the zone's label.
    """
    world.put("", "nodes", {"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z", "x": "y"}}})
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    PodTopologyLabels().admit(world.attributes(PODS, binding, subresource="binding"))
    assert binding["metadata"]["labels"] == {"topology.kubernetes.io/zone": "z"}


@pytest.mark.parametrize(
    ("cpu", "labels", "expected"),
    [
        ("2", {}, None),
        (
            "3",
            {},
            (
                "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; "
                "memory, requested: 2048, allocatable: 1024"
            ),
        ),
        ("1", {"kubernetes.io/os": "windows"}, 'pod resize is only supported on linux nodes, node "n" is "windows"'),
    ],
)
def test_a_pod_is_not_resized_beyond_its_node(cpu, labels, expected):
    """Given a pod on a node of two CPUs / when resized / then it may have what the node has, on
    linux.
    """
    world = World("InPlacePodVerticalScaling")
    allocatable = {"cpu": "2", "memory": "1Ki"}
    world.put("", "nodes", {"metadata": {"name": "n", "labels": labels}, "status": {"allocatable": allocatable}})
    requests = {"cpu": cpu, **({"memory": "2Ki"} if cpu == "3" else {})}
    new = pod(nodeName="n", containers=[{"name": "a", "resources": {"requests": requests}}])
    new["metadata"]["generation"] = 2
    attrs = world.attributes(PODS, new, pod(nodeName="n"), subresource="resize")
    if expected is None:
        PodResizeValidator().validate(attrs)
    else:
        assert refusal(PodResizeValidator(), attrs, "validate") == f'pods "p" is forbidden: {expected}'


MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


def test_a_pods_own_token_volume_is_used(world):
    """Given a pod with a volume that is named like a token's / when admitted / then containers
    without a mount get one of it, and no second volume comes.
    """
    mounted = {"name": "d", "volumeMounts": [{"name": "x", "mountPath": MOUNT_PATH}]}
    obj = pod(
        containers=[{"name": "a", "volumeMounts": [{"name": "x", "mountPath": "/x"}]}, mounted], initContainers=[{"name": "i"}],
        volumes=[{"name": "kube-api-access-own", "emptyDir": {}}])
    ServiceAccount().admit(world.attributes(PODS, obj))
    token = {"name": "kube-api-access-own", "readOnly": True, "mountPath": MOUNT_PATH}
    assert obj["spec"]["volumes"] == [{"name": "kube-api-access-own", "emptyDir": {}}]
    assert obj["spec"]["containers"] == [
        {"name": "a", "volumeMounts": [{"name": "x", "mountPath": "/x"}, token]}, mounted]
    assert obj["spec"]["initContainers"] == [{"name": "i", "volumeMounts": [token]}]


def test_no_token_volume_where_nobody_mounts_it(world):
    """Given a pod whose containers have something at the token's place / when admitted / then no
    volume comes; with another volume / then the token's stands behind it.
    """
    obj = pod(containers=[{"name": "a", "volumeMounts": [{"name": "x", "mountPath": MOUNT_PATH}]}])
    ServiceAccount().admit(world.attributes(PODS, obj))
    assert "volumes" not in obj["spec"]
    obj = pod(volumes=[{"name": "x", "emptyDir": {}}])
    ServiceAccount().admit(world.attributes(PODS, obj))
    assert obj["spec"]["volumes"] == [{"name": "x", "emptyDir": {}}, {"name": "kube-api-access-xxxxx", "projected": {
        "defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [
                {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}}]


ENV = {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}]}
ENV_FROM = {"envFrom": [{"secretRef": {"name": "other"}}]}


@pytest.mark.parametrize(("spec", "message"), [
    ({"containers": [{"name": "a", **ENV}]}, 'container a with envVar A referencing secret.secretName="other" {} secret'),
    ({"containers": [{"name": "a", **ENV_FROM}]}, 'container a with envFrom referencing secret.secretName="other" {} secret'),
    ({"initContainers": [{"name": "i", **ENV}]},
     'init container i with envVar A referencing secret.secretName="other" {} secret'),
    ({"imagePullSecrets": [{"name": "pull"}, {"name": "x"}]}, 'imagePullSecrets[1].name="x" {} imagePullSecret'),
    ({"volumes": [{"name": "v", "secret": {}}]}, 'volume with secret.secretName="" {} secret'),
    ({"containers": [{"name": "a", "envFrom": [{"secretRef": {"name": "mine"}}]}], "imagePullSecrets": [{"name": "pull"}]}, ""),
])
def test_every_secret_of_a_pod_is_its_accounts(world, spec, message):
    """Given an account that enforces its secrets / when a pod refers to others, in any way / then
    403 tells of the first; with its own / then it passes.
    """
    world.put("", "serviceaccounts", {
        "metadata": {"name": "strict", "namespace": "t", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}},
        "secrets": [{"name": "mine"}], "imagePullSecrets": [{"name": "pull"}], "automountServiceAccountToken": False})
    attrs = world.attributes(PODS, pod(serviceAccountName="strict", **spec))
    if message:
        why = "is not allowed because service account strict does not reference that"
        assert refusal(ServiceAccount(), attrs) == f'pods "p" is forbidden: {message.format(why)}'
    else:
        ServiceAccount().admit(attrs)


def test_debugging_containers_have_only_their_accounts_secrets(world):
    """Given an account that enforces its secrets / when a container for debugging refers to another
    / then 403; what the pod has besides is not looked at.
    """
    world.put("", "serviceaccounts", {
        "metadata": {"name": "strict", "namespace": "t", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}})
    obj = pod(serviceAccountName="strict", volumes=[{"name": "v", "secret": {"secretName": "x"}}], ephemeralContainers=[])
    attrs = world.attributes(PODS, obj, obj, subresource="ephemeralcontainers")
    ServiceAccount().validate(attrs)
    obj["spec"]["ephemeralContainers"] = [{"name": "e", **ENV_FROM}]
    assert refusal(ServiceAccount(), attrs, "validate") == (
        'pods "p" is forbidden: ephemeral container e with envFrom referencing secret.secretName="other" is not allowed '
        "because service account strict does not reference that secret")


@pytest.mark.parametrize(("spec", "message"), [
    ({"imagePullSecrets": [{"name": "x"}]}, "may not reference secrets"),
    ({"volumes": [{"name": "v", "secret": {"secretName": "x"}}]}, "may not reference secrets"),
    ({"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "x"}}]}}]}, "may not reference secrets"),
    ({"containers": [{"name": "a", **ENV}]}, "may not reference secrets"),
    ({"initContainers": [{"name": "a", **ENV_FROM}]}, "may not reference secrets"),
    ({"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "x"}}]}}]},
     "may not use ServiceAccountToken volume projections"),
])
def test_a_mirror_pod_has_no_secrets(world, spec, message):
    """Given a mirror pod that refers to a secret, in any way / when admitted / then 403."""
    obj = pod(**spec)
    obj["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert refusal(ServiceAccount(), world.attributes(PODS, obj)) == f'pods "p" is forbidden: a mirror pod {message}'


def test_a_pod_without_an_account_is_refused_on_update(world):
    """Given a pod that has lost its account / when validated / then 403 names it."""
    obj = pod()
    assert refusal(ServiceAccount(), world.attributes(PODS, obj, obj), "validate") == (
        'pods "p" is forbidden: no service account specified for pod t/p')
