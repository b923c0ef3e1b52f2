"""Every field of a Configuration of Kueue, as it is taken over, and every complaint about one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fakekube.apimachinery.labels import from_label_selector
from fakekube.runtime.component import WrongOption
from fakekube_controllers.kueue import configuration as told
from fakekube_controllers.kueue.configfile.reading import read
from fakekube_controllers.kueue.features import Features

WRONG = yaml.load((Path(__file__).parent / "configurations.yaml").read_text(), yaml.CSafeLoader)

FULL = {
    "namespace": "own", "manageJobsWithoutQueueName": True, "managedJobsNamespaceSelector": {"matchLabels": {"a": "b"}},
    "waitForPodsReady": {
        "timeout": "10s", "blockAdmission": True, "recoveryTimeout": "20s",
        "requeuingStrategy": {
            "timestamp": "Creation", "backoffLimitCount": 2, "backoffBaseSeconds": 3, "backoffMaxSeconds": 4}},
    "integrations": {"frameworks": ["pod"], "externalFrameworks": ["Foo.v1.example.com"], "labelKeysToCopy": ["l"]},
    "multiKueue": {
        "gcInterval": "70s", "origin": "here", "workerLostTimeout": "2m",
        "dispatcherName": "kueue.x-k8s.io/multikueue-dispatcher-incremental",
        "externalFrameworks": [{"name": "Foo.v1.example.com"}], "incrementalDispatcherConfig": {"stepSize": 5}},
    "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
    "admissionFairSharing": {"usageHalfLifeTime": "5s", "usageSamplingInterval": "6s", "resourceWeights": {"cpu": 2}},
    "resources": {
        "excludeResourcePrefixes": ["x"], "quotaCheckStrategy": "BlockUndeclared",
        "transformations": [
            {"input": "a", "strategy": "Replace", "multiplyBy": "m", "outputs": {"b": 1.5}}, {"input": "c"}],
        "deviceClassMappings": [{"name": "r", "deviceClassNames": ["d", "e"]}]},
    "objectRetentionPolicies": {"workloads": {"afterFinished": "1h", "afterDeactivatedByKueue": "2h"}},
    "metrics": {
        "enableClusterQueueResources": True,
        "customLabels": [
            {"name": "n", "sourceLabelKey": "k"},
            {"name": "w", "sourceKind": "Workload", "sourceAnnotationKey": "z", "trackedValues": ["v"]}],
        "localQueueMetrics": {"enable": False, "localQueueSelector": {"matchLabels": {"c": "d"}}}}}


def test_every_field_is_taken_over() -> None:
    """Given a file that says every field, when it is read, then the configuration has each of them.
    """
    assert read(FULL) == told.Configuration(
        namespace="own", manage_jobs_without_queue_name=True,
        managed_jobs_namespace_selector=from_label_selector({"matchLabels": {"a": "b"}}),
        wait_for_pods_ready=told.WaitForPodsReady(10.0, 20.0, True, told.RequeuingStrategy("Creation", 2, 3, 4)),
        integrations=told.Integrations(("pod",), ("Foo.v1.example.com",), ("l",), ()),
        multi_kueue=told.MultiKueue(
            70.0, "here", 120.0, "kueue.x-k8s.io/multikueue-dispatcher-incremental", ("Foo.v1.example.com",), 5),
        fair_sharing=told.FairSharing(("LessThanInitialShare",)),
        admission_fair_sharing=told.AdmissionFairSharing(5.0, 6.0, {"cpu": 2.0}),
        resources=told.Resources("BlockUndeclared", ("x",), (
            told.ResourceTransformation("a", "Replace", "m", {"b": "1.5"}),
            told.ResourceTransformation("c", "Retain", "", {})), {"d": "r", "e": "r"}),
        workload_retention=told.WorkloadRetentionPolicy(3600.0, 7200.0, 10),
        metrics=told.Metrics(
            True, (told.CustomLabel("n", "k", "", "ClusterQueue", ()), told.CustomLabel("w", "", "z", "Workload", ("v",))),
            False, from_label_selector({"matchLabels": {"c": "d"}})))


def test_what_is_not_said_is_upstreams_default() -> None:
    """Given a file whose parts are there and empty, when it is read, then they have the defaults
    of upstream; the preset of the drafts leaves alone what is said besides.
    """
    found = read({
        "admissionFairSharing": {}, "waitForPodsReady": {"requeuingStrategy": {}}, "integrations": {}, "multiKueue": {},
        "metrics": {"localQueueMetrics": {"enable": True}}, "featureGates": {"kep-drafts": True, "PodGroupSets": False}})
    changed = {name for name, on in found.features._asdict().items() if on != Features()._asdict()[name]}
    assert changed == {"PodGateMetrics", "WorkloadSliceHistory", "ElasticDeployments", "KEPTexts"}
    assert str(found.managed_jobs_namespace_selector) == "kubernetes.io/metadata.name notin (kube-system,kueue-system)"
    assert found.wait_for_pods_ready == told.WaitForPodsReady(
        1800.0, 1800.0, False, told.RequeuingStrategy("Eviction", None, 60, 3600))
    assert found[:3] + found[4:11] == (
        "kueue-system", False, found.managed_jobs_namespace_selector, told.Integrations(("batch/job",), (), (), ()),
        told.MultiKueue(60.0, "multikueue", 900.0, "kueue.x-k8s.io/multikueue-dispatcher-all-at-once", (), 3), None,
        told.AdmissionFairSharing(0.0, 300.0, {}), told.Resources("BlockUndeclared", (), (), {}),
        told.WorkloadRetentionPolicy(None, None, 10), told.Metrics(False, (), True, None))


def test_the_older_version_has_its_own_defaults() -> None:
    """Given v1beta1 with its switches, when it is read, then pods may take five minutes, and who
    says nothing of blocking blocks.
    """
    old = {"apiVersion": "config.kueue.x-k8s.io/v1beta1", "kind": "Configuration"}
    strategies = {"enable": True, "preemptionStrategies": ["LessThanInitialShare"]}
    found = read({**old, "waitForPodsReady": {"enable": True, "blockAdmission": False}, "fairSharing": strategies})
    usual = told.RequeuingStrategy("Eviction", None, 60, 3600)
    assert found.wait_for_pods_ready == told.WaitForPodsReady(300.0, 300.0, False, usual)
    assert found.fair_sharing == told.FairSharing(("LessThanInitialShare",))
    found = read({**old, "waitForPodsReady": {"enable": True}})
    assert found.wait_for_pods_ready == told.WaitForPodsReady(300.0, 300.0, True, usual)
    assert read({**old, "waitForPodsReady": {"timeout": "1s"}}).wait_for_pods_ready is None


@pytest.mark.parametrize("case", [pytest.param(each, id=each["case"].replace(" ", "-")) for each in WRONG])
def test_a_configuration_that_is_wrong_is_refused(case: dict[str, Any]) -> None:
    """Given a file with faults, when it is read, then all of them are told, in upstream's order."""
    with pytest.raises(WrongOption) as caught:
        read(case["given"])
    assert str(caught.value) == case["told"]
