"""A strategy that knows the stored shape of a kind, at the service of a version with another one.

Upstream validates internal types, so that rules and error texts are the same for every version.
Here the hooks get the tree in the version of the request; this wrapper shows them the stored shape
instead and brings their changes back.
"""

from copy import deepcopy

from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Convert
from fakekube.registry.strategy import Strategy, WriteContext


class ConvertingStrategy(Strategy):
    """``inner`` for trees that ``to_stored`` brings into its shape, and ``from_stored`` back."""

    def __init__(self, inner: Strategy, to_stored: Convert, from_stored: Convert) -> None:
        self.inner, self._to_stored, self._from_stored = inner, to_stored, from_stored

    def _shown(self, obj: Tree) -> Tree:
        return self._to_stored(deepcopy(obj))

    def _bring_back(self, obj: Tree, changed: Tree) -> None:
        converted = self._from_stored(changed)
        obj.clear()
        obj.update(converted)

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Defaults of the stored shape; the conversion adds its own."""
        shown = self._shown(obj)
        self.inner.default(shown, ctx)
        self._bring_back(obj, shown)

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """As the inner strategy does."""
        shown = self._shown(obj)
        self.inner.prepare_for_create(shown, ctx)
        self._bring_back(obj, shown)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """As the inner strategy does."""
        shown = self._shown(obj)
        self.inner.prepare_for_update(shown, self._shown(old), ctx)
        self._bring_back(obj, shown)

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """As the inner strategy does."""
        shown = self._shown(obj)
        self.inner.prepare_for_status_update(shown, self._shown(old), ctx)
        self._bring_back(obj, shown)

    def prepare_for_delete(self, obj: Tree, ctx: WriteContext) -> None:
        """As the inner strategy does."""
        shown = self._shown(obj)
        self.inner.prepare_for_delete(shown, ctx)
        self._bring_back(obj, shown)

    def canonicalize(self, obj: Tree) -> None:
        """As the inner strategy does."""
        shown = self._shown(obj)
        self.inner.canonicalize(shown)
        self._bring_back(obj, shown)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Errors name the fields of the stored shape, as upstream's do."""
        return self.inner.validate(self._shown(obj), ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As the inner strategy does."""
        return self.inner.validate_update(self._shown(obj), self._shown(old), ctx)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As the inner strategy does."""
        return self.inner.validate_status_update(self._shown(obj), self._shown(old), ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """As the inner strategy does."""
        return self.inner.warnings(self._shown(obj), None if old is None else self._shown(old), ctx)

    def spec_changed(self, obj: Tree, old: Tree) -> bool:
        """Compared in the stored shape, so that what v1 keeps in annotations counts."""
        return self.inner.spec_changed(self._shown(obj), self._shown(old))

    def check_graceful_delete(self, obj: Tree, grace_seconds: int | None, ctx: WriteContext) -> int | None:
        """As the inner strategy does."""
        return self.inner.check_graceful_delete(self._shown(obj), grace_seconds, ctx)

    def holds_deletion(self, obj: Tree) -> bool:
        """As the inner strategy does."""
        return self.inner.holds_deletion(self._shown(obj))

    def after_create(self, obj: Tree, ctx: WriteContext) -> None:
        """As the inner strategy does."""
        self.inner.after_create(self._shown(obj), ctx)

    def after_delete(self, obj: Tree, ctx: WriteContext) -> None:
        """As the inner strategy does."""
        self.inner.after_delete(self._shown(obj), ctx)
