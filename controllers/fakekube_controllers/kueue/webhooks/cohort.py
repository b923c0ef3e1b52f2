"""The webhook of Cohorts. Upstream: pkg/webhooks/cohort_webhook.go."""

from fakekube.apimachinery import meta
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube_controllers.kueue.webhooks import quotas
from fakekube_controllers.kueue.webhooks.declaring import refuse


def validate(request: AdmissionRequest) -> None:
    """Look at a Cohort. Raises Denied."""
    spec = (request.shown or meta.EMPTY).get("spec") or meta.EMPTY
    holder = quotas.Holder(has_parent=bool(spec.get("parentName")), parent_name="parent", bounds_lending=False)
    groups = quotas.groups(spec.get("resourceGroups") or [], holder, "spec.resourceGroups")
    refuse([*quotas.weight(spec.get("fairSharing"), "spec.fairSharing"), *groups])
