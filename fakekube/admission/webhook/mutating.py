"""MutatingAdmissionWebhook: webhooks that may change what is written, one after the other.

After each change the object is decoded and defaulted again. Who looked at it before a later one
changed it, and asks for it, is asked once more in a second round of the whole mutating pass.
Upstream: plugin/webhook/mutating.
"""

from dataclasses import dataclass, field
from typing import Any

import orjson

from fakekube.admission import versions
from fakekube.admission.services import Services
from fakekube.admission.webhook import asking
from fakekube.admission.webhook.asking import CallFailed
from fakekube.admission.webhook.configurations import Covering, Hook, Hooks
from fakekube.admission.webhook.review import JSON_PATCH, Verdict
from fakekube.apimachinery import errors, gojson
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.managedfields import entries
from fakekube.managedfields.fieldsv1 import FieldsError
from fakekube.patch import json_patch
from fakekube.patch.json_patch import PatchError
from fakekube.registry.attributes import Attributes, Reinvocation
from fakekube.registry.kind import Kind

PREFIX = "mutation.webhook.admission.k8s.io/"


@dataclass(slots=True)
class _Rounds:
    """Which webhooks were asked and may be asked again, and which are to be."""

    invoked: dict[str, None] = field(default_factory=dict)
    again: dict[str, None] = field(default_factory=dict)
    last: Tree | None = None  # what the first round made of the object

    def require_invoked(self) -> None:
        """Those that were asked before are to be asked again."""
        self.again.update(self.invoked)
        self.invoked.clear()


class MutatingWebhooks:
    """Asks the webhooks of MutatingWebhookConfigurations."""

    name = "MutatingAdmissionWebhook"

    def __init__(self, services: Services) -> None:
        """Read configurations from the server."""
        self._services, self.hooks = services, Hooks(services, "mutatingwebhookconfigurations")

    async def admit(self, attrs: Attributes, hooks: Covering) -> None:
        """Ask every webhook, of those that ``hooks`` finds to cover a write, that wants to know.
        Raises APIError of the first that refuses.
        """
        reinvocation = attrs.reinvocation
        rounds: _Rounds | None = None
        if reinvocation is not None and reinvocation.again:
            rounds = reinvocation.states.get(self.name)
            if rounds is None:
                return
            if not same(rounds.last, attrs.obj):
                rounds.require_invoked()
        for hook, kind in hooks:
            if not hook.matcher.selects(attrs):
                continue
            if kind is not attrs.kind:
                await versions.prepare(self._services, attrs, kind)
            if hook.has_conditions and not await hook.holds(attrs, kind, final=False):
                continue
            if rounds is not None and reinvocation is not None and reinvocation.again and hook.uid not in rounds.again:
                continue
            reinvocation = attrs.reinvocable()
            rounds = reinvocation.states.setdefault(self.name, _Rounds())
            await self._ask(hook, attrs, kind, reinvocation, rounds)
        if rounds is not None and rounds.invoked and attrs.obj is not None:
            rounds.last = orjson.loads(orjson.dumps(attrs.obj))

    async def _ask(self, hook: Hook, attrs: Attributes, kind: Kind, reinvocation: Reinvocation, rounds: _Rounds) -> None:
        changed = False
        number = f"round_{int(reinvocation.again)}_index_{hook.index}"
        try:
            asked = asking.ask(self._services, hook, attrs, kind, mutating=True)
            verdict = asked if isinstance(asked, Verdict) else await asked
            if not verdict.allowed:
                raise asking.denial(hook, verdict)
            changed = await self._apply(hook, attrs, kind, verdict)
        except CallFailed as error:
            if not hook.ignores_failures:
                raise errors.internal(str(error)) from error
            attrs.ctx.annotate(f"failed-open.{PREFIX}{number}", hook.name)
        finally:
            attrs.ctx.annotate(PREFIX + number, hook.told_mutated if changed else hook.told_asked)
        if changed:
            rounds.require_invoked()
            reinvocation.wanted = True
        if hook.reinvocable:
            rounds.invoked[hook.uid] = None

    async def _apply(self, hook: Hook, attrs: Attributes, kind: Kind, verdict: Verdict) -> bool:
        """Let the object be what the webhook made of it; whether that is another."""
        if verdict.changed is None and not verdict.patch:
            return False
        before = versions.shown(self._services, attrs, attrs.obj, kind, final=False)
        after = verdict.changed if verdict.changed is not None else _patched(hook, before, verdict)
        if after is None:
            return False
        changed = not same(after, before)
        if not changed and verdict.changed is not None:
            return False
        assert attrs.obj is not None
        managed = attrs.obj["metadata"].get("managedFields")
        found = versions.decoded(self._services, attrs, after, kind)
        attrs.obj = await versions.take_back(self._services, attrs, found, kind)
        _check_managed_fields(attrs, managed)
        return changed


def _patched(hook: Hook, before: Tree | None, verdict: Verdict) -> Tree | None:
    """The object after a patch; None when there is nothing in it. Raises CallFailed, APIError."""
    if not verdict.patch:
        return None
    operations = _operations(hook, verdict.patch)
    if not operations:
        return None
    if before is None:
        raise errors.internal(
            f"admission webhook {go_quote(hook.name)} attempted to modify the object, which is not supported for this operation")
    if verdict.patch_type != JSON_PATCH:
        raise CallFailed(hook, f"unsupported patch type {go_quote(verdict.patch_type)}")
    try:
        return json_patch.apply(before, operations)
    except PatchError as error:
        raise errors.internal(str(error)) from error


def _operations(hook: Hook, patch: bytes) -> list[Any]:
    problem = "received undecodable patch in webhook response: "
    try:
        value = gojson.loads(patch)
    except gojson.SyntaxProblem as error:
        raise CallFailed(hook, f"{problem}{error}") from None
    if value is None:
        return []
    wrong = "" if isinstance(value, list) else "jsonpatch.Patch"
    told = value
    if not wrong:
        told = next((each for each in value if each is not None and not isinstance(each, dict)), None)
        wrong = "jsonpatch.Operation" if told is not None else ""
    if wrong:
        raise CallFailed(hook, f"{problem}json: cannot unmarshal {gojson.type_name(told)} into Go value of type {wrong}")
    return list(value)


def _check_managed_fields(attrs: Attributes, before: list[Tree] | None) -> None:
    """Put back who owned what when a webhook left nonsense of it.

    Upstream: managedfields/internal/managedfieldsupdater.go, pkg/managedfields/admission.go.
    """
    assert attrs.obj is not None
    meta = attrs.obj.get("metadata") or {}
    after = meta.get("managedFields")
    if after is None or after == before:
        return
    try:
        entries.decode(after, trusted=False)
    except FieldsError as error:
        if before is None:
            meta.pop("managedFields", None)
        else:
            meta["managedFields"] = before
        attrs.ctx.warn(
            ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
            f"admission controller; please fix your requests: {error}")
