"""The feature gates of Kueue 0.19.1, with its names and defaults, and those that are ours.

Upstream: pkg/features/kube_features.go. ``KEP_DRAFTS`` are what the KEPs say and no release does.
"""

from typing import NamedTuple


class Features(NamedTuple):
    """Which are on."""

    PartialAdmission: bool = True
    FlavorFungibility: bool = True
    VisibilityOnDemand: bool = True
    DisableWaitForPodsReady: bool = False
    PrioritySortingWithinCohort: bool = True
    FairSharingPreemptWithinNominal: bool = True
    FairSharingPrioritizeNonBorrowing: bool = True
    MultiKueue: bool = True
    TopologyAwareScheduling: bool = True
    LocalQueueMetrics: bool = True
    TASProfileMixed: bool = True
    HierarchicalCohorts: bool = True
    AdmissionFairSharing: bool = True
    ObjectRetentionPolicies: bool = True
    TASFailedNodeReplacement: bool = True
    ElasticJobsViaWorkloadSlices: bool = True
    ElasticJobsViaWorkloadSlicesWithTAS: bool = False
    TASFailedNodeReplacementFailFast: bool = True
    TASReplaceNodeOnPodTermination: bool = True
    SkipReassignmentForPodOwnedWorkloads: bool = True
    TASReplaceNodeDueToNotReadyOverFixedTime: bool = False
    ManagedJobsNamespaceSelectorAlwaysRespected: bool = True
    TASBalancedPlacement: bool = False
    TASAssignmentsEncodingByHostnamePrefix: bool = True
    KueueDRAIntegration: bool = True
    KueueDRAIntegrationExtendedResource: bool = True
    QuotaCheckStrategy: bool = True
    KueueDRARejectWorkloadsWhenDRADisabled: bool = True
    KueueDRAIntegrationPartitionableDevices: bool = True
    KueueDRAIntegrationConsumableCapacity: bool = False
    MultiKueueAdaptersForCustomJobs: bool = True
    WorkloadRequestUseMergePatch: bool = False
    MultiKueueAllowInsecureKubeconfigs: bool = False
    MultiKueueKubeConfigPathValidation: bool = False
    ReclaimablePods: bool = True
    PropagateBatchJobLabelsToWorkload: bool = True
    MultiKueueClusterProfile: bool = False
    FailureRecoveryPolicy: bool = False
    SkipFinalizersForPodsSuspendedByParent: bool = True
    MultiKueueWaitForWorkloadAdmitted: bool = True
    MultiKueueRedoAdmissionOnEvictionInWorker: bool = True
    TLSOptions: bool = True
    RemoveFinalizersWithStrictPatch: bool = True
    TASReplaceNodeOnNodeTaints: bool = True
    AssignQueueLabelsForPods: bool = True
    TASMultiLayerTopology: bool = True
    SchedulingEquivalenceHashing: bool = True
    SchedulerLongRequeueInterval: bool = False
    SchedulerTimestampPreemptionBuffer: bool = False
    CustomMetricLabels: bool = False
    SparkApplicationIntegration: bool = False
    MultiKueueOrchestratedPreemption: bool = False
    PriorityBoost: bool = False
    AdmissionGatedBy: bool = True
    ShortWorkloadNames: bool = False
    FastQuotaReleaseInPodIntegration: bool = False
    RejectUpdatesToCQWithInvalidOnFlavors: bool = False
    FinishOrphanedWorkloads: bool = True
    MultiKueueIncrementalDispatcherConfig: bool = True
    MultiKueueIncrementalDispatcherRespectConfigOrder: bool = True
    ConcurrentAdmission: bool = False
    MetricForWorkloadCreationLatency: bool = True
    TASRespectNodeAffinityPreferred: bool = False
    MultiKueueManagerQuotaAutomation: bool = False
    WorkloadIdentifierAnnotations: bool = True
    WorkloadPriorityClassDefaulting: bool = False
    MetricsForCohorts: bool = True
    CleanupProvisioningRequestsOnEviction: bool = True
    TASHandleOverlappingFlavors: bool = True
    UnadmittedWorkloadsObservability: bool = False
    TASRecomputeAssignmentWithinSchedulingCycle: bool = True
    UnadmittedWorkloadsExplicitStatus: bool = False
    DeferRayServiceFinalizationForRedisCleanup: bool = True
    TASCacheNodeMatchResults: bool = True
    TASCachingRemainingResources: bool = True
    SchedulerLibraryIntegration: bool = False
    VectorizedResourceRequests: bool = True
    WorkloadValidateResourcesAreNonNegative: bool = True
    TASValidateWorkloadSliceSize: bool = True
    WorkloadValidationForPodSetMetadata: bool = True
    LWSImmutableGroupSize: bool = True
    FlavorFungibilityPreserveScanProgress: bool = True
    SkipAncestorCheckForDeletedWorkloads: bool = True
    MultiKueueRemoteSpecSync: bool = True
    RecomputeAssignmentUponPreemptionTargetsOverlap: bool = False

    # ours, each off: see KEP_DRAFTS
    PodGroupSets: bool = False
    PodGateMetrics: bool = False
    WorkloadSliceHistory: bool = False
    ElasticDeployments: bool = False
    KEPTexts: bool = False


LOCKED = (
    "HierarchicalCohorts", "ObjectRetentionPolicies", "ManagedJobsNamespaceSelectorAlwaysRespected",
    "MultiKueueAllowInsecureKubeconfigs", "PropagateBatchJobLabelsToWorkload",
    "SkipFinalizersForPodsSuspendedByParent", "MultiKueueWaitForWorkloadAdmitted",
    "MultiKueueRedoAdmissionOnEvictionInWorker",
)
"""Those that may only be what they are by default."""

KEP_DRAFTS = ("PodGroupSets", "PodGateMetrics", "WorkloadSliceHistory", "ElasticDeployments", "KEPTexts")
"""The gates that are ours; the preset ``kep-drafts`` switches all of them on."""
