"""PriorityClasses.

Upstream: pkg/registry/scheduling/priorityclass/strategy.go and pkg/apis/scheduling/validation.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable, required_one_of
from fakekube.registry.strategy import Strategy, WriteContext

HIGHEST = 1_000_000_000
SYSTEM_PREFIX = "system-"
SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: {}"


class PriorityClassStrategy(Strategy):
    """A value and a policy, neither of which changes."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        obj.setdefault("preemptionPolicy", "PreemptLowerPriority")

    def spec_changed(self, obj: Tree, old: Tree) -> bool:
        """Upstream counts the first state only."""
        return False

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
        found: list[FieldError] = []
        if name.startswith(SYSTEM_PREFIX):
            if why := _why_not_system(name, value, default=obj.get("globalDefault", False)):
                found.append(field_errors.forbidden("metadata.name", RESERVED.format(why)))
        elif value > HIGHEST:
            what = f"maximum allowed value of a user defined priority is {HIGHEST}"
            found.append(field_errors.forbidden("value", what))
        policies = ("PreemptLowerPriority", "Never")
        return found + required_one_of("preemptionPolicy", obj.get("preemptionPolicy", ""), policies)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        found: list[FieldError] = []
        if obj.get("value", 0) != old.get("value", 0):
            found.append(field_errors.forbidden("value", "may not be changed in an update."))
        return found + immutable("preemptionPolicy", obj.get("preemptionPolicy"), old.get("preemptionPolicy"))

    def why_kept(self, name: str) -> str:
        return "this is a system priority class and cannot be deleted" if name in SYSTEM_CLASSES else ""


def _why_not_system(name: str, value: int, *, default: bool) -> str:
    """Why this is none of the classes that come with a cluster; empty when it is."""
    wanted = SYSTEM_CLASSES.get(name)
    if wanted is None:
        return f"{name} is not a known system priority class"
    if value != wanted:
        return f"value of {name} PriorityClass must be {wanted}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""


STRATEGY = PriorityClassStrategy()
