"""Typed models for people who write controllers and tests.

Pod, Job, Workload and all their parts.

``docs/types.md`` shows how to use them; ``base.py`` and ``object.py`` say what they are. A name is
loaded when it is first asked for. Where two groups have a type of one name, it is here that of the
first: the other is in its group's module, as in ``fakekube.types.events``.
"""

# Made by tools/typed_models.py: change that, and run make facts.
# ruff: noqa: I001 - one name a line would be too long a list

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fakekube.types.apiextensions import (
        CustomResourceColumnDefinition as CustomResourceColumnDefinition, CustomResourceConversion as CustomResourceConversion,
        CustomResourceDefinition as CustomResourceDefinition, CustomResourceDefinitionCondition as
        CustomResourceDefinitionCondition, CustomResourceDefinitionNames as CustomResourceDefinitionNames,
        CustomResourceDefinitionSpec as CustomResourceDefinitionSpec, CustomResourceDefinitionStatus as
        CustomResourceDefinitionStatus, CustomResourceDefinitionVersion as CustomResourceDefinitionVersion,
        CustomResourceSubresourceScale as CustomResourceSubresourceScale, CustomResourceSubresourceStatus as
        CustomResourceSubresourceStatus, CustomResourceSubresources as CustomResourceSubresources, CustomResourceValidation as
        CustomResourceValidation, ExternalDocumentation as ExternalDocumentation, JSONSchemaProps as JSONSchemaProps,
        SelectableField as SelectableField, ServiceReference as ServiceReference, ValidationRule as ValidationRule,
        WebhookClientConfig as WebhookClientConfig, WebhookConversion as WebhookConversion
    )
    from fakekube.types.apps import (
        ControllerRevision as ControllerRevision, DaemonSet as DaemonSet, DaemonSetCondition as DaemonSetCondition,
        DaemonSetSpec as DaemonSetSpec, DaemonSetStatus as DaemonSetStatus, DaemonSetUpdateStrategy as DaemonSetUpdateStrategy,
        Deployment as Deployment, DeploymentCondition as DeploymentCondition, DeploymentSpec as DeploymentSpec, DeploymentStatus
        as DeploymentStatus, DeploymentStrategy as DeploymentStrategy, ReplicaSet as ReplicaSet, ReplicaSetCondition as
        ReplicaSetCondition, ReplicaSetSpec as ReplicaSetSpec, ReplicaSetStatus as ReplicaSetStatus, RollingUpdateDaemonSet as
        RollingUpdateDaemonSet, RollingUpdateDeployment as RollingUpdateDeployment, RollingUpdateStatefulSetStrategy as
        RollingUpdateStatefulSetStrategy, StatefulSet as StatefulSet, StatefulSetCondition as StatefulSetCondition,
        StatefulSetOrdinals as StatefulSetOrdinals, StatefulSetPersistentVolumeClaimRetentionPolicy as
        StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec as StatefulSetSpec, StatefulSetStatus as
        StatefulSetStatus, StatefulSetUpdateStrategy as StatefulSetUpdateStrategy
    )
    from fakekube.types.autoscaling import (
        ContainerResourceMetricSource as ContainerResourceMetricSource, ContainerResourceMetricStatus as
        ContainerResourceMetricStatus, CrossVersionObjectReference as CrossVersionObjectReference, ExternalMetricSource as
        ExternalMetricSource, ExternalMetricStatus as ExternalMetricStatus, HPAScalingPolicy as HPAScalingPolicy,
        HPAScalingRules as HPAScalingRules, HorizontalPodAutoscaler as HorizontalPodAutoscaler, HorizontalPodAutoscalerBehavior
        as HorizontalPodAutoscalerBehavior, HorizontalPodAutoscalerCondition as HorizontalPodAutoscalerCondition,
        HorizontalPodAutoscalerSpec as HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus as
        HorizontalPodAutoscalerStatus, MetricIdentifier as MetricIdentifier, MetricSpec as MetricSpec, MetricStatus as
        MetricStatus, MetricTarget as MetricTarget, MetricValueStatus as MetricValueStatus, ObjectMetricSource as
        ObjectMetricSource, ObjectMetricStatus as ObjectMetricStatus, PodsMetricSource as PodsMetricSource, PodsMetricStatus as
        PodsMetricStatus, ResourceMetricSource as ResourceMetricSource, ResourceMetricStatus as ResourceMetricStatus
    )
    from fakekube.types.base import (
        Model as Model, empty as empty, wire as wire
    )
    from fakekube.types.batch import (
        CronJob as CronJob, CronJobSpec as CronJobSpec, CronJobStatus as CronJobStatus, Job as Job, JobCondition as
        JobCondition, JobSchedulingConfiguration as JobSchedulingConfiguration, JobSpec as JobSpec, JobStatus as JobStatus,
        JobTemplateSpec as JobTemplateSpec, PodFailurePolicy as PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement as
        PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyOnPodConditionsPattern as
        PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule as PodFailurePolicyRule, SuccessPolicy as SuccessPolicy,
        SuccessPolicyRule as SuccessPolicyRule, TopologyConstraint as TopologyConstraint, UncountedTerminatedPods as
        UncountedTerminatedPods, WorkloadPodGroupAllDisruptionMode as WorkloadPodGroupAllDisruptionMode,
        WorkloadPodGroupBasicSchedulingPolicy as WorkloadPodGroupBasicSchedulingPolicy, WorkloadPodGroupDisruptionMode as
        WorkloadPodGroupDisruptionMode, WorkloadPodGroupGangSchedulingPolicy as WorkloadPodGroupGangSchedulingPolicy,
        WorkloadPodGroupResourceClaim as WorkloadPodGroupResourceClaim, WorkloadPodGroupSchedulingConstraints as
        WorkloadPodGroupSchedulingConstraints, WorkloadPodGroupSchedulingPolicy as WorkloadPodGroupSchedulingPolicy,
        WorkloadPodGroupSingleDisruptionMode as WorkloadPodGroupSingleDisruptionMode
    )
    from fakekube.types.claims import (
        ModifyVolumeStatus as ModifyVolumeStatus, PersistentVolumeClaim as PersistentVolumeClaim, PersistentVolumeClaimCondition
        as PersistentVolumeClaimCondition, PersistentVolumeClaimSpec as PersistentVolumeClaimSpec, PersistentVolumeClaimStatus
        as PersistentVolumeClaimStatus, TypedLocalObjectReference as TypedLocalObjectReference, TypedObjectReference as
        TypedObjectReference, VolumeHealthCondition as VolumeHealthCondition, VolumeHealthStatus as VolumeHealthStatus,
        VolumeResourceRequirements as VolumeResourceRequirements
    )
    from fakekube.types.containers import (
        AppArmorProfile as AppArmorProfile, Capabilities as Capabilities, ConfigMapEnvSource as ConfigMapEnvSource,
        ConfigMapKeySelector as ConfigMapKeySelector, Container as Container, ContainerPort as ContainerPort,
        ContainerResizePolicy as ContainerResizePolicy, ContainerRestartRule as ContainerRestartRule,
        ContainerRestartRuleOnExitCodes as ContainerRestartRuleOnExitCodes, EnvFromSource as EnvFromSource, EnvVar as EnvVar,
        EnvVarSource as EnvVarSource, EphemeralContainer as EphemeralContainer, ExecAction as ExecAction, FileKeySelector as
        FileKeySelector, GRPCAction as GRPCAction, HTTPGetAction as HTTPGetAction, HTTPHeader as HTTPHeader, Lifecycle as
        Lifecycle, LifecycleHandler as LifecycleHandler, Probe as Probe, ResourceRequirements as ResourceRequirements,
        SELinuxOptions as SELinuxOptions, SeccompProfile as SeccompProfile, SecretEnvSource as SecretEnvSource,
        SecretKeySelector as SecretKeySelector, SecurityContext as SecurityContext, SleepAction as SleepAction, TCPSocketAction
        as TCPSocketAction, VolumeDevice as VolumeDevice, VolumeMount as VolumeMount, WindowsSecurityContextOptions as
        WindowsSecurityContextOptions
    )
    from fakekube.types.coordination import (
        Lease as Lease, LeaseSpec as LeaseSpec
    )
    from fakekube.types.core import (
        AttachedVolume as AttachedVolume, ClientIPConfig as ClientIPConfig, ConfigMap as ConfigMap, ConfigMapNodeConfigSource as
        ConfigMapNodeConfigSource, ContainerImage as ContainerImage, DaemonEndpoint as DaemonEndpoint, EndpointAddress as
        EndpointAddress, EndpointPort as EndpointPort, EndpointSubset as EndpointSubset, Endpoints as Endpoints, Event as Event,
        EventSeries as EventSeries, EventSource as EventSource, LimitRange as LimitRange, LimitRangeItem as LimitRangeItem,
        LimitRangeSpec as LimitRangeSpec, LoadBalancerIngress as LoadBalancerIngress, LoadBalancerStatus as LoadBalancerStatus,
        Namespace as Namespace, NamespaceCondition as NamespaceCondition, NamespaceSpec as NamespaceSpec, NamespaceStatus as
        NamespaceStatus, Node as Node, NodeAddress as NodeAddress, NodeCondition as NodeCondition, NodeConfigSource as
        NodeConfigSource, NodeConfigStatus as NodeConfigStatus, NodeDaemonEndpoints as NodeDaemonEndpoints, NodeFeatures as
        NodeFeatures, NodePodPreemptionPolicy as NodePodPreemptionPolicy, NodeRuntimeHandler as NodeRuntimeHandler,
        NodeRuntimeHandlerFeatures as NodeRuntimeHandlerFeatures, NodeSpec as NodeSpec, NodeStatus as NodeStatus, NodeSwapStatus
        as NodeSwapStatus, NodeSystemInfo as NodeSystemInfo, PortStatus as PortStatus, ResourceQuota as ResourceQuota,
        ResourceQuotaSpec as ResourceQuotaSpec, ResourceQuotaStatus as ResourceQuotaStatus, ScopeSelector as ScopeSelector,
        ScopedResourceSelectorRequirement as ScopedResourceSelectorRequirement, Secret as Secret, Service as Service,
        ServiceAccount as ServiceAccount, ServicePort as ServicePort, ServiceSpec as ServiceSpec, ServiceStatus as
        ServiceStatus, SessionAffinityConfig as SessionAffinityConfig, Taint as Taint
    )
    from fakekube.types.definitions import (
        Definition as Definition, PrinterColumn as PrinterColumn, ScalePaths as ScalePaths, definition_of as definition_of
    )
    from fakekube.types.discovery import (
        Endpoint as Endpoint, EndpointConditions as EndpointConditions, EndpointHints as EndpointHints, EndpointSlice as
        EndpointSlice, ForNode as ForNode, ForZone as ForZone
    )
    from fakekube.types.meta import (
        Condition as Condition, LabelSelector as LabelSelector, LabelSelectorRequirement as LabelSelectorRequirement, ListMeta
        as ListMeta, ManagedFieldsEntry as ManagedFieldsEntry, ObjectMeta as ObjectMeta, OwnerReference as OwnerReference,
        ShardInfo as ShardInfo, Status as Status, StatusCause as StatusCause, StatusDetails as StatusDetails
    )
    from fakekube.types.networking import (
        HTTPIngressPath as HTTPIngressPath, HTTPIngressRuleValue as HTTPIngressRuleValue, IPBlock as IPBlock, Ingress as
        Ingress, IngressBackend as IngressBackend, IngressClass as IngressClass, IngressClassParametersReference as
        IngressClassParametersReference, IngressClassSpec as IngressClassSpec, IngressLoadBalancerIngress as
        IngressLoadBalancerIngress, IngressLoadBalancerStatus as IngressLoadBalancerStatus, IngressPortStatus as
        IngressPortStatus, IngressRule as IngressRule, IngressServiceBackend as IngressServiceBackend, IngressSpec as
        IngressSpec, IngressStatus as IngressStatus, IngressTLS as IngressTLS, NetworkPolicy as NetworkPolicy,
        NetworkPolicyEgressRule as NetworkPolicyEgressRule, NetworkPolicyIngressRule as NetworkPolicyIngressRule,
        NetworkPolicyPeer as NetworkPolicyPeer, NetworkPolicyPort as NetworkPolicyPort, NetworkPolicySpec as NetworkPolicySpec,
        ServiceBackendPort as ServiceBackendPort
    )
    from fakekube.types.node import (
        Overhead as Overhead, RuntimeClass as RuntimeClass, Scheduling as Scheduling
    )
    from fakekube.types.object import (
        Object as Object
    )
    from fakekube.types.persistentvolumes import (
        AzureFilePersistentVolumeSource as AzureFilePersistentVolumeSource, CSIPersistentVolumeSource as
        CSIPersistentVolumeSource, CephFSPersistentVolumeSource as CephFSPersistentVolumeSource, CinderPersistentVolumeSource as
        CinderPersistentVolumeSource, FlexPersistentVolumeSource as FlexPersistentVolumeSource, GlusterfsPersistentVolumeSource
        as GlusterfsPersistentVolumeSource, ISCSIPersistentVolumeSource as ISCSIPersistentVolumeSource, LocalVolumeSource as
        LocalVolumeSource, NodeSelector as NodeSelector, NodeSelectorRequirement as NodeSelectorRequirement, NodeSelectorTerm as
        NodeSelectorTerm, ObjectReference as ObjectReference, PersistentVolume as PersistentVolume, PersistentVolumeSpec as
        PersistentVolumeSpec, PersistentVolumeStatus as PersistentVolumeStatus, RBDPersistentVolumeSource as
        RBDPersistentVolumeSource, ScaleIOPersistentVolumeSource as ScaleIOPersistentVolumeSource, SecretReference as
        SecretReference, StorageOSPersistentVolumeSource as StorageOSPersistentVolumeSource, VolumeNodeAffinity as
        VolumeNodeAffinity
    )
    from fakekube.types.placement import (
        Affinity as Affinity, NodeAffinity as NodeAffinity, PodAffinity as PodAffinity, PodAffinityTerm as PodAffinityTerm,
        PodAntiAffinity as PodAntiAffinity, PodSchedulingGate as PodSchedulingGate, PreferredSchedulingTerm as
        PreferredSchedulingTerm, Toleration as Toleration, TopologySpreadConstraint as TopologySpreadConstraint,
        WeightedPodAffinityTerm as WeightedPodAffinityTerm
    )
    from fakekube.types.pods import (
        ContainerExtendedResourceRequest as ContainerExtendedResourceRequest, ContainerState as ContainerState,
        ContainerStateRunning as ContainerStateRunning, ContainerStateTerminated as ContainerStateTerminated,
        ContainerStateWaiting as ContainerStateWaiting, ContainerStatus as ContainerStatus, ContainerUser as ContainerUser,
        EvictionResponder as EvictionResponder, HostAlias as HostAlias, HostIP as HostIP, ImageVolumeStatus as
        ImageVolumeStatus, LinuxContainerUser as LinuxContainerUser, NodeAllocatableMappedResources as
        NodeAllocatableMappedResources, NodeAllocatableOverheadResources as NodeAllocatableOverheadResources,
        NodeAllocatableResourceClaimStatus as NodeAllocatableResourceClaimStatus, Pod as Pod, PodCondition as PodCondition,
        PodDNSConfig as PodDNSConfig, PodDNSConfigOption as PodDNSConfigOption, PodExtendedResourceClaimStatus as
        PodExtendedResourceClaimStatus, PodIP as PodIP, PodOS as PodOS, PodReadinessGate as PodReadinessGate, PodResourceClaim
        as PodResourceClaim, PodResourceClaimStatus as PodResourceClaimStatus, PodSchedulingGroup as PodSchedulingGroup,
        PodSecurityContext as PodSecurityContext, PodSpec as PodSpec, PodStatus as PodStatus, PodTemplate as PodTemplate,
        PodTemplateSpec as PodTemplateSpec, PodVolumeHealth as PodVolumeHealth, ReplicationController as ReplicationController,
        ReplicationControllerCondition as ReplicationControllerCondition, ReplicationControllerSpec as
        ReplicationControllerSpec, ReplicationControllerStatus as ReplicationControllerStatus, ResourceHealth as ResourceHealth,
        ResourceStatus as ResourceStatus, Sysctl as Sysctl, VolumeMountStatus as VolumeMountStatus, VolumeStatus as VolumeStatus
    )
    from fakekube.types.policy import (
        PodDisruptionBudget as PodDisruptionBudget, PodDisruptionBudgetSpec as PodDisruptionBudgetSpec,
        PodDisruptionBudgetStatus as PodDisruptionBudgetStatus
    )
    from fakekube.types.rbac import (
        AggregationRule as AggregationRule, ClusterRole as ClusterRole, ClusterRoleBinding as ClusterRoleBinding, PolicyRule as
        PolicyRule, Role as Role, RoleBinding as RoleBinding, RoleRef as RoleRef, Subject as Subject
    )
    from fakekube.types.resource import (
        AllocatedDeviceStatus as AllocatedDeviceStatus, AllocationResult as AllocationResult, CELDeviceSelector as
        CELDeviceSelector, CapacityRequestPolicy as CapacityRequestPolicy, CapacityRequestPolicyRange as
        CapacityRequestPolicyRange, CapacityRequirements as CapacityRequirements, Counter as Counter, CounterSet as CounterSet,
        Device as Device, DeviceAllocationConfiguration as DeviceAllocationConfiguration, DeviceAllocationResult as
        DeviceAllocationResult, DeviceAttribute as DeviceAttribute, DeviceCapacity as DeviceCapacity, DeviceClaim as
        DeviceClaim, DeviceClaimConfiguration as DeviceClaimConfiguration, DeviceClass as DeviceClass, DeviceClassConfiguration
        as DeviceClassConfiguration, DeviceClassSpec as DeviceClassSpec, DeviceConstraint as DeviceConstraint,
        DeviceCounterConsumption as DeviceCounterConsumption, DeviceDerivedAttribute as DeviceDerivedAttribute, DeviceRequest as
        DeviceRequest, DeviceRequestAllocationResult as DeviceRequestAllocationResult, DeviceSelector as DeviceSelector,
        DeviceSubRequest as DeviceSubRequest, DeviceTaint as DeviceTaint, DeviceToleration as DeviceToleration,
        ExactDeviceRequest as ExactDeviceRequest, NetworkDeviceData as NetworkDeviceData, NodeAllocatableMapping as
        NodeAllocatableMapping, NodeAllocatableOverhead as NodeAllocatableOverhead, NodeAllocatableResource as
        NodeAllocatableResource, OpaqueDeviceConfiguration as OpaqueDeviceConfiguration, ResourceClaim as ResourceClaim,
        ResourceClaimConsumerReference as ResourceClaimConsumerReference, ResourceClaimSpec as ResourceClaimSpec,
        ResourceClaimStatus as ResourceClaimStatus, ResourceClaimTemplate as ResourceClaimTemplate, ResourceClaimTemplateSpec as
        ResourceClaimTemplateSpec, ResourcePool as ResourcePool, ResourceSlice as ResourceSlice, ResourceSliceSpec as
        ResourceSliceSpec
    )
    from fakekube.types.scheduling import (
        AllCompositeDisruptionMode as AllCompositeDisruptionMode, AllDisruptionMode as AllDisruptionMode, BasicSchedulingPolicy
        as BasicSchedulingPolicy, CompositeBasicSchedulingPolicy as CompositeBasicSchedulingPolicy, CompositeDisruptionMode as
        CompositeDisruptionMode, CompositeGangSchedulingPolicy as CompositeGangSchedulingPolicy,
        CompositePodGroupSchedulingConstraints as CompositePodGroupSchedulingConstraints, CompositePodGroupSchedulingPolicy as
        CompositePodGroupSchedulingPolicy, CompositePodGroupTemplate as CompositePodGroupTemplate, DisruptionMode as
        DisruptionMode, GangSchedulingPolicy as GangSchedulingPolicy, PodGroup as PodGroup, PodGroupResourceClaim as
        PodGroupResourceClaim, PodGroupResourceClaimStatus as PodGroupResourceClaimStatus, PodGroupSchedulingConstraints as
        PodGroupSchedulingConstraints, PodGroupSchedulingPolicy as PodGroupSchedulingPolicy, PodGroupSpec as PodGroupSpec,
        PodGroupStatus as PodGroupStatus, PodGroupTemplate as PodGroupTemplate, PriorityClass as PriorityClass,
        SingleCompositeDisruptionMode as SingleCompositeDisruptionMode, SingleDisruptionMode as SingleDisruptionMode, Workload
        as Workload, WorkloadReference as WorkloadReference, WorkloadSpec as WorkloadSpec
    )
    from fakekube.types.scheduling_v1alpha3 import (
        CompositePodGroup as CompositePodGroup, CompositePodGroupSpec as CompositePodGroupSpec, CompositePodGroupStatus as
        CompositePodGroupStatus
    )
    from fakekube.types.storage import (
        CSIDriver as CSIDriver, CSIDriverSpec as CSIDriverSpec, CSINode as CSINode, CSINodeDriver as CSINodeDriver, CSINodeSpec
        as CSINodeSpec, CSINodeStatus as CSINodeStatus, StorageClass as StorageClass, StorageHealth as StorageHealth,
        StorageHealthCondition as StorageHealthCondition, TokenRequest as TokenRequest, TopologySelectorLabelRequirement as
        TopologySelectorLabelRequirement, TopologySelectorTerm as TopologySelectorTerm, VolumeAttachment as VolumeAttachment,
        VolumeAttachmentSource as VolumeAttachmentSource, VolumeAttachmentSpec as VolumeAttachmentSpec, VolumeAttachmentStatus
        as VolumeAttachmentStatus, VolumeError as VolumeError, VolumeNodeResources as VolumeNodeResources
    )
    from fakekube.types.values import (
        Bool as Bool, Int as Int, IntOrString as IntOrString, Json as Json, MicroTime as MicroTime, Number as Number, Quantity
        as Quantity, Time as Time, quantity as quantity
    )
    from fakekube.types.volumes import (
        AWSElasticBlockStoreVolumeSource as AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource as AzureDiskVolumeSource,
        AzureFileVolumeSource as AzureFileVolumeSource, CSIVolumeSource as CSIVolumeSource, CephFSVolumeSource as
        CephFSVolumeSource, CinderVolumeSource as CinderVolumeSource, ClusterTrustBundleProjection as
        ClusterTrustBundleProjection, ConfigMapProjection as ConfigMapProjection, ConfigMapVolumeSource as
        ConfigMapVolumeSource, DownwardAPIProjection as DownwardAPIProjection, DownwardAPIVolumeFile as DownwardAPIVolumeFile,
        DownwardAPIVolumeSource as DownwardAPIVolumeSource, EmptyDirVolumeSource as EmptyDirVolumeSource, EphemeralVolumeSource
        as EphemeralVolumeSource, FCVolumeSource as FCVolumeSource, FlexVolumeSource as FlexVolumeSource, FlockerVolumeSource as
        FlockerVolumeSource, GCEPersistentDiskVolumeSource as GCEPersistentDiskVolumeSource, GitRepoVolumeSource as
        GitRepoVolumeSource, GlusterfsVolumeSource as GlusterfsVolumeSource, HostPathVolumeSource as HostPathVolumeSource,
        ISCSIVolumeSource as ISCSIVolumeSource, ImageVolumeSource as ImageVolumeSource, KeyToPath as KeyToPath,
        LocalObjectReference as LocalObjectReference, NFSVolumeSource as NFSVolumeSource, ObjectFieldSelector as
        ObjectFieldSelector, PersistentVolumeClaimTemplate as PersistentVolumeClaimTemplate, PersistentVolumeClaimVolumeSource
        as PersistentVolumeClaimVolumeSource, PhotonPersistentDiskVolumeSource as PhotonPersistentDiskVolumeSource,
        PodCertificateProjection as PodCertificateProjection, PortworxVolumeSource as PortworxVolumeSource,
        ProjectedVolumeSource as ProjectedVolumeSource, QuobyteVolumeSource as QuobyteVolumeSource, RBDVolumeSource as
        RBDVolumeSource, ResourceFieldSelector as ResourceFieldSelector, ScaleIOVolumeSource as ScaleIOVolumeSource,
        SecretProjection as SecretProjection, SecretVolumeSource as SecretVolumeSource, ServiceAccountTokenProjection as
        ServiceAccountTokenProjection, StorageOSVolumeSource as StorageOSVolumeSource, Volume as Volume, VolumeProjection as
        VolumeProjection, VsphereVirtualDiskVolumeSource as VsphereVirtualDiskVolumeSource
    )

_NAMES = {
    "apiextensions": (
        "CustomResourceColumnDefinition CustomResourceConversion CustomResourceDefinition CustomResourceDefinitionCondition "
        "CustomResourceDefinitionNames CustomResourceDefinitionSpec CustomResourceDefinitionStatus "
        "CustomResourceDefinitionVersion CustomResourceSubresourceScale CustomResourceSubresourceStatus "
        "CustomResourceSubresources CustomResourceValidation ExternalDocumentation JSONSchemaProps SelectableField "
        "ServiceReference ValidationRule WebhookClientConfig WebhookConversion "
    ),
    "apps": (
        "ControllerRevision DaemonSet DaemonSetCondition DaemonSetSpec DaemonSetStatus DaemonSetUpdateStrategy Deployment "
        "DeploymentCondition DeploymentSpec DeploymentStatus DeploymentStrategy ReplicaSet ReplicaSetCondition ReplicaSetSpec "
        "ReplicaSetStatus RollingUpdateDaemonSet RollingUpdateDeployment RollingUpdateStatefulSetStrategy StatefulSet "
        "StatefulSetCondition StatefulSetOrdinals StatefulSetPersistentVolumeClaimRetentionPolicy StatefulSetSpec "
        "StatefulSetStatus StatefulSetUpdateStrategy "
    ),
    "autoscaling": (
        "ContainerResourceMetricSource ContainerResourceMetricStatus CrossVersionObjectReference ExternalMetricSource "
        "ExternalMetricStatus HPAScalingPolicy HPAScalingRules HorizontalPodAutoscaler HorizontalPodAutoscalerBehavior "
        "HorizontalPodAutoscalerCondition HorizontalPodAutoscalerSpec HorizontalPodAutoscalerStatus MetricIdentifier "
        "MetricSpec MetricStatus MetricTarget MetricValueStatus ObjectMetricSource ObjectMetricStatus PodsMetricSource "
        "PodsMetricStatus ResourceMetricSource ResourceMetricStatus "
    ),
    "base": (
        "Model empty wire "
    ),
    "batch": (
        "CronJob CronJobSpec CronJobStatus Job JobCondition JobSchedulingConfiguration JobSpec JobStatus JobTemplateSpec "
        "PodFailurePolicy PodFailurePolicyOnExitCodesRequirement PodFailurePolicyOnPodConditionsPattern PodFailurePolicyRule "
        "SuccessPolicy SuccessPolicyRule TopologyConstraint UncountedTerminatedPods WorkloadPodGroupAllDisruptionMode "
        "WorkloadPodGroupBasicSchedulingPolicy WorkloadPodGroupDisruptionMode WorkloadPodGroupGangSchedulingPolicy "
        "WorkloadPodGroupResourceClaim WorkloadPodGroupSchedulingConstraints WorkloadPodGroupSchedulingPolicy "
        "WorkloadPodGroupSingleDisruptionMode "
    ),
    "claims": (
        "ModifyVolumeStatus PersistentVolumeClaim PersistentVolumeClaimCondition PersistentVolumeClaimSpec "
        "PersistentVolumeClaimStatus TypedLocalObjectReference TypedObjectReference VolumeHealthCondition VolumeHealthStatus "
        "VolumeResourceRequirements "
    ),
    "containers": (
        "AppArmorProfile Capabilities ConfigMapEnvSource ConfigMapKeySelector Container ContainerPort ContainerResizePolicy "
        "ContainerRestartRule ContainerRestartRuleOnExitCodes EnvFromSource EnvVar EnvVarSource EphemeralContainer ExecAction "
        "FileKeySelector GRPCAction HTTPGetAction HTTPHeader Lifecycle LifecycleHandler Probe ResourceRequirements "
        "SELinuxOptions SeccompProfile SecretEnvSource SecretKeySelector SecurityContext SleepAction TCPSocketAction "
        "VolumeDevice VolumeMount WindowsSecurityContextOptions "
    ),
    "coordination": (
        "Lease LeaseSpec "
    ),
    "core": (
        "AttachedVolume ClientIPConfig ConfigMap ConfigMapNodeConfigSource ContainerImage DaemonEndpoint EndpointAddress "
        "EndpointPort EndpointSubset Endpoints Event EventSeries EventSource LimitRange LimitRangeItem LimitRangeSpec "
        "LoadBalancerIngress LoadBalancerStatus Namespace NamespaceCondition NamespaceSpec NamespaceStatus Node NodeAddress "
        "NodeCondition NodeConfigSource NodeConfigStatus NodeDaemonEndpoints NodeFeatures NodePodPreemptionPolicy "
        "NodeRuntimeHandler NodeRuntimeHandlerFeatures NodeSpec NodeStatus NodeSwapStatus NodeSystemInfo PortStatus "
        "ResourceQuota ResourceQuotaSpec ResourceQuotaStatus ScopeSelector ScopedResourceSelectorRequirement Secret Service "
        "ServiceAccount ServicePort ServiceSpec ServiceStatus SessionAffinityConfig Taint "
    ),
    "definitions": (
        "Definition PrinterColumn ScalePaths definition_of "
    ),
    "discovery": (
        "Endpoint EndpointConditions EndpointHints EndpointSlice ForNode ForZone "
    ),
    "meta": (
        "Condition LabelSelector LabelSelectorRequirement ListMeta ManagedFieldsEntry ObjectMeta OwnerReference ShardInfo "
        "Status StatusCause StatusDetails "
    ),
    "networking": (
        "HTTPIngressPath HTTPIngressRuleValue IPBlock Ingress IngressBackend IngressClass IngressClassParametersReference "
        "IngressClassSpec IngressLoadBalancerIngress IngressLoadBalancerStatus IngressPortStatus IngressRule "
        "IngressServiceBackend IngressSpec IngressStatus IngressTLS NetworkPolicy NetworkPolicyEgressRule "
        "NetworkPolicyIngressRule NetworkPolicyPeer NetworkPolicyPort NetworkPolicySpec ServiceBackendPort "
    ),
    "node": (
        "Overhead RuntimeClass Scheduling "
    ),
    "object": (
        "Object "
    ),
    "persistentvolumes": (
        "AzureFilePersistentVolumeSource CSIPersistentVolumeSource CephFSPersistentVolumeSource CinderPersistentVolumeSource "
        "FlexPersistentVolumeSource GlusterfsPersistentVolumeSource ISCSIPersistentVolumeSource LocalVolumeSource "
        "NodeSelector NodeSelectorRequirement NodeSelectorTerm ObjectReference PersistentVolume PersistentVolumeSpec "
        "PersistentVolumeStatus RBDPersistentVolumeSource ScaleIOPersistentVolumeSource SecretReference "
        "StorageOSPersistentVolumeSource VolumeNodeAffinity "
    ),
    "placement": (
        "Affinity NodeAffinity PodAffinity PodAffinityTerm PodAntiAffinity PodSchedulingGate PreferredSchedulingTerm "
        "Toleration TopologySpreadConstraint WeightedPodAffinityTerm "
    ),
    "pods": (
        "ContainerExtendedResourceRequest ContainerState ContainerStateRunning ContainerStateTerminated ContainerStateWaiting "
        "ContainerStatus ContainerUser EvictionResponder HostAlias HostIP ImageVolumeStatus LinuxContainerUser "
        "NodeAllocatableMappedResources NodeAllocatableOverheadResources NodeAllocatableResourceClaimStatus Pod PodCondition "
        "PodDNSConfig PodDNSConfigOption PodExtendedResourceClaimStatus PodIP PodOS PodReadinessGate PodResourceClaim "
        "PodResourceClaimStatus PodSchedulingGroup PodSecurityContext PodSpec PodStatus PodTemplate PodTemplateSpec "
        "PodVolumeHealth ReplicationController ReplicationControllerCondition ReplicationControllerSpec "
        "ReplicationControllerStatus ResourceHealth ResourceStatus Sysctl VolumeMountStatus VolumeStatus "
    ),
    "policy": (
        "PodDisruptionBudget PodDisruptionBudgetSpec PodDisruptionBudgetStatus "
    ),
    "rbac": (
        "AggregationRule ClusterRole ClusterRoleBinding PolicyRule Role RoleBinding RoleRef Subject "
    ),
    "resource": (
        "AllocatedDeviceStatus AllocationResult CELDeviceSelector CapacityRequestPolicy CapacityRequestPolicyRange "
        "CapacityRequirements Counter CounterSet Device DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute "
        "DeviceCapacity DeviceClaim DeviceClaimConfiguration DeviceClass DeviceClassConfiguration DeviceClassSpec "
        "DeviceConstraint DeviceCounterConsumption DeviceDerivedAttribute DeviceRequest DeviceRequestAllocationResult "
        "DeviceSelector DeviceSubRequest DeviceTaint DeviceToleration ExactDeviceRequest NetworkDeviceData "
        "NodeAllocatableMapping NodeAllocatableOverhead NodeAllocatableResource OpaqueDeviceConfiguration ResourceClaim "
        "ResourceClaimConsumerReference ResourceClaimSpec ResourceClaimStatus ResourceClaimTemplate ResourceClaimTemplateSpec "
        "ResourcePool ResourceSlice ResourceSliceSpec "
    ),
    "scheduling": (
        "AllCompositeDisruptionMode AllDisruptionMode BasicSchedulingPolicy CompositeBasicSchedulingPolicy "
        "CompositeDisruptionMode CompositeGangSchedulingPolicy CompositePodGroupSchedulingConstraints "
        "CompositePodGroupSchedulingPolicy CompositePodGroupTemplate DisruptionMode GangSchedulingPolicy PodGroup "
        "PodGroupResourceClaim PodGroupResourceClaimStatus PodGroupSchedulingConstraints PodGroupSchedulingPolicy "
        "PodGroupSpec PodGroupStatus PodGroupTemplate PriorityClass SingleCompositeDisruptionMode SingleDisruptionMode "
        "Workload WorkloadReference WorkloadSpec "
    ),
    "scheduling_v1alpha3": (
        "CompositePodGroup CompositePodGroupSpec CompositePodGroupStatus "
    ),
    "storage": (
        "CSIDriver CSIDriverSpec CSINode CSINodeDriver CSINodeSpec CSINodeStatus StorageClass StorageHealth "
        "StorageHealthCondition TokenRequest TopologySelectorLabelRequirement TopologySelectorTerm VolumeAttachment "
        "VolumeAttachmentSource VolumeAttachmentSpec VolumeAttachmentStatus VolumeError VolumeNodeResources "
    ),
    "values": (
        "Bool Int IntOrString Json MicroTime Number Quantity Time quantity "
    ),
    "volumes": (
        "AWSElasticBlockStoreVolumeSource AzureDiskVolumeSource AzureFileVolumeSource CSIVolumeSource CephFSVolumeSource "
        "CinderVolumeSource ClusterTrustBundleProjection ConfigMapProjection ConfigMapVolumeSource DownwardAPIProjection "
        "DownwardAPIVolumeFile DownwardAPIVolumeSource EmptyDirVolumeSource EphemeralVolumeSource FCVolumeSource "
        "FlexVolumeSource FlockerVolumeSource GCEPersistentDiskVolumeSource GitRepoVolumeSource GlusterfsVolumeSource "
        "HostPathVolumeSource ISCSIVolumeSource ImageVolumeSource KeyToPath LocalObjectReference NFSVolumeSource "
        "ObjectFieldSelector PersistentVolumeClaimTemplate PersistentVolumeClaimVolumeSource PhotonPersistentDiskVolumeSource "
        "PodCertificateProjection PortworxVolumeSource ProjectedVolumeSource QuobyteVolumeSource RBDVolumeSource "
        "ResourceFieldSelector ScaleIOVolumeSource SecretProjection SecretVolumeSource ServiceAccountTokenProjection "
        "StorageOSVolumeSource Volume VolumeProjection VsphereVirtualDiskVolumeSource "
    ),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'fakekube.types' has no attribute {name!r}")
    return getattr(import_module(f"fakekube.types.{_MODULES[name]}"), name)
