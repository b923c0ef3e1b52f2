"""PodSecurity: namespace labels, levels, versions, and the rules' wording."""

import pytest

from fakekube.admission.pod_security import PodSecurity
from fakekube.admission.pod_security_levels import Standard, policy_of
from fakekube.apimachinery.errors import APIError
from tests.admission.world import World, kind

PODS = kind("", "v1", "pods")
NAMESPACES = kind("", "v1", "namespaces")
CRON_JOBS = kind("batch", "v1", "cronjobs")
PREFIX = "pod-security.kubernetes.io/"


def world_with(**labels):
    world = World()
    named = {PREFIX + name.replace("_", "-"): value for name, value in labels.items()}
    world.put("", "namespaces", {"metadata": {"name": "t", "labels": named}})
    return world


def pod(name="p", context=None, **spec):
    container = {"name": "a", "image": "a:1", **({"securityContext": context} if context else {})}
    return {"metadata": {"name": name, "namespace": "t"}, "spec": {"containers": [container], **spec}}


def restricted_pod(**spec):
    context = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return pod(context=context, **spec)


def namespace(**labels):
    named = {PREFIX + name.replace("_", "-"): value for name, value in labels.items()}
    return {"metadata": {"name": "t", "labels": named}}


def objections(standard, pod):
    return [reason for reason, _detail in standard.objections(pod["metadata"], pod["spec"])]


def test_a_pod_that_violates_the_enforced_standard_is_refused():
    """Given baseline is enforced / when a pod takes the host's network / then 403 says what is
    wrong.
    """
    world = world_with(enforce="baseline")
    with pytest.raises(APIError) as caught:
        PodSecurity().validate(world.attributes(PODS, pod(hostNetwork=True, context={"privileged": True})))
    assert caught.value.code == 403
    assert caught.value.message == (
        'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), '
        'privileged (container "a" must not set securityContext.privileged=true)'
    )


def test_unlabelled_namespaces_allow_everything():
    """Given no labels / when a privileged pod is made / then it is admitted silently."""
    attrs = world_with().attributes(PODS, pod(context={"privileged": True}))
    PodSecurity().validate(attrs)
    assert attrs.ctx.warnings == []


def test_enforcing_a_level_warns_about_what_makes_pods():
    """Given restricted is enforced / when a CronJob's pods would violate it / then it is admitted
    with a warning.
    """
    template = {"spec": restricted_pod(hostPID=True)["spec"]}
    obj = {"metadata": {"name": "c"}, "spec": {"jobTemplate": {"spec": {"template": template}}}}
    attrs = world_with(enforce="restricted").attributes(CRON_JOBS, obj)
    PodSecurity().validate(attrs)
    assert attrs.ctx.warnings == ['would violate PodSecurity "restricted:latest": host namespaces (hostPID=true)']


def test_a_pod_update_is_looked_at_only_when_images_change():
    """Given a pod from before the label / when its labels or its image change / then only the image
    counts.
    """
    world, old = world_with(enforce="baseline"), pod(hostNetwork=True)
    labelled = pod(hostNetwork=True)
    PodSecurity().validate(world.attributes(PODS, labelled, old))
    changed = pod(hostNetwork=True)
    changed["spec"]["containers"][0]["image"] = "a:2"
    with pytest.raises(APIError):
        PodSecurity().validate(world.attributes(PODS, changed, old))


def test_unknown_labels_are_invalid_unless_they_were_there():
    """Given a bad label / when it is set and when it stays / then 422, then nothing."""
    bad = namespace(enforce="strict", warn_version="1.0")
    world = World()
    with pytest.raises(APIError) as caught:
        PodSecurity().validate(world.attributes(NAMESPACES, bad))
    assert caught.value.code == 422
    assert caught.value.message == (
        'Namespace "t" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": '
        "must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: "
        'Invalid value: "1.0": must be "latest" or "v1.x"]'
    )
    PodSecurity().validate(world.attributes(NAMESPACES, bad, bad))


def test_tightening_a_namespace_warns_of_the_pods_it_has():
    """Given pods of two sorts / when baseline is enforced / then one warning for each set of
    reasons.
    """
    world = World()
    for tree in (pod("one", hostNetwork=True), pod("two", hostNetwork=True), pod("three", context={"privileged": True})):
        world.put("", "pods", tree)
    attrs = world.attributes(NAMESPACES, namespace(enforce="baseline"), namespace())
    PodSecurity().validate(attrs)
    assert attrs.ctx.warnings == [
        'existing pods in namespace "t" violate the new PodSecurity enforce level "baseline:latest"',
        "one (and 1 other pod): host namespaces",
        "three: privileged",
    ]


def test_loosening_a_namespace_says_nothing():
    """Given restricted was enforced / when it becomes baseline / then no pod is looked at."""
    world = World()
    world.put("", "pods", pod(hostNetwork=True))
    attrs = world.attributes(NAMESPACES, namespace(enforce="baseline"), namespace(enforce="restricted"))
    PodSecurity().validate(attrs)
    assert attrs.ctx.warnings == []


@pytest.mark.parametrize(
    ("labels", "enforce", "warn"),
    [
        ({}, "privileged:latest", "privileged:latest"),
        ({"enforce": "baseline"}, "baseline:latest", "baseline:latest"),
        ({"enforce": "baseline", "enforce-version": "v1.20"}, "baseline:v1.20", "baseline:v1.20"),
        ({"enforce": "restricted", "warn": "baseline"}, "restricted:latest", "baseline:latest"),
        ({"enforce": "nonsense"}, "restricted:latest", "privileged:latest"),
        ({"warn": "nonsense"}, "privileged:latest", "privileged:latest"),
    ],
)
def test_labels_make_a_policy(labels, enforce, warn):
    """Given labels / when read / then what is enforced and what is warned of."""
    policy, _errors = policy_of({PREFIX + name: value for name, value in labels.items()})
    assert (str(policy.enforce), str(policy.warn)) == (enforce, warn)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"hostIPC": True}, ("host namespaces", "hostIPC=true")),
        ({"volumes": [{"name": "h", "hostPath": {"path": "/"}}]}, ("hostPath volumes", 'volume "h"')),
        (
            {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
            ("forbidden sysctls", "kernel.msgmax"),
        ),
        (
            {"securityContext": {"seLinuxOptions": {"type": "spc_t", "user": "u"}}},
            ("seLinuxOptions", 'pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set'),
        ),
        (
            {"securityContext": {"windowsOptions": {"hostProcess": True}}},
            ("hostProcess", "pod must not set securityContext.windowsOptions.hostProcess=true"),
        ),
        (
            {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
            ("forbidden AppArmor profile", 'pod must not set AppArmor profile type to "Unconfined"'),
        ),
    ],
)
def test_baseline_rules_on_pods(spec, expected):
    """Given one thing too many / when held against baseline / then that rule speaks."""
    obj = pod(**spec)
    assert Standard("baseline").objections(obj["metadata"], obj["spec"]) == [expected]


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({"ports": [{"hostPort": 80}, {"hostPort": 443}]}, ("hostPort", 'container "a" uses hostPorts 443, 80')),
        (
            {"livenessProbe": {"httpGet": {"host": "h"}}},
            ("probe or lifecycle host", 'container "a" uses probe or lifecycle host "h"'),
        ),
        (
            {"securityContext": {"procMount": "Unmasked"}},
            ("procMount", 'container "a" must not set securityContext.procMount to "Unmasked"'),
        ),
        (
            {"securityContext": {"capabilities": {"add": ["SYS_ADMIN", "CHOWN"]}}},
            (
                "non-default capabilities",
                'container "a" must not include "SYS_ADMIN" in securityContext.capabilities.add',
            ),
        ),
        (
            {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
            (
                "seccompProfile",
                'container "a" must not set securityContext.seccompProfile.type to "Unconfined"',
            ),
        ),
    ],
)
def test_baseline_rules_on_containers(container, expected):
    """Given one thing too many in a container / when held against baseline / then that rule speaks.
    """
    obj = pod()
    obj["spec"]["containers"][0].update(container)
    assert Standard("baseline").objections(obj["metadata"], obj["spec"]) == [expected]


def test_restricted_wants_everything_said():
    """Given a bare pod and a careful one / when held against restricted / then four objections and
    none.
    """
    assert objections(Standard("restricted"), pod()) == [
        "allowPrivilegeEscalation != false",
        "unrestricted capabilities",
        "runAsNonRoot != true",
        "seccompProfile",
    ]
    assert objections(Standard("restricted"), restricted_pod()) == []


def test_restricted_replaces_the_baseline_rules_it_tightens():
    """Given a host path / when held against restricted / then the volume rule speaks once, with the
    type.
    """
    obj = restricted_pod(volumes=[{"name": "h", "hostPath": {"path": "/"}}])
    assert Standard("restricted").objections(obj["metadata"], obj["spec"]) == [
        ("restricted volume types", 'volume "h" uses restricted volume type "hostPath"')
    ]


@pytest.mark.parametrize(
    ("version", "spec", "expected"),
    [
        ("v1.7", {}, ["runAsNonRoot != true"]),
        ("v1.18", {}, ["allowPrivilegeEscalation != false", "runAsNonRoot != true"]),
        (
            "v1.24",
            {"os": {"name": "windows"}},
            [
                "allowPrivilegeEscalation != false",
                "unrestricted capabilities",
                "runAsNonRoot != true",
                "seccompProfile",
            ],
        ),
        ("latest", {"os": {"name": "windows"}}, ["runAsNonRoot != true"]),
        ("latest", {"os": {"name": "windows"}, "hostUsers": False}, []),
        ("v1.99", {"os": {"name": "windows"}, "hostUsers": False}, []),
    ],
)
def test_versions_have_their_own_rules(version, spec, expected):
    """Given a bare pod / when held against restricted of a version / then only the rules of that
    time speak.
    """
    assert objections(Standard("restricted", version), pod(**spec)) == expected


def test_old_versions_read_seccomp_from_annotations():
    """Given an annotation / when held against v1.18 and v1.19 / then only the first minds."""
    obj = pod()
    obj["metadata"]["annotations"] = {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
    assert objections(Standard("baseline", "v1.18"), obj) == ["seccompProfile"]
    assert objections(Standard("baseline", "v1.19"), obj) == []


@pytest.mark.parametrize(("level", "change", "context", "since"), [
    ("restricted", {}, {"allowPrivilegeEscalation": None}, 8),
    ("restricted", {}, {"capabilities": None}, 22),
    ("restricted", {}, {"runAsUser": 0}, 23),
    ("restricted", {}, {"seccompProfile": None}, 19),
    ("restricted", {}, {"runAsNonRoot": None}, 0),
    ("restricted", {"volumes": [{"name": "h", "hostPath": {"path": "/"}}]}, {}, 0),
    ("baseline", {}, {"seccompProfile": {"type": "Unconfined"}}, 19),
])
def test_a_rule_holds_from_its_version_on(level, change, context, since):
    """Given a pod that breaks one rule / then it is refused from the minor version of that rule on,
    and not before.
    """
    whole = restricted_pod(**change)
    own = whole["spec"]["containers"][0]["securityContext"]
    own.update(context)
    for name in [name for name, value in own.items() if value is None]:
        del own[name]
    refused = [minor for minor in range(38) if Standard(level, f"v1.{minor}").objections(whole["metadata"], whole["spec"])]
    assert refused == list(range(since, 38))


WINDOWS_FREE = (("allowPrivilegeEscalation", 8), ("capabilities", 22), ("seccompProfile", 19))


@pytest.mark.parametrize(("name", "since"), WINDOWS_FREE)
def test_rules_of_linux_do_not_bind_windows_since_1_25(name, since):
    """Given a pod for Windows without what Linux needs / then it is refused until 1.24 alone."""
    whole = restricted_pod(os={"name": "windows"})
    del whole["spec"]["containers"][0]["securityContext"][name]
    refused = [
        minor for minor in range(38)
        if Standard("restricted", f"v1.{minor}").objections(whole["metadata"], whole["spec"])]
    assert refused == list(range(since, 25))


def test_every_mode_is_read_from_labels():
    """Given levels and versions that are none, in each mode / then each is told by its label; what
    is known is taken, an unknown level to enforce is the strictest.
    """
    policy, wrong = policy_of({
        f"{PREFIX}enforce": "some", f"{PREFIX}audit": "none", f"{PREFIX}warn": "restricted",
        f"{PREFIX}warn-version": "v1.30", f"{PREFIX}audit-version": "soon", f"{PREFIX}enforce-version": "v1.01"})
    assert [str(error).partition(":")[0] for error in wrong] == [
        f"metadata.labels[{PREFIX}{name}]" for name in ("enforce", "enforce-version", "audit", "audit-version")]
    assert policy == (Standard("restricted", "latest"), Standard("restricted", "v1.30"))


def test_which_writes_are_looked_at():
    """Given kinds, operations and sub-resources / then pods, what makes pods, and namespaces."""
    plugin = PodSecurity()
    asked = [
        (PODS, "CREATE", ""), (PODS, "UPDATE", "ephemeralcontainers"), (PODS, "UPDATE", "status"), (PODS, "DELETE", ""),
        (NAMESPACES, "UPDATE", ""), (NAMESPACES, "UPDATE", "status"), (CRON_JOBS, "CREATE", ""), (CRON_JOBS, "UPDATE", "status"),
        (kind("", "v1", "configmaps"), "CREATE", "")]
    assert [bool(plugin.handles(*each)) for each in asked] == [True, True, False, False, True, False, True, False, False]


@pytest.mark.parametrize(("profile", "refused"), [
    ("runtime/default", False), ("docker/default", False), ("localhost/mine", False), ("unconfined", True), ("", True)])
def test_seccomp_annotations_of_old(profile, refused):
    """Given the annotation of releases before 1.19 / then the runtime's own profiles and those of
    the node are fine, and others are named.
    """
    whole = pod()
    whole["metadata"]["annotations"] = {"container.seccomp.security.alpha.kubernetes.io/a": profile, "other": "unconfined"}
    found = Standard("baseline", "v1.18").objections(whole["metadata"], whole["spec"])
    text = f'forbidden annotation container.seccomp.security.alpha.kubernetes.io/a="{profile}"'
    assert found == ([("seccompProfile", text)] if refused else [])


def test_a_namespace_whose_pods_are_fine_is_not_warned_of():
    """Given pods that keep to the standard that is to be enforced / then there is no warning; of
    one that does not, one.
    """
    world = world_with()
    world.put("", "pods", {**restricted_pod(), "metadata": {"name": "fine", "namespace": "t"}})
    attrs = world.attributes(NAMESPACES, namespace(enforce="baseline"), namespace(), operation="UPDATE")
    PodSecurity().validate(attrs)
    assert attrs.ctx.warnings == []
    world.put("", "pods", {**pod(hostNetwork=True), "metadata": {"name": "bad", "namespace": "t"}})
    PodSecurity().validate(attrs)
    assert attrs.ctx.warnings == [
        'existing pods in namespace "t" violate the new PodSecurity enforce level "baseline:latest"', "bad: host namespaces"]
