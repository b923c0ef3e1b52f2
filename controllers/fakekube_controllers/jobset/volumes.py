"""Claims that a JobSet asks for: what they may be.

Upstream: validateVolumeClaimPolicies in pkg/webhooks/jobset_webhook.go.
"""

from collections.abc import Callable, Iterator

from fakekube.apimachinery import meta
from fakekube.apimachinery import names as words
from fakekube.apimachinery.field_errors import FieldError, child, index, invalid
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import addontables
from fakekube_controllers.jobset import names

MAX_CLAIM_NAME_LENGTH = 63
CLAIM_SPEC = "core.PersistentVolumeClaimSpec"


def errors_of(jobset: ReadOnlyTree, claims: Callable[[str], Tree | None]) -> Iterator[FieldError]:
    """The complaints about the claims of a new JobSet.

    ``claims`` finds the claim of a name in its namespace.
    """
    seen: dict[str, None] = {}
    for place, policy in enumerate(jobset["spec"].get("volumeClaimPolicies") or ()):
        path = index("spec.volumeClaimPolicies", place)
        for number, template in enumerate(policy.get("templates") or ()):
            name, below = meta.name_of(template), index(child(path, "template"), number)
            if name in seen:
                yield invalid(child(below, "name"), name, "names must be unique for VolumeClaimPolicies template")
            for complaint in words.dns1123_subdomain(name):
                yield invalid(child(below, "name"), name, complaint)
            claim = names.claim_name(meta.name_of(jobset), name)
            if len(claim.encode()) > MAX_CLAIM_NAME_LENGTH:
                yield invalid(child(below, "name"), name, "VolumeClaimPolicies template name is too long")
            yield from _of_mounts(jobset, name)
            present = claims(claim)
            if present is not None:
                yield from _of_present(jobset, policy, template, present, path, below)
            seen[name] = None


def _of_present(
    jobset: ReadOnlyTree, policy: ReadOnlyTree, template: ReadOnlyTree, present: ReadOnlyTree, path: str, below: str,
) -> Iterator[FieldError]:
    """A claim that is there already must be as wanted, and must stay."""
    structs, wanted = addontables.structs(__package__), template.get("spec") or {}
    if structs.compared(present.get("spec") or {}, CLAIM_SPEC) != structs.compared(wanted, CLAIM_SPEC):
        where = f"{meta.name_of(present)} in namespace {meta.namespace_of(jobset)}"
        yield invalid(child(below, "spec"), structs.shown(wanted, CLAIM_SPEC), f"spec does not match existing PVC {where}")
    when_deleted = (policy.get("retentionPolicy") or meta.EMPTY).get("whenDeleted")
    if when_deleted not in (None, "Retain"):
        text = "retentionPolicy must be retain when PVC exists"
        yield invalid(child(path, "retentionPolicy", "whenDeleted"), when_deleted, text)


def _of_mounts(jobset: ReadOnlyTree, name: str) -> Iterator[FieldError]:
    """A claim must be mounted somewhere, and no Job may have a volume of its name."""
    replicated_jobs, is_mounted = names.replicated_jobs(jobset), False
    for place, each in enumerate(replicated_jobs):
        pods = ((each["template"].get("spec") or meta.EMPTY).get("template") or meta.EMPTY).get("spec") or meta.EMPTY
        path = child(index("spec.replicatedJobs", place), "template", "spec", "template", "spec", "volumes")
        for number, volume in enumerate(pods.get("volumes") or ()):
            if volume["name"] == name:
                text = f"volume name conflicts with VolumeClaimPolicy template name: {name}"
                yield invalid(child(index(path, number), "name"), name, text)
        containers = [*(pods.get("initContainers") or ()), *(pods.get("containers") or ())]
        mounts = (mount["name"] for container in containers for mount in container.get("volumeMounts") or ())
        is_mounted = is_mounted or name in mounts
    if not is_mounted:
        text = f"replicatedJob containers don't have a matching volumeMount: {name} from VolumeClaimPolicies"
        shown = addontables.structs(__package__).shown(jobset["spec"].get("replicatedJobs"), "[]jobset.ReplicatedJob")
        yield invalid("spec.replicatedJobs", shown, text)
