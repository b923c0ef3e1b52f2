"""What a pod requests and is limited to as a whole, and that all who ask agree on it."""

import pytest

from fakekube.admission.limit_ranger import OF_PODS
from fakekube.apimachinery import pod_resources, quotas
from fakekube.apimachinery.amounts import texts
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.pod_resources import CONTAINERS, DEFAULTS, IN_FLIGHT, Options
from fakekube.apis.core import podresources
from fakekube_controllers.kubelet.pods.predicates import requests_of
from fakekube_controllers.scheduler.framework.types import pod_info

PODS = GroupResource("", "pods")
MEBI = 2**20


def container(name="c", requests=None, limits=None, **fields):
    resources = {part: given for part, given in (("requests", requests), ("limits", limits)) if given}
    return {"name": name, **({"resources": resources} if resources else {}), **fields}


def pod(*containers, init=(), status=None, **spec):
    tree = {"metadata": {"name": "p", "uid": "u"}, "spec": {"containers": list(containers), **spec}}
    if init:
        tree["spec"]["initContainers"] = list(init)
    return tree | ({"status": status} if status else {})


def requested(tree, options=DEFAULTS):
    return texts(pod_resources.quantities(pod_resources.requests(tree, options)))


def limited(tree, options=DEFAULTS):
    return texts(pod_resources.quantities(pod_resources.limits(tree, options)))


SIDECAR = container("side", {"cpu": "500m"}, restartPolicy="Always")


@pytest.mark.parametrize(("containers", "init", "expected"), [
    (["1", "1"], [], "2"), (["1"], [container("i", {"cpu": "3"})], "3"), (["1"], [SIDECAR], "1500m"),
    (["1"], [SIDECAR, container("i", {"cpu": "2"})], "2500m"), (["1"], [container("i", {"cpu": "2"}), SIDECAR], "2"),
    (["1"], [SIDECAR, container("i", {"cpu": "2"}), SIDECAR], "2500m"),
])
def test_the_most_that_runs_at_any_time_counts(containers, init, expected):
    """Given containers, init containers and sidecars / then the larger of start and run counts,
    sidecars in both.
    """
    tree = pod(*(container(f"c{number}", {"cpu": cpu}) for number, cpu in enumerate(containers)), init=init)
    assert requested(tree) == {"cpu": expected}


def test_overhead_is_added_to_requests_and_to_limits_that_there_are():
    """Given overhead / then requests have it, and of limits those that are not nothing; without it
    on request.
    """
    tree = pod(container("c", {"cpu": "1"}, {"cpu": "0", "memory": "1Gi"}), overhead={"cpu": "100m", "memory": "64Mi"})
    assert requested(tree) == {"cpu": "1100m", "memory": "64Mi"}
    assert limited(tree) == {"cpu": "0", "memory": "1088Mi"}
    assert requested(tree, CONTAINERS) == {"cpu": "1"}


def test_what_a_pod_names_for_itself_stands_in_place_of_its_containers():
    """Given a pod with cpu, huge pages and a thing of its own / then those that a pod may name
    count, its overhead is added.
    """
    tree = pod(
        container("c", {"cpu": "1", "memory": "1Gi"}), overhead={"cpu": "1"},
        resources={"requests": {"cpu": "3", "hugepages-2Mi": "2Mi", "example.com/x": "1"}})
    assert requested(tree) == {"cpu": "4", "hugepages-2Mi": "2Mi", "memory": "1Gi"}


def in_flight(*, spec="1", allocated=None, running=None, **status):
    given = {"name": "c"}
    if allocated:
        given["allocatedResources"] = {"cpu": allocated}
    if running:
        given["resources"] = {"requests": {"cpu": running}, "limits": {"cpu": running}}
    return pod(container("c", {"cpu": spec}, {"cpu": spec}), status={"containerStatuses": [given], **status})


INFEASIBLE = {"conditions": [{"type": "PodResizePending", "reason": "Infeasible"}]}


@pytest.mark.parametrize(("tree", "requests", "limits"), [
    (in_flight(), "1", "1"), (in_flight(allocated="2"), "2", "1"), (in_flight(running="3", allocated="2"), "3", "3"),
    (in_flight(spec="5", allocated="2"), "5", "5"), (in_flight(spec="5", allocated="2", **INFEASIBLE), "2", None),
    (in_flight(spec="5", running="3", allocated="2", **INFEASIBLE), "3", "3"),
])
def test_a_resize_in_flight_counts_with_the_largest(tree, requests, limits):
    """Given what is wished for, allocated and run with / then the largest counts, but no wish that
    will never be granted / then without the option it is the wish alone.
    """
    assert requested(tree, IN_FLIGHT) == {"cpu": requests}
    assert limited(tree, IN_FLIGHT) == ({"cpu": limits} if limits else {})
    assert requested(tree) == {"cpu": tree["spec"]["containers"][0]["resources"]["requests"]["cpu"]}


def test_a_resize_of_the_pod_as_a_whole_counts_behind_its_gate():
    """Given a pod that runs with more as a whole than it names / then that counts where the gate
    for it is on.
    """
    status = {"resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "6"}}, "allocatedResources": {"cpu": "4"}}
    tree = pod(container(), resources={"requests": {"cpu": "2"}, "limits": {"cpu": "5"}}, status=status)
    gated = IN_FLIGHT._replace(pod_level_status=True)
    assert (requested(tree, IN_FLIGHT), limited(tree, IN_FLIGHT)) == ({"cpu": "2"}, {"cpu": "5"})
    assert (requested(tree, gated), limited(tree, gated)) == ({"cpu": "4"}, {"cpu": "6"})
    del tree["spec"]["resources"]
    assert (requested(tree, gated), limited(tree, gated)) == ({"cpu": "4"}, {"cpu": "6"})
    refused = {**tree, "spec": {**tree["spec"], "resources": {"requests": {"cpu": "9"}}}, "status": status | INFEASIBLE}
    assert requested(refused, gated) == {"cpu": "4"}


def test_a_container_that_says_nothing_counts_what_is_given_for_it():
    """Given an option for what is missing / then each container without it counts that; what is
    said, even 0, stays.
    """
    tree = pod(container("a"), container("b", {"cpu": "0"}), container("d", {"cpu": "1"}), init=[container("i")])
    assert requested(tree, Options(missing={"cpu": (10**8, "DecimalSI")})) == {"cpu": "1100m"}


def test_the_scheduler_rounds_the_sum():
    """Given two containers with half a byte each / then they request one, as the kubelet says, too;
    each used to be rounded.
    """
    tree = pod(container("a", {"memory": "500m"}), container("b", {"memory": "500m"}))
    assert pod_info(tree).requests == requests_of(tree) == {"memory": 1}


def test_quotas_and_the_kubelet_count_overhead_as_the_scheduler_does():
    """Given a pod with overhead / then all three count it; quotas and the kubelet used to leave it
    out.
    """
    tree = pod(container("c", {"memory": "100Mi"}, {"memory": "200Mi"}), overhead={"memory": "20Mi"})
    usage = texts(quotas.usage(PODS, tree, in_flight=True))
    assert (usage["requests.memory"], usage["limits.memory"]) == ("120Mi", "220Mi")
    assert pod_info(tree).requests == requests_of(tree) == {"memory": 120 * MEBI}


@pytest.mark.parametrize(("gate", "cpu"), [(True, "2"), (False, "1")])
def test_quotas_and_the_scheduler_count_a_resize_in_flight(gate, cpu):
    """Given a pod that still has more than it wishes for / then both count what it has; they used
    to count the wish, as they do where the gate is off.
    """
    tree = in_flight(allocated="2", running="2")
    usage = texts(quotas.usage(PODS, tree, in_flight=gate))
    assert (usage["requests.cpu"], usage["limits.cpu"]) == (cpu, cpu)
    assert pod_info(tree, IN_FLIGHT if gate else DEFAULTS).requests == {"cpu": int(cpu) * 1000}


def test_the_scheduler_takes_only_what_a_pod_may_name_for_itself():
    """Given a pod that names a thing for itself that only containers may / then its containers
    count; it used to be the pod.
    """
    tree = pod(container("c", {"example.com/x": "2"}), resources={"requests": {"cpu": "1", "example.com/x": "1"}})
    assert pod_info(tree).requests == requests_of(tree) == {"cpu": 1000, "example.com/x": 2}


def test_a_limit_range_measures_neither_overhead_nor_huge_pages_of_the_pod():
    """Given a pod with overhead and huge pages of its own / then a LimitRange goes by cpu and
    memory alone, without it.
    """
    tree = pod(
        container("c", {"cpu": "1", "hugepages-2Mi": "4Mi"}), overhead={"cpu": "1"},
        resources={"requests": {"cpu": "2", "hugepages-2Mi": "8Mi"}})
    assert requested(tree, OF_PODS) == {"cpu": "2", "hugepages-2Mi": "4Mi"}
    assert requested({**tree, "status": in_flight(allocated="9")["status"]}, OF_PODS)["cpu"] == "2"


@pytest.mark.parametrize(("tree", "expected"), [
    (pod(container()), "BestEffort"), (pod(container("c", {"cpu": "1"})), "Burstable"),
    (pod(container("c", {"cpu": "1"}), resources={"limits": {"hugepages-2Mi": "2Mi"}}), "BestEffort"),
    (pod(container(), status={"qosClass": "Burstable"}), "Burstable"),
])
def test_quotas_go_by_the_class_that_the_pod_has(tree, expected):
    """Given a pod with a class in its status, or what makes one / then scopes of quotas go by it,
    as its status does.
    """
    scope = {"scopeName": "BestEffort", "operator": "Exists"}
    assert quotas.in_scope(PODS, tree, scope) == (expected == "BestEffort")
    if "status" not in tree:
        assert podresources.qos_class(tree["spec"]) == expected


def test_what_containers_need_is_the_same_sum_without_overhead():
    """Given init containers, a sidecar and overhead / then a pod's own defaults and their
    validation add up the containers.
    """
    spec = pod(container("c", {"cpu": "1"}), init=[SIDECAR, container("i", {"cpu": "2"})], overhead={"cpu": "7"})["spec"]
    assert podresources.aggregate(spec, "requests") == {"cpu": 2_500_000_000}
