"""ValidatingAdmissionWebhook: webhooks that may refuse what will be written, all at the same time.

Upstream: plugin/webhook/validating.
"""

import asyncio
from collections.abc import Awaitable

from fakekube.admission import versions
from fakekube.admission.services import Services
from fakekube.admission.webhook import asking
from fakekube.admission.webhook.asking import CallFailed
from fakekube.admission.webhook.configurations import Hook, Hooks
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
        self._services, self._hooks = services, Hooks(services, "validatingwebhookconfigurations")

    def validate(self, attrs: Attributes) -> Awaitable[None] | None:
        """Ask every webhook that wants to know. Raises APIError of the first that refuses."""
        hooks = self._hooks.covering(attrs)
        if not hooks:
            return None
        matching = [(hook, kind) for hook, kind in hooks if hook.matcher.selects(attrs)]
        return self._dispatch(attrs, matching) if matching else None

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
        try:
            verdict = await asking.ask(self._services, hook, attrs, kind, mutating=False)
        except CallFailed as error:
            if not hook.ignores_failures:
                return errors.internal(str(error))
            attrs.ctx.annotate(f"{PREFIX}round_0_index_{number}", hook.name)
            return None
        except APIError as error:
            return error
        return None if verdict.allowed else asking.denial(hook, verdict)
