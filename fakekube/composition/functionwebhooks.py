"""Webhooks that are Python functions, and the configuration objects that stand for them.

    @cluster.webhook("pods", operations=["CREATE"])
    def no_latest(request):
        if any(c["image"].endswith(":latest") for c in request.object["spec"]["containers"]):
            raise Denied("say a version")

``docs/admission.md`` has more.
"""

import asyncio
import inspect
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.composition.options import OptionError
from fakekube.webhooks.callables import Callables, Function

if TYPE_CHECKING:
    from fakekube.client.client import Client
    from fakekube.runtime.addon import FindComponent, Webhook

GROUP_VERSION, DOMAIN = "admissionregistration.k8s.io/v1", "webhooks.fakekube.dev"
KINDS = {True: "MutatingWebhookConfiguration", False: "ValidatingWebhookConfiguration"}
FIELDS = {
    "failure_policy": "failurePolicy", "match_policy": "matchPolicy", "namespace_selector": "namespaceSelector",
    "object_selector": "objectSelector", "match_conditions": "matchConditions", "timeout_seconds": "timeoutSeconds",
    "side_effects": "sideEffects", "reinvocation_policy": "reinvocationPolicy", "rules": "rules",
}
"""The fields of a webhook that may be given, by the names of their parameters."""


def resource_of(configuration: Tree) -> Resource:
    """Where a configuration is written."""
    kind = configuration["kind"]
    return Resource("admissionregistration.k8s.io", "v1", f"{kind.lower()}s", kind, namespaced=False)


def register(
    callables: Callables, function: Function, resources: Iterable[str], operations: Iterable[str], *, mutating: bool, name: str,
    fields: dict[str, Any], configuration: str = "",
) -> Tree:
    """Let a function be called as a webhook; the configuration that stands for it.

    It has the function's name, unless a ``configuration`` is named. OptionError for a field that
    webhooks do not have, ValueError for a name that is taken.
    """
    unknown = [field for field in fields if field not in FIELDS]
    if unknown:
        raise OptionError(f"a webhook has no {unknown[0]!r}: known are {', '.join(FIELDS)}")
    called = (name or getattr(function, "__name__", "webhook")).replace("_", "-").strip("-").lower()
    url = callables.add(f"{configuration}/{called}" if configuration else called, function)
    webhook: Tree = {
        "name": called if "." in called else f"{called}.{DOMAIN}", "clientConfig": {"url": url}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": [_rule(each, list(operations)) for each in resources],
    }
    webhook |= {FIELDS[field]: value for field, value in fields.items()}
    metadata = {"name": configuration or called}
    return {"apiVersion": GROUP_VERSION, "kind": KINDS[mutating], "metadata": metadata, "webhooks": [webhook]}


class Given(partial[Any]):
    """A function that was given a client or components: its place is on the loop that they are on.
    """


def declared(callables: Callables, hooks: "Iterable[Webhook]", client: "Client", find: "FindComponent") -> list[Tree]:
    """Let the webhooks of add-ons be called; the configurations that stand for them.

    ``client`` is for those that want one, ``find`` for those that ask components. Raises as
    ``register``.
    """
    found: dict[tuple[bool, str], Tree] = {}
    for hook in hooks:
        given = {**({"client": client} if hook.has_client else {}), **({"find": find} if hook.has_find else {})}
        function = Given(hook.function, **given) if given else hook.function
        name = hook.name or getattr(hook.function, "__name__", "")
        made = register(
            callables, function, hook.resources, hook.operations, mutating=hook.mutating, name=name,
            fields=dict(hook.fields), configuration=hook.configuration)
        first = found.setdefault((hook.mutating, made["metadata"]["name"]), made)
        if first is not made:
            first["webhooks"] += made["webhooks"]
    return [*found.values()]


def _rule(text: str, operations: list[str]) -> Tree:
    """The rule of ``pods``, ``deployments.apps``, ``pods/status`` or ``*``."""
    resource, slash, subresource = text.partition("/")
    plural, _dot, group = resource.partition(".")
    group = "*" if resource == "*" else group
    return {"apiGroups": [group], "apiVersions": ["*"], "operations": operations, "resources": [f"{plural}{slash}{subresource}"]}


def in_thread(function: Function) -> Function:
    """The same, in a thread of its own: it may use a client that blocks, and holds up nobody."""
    if inspect.iscoroutinefunction(function):
        return function

    async def call(request: AdmissionRequest) -> None:
        await asyncio.to_thread(function, request)

    call.__name__ = getattr(function, "__name__", "webhook")
    return call
