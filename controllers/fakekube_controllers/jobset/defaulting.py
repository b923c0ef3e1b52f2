"""What a JobSet gets that says only what it must. Upstream: Default in
pkg/webhooks/jobset_webhook.go.
"""

from fakekube.apimachinery.types import Tree
from fakekube.runtime import addontables

SPEC = "jobset.JobSetSpec"


def set_defaults(jobset: Tree) -> None:
    """Fill in a JobSet, in place; one in which nothing is missing stays as it was written.

    Raises CannotDecode for one whose spec is none.
    """
    addontables.structs(__package__).default_spec(jobset, SPEC, "JobSet", _fill)


def _fill(spec: Tree) -> None:
    if spec.get("successPolicy") is None:
        spec["successPolicy"] = {"operator": "All"}
    if spec.get("startupPolicy") is None:
        spec["startupPolicy"] = {"startupPolicyOrder": "AnyOrder"}
    for each in spec.get("replicatedJobs") or ():
        job = each["template"]["spec"]
        if job.get("completionMode") is None:
            job["completionMode"] = "Indexed"
        if not job["template"]["spec"].get("restartPolicy"):
            job["template"]["spec"]["restartPolicy"] = "OnFailure"
    if spec.get("network") is None:
        spec["network"] = {}
    for switch in ("enableDNSHostnames", "publishNotReadyAddresses"):
        if spec["network"].get(switch) is None:
            spec["network"][switch] = True
    for number, rule in enumerate((spec.get("failurePolicy") or {}).get("rules") or ()):
        rule["name"] = rule["name"] or f"failurePolicyRule{number}"
    for policy in spec.get("volumeClaimPolicies") or ():
        if policy.get("retentionPolicy") is None:
            policy["retentionPolicy"] = {"whenDeleted": "Delete"}
