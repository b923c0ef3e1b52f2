"""Objects of Kueue's older version, and what they are in the newer one."""

from copy import deepcopy

import pytest

from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.conversion import conversions
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, GROUP, LOCAL_QUEUES, MULTIKUEUE_CLUSTERS, OLD_VERSION, WORKLOADS

OLD, NEW = f"{GROUP}/v1beta1", f"{GROUP}/v1beta2"


def old(resource):
    return resource._replace(version=OLD_VERSION)


@pytest.fixture
async def cluster():
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon()]) as cluster:
        yield cluster


@pytest.mark.spec("KUEUE-026")
async def test_a_cluster_queue_of_the_older_version_reads_in_its_newer_form(cluster):
    """Given a ClusterQueue that is written as v1beta1 When it is read as v1beta2 and as v1beta1
    Then fields have their newer names there, and the older version has the newer form of checks and
    of fungibility."""
    client = cluster.client
    await client.create(old(CLUSTER_QUEUES), {
        "metadata": {"name": "q"}, "spec": {
            "cohort": "all", "admissionChecks": ["a", "b"],
            "flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}}})
    checks = {"admissionChecks": [{"name": "a"}, {"name": "b"}]}
    fungibility = {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"}
    newer, older = await client.get(CLUSTER_QUEUES, "q"), await client.get(old(CLUSTER_QUEUES), "q")
    assert (newer["spec"]["cohortName"], older["spec"]["cohort"]) == ("all", "all")
    for spec in (newer["spec"], older["spec"]):
        assert spec["admissionChecksStrategy"] == checks
        assert spec["flavorFungibility"] == fungibility
        assert "admissionChecks" not in spec
    [listed] = (await client.list(old(CLUSTER_QUEUES))).items
    assert listed["spec"]["cohort"] == "all"
    definition = await client.get(await client.resource("customresourcedefinitions"), f"clusterqueues.{GROUP}")
    assert definition["spec"]["conversion"]["strategy"] == "Webhook"


@pytest.mark.spec("KUEUE-026")
async def test_a_workload_of_the_older_version_has_a_reference_to_its_class(cluster):
    """Given a Workload that is written as v1beta1 with a priority class When it is read as v1beta2
    Then it has a reference to the class, and the older version still has its name and source."""
    client = cluster.client
    template = {"spec": {"containers": [{"name": "c", "image": "a"}], "restartPolicy": "Never"}}
    await client.create(old(WORKLOADS), {
        "metadata": {"name": "w"}, "spec": {
            "podSets": [{"name": "main", "count": 1, "template": template}], "priority": 5, "priorityClassName": "high",
            "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}}, "default")
    newer, older = await client.get(WORKLOADS, "w", "default"), await client.get(old(WORKLOADS), "w", "default")
    assert newer["spec"]["priorityClassRef"] == {"group": GROUP, "kind": "WorkloadPriorityClass", "name": "high"}
    assert (older["spec"]["priorityClassName"], older["spec"]["priorityClassSource"]) == (
        "high", "kueue.x-k8s.io/workloadpriorityclass")


def there_and_back(plural, older):
    function = conversions(Features())[f"{plural}.{GROUP}"]
    newer = function({"apiVersion": OLD, "metadata": {"name": "a"}, **older}, NEW)
    assert newer["apiVersion"] == NEW
    shown = {key: value for key, value in newer.items() if key not in ("apiVersion", "metadata")}
    return shown, function(deepcopy(newer), OLD)


@pytest.mark.spec("KUEUE-026")
def test_status_fields_are_renamed():
    """Given a LocalQueue and a Workload with statuses of v1beta1 When they are converted Then usage
    and accumulated time have their newer names, and their older ones on the way back."""
    usage = [{"name": "f", "resources": []}]
    newer, back = there_and_back(LOCAL_QUEUES.plural, {"status": {"flavorUsage": usage, "flavors": []}})
    assert newer["status"] == {"flavorsUsage": usage}
    assert back["status"] == {"flavorUsage": usage}
    newer, back = there_and_back(WORKLOADS.plural, {"status": {"accumulatedPastExexcutionTimeSeconds": 3}})
    assert newer["status"] == {"accumulatedPastExecutionTimeSeconds": 3}
    assert back["status"] == {"accumulatedPastExexcutionTimeSeconds": 3}


@pytest.mark.spec("KUEUE-026")
def test_a_topology_assignment_is_written_compactly():
    """Given a Workload of v1beta1 whose podset is in two domains When it is converted and back Then
    v1beta2 has slices in the place of domains, and v1beta1 the domains that it had."""
    given = {"levels": ["kubernetes.io/hostname"], "domains": [{"values": [name], "count": 1} for name in ("x1", "x2")]}
    status = {"admission": {"clusterQueue": "q", "podSetAssignments": [{"name": "main", "topologyAssignment": given}]}}
    newer, back = there_and_back(WORKLOADS.plural, {"status": status})
    [slice_] = newer["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]["slices"]
    assert slice_["domainCount"] == 2
    assert back["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] == given


@pytest.mark.spec("KUEUE-026")
def test_where_a_kubeconfig_lies_is_a_source():
    """Given a MultiKueueCluster of v1beta1 with a kubeconfig, and one of v1beta2 with a profile
    When they are converted Then the kubeconfig is a source, and the older version says that there
    is none."""
    config = {"location": "s", "locationType": "Secret"}
    newer, back = there_and_back(MULTIKUEUE_CLUSTERS.plural, {"spec": {"kubeConfig": config}})
    assert newer["spec"] == {"clusterSource": {"kubeConfig": config}}
    assert back["spec"] == {"kubeConfig": config}
    function = conversions(Features())[f"{MULTIKUEUE_CLUSTERS.plural}.{GROUP}"]
    profile = {"apiVersion": NEW, "spec": {"clusterSource": {"clusterProfileRef": {"name": "p"}}}}
    assert function(profile, OLD)["spec"] == {
        "kubeConfig": {"location": "", "locationType": ""}, "clusterProfileRef": {"name": "p"}}
