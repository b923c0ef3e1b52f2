"""RuntimeClass: a way to run containers, what it costs and where it is.

Upstream: pkg/apis/node/validation. Left out: the finer rules of resource names.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, index, invalid, key, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import quantity_not_negative, ruled
from fakekube.registry.strategy import Strategy, WriteContext
from fakekube.registry.validation import IMMUTABLE, labels, one_of

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class RuntimeClassStrategy(Strategy):
    """What is particular to RuntimeClasses."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The handler's name, amounts, and tolerations."""
        found: list[FieldError] = []
        for name, amount in ((obj.get("overhead") or {}).get("podFixed") or {}).items():
            found += quantity_not_negative(key("overhead.limits", name), amount)
        scheduling = obj.get("scheduling") or {}
        found += labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
        for number, toleration in enumerate(scheduling.get("tolerations") or ()):
            found += _toleration(index("scheduling.tolerations", number), toleration)
        handler = obj.get("handler", "")
        return found + (ruled("handler", handler, names.dns1123_label) if handler else [required("handler")])

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The handler stays; nothing else is looked at."""
        return [] if obj.get("handler") == old.get("handler") else [invalid("handler", None, IMMUTABLE)]


def _toleration(path: str, toleration: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    name, operator = toleration.get("key", ""), toleration.get("operator", "")
    if name:
        found += ruled(child(path, "key"), name, names.qualified_name)
    elif operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        found.append(invalid(child(path, "operator"), operator, text))
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        found.append(invalid(child(path, "effect"), toleration.get("effect", ""), text))
    if operator in ("", "Equal"):
        value = toleration.get("value", "")
        if texts := names.label_value(value):
            found.append(invalid(child(path, "operator"), value, ";".join(texts)))
    elif operator == "Exists" and toleration.get("value"):
        text = "value must be empty when `operator` is 'Exists'"
        found.append(invalid(child(path, "operator"), toleration["value"], text))
    elif operator != "Exists":
        found.append(not_supported(child(path, "operator"), operator, ("Equal", "Exists")))
    if toleration.get("effect"):
        found += one_of(child(path, "effect"), toleration["effect"], EFFECTS)
    return found


STRATEGY = RuntimeClassStrategy()
