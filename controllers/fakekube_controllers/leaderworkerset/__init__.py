"""LeaderWorkerSet: groups of pods, each with a leader and its workers, that start and fail
together. An add-on, with upstream's kind, webhooks and Events.

Read ``controller.py``: it is the order of steps. ``rollout.py`` plans updates, ``sets.py`` makes
the StatefulSets, ``podcontroller.py`` looks after single groups, ``webhooks.py`` and
``podwebhook.py`` are asked about writes. Upstream: sigs.k8s.io/lws v0.9.0. Left out:
DisaggregatedSets, groups of other schedulers.
"""

from functools import partial
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS, SERVICES, STATEFUL_SETS
from fakekube.runtime import builder
from fakekube.runtime.addon import AddOn, Webhook
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.predicates import for_objects
from fakekube.runtime.reconcile import Reconciler
from fakekube_controllers.leaderworkerset.features import Features
from fakekube_controllers.leaderworkerset.names import LEADER_WORKER_SETS, NAME

OF_SETS, OF_PODS = ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets"), ("", "v1", "pods")


def addon(**features: bool) -> AddOn:
    """LeaderWorkerSet as an add-on; ``features`` are its own gates.

    TypeError for a gate that it does not have.
    """
    from fakekube.runtime import addontables

    chosen, (definition,) = Features(**features), addontables.definitions(__name__)
    if chosen.WorkloadAwareScheduling:
        from fakekube_controllers.leaderworkerset import scheduling

        definition = scheduling.with_field(definition)
    return AddOn("lws", manifests=(definition,), controllers=_controllers(chosen), webhooks=_webhooks(chosen))


def _controllers(features: Features) -> tuple[Declaration, ...]:
    of_group = for_objects(_is_of_group)
    return (
        builder.controller("lws").for_(LEADER_WORKER_SETS).owns(STATEFUL_SETS).owns(SERVICES)
        .starts_with(LEADER_WORKER_SETS).complete(partial(_reconciler, features=features)),
        builder.controller("lws-pod").with_options(user_agent="lws").for_(PODS, predicate=of_group)
        .owns(STATEFUL_SETS, predicate=of_group).starts_with(LEADER_WORKER_SETS)
        .complete("fakekube_controllers.leaderworkerset.podcontroller:GroupReconciler"))


def _is_of_group(obj: Tree) -> bool:
    return NAME in meta.labels_of(obj)


def _reconciler(ctx: Context, *, features: Features) -> Reconciler:
    from fakekube_controllers.leaderworkerset.controller import LeaderWorkerSetReconciler

    return LeaderWorkerSetReconciler(ctx, features)


def _webhooks(features: Features) -> tuple[Webhook, ...]:
    from fakekube_controllers.leaderworkerset import podwebhook, webhooks

    both = ("CREATE", "UPDATE")
    return (
        _webhook("mleaderworkerset.kb.io", webhooks.default, OF_SETS, both, mutating=True),
        _webhook("mpod.kb.io", partial(podwebhook.default, features=features), OF_PODS, ("CREATE",), mutating=True),
        _webhook("vleaderworkerset.kb.io", partial(webhooks.validate, features=features), OF_SETS, both),
        _webhook("vpod.kb.io", podwebhook.validate, OF_PODS, both))


def _webhook(
    name: str, function: Any, of: tuple[str, str, str], operations: tuple[str, ...], *, mutating: bool = False,
) -> Webhook:
    group, version, plural = of
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": [*operations], "resources": [plural]}
    kind = "mutating" if mutating else "validating"
    return Webhook(function, (), operations, mutating, name, {"rules": [rule]}, f"lws-{kind}-webhook-configuration")
