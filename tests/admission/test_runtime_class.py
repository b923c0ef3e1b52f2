"""RuntimeClass: overhead, nodes and tolerations of the class a pod names."""

import pytest

from fakekube.admission.runtime_class import RuntimeClass, merge_tolerations
from fakekube.apimachinery.errors import APIError
from tests.admission.world import World, kind

PODS = kind("", "v1", "pods")


def admitted(runtime, **spec):
    """The specification of a pod that names the class, after both passes."""
    world = World()
    world.put("node.k8s.io", "runtimeclasses", {"metadata": {"name": "gvisor"}, "handler": "runsc", **runtime})
    pod = {"metadata": {"name": "p", "namespace": "t"}, "spec": {"containers": [], "runtimeClassName": "gvisor", **spec}}
    attrs = world.attributes(PODS, pod)
    RuntimeClass().admit(attrs)
    RuntimeClass().validate(attrs)
    return pod["spec"]


def refusal(runtime, **spec):
    with pytest.raises(APIError) as caught:
        admitted(runtime, **spec)
    return caught.value.code, caught.value.message.partition("is forbidden: ")[2]


OVERHEAD = {"overhead": {"podFixed": {"cpu": "10m"}}}


def test_a_pod_takes_the_overhead_of_its_class():
    """Given a class with an overhead / then a pod without one has it, one with the same keeps it,
    and a class whose overhead is empty gives none.
    """
    assert admitted(OVERHEAD)["overhead"] == {"cpu": "10m"}
    assert admitted(OVERHEAD, overhead={"cpu": "10m"})["overhead"] == {"cpu": "10m"}
    assert "overhead" not in admitted({"overhead": {}})
    assert "overhead" not in admitted({"overhead": {}}, overhead={})
    assert "overhead" not in admitted({})


def test_a_pod_has_no_overhead_of_its_own():
    """Given an overhead other than the class's, or with a class that has none / then 403."""
    assert refusal(OVERHEAD, overhead={"cpu": "20m"}) == (
        403, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    assert refusal({}, overhead={"cpu": "20m"}) == (
        403, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")


def test_a_class_chooses_nodes_and_tolerates_taints_beside_the_pod():
    """Given a class with a node selector and a toleration / then a pod has its own and the
    class's; what contradicts is refused.
    """
    taint = {"key": "a", "operator": "Exists"}
    scheduling = {"scheduling": {"nodeSelector": {"x": "1"}, "tolerations": [taint]}}
    own = {"key": "b", "operator": "Exists", "effect": "NoSchedule"}
    spec = admitted(scheduling, nodeSelector={"y": "2"}, tolerations=[own])
    assert (spec["nodeSelector"], spec["tolerations"]) == ({"y": "2", "x": "1"}, [own, taint])
    assert refusal(scheduling, nodeSelector={"x": "2"}) == (
        403, "conflict: runtimeClass.scheduling.nodeSelector[x] = 1; pod.spec.nodeSelector[x] = 2")


@pytest.mark.parametrize(("name", "message"), [
    ("nope", 'pods "p" is forbidden: pod rejected: RuntimeClass "nope" not found'),
    ("", "resource name may not be empty")])
def test_a_class_has_to_be_there(name, message):
    """Given a name of no class, or none at all / then the pod is refused as upstream does."""
    with pytest.raises(APIError) as caught:
        admitted({}, runtimeClassName=name)
    assert caught.value.message.endswith(message)


A = {"key": "a", "operator": "Exists"}


@pytest.mark.parametrize(("wide", "narrow", "covers"), [
    (A, {"key": "a", "value": "x", "operator": "Equal"}, True),
    (A, {"key": "b", "value": "x", "operator": "Equal"}, False),
    ({"operator": "Exists"}, {"key": "b", "operator": "Exists"}, True),
    ({"operator": "Equal"}, {"key": "b", "operator": "Exists"}, False),
    ({**A, "effect": "NoSchedule"}, {**A, "effect": "NoExecute"}, False),
    (A, {**A, "effect": "NoExecute"}, True),
    ({**A, "effect": "NoExecute", "tolerationSeconds": 5}, {**A, "effect": "NoExecute", "tolerationSeconds": 4}, True),
    ({"key": "a", "value": "x"}, {"key": "a", "operator": "Equal", "value": "x", "effect": "NoSchedule"}, True),
    ({"key": "a", "value": "x"}, {"key": "a", "operator": "Equal", "value": "y"}, False),
    ({"key": "a", "operator": "Lt", "value": "x"}, {"key": "a", "operator": "Lt", "value": "x", "effect": "NoSchedule"}, False),
])
def test_a_toleration_that_another_covers_is_left_out(wide, narrow, covers):
    """Given two tolerations / then the second is left out exactly where the first tolerates all
    that it does.
    """
    assert merge_tolerations([wide, narrow]) == ([wide] if covers else [wide, narrow])


@pytest.mark.parametrize(("narrow", "wide"), [
    ({**A, "effect": "NoExecute", "tolerationSeconds": 5}, {**A, "effect": "NoExecute", "tolerationSeconds": 6}),
    ({**A, "effect": "NoExecute", "tolerationSeconds": 5}, {**A, "effect": "NoExecute"}),
    ({"key": "a", "value": "x"}, {"key": "a", "operator": "Exists", "value": "x"}),
])
def test_a_toleration_that_a_later_one_covers_is_left_out(narrow, wide):
    """Given a toleration and a wider one after it / then the wider one is left alone."""
    assert merge_tolerations([narrow, wide]) == [wide]


def test_of_equal_tolerations_the_first_stays():
    """Given one toleration twice, and one that a later one covers / then each is there once."""
    assert merge_tolerations([A, {"key": "b"}, A]) == [A, {"key": "b"}]
    assert merge_tolerations([{"key": "a", "operator": "Equal", "value": "x"}, A]) == [A]


def test_only_new_pods_are_looked_at():
    """Given other kinds, operations and sub-resources / then the plugin does not see them."""
    plugin = RuntimeClass()
    assert [plugin.handles(PODS, *how) for how in (("CREATE", ""), ("UPDATE", ""), ("CREATE", "binding"))] == [True, False, False]
    assert not plugin.handles(kind("", "v1", "nodes"), "CREATE", "")
