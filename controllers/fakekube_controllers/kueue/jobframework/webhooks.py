"""The two webhooks of a kind of job: what a new job gets, and what it may not be.

Upstream: pkg/controller/jobframework/base_webhook.go; kinds with a webhook of their own call the
same functions.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import FieldError
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.runtime.addon import Webhook
from fakekube_controllers.kueue.jobframework import defaults, objects, validation
from fakekube_controllers.kueue.jobframework.ancestors import ChainLimitReached, CyclicOwnership, WorkloadOwnerNotFound
from fakekube_controllers.kueue.jobframework.integrations import Integration, Options
from fakekube_controllers.kueue.jobframework.job import GenericJob
from fakekube_controllers.kueue.topology.requests import TopologyRequestError
from fakekube_controllers.kueue.webhooks import declaring

REFUSALS = (WorkloadOwnerNotFound, APIError, CyclicOwnership, ChainLimitReached, TopologyRequestError)
"""What refuses a write when a step of a webhook raises it."""
SERVER_NAMESPACES = ("kube-system",)
"""Nobody asks about jobs there, nor in Kueue's own namespace."""


def base_webhooks(integration: Integration, options: Options) -> Iterator[Webhook]:
    """The webhooks of a kind that has nothing of its own to add but in its class."""
    name = integration.webhook or integration.resource.kind.lower()
    defaulting = partial(default, integration=integration, options=options)
    validating = partial(validate, integration=integration, options=options)
    yield webhook(f"m{name}.kb.io", defaulting, integration.resource, options, mutating=True)
    yield webhook(f"v{name}.kb.io", validating, integration.resource, options)


def webhook(
    name: str, function: Callable[..., Any], resource: Resource, options: Options, *, mutating: bool = False,
    operations: Sequence[str] | None = None, subresources: Iterable[str] = (), has_find: bool = False,
) -> Webhook:
    """A webhook of a kind of job, as upstream's configurations have it."""
    excluded = [*SERVER_NAMESPACES, options.configuration.namespace]
    selector = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": excluded}]}
    return declaring.webhook(
        name, partial(answered, function), resource, mutating=mutating, operations=operations or (),
        subresources=subresources, has_client=True, has_find=has_find, fields={"namespace_selector": selector})


def answered(
    function: Callable[..., Awaitable[None] | None], request: AdmissionRequest, **arguments: Any,
) -> Awaitable[None] | None:
    """Ask a function that may raise what its steps raise, and say it as controller-runtime does.

    Returns what is to be awaited; None where the function has nothing to wait for, which spares
    most writes a coroutine. Raises Denied, with the code of a Status that a step got; 403 for all
    else.
    """
    try:
        pending = function(request, **arguments)
    except REFUSALS as error:
        raise _denied(error) from error
    return None if pending is None else _awaited(pending)


async def _awaited(pending: Awaitable[None]) -> None:
    try:
        await pending
    except REFUSALS as error:
        raise _denied(error) from error


def _denied(error: Exception) -> Denied:
    if isinstance(error, WorkloadOwnerNotFound):
        error = error.status or error
    if isinstance(error, APIError):
        return Denied(error.message, code=error.code, reason=error.reason, details=error.details)
    return Denied(str(error), code=HTTPStatus.FORBIDDEN, reason="Forbidden")


async def default(request: AdmissionRequest, *, client: Client, integration: Integration, options: Options) -> None:
    """Fill in a new job. Upstream: BaseWebhook.Default."""
    job = integration.job_class()(options.configuration.features, request.object)
    await apply_defaults(client, job, options)


async def apply_defaults(client: Client, job: GenericJob, options: Options) -> None:
    """The defaults of every job, in upstream's order."""
    await defaults.apply_default_local_queue(client, job.obj, options)
    await defaults.apply_default_workload_priority_class(client, job.obj, options)
    await defaults.apply_default_for_suspend(client, job, options)
    await defaults.apply_default_for_managed_by(client, job, options)


async def validate(request: AdmissionRequest, *, client: Client, integration: Integration, options: Options) -> None:
    """Look at a new job, or at a change. Raises Denied. Upstream: BaseWebhook.ValidateCreate and
    ValidateUpdate.
    """
    kind, features = integration.job_class(), options.configuration.features
    job = kind(features, request.object)
    if request.old_object is None:
        declaring.refuse(validation.errors_on_create(job) + job.validate_on_create())
        return
    old = kind(features, request.old_object)
    declaring.refuse(await update_errors(client, old, job) + job.validate_on_update(old))


async def update_errors(client: Client, old: GenericJob, new: GenericJob) -> list[FieldError]:
    """The complaints about every change of a job. Upstream: ValidateJobOnUpdate."""
    has_default_queue = False
    if objects.queue_name(old.obj) and not objects.queue_name(new.obj):
        has_default_queue = await defaults.default_local_queue_exists(client, meta.namespace_of(old.obj))
    return validation.errors_on_update(old, new, has_default_queue=has_default_queue)
