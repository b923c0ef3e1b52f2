"""The webhooks of JobSets. Upstream: pkg/webhooks/jobset_webhook.go."""

from fakekube.apimachinery import errors, meta
from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS
from fakekube.runtime.gostructs import CannotDecode
from fakekube_controllers.jobset import defaulting, names, updates, validation
from fakekube_controllers.jobset.features import Features

BAD_REQUEST = 400


def default(request: AdmissionRequest) -> None:
    """Fill in a new JobSet. Raises Denied for one that cannot be read."""
    try:
        defaulting.set_defaults(request.object)
    except CannotDecode as error:
        raise Denied(str(error), code=BAD_REQUEST) from error


async def validate(request: AdmissionRequest, *, client: Client, features: Features) -> None:
    """Look at a new JobSet, or at a change. Raises Denied."""
    jobset, old = request.object, request.old_object
    if old is not None:
        _refuse(jobset, updates.errors_of(old, jobset, features))
        return
    claims: dict[str, Tree] = {}
    for policy in jobset["spec"].get("volumeClaimPolicies") or ():
        for template in policy.get("templates") or ():
            name = names.claim_name(meta.name_of(jobset), meta.name_of(template))
            present = await client.get(PERSISTENT_VOLUME_CLAIMS, name, request.namespace, missing_ok=True)
            if present is not None:
                claims[name] = present
    found = validation.errors_of(jobset, features, claims.get)
    if features.WorkloadAwareScheduling:
        from fakekube_controllers.jobset import scheduling

        found += scheduling.errors_of(jobset)
    _refuse(jobset, found)


def _refuse(jobset: Tree, found: list[FieldError]) -> None:
    if found:
        error = errors.invalid(names.JOBSETS.group_kind, meta.name_of(jobset), found)
        raise Denied(error.message, code=error.code, reason=error.reason, details=error.details)
