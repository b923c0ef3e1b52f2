"""The webhooks that are configured, ready to be asked.

They are read again when a configuration was written; otherwise a write costs one look. Upstream:
apiserver/pkg/admission/configuration, plugin/webhook/accessors.go. Left out: static manifests.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import orjson

from fakekube.admission.configured import CONFIGURATIONS
from fakekube.admission.matching import Matcher, WriteShape
from fakekube.admission.services import Services
from fakekube.apimachinery import errors
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

if TYPE_CHECKING:
    from fakekube.admission.expressions import Conditions
    from fakekube.storage.memory import Bucket


class Hook:
    """One webhook of a configuration.

    ``index`` is its place among all that are configured. ``told_asked`` and ``told_mutated`` are
    what the audit log says of it, if it is a mutating one.
    """

    def __init__(self, services: Services, configuration: str, number: int, index: int, tree: Tree) -> None:
        self.configuration, self.index = configuration, index
        self.name: str = tree.get("name", "")
        self.uid = f"{configuration}/{self.name}/{number}"
        self.client: Tree = tree.get("clientConfig") or {}
        self.ignores_failures = tree.get("failurePolicy") == "Ignore"
        self.timeout_seconds: int = tree.get("timeoutSeconds") or 10
        self.side_effects: str = tree.get("sideEffects", "")
        self.versions: Sequence[str] = tree.get("admissionReviewVersions") or ()
        self.reinvocable = tree.get("reinvocationPolicy") == "IfNeeded"
        self.matcher = Matcher(services, tree, tree.get("rules") or ())
        conditions = tree.get("matchConditions") or ()
        self._conditions = _conditions(services, conditions, self.ignores_failures) if conditions else None
        self.has_conditions = self._conditions is not None
        self.told_asked, self.told_mutated = (self._told(mutated=each) for each in (False, True))
        self._services = services

    def _told(self, *, mutated: bool) -> str:
        """What the audit log says of a mutating webhook that was asked."""
        told = {"configuration": self.configuration, "webhook": self.name, "mutated": mutated}
        return orjson.dumps(told).decode()

    async def holds(self, attrs: Attributes, kind: Kind, *, final: bool) -> bool:
        """Whether the match conditions hold for a write as that kind.

        Raises APIError where one cannot be decided.
        """
        if self._conditions is None:
            return True
        from fakekube.admission import expressions
        from fakekube.cel import admission

        conditions = self._conditions

        def hold() -> bool:
            budget = expressions.Budget(admission.CONDITIONS_COST_BUDGET)
            return conditions.hold(expressions.Activation(self._services, attrs, kind, final=final, budget=budget))

        try:
            return await attrs.ctx.finish(hold)
        except expressions.Failed as error:
            raise errors.forbidden(attrs.kind.group_resource, attrs.name, str(error)) from None


def _conditions(services: Services, conditions: list[Tree], ignores_failures: bool) -> "Conditions":
    from fakekube.admission.expressions import Conditions
    from fakekube.cel import admission

    within = admission.environment(services.minor, admission.Seen(), stored=True)
    return Conditions(within, conditions, ignores_failures=ignores_failures)


Covering = tuple[tuple[Hook, Kind], ...]
"""Webhooks whose rules cover a write, each with the kind in which it wants to see it."""


class Hooks:
    """All webhooks of one kind of configuration, in the order in which they are called."""

    def __init__(self, services: Services, plural: str) -> None:
        self._services, self._resource = services, GroupResource(CONFIGURATIONS, plural)
        self._buckets, self._resources = services.buckets, services.resources
        # what was read last: where, after how many changes, and for which resources
        self._bucket: Bucket | None = None
        self._changes = self._generation = -1
        self._hooks: tuple[Hook, ...] = ()
        # by what rules look at: those whose rules cover such a write, at this moment
        self._covering: dict[WriteShape, Covering] = {}

    def covering(self, attrs: Attributes) -> Covering:
        """The webhooks of this moment whose rules cover a write, selectors aside.

        No rule of a webhook has names, so that writes of one shape are covered alike.
        """
        known = self._bucket
        if known is None or known.changes != self._changes or self._resources.generation != self._generation:
            if (bucket := self._buckets.existing(self._resource)) is None:
                return ()
            self._look_again(bucket)
        shape = attrs.kind, attrs.operation, attrs.subresource, not attrs.namespace  # as shape_of, without the call
        found = self._covering.get(shape)
        if found is None:
            kinds = ((hook, hook.matcher.kind_of(attrs)) for hook in self._hooks)
            found = self._covering[shape] = tuple((hook, kind) for hook, kind in kinds if kind is not None)
        return found

    def _look_again(self, bucket: "Bucket") -> None:
        """Something has changed: the configurations, or what is served, buckets among it."""
        if bucket is not self._bucket or bucket.changes != self._changes:
            self._hooks = tuple(self._read([record.tree() for record in bucket.records()]))
            self._bucket, self._changes = bucket, bucket.changes
        self._generation = self._resources.generation
        self._covering.clear()

    def _read(self, configurations: list[Tree]) -> Iterator[Hook]:
        index = 0
        for tree in configurations:
            for number, hook in enumerate(tree.get("webhooks") or ()):
                yield Hook(self._services, tree["metadata"]["name"], number, index, hook)
                index += 1
