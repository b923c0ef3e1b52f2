"""RuntimeClass: a way to run containers, what it costs and where it is.

Upstream: pkg/apis/node/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, declared, duplicate, index, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE, declared_immutable, declared_name, labels
from fakekube.apis.checks import ruled
from fakekube.apis.core.resource_requirements import validate_requirements
from fakekube.apis.core.scheduling_validation import validate_tolerations
from fakekube.registry.strategy import Strategy, WriteContext


class RuntimeClassStrategy(Strategy):
    """What is particular to RuntimeClasses."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The handler's name, amounts, and tolerations."""
        return self._spec(obj, kept=True)

    def _spec(self, obj: Tree, *, kept: bool) -> list[FieldError]:
        """``kept`` tells that the handler is what it was, or new: a change ends the declarative
        rule before the name's form.
        """
        overhead = (obj.get("overhead") or {}).get("podFixed") or {}
        handler = obj.get("handler", "")
        if not handler:
            found = [declared(required("handler"))]
        else:
            found = (declared_name if kept else ruled)("handler", handler, names.dns1123_label)
        found += validate_requirements({"limits": overhead}, "overhead", [])
        scheduling = obj.get("scheduling") or {}
        found += labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
        return found + _tolerations("scheduling.tolerations", scheduling.get("tolerations") or [])

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the handler stays."""
        changed = declared_immutable("handler", obj.get("handler", ""), old.get("handler", ""))
        found = self._spec(obj, kept=not changed)
        return changed + found if ctx.minor >= DECLARATIVE_SINCE else found + changed


def _tolerations(path: str, tolerations: list[Tree]) -> list[FieldError]:
    """As those of pods, and each once."""
    found = validate_tolerations(tolerations, path)
    seen: set[tuple[str, ...]] = set()
    for number, toleration in enumerate(tolerations):
        fields = tuple(toleration.get(name, "") for name in ("key", "operator", "value", "effect"))
        if fields in seen:
            shown = dict(zip(("Key", "Operator", "Value", "Effect"), fields, strict=True))
            seconds = toleration.get("tolerationSeconds")
            found.append(duplicate(index(path, number), {**shown, "TolerationSeconds": seconds}))
        seen.add(fields)
    return found


STRATEGY = RuntimeClassStrategy()
