"""Every gate of Kueue: its default, and whether it may be switched."""

import pytest

from fakekube_controllers.kueue.configfile.model import ConfigurationError
from fakekube_controllers.kueue.configfile.reading import gates
from fakekube_controllers.kueue.features import Features

ON = """
    PartialAdmission FlavorFungibility VisibilityOnDemand PrioritySortingWithinCohort
    FairSharingPreemptWithinNominal FairSharingPrioritizeNonBorrowing MultiKueue TopologyAwareScheduling
    LocalQueueMetrics TASProfileMixed HierarchicalCohorts AdmissionFairSharing ObjectRetentionPolicies
    TASFailedNodeReplacement ElasticJobsViaWorkloadSlices TASFailedNodeReplacementFailFast
    TASReplaceNodeOnPodTermination SkipReassignmentForPodOwnedWorkloads
    ManagedJobsNamespaceSelectorAlwaysRespected TASAssignmentsEncodingByHostnamePrefix KueueDRAIntegration
    KueueDRAIntegrationExtendedResource QuotaCheckStrategy KueueDRARejectWorkloadsWhenDRADisabled
    KueueDRAIntegrationPartitionableDevices MultiKueueAdaptersForCustomJobs ReclaimablePods
    PropagateBatchJobLabelsToWorkload SkipFinalizersForPodsSuspendedByParent MultiKueueWaitForWorkloadAdmitted
    MultiKueueRedoAdmissionOnEvictionInWorker TLSOptions RemoveFinalizersWithStrictPatch
    TASReplaceNodeOnNodeTaints AssignQueueLabelsForPods TASMultiLayerTopology SchedulingEquivalenceHashing
    AdmissionGatedBy FinishOrphanedWorkloads MultiKueueIncrementalDispatcherConfig
    MultiKueueIncrementalDispatcherRespectConfigOrder MetricForWorkloadCreationLatency
    WorkloadIdentifierAnnotations MetricsForCohorts CleanupProvisioningRequestsOnEviction
    TASHandleOverlappingFlavors TASRecomputeAssignmentWithinSchedulingCycle
    DeferRayServiceFinalizationForRedisCleanup TASCacheNodeMatchResults TASCachingRemainingResources
    VectorizedResourceRequests WorkloadValidateResourcesAreNonNegative TASValidateWorkloadSliceSize
    WorkloadValidationForPodSetMetadata LWSImmutableGroupSize FlavorFungibilityPreserveScanProgress
    SkipAncestorCheckForDeletedWorkloads MultiKueueRemoteSpecSync
"""
OFF = """
    DisableWaitForPodsReady ElasticJobsViaWorkloadSlicesWithTAS TASReplaceNodeDueToNotReadyOverFixedTime
    TASBalancedPlacement KueueDRAIntegrationConsumableCapacity WorkloadRequestUseMergePatch
    MultiKueueAllowInsecureKubeconfigs MultiKueueKubeConfigPathValidation MultiKueueClusterProfile
    FailureRecoveryPolicy SchedulerLongRequeueInterval SchedulerTimestampPreemptionBuffer CustomMetricLabels
    SparkApplicationIntegration MultiKueueOrchestratedPreemption PriorityBoost ShortWorkloadNames
    FastQuotaReleaseInPodIntegration RejectUpdatesToCQWithInvalidOnFlavors ConcurrentAdmission
    TASRespectNodeAffinityPreferred MultiKueueManagerQuotaAutomation WorkloadPriorityClassDefaulting
    UnadmittedWorkloadsObservability UnadmittedWorkloadsExplicitStatus SchedulerLibraryIntegration
    RecomputeAssignmentUponPreemptionTargetsOverlap PodGroupSets PodGateMetrics WorkloadSliceHistory
    ElasticDeployments KEPTexts
"""
LOCKED = """
    HierarchicalCohorts ObjectRetentionPolicies ManagedJobsNamespaceSelectorAlwaysRespected
    MultiKueueAllowInsecureKubeconfigs PropagateBatchJobLabelsToWorkload
    SkipFinalizersForPodsSuspendedByParent MultiKueueWaitForWorkloadAdmitted
    MultiKueueRedoAdmissionOnEvictionInWorker
"""


def test_all_gates_have_their_defaults() -> None:
    """Given nothing, when the gates are read, then these are on, those are off, and there are no
    others.
    """
    found = gates({})._asdict()
    assert {name for name, on in found.items() if on} == {*ON.split()}
    assert {name for name, on in found.items() if not on} == {*OFF.split()}


@pytest.mark.parametrize("name", LOCKED.split())
def test_a_locked_gate_stays_as_it_is(name: str) -> None:
    """Given a gate that is locked, when it is switched, then that is refused; saying its default
    is not.
    """
    usual = Features()._asdict()[name]
    gates({name: usual})
    text = f"cannot set feature gate {name} to {str(not usual).lower()}, feature is locked to {str(usual).lower()}"
    with pytest.raises(ConfigurationError, match=text):
        gates({name: not usual})
