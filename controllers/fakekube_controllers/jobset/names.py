"""Labels, annotations and names of what belongs to a JobSet.

Upstream: api/jobset/v1alpha2/jobset_types.go, pkg/constants, pkg/util/placement.
"""

from hashlib import sha1

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import Resource

JOBSETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")

DOMAIN = "jobset.sigs.k8s.io"
JOBSET_NAME = f"{DOMAIN}/jobset-name"
JOBSET_UID = f"{DOMAIN}/jobset-uid"
REPLICATED_JOB_NAME = f"{DOMAIN}/replicatedjob-name"
REPLICATED_JOB_REPLICAS = f"{DOMAIN}/replicatedjob-replicas"
GLOBAL_REPLICAS = f"{DOMAIN}/global-replicas"
RESTART_ATTEMPT = f"{DOMAIN}/restart-attempt"
JOB_RESTART_ATTEMPT = f"{DOMAIN}/job-restart-attempt"
JOB_INDEX = f"{DOMAIN}/job-index"
JOB_KEY = f"{DOMAIN}/job-key"
JOB_GLOBAL_INDEX = f"{DOMAIN}/job-global-index"
GROUP_NAME = f"{DOMAIN}/group-name"
GROUP_REPLICAS = f"{DOMAIN}/group-replicas"
JOB_GROUP_INDEX = f"{DOMAIN}/job-group-index"
COORDINATOR = f"{DOMAIN}/coordinator"
PRIORITY = f"{DOMAIN}/priority"
IN_PLACE_RESTART_ATTEMPT = f"{DOMAIN}/in-place-restart-attempt"
EXCLUSIVE_TOPOLOGY = f"alpha.{DOMAIN}/exclusive-topology"
NODE_SELECTOR_STRATEGY = f"alpha.{DOMAIN}/node-selector"
NAMESPACED_JOB = f"alpha.{DOMAIN}/namespaced-job"
NO_SCHEDULE = f"alpha.{DOMAIN}/no-schedule"

CONTROLLER = f"{DOMAIN}/jobset-controller"
"""The value of ``spec.managedBy`` that stands for the controller here."""

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def job_name(jobset: str, replicated_job: str, index: int) -> str:
    """``<jobset>-<replicated job>-<index>``."""
    return f"{jobset}-{replicated_job}-{index}"


def pod_name(jobset: str, replicated_job: str, job_index: int | str, pod_index: int | str) -> str:
    """The name of a pod of an Indexed Job, without its random end."""
    return f"{jobset}-{replicated_job}-{job_index}-{pod_index}"


def claim_name(jobset: str, template: str) -> str:
    """The name of the claim that is made of a template."""
    return f"{template}-{jobset}"


def job_key(namespace: str, job: str) -> str:
    """A hash that names one Job of the cluster within the length of a label."""
    return sha1(f"{namespace}/{job}".encode(), usedforsecurity=False).hexdigest()


def replicated_jobs(jobset: ReadOnlyTree) -> list[Tree]:
    """``spec.replicatedJobs``, never None."""
    return (jobset.get("spec") or meta.EMPTY).get("replicatedJobs") or []


def replicas(replicated_job: ReadOnlyTree) -> int:
    """How many Jobs are to be made of a replicated job; negative where somebody wrote that."""
    return int(replicated_job.get("replicas", 0))


def subdomain(jobset: ReadOnlyTree) -> str:
    """The name of the JobSet's Service.

    By default it is that of the JobSet, which a generated name is known for only here.
    """
    network = jobset["spec"].get("network") or meta.EMPTY
    return str(network.get("subdomain") or meta.name_of(jobset))


def has_dns_hostnames(jobset: ReadOnlyTree) -> bool:
    """Whether pods are reached by their names, through a headless Service."""
    return bool((jobset["spec"].get("network") or meta.EMPTY).get("enableDNSHostnames"))


def coordinator_endpoint(jobset: ReadOnlyTree) -> str:
    """Where the pod that coordinates is reached; the JobSet must name one."""
    told = jobset["spec"]["coordinator"]
    pod = pod_name(meta.name_of(jobset), told.get("replicatedJob", ""), told.get("jobIndex", 0), told.get("podIndex", 0))
    return f"{pod}.{subdomain(jobset)}"


def is_suspended(obj: ReadOnlyTree) -> bool:
    """Whether a JobSet or Job is suspended."""
    return bool((obj.get("spec") or meta.EMPTY).get("suspend"))


def is_leader(pod: ReadOnlyTree) -> bool:
    """Whether a pod is the first of its Job."""
    return meta.annotations_of(pod).get(COMPLETION_INDEX) == "0"
