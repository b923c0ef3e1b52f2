"""Namespaces: the finalizer that holds them, their phase, and the label with their name.

Upstream: pkg/registry/core/namespace/strategy.go and pkg/apis/core/v1/defaults.go.
"""

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.registry.metadata import validate_finalizer_name
from fakekube.registry.strategy import Strategy, WriteContext

NAME_LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"


def _label(obj: Tree) -> None:
    meta = obj["metadata"]
    if name := meta.get("name"):
        meta["labels"] = {**meta.get("labels", {}), NAME_LABEL: name}


def _finalizers(finalizers: list[str], path: str, *, indexed: bool) -> list[FieldError]:
    found: list[FieldError] = []
    for position, name in enumerate(finalizers):
        here = field_errors.index(path, position) if indexed else path
        found += complaints(here, name, names.qualified_name(name))
        found += validate_finalizer_name(name, here)
    return found


class NamespaceStrategy(Strategy):
    """The kind's own endpoint and its status."""

    deletes_by_itself = True

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        _label(obj)
        obj.setdefault("status", {}).setdefault("phase", "Active")

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        obj["status"] = {"phase": "Active"}
        spec = obj.setdefault("spec", {})
        finalizers = spec.get("finalizers") or []
        if FINALIZER not in finalizers:
            spec["finalizers"] = [*finalizers, FINALIZER]

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        spec = {name: value for name, value in obj.get("spec", {}).items() if name != "finalizers"}
        if "finalizers" in old["spec"]:
            spec["finalizers"] = old["spec"]["finalizers"]
        obj["spec"], obj["status"] = spec, old["status"]

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        return _finalizers(obj["spec"].get("finalizers") or [], "spec.finalizers", indexed=False)

    def canonicalize(self, obj: Tree) -> None:
        _label(obj)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        phase, deleted = obj["status"].get("phase", ""), "deletionTimestamp" in obj["metadata"]
        if deleted and phase != "Terminating":
            what = "may only be 'Terminating' if `deletionTimestamp` is not empty"
            return [field_errors.invalid("status.Phase", phase, what)]
        if not deleted and phase != "Active":
            what = "may only be 'Active' if `deletionTimestamp` is empty"
            return [field_errors.invalid("status.Phase", phase, what)]
        return []

    def prepare_for_delete(self, obj: Tree, ctx: WriteContext) -> None:
        obj["status"] = {**obj["status"], "phase": "Terminating"}

    def holds_deletion(self, obj: Tree) -> bool:
        return bool(obj.get("spec", {}).get("finalizers"))


class FinalizeStrategy(NamespaceStrategy):
    """``namespaces/finalize``: who has emptied a namespace lets go of it."""

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        obj.setdefault("spec", {})
        obj["status"] = old["status"]

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return _finalizers(obj["spec"].get("finalizers") or [], "spec.finalizers", indexed=True)


STRATEGY = NamespaceStrategy()
SUBRESOURCES: dict[str, Strategy] = {"finalize": FinalizeStrategy()}
