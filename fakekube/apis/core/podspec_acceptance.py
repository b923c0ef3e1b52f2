"""Whether a pod spec is fine at a glance.

Most are, and nobody needs to be told where a field of theirs is.

Nothing is refused here: what is unusual, or stands in a field that is rare, goes on to the checks
of ``podspec_validation``, which have words for what they find. Upstream: ValidatePodSpec, which has
no need of it.
"""

from fakekube.apimachinery import names, validation
from fakekube.apimachinery.types import Tree
from fakekube.apis.core.containers_validation import accepts_containers
from fakekube.apis.core.scheduling_validation import (
    accepts_tolerations,
    validate_affinity,
    validate_scheduling_gates,
    validate_scheduling_group,
    validate_spread_constraints,
)
from fakekube.apis.core.security_validation import validate_pod_context
from fakekube.apis.core.volumes_validation import accepted_volumes

RESTART_POLICIES = ("Always", "OnFailure", "Never")
PLAIN_DNS_POLICIES = ("ClusterFirst", "ClusterFirstWithHostNet", "Default")
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
MAX_INT32 = 2**31 - 1
SUBDOMAINS = ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName")
LABELS = ("hostname", "subdomain")
SCHEDULING = frozenset(("nodeSelector", "affinity", "schedulingGates", "schedulingGroup", "topologySpreadConstraints"))
PLAIN_FIELDS = SCHEDULING | {
    "activeDeadlineSeconds", "automountServiceAccountToken", "containers", "dnsPolicy", "enableServiceLinks",
    "imagePullSecrets", "initContainers", "preemptionPolicy", "priority", "restartPolicy", "schedulerName", "securityContext",
    "serviceAccount", "setHostnameAsFQDN", "shareProcessNamespace", "terminationGracePeriodSeconds", "tolerations", "volumes",
    *SUBDOMAINS, *LABELS,
}
"""Fields that are looked at here, and those that nobody looks at.

No field of the host's, of Windows or of claims is one.
"""


def accepts_pod_spec(spec: Tree) -> bool:
    """Whether nothing is wrong with a pod spec, defaults filled in, be it a Pod's or a template's,
    whatever gates are on.

    False tells nothing: whoever gets it has to ask for the errors.
    """
    if not spec.keys() <= PLAIN_FIELDS:
        return False
    if spec.get("restartPolicy") not in RESTART_POLICIES or spec.get("dnsPolicy") not in PLAIN_DNS_POLICIES:
        return False
    if "preemptionPolicy" in spec and spec["preemptionPolicy"] not in PREEMPTION_POLICIES:
        return False
    if not 1 <= spec.get("activeDeadlineSeconds", 1) <= MAX_INT32:
        return False
    for field in SUBDOMAINS:
        if (name := spec.get(field)) and names.dns1123_subdomain(name):
            return False
    for field in LABELS:
        if (name := spec.get(field)) and names.dns1123_label(name):
            return False
    if "tolerations" in spec and not accepts_tolerations(spec["tolerations"]):
        return False
    if not SCHEDULING.isdisjoint(spec) and not _accepts_scheduling(spec):
        return False
    context = spec.get("securityContext")
    if context and ("windowsOptions" in context or validate_pod_context(context, spec, "")):
        return False
    return _accepts_workloads(spec)


def _accepts_scheduling(spec: Tree) -> bool:
    if "nodeSelector" in spec and validation.labels(spec["nodeSelector"], ""):
        return False
    if "affinity" in spec and validate_affinity(spec["affinity"], ""):
        return False
    if "schedulingGates" in spec and validate_scheduling_gates(spec["schedulingGates"], ""):
        return False
    if "schedulingGroup" in spec and validate_scheduling_group(spec["schedulingGroup"], ""):
        return False
    constraints = spec.get("topologySpreadConstraints", ())
    # what they may say depends on a gate
    if any("matchLabelKeys" in constraint for constraint in constraints):
        return False
    return not constraints or not validate_spread_constraints(constraints, "")


def _accepts_workloads(spec: Tree) -> bool:
    """Volumes and containers."""
    grace_seconds = spec.get("terminationGracePeriodSeconds", -1)
    volumes = accepted_volumes(spec["volumes"]) if "volumes" in spec else {}
    if volumes is None or grace_seconds < 0:
        return False
    if not spec.get("serviceAccountName") and any("projected" in volume for volume in volumes.values()):
        return False  # a token in it needs an account
    containers, init = spec.get("containers"), spec.get("initContainers")
    if not containers or not accepts_containers(containers, volumes, grace_seconds):
        return False
    return not init or accepts_containers(init, volumes, grace_seconds, containers)
