"""Plugins that are off by default, rule by rule."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.admission.event_rate_limit import EventRateLimit
from fakekube.admission.optional import DenyServiceExternalIPs, NamespaceExists, OwnerReferencesPermissionEnforcement
from fakekube.admission.optional_pods import (
    AlwaysPullImages,
    ExtendedResourceToleration,
    LimitPodHardAntiAffinityTopology,
    PodNodeSelector,
    PodTolerationRestriction,
)
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Access, Decision
from fakekube.registry.attributes import Attributes
from tests.admission.world import World, kind

PODS, EVENTS, MAPS = kind("", "v1", "pods"), kind("", "v1", "events"), kind("", "v1", "configmaps")
A = {"key": "a", "operator": "Exists"}


def pod(**spec: Any) -> Tree:
    return {"metadata": {"name": "p", "namespace": "t"}, "spec": spec}


def world(**annotations: str) -> World:
    made = World()
    named = {f"scheduler.alpha.kubernetes.io/{name}": value for name, value in annotations.items()}
    made.put("", "namespaces", {"metadata": {"name": "t", "annotations": named}})
    return made


def ready(plugin: Any, **parts: Any) -> Any:
    """A plugin that has been handed parts of a server."""
    plugin.initialize(SimpleNamespace(**{"configuration": {}, **parts}))
    return plugin


def told(plugin: Any, attrs: Attributes, *steps: str) -> tuple[int, str]:
    """Code and text of the refusal; (0, "") where it passes."""
    try:
        for step in steps or ("admit", "validate"):
            getattr(plugin, step)(attrs)
    except APIError as error:
        return error.code, error.message.removeprefix('pods "p" is forbidden: ')
    return 0, ""


def test_images_of_containers_and_volumes_are_pulled() -> None:
    """Given containers of all three lists and a volume made of an image / then all are pulled
    always, other volumes stay, and a policy that came afterwards is refused.
    """
    lists = ("initContainers", "containers", "ephemeralContainers")
    attrs = world().attributes(PODS, pod(
        **{name: [{"name": name, "imagePullPolicy": "Never"}] for name in lists},
        volumes=[{"name": "e", "emptyDir": {}}, {"name": "i", "image": {"reference": "r"}}]))
    AlwaysPullImages().admit(attrs)
    assert attrs.obj is not None
    assert attrs.obj["spec"] == {
        **{name: [{"name": name, "imagePullPolicy": "Always"}] for name in lists},
        "volumes": [{"name": "e", "emptyDir": {}}, {"name": "i", "image": {"reference": "r", "pullPolicy": "Always"}}]}
    assert told(AlwaysPullImages(), attrs, "validate") == (0, "")
    bare = world().attributes(PODS, pod(containers=[{"name": "c", "imagePullPolicy": "Always"}, {"name": "d"}]))
    assert told(AlwaysPullImages(), bare, "validate") == (
        403, 'spec.containers[1].imagePullPolicy: Unsupported value: "": supported values: "Always"')


def test_anti_affinity_that_is_preferred_does_not_count() -> None:
    """Given pods without affinity, with preferred zones, with hosts and with a second term / then
    only a required key other than the host's is refused.
    """
    def apart(*keys: str) -> Tree:
        terms = [{"topologyKey": key} for key in keys]
        return pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})

    preferred = pod(affinity={"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]}})
    for tree, code in (
        (pod(), 0), (preferred, 0), (pod(affinity={"nodeAffinity": {}}), 0), (apart("kubernetes.io/hostname"), 0),
        (apart("kubernetes.io/hostname", "z"), 403), (apart(""), 403),
    ):
        assert told(LimitPodHardAntiAffinityTopology(), world().attributes(PODS, tree))[0] == code


def asking(*names: str) -> list[Tree]:
    return [{"name": "c", "resources": {"requests": dict.fromkeys(names, "1")}}]


B = {"key": "example.com/b", "operator": "Exists", "effect": "NoSchedule"}


@pytest.mark.parametrize(("spec", "expected"), [
    ({"containers": asking("cpu", "kubernetes.io/x", "a.kubernetes.io/x", "requests.example.com/y")}, None),
    ({"containers": asking("example.com/b")}, [B]), ({"initContainers": asking("example.com/b")}, [B]),
    ({"ephemeralContainers": asking("example.com/b")}, None),
    ({"containers": asking("example.com/b", "example.com/a")}, [{**B, "key": "example.com/a"}, B]),
    *(({"containers": asking("example.com/b"), "tolerations": [own]}, [own]) for own in (
        {"operator": "Exists"}, B, {"key": "example.com/b", "operator": "Exists"})),
    *(({"containers": asking("example.com/b"), "tolerations": [own]}, [own, B]) for own in (
        {**B, "effect": "NoExecute"}, {**B, "key": "other"}, {**B, "operator": "Equal"}, {"key": "example.com/b"},
        {**B, "tolerationSeconds": 5})),
])
def test_tolerations_of_devices(spec: Tree, expected: list[Tree] | None) -> None:
    """Given requests of devices and of what is Kubernetes' own / then devices alone are tolerated,
    unless the pod does so already.
    """
    attrs = world().attributes(PODS, pod(**spec))
    ExtendedResourceToleration().admit(attrs)
    assert attrs.obj is not None
    assert attrs.obj["spec"].get("tolerations") == expected


@pytest.mark.parametrize(("annotation", "selectors", "own", "expected"), [
    ({}, {}, {"x": "1"}, {"x": "1"}), ({}, {}, None, None), ({}, {"clusterDefaultNodeSelector": "a=b"}, None, {"a": "b"}),
    ({"node-selector": " c = d ,e=f"}, {"clusterDefaultNodeSelector": "a=b"}, {"x": "1"}, {"c": "d", "e": "f", "x": "1"}),
    ({"node-selector": ""}, {"clusterDefaultNodeSelector": "a=b"}, None, None),
    ({"node-selector": "c=d"}, {}, {"c": "e"}, "pod node label selector conflicts with its namespace node label selector"),
    ({"node-selector": "c=d"}, {"t": "c=d"}, {"c": "d"}, {"c": "d"}),
    ({}, {"t": "c=d"}, {"c": "e"}, "pod node label selector labels conflict with its namespace whitelist"),
    ({}, {"u": "c=d"}, {"c": "e"}, {"c": "e"}), ({"node-selector": "c"}, {}, None, "invalid selector: [c]"),
])
def test_node_selectors_of_namespaces(annotation: Tree, selectors: Tree, own: Tree | None, expected: Tree | str | None) -> None:
    """Given selectors of a namespace, of the cluster and of the list of what is allowed / then a
    pod has them all, or is refused.
    """
    plugin = ready(PodNodeSelector(), configuration={"PodNodeSelector": {"podNodeSelectorPluginConfig": selectors}})
    attrs = world(**annotation).attributes(PODS, pod(**({} if own is None else {"nodeSelector": own})))
    code, text = told(plugin, attrs)
    if isinstance(expected, str):
        assert (code, text) == (500 if "invalid" in expected else 403, expected)
        return
    assert (code, text) == (0, "")
    assert attrs.obj is not None
    assert attrs.obj["spec"].get("nodeSelector") == expected


def test_a_namespace_that_is_gone() -> None:
    """Given no namespace / then the plugins that read its annotations answer 404, as does the one
    that wants it there.
    """
    for plugin in (PodNodeSelector(), PodTolerationRestriction(), NamespaceExists()):
        attrs = World().attributes(PODS, pod(tolerations=[A]))
        assert told(plugin, attrs, "validate") == (404, 'namespaces "t" not found')
    assert told(NamespaceExists(), world().attributes(PODS, pod()), "validate") == (0, "")


PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
WHITE = "pod tolerations (possibly merged with namespace default tolerations) conflict with its {} whitelist"


@pytest.mark.parametrize(("annotation", "configuration", "spec", "expected"), [
    ({}, {}, {}, None), ({}, {"default": [A]}, {}, [A]), ({"defaultTolerations": "[]"}, {"default": [A]}, {}, None),
    ({"defaultTolerations": ""}, {"default": [A]}, {}, None),
    ({"defaultTolerations": '[{"key":"a","operator":"Exists"}]'}, {"default": [PRESSURE]}, {"tolerations": [A]}, [A]),
    ({}, {}, {"containers": asking("cpu")}, [PRESSURE]),
    ({}, {}, {"initContainers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]}, [PRESSURE]),
    ({}, {}, {"resources": {"requests": {"cpu": "1"}}}, [PRESSURE]),
    ({}, {"whitelist": [A]}, {"tolerations": [A]}, [A]),
    ({}, {"whitelist": [A]}, {"tolerations": [{"key": "b"}]}, WHITE.format("cluster")),
    ({"tolerationsWhitelist": '[{"key":"a"}]'}, {"whitelist": [A]}, {"tolerations": [A]}, WHITE.format("namespace")),
    ({"tolerationsWhitelist": "[]"}, {"whitelist": [A]}, {"tolerations": [{"key": "b"}]}, [{"key": "b"}]),
    ({"tolerationsWhitelist": "null"}, {}, {"tolerations": [{"key": "b"}]}, [{"key": "b"}]),
    ({"tolerationsWhitelist": "{}"}, {}, {"tolerations": [A]},
     "json: cannot unmarshal object into Go value of type []v1.Toleration"),
])
def test_tolerations_of_namespaces(
    annotation: Tree, configuration: Tree, spec: Tree, expected: list[Tree] | str | None,
) -> None:
    """Given tolerations of a namespace and of the cluster / then a new pod has them, one that asks
    for memory that of pressure, and what is not allowed is refused.
    """
    plugin = ready(PodTolerationRestriction(), configuration={"PodTolerationRestriction": configuration})
    attrs = world(**annotation).attributes(PODS, pod(**spec))
    code, text = told(plugin, attrs)
    assert (code, text) == ((500, expected) if isinstance(expected, str) else (0, ""))
    if not isinstance(expected, str):
        assert attrs.obj is not None
        assert attrs.obj["spec"].get("tolerations") == expected


@pytest.mark.parametrize(("allowed", "own", "passes"), [
    ({"operator": "Exists"}, {"key": "a", "value": "b", "effect": "NoExecute", "tolerationSeconds": 3}, True),
    ({"key": "a", "value": "b"}, {"key": "a", "value": "b", "operator": "Equal"}, True),
    ({"key": "a", "value": "b"}, {"key": "a", "value": "c"}, False), ({"key": "a", "value": "b"}, A, False), ({}, {}, False),
    ({**A, "effect": "NoExecute"}, {**A, "effect": "NoSchedule"}, False),
    ({**A, "effect": "NoExecute"}, {**A, "effect": "NoExecute"}, True),
    ({**A, "tolerationSeconds": 5}, {**A, "tolerationSeconds": 5}, True),
    ({**A, "tolerationSeconds": 5}, {**A, "tolerationSeconds": 6}, False), ({**A, "tolerationSeconds": 5}, A, False),
    (A, {"operator": "Exists"}, False),
])
def test_which_toleration_is_wide_enough(allowed: Tree, own: Tree, passes: bool) -> None:
    """Given one toleration that is allowed / then what it covers passes, and nothing else."""
    plugin = ready(PodTolerationRestriction(), configuration={"PodTolerationRestriction": {"whitelist": [allowed]}})
    attrs = world().attributes(PODS, pod(tolerations=[own]))
    assert told(plugin, attrs) == ((0, "") if passes else (500, WHITE.format("cluster")))


def test_defaults_are_for_new_pods_alone() -> None:
    """Given default tolerations / when a pod is updated / then none is added."""
    plugin = ready(PodTolerationRestriction(), configuration={"PodTolerationRestriction": {"default": [A]}})
    attrs = world().attributes(PODS, pod(), pod())
    assert told(plugin, attrs) == (0, "")
    assert attrs.obj == pod()


class Clock:
    """Says the time that it is told."""

    now = 0.0

    def time(self) -> float:
        return self.now


def event(user: str = "u", namespace: str = "t", **fields: Any) -> Attributes:
    attrs = world().attributes(EVENTS, {"metadata": {"name": "e"}, **fields}, namespace=namespace)
    attrs.ctx.user = attrs.ctx.user._replace(name=user)
    return attrs


OBJECT = {"kind": "Pod", "namespace": "n", "name": "p", "uid": "u", "apiVersion": "v1"}
REFUSED = "Too many requests: limit reached on type {} for key {}"


@pytest.mark.parametrize(("type_", "first", "second", "key"), [
    ("Server", {}, {"user": "v", "namespace": "o"}, ""), ("Namespace", {}, {"user": "v"}, "t"),
    ("User", {}, {"namespace": "o"}, "u"),
    ("SourceAndObject", {"source": {"component": "c", "host": "h"}, "involvedObject": OBJECT}, {
        "source": {"component": "c", "host": "h"}, "involvedObject": OBJECT, "user": "v"}, "chPodnpuv1"),
])
def test_what_events_are_counted_by(type_: str, first: Tree, second: Tree, key: str) -> None:
    """Given a limit of one event / when a second of the same key comes / then it is 429; a dry run
    takes nothing.
    """
    clock = Clock()
    limits = {"EventRateLimit": {"limits": [{"type": type_, "qps": 1, "burst": 1}]}}
    plugin = ready(EventRateLimit(), clock=clock, configuration=limits)
    dry = event(**first)
    dry.ctx.dry_run = True
    for _ in range(2):
        assert told(plugin, dry, "validate") == (0, "")
    assert told(plugin, event(**first), "validate") == (0, "")
    assert told(plugin, event(**second), "validate") == (429, REFUSED.format(type_, key))
    clock.now = 0.5
    assert told(plugin, event(**first), "validate")[0] == 429
    clock.now = 1.0
    assert told(plugin, event(**first), "validate") == (0, "")


def test_buckets_are_filled_no_further_and_forgotten() -> None:
    """Given a burst of two and room for two keys / when time passes / then no more than two are
    there; when a third key comes / then the one used longest ago begins anew.
    """
    clock = Clock()
    limits = {"EventRateLimit": {"limits": [{"type": "User", "qps": 1, "burst": 2, "cacheSize": 2}]}}
    plugin = ready(EventRateLimit(), clock=clock, configuration=limits)

    def codes(*users: str) -> list[int]:
        return [told(plugin, event(user), "validate")[0] for user in users]

    assert codes("a", "a", "a") == [0, 0, 429]
    clock.now = 100.0
    assert codes("a", "a", "a", "b", "b", "a", "b") == [0, 0, 429, 0, 0, 429, 429]
    assert codes("c", "b", "a", "a") == [0, 429, 0, 0]


def test_several_limits_are_told_together() -> None:
    """Given two limits / when both are reached / then both are told; without a configuration there
    is none.
    """
    limits = {"EventRateLimit": {"limits": [{"type": "User"}, {"type": "Namespace"}]}}
    plugin = ready(EventRateLimit(), clock=Clock(), configuration=limits)
    assert told(plugin, event(), "validate") == (429, (
        "Too many requests: [limit reached on type User for key u, limit reached on type Namespace for key t]"))
    assert told(ready(EventRateLimit(), clock=Clock()), event(), "validate") == (0, "")


def test_external_addresses_may_stay_and_go() -> None:
    """Given a service with addresses / when they stay or go / then it passes; a new one beside is
    refused.
    """
    def service(*addresses: str) -> Tree:
        return {"metadata": {"name": "p"}, "spec": {"externalIPs": list(addresses)}}

    for new, old, code in ((("a",), ("a", "b"), 0), ((), ("a",), 0), (("a", "c"), ("a",), 403)):
        attrs = world().attributes(kind("", "v1", "services"), service(*new), service(*old))
        assert told(DenyServiceExternalIPs(), attrs)[0] == code


class Authorizer:
    """Allows what it is told, and remembers what it was asked."""

    def __init__(self, *allowed: str) -> None:
        self.allowed, self.asked = allowed, list[Access]()

    def decide(self, user: Any, access: Access) -> Decision:
        self.asked.append(access)
        return Decision(f"{access.verb} {access.resource}/{access.subresource}" in self.allowed, "why")


def owned(*owners: Tree) -> Tree:
    return {"metadata": {"name": "m", "ownerReferences": list(owners)}}


BLOCKING = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "blockOwnerDeletion": True}
FREE = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
NOT_DELETE = "cannot set an ownerRef on a resource you can't delete: why, <nil>"
NOT_FINALIZE = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: why, <nil>"


@pytest.mark.parametrize(("new", "old", "allowed", "refusal", "asked"), [
    (owned(), None, (), "", []), (owned(FREE), None, (), "", []), (owned(BLOCKING), owned(BLOCKING), (), "", []),
    (owned(FREE), owned(), (), NOT_DELETE, ["delete configmaps/ t m"]),
    (owned(FREE), owned(), ("delete configmaps/",), "", ["delete configmaps/ t m"]),
    (owned(BLOCKING), None, ("update */finalizers",), "", ["update */finalizers  *"]),
    (owned(BLOCKING), None, ("update pods/finalizers",), "", ["update */finalizers  *", "update pods/finalizers t p"]),
    (owned(BLOCKING), None, (), NOT_FINALIZE, ["update */finalizers  *", "update pods/finalizers t p"]),
    (owned({**BLOCKING, "kind": "Node"}), None, (), NOT_FINALIZE, ["update */finalizers  *", "update nodes/finalizers  p"]),
    (owned({**BLOCKING, "kind": "No", "apiVersion": "g/v1"}), None, (),
     (
         "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion g/v1 Kind No: no matches "
     'for kind "No" in version "g/v1"'), ["update */finalizers  *"]),
    (owned(BLOCKING, FREE), owned(BLOCKING), ("delete configmaps/",), "", ["delete configmaps/ t m"]),
])
def test_who_names_owners(new: Tree, old: Tree | None, allowed: tuple[str, ...], refusal: str, asked: list[str]) -> None:
    """Given owners that are new / then whoever updates may delete the object, and whoever blocks
    an owner's deletion may change its finalizers; what was there before is not asked about.
    """
    authorizer = Authorizer(*allowed)
    resources = SimpleNamespace(kinds=[PODS, MAPS, kind("", "v1", "nodes")])
    plugin = ready(OwnerReferencesPermissionEnforcement(), authorizer=authorizer, resources=resources)
    code, text = told(plugin, world().attributes(MAPS, new, old), "validate")
    assert (code, text.partition(" is forbidden: ")[2]) == (403 if refusal else 0, refusal)
    assert [f"{one.verb} {one.resource}/{one.subresource} {one.namespace} {one.name}" for one in authorizer.asked] == asked
    assert {(one.group, one.version) for one in authorizer.asked} <= {("", "v1"), ("*", "*")}
