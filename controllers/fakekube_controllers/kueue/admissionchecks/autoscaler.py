"""An autoscaler that a Python function plays: it answers ProvisioningRequests, and makes no nodes.

``autoscaler(lambda request: "Provisioned")`` is an add-on with the definition of the kind.
Upstream: ProvisioningRequest of cluster-autoscaler, as far as Kueue sees it.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from inspect import isawaitable
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import builder
from fakekube.runtime.addon import AddOn
from fakekube.runtime.reconcile import Request, Result, TerminalError
from fakekube_controllers.kueue.admissionchecks import provisioning_requests as requests
from fakekube_controllers.kueue.admissionchecks.provisioning_requests import PROVISIONING_REQUESTS
from fakekube_controllers.kueue.workload import states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context

Outcome = Literal["Accepted", "Provisioned", "Failed", "BookingExpired", "CapacityRevoked"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)
ASKED_AGAIN = timedelta(seconds=1)


class Verdict(NamedTuple):
    """What becomes of a request. ``details`` are its ``status.provisioningClassDetails``."""

    outcome: Outcome
    message: str = ""
    details: Mapping[str, str] = MappingProxyType({})


Answer = Verdict | Outcome | None
Decide = Callable[[ReadOnlyTree], Answer | Awaitable[Answer]]


def autoscaler(decide: Decide) -> AddOn:
    """The add-on. ``decide`` gets each ProvisioningRequest, read-only, with every change of it.

    What it answers becomes a true condition; with None, and after ``Accepted``, it is asked again a
    second later whenever time passes.
    """
    building = builder.controller("autoscaler").for_(PROVISIONING_REQUESTS)
    return AddOn("autoscaler", manifests=(_definition(),), controllers=(building.complete(partial(_Reconciler, decide)),))


class _Reconciler:
    """Reconciles one ProvisioningRequest."""

    def __init__(self, decide: Decide, ctx: "Context") -> None:
        self._decide, self._client, self._clock = decide, ctx.client, ctx.clock
        self._requests = ctx.lister(PROVISIONING_REQUESTS)

    async def reconcile(self, request: Request) -> Result | None:
        """Ask, and write the answer. Raises APIError, and what ``decide`` raises."""
        found = self._requests.get(*request)
        if found is None or meta.is_deleting(found) or meta.is_condition_true(found, requests.FAILED):
            return None
        answer = self._decide(found)
        told = await answer if isawaitable(answer) else answer
        verdict = Verdict(told) if isinstance(told, str) else told
        if verdict is None:
            return Result(requeue_after=ASKED_AGAIN, daemon=True)
        if verdict.outcome not in OUTCOMES:
            raise TerminalError(f"an autoscaler answered {verdict.outcome!r}: the outcomes are {', '.join(OUTCOMES)}")
        await self._write(found, verdict)
        return Result(requeue_after=ASKED_AGAIN, daemon=True) if verdict.outcome == requests.ACCEPTED else None

    async def _write(self, request: ReadOnlyTree, verdict: Verdict) -> None:
        present = [dict(each) for each in states.status_of(request).get("conditions") or ()]
        types = (requests.ACCEPTED, verdict.outcome) if verdict.outcome == requests.PROVISIONED else (verdict.outcome,)
        changes = [
            conditions.set_condition(
                present, type_, "True", now=times.format_time(self._clock.time()), reason=type_, message=verdict.message,
                observed_generation=meta.generation_of(request))
            for type_ in types]
        if any(changes):
            status: Tree = {**states.status_of(request), "conditions": present}
            if verdict.details:
                status["provisioningClassDetails"] = dict(verdict.details)
            await self._client.update_status(PROVISIONING_REQUESTS, {**request, "status": status})


def _definition() -> Tree:
    immutable = [{"message": "Value is immutable", "rule": "self == oldSelf"}]
    label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    name: Tree = {"type": "string", "maxLength": 253, "pattern": rf"^{label}(\.{label})*$"}
    pod_set: Tree = {"type": "object", "required": ["count", "podTemplateRef"], "properties": {
        "count": {"type": "integer", "format": "int32", "minimum": 1},
        "podTemplateRef": {"type": "object", "required": ["name"], "properties": {"name": name}}}}
    required = ["lastTransitionTime", "message", "reason", "status", "type"]
    condition: Tree = {"type": "object", "required": required, "properties": {
        "lastTransitionTime": {"type": "string", "format": "date-time"}, "message": {"type": "string", "maxLength": 32768},
        "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
        "reason": {"type": "string", "minLength": 1, "maxLength": 1024},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]}, "type": {"type": "string", "maxLength": 316}}}
    spec: Tree = {"type": "object", "required": ["podSets", "provisioningClassName"], "properties": {
        "parameters": {
            "type": "object", "maxProperties": 100, "additionalProperties": {"type": "string", "maxLength": 255},
            "x-kubernetes-validations": immutable},
        "podSets": {"type": "array", "minItems": 1, "maxItems": 32, "items": pod_set, "x-kubernetes-validations": immutable},
        "provisioningClassName": {**name, "x-kubernetes-validations": immutable}}}
    status: Tree = {"type": "object", "properties": {
        "conditions": {
            "type": "array", "items": condition, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        "provisioningClassDetails": {
            "type": "object", "maxProperties": 64, "additionalProperties": {"type": "string", "maxLength": 32768}}}}
    schema: Tree = {"type": "object", "required": ["spec"], "properties": {"spec": spec, "status": status}}
    version: Tree = {
        "name": PROVISIONING_REQUESTS.version, "served": True, "storage": True, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": [{"jsonPath": ".metadata.creationTimestamp", "name": "Age", "type": "date"}]}
    kind = PROVISIONING_REQUESTS.kind
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": requests.DEFINITION},
        "spec": {"group": PROVISIONING_REQUESTS.group, "scope": "Namespaced", "versions": [version], "names": {
            "kind": kind, "listKind": f"{kind}List", "plural": PROVISIONING_REQUESTS.plural, "singular": kind.lower(),
            "shortNames": ["provreq", "provreqs"]}}}
