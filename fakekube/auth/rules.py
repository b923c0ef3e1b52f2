"""Rules of roles: what they allow, what they cover of others, how they read in messages.

Upstream: pkg/apis/rbac/v1/evaluation_helpers.go, component-helpers/auth/rbac/validation
(policy_comparator.go), pkg/registry/rbac/validation/policy_compact.go.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree

Words = tuple[str, ...]
ALL = "*"
MOST_ATOMS = 10_000


class PolicyRule(NamedTuple):
    """One rule of a role: verbs on resources, or on paths."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    def allows(self, verb: str, group: str, resource: str, subresource: str) -> bool:
        """Whether a verb on a resource is among what it says, names left aside."""
        if ALL not in self.verbs and verb not in self.verbs:
            return False
        if ALL not in self.groups and group not in self.groups:
            return False
        resources = self.resources
        if ALL in resources:
            return True
        if not subresource:
            return resource in resources
        return f"{resource}/{subresource}" in resources or f"*/{subresource}" in resources

    def allows_path(self, verb: str, path: str) -> bool:
        """Whether a verb on a path is among what it says."""
        return (ALL in self.verbs or verb in self.verbs) and any(_url_covers(url, path) for url in self.urls)

    def covers(self, other: "PolicyRule") -> bool:
        """Whether this rule alone allows all that another one does."""
        if self.names and (not other.names or not _has_all(self.names, other.names)):
            return False
        return (
            _covers_all(self.verbs, other.verbs) and _covers_all(self.groups, other.groups)
            and (ALL in self.resources or all(self._covers_resource(resource) for resource in other.resources))
            and all(any(_url_covers(url, path) for url in self.urls) for path in other.urls))

    def _covers_resource(self, resource: str) -> bool:
        if resource in self.resources:
            return True
        _, slash, subresource = resource.partition("/")
        return bool(slash) and f"*/{subresource}" in self.resources

    @property
    def size(self) -> int:
        """How many ``atoms`` there are."""
        resources = len(self.groups) * len(self.resources) * max(1, len(self.names))
        return len(self.verbs) * (resources + len(self.urls))

    def atoms(self) -> "Iterator[PolicyRule]":
        """The same as rules of one verb on one resource, one name of it or one path."""
        for group in self.groups:
            for resource in self.resources:
                for verb in self.verbs:
                    for name in self.names or (None,):
                        yield PolicyRule((verb,), (group,), (resource,), () if name is None else (name,))
        for url in self.urls:
            for verb in self.verbs:
                yield PolicyRule((verb,), urls=(url,))

    def text(self) -> str:
        """As messages show it: ``{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}``."""
        shown = (
            ("APIGroups", self.groups), ("Resources", self.resources), ("NonResourceURLs", self.urls),
            ("ResourceNames", self.names), ("Verbs", self.verbs))
        return "{" + ", ".join(f"{name}:{go_texts(values)}" for name, values in shown if values) + "}"


class UserRules(NamedTuple):
    """What a user may do in a namespace. ``incomplete``: there may be more, and ``error`` why."""

    rules: list[PolicyRule]
    incomplete: bool = False
    error: str = ""


ALL_RESOURCES, ALL_URLS = PolicyRule((ALL,), (ALL,), (ALL,)), PolicyRule((ALL,), urls=(ALL,))
FULL_AUTHORITY = (ALL_RESOURCES, ALL_URLS)
EVERYTHING, NO_RULES = UserRules([*FULL_AUTHORITY]), UserRules([])


def rules_of(tree: Tree) -> tuple[PolicyRule, ...]:
    """The rules of a Role or ClusterRole."""
    fields = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    return tuple(PolicyRule(*(tuple(rule.get(field) or ()) for field in fields)) for rule in tree.get("rules") or ())


def missing(held: Sequence[PolicyRule], wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
    """What of ``wanted`` is not covered by ``held``, in rules of one group and resource each.

    A short rule can stand for a billion such; one of more than ``MOST_ATOMS`` is judged whole.
    """
    compact: dict[tuple[Words, Words, Words], list[str]] = {}
    whole: list[PolicyRule] = []
    for rule in wanted:
        if any(one.covers(rule) for one in held):
            continue
        if rule.size > MOST_ATOMS:
            whole.append(rule)
            continue
        for atom in rule.atoms():
            if any(one.covers(atom) for one in held):
                continue
            if atom.urls:
                whole.append(atom)
            else:
                compact.setdefault((atom.groups, atom.resources, atom.names), []).append(atom.verbs[0])
    return whole + [
        PolicyRule(tuple(verbs), groups, resources, names) for (groups, resources, names), verbs in compact.items()]


def errors_text(texts: Iterable[str]) -> str:
    """Several errors in one text, each once. Upstream: apimachinery/pkg/util/errors (aggregate)."""
    found = list(dict.fromkeys(texts))
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]" if found else ""


def go_texts(values: Iterable[str]) -> str:
    """Texts as Go's %q writes a slice of them."""
    return "[" + " ".join(go_quote(value) for value in values) + "]"


def _has_all(words: Words, wanted: Words) -> bool:
    return all(word in words for word in wanted)


def _covers_all(words: Words, wanted: Words) -> bool:
    return ALL in words or _has_all(words, wanted)


def _url_covers(url: str, path: str) -> bool:
    return url in (ALL, path) or (url.endswith(ALL) and path.startswith(url.rstrip(ALL)))
