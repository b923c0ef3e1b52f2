"""The webhooks of Deployments. Upstream: pkg/controller/jobs/deployment/deployment_webhook.go."""

from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.client.client import Client
from fakekube.client.resources import DEPLOYMENTS
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.integrations import Options
from fakekube_controllers.kueue.jobs import kinds, serving
from fakekube_controllers.kueue.jobs.deployment import elastic
from fakekube_controllers.kueue.webhooks import declaring


async def default(request: AdmissionRequest, *, client: Client, options: Options) -> None:
    """Let the pods of a Deployment wait, where Kueue manages it."""
    deployment = request.object
    if not await serving.apply_defaults(client, deployment, options):
        return
    if elastic.is_elastic(deployment, options.configuration.features):
        elastic.put_gate(deployment)
        return
    template = deployment["spec"]["template"]
    objects.put_metadata(template, "annotations", names.SUSPENDED_BY_PARENT_ANNOTATION, kinds.DEPLOYMENT)
    objects.put_metadata(template, "labels", names.MANAGED_LABEL, "true")
    serving.put_queue_and_class(template, deployment)


async def validate(request: AdmissionRequest, *, options: Options) -> None:
    """Look at a new Deployment, or at a change. Raises Denied."""
    features, old = options.configuration.features, request.old_object
    found = serving.errors_of(request, DEPLOYMENTS.gvk, features)
    if features.ElasticDeployments and old is not None:
        found += elastic.errors_of_update(old, request.object, features)
    declaring.refuse(found)
