"""Pods: what the server fills in, refuses, and lets change."""

import copy
from typing import Any

import pytest

from fakekube.apimachinery import names
from fakekube.apimachinery.types import Tree
from fakekube.apis.core import pod as pods
from fakekube.apis.core.pod_update import validate_annotation_changes
from fakekube.apis.core.podresources import qos_class
from fakekube.apis.core.podspec_defaults import pull_policy
from fakekube.apis.core.scheduling_validation import validate_spread_constraints
from tests.apis.strategies_a import hooks
from tests.apis.strategies_a.hooks import CONTAINER, NOW, create, job, pod, update, update_status, with_spec


def test_a_bare_pod_is_filled_in() -> None:
    """Given a name and an image, when created, then everything else has a value."""
    outcome = create(pod())
    assert outcome.errors == []
    assert outcome.spec == {
        "containers": [{
            **CONTAINER, "imagePullPolicy": "IfNotPresent", "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
        "dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "restartPolicy": "Always",
        "schedulerName": "default-scheduler", "securityContext": {}, "serviceAccount": "default",
        "serviceAccountName": "default", "terminationGracePeriodSeconds": 30,
    }
    assert outcome.obj["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_defaults_are_settled_after_one_run() -> None:
    """Given a pod with all sorts of parts, when defaulted twice, then the second run changes
    nothing.
    """
    obj = create(pod(hostNetwork=True, containers=[{
        **CONTAINER, "ports": [{"containerPort": 80}], "livenessProbe": {"httpGet": {"port": 80}},
        "resources": {"limits": {"cpu": "0.0005"}}}], volumes=[{"name": "v"}, {"name": "h", "hostPath": {"path": "/"}}])).obj
    again = copy.deepcopy(obj)
    pods.STRATEGY.default(again, hooks.context())
    assert again == obj
    container = obj["spec"]["containers"][0]
    assert container["ports"] == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    assert container["resources"] == {"limits": {"cpu": "1m"}, "requests": {"cpu": "1m"}}
    assert obj["spec"]["volumes"][0] == {"name": "v", "emptyDir": {}}


@pytest.mark.parametrize(("image", "policy"), [
    ("nginx", "Always"), ("nginx:latest", "Always"), ("nginx:1.25", "IfNotPresent"), ("r.local:5000/team/app", "Always"),
    ("r.local:5000/team/app:v2", "IfNotPresent"), (f"nginx@sha256:{'b' * 64}", "IfNotPresent"),
    (f"nginx:latest@sha256:{'b' * 64}", "Always"), ("Not An Image", "IfNotPresent"), ("", "IfNotPresent"),
])
def test_pulling_follows_the_tag(image: str, policy: str) -> None:
    """Given an image, when no policy is given, then latest is always pulled, also when it is only
    implied.
    """
    assert pull_policy(image) == policy


@pytest.mark.parametrize(("resources", "expected"), [
    ([{}], "BestEffort"), ([{"requests": {"cpu": "1"}}], "Burstable"),
    ([{"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1024Mi"}}], "Guaranteed"),
    ([{"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, {}], "Burstable"),
    ([{"limits": {"example.com/gpu": "1"}}], "BestEffort"),
])
def test_the_quality_of_service_is_computed(resources: list[Any], expected: str) -> None:
    """Given the resources of the containers, when classed, then all must be limited alike to be
    guaranteed.
    """
    assert qos_class({"containers": [{"resources": each} for each in resources]}) == expected


@pytest.mark.parametrize("name", ["kube-api-access-UPPER", "data-UPPER", "kube-api-access-", "data-"])
def test_the_name_of_a_volume_is_looked_at_whatever_it_begins_with(name: str) -> None:
    """Given a volume with a bad name, which may begin as the server's own do, in a Pod and in a
    template When created, then it is refused, and the mount with it: the same for every prefix.
    """
    volumes, mounts = [{"name": name, "emptyDir": {}}], [{"name": name, "mountPath": "/data"}]
    containers = [{**CONTAINER, "volumeMounts": mounts}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers, "volumes": volumes}}
    for body, path in ((pod(containers=containers, volumes=volumes), "spec"), (job(template=template), "spec.template.spec")):
        errors = create(body).errors
        assert [error.partition(": ")[0] for error in errors] == [
            f"{path}.volumes[0].name", f"{path}.containers[0].volumeMounts[0].name"]
        assert names.dns1123_label(name)[0] in errors[0]


def test_a_gated_pod_says_why_it_is_not_scheduled() -> None:
    """Given a scheduling gate, when created, then the condition PodScheduled is there from the
    start.
    """
    status = create(pod(schedulingGates=[{"name": "a.example/b"}])).obj["status"]
    assert status["conditions"][0]["reason"] == "SchedulingGated"
    assert status["conditions"][0]["lastTransitionTime"] == NOW


def test_label_keys_of_spread_constraints_become_requirements() -> None:
    """Given matchLabelKeys, when created, then the pod's own value is merged into the selector."""
    body = pod(topologySpreadConstraints=[{
        "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["app", "other"],
        "labelSelector": {}}])
    body["metadata"]["labels"] = {"app": "a"}
    selector = create(body).spec["topologySpreadConstraints"][0]["labelSelector"]
    assert selector == {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}


@pytest.mark.parametrize(("spec", "error"), [
    ({"containers": []}, "spec.containers: Required value"),
    ({"restartPolicy": "X"},
     'spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never"'),
    ({"containers": [CONTAINER, CONTAINER]}, 'spec.containers[1].name: Duplicate value: "main"'),
    ({"containers": [{"name": "main", "image": ""}]}, "spec.containers[0].image: Required value"),
    ({"containers": [{**CONTAINER, "image": " x"}]},
     'spec.containers[0].image: Invalid value: " x": must not have leading or trailing whitespace'),
    ({"containers": [{**CONTAINER, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
     'spec.containers[0].volumeMounts[0].name: Not found: "v"'),
    ({"containers": [{**CONTAINER, "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}]},
     'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'),
    ({"containers": [{**CONTAINER, "livenessProbe": {}}]},
     "spec.containers[0].livenessProbe: Required value: must specify a handler type"),
    ({"containers": [{**CONTAINER, "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}]}]},
     ('spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: '
     "field label not supported: spec.x")),
    ({"volumes": [{"name": "v", "secret": {}}]}, "spec.volumes[0].secret.secretName: Required value"),
    ({"tolerations": [{"key": "k", "operator": "Exists", "value": "v"}]},
     "spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'"),
    ({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}},
     ("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: "
     "must have at least one node selector term")),
    ({"activeDeadlineSeconds": 0}, "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"),
    ({"ephemeralContainers": [{"name": "d", "image": "busybox:1"}]},
     "spec.ephemeralContainers: Forbidden: cannot be set on create"),
    ({"nodeName": "n", "schedulingGates": [{"name": "a"}]},
     "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"),
    ({"hostUsers": False, "hostNetwork": True}, "spec.hostNetwork: Forbidden: when `hostUsers` is false"),
    ({"dnsPolicy": "None"}, "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"),
    ({"initContainers": [{**CONTAINER, "name": "i", "lifecycle": {}}]},
     "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always"),
    ({"securityContext": {"seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "p"}}},
     ('spec.securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"p"}: '
      "can only be set when seccomp type is Localhost")),
    ({"securityContext": {"windowsOptions": {"runAsUserName": "a b*"}}},
     ('spec.securityContext.windowsOptions.runAsUserName: Invalid value: "a b*": runAsUserName\'s User cannot contain the '
      'following characters: "/\\:;|=,+*?<>@[]')),
    ({"securityContext": {"windowsOptions": {"runAsUserName": ".d\\u"}}},
     ('spec.securityContext.windowsOptions.runAsUserName: Invalid value: ".d\\\\u": runAsUserName\'s Domain doesn\'t match '
      "the NetBios nor the DNS format")),
    ({"volumes": [{"name": "v", "projected": {"sources": [{"clusterTrustBundle": {"name": "x:y:.", "path": "p"}}]}}]},
     ('spec.volumes[0].projected.sources[0].clusterTrustBundle.name: Invalid value: "x:y:.": not a valid '
      "clustertrustbundlename: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
      "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")),
    ({"os": {"name": "linux"}, "securityContext": {"windowsOptions": {}}},
     "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"),
])
def test_a_bad_spec_is_refused_in_upstreams_words(spec: dict[str, Any], error: str) -> None:
    """Given one thing wrong, when created, then that one is told."""
    assert create(pod(**spec)).errors == [error]


APP_ARMOR, SECCOMP = "container.apparmor.security.beta.kubernetes.io/main", "seccomp.security.alpha.kubernetes.io/pod"


def annotated(annotations: dict[str, str], **spec: Any) -> dict[str, Any]:
    return pod(**spec) | {"metadata": {"name": "p", "annotations": annotations}}


@pytest.mark.parametrize(("annotation", "profile"), [
    ("runtime/default", {"type": "RuntimeDefault"}), ("unconfined", {"type": "Unconfined"}),
    ("localhost/p", {"type": "Localhost", "localhostProfile": "p"}), ("", None), ("localhost/", None),
])
def test_an_annotation_for_app_armor_becomes_a_field(annotation: str, profile: dict[str, str] | None) -> None:
    """Given a container's profile in an annotation, when the pod is created, then the field has it,
    and a warning tells.
    """
    done = create(annotated({APP_ARMOR: annotation}))
    assert done.obj["spec"]["containers"][0].get("securityContext", {}).get("appArmorProfile") == profile
    assert done.warnings == [
        f'metadata.annotations[{APP_ARMOR}]: deprecated since v1.30; use the "appArmorProfile" field instead']


@pytest.mark.parametrize(("annotations", "context", "expected"), [
    ({APP_ARMOR.replace("main", "other"): "x"}, {},
     [f'metadata.annotations[{APP_ARMOR.replace("main", "other")}]: Invalid value: "other": container not found',
      f'metadata.annotations[{APP_ARMOR.replace("main", "other")}]: Invalid value: "x": invalid AppArmor profile name: "x"']),
    ({SECCOMP: "x"}, {}, [f'metadata.annotations.{SECCOMP}: Invalid value: "x": must be a valid seccomp profile']),
    ({SECCOMP: "docker/default"}, {"seccompProfile": {"type": "RuntimeDefault"}}, []),
    ({SECCOMP: "localhost/a"}, {"seccompProfile": {"type": "Localhost", "localhostProfile": "b"}},
     [("spec.securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must "
       "match")]),
    ({APP_ARMOR: "unconfined"}, {"appArmorProfile": {"type": "RuntimeDefault"}}, []),
    ({APP_ARMOR: "localhost/"}, {"appArmorProfile": {"type": "RuntimeDefault"}},
     [("spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must "
       "match")]),
])
def test_annotations_for_profiles_must_be_right(annotations: dict[str, str], context: Any, expected: list[str]) -> None:
    """Given annotations for seccomp or AppArmor, when a pod is created, then bad ones and those
    unlike the fields are refused.
    """
    assert create(annotated(annotations, securityContext=context)).errors == expected


def test_a_bad_pod_stays_bad_however_often_it_is_asked_for() -> None:
    """Given equal specs one after the other, when some are good and some bad, then each is judged
    by itself.
    """
    for _ in range(2):
        assert create(pod(hostname="a")).errors == []
        assert len(create(pod(hostname="a.b")).errors) == 1
        assert len(create(pod(restartPolicy="X", hostname="a.b")).errors) == 2


def test_warnings_tell_of_ports_and_variables_that_are_there_twice() -> None:
    """Given a port and a variable defined twice, when created, then it is accepted with two
    warnings.
    """
    container = {**CONTAINER, "ports": [{"containerPort": 80}, {"containerPort": 80}], "env": [
        {"name": "A", "value": "a"}, {"name": "A", "value": "b"}]}
    outcome = create(pod(containers=[container]))
    assert outcome.errors == []
    assert outcome.warnings == [
        'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
        "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
    ]


@pytest.mark.parametrize(("container", "warnings"), [
    ({"ports": [{"containerPort": 80}]}, []),
    ({"ports": [{"containerPort": 80}, {"containerPort": 81}]}, []),
    ({"ports": [{"containerPort": 80}, {"containerPort": 80}]},
     ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"]),
    ({"env": [{"name": "A", "value": "a"}]}, []),
    ({"env": [{"name": "A", "value": "a"}, {"name": "A", "value": "b"}]},
     ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply']),
])
def test_each_of_them_is_enough_for_a_warning(container: Tree, warnings: list[str]) -> None:
    """Given one or two ports or variables, and nothing else to say, when created, then a warning
    tells of the second of the same.
    """
    outcome = create(pod(containers=[{**CONTAINER, **container}]))
    assert (outcome.errors, outcome.warnings) == ([], warnings)


COMMAND_ADDED = """\
@@ -5,7 +5,9 @@
   {
    "Name": "main",
    "Image": "busybox:1",
-   "Command": null,
+   "Command": [
+    "x"
+   ],
    "Args": null,
    "WorkingDir": "",
    "Ports": null,
"""


def test_hardly_anything_of_a_spec_may_change() -> None:
    """Given a pod, when its image changes, then fine; when its command does, then the changeable
    fields are listed.
    """
    old = create(pod()).obj
    image = with_spec(old, containers=[{**old["spec"]["containers"][0], "image": "busybox:2"}])
    assert update(old, image).errors == []
    command = with_spec(old, containers=[{**old["spec"]["containers"][0], "command": ["x"]}])
    (found,) = update(old, command).errors
    head, _, lines = found.partition("\n")
    assert head.startswith("spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,")
    assert lines == COMMAND_ADDED


def test_tolerations_only_grow_and_gates_only_shrink() -> None:
    """Given a pod with one of each, when a toleration goes or a gate comes, then it is forbidden.
    """
    old = create(pod(tolerations=[{"key": "a", "operator": "Exists"}], schedulingGates=[{"name": "a"}])).obj
    assert update(old, with_spec(old, tolerations=None)).errors == [
        "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"]
    assert update(old, with_spec(old, schedulingGates=[{"name": "b"}])).errors == [
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'"]
    assert update(old, with_spec(old, schedulingGates=None)).errors == []
    assert update(old, with_spec(old, nodeSelector={"a": "b"})).errors == []


def test_a_write_of_the_spec_keeps_the_status_and_the_other_way_round() -> None:
    """Given a pod, when either endpoint writes everything, then each takes its own half."""
    old = create(pod()).obj
    assert update(old, {**old, "status": {"phase": "Running"}}).obj["status"] == old["status"]
    outcome = update_status(with_spec(old), {"phase": "Running"}, labels={"a": "b"}, ownerReferences=[
        {"apiVersion": "v1", "kind": "Secret", "name": "x", "uid": "u"}])
    assert outcome.obj["spec"] == old["spec"]
    assert outcome.obj["status"] == {"phase": "Running", "qosClass": "BestEffort"}
    assert outcome.obj["metadata"]["labels"] == {"a": "b"}
    assert "ownerReferences" not in outcome.obj["metadata"]


def test_an_ended_container_stays_ended() -> None:
    """Given a container that ended in a pod that never restarts, when it runs again, then that is
    forbidden.
    """
    old = create(pod(restartPolicy="Never")).obj
    ended = {"containerStatuses": [{"name": "main", "image": "", "imageID": "", "ready": False, "restartCount": 0, "state": {
        "terminated": {"exitCode": 1}}}]}
    old["status"] |= ended
    running = copy.deepcopy(ended)
    running["containerStatuses"][0]["state"] = {"running": {"startedAt": NOW}}
    assert update_status(old, {"phase": "Running", **running}).errors == [
        "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"]


def test_the_address_and_the_list_of_addresses_agree() -> None:
    """Given one of podIP and podIPs, when written, then the other follows."""
    old = create(pod()).obj
    assert update_status(old, {"podIP": "10.0.0.1"}).obj["status"]["podIPs"] == [{"ip": "10.0.0.1"}]
    assert update_status(old, {"podIPs": [{"ip": "10.0.0.2"}]}).obj["status"]["podIP"] == "10.0.0.2"


def test_ephemeral_containers_come_by_their_own_endpoint() -> None:
    """Given a pod, when a debugging container is added there, then only it changes; taking it away
    is forbidden.
    """
    strategy = pods.SUBRESOURCES["ephemeralcontainers"]
    old = create(pod()).obj
    more = with_spec(old, ephemeralContainers=[{"name": "d", "image": "busybox:1"}], nodeName="n")
    outcome = update(old, more, strategy=strategy)
    assert outcome.errors == []
    assert outcome.spec["ephemeralContainers"][0]["name"] == "d"
    assert "nodeName" not in outcome.spec
    assert update(outcome.obj, old, strategy=strategy).errors == [
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed\n']
    newer = with_spec(outcome.obj, ephemeralContainers=[{"name": "d", "image": "a<b", "tty": True, "env": [{"name": "E"}]}])
    assert update(outcome.obj, newer, strategy=strategy).errors == [(
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be changed\n'
        '@@ -1,12 +1,18 @@\n {\n  "Name": "d",\n- "Image": "busybox:1",\n+ "Image": "a\\u003cb",\n  "Command": null,\n'
        '  "Args": null,\n  "WorkingDir": "",\n  "Ports": null,\n  "EnvFrom": null,\n- "Env": null,\n+ "Env": [\n+  {\n'
        '+   "Name": "E",\n+   "Value": "",\n+   "ValueFrom": null\n+  }\n+ ],\n  "Resources": {\n   "Limits": null,\n'
        '   "Requests": null,\n'
        '@@ -27,6 +33,6 @@\n  "SecurityContext": null,\n  "Stdin": false,\n  "StdinOnce": false,\n- "TTY": false,\n'
        '+ "TTY": true,\n  "TargetContainerName": ""\n }\n')]


def test_a_resize_takes_cpu_and_memory_only() -> None:
    """Given a pod with requests, when resized, then amounts change, and neither class nor other
    resources may.
    """
    strategy = pods.SUBRESOURCES["resize"]
    container = {**CONTAINER, "resources": {"requests": {"cpu": "1"}}}
    old = create(pod(containers=[container])).obj
    stored = old["spec"]["containers"][0]
    bigger = with_spec(old, containers=[{**stored, "resources": {"requests": {"cpu": "2"}}, "image": "other"}])
    outcome = update(old, bigger, strategy=strategy)
    assert outcome.errors == []
    assert outcome.spec["containers"][0]["resources"] == {"requests": {"cpu": "2"}}
    assert outcome.spec["containers"][0]["image"] == "busybox:1"
    none = with_spec(old, containers=[{**stored, "resources": {}}])
    assert "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed" in update(
        old, none, strategy=strategy).errors


def test_the_grace_of_a_delete_depends_on_where_the_pod_is() -> None:
    """Given a pod on a node or on none, ended or not, when deleted, then only one that may run gets
    time.
    """
    ctx, obj = hooks.context(), create(pod()).obj
    assert pods.STRATEGY.check_graceful_delete(obj, None, ctx) == 0
    obj["spec"]["nodeName"] = "n"
    assert pods.STRATEGY.check_graceful_delete(obj, None, ctx) == 30
    assert pods.STRATEGY.check_graceful_delete(obj, 5, ctx) == 5
    obj["status"]["phase"] = "Succeeded"
    assert pods.STRATEGY.check_graceful_delete(obj, 5, ctx) == 0


def test_fields_of_disabled_features_are_forgotten() -> None:
    """Given a scheduling group, when the gate is off, then it is gone; when it is on, then it
    stays.
    """
    group = {"podGroupName": "g"}
    assert "schedulingGroup" not in create(pod(schedulingGroup=group)).spec
    assert create(pod(schedulingGroup=group), "GenericWorkload").spec["schedulingGroup"] == group


def test_the_resources_of_the_whole_pod_follow_the_containers() -> None:
    """Given limits of the pod, when created, then requests come from the containers, and must not
    be below them.
    """
    container = {**CONTAINER, "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    outcome = create(pod(containers=[container], resources={"limits": {"cpu": "2"}}))
    assert outcome.errors == []
    assert outcome.spec["resources"] == {"limits": {"cpu": "2"}, "requests": {"cpu": "1", "memory": "1Gi"}}
    (found,) = create(pod(containers=[container], resources={"requests": {"cpu": "500m"}})).errors
    assert found.startswith('spec.resources.requests[cpu]: Invalid value: "500m": must be greater than or equal to')


APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/main"
MIRROR = "kubernetes.io/config.mirror"


@pytest.mark.parametrize(("before", "after", "expected"), [
    ({APP_ARMOR: "unconfined"}, {APP_ARMOR: "runtime/default"}, [(APP_ARMOR, "may not remove or update AppArmor annotations")]),
    ({APP_ARMOR: "unconfined"}, {}, [(APP_ARMOR, "may not remove or update AppArmor annotations")]),
    ({}, {APP_ARMOR: "unconfined"}, [(APP_ARMOR, "may not add AppArmor annotations")]),
    ({MIRROR: "x"}, {MIRROR: "y"}, [(MIRROR, "may not remove or update mirror pod annotation")]),
    ({MIRROR: "x"}, {}, [(MIRROR, "may not remove or update mirror pod annotation")]),
    ({MIRROR: "x"}, {MIRROR: "x"}, []),
    ({"a": "x"}, {"a": "y", "b": "z"}, []),
])
def test_some_annotations_of_a_pod_stay(before: dict[str, str], after: dict[str, str], expected: list[tuple[str, str]]) -> None:
    """Given annotations of AppArmor and of mirror pods / when they come, change or go / then each
    is forbidden in the words of what was done; others may change.
    """
    found = validate_annotation_changes(after, before, {"nodeName": "n", "containers": [CONTAINER]})
    assert [str(error) for error in found if "may not" in str(error)] == [
        f"metadata.annotations[{key}]: Forbidden: {what}" for key, what in expected]


SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


@pytest.mark.parametrize(("constraints", "expected"), [
    ([SPREAD, SPREAD], ['[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"']),
    ([SPREAD, {**SPREAD, "topologyKey": "host"}, SPREAD],
     ['[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"']),
    ([SPREAD, {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}], []),
    ([SPREAD, SPREAD, SPREAD], [
        f'[{number}].{{topologyKey, whenUnsatisfiable}}: Duplicate value: "{{zone, DoNotSchedule}}"' for number in (0, 1)]),
    ([{**SPREAD, "maxSkew": 0}], ["[0].maxSkew: Invalid value: 0: must be greater than zero"]),
    ([{**SPREAD, "minDomains": 0}], ["[0].minDomains: Invalid value: 0: must be greater than zero"]),
    ([{**SPREAD, "minDomains": 1, "whenUnsatisfiable": "ScheduleAnyway"}],
     ["[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"]),
])
def test_spread_constraints_are_told_apart_by_key_and_action(constraints: list[Any], expected: list[str]) -> None:
    """Given constraints / then every one that has a later twin is told, and nothing else."""
    assert [str(error) for error in validate_spread_constraints(constraints, "")] == expected
