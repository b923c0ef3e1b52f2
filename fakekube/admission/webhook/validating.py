"""ValidatingAdmissionWebhook: webhooks that may refuse what will be written, all at the same time.

Upstream: plugin/webhook/validating.
"""

import asyncio
from collections.abc import Awaitable

from fakekube.admission import versions
from fakekube.admission.services import Services
from fakekube.admission.webhook import asking
from fakekube.admission.webhook.asking import CallFailed
from fakekube.admission.webhook.configurations import Covering, Hook, Hooks
from fakekube.admission.webhook.review import Verdict
from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

PREFIX = "failed-open.validating.webhook.admission.k8s.io/"


class ValidatingWebhooks:
    """Asks the webhooks of ValidatingWebhookConfigurations."""

    name = "ValidatingAdmissionWebhook"

    def __init__(self, services: Services) -> None:
        """Read configurations from the server."""
        self._services, self.hooks = services, Hooks(services, "validatingwebhookconfigurations")

    def validate(self, attrs: Attributes, hooks: Covering) -> Awaitable[None] | None:
        """Ask every webhook, of those that ``hooks`` finds to cover a write, that wants to know.
        Raises APIError of the first that refuses.
        """
        matching = [(hook, kind) for hook, kind in hooks if hook.matcher.selects(attrs)]
        if not matching:
            return None
        hook, kind = matching[0]
        if len(matching) == 1 and kind is attrs.kind and not hook.has_conditions:
            return self._ask_alone(hook, attrs)
        return self._dispatch(attrs, matching)

    def _ask_alone(self, hook: Hook, attrs: Attributes) -> Awaitable[None] | None:
        """Ask the only webhook that wants to know, as most that want to know are. Raises APIError
        as ``validate``.
        """
        found = self._begin(hook, 0, attrs, attrs.kind)
        if found is None:
            return None
        if isinstance(found, APIError):
            raise found
        return _refused(found)

    async def _dispatch(self, attrs: Attributes, matching: list[tuple[Hook, Kind]]) -> None:
        wanted = []
        for hook, kind in matching:
            if kind is not attrs.kind:
                await versions.prepare(self._services, attrs, kind)
            if not hook.has_conditions or await hook.holds(attrs, kind, final=True):
                wanted.append((hook, kind))
        if not wanted:
            return
        if len(wanted) == 1:
            hook, kind = wanted[0]
            found = [await self._ask(hook, 0, attrs, kind)]
        else:
            found = await asyncio.gather(
                *(self._ask(hook, number, attrs, kind) for number, (hook, kind) in enumerate(wanted)))
        refusal = next((error for error in found if error is not None), None)
        if refusal is not None:
            raise refusal

    async def _ask(self, hook: Hook, number: int, attrs: Attributes, kind: Kind) -> APIError | None:
        """Why the write is refused; None when it is not."""
        found = self._begin(hook, number, attrs, kind)
        return found if found is None or isinstance(found, APIError) else await found

    def _begin(
        self, hook: Hook, number: int, attrs: Attributes, kind: Kind,
    ) -> APIError | Awaitable[APIError | None] | None:
        """The same, or what is to be awaited for that."""
        try:
            asked = asking.ask(self._services, hook, attrs, kind, mutating=False)
        except (CallFailed, APIError) as error:
            return _of_failure(hook, number, attrs, error)
        return _of_verdict(hook, asked) if isinstance(asked, Verdict) else _finished(hook, number, attrs, asked)


async def _finished(hook: Hook, number: int, attrs: Attributes, asked: Awaitable[Verdict]) -> APIError | None:
    try:
        return _of_verdict(hook, await asked)
    except (CallFailed, APIError) as error:
        return _of_failure(hook, number, attrs, error)


async def _refused(found: Awaitable[APIError | None]) -> None:
    refusal = await found
    if refusal is not None:
        raise refusal


def _of_verdict(hook: Hook, verdict: Verdict) -> APIError | None:
    return None if verdict.allowed else asking.denial(hook, verdict)


def _of_failure(hook: Hook, number: int, attrs: Attributes, error: CallFailed | APIError) -> APIError | None:
    """Why a write is refused whose webhook could not be asked, if its failurePolicy does so."""
    if isinstance(error, APIError):
        return error
    if not hook.ignores_failures:
        return errors.internal(str(error))
    attrs.ctx.annotate(f"{PREFIX}round_0_index_{number}", hook.name)
    return None
