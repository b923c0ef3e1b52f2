"""StorageClass: how volumes of a class are made.

Upstream: pkg/apis/storage/v1/defaults.go, pkg/apis/storage/validation.
"""

from collections import Counter

from fakekube.apimachinery import names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    declared,
    duplicate,
    forbidden,
    index,
    invalid,
    repetitions,
    required,
    too_long,
)
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE, declared_immutable, immutable, one_of
from fakekube.apis.checks import ruled
from fakekube.registry.strategy import Strategy, WriteContext

MAX_PARAMETERS, MAX_PARAMETER_BYTES = 512, 256 * 1024
# upstream tells of each pair of equal terms, and so of a million for a thousand
MOST_REPEATED = 100
FIXED = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")
DECLARED_FIXED = ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode")
SAID_IMMUTABLE_SINCE = 36  # the minor number of the release that words it as all others do
RECLAIM_POLICIES, BINDING_MODES = ("Delete", "Retain"), ("Immediate", "WaitForFirstConsumer")


class StorageClassStrategy(Strategy):
    """What is particular to StorageClasses."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Volumes go with their claim and are made at once."""
        obj.setdefault("reclaimPolicy", "Delete")
        obj.setdefault("volumeBindingMode", "Immediate")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Parameters, policies and topologies."""
        provisioner = obj.get("provisioner", "")
        found = ruled("provisioner", provisioner.lower(), names.qualified_name)
        if not provisioner:
            found = [declared(required("provisioner"))]
        found += parameter_errors("parameters", obj.get("parameters") or {}, allow_empty=True)
        if obj.get("reclaimPolicy"):
            found += one_of("reclaimPolicy", obj["reclaimPolicy"], RECLAIM_POLICIES)
        found += one_of("volumeBindingMode", obj.get("volumeBindingMode", ""), BINDING_MODES)
        return found + _topologies(obj.get("allowedTopologies") or [])

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; who makes volumes, and how, stays."""
        found = self.validate(obj, ctx)
        for name in FIXED if ctx.minor < DECLARATIVE_SINCE else DECLARED_FIXED:
            new, before = obj.get(name) or None, old.get(name) or None
            if ctx.minor >= SAID_IMMUTABLE_SINCE:
                found += declared_immutable(name, new, before)
            elif name == "volumeBindingMode":
                found += immutable(name, new, before)
            elif not same(new, before):
                found.append(forbidden(name, f"updates to {name} are forbidden."))
        return found


def parameter_errors(path: str, parameters: Tree, *, allow_empty: bool) -> list[FieldError]:
    """What is wrong with the parameters of a class."""
    if len(parameters) > MAX_PARAMETERS:
        return [too_long(path, MAX_PARAMETERS)]
    found = [invalid(path, name, "field can not be empty.") for name in parameters if not name]
    if sum(len(name.encode()) + len(value.encode()) for name, value in parameters.items()) > MAX_PARAMETER_BYTES:
        found.append(too_long(path, MAX_PARAMETER_BYTES))
    if not parameters and not allow_empty:
        found.append(required(path, "must contain at least one key/value pair"))
    return found


def _topologies(terms: list[Tree]) -> list[FieldError]:
    """Each term says something that no other says.

    Upstream compares with a blank for each term as well.
    """
    found: list[FieldError] = []
    seen: Counter[frozenset[tuple[str, frozenset[str]]]] = Counter({frozenset(): len(terms)})
    for number, term in enumerate(terms):
        path = index("allowedTopologies", number)
        wanted = frozenset({
            each.get("key", ""): frozenset(each.get("values") or ()) for each in term.get("matchLabelExpressions") or ()}.items())
        found += _term(path, term)
        found += [duplicate(child(path, "matchLabelExpressions"), "")] * min(seen[wanted], MOST_REPEATED)
        seen[wanted] += 1
    return found


def _term(path: str, term: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    keys: set[str] = set()
    for number, requirement in enumerate(term.get("matchLabelExpressions") or ()):
        where, name = index(child(path, "matchLabelExpressions"), number), requirement.get("key", "")
        values = requirement.get("values") or []
        if not values:
            found.append(required(child(where, "values")))
        found += [duplicate(index(child(where, "values"), each), values[each]) for each in sorted(repetitions(values))]
        found += ruled(child(where, "key"), name, names.qualified_name)
        if name in keys:
            found.append(duplicate(child(where, "key"), name))
        keys.add(name)
    return found


STRATEGY = StorageClassStrategy()
