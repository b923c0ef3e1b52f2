"""What ClusterQueues, Cohorts, LocalQueues and ResourceFlavors get, and what they may not be."""

import pytest

from fakekube_controllers.kueue.names import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, RESOURCE_FLAVORS, RESOURCE_IN_USE_FINALIZER
from tests.controllers.kueue.webhooks.conftest import group, quota

FIRST = "spec.resourceGroups[0].flavors[0].resources[0]"


@pytest.mark.spec("KUEUE-001")
async def test_a_cluster_queue_has_defaults_and_a_finalizer(rules):
    """Given a ClusterQueue that says next to nothing When it is created Then it has policies, and
    is kept while it is used."""
    made = await rules.create(CLUSTER_QUEUES, {})
    assert made["metadata"]["finalizers"] == [RESOURCE_IN_USE_FINALIZER]
    assert made["spec"] == {
        "queueingStrategy": "BestEffortFIFO", "stopPolicy": "None",
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {
            "withinClusterQueue": "Never", "reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "Never"}}}


@pytest.mark.spec("KUEUE-002", "KUEUE-003", "KUEUE-004")
@pytest.mark.parametrize(("limits", "cohort", "text"), [
    ({"lendingLimit": "1"}, "", f'{FIRST}.lendingLimit: Invalid value: "1": must be nil when cohort is empty'),
    ({"nominal": "-1"}, "", f'{FIRST}.nominalQuota: Invalid value: "-1": must be greater than or equal to 0'),
    ({"borrowingLimit": "-1", "lendingLimit": "-2"}, "c",
     (f'[{FIRST}.borrowingLimit: Invalid value: "-1": must be greater than or equal to 0, '
     f'{FIRST}.lendingLimit: Invalid value: "-2": must be greater than or equal to 0]')),
    ({"lendingLimit": "1500m"}, "c",
     f'{FIRST}.lendingLimit: Invalid value: "1500m": must be less than or equal to the nominalQuota'),
])
async def test_quotas_that_may_not_be(rules, limits, cohort, text):
    """Given quotas of a ClusterQueue that cannot be When it is created Then the webhook says which
    field is wrong."""
    spec = {"cohortName": cohort} if cohort else {}
    assert await rules.denied(rules.cluster_queue(group(quota(**limits)), **spec)) == text


@pytest.mark.spec("KUEUE-002", "KUEUE-003")
async def test_limits_of_zero_in_a_cohort(rules):
    """Given a borrowing limit without a cohort, and limits of zero in one When the ClusterQueues
    are created Then a rule of the definition refuses the first, and the second is there."""
    limited = group(quota(borrowingLimit="1"))
    assert await rules.invalid(rules.cluster_queue(limited)) == (
        "spec: Invalid value: borrowingLimit must be nil when cohort is empty")
    zeros = group(quota(nominal="0", borrowingLimit="0", lendingLimit="0"))
    made = await rules.cluster_queue(zeros, cohortName="c")
    assert made["spec"]["resourceGroups"] == [zeros]


@pytest.mark.spec("KUEUE-002")
async def test_an_amount_that_is_none(rules):
    """Given a quota that is no amount When the ClusterQueue is created Then the first webhook that
    reads it cannot, and says so."""
    code, text = await rules.refused(rules.cluster_queue(group(quota(nominal="one"))))
    assert code == 400
    assert text.startswith('admission webhook "mclusterqueue.kb.io" denied the request: quantities must match the regular')


@pytest.mark.spec("KUEUE-005", "KUEUE-006")
async def test_groups_list_what_they_cover_once(rules):
    """Given flavors that list resources in another order, too few of them, or what another group
    has When ClusterQueues are created Then each is refused."""
    turned = group(quota("memory"), quota("cpu"), covered=["cpu", "memory"])
    assert await rules.denied(rules.cluster_queue(turned)) == (
        f'[{FIRST}.name: Invalid value: "memory": must match the name in coveredResources, '
        'spec.resourceGroups[0].flavors[0].resources[1].name: Invalid value: "cpu": must match the name in coveredResources]')
    too_few = group(quota(), covered=["cpu", "memory"])
    assert "same number of resources as the coveredResources" in await rules.invalid(rules.cluster_queue(too_few))
    assert await rules.denied(rules.cluster_queue(group(quota()), group(quota(), flavor="g"))) == (
        'spec.resourceGroups[1].coveredResources[0]: Duplicate value: "cpu"')
    assert await rules.denied(rules.cluster_queue(group(quota()), group(quota("memory")))) == (
        'spec.resourceGroups[1].flavors[0].name: Duplicate value: "f"')


@pytest.mark.spec("KUEUE-007", "KUEUE-008", "KUEUE-009")
async def test_policies(rules):
    """Given a ClusterQueue that never reclaims but borrows, weights that are too small, and a
    strategy that changes When they are written Then all but the last are refused."""
    preemption = {"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "LowerPriority"}}
    assert "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never" in await rules.invalid(
        rules.cluster_queue(preemption=preemption))
    assert await rules.denied(rules.cluster_queue(fairSharing={"weight": "-1"})) == (
        'spec.fairSharing: Invalid value: "-1": must be greater than or equal to 0')
    assert await rules.denied(rules.cluster_queue(fairSharing={"weight": "1n"})) == (
        'spec.fairSharing: Invalid value: "1n": When not 0, weight must be > 10e-9')
    await rules.cluster_queue(fairSharing={"weight": "0.5"})
    changed = await rules.change(CLUSTER_QUEUES, {"spec": {"queueingStrategy": "StrictFIFO", "fairSharing": {"weight": 0}}})
    assert changed["spec"]["queueingStrategy"] == "StrictFIFO"


async def test_flavors_of_checks_are_those_of_the_queue(rules):
    """Given a check for a flavor that the ClusterQueue does not have When it is created Then it is
    refused."""
    checks = {"admissionChecks": [{"name": "a", "onFlavors": ["g"]}]}
    assert await rules.denied(rules.cluster_queue(group(quota()), admissionChecksStrategy=checks)) == (
        'spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]: Unsupported value: "g": supported values: "f"')


async def test_a_selector_must_be_one(rules):
    """Given a selector without the values that its operator needs When the ClusterQueue is created
    Then it is refused."""
    selector = {"matchExpressions": [{"key": "a", "operator": "In"}]}
    assert "values: Required value" in await rules.denied(rules.create(CLUSTER_QUEUES, {"namespaceSelector": selector}))


@pytest.mark.spec("KUEUE-010")
async def test_a_local_queue_stays_with_its_cluster_queue(rules):
    """Given a LocalQueue When its ClusterQueue is changed Then it is refused."""
    await rules.create(LOCAL_QUEUES, {"clusterQueue": "a"})
    assert "field is immutable" in await rules.invalid(rules.change(LOCAL_QUEUES, {"spec": {"clusterQueue": "b"}}))


@pytest.mark.spec("KUEUE-011")
async def test_flavors(rules):
    """Given ResourceFlavors with too many or wrong labels, taints and tolerations When they are
    created Then they are refused, and one with eight of each is there, with its finalizer."""
    def labels(count):
        return {f"l{number}": "x" for number in range(count)}

    def taints(count):
        return [{"key": f"k{number}", "effect": "NoSchedule"} for number in range(count)]

    async def create(**spec):
        return await rules.create(RESOURCE_FLAVORS, spec)

    assert "Too many: 9" in await rules.invalid(create(nodeLabels=labels(9)))
    assert "Too many: 9" in await rules.invalid(create(nodeTaints=taints(9)))
    assert "supported taint effect values" in await rules.invalid(create(nodeTaints=[{"key": "k", "effect": "Never"}]))
    assert 'spec.nodeLabels: Invalid value: "@l"' in await rules.denied(create(nodeLabels={"@l": "x"}))
    assert 'spec.tolerations[0].key: Invalid value: "@k"' in await rules.denied(create(tolerations=[{"key": "@k"}]))
    twice = [{"key": "k", "value": "v", "effect": "NoSchedule"}] * 2
    assert await rules.denied(create(nodeTaints=twice)) == (
        'spec.nodeTaints[1]: Duplicate value: {"key":"k","value":"v","effect":"NoSchedule"}: '
        "taints must be unique by key and effect pair")
    made = await create(nodeLabels=labels(8), nodeTaints=taints(8))
    assert made["metadata"]["finalizers"] == [RESOURCE_IN_USE_FINALIZER]


@pytest.mark.spec("KUEUE-004", "KUEUE-013")
async def test_cohorts(rules):
    """Given a Cohort with limits, without and with a parent When they are created Then limits need
    a parent, and may lend more than the quota."""
    limits = group(quota(borrowingLimit="0", lendingLimit="5"))
    texts = [f'{FIRST}.{name}: Invalid value: "{value}": must be nil when parent is empty' for name, value in (
        ("borrowingLimit", 0), ("lendingLimit", 5))]
    assert await rules.denied(rules.create(COHORTS, {"resourceGroups": [limits]})) == f"[{', '.join(texts)}]"
    await rules.create(COHORTS, {"parentName": "p", "resourceGroups": [limits]})
    assert await rules.denied(rules.change(COHORTS, {"spec": {"parentName": None}})) == f"[{', '.join(texts)}]"
