"""Typed models of batch/v1: Job, CronJob and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.meta import LabelSelector, ObjectMeta
from fakekube.types.object import Object
from fakekube.types.persistentvolumes import ObjectReference
from fakekube.types.pods import PodTemplateSpec
from fakekube.types.values import Bool, Int, Time


class PodFailurePolicyOnExitCodesRequirement(Model):
    """In PodFailurePolicyRule.onExitCodes."""

    container_name: str | None = None
    operator: str = ""
    values: list[Int] = empty(list)


class PodFailurePolicyOnPodConditionsPattern(Model):
    """In PodFailurePolicyRule.onPodConditions."""

    type: str = ""
    status: str = ""


class PodFailurePolicyRule(Model):
    """In PodFailurePolicy.rules."""

    action: str = ""
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: list[PodFailurePolicyOnPodConditionsPattern] = empty(list)


class PodFailurePolicy(Model):
    """In JobSpec.podFailurePolicy."""

    rules: list[PodFailurePolicyRule] = empty(list)


class SuccessPolicyRule(Model):
    """In SuccessPolicy.rules."""

    succeeded_indexes: str | None = None
    succeeded_count: Int | None = None


class SuccessPolicy(Model):
    """In JobSpec.successPolicy."""

    rules: list[SuccessPolicyRule] = empty(list)


class WorkloadPodGroupBasicSchedulingPolicy(Model):
    """In WorkloadPodGroupSchedulingPolicy.basic."""


class WorkloadPodGroupGangSchedulingPolicy(Model):
    """In WorkloadPodGroupSchedulingPolicy.gang."""

    min_count: Int | None = None


class WorkloadPodGroupSchedulingPolicy(Model):
    """In JobSchedulingConfiguration.schedulingPolicy."""

    basic: WorkloadPodGroupBasicSchedulingPolicy | None = None
    gang: WorkloadPodGroupGangSchedulingPolicy | None = None


class TopologyConstraint(Model):
    """In WorkloadPodGroupSchedulingConstraints.topology and others."""

    key: str = ""


class WorkloadPodGroupSchedulingConstraints(Model):
    """In JobSchedulingConfiguration.schedulingConstraints."""

    topology: list[TopologyConstraint] = empty(list)


class WorkloadPodGroupSingleDisruptionMode(Model):
    """In WorkloadPodGroupDisruptionMode.single."""


class WorkloadPodGroupAllDisruptionMode(Model):
    """In WorkloadPodGroupDisruptionMode.all."""


class WorkloadPodGroupDisruptionMode(Model):
    """In JobSchedulingConfiguration.disruptionMode."""

    single: WorkloadPodGroupSingleDisruptionMode | None = None
    all: WorkloadPodGroupAllDisruptionMode | None = None


class WorkloadPodGroupResourceClaim(Model):
    """In JobSchedulingConfiguration.resourceClaims."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class JobSchedulingConfiguration(Model):
    """In JobSpec.scheduling."""

    scheduling_policy: WorkloadPodGroupSchedulingPolicy | None = None
    scheduling_constraints: WorkloadPodGroupSchedulingConstraints | None = None
    disruption_mode: WorkloadPodGroupDisruptionMode | None = None
    resource_claims: list[WorkloadPodGroupResourceClaim] = empty(list)


class JobSpec(Model):
    """In Job.spec, JobTemplateSpec.spec."""

    parallelism: Int | None = None
    completions: Int | None = None
    active_deadline_seconds: Int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    backoff_limit: Int | None = None
    backoff_limit_per_index: Int | None = None
    max_failed_indexes: Int | None = None
    selector: LabelSelector | None = None
    manual_selector: Bool | None = None
    template: PodTemplateSpec = empty(PodTemplateSpec)
    ttl_seconds_after_finished: Int | None = None
    completion_mode: str | None = None
    suspend: Bool | None = None
    pod_replacement_policy: str | None = None
    managed_by: str | None = None
    scheduling: JobSchedulingConfiguration | None = None


class JobCondition(Model):
    """In JobStatus.conditions."""

    type: str = ""
    status: str = ""
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class UncountedTerminatedPods(Model):
    """In JobStatus.uncountedTerminatedPods."""

    succeeded: list[str] = empty(list)
    failed: list[str] = empty(list)


class JobStatus(Model):
    """In Job.status."""

    conditions: list[JobCondition] = empty(list)
    start_time: Time | None = None
    completion_time: Time | None = None
    active: Int = 0
    succeeded: Int = 0
    failed: Int = 0
    terminating: Int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None
    ready: Int | None = None


class Job(Object):
    """``jobs`` of batch/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("batch", "v1", "jobs", "Job")

    spec: JobSpec = empty(JobSpec)
    status: JobStatus = empty(JobStatus)


class JobTemplateSpec(Model):
    """In CronJobSpec.jobTemplate."""

    metadata: ObjectMeta = empty(ObjectMeta)
    spec: JobSpec = empty(JobSpec)


class CronJobSpec(Model):
    """In CronJob.spec."""

    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: Int | None = None
    concurrency_policy: str = ""
    suspend: Bool | None = None
    job_template: JobTemplateSpec = empty(JobTemplateSpec)
    successful_jobs_history_limit: Int | None = None
    failed_jobs_history_limit: Int | None = None


class CronJobStatus(Model):
    """In CronJob.status."""

    active: list[ObjectReference] = empty(list)
    last_schedule_time: Time | None = None
    last_successful_time: Time | None = None


class CronJob(Object):
    """``cronjobs`` of batch/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("batch", "v1", "cronjobs", "CronJob")

    spec: CronJobSpec = empty(CronJobSpec)
    status: CronJobStatus = empty(CronJobStatus)
