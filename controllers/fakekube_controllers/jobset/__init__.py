"""JobSet: several Jobs that start, fail and end together. An add-on, with upstream's kind, webhooks
and Events.

Read ``sync.py``: it is the order of decisions. ``jobs.py`` makes the Jobs, ``failures.py`` and
``policies.py`` decide about them, ``status.py`` writes what became of it, ``webhooks.py`` and
``podwebhooks.py`` are asked about writes. Upstream: sigs.k8s.io/jobset v0.12.0.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from fakekube.client.resources import JOBS, PODS, SERVICES
from fakekube.runtime import builder
from fakekube.runtime.addon import AddOn, Webhook
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Reconciler, Request
from fakekube_controllers.jobset.features import Features
from fakekube_controllers.jobset.names import JOBSET_NAME, JOBSETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fakekube.apimachinery.types import Tree

OF_JOBSETS, OF_PODS = ("jobset.x-k8s.io", "v1alpha2", "jobsets"), ("", "v1", "pods")


def addon(**features: bool) -> AddOn:
    """JobSet as an add-on; ``features`` are its own gates, as ``RestartJob=True``.

    TypeError for a gate that it does not have.
    """
    from fakekube.runtime import addontables

    chosen, (definition,) = Features(**features), addontables.definitions(__name__)
    if chosen.WorkloadAwareScheduling:
        from fakekube_controllers.jobset import schedulingfields

        definition = schedulingfields.with_fields(definition)
    return AddOn("jobset", manifests=(definition,), controllers=(_controller(chosen),), webhooks=_webhooks(chosen))


def _controller(features: Features) -> Declaration:
    building = builder.controller("jobset").for_(JOBSETS).owns(JOBS).owns(SERVICES).starts_with(JOBSETS)
    if features.InPlaceRestart:
        building = building.watches(PODS, _jobset_of)
    return building.complete(partial(_reconciler, features=features))


def _reconciler(ctx: Context, *, features: Features) -> Reconciler:
    from fakekube_controllers.jobset.controller import JobSetReconciler

    return JobSetReconciler(ctx, features)


def _jobset_of(pod: "Tree") -> "Iterable[Request]":
    metadata = pod["metadata"]
    name = (metadata.get("labels") or {}).get(JOBSET_NAME)
    return [Request(metadata["namespace"], name)] if name is not None else []


def _webhooks(features: Features) -> tuple[Webhook, ...]:
    from fakekube_controllers.jobset import podwebhooks, webhooks

    validate = partial(webhooks.validate, features=features)
    return (
        _webhook("mjobset.kb.io", webhooks.default, OF_JOBSETS, mutating=True),
        _webhook("mpod.kb.io", podwebhooks.default, OF_PODS, mutating=True, has_client=True),
        _webhook("vjobset.kb.io", validate, OF_JOBSETS, ("CREATE", "UPDATE"), has_client=True),
        _webhook("vpod.kb.io", podwebhooks.validate, OF_PODS, has_client=True))


def _webhook(
    name: str, function: Any, of: tuple[str, str, str], operations: tuple[str, ...] = ("CREATE",), *, mutating: bool = False,
    has_client: bool = False,
) -> Webhook:
    group, version, plural = of
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": [*operations], "resources": [plural]}
    kind = "mutating" if mutating else "validating"
    return Webhook(
        function, (), operations, mutating, name, {"rules": [rule]}, f"jobset-{kind}-webhook-configuration", has_client)
