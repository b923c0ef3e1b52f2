"""Which writes a webhook or a policy wants to see: rules, selectors, and equivalent versions.

Upstream: apiserver/pkg/admission/plugin/webhook/{generic,predicates} and plugin/policy/matching.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fakekube.admission.services import Services
from fakekube.apimachinery import errors, labels
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

NAMESPACES = GroupResource("", "namespaces")


class Rule(NamedTuple):
    """One rule: operations, groups, versions, resources with their sub-resources, scope and names.
    """

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str
    names: frozenset[str]

    @classmethod
    def of(cls, tree: Tree) -> "Rule":
        """The rule that a tree describes."""
        resources = [text.partition("/")[::2] for text in tree.get("resources") or ()]
        return cls(
            frozenset(tree.get("operations") or ()), frozenset(tree.get("apiGroups") or ()),
            frozenset(tree.get("apiVersions") or ()), tuple(resources), tree.get("scope") or "*",
            frozenset(tree.get("resourceNames") or ()))

    def covers(self, kind: Kind, attrs: Attributes) -> bool:
        """Whether the write would be one of this rule's if it were of this kind, names aside."""
        return (
            _has(self.operations, attrs.operation) and _has(self.groups, kind.group) and _has(self.versions, kind.version)
            and self._covers_scope(kind, attrs)
            and any(
                resource in ("*", kind.plural) and subresource in ("*", attrs.subresource)
                for resource, subresource in self.resources))

    def _covers_scope(self, kind: Kind, attrs: Attributes) -> bool:
        if self.scope == "*":
            return True
        within = bool(attrs.namespace) and not is_namespace(kind)
        return within == (self.scope == "Namespaced")


def _has(items: frozenset[str], wanted: str) -> bool:
    return "*" in items or wanted in items


def is_namespace(kind: Kind) -> bool:
    """Whether a kind is that of namespaces."""
    return kind.plural == "namespaces" and not kind.group


WriteShape = tuple[Kind, str, str, bool]
"""All that rules without names look at: kind, operation, subresource, whether it is
outside of namespaces. Kinds are told apart by identity.
"""


def shape_of(attrs: Attributes) -> WriteShape:
    """The shape of a write."""
    return attrs.kind, attrs.operation, attrs.subresource, not attrs.namespace


class Matcher:
    """What a webhook, a policy or a binding matches.

    ``spec`` has ``matchPolicy``, ``namespaceSelector`` and ``objectSelector``; ``rules`` and
    ``excluded`` are rules as trees.
    """

    def __init__(self, services: Services, spec: Mapping[str, Any], rules: Iterable[Tree], excluded: Iterable[Tree] = ()) -> None:
        self._services = services
        self._rules, self._excluded = [Rule.of(rule) for rule in rules], [Rule.of(rule) for rule in excluded]
        self._equivalent = spec.get("matchPolicy") != "Exact"
        self._named = any(rule.names for rule in (*self._rules, *self._excluded))
        self.namespace_selector, self.object_selector = _selector(spec, "namespaceSelector"), _selector(spec, "objectSelector")
        self._kinds: dict[WriteShape, Kind | None] = {}
        self._generation = -1

    def matches(self, attrs: Attributes) -> Kind | None:
        """The kind in which the write is wanted; None when it is not.

        Raises NotFound when labels of a namespace are wanted that is not there.
        """
        kind = self.kind_of(attrs)
        return kind if kind is not None and self.selects(attrs) else None

    def selects(self, attrs: Attributes) -> bool:
        """Whether the selectors do. Raises NotFound as ``matches``."""
        missing = None
        if self.namespace_selector is not None and (attrs.namespace or is_namespace(attrs.kind)):
            found = _namespace_labels(attrs)
            if found is None:
                missing = errors.not_found(NAMESPACES, attrs.namespace)
            elif not self.namespace_selector.matches(found):
                return False
        if self.object_selector is not None and not self._selects_object(attrs):
            return False
        if missing is not None:
            raise missing
        return True

    def _selects_object(self, attrs: Attributes) -> bool:
        selector = self.object_selector
        assert selector is not None
        return any(
            tree is not None and selector.matches((tree.get("metadata") or {}).get("labels") or {})
            for tree in (attrs.obj, attrs.old))

    def kind_of(self, attrs: Attributes) -> Kind | None:
        """The kind that the first rule names, selectors aside."""
        if self._named:
            return self._find(attrs)
        resources = self._services.resources
        if resources.generation != self._generation:
            self._kinds.clear()
            self._generation = resources.generation
        shape = shape_of(attrs)
        if shape not in self._kinds:
            self._kinds[shape] = self._find(attrs)
        return self._kinds[shape]

    def _find(self, attrs: Attributes) -> Kind | None:
        if self._excluded and self._first(self._excluded, attrs) is not None:
            return None
        return self._first(self._rules, attrs)

    def _first(self, rules: list[Rule], attrs: Attributes) -> Kind | None:
        rules = [rule for rule in rules if not rule.names or attrs.name in rule.names]
        if any(rule.covers(attrs.kind, attrs) for rule in rules):
            return attrs.kind
        if not self._equivalent:
            return None
        others = [
            kind for kind in self._services.equivalents(attrs.kind)
            if not attrs.subresource or kind.subresource(attrs.subresource) is not None]
        return next((kind for rule in rules for kind in others if rule.covers(kind, attrs)), None)


def _selector(spec: Mapping[str, Any], name: str) -> Selector | None:
    """The selector of a name; None for one that selects everything."""
    tree = spec.get(name)
    if tree is None:
        return None
    selector = labels.from_label_selector(tree)
    return None if selector.empty else selector


def _namespace_labels(attrs: Attributes) -> Mapping[str, str] | None:
    """The labels of the namespace that a write is in, or of the one that it writes; None where it
    is missing.
    """
    if is_namespace(attrs.kind) and not attrs.subresource and attrs.operation in ("CREATE", "UPDATE"):
        found = attrs.obj
    else:
        found = attrs.ctx.cluster.lookup("", "namespaces", "", attrs.namespace or attrs.name)
    return None if found is None else (found.get("metadata") or {}).get("labels") or {}
