"""One webhook is asked about one write: over HTTP, or a Python function of this process.

Upstream: callHook and callAttrMutatingHook in plugin/webhook/{validating,mutating}/dispatcher.go,
plugin/webhook/errors.
"""

import asyncio
import inspect
from collections.abc import Awaitable
from types import MappingProxyType

from fakekube.admission.services import Services
from fakekube.admission.webhook import review
from fakekube.admission.webhook.configurations import Hook
from fakekube.admission.webhook.review import InvalidResponse, Verdict
from fakekube.apimachinery import errors
from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind
from fakekube.util import tasks
from fakekube.webhooks.client import CallError

SIDE_EFFECT_FREE = ("None", "NoneOnDryRun")
BAD_REQUEST, LAST_CODE, SERVER_ERROR = 400, 999, 500
ALLOWED = Verdict(True, MappingProxyType({}))
"""Of a webhook that lets a write pass as it is, and says nothing besides."""


class CallFailed(Exception):
    """A webhook could not be asked, or answered nonsense: failurePolicy decides what follows. The
    text is upstream's, with the name of the webhook.
    """

    def __init__(self, hook: Hook, reason: str) -> None:
        super().__init__(f"failed calling webhook {go_quote(hook.name)}: {reason}")


def ask(
    services: Services, hook: Hook, attrs: Attributes, wanted: Kind, *, mutating: bool,
) -> Verdict | Awaitable[Verdict]:
    """What the webhook says, or what is to be awaited for that; its warnings and annotations are
    told then. A function that has nothing to wait for costs no coroutine.

    Raises CallFailed, also where it is awaited; APIError for a webhook that cannot be asked on a
    dry run.
    """
    if attrs.ctx.dry_run and hook.side_effects not in SIDE_EFFECT_FREE:
        raise errors.bad_request(f"admission webhook {go_quote(hook.name)} does not support dry run")
    uid = services.rng.uid()
    function = services.callables.find(hook.client)
    try:
        services.callables.check(hook.name, hook.client, hook.timeout_seconds)
    except CallError as error:
        raise _failed_call(hook, error) from error
    if function is None:
        return _told(hook, attrs, _sent(services, hook, attrs, wanted, uid, mutating=mutating))
    request = review.call_of(services, attrs, wanted, uid, final=not mutating)
    try:
        pending = function(request)
    except Denied as denial:
        return _tell(hook, attrs, _denied(request, denial, mutating=mutating))
    if pending is not None and inspect.isawaitable(pending):
        return _told(hook, attrs, _waited_for(services, pending, request, hook, mutating=mutating))
    if request.changed is None and not request.warnings and not request.annotations:
        return ALLOWED  # as most say of most writes
    return _tell(hook, attrs, _allowed(request, mutating=mutating))


def _tell(hook: Hook, attrs: Attributes, verdict: Verdict) -> Verdict:
    """Tell the warnings and annotations of a webhook."""
    for key, value in verdict.annotations.items():
        attrs.ctx.annotate(f"{hook.name}/{key}", value)
    for text in verdict.warnings:
        attrs.ctx.warn(text)
    return verdict


async def _told(hook: Hook, attrs: Attributes, pending: Awaitable[Verdict]) -> Verdict:
    try:
        verdict = await pending
    except CallError as error:
        raise _failed_call(hook, error) from error
    except InvalidResponse as error:
        raise CallFailed(hook, f"received invalid webhook response: {error}") from error
    return _tell(hook, attrs, verdict)


def _failed_call(hook: Hook, error: CallError) -> CallFailed:
    return CallFailed(hook, f"failed to call webhook: {error}")


async def _sent(services: Services, hook: Hook, attrs: Attributes, wanted: Kind, uid: str, *, mutating: bool) -> Verdict:
    version = next((each for each in hook.versions if each in review.VERSIONS), "")
    if not version:
        text = "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        raise CallFailed(hook, text)
    sent = review.review_of(version, review.request_of(services, attrs, wanted, uid, final=not mutating))
    answer = await services.client().call(
        hook.client, sent, timeout_seconds=hook.timeout_seconds, expected=review.EXPECTED[version])
    return review.read_response(services, answer, version, uid, mutating=mutating)


async def _waited_for(
    services: Services, pending: Awaitable[None], request: AdmissionRequest, hook: Hook, *, mutating: bool,
) -> Verdict:
    try:
        await _in_time(services, pending, hook)
    except Denied as denial:
        return _denied(request, denial, mutating=mutating)
    return _allowed(request, mutating=mutating)


def _allowed(request: AdmissionRequest, *, mutating: bool) -> Verdict:
    changed = request.changed if mutating else None
    return Verdict(True, {}, changed=changed, warnings=tuple(request.warnings), annotations=request.annotations)


def _denied(request: AdmissionRequest, denial: Denied, *, mutating: bool) -> Verdict:
    told = {name: value for name in ("message", "code", "reason", "details") if (value := getattr(denial, name))}
    return _allowed(request, mutating=mutating)._replace(allowed=False, status=told)


async def _in_time(services: Services, pending: Awaitable[None], hook: Hook) -> None:
    """Wait for a function, no longer than its webhook may take, by the wall's clock and by the
    cluster's. Raises CallError.
    """
    try:
        with services.activity.busy():
            waiting = tasks.begun(pending) if inspect.iscoroutine(pending) else pending
            if waiting is None:
                return  # as most do, which needs no timers
            async with asyncio.timeout(hook.timeout_seconds) as limit:
                loop = asyncio.get_running_loop()
                timer = services.clock.call_later(hook.timeout_seconds, lambda: limit.reschedule(loop.time()), daemon=True)
                try:
                    await waiting
                finally:
                    timer.cancel()
    except TimeoutError:
        raise CallError(f"Post {go_quote(hook.client['url'])}: context deadline exceeded") from None


def denial(hook: Hook, verdict: Verdict) -> APIError:
    """The error of a write that a webhook refuses: its own Status, made a failure."""
    status = verdict.status
    denied = f"admission webhook {go_quote(hook.name)} denied the request"
    told = status.get("message") or status.get("reason")
    code = max(status.get("code", 0), BAD_REQUEST)
    return APIError(
        code if code <= LAST_CODE else SERVER_ERROR, status.get("reason", ""),
        f"{denied}: {told}" if told else f"{denied} without explanation", status.get("details"), metadata=status.get("metadata"))
