"""LimitRanger, ResourceQuota and PersistentVolumeClaimResize."""

import pytest

from fakekube.admission.claim_resize import PersistentVolumeClaimResize
from fakekube.admission.limit_ranger import LimitRanger
from fakekube.admission.resource_quota import ResourceQuota
from fakekube.apimachinery import pod_resources
from fakekube.apimachinery.amounts import texts
from fakekube.apimachinery.errors import APIError
from tests.admission.world import World, kind

PODS = kind("", "v1", "pods")
SERVICES = kind("", "v1", "services")
JOBS = kind("batch", "v1", "jobs")
CLAIMS = kind("", "v1", "persistentvolumeclaims")


def pod(*containers, **spec):
    return {"metadata": {"name": "p", "namespace": "t"}, "spec": {"containers": list(containers), **spec}}


def container(name="a", **resources):
    return {"name": name, "resources": resources}


def limited(*limits):
    world = World()
    world.put("", "limitranges", {"metadata": {"name": "r", "namespace": "t"}, "spec": {"limits": list(limits)}})
    return world


def quoted(hard, used=None, **spec):
    world = World()
    status = {"hard": hard, "used": used or dict.fromkeys(hard, "0")}
    world.put(
        "",
        "resourcequotas",
        {
            "metadata": {"name": "q", "namespace": "t"},
            "spec": {"hard": hard, **spec},
            "status": status,
        },
    )
    return world


def used(world):
    return world.objects["", "resourcequotas", "t", "q"]["status"]["used"]


def refusal(plugin, attrs):
    with pytest.raises(APIError) as caught:
        plugin.validate(attrs)
    return caught.value.message


@pytest.mark.spec("API-166")
def test_containers_get_what_they_do_not_say():
    """Given defaults of cpu and memory / when a pod lacks some / then they are filled and told in
    an annotation.
    """
    world = limited(
        {
            "type": "Container",
            "default": {"cpu": "500m", "memory": "256Mi"},
            "defaultRequest": {"cpu": "100m", "memory": "256Mi"},
        }
    )
    obj = pod(container(), container("b", limits={"cpu": "1"}, requests={"cpu": "1"}), initContainers=[container("i")])
    LimitRanger().admit(world.attributes(PODS, obj))
    assert obj["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "256Mi"},
        "requests": {"cpu": "100m", "memory": "256Mi"},
    }
    assert obj["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; "
        "memory request for container b; memory limit for container b; "
        "cpu, memory request for init container i; cpu, memory limit for init container i"
    )


def test_a_pod_that_says_all_is_left_alone():
    """Given defaults / when a pod says everything / then no annotation."""
    obj = pod(container(limits={"cpu": "1"}, requests={"cpu": "1"}))
    LimitRanger().admit(limited({"type": "Container", "default": {"cpu": "1"}}).attributes(PODS, obj))
    assert "annotations" not in obj["metadata"]


@pytest.mark.parametrize(
    ("limit", "resources", "text"),
    [
        (
            {"min": {"cpu": "100m"}},
            {"requests": {"cpu": "50m"}},
            "minimum cpu usage per Container is 100m, but request is 50m",
        ),
        ({"min": {"cpu": "100m"}}, {}, "minimum cpu usage per Container is 100m.  No request is specified"),
        ({"max": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, "maximum cpu usage per Container is 1, but limit is 2"),
        ({"max": {"cpu": "1"}}, {}, "maximum cpu usage per Container is 1.  No limit is specified"),
        (
            {"maxLimitRequestRatio": {"memory": "2"}},
            {"limits": {"memory": "4Gi"}, "requests": {"memory": "1Gi"}},
            "memory max limit to request ratio per Container is 2, but provided ratio is 4.000000",
        ),
        (
            {"maxLimitRequestRatio": {"memory": "2"}},
            {},
            "memory max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
    ],
)
def test_too_little_too_much_too_wide(limit, resources, text):
    """Given one constraint / when a container breaks it / then 403 with upstream's text."""
    world = limited({"type": "Container", **limit})
    assert refusal(LimitRanger(), world.attributes(PODS, pod(container(**resources)))) == f'pods "p" is forbidden: {text}'


def test_pods_as_a_whole_and_claims():
    """Given limits for pods and claims / when the sum or the claim is too large / then 403."""
    world = limited(
        {"type": "Pod", "max": {"cpu": "1500m"}},
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}},
    )
    obj = pod(*(container(name, limits={"cpu": "1"}) for name in "ab"))
    assert refusal(LimitRanger(), world.attributes(PODS, obj)).endswith("maximum cpu usage per Pod is 1500m, but limit is 2")
    for size, text in (
        ("500Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"),
        ("3Gi", "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"),
    ):
        claim = {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": size}}}}
        assert refusal(LimitRanger(), world.attributes(CLAIMS, claim)).endswith(text)


def test_several_complaints_come_in_brackets():
    """Given two broken constraints / then both are told."""
    world = limited({"type": "Container", "max": {"cpu": "1"}, "min": {"memory": "10Mi"}})
    obj = pod(container(limits={"cpu": "2"}, requests={"memory": "1Mi"}))
    assert refusal(LimitRanger(), world.attributes(PODS, obj)).endswith(
        "[minimum memory usage per Container is 10Mi, but request is 1Mi, maximum cpu usage per Container is 1, but limit is 2]"
    )


def test_what_a_pod_asks_for_as_a_whole():
    """Given containers, a sidecar and an init container / then the larger of start and run counts.
    """
    spec = pod(
        container(requests={"cpu": "1"}),
        initContainers=[
            {**container("side", requests={"cpu": "500m"}), "restartPolicy": "Always"},
            container("init", requests={"cpu": "2", "memory": "1Gi"}),
        ],
    )["spec"]
    assert texts(pod_resources.quantities(pod_resources.requests({"spec": spec}))) == {"cpu": "2500m", "memory": "1Gi"}


@pytest.mark.spec("API-166")
def test_a_quota_is_charged_and_then_full():
    """Given room for one pod / when two come / then the first is charged and the second refused,
    dry runs included.
    """
    world = quoted({"pods": "1"})
    ResourceQuota().validate(world.attributes(PODS, pod(container())))
    assert used(world) == {"pods": "1"}
    assert refusal(ResourceQuota(), world.attributes(PODS, pod(container()))) == (
        'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
    )


def test_a_dry_run_is_not_charged():
    """Given room / when a dry run passes / then nothing is used."""
    world = quoted({"pods": "1"})
    attrs = world.attributes(PODS, pod(container()))
    attrs.ctx.dry_run = True
    ResourceQuota().validate(attrs)
    assert used(world) == {"pods": "0"}


def test_objects_of_any_group_are_counted():
    """Given a count of Jobs / when one too many comes / then 403."""
    world = quoted({"count/jobs.batch": "0"})
    assert refusal(ResourceQuota(), world.attributes(JOBS, {"metadata": {"name": "j"}, "spec": {}})).endswith(
        "exceeded quota: q, requested: count/jobs.batch=1, used: count/jobs.batch=0, limited: count/jobs.batch=0"
    )


def test_a_service_costs_more_when_it_takes_a_node_port():
    """Given one node port for all / when a second Service turns to one / then 403, and only the
    difference counts.
    """
    world = quoted({"services": "2", "services.nodeports": "1"}, {"services": "2", "services.nodeports": "1"})
    old = {"metadata": {"name": "s"}, "spec": {"type": "ClusterIP", "ports": [{"port": 80}]}}
    new = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}
    assert refusal(ResourceQuota(), world.attributes(SERVICES, new, old)).endswith(
        "requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1"
    )
    ResourceQuota().validate(world.attributes(SERVICES, old, old))


def test_a_quota_of_compute_wants_every_container_to_say():
    """Given a quota of limits / when containers say none / then 403 names them."""
    world = quoted({"limits.cpu": "1", "requests.memory": "1Gi"})
    assert refusal(ResourceQuota(), world.attributes(PODS, pod(container("c")))).endswith(
        "failed quota: q: must specify limits.cpu for: c; requests.memory for: c"
    )


@pytest.mark.parametrize(
    ("scope", "obj", "counted"),
    [
        ("BestEffort", pod(container()), True),
        ("BestEffort", pod(container(requests={"cpu": "1m"})), False),
        ("Terminating", pod(container(), activeDeadlineSeconds=5), True),
        ("NotTerminating", pod(container()), True),
        ("PriorityClass", pod(container()), False),
    ],
)
def test_a_scoped_quota_counts_its_own(scope, obj, counted):
    """Given a scope / when a pod is in it or not / then it counts or not."""
    world = quoted({"pods": "5"}, scopes=[scope])
    ResourceQuota().validate(world.attributes(PODS, obj))
    assert used(world)["pods"] == ("1" if counted else "0")


def test_a_quota_without_usage_is_not_passed():
    """Given a quota whose usage nobody has counted / when a pod comes / then 403."""
    world = quoted({"pods": "1"})
    world.write_status("", "resourcequotas", "t", "q", {"hard": {"pods": "1"}}, now="")
    assert refusal(ResourceQuota(), world.attributes(PODS, pod(container()))).endswith(
        "status unknown for quota: q, resources: pods"
    )


def test_a_claim_grows_only_when_bound_and_allowed():
    """Given a claim / when it grows / then it must be bound and its class allow it."""

    def claim(size, phase="Bound"):
        return {
            "metadata": {"name": "c"},
            "status": {"phase": phase},
            "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": size}}},
        }

    world, plugin = World(), PersistentVolumeClaimResize()
    assert refusal(plugin, world.attributes(CLAIMS, claim("2Gi"), claim("1Gi", "Pending"))).endswith(
        "Only bound persistent volume claims can be expanded"
    )
    assert "only dynamically provisioned pvc can be resized" in refusal(
        plugin, world.attributes(CLAIMS, claim("2Gi"), claim("1Gi"))
    )
    world.put("storage.k8s.io", "storageclasses", {"metadata": {"name": "fast"}, "allowVolumeExpansion": True})
    plugin.validate(world.attributes(CLAIMS, claim("2Gi"), claim("1Gi")))
    plugin.validate(world.attributes(CLAIMS, claim("1Gi"), claim("1Gi", "Pending")))


@pytest.mark.parametrize(("group", "plural", "operation", "subresource", "expected"), [
    ("", "pods", "CREATE", "", True), ("", "pods", "CREATE", "binding", False), ("", "pods", "UPDATE", "", True),
    ("", "pods", "UPDATE", "resize", True), ("", "pods", "UPDATE", "status", False), ("", "pods", "DELETE", "", False),
    ("", "services", "UPDATE", "", True), ("", "services", "UPDATE", "resize", False),
    ("", "persistentvolumeclaims", "UPDATE", "", True), ("", "configmaps", "CREATE", "", True),
    ("", "configmaps", "UPDATE", "", False), ("", "events", "CREATE", "", False), ("", "nodes", "CREATE", "", False),
    ("apps", "deployments", "CREATE", "scale", False),
])
def test_what_a_quota_looks_at(group, plural, operation, subresource, expected):
    """Given kinds and operations / then a quota looks at what is created in a namespace, at changes
    of what costs more than one apiece, and at nothing else.
    """
    assert ResourceQuota().handles(kind(group, "v1", plural), operation, subresource) is expected
