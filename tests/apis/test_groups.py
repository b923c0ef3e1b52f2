"""Workloads, PodGroups and CompositePodGroups as a client finds them: what is made, refused,
dropped and filled in.
"""

from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PODS, Resource
from fakekube.composition.cluster import Cluster

NAMESPACE = "default"
GANG, BASIC = {"gang": {"minCount": 3}}, {"basic": {}}
WORKLOADS = Resource("scheduling.k8s.io", "v1beta1", "workloads", "Workload")
POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
COMPOSITES = Resource("scheduling.k8s.io", "v1alpha3", "compositepodgroups", "CompositePodGroup")
CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
FINALIZER = "scheduling.k8s.io/podgroup-protection"
ONLY_GROUPS = {"GenericWorkload": True}

Tree = dict[str, Any]


def cluster_of(gates: Any = "workload-aware", **options: Any) -> Cluster:
    return Cluster(
        nodes=0, clock="manual", controllers="", feature_gates=gates,
        runtime_config={"scheduling.k8s.io/v1beta1": True, "scheduling.k8s.io/v1alpha3": True}, **options)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """All gates are on, and no controller runs."""
    async with cluster_of() as made:
        yield made


def body(name: str = "x", **spec: Any) -> Tree:
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def leaf(name: str, policy: Tree = BASIC, **more: Any) -> Tree:
    return {"name": name, "schedulingPolicy": policy, **more}


def branch(name: str, *leaves: Tree, **more: Any) -> Tree:
    return leaf(name, **({"podGroupTemplates": [*leaves]} if leaves else {}), **more)


async def told(write: Awaitable[object]) -> list[str]:
    """Each cause of a refusal: its field and its text."""
    with pytest.raises(APIError) as raised:
        await write
    assert raised.value.code == 422
    return [f"{cause['field']}: {cause['message']}" for cause in raised.value.causes]


async def forbidden(write: Awaitable[object]) -> str:
    with pytest.raises(APIError) as raised:
        await write
    assert raised.value.code == 403
    return raised.value.message.partition(" is forbidden: ")[2]


async def wrong_templates(cluster: Cluster, *templates: Tree, **spec: Any) -> list[str]:
    return await told(cluster.client.create(WORKLOADS, body(podGroupTemplates=[*templates], **spec)))


@pytest.mark.spec("WAS-001", "WAS-010", "WAS-011", "WAS-012")
async def test_a_workload_keeps_all_but_the_size_of_its_gangs(cluster: Cluster) -> None:
    """Given a Workload with a gang, when it is read, then it is what was written; when the gang's
    size changes, then it is accepted; another template, one less, another name or a controller are
    not.
    """
    client = cluster.client
    spec = {"podGroupTemplates": [leaf("a", GANG), leaf("b")]}
    made = await client.create(WORKLOADS, body(**spec))
    shown = [{**template, "schedulingConstraints": None} for template in spec["podGroupTemplates"]]
    assert made["spec"] == {"podGroupTemplates": shown}
    assert await client.get(WORKLOADS, "x", NAMESPACE) == made
    assert "generation" not in made["metadata"]

    def change(*templates: Tree, **more: Any) -> Awaitable[object]:
        return client.patch(WORKLOADS, "x", NAMESPACE, {"spec": {"podGroupTemplates": [*templates], **more}})

    await change(leaf("b"), leaf("a", {"gang": {"minCount": 5}}))
    path = "spec.podGroupTemplates"
    assert await told(change(leaf("a", GANG), leaf("b"), leaf("c"))) == [f"{path}[2]: Forbidden: item may not be added"]
    assert await told(change(leaf("a", GANG))) == [f"{path}: Forbidden: item may not be removed"]
    assert await told(change(leaf("a", GANG), leaf("c"))) == [
        f"{path}[1]: Forbidden: item may not be added", f"{path}: Forbidden: item may not be removed"]
    reference = {"kind": "Job", "name": "j", "apiGroup": "batch"}
    assert await told(change(leaf("a", GANG), leaf("b"), controllerRef=reference)) == [
        "spec.controllerRef: Invalid value: null: field is immutable"]
    policy = f"{path}[0].schedulingPolicy"
    assert await told(change(leaf("a"), leaf("b"))) == [
        f"{policy}.basic: Invalid value: null: field is immutable",
        f"{policy}.gang: Invalid value: null: field cannot be cleared once set"]


@pytest.mark.spec("WAS-002", "WAS-003", "WAS-005", "WAS-006", "WAS-007", "WAS-008")
async def test_a_workload_has_templates_of_one_sort(cluster: Cluster) -> None:
    """Given no templates, both sorts, nine, two of a name, names that are none, or two policies,
    when a Workload is made, then it is refused.
    """
    union = "`podGroupTemplates`, `compositePodGroupTemplates`"
    assert await told(cluster.client.create(WORKLOADS, body())) == [
        f'spec: Invalid value: "": must specify one of: {union}']
    assert await wrong_templates(cluster, leaf("a"), compositePodGroupTemplates=[branch("b", leaf("c"))]) == [
        f'spec: Invalid value: "{{podGroupTemplates, compositePodGroupTemplates}}": must specify exactly one of: {union}']
    path = "spec.podGroupTemplates"
    assert await wrong_templates(cluster, *(leaf(f"t{number}") for number in range(9))) == [
        f"{path}: Too many: 9: must have at most 8 items"]
    shown = '{"name":"a","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}'
    assert await wrong_templates(cluster, leaf("a"), leaf("a")) == [f"{path}[1]: Duplicate value: {shown}"]
    assert await wrong_templates(cluster, leaf("")) == [f"{path}[0].name: Required value"]
    assert await wrong_templates(cluster, leaf("a.b")) == [f'{path}[0].name: Invalid value: "a.b": must not contain dots']
    assert await wrong_templates(cluster, leaf("n" * 64)) == [
        f'{path}[0].name: Invalid value: "{"n" * 64}": must be no more than 63 bytes']
    assert await wrong_templates(cluster, leaf("a", {**GANG, **BASIC})) == [
        f'{path}[0].schedulingPolicy: Invalid value: "{{basic, gang}}": must specify exactly one of: `basic`, `gang`']


@pytest.mark.spec("WAS-004", "WAS-017", "WAS-027")
async def test_what_a_gate_forbids_is_dropped() -> None:
    """Given GenericWorkload alone, when objects with fields of other gates are written, then those
    are dropped; a Workload of which nothing is left is refused.
    """
    async with cluster_of(ONLY_GROUPS) as cluster:
        composite = [branch("b", leaf("c"))]
        assert await told(cluster.client.create(WORKLOADS, body(compositePodGroupTemplates=composite))) == [
            'spec: Invalid value: "": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`']
        more = {
            "schedulingConstraints": {"topology": [{"key": "zone"}]}, "preemptionPolicy": "Never",
            "resourceClaims": [{"name": "a", "resourceClaimName": "b"}]}
        made = await cluster.client.create(
            WORKLOADS, body(podGroupTemplates=[leaf("a", **more)], compositePodGroupTemplates=composite))
        assert made["spec"] == {"podGroupTemplates": [leaf("a", schedulingConstraints=None)]}
        group = await cluster.client.create(
            POD_GROUPS, body(schedulingPolicy=BASIC, parentCompositePodGroupName="p", **more))
        assert group["spec"] == {"schedulingPolicy": BASIC, "disruptionMode": {"single": {}}, "priority": 0}
        with pytest.raises(APIError, match="could not find"):
            await cluster.client.list(COMPOSITES, NAMESPACE)


@pytest.mark.spec("WAS-017", "WAS-029")
async def test_what_is_stored_outlives_its_gate() -> None:
    """Given objects with fields of gates, when the gates are off and the objects are updated, then
    they keep the fields; a new pod loses its group.
    """
    pod = {"metadata": {"name": "p", "namespace": NAMESPACE}, "spec": {
        "schedulingGroup": {"podGroupName": "x"}, "containers": [{"name": "c", "image": "i"}]}}
    async with cluster_of(disable_admission_plugins=("ServiceAccount",)) as cluster:
        constraints = {"topology": [{"key": "zone"}]}
        await cluster.client.create(POD_GROUPS, body(schedulingPolicy=GANG, schedulingConstraints=constraints))
        await cluster.client.create(PODS, pod)
        taken = cluster.snapshot()
        for gates in (ONLY_GROUPS, {"GenericWorkload": False}):
            await cluster.restore(taken._replace(options=replace(taken.options, feature_gates=gates)))
            label = {"metadata": {"labels": {"a": "b"}}}
            old = await cluster.client.patch(PODS, "p", NAMESPACE, label)
            assert old["spec"]["schedulingGroup"] == {"podGroupName": "x"}
            new = await cluster.client.create(PODS, {**pod, "metadata": {"name": "q", "namespace": NAMESPACE}})
            assert ("schedulingGroup" in new["spec"]) == ("GenericWorkload" in gates and gates["GenericWorkload"])
            if gates is ONLY_GROUPS:
                group = await cluster.client.patch(POD_GROUPS, "x", NAMESPACE, label)
                assert group["spec"]["schedulingConstraints"] == constraints


@pytest.mark.spec("WAS-009", "WAS-016")
async def test_blocks_of_a_group(cluster: Cluster) -> None:
    """Given a gang of no size or less, two topology keys, a key that is none, or no policy, when a
    PodGroup is made, then it is refused.
    """
    async def wrong(**spec: Any) -> list[str]:
        return await told(cluster.client.create(POD_GROUPS, body(**{"schedulingPolicy": BASIC, **spec})))

    size = "spec.schedulingPolicy.gang.minCount"
    assert await wrong(schedulingPolicy={"gang": {"minCount": 0}}) == [f"{size}: Required value"]
    assert await wrong(schedulingPolicy={"gang": {"minCount": -1}}) == [
        f"{size}: Invalid value: -1: must be greater than or equal to 1"]
    topology = "spec.schedulingConstraints.topology"
    assert await wrong(schedulingConstraints={"topology": [{"key": "a"}, {"key": "b"}]}) == [
        f"{topology}: Too many: 2: must have at most 1 item"]
    [text] = await wrong(schedulingConstraints={"topology": [{"key": "no key"}]})
    assert text.startswith(f'{topology}[0].key: Invalid value: "no key": name part must consist of')
    assert await told(cluster.client.create(POD_GROUPS, body())) == [
        'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']


@pytest.mark.spec("WAS-013", "WAS-014", "WAS-018", "WAS-019", "WAS-031")
async def test_the_life_of_a_group(cluster: Cluster) -> None:
    """Given a PodGroup with a status, when it is made, then it has a finalizer, a disruption mode
    and no status; its size may change, its policy may not; each endpoint changes its own half.
    """
    client = cluster.client
    condition = {
        "type": "PodGroupInitiallyScheduled", "status": "True", "reason": "Scheduled", "message": "",
        "lastTransitionTime": "2026-01-02T03:04:05Z"}
    made = await client.create(
        POD_GROUPS, {**body(schedulingPolicy=GANG), "status": {"conditions": [condition]}})
    assert made["metadata"]["finalizers"] == [FINALIZER]
    assert (made["spec"]["disruptionMode"], made["status"]) == ({"single": {}}, {})
    template = await client.create(WORKLOADS, body(podGroupTemplates=[leaf("a")]))
    assert "disruptionMode" not in template["spec"]["podGroupTemplates"][0]

    async def change(**tree: Any) -> Tree:
        return await client.patch(POD_GROUPS, "x", NAMESPACE, tree)

    assert await told(change(spec={"schedulingPolicy": {"gang": None, "basic": {}}})) == [
        "spec.schedulingPolicy.basic: Invalid value: null: field is immutable",
        "spec.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set"]
    told_by_status = {
        "metadata": {"labels": {"a": "b"}}, "spec": {"schedulingPolicy": {"gang": {"minCount": 9}}},
        "status": {"conditions": [condition]}}
    after = await client.patch(POD_GROUPS, "x", NAMESPACE, told_by_status, subresource="status")
    assert after["status"] == {"conditions": [condition]}
    assert (after["spec"], after["metadata"].get("labels")) == (made["spec"], None)
    after = await change(spec={"schedulingPolicy": {"gang": {"minCount": 4}}}, status={"conditions": []})
    assert after["spec"]["schedulingPolicy"] == {"gang": {"minCount": 4}}
    assert after["status"] == {"conditions": [condition]}
    claims = {"status": {"resourceClaimStatuses": [{"name": "no", "resourceClaimName": "c"}]}}
    assert await told(client.patch(POD_GROUPS, "x", NAMESPACE, claims, subresource="status")) == [
        'status.resourceClaimStatuses[0].name: Invalid value: "no": must match the name of an entry in `spec.resourceClaims`']


@pytest.mark.spec("WAS-015", "WAS-020", "WAS-021", "WAS-036")
async def test_composite_groups(cluster: Cluster) -> None:
    """Given a child without Workload and a composite group without one, when they are made, then it
    is required; a composite group's size stays, that of its template does not; deleted, it is gone
    at once, children or not.
    """
    client, reference = cluster.client, {"workloadName": "w", "templateName": "t"}
    assert await told(client.create(POD_GROUPS, body(schedulingPolicy=BASIC, parentCompositePodGroupName="p"))) == [
        "spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set"]
    assert (await told(client.create(COMPOSITES, body(schedulingPolicy=BASIC))))[0] == "spec.workloadRef: Required value"
    gang = {"gang": {"minGroupCount": 1}}
    parent = await client.create(COMPOSITES, body("p", schedulingPolicy=gang, workloadRef=reference))
    assert parent["spec"]["disruptionMode"] == {"single": {}}
    more = {"spec": {"schedulingPolicy": {"gang": {"minGroupCount": 2}}}}
    assert await told(client.patch(COMPOSITES, "p", NAMESPACE, more)) == [
        "spec.schedulingPolicy: Invalid value: null: field is immutable"]
    await client.create(WORKLOADS, body("w", compositePodGroupTemplates=[leaf("t", gang, podGroupTemplates=[leaf("l")])]))
    await client.patch(WORKLOADS, "w", NAMESPACE, [{
        "op": "replace", "path": "/spec/compositePodGroupTemplates/0/schedulingPolicy/gang/minGroupCount", "value": 2,
    }], type="json")
    for kind in (POD_GROUPS, COMPOSITES):
        await client.create(kind, body("c", schedulingPolicy=BASIC, workloadRef=reference, parentCompositePodGroupName="p"))
    await client.delete(COMPOSITES, "p", NAMESPACE)
    assert await client.get(COMPOSITES, "p", NAMESPACE, missing_ok=True) is None
    assert await client.get(POD_GROUPS, "c", NAMESPACE)


@pytest.mark.spec("WAS-022", "WAS-023", "WAS-024")
async def test_trees_of_templates(cluster: Cluster) -> None:
    """Given trees that are too deep, name something twice or mix priorities, when a Workload is
    made, then it is refused; three levels and a leaf are fine.
    """
    def deep(levels: int) -> Tree:
        tree = branch(f"c{levels}", leaf("l"))
        for level in reversed(range(1, levels)):
            tree = branch(f"c{level}", compositePodGroupTemplates=[tree])
        return tree

    path = "spec.compositePodGroupTemplates"
    await cluster.client.create(WORKLOADS, body("fine", compositePodGroupTemplates=[deep(3)]))
    [text] = await told(cluster.client.create(WORKLOADS, body(compositePodGroupTemplates=[deep(4)])))
    assert text.startswith(f'{path}[0]: Invalid value: [{{"Name":"c2",')
    assert text.endswith(": maximum template hierarchy depth is 4")
    twice = [branch("a", leaf("l")), branch("b", leaf("l"))]
    assert await told(cluster.client.create(WORKLOADS, body(compositePodGroupTemplates=twice))) == [
        f'{path}[1].podGroupTemplates[0].name: Duplicate value: "l"']
    assert await wrong_templates(cluster, leaf("a", priorityClassName="x"), leaf("b")) == [
        "spec: Invalid value: null: detected multiple priority configurations"]
    mixed = [branch("a", leaf("l", priority=1))]
    assert await told(cluster.client.create(WORKLOADS, body(compositePodGroupTemplates=mixed))) == [
        "spec: Invalid value: null: all priority and priorityClassName values must be identical, detected multiple values"]


@pytest.mark.spec("WAS-024")
async def test_templates_of_1_36_may_differ_in_priority() -> None:
    """Given two priorities, when 1.36 gets such a Workload, then it is made."""
    workloads = WORKLOADS._replace(version="v1alpha2")
    async with Cluster(
        nodes=0, clock="manual", controllers="", feature_gates="workload-aware", kubernetes_version="1.36",
    ) as cluster:
        await cluster.client.create(workloads, body(podGroupTemplates=[leaf("a", priorityClassName="x"), leaf("b")]))


@pytest.mark.spec("WAS-025", "WAS-026", "WAS-027")
async def test_the_priority_of_a_group(cluster: Cluster) -> None:
    """Given a priority class, when groups name it, another one, a number that is not its own or a
    policy that is not its own, then the first is filled in and the others are refused; a default
    class is taken by those that name none.
    """
    client = cluster.client

    def make(name: str, **spec: Any) -> Awaitable[Tree]:
        return client.create(POD_GROUPS, body(name, schedulingPolicy=BASIC, **spec))

    assert (await make("none"))["spec"]["priority"] == 0
    await client.create(CLASSES, {"metadata": {"name": "high"}, "value": 7})
    made = (await make("high", priorityClassName="high"))["spec"]
    assert (made["priority"], made["preemptionPolicy"]) == (7, "PreemptLowerPriority")
    assert await forbidden(make("a", priorityClassName="no")) == "no PriorityClass with name no was found"
    assert await forbidden(make("b", priority=5)) == (
        "priority set in the pod group (5) must match the priority computed (0) based on the priority class set in the spec")
    await client.create(CLASSES, {"metadata": {"name": "kind"}, "value": 3, "globalDefault": True, "preemptionPolicy": "Never"})
    computed = "priority admission controller computed Never from the given PriorityClass name"
    assert await forbidden(make("c")) == (
        f"the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod group spec; {computed}")
    made = (await make("d", preemptionPolicy="Never"))["spec"]
    assert (made["priorityClassName"], made["priority"]) == ("kind", 3)
    composite = body("e", schedulingPolicy=BASIC, priority=5, workloadRef={"workloadName": "w", "templateName": "t"})
    assert "priority set in the composite pod group (5) must match" in await forbidden(client.create(COMPOSITES, composite))
    supported = 'supported values: "Never", "PreemptLowerPriority"'
    assert await wrong_templates(cluster, leaf("a", preemptionPolicy="Sometimes")) == [
        f'spec.podGroupTemplates[0].preemptionPolicy: Unsupported value: "Sometimes": {supported}']


@pytest.mark.spec("WAS-028")
async def test_the_group_of_a_pod() -> None:
    """Given a pod with an empty group, when it is made, then it is refused; the group of a pod is
    neither changed, nor cleared, nor given later.
    """
    async with cluster_of(disable_admission_plugins=("ServiceAccount",)) as cluster:
        def pod(name: str, **spec: Any) -> Tree:
            return body(name, containers=[{"name": "c", "image": "i"}], **spec)

        [text] = await told(cluster.client.create(PODS, pod("a", schedulingGroup={})))
        assert text == "spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`"
        await cluster.client.create(PODS, pod("with", schedulingGroup={"podGroupName": "g"}))
        await cluster.client.create(PODS, pod("without"))
        for name, group in (("with", {"podGroupName": "h"}), ("with", None), ("without", {"podGroupName": "g"})):
            [text] = await told(cluster.client.patch(PODS, name, NAMESPACE, {"spec": {"schedulingGroup": group}}))
            assert text.startswith("spec: Forbidden: pod updates may not change fields other than")


async def test_what_may_not_change_and_is_too_much_is_told_twice(cluster: Cluster) -> None:
    """Given a Workload and a PodGroup, when an update gives one a ninth template and the other five
    claims, then both faults of each are told.
    """
    names = [f"t{number}" for number in range(8)]
    await cluster.client.create(WORKLOADS, body(podGroupTemplates=[leaf(name) for name in names]))
    nine = {"spec": {"podGroupTemplates": [leaf(name) for name in [*names, "t8"]]}}
    path = "spec.podGroupTemplates"
    assert await told(cluster.client.patch(WORKLOADS, "x", NAMESPACE, nine)) == [
        f"{path}: Too many: 9: must have at most 8 items", f"{path}[8]: Forbidden: item may not be added"]
    await cluster.client.create(POD_GROUPS, body(schedulingPolicy=BASIC))
    claims = {"spec": {"resourceClaims": [{"name": name, "resourceClaimName": "c"} for name in "abcde"]}}
    assert await told(cluster.client.patch(POD_GROUPS, "x", NAMESPACE, claims)) == [
        "spec.resourceClaims: Invalid value: null: field is immutable",
        "spec.resourceClaims: Too many: 5: must have at most 4 items"]
