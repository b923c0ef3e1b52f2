"""Each rule of the pod security standards: what it lets pass, and its whole text."""

from typing import Any

import pytest

from fakekube.admission import pod_security_rules as rules
from fakekube.admission.pod_security import PodSecurity
from fakekube.admission.pod_security_levels import Standard
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from tests.admission.world import World, kind

PODS, NAMESPACES = kind("", "v1", "pods"), kind("", "v1", "namespaces")


def spec(first: Tree | None = None, second: Tree | None = None, third: Tree | None = None, **more: Any) -> Tree:
    """A pod of an init container, a container and one for debugging."""
    found: Tree = dict(more)
    for field, name, each in (("initContainers", "i", first), ("containers", "c", second), ("ephemeralContainers", "e", third)):
        if each is not None:
            found[field] = [{"name": name, **each}]
    return found


def context(**fields: Any) -> Tree:
    return {"securityContext": fields}


ALL_THREE = 'containers "i", "c", "e"'


@pytest.mark.parametrize(("rule", "pod", "expected"), [
    (rules.host_namespaces, spec(hostNetwork=True, hostPID=True, hostIPC=True),
     ("host namespaces", "hostNetwork=true, hostPID=true, hostIPC=true")),
    (rules.host_namespaces, spec(hostNetwork=False), None),
    (rules.host_path_volumes, spec(volumes=[{"name": "a", "hostPath": {}}, {"name": "b", "hostPath": {"path": "/"}},
        {"name": "c"}]),
     ("hostPath volumes", 'volumes "a", "b"')),
    (rules.host_path_volumes, spec(volumes=[{"name": "a", "emptyDir": {}}]), None),
    (rules.host_ports, spec({"ports": [{"hostPort": 1}]}, {"ports": [{"hostPort": 1}]}, {"ports": [{"containerPort": 2}]}),
     ("hostPort", 'containers "i", "c" use hostPort 1')),
    (rules.host_ports, spec({"ports": [{"hostPort": 0}]}), None),
    (rules.privileged, spec(context(privileged=True), context(privileged=True), context(privileged=True)),
     ("privileged", f"{ALL_THREE} must not set securityContext.privileged=true")),
    (rules.privileged, spec(context(privileged=False), {}), None),
    (rules.proc_mount, spec(context(procMount="b"), context(procMount="a"), context(procMount="Default")),
     ("procMount", 'containers "i", "c" must not set securityContext.procMount to "a", "b"')),
    (rules.proc_mount, spec(context(procMount="Default"), {}), None),
    (rules.windows_host_process, spec(None, context(windowsOptions={"hostProcess": True}), **context(
        windowsOptions={"hostProcess": True})),
     ("hostProcess", 'pod and container "c" must not set securityContext.windowsOptions.hostProcess=true')),
    (rules.windows_host_process, spec(None, context(windowsOptions={"hostProcess": False})), None),
    (rules.run_as_user, spec(context(runAsUser=0), context(runAsUser=1), **context(runAsUser=0)),
     ("runAsUser=0", 'pod and container "i" must not set runAsUser=0')),
    (rules.run_as_user, spec(context(runAsUser=1), {}), None),
    (rules.no_escalation, spec({}, context(allowPrivilegeEscalation=True), context(allowPrivilegeEscalation=False)),
     ("allowPrivilegeEscalation != false", 'containers "i", "c" must set securityContext.allowPrivilegeEscalation=false')),
    (rules.run_as_non_root, spec({}, context(runAsNonRoot=True)),
     ("runAsNonRoot != true", 'pod or container "i" must set securityContext.runAsNonRoot=true')),
    (rules.run_as_non_root, spec({}, context(runAsNonRoot=False), **context(runAsNonRoot=True)),
     ("runAsNonRoot != true", 'container "c" must not set securityContext.runAsNonRoot=false')),
    (rules.run_as_non_root, spec({}, {}, **context(runAsNonRoot=False)),
     ("runAsNonRoot != true", "pod must not set securityContext.runAsNonRoot=false")),
    (rules.run_as_non_root, spec({}, {}, **context(runAsNonRoot=True)), None),
    (rules.run_as_non_root, spec(context(runAsNonRoot=True), context(runAsNonRoot=True)), None),
    (rules.capabilities_restricted, spec({}, context(capabilities={"drop": ["ALL"], "add": ["CHOWN", "NET_BIND_SERVICE"]})),
     ("unrestricted capabilities", ('container "i" must set securityContext.capabilities.drop=["ALL"]; container "c" must not '
      'include "CHOWN" in securityContext.capabilities.add'))),
    (rules.capabilities_restricted, spec(context(capabilities={"drop": ["A", "ALL"], "add": ["NET_BIND_SERVICE"]})), None),
    (rules.capabilities_baseline, spec(context(capabilities={"add": ["B", "A"]}), context(capabilities={"add": ["A"]})),
     ("non-default capabilities", 'containers "i", "c" must not include "A", "B" in securityContext.capabilities.add')),
    (rules.seccomp_baseline, spec(context(seccompProfile={"type": "b"}), context(seccompProfile={"type": "Localhost"}), **context(
        seccompProfile={"type": "a"})),
     ("seccompProfile", 'pod and container "i" must not set securityContext.seccompProfile.type to "a", "b"')),
    (rules.seccomp_restricted, spec({}, context(seccompProfile={"type": "RuntimeDefault"})),
     ("seccompProfile", 'pod or container "i" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"')),
    (rules.seccomp_restricted, spec({}, {}, **context(seccompProfile={"type": "Localhost"})), None),
    (rules.seccomp_restricted, spec({}, context(seccompProfile={"type": "x"})),
     ("seccompProfile", 'container "c" must not set securityContext.seccompProfile.type to "x"')),
    (rules.app_armor, spec(context(appArmorProfile={"type": "b"}), context(appArmorProfile={"type": "Localhost"}), **context(
        appArmorProfile={"type": "a"})),
     ("forbidden AppArmor profiles", 'pod and container "i" must not set AppArmor profile type to "a", "b"')),
    (rules.app_armor, spec(context(appArmorProfile={"type": "RuntimeDefault"}), {}), None),
    (rules.selinux(rules.SELINUX_TYPES), spec(
        context(seLinuxOptions={"type": "b", "role": "r"}), context(seLinuxOptions={"type": "container_t"}), **context(
            seLinuxOptions={"type": "a", "user": "u"})),
     ("seLinuxOptions", ('pod and container "i" set forbidden securityContext.seLinuxOptions: types "a", "b"; user may not be '
      "set; role may not be set"))),
    (rules.selinux(rules.SELINUX_TYPES), spec(None, context(seLinuxOptions={"role": "r"})),
     ("seLinuxOptions", 'container "c" set forbidden securityContext.seLinuxOptions: role may not be set')),
    (rules.restricted_volumes, spec(volumes=[
        {"name": "a", "nfs": {}}, {"name": "b", "hostPath": {}}, {"name": "c", "emptyDir": {}}, {"name": "d"}]),
     ("restricted volume types", 'volumes "a", "b", "d" use restricted volume types "hostPath", "nfs", "unknown"')),
    (rules.sysctls(0), spec(**context(sysctls=[{"name": "b"}, {"name": "kernel.shm_rmid_forced"}, {"name": "a"}])),
     ("forbidden sysctls", "b, a")),
])
def test_a_rule_and_its_text(rule: rules.Rule, pod: Tree, expected: rules.Objection | None) -> None:
    """Given several that break a rule, of all sorts of containers / then the text names them all;
    what keeps to it has none.
    """
    assert rule({}, pod) == expected


ACTIONS = ("httpGet", "tcpSocket")


def test_hosts_of_every_probe_and_hook() -> None:
    """Given each probe and each hook with a host / then each is found; without one none is."""
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        for action in ACTIONS:
            assert rules.probe_hosts({}, spec(None, {probe: {action: {"host": "h"}}})) == (
                "probe or lifecycle host", 'container "c" uses probe or lifecycle host "h"')
            assert rules.probe_hosts({}, spec(None, {probe: {action: {"port": 1}}})) is None
    for hook in ("postStart", "preStop"):
        for action in ACTIONS:
            assert rules.probe_hosts({}, spec({"lifecycle": {hook: {action: {"host": "b"}}}}, {
                "livenessProbe": {"httpGet": {"host": "a"}}})) == (
                    "probe or lifecycle host", 'containers "c", "i" use probe or lifecycle hosts "a", "b"')
    assert rules.probe_hosts({}, spec(None, {"livenessProbe": {"exec": {}}, "lifecycle": {}})) is None


def test_annotations_of_app_armor() -> None:
    """Given the annotations of before / then profiles that are neither the runtime's nor the node's
    are told beside the fields.
    """
    prefix = "container.apparmor.security.beta.kubernetes.io/"
    annotations = {
        f"{prefix}a": "unconfined", f"{prefix}b": "", f"{prefix}c": "runtime/default", f"{prefix}d": "localhost/x",
        "other": "unconfined"}
    assert rules.app_armor({"annotations": annotations}, spec({})) == (
        "forbidden AppArmor profile", f'annotation must not set AppArmor profile type to "{prefix}a="unconfined""')
    annotations[f"{prefix}e"] = "x"
    assert rules.app_armor({"annotations": annotations}, spec(context(appArmorProfile={"type": "u"}))) == (
        "forbidden AppArmor profiles", ('container "i" and annotations must not set AppArmor profile type to "u", '
        f'"{prefix}a="unconfined"", "{prefix}e="x""'))


def test_annotations_of_seccomp() -> None:
    """Given annotations for the pod and for its containers / then both are told, sorted."""
    pod, container = "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/"
    annotations = {pod: "x", f"{container}c": "y", f"{container}gone": "z"}
    assert rules.seccomp_annotations({"annotations": annotations}, spec(None, {})) == (
        "seccompProfile", f'forbidden annotations {container}c="y", {pod}="x"')


def test_names_that_are_known() -> None:
    """Given capabilities, types and volumes / then exactly upstream's lists pass."""
    default = ["AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"]
    assert rules.capabilities_baseline({}, spec(context(capabilities={"add": default}))) is None
    for type_ in ("", "container_t", "container_init_t", "container_kvm_t"):
        assert Standard("baseline", "v1.30").objections({}, spec(context(seLinuxOptions={"type": type_}))) == []
    engine = spec(context(seLinuxOptions={"type": "container_engine_t"}))
    found = [minor for minor in range(38) if not Standard("baseline", f"v1.{minor}").objections({}, engine)]
    assert found == list(range(31, 38))
    harmless = ["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
        "secret"]
    assert rules.restricted_volumes({}, spec(volumes=[{"name": name, name: {}} for name in harmless])) is None
    others = ["awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker",
        "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume",
        "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"]
    objection = rules.restricted_volumes({}, spec(volumes=[{"name": name, name: {}} for name in others]))
    assert objection is not None
    assert objection[1].partition(" use restricted volume types ")[2] == ", ".join(f'"{name}"' for name in others)


@pytest.mark.parametrize(("since", "names"), [
    (0, ("kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies net.ipv4.ping_group_range "
     "net.ipv4.ip_unprivileged_port_start")), (27, "net.ipv4.ip_local_reserved_ports"),
    (29, "net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes"),
    (32, "net.ipv4.tcp_rmem net.ipv4.tcp_wmem"), (37, "net.ipv4.tcp_slow_start_after_idle net.ipv4.tcp_notsent_lowat")])
def test_sysctls_by_version(since: int, names: str) -> None:
    """Given each harmless sysctl / then it is allowed from its version on."""
    for name in names.split():
        pod = spec(**context(sysctls=[{"name": name}]))
        assert [minor for minor in range(38) if not Standard("baseline", f"v1.{minor}").objections({}, pod)] == list(
            range(since, 38)), name


@pytest.mark.parametrize(("level", "pod", "until"), [
    ("baseline", spec(context(procMount="Unmasked"), hostUsers=False), range(35)),
    ("restricted", spec(context(procMount="Unmasked"), hostUsers=False), range(38)),
    ("baseline", spec(None, {"livenessProbe": {"httpGet": {"host": "h"}}}), range(34, 38)),
    ("restricted", spec(context(runAsNonRoot=False), hostUsers=False), range(35)),
    ("restricted", spec(context(runAsNonRoot=True, runAsUser=0), hostUsers=False), range(23, 35)),
    ("restricted", spec(context(runAsNonRoot=True, runAsUser=0), hostUsers=True), range(23, 38)),
])
def test_users_of_the_pods_own_since_1_35(level: str, pod: Tree, until: range) -> None:
    """Given a pod with a user namespace of its own / then what is of users binds it until 1.34."""
    reasons = {"procMount", "probe or lifecycle host", "runAsNonRoot != true", "runAsUser=0"}
    found = [
        minor for minor in range(38)
        if any(reason in reasons for reason, _ in Standard(level, f"v1.{minor}").objections({}, pod))]
    assert found == list(until)


@pytest.mark.parametrize(("version", "passes"), [
    ("latest", True), ("v1.0", True), ("v1.37", True), ("v1.999", True), ("v1.01", False), ("v1.", False), ("1.20", False),
    ("v2.0", False), ("v1.1.1", False), ("", False)])
def test_versions_in_labels(version: str, passes: bool) -> None:
    """Given versions in the label of what is enforced / then those that are none are 422."""
    obj = {"metadata": {"name": "t", "labels": {"pod-security.kubernetes.io/enforce-version": version}}}
    attrs = World().attributes(NAMESPACES, obj)
    if passes:
        PodSecurity().validate(attrs)
        return
    with pytest.raises(APIError) as caught:
        PodSecurity().validate(attrs)
    assert (caught.value.code, caught.value.message) == (422, (
        'Namespace "t" is invalid: metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: '
        f'"{version}": must be "latest" or "v1.x"'))


PRIVILEGED = spec(None, context(privileged=True))


def world(**labels: str) -> World:
    made = World()
    named = {f"pod-security.kubernetes.io/{name.replace('_', '-')}": value for name, value in labels.items()}
    made.put("", "namespaces", {"metadata": {"name": "t", "labels": named}})
    return made


@pytest.mark.parametrize(("new", "old", "looked_at"), [
    ({"containers": [{"name": "c", "image": "2"}]}, {"containers": [{"name": "c", "image": "1"}]}, True),
    ({"containers": [{"name": "c", "image": "1"}]}, {"containers": [{"name": "b", "image": "1"}]}, False),
    ({"initContainers": [{"name": "c", "image": "2"}]}, {"initContainers": [{"name": "c", "image": "1"}]}, True),
    ({"initContainers": [{"name": "c", "image": "1"}]}, {}, True),
    ({"ephemeralContainers": [{"name": "c", "image": "1"}]}, {}, True),
    ({"ephemeralContainers": [{"name": "c", "image": "1"}]}, {"ephemeralContainers": [{"name": "c", "image": "1"}]}, False),
    ({"ephemeralContainers": [{"name": "c", "image": "1"}]}, {"ephemeralContainers": [{"name": "d", "image": "1"}]}, True),
    ({}, {"ephemeralContainers": [{"name": "d", "image": "1"}]}, False),
])
def test_which_updates_are_looked_at(new: Tree, old: Tree, looked_at: bool) -> None:
    """Given an update of a pod that breaks the standard / then it is refused where containers or
    images are new.
    """
    trees = [{"metadata": {"name": "p"}, "spec": {**one, "hostNetwork": True}} for one in (new, old)]
    attrs = world(enforce="baseline").attributes(PODS, *trees)
    if not looked_at:
        PodSecurity().validate(attrs)
        return
    with pytest.raises(APIError, match="violates PodSecurity"):
        PodSecurity().validate(attrs)


def test_pods_are_warned_of_beside_what_is_enforced() -> None:
    """Given a level to enforce and a stricter one to warn of / when a pod keeps to the first / then
    it is warned by the second; a template without a spec is not looked at.
    """
    made = world(enforce="privileged", warn="baseline", warn_version="v1.20")
    attrs = made.attributes(PODS, {"metadata": {"name": "p"}, "spec": PRIVILEGED})
    PodSecurity().validate(attrs)
    assert attrs.ctx.warnings == [
        'would violate PodSecurity "baseline:v1.20": privileged (container "c" must not set securityContext.privileged=true)']
    templates: list[Tree] = [{}, {"template": {}}, {"template": {"spec": spec(None, {})}}]
    for template in templates:
        attrs = made.attributes(kind("batch", "v1", "jobs"), {"metadata": {"name": "j"}, "spec": template})
        PodSecurity().validate(attrs)
        assert attrs.ctx.warnings == []


@pytest.mark.parametrize(("new", "old", "warned"), [
    ({"enforce": "baseline"}, {"enforce": "privileged"}, True), ({"enforce": "baseline"}, {"enforce": "baseline"}, False),
    ({"enforce": "privileged", "enforce_version": "v1.1"}, {}, False),
    ({"enforce": "baseline"}, {"enforce": "restricted"}, False),
    ({"enforce": "baseline", "enforce_version": "v1.20"}, {"enforce": "baseline"}, True),
    ({"enforce": "baseline", "enforce_version": "v1.20"}, {"enforce": "restricted"}, True),
    ({"warn": "baseline"}, {}, False),
])
def test_when_the_pods_of_a_namespace_are_looked_at(new: Tree, old: Tree, warned: bool) -> None:
    """Given pods that break the baseline / when a namespace's level rises or its version changes /
    then they are told, sorted, with how many more there are.
    """
    made = World()
    for name in "bac":
        made.put("", "pods", {"metadata": {"name": name, "namespace": "t"}, "spec": PRIVILEGED})
    made.put("", "pods", {"metadata": {"name": "x", "namespace": "t"}, "spec": spec(hostPID=True, hostNetwork=True)})
    trees = [world(**each).objects["", "namespaces", "", "t"] for each in (new, old)]
    attrs = made.attributes(NAMESPACES, *trees)
    PodSecurity().validate(attrs)
    level = f'baseline:{new.get("enforce_version", "latest")}'
    assert attrs.ctx.warnings == ([
        f'existing pods in namespace "t" violate the new PodSecurity enforce level "{level}"',
        "a (and 2 other pods): privileged", "x: host namespaces"] if warned else [])
