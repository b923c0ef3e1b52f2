"""ResourceQuota: how much a namespace may hold.

Upstream: pkg/apis/core/validation, pkg/registry/core/resourcequota. Who keeps to it is
admission/resource_quota.py.
"""

from fakekube.apimachinery import quantity
from fakekube.apimachinery.field_errors import FieldError, invalid, key, required, typed
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE
from fakekube.apis.base import StatusStrategy
from fakekube.apis.core.podresources import HUGE_PAGES
from fakekube.apis.core.podspec_defaults import round_amounts
from fakekube.apis.core.resource_requirements import (
    CONTAINER_RESOURCES,
    QUOTA_RESOURCES,
    validate_amount,
    validate_resource_name,
)
from fakekube.apis.internals import internal
from fakekube.registry.strategy import WriteContext

COMPUTE = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
CLAIM_SCOPED = ("persistentvolumeclaims", "requests.storage")
POD_SCOPES = ("Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity")
EXISTENCE_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity")
SCOPES = (*POD_SCOPES, "BestEffort", "VolumeAttributesClass")
PAIRS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


class ResourceQuotaStrategy(StatusStrategy):
    """What is particular to ResourceQuotas."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Amounts are whole thousandths."""
        round_amounts((obj.get("spec") or {}).get("hard") or {})
        for part in ("hard", "used"):
            round_amounts((obj.get("status") or {}).get(part) or {})

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """More may be asked for than pods may use."""
        hard, found = (obj.get("spec") or {}).get("hard") or {}, []
        for resource in ("cpu", "memory", "storage", "ephemeral-storage"):
            asked, limit = f"requests.{resource}", f"limits.{resource}"
            if asked not in hard and resource in ("cpu", "memory"):
                asked = resource
            if old is not None or asked not in hard or limit not in hard:
                continue
            if quantity.parse(hard[asked]).nano > quantity.parse(hard[limit]).nano:
                found.append(f"ResourceQuota {asked} ({hard[asked]}) should be less than {limit} ({hard[limit]})")
        return found

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Amounts, and scopes that fit them."""
        return _spec(obj.get("spec") or {})

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the scopes stay."""
        new, before = ((tree.get("spec") or {}).get("scopes") or [] for tree in (obj, old))
        changed = [] if sorted(set(new)) == sorted(set(before)) else [invalid("spec.scopes", new or None, IMMUTABLE)]
        return self.validate(obj, ctx) + changed

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Amounts."""
        found: list[FieldError] = []
        for part in ("hard", "used"):
            for name, amount in ((obj.get("status") or {}).get(part) or {}).items():
                found += _resource(name, amount, key(f"status.{part}", name))
        return found


def _spec(spec: Tree) -> list[FieldError]:
    hard, found = spec.get("hard") or {}, []
    for name, amount in hard.items():
        found += _resource(name, amount, key("spec.hard", name))
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in SCOPES:
            found.append(invalid("spec.scopes", scopes, "unsupported scope"))
        found += [invalid("spec.scopes", scopes, "unsupported scope applied to resource") for _ in _unfit(scope, hard)]
    found += _conflicts(scopes, scopes, "spec.scopes")
    if "scopeSelector" in spec:
        found += _selector(spec["scopeSelector"], hard, spec.get("scopes"))
    return found


def _unfit(scope: str, hard: Tree) -> list[str]:
    """The resources to which a scope does not apply."""
    if scope in POD_SCOPES:
        fit: tuple[str, ...] = ("pods", *COMPUTE)
    elif scope == "BestEffort":
        fit = ("pods",)
    elif scope == "VolumeAttributesClass":
        fit = CLAIM_SCOPED
    else:
        return []
    return [name for name in sorted(hard) if _is_known(name) and name not in fit]


def _is_known(name: str) -> bool:
    """Whether a quota knows the resource without a domain in front."""
    standard = name in CONTAINER_RESOURCES or name in QUOTA_RESOURCES
    return (standard and name != "storage") or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


def _resource(name: str, amount: str, path: str) -> list[FieldError]:
    """A resource of a quota and its amount."""
    found = validate_resource_name(name, path)
    if "/" not in name and not _is_known(name):
        found.append(invalid(path, name, "must be a standard resource for quota"))
    return found + validate_amount(name, amount, path)


def _conflicts(given: list[str], shown: list[str] | None, path: str) -> list[FieldError]:
    return [invalid(path, shown, "conflicting scopes") for pair in PAIRS if all(scope in given for scope in pair)]


def _selector(selector: Tree, hard: Tree, scopes: list[str] | None) -> list[FieldError]:
    path, found, given = "spec.scopeSelector.matchExpressions", [], []
    shown = internal("ScopeSelector", selector)
    for requirement in selector.get("matchExpressions") or ():
        scope, operator = requirement.get("scopeName", ""), requirement.get("operator", "")
        values = requirement.get("values") or []
        given.append(scope)
        if scope not in SCOPES:
            found.append(invalid(f"{path}.scopeName", typed(scope), "unsupported scope"))
        found += [invalid(path, shown, "unsupported scope applied to resource") for _ in _unfit(scope, hard)]
        if scope in EXISTENCE_SCOPES and operator != "Exists":
            found.append(invalid(f"{path}.operator", typed(operator), ONLY_EXISTS))
        if operator in ("In", "NotIn"):
            if not values:
                text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                found.append(required(f"{path}.values", text))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                found.append(invalid(f"{path}.values", values, text))
        else:
            found.append(invalid(f"{path}.operator", typed(operator), "not a valid selector operator"))
    return found + _conflicts(given, scopes, path)


STRATEGY = ResourceQuotaStrategy()
