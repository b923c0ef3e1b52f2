"""The rules of custom objects: what their definition asks, in the order in which upstream asks it.

Of a new object and of a changed one first the type is looked at, then metadata, the schema, the
scale, embedded objects, lists that may not repeat themselves, and at last the rules in CEL, which
are not asked when something is wrong that they could trip over. Upstream:
apiextensions-apiserver/pkg/registry/customresource.
"""

from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, cast

from fakekube.apiextensions.objects import acceptors, listtypes
from fakekube.apiextensions.objects.constraints import Constraints
from fakekube.apiextensions.objects.correlation import Correlation
from fakekube.apiextensions.objects.defaulting import Fill
from fakekube.apiextensions.objects.metadata import has_embedded, validate_embedded
from fakekube.apiextensions.objects.violations import TYPE_INVALID, violations
from fakekube.apiextensions.validation.structural import has_any
from fakekube.apiextensions.version import DefinedVersion
from fakekube.apimachinery import errors, field_errors, names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, go_quote
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.metadata import STANDARD_FINALIZERS
from fakekube.registry.scale import Found, integer_at, text_at
from fakekube.registry.strategy import LEFT_OUT, Strategy, WriteContext, shared_parts

if TYPE_CHECKING:
    from fakekube.apiextensions.rules.checking import Checker

RATCHETING = "CRDValidationRatcheting"
MAX_INT32, INT64 = (1 << 31) - 1, 1 << 63
BLOCKING = ("Unsupported value", "Required value", "Too long", "Too many")
"""Errors that keep the rules in CEL from being asked, besides wrong types."""
NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)
PREFER_DOMAIN = (
    "metadata.finalizers: {}: prefer a domain-qualified finalizer name{} to avoid accidental conflicts with other "
    "finalizer writers"
)


class CustomResourceStrategy(Strategy):
    """The rules of the objects of one version."""

    def __init__(self, version: DefinedVersion) -> None:
        self.version = version
        self._constraints: Constraints | None = None
        self._has_checker, self._checker = False, cast("Checker | None", None)
        self._kind, self._api_version = version.gvk.kind, version.gvk.api_version
        self._scale: Tree | None = version.subresources.get("scale")

    @property
    def _fill(self) -> Fill | None:
        return self.version.reader.fill

    @cached_property
    def _repeated(self) -> listtypes.Check | None:
        return listtypes.checker(self.version.schema)

    @cached_property
    def _embeds(self) -> bool:
        return has_embedded(self.version.schema)

    def _schema(self, ctx: WriteContext) -> Constraints:
        """What the schema asks of values; a definition serves one cluster, and so one release."""
        if self._constraints is None:
            self._constraints = Constraints(self.version.openapi, ctx.minor)
        return self._constraints

    # filling in and preparing

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """The defaults of the schema."""
        if self._fill is not None:
            self._fill(obj)

    def default_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """As ``default``, but for what is shared with the old object, which has its defaults."""
        if self._fill is None:
            return
        kept = shared_parts(obj, old)
        obj.update(dict.fromkeys(kept, LEFT_OUT))
        self._fill(obj)
        obj.update(kept)

    def default_status(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The same."""
        self.default_update(obj, old, ctx)

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """A new object has no status where that is written by an endpoint of its own.

        Raises Forbidden when there may be none, since the definition goes.
        """
        if self.version.is_terminating:
            gvk = self.version.gvk
            raise errors.forbidden(
                GroupResource(gvk.group, self.version.plural), obj["metadata"].get("name", ""),
                "create not allowed while custom resource definition is terminating")
        if self.version.has_status:
            obj.pop("status", None)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The stored status, where that is written by an endpoint of its own."""
        if self.version.has_status:
            obj.pop("status", None)
            if "status" in old:
                obj["status"] = old["status"]

    def spec_changed(self, obj: Tree, old: Tree) -> bool:
        """Whether anything but metadata changed."""
        if obj.keys() != old.keys():
            return True
        return any(not same(value, old[name]) for name, value in obj.items() if name != "metadata")

    def canonicalize(self, obj: Tree) -> None:
        """Whole floats are stored as Go prints them: without a fraction."""
        self.canonicalize_changed(obj, {})

    def canonicalize_changed(self, obj: Tree, old: Tree) -> None:
        """The same of what is not the old object's own."""
        for name, value in obj.items():
            kind = value.__class__
            if kind is dict or kind is list:
                if name != "metadata" and value is not old.get(name):
                    print_as_go(value)
            elif kind is float:
                obj[name] = _number_as_go(value)

    # validating

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """All that is wrong with a new object."""
        found = self._about_type(obj)
        if not found:
            found = of_metadata + self._about_values(obj, ctx)
            if self._scale is not None:
                found += self._about_scale(self._scale, obj)
        found += self._about_parts(obj)
        return found + self._about_rules(obj, found, ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """What is wrong with a changed object, unless it was before and is as it was."""
        found = self._about_type(obj)
        if not found:
            found = self._about_values(obj, ctx, old)
            if self._scale is not None:
                found += self._about_scale(self._scale, obj)
        found += self._about_parts(obj, old)
        return found + self._about_rules(obj, found, ctx, old)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """What is wrong with a status write: the schema is asked about the status alone."""
        found = self._about_type(obj)
        if not found:
            found = self._about_status(obj, ctx, old)
            if self._scale is not None:
                found += self._about_status_scale(self._scale, obj)
        found += self._about_repetitions(obj, old)
        return found + self._about_rules(obj, found, ctx, old)

    def _about_type(self, obj: Tree) -> list[FieldError]:
        kind, api_version = obj.get("kind", ""), obj.get("apiVersion", "")
        found = [] if kind == self._kind else [field_errors.invalid("kind", kind, f"must be {self._kind}")]
        if api_version != self._api_version:
            found.append(field_errors.invalid("apiVersion", api_version, f"must be {self._api_version}"))
        return found

    def _about_values(self, obj: Tree, ctx: WriteContext, old: Tree | None = None) -> list[FieldError]:
        schema = self._schema(ctx)
        if acceptors.fits(schema, obj):
            return []
        ratchets = old is not None and ctx.cluster.gate(RATCHETING)
        return violations(schema, obj, Correlation(obj, old, schema) if ratchets else None)

    def _about_status(self, obj: Tree, ctx: WriteContext, old: Tree) -> list[FieldError]:
        schema = self._schema(ctx).field("status")
        if schema is None or "status" not in obj:
            return []
        status = obj["status"]
        if status is not None and acceptors.fits(schema, status):
            return []
        ratchets = "status" in old and ctx.cluster.gate(RATCHETING)
        found = violations(schema, status, Correlation(status, old["status"], schema) if ratchets else None)
        return [error._replace(field=field_errors.child("status", error.field) if error.field else "status") for error in found]

    def _about_parts(self, obj: Tree, old: Tree | None = None) -> list[FieldError]:
        found = validate_embedded(obj, self.version.schema) if self._embeds else []
        return found + self._about_repetitions(obj, old)

    def _about_repetitions(self, obj: Tree, old: Tree | None) -> list[FieldError]:
        """Repetitions in sets and keyed lists; where the old object has some, more may come."""
        if self._repeated is None:
            return []
        found: list[FieldError] = []
        if old is not None:  # what both share has in one what it has in the other
            self._repeated({name: value for name, value in obj.items() if value is not old.get(name)}, "", found)
            if not found:
                return []
            found.clear()
        self._repeated(obj, "", found)
        if found and old is not None:
            before: list[FieldError] = []
            self._repeated(old, "", before)
            return [] if before else found
        return found

    def _about_rules(self, obj: Tree, found: list[FieldError], ctx: WriteContext, old: Tree | None = None) -> list[FieldError]:
        """What the rules in CEL say, unless something is wrong that they could trip over."""
        rules = self._rules(ctx)
        if rules is None:
            return []
        if is_blocking(found):
            return [field_errors.invalid("", None, NOT_CHECKED)]
        ratchets = old is not None and ctx.cluster.gate(RATCHETING)
        told, warnings = rules.check(
            obj, old, Correlation(obj, old, self._schema(ctx)) if ratchets else None, turn=ctx.turn)
        for text in warnings:
            ctx.warn(text)
        return told

    def _rules(self, ctx: WriteContext) -> "Checker | None":
        if not self._has_checker and not has_any(self.version.openapi, "x-kubernetes-validations"):
            self._has_checker = True
        if not self._has_checker:
            self._checker = self.version.checker(ctx.minor)
            self._has_checker = True
        return self._checker

    # scale

    def _about_scale(self, scale: Tree, obj: Tree) -> list[FieldError]:
        path = scale["specReplicasPath"]
        return _about_replicas(path, integer_at(obj, path)) + self._about_status_scale(scale, obj)

    def _about_status_scale(self, scale: Tree, obj: Tree) -> list[FieldError]:
        path, selector_path = scale["statusReplicasPath"], scale.get("labelSelectorPath")
        found = _about_replicas(path, integer_at(obj, path))
        if selector_path:
            selector = text_at(obj, selector_path)
            if selector.error:
                found.append(field_errors.invalid(selector_path, "", selector.error))
        return found

    # warning

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """What is odd about finalizers that came."""
        finalizers = obj["metadata"].get("finalizers")
        if not finalizers:
            return []
        before = old["metadata"].get("finalizers", ()) if old is not None else ()
        return [text for name in sorted(set(finalizers) - set(before)) for text in _about_finalizer(name)]


def is_blocking(found: list[FieldError]) -> bool:
    """Whether something is wrong that rules in CEL could trip over."""
    return any(error.type in BLOCKING or error.reason == TYPE_INVALID for error in found)


def _about_replicas(path: str, found: Found) -> list[FieldError]:
    value = found.value or 0
    if found.error:
        return [field_errors.invalid(path, 0, found.error)]
    if value < 0:
        return [field_errors.invalid(path, value, "should be a non-negative integer")]
    if value > MAX_INT32:
        return [field_errors.invalid(path, value, f"should be less than or equal to {MAX_INT32}")]
    return []


def _about_finalizer(name: str) -> list[str]:
    found = [f"metadata.finalizers: {go_quote(name)}: {text}" for text in names.qualified_name(name)]
    if "/" not in name and name not in STANDARD_FINALIZERS:
        found.append(PREFER_DOMAIN.format(go_quote(name), " including a path (/)" if "." in name else ""))
    return found


def print_as_go(value: Json) -> None:
    """Make whole floats integers, at any depth, in place, as far as 64 bits hold them.

    Go shows the fewest digits that tell a float from others, then zeros.
    """
    items = value.items() if value.__class__ is dict else enumerate(value)
    for place, item in items:
        kind = item.__class__
        if kind is str or kind is int:
            continue
        if kind is dict or kind is list:
            print_as_go(item)
        elif kind is float:
            value[place] = _number_as_go(item)


def _number_as_go(value: float) -> int | float:
    if value.is_integer() and -INT64 <= value < 2 * INT64:
        whole = int(Decimal(repr(value)))
        if -INT64 <= whole < 2 * INT64:
            return whole
    return value
