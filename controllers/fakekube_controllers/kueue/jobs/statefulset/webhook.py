"""The webhooks of StatefulSets. Upstream:
pkg/controller/jobs/statefulset/statefulset_webhook.go.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import STATEFUL_SETS
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import defaults, objects, validation
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobs import serving
from fakekube_controllers.kueue.jobs.kinds import STATEFUL_SET
from fakekube_controllers.kueue.jobs.statefulset import workloads
from fakekube_controllers.kueue.webhooks import declaring
from fakekube_controllers.kueue.workload import states

REPLICAS, POD_SPEC = "spec.replicas", "spec.template.spec"


async def default(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Let the pods of a StatefulSet wait, where Kueue manages it."""
    shown = request.shown
    if shown is None or workloads.is_managed_by_another_framework(shown):
        return
    sts: Tree = request.object
    if await serving.apply_defaults(client, sts, options):
        objects.put_metadata(sts["spec"]["template"], "annotations", names.SUSPENDED_BY_PARENT_ANNOTATION, STATEFUL_SET)


async def validate(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Look at a new StatefulSet, or at a change. Raises Denied."""
    sts, old, features = request.object, request.old_object, options.configuration.features
    if workloads.is_managed_by_another_framework(sts):
        return
    found = serving.errors_of(request, STATEFUL_SETS.gvk, features)
    if old is not None and await defaults.workload_should_be_suspended(client, sts, options, tolerates_deleting=True):
        found += serving.shape_errors(POD_SPEC, old["spec"]["template"]["spec"], sts["spec"]["template"]["spec"])
        found += await _scale_errors(client, old, sts, features)
    declaring.refuse(found)


async def _scale_errors(client: Client, old: ReadOnlyTree, sts: ReadOnlyTree, features: Features) -> list[FieldError]:
    """A StatefulSet may go to none and come back, and that only once all of it has gone."""
    before, now = (each["spec"].get("replicas", 1) for each in (old, sts))
    if before and now and before != now:
        return [invalid(REPLICAS, now, validation.IMMUTABLE)]
    if before or not now:
        return []
    if (sts.get("status") or meta.EMPTY).get("replicas"):
        return [forbidden(REPLICAS, "scaling down is still in progress")]
    for name in (workloads.workload_name(old, features), workloads.legacy_workload_name(old, features)):
        workload = await client.get(names.WORKLOADS, name, meta.namespace_of(old), missing_ok=True)
        if workload is not None:
            text = "workload from previous scale-down is still being deleted"
            return [] if states.is_on_hold(workload) else [forbidden(REPLICAS, text)]
    return []
