"""Workloads: the templates that a controller makes groups from.

Upstream: pkg/registry/scheduling/workload/strategy.go.
"""

from fakekube.apimachinery import names, scheduling_blocks
from fakekube.apimachinery.field_errors import FieldError, complaints, declared
from fakekube.apimachinery.types import Tree
from fakekube.apis.scheduling import groups, templates
from fakekube.registry.strategy import Strategy, WriteContext


class WorkloadStrategy(Strategy):
    """Templates that keep their number, their names and nearly all else."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        obj.setdefault("spec", {})

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        templates.drop_disabled(obj["spec"], None, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        templates.drop_disabled(obj["spec"], old["spec"], ctx)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        return _validate_spec(obj["spec"], None, "spec")

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return _validate_spec(obj["spec"], old["spec"], "spec")


def _validate_spec(spec: Tree, old: Tree | None, path: str) -> list[FieldError]:
    by_rules: list[FieldError] = []
    if old is None or _lists(spec).keys() != _lists(old).keys():
        by_rules += scheduling_blocks.one_member(_lists(spec), path, templates.LISTS)
    by_rules += groups.settled(spec, old, path, "controllerRef", validate_controller)
    by_rules += templates.validate_lists(spec, old, path)
    return templates.validate_tree(spec, path) + [declared(error) for error in by_rules]


def _lists(spec: Tree) -> Tree:
    return {field: spec[field] for field in templates.LISTS if spec.get(field)}


def validate_controller(reference: Tree, path: str) -> list[FieldError]:
    """The object that made a Workload: its group, kind and name."""
    found: list[FieldError] = []
    if group := reference.get("apiGroup"):
        found += complaints(f"{path}.apiGroup", group, scheduling_blocks.long_name(group))
    for field in ("kind", "name"):
        found += groups.required_name(reference, path, field, names.path_segment)
    return found


STRATEGY = WorkloadStrategy()
