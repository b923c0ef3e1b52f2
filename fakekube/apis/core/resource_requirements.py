"""What is wrong with requests, limits and claims of a container or of a pod as a whole.

Upstream: validateResourceRequirements and its helpers in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Callable, Sequence

from fakekube.apimachinery import field_errors, names, quantity
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import NEGATIVE
from fakekube.apis.core.podresources import HUGE_PAGES, is_pod_level

NameCheck = Callable[[str, str], list[FieldError]]
QOS_RESOURCES = ("cpu", "memory")
CONTAINER_RESOURCES = ("cpu", "memory", "ephemeral-storage")
QUOTA_RESOURCES = (
    "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory",
    "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
    "persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers",
)
INTEGER_RESOURCES = (
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
)
POD_RESOURCES = ("cpu", HUGE_PAGES, "memory")
NO_LIMIT = "Limit must be set for non overcommitable resources"
# upstream tells of each request of a claim that is wanted whole, for each time that it is
MOST_REPEATED = 100


def is_native(name: str) -> bool:
    """Whether a resource is Kubernetes' own: without a domain, or under kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Whether a resource is somebody else's: example.com/gpu."""
    return not is_native(name) and not name.startswith("requests.") and not names.qualified_name(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    """Whether a container may request less than its limit."""
    return is_native(name) and not name.startswith(HUGE_PAGES)


def validate_resource_name(name: str, path: str) -> list[FieldError]:
    """The name of any resource."""
    if found := complaints(path, name, names.qualified_name(name)):
        return found
    standard = name in CONTAINER_RESOURCES or name in QUOTA_RESOURCES
    if "/" not in name and not standard and not name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}")):
        return [field_errors.invalid(path, name, "must be a standard resource type or fully qualified")]
    return []


def validate_container_resource_name(name: str, path: str) -> list[FieldError]:
    """The name of a resource of a container."""
    if name in CONTAINER_RESOURCES:
        return []
    found = validate_resource_name(name, path)
    if "/" not in name:
        if not name.startswith(HUGE_PAGES):
            found.append(field_errors.invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        found.append(field_errors.invalid(path, name, "doesn't follow extended resource name standard"))
    return found


def validate_pod_resource_name(name: str, path: str) -> list[FieldError]:
    """The name of a resource of a pod as a whole."""
    found = validate_resource_name(name, path)
    if not found and not is_pod_level(name):
        found.append(field_errors.not_supported(path, name, POD_RESOURCES))
    return found


def validate_amount(name: str, text: str, path: str) -> list[FieldError]:
    """An amount of a resource: not negative, and whole where the resource can be counted."""
    amount = quantity.parse(text)
    found: list[FieldError] = []
    if amount.nano < 0:
        found.append(field_errors.invalid(path, text, NEGATIVE))
    countable = name in INTEGER_RESOURCES or is_extended(name)
    if countable and amount.milli_value % 1000:
        found.append(field_errors.invalid(path, text, "must be an integer"))
    return found


def validate_requirements(
    resources: Tree, path: str, claim_names: Sequence[str], check_name: NameCheck = validate_container_resource_name,
) -> list[FieldError]:
    """Requests, limits and claims."""
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    found: list[FieldError] = []
    for name, text in limits.items():
        here = f"{path}.limits[{name}]"
        found += check_name(name, here) + validate_amount(name, text, here) + _huge_pages(name, text, here)
    for name, text in requests.items():
        here = f"{path}.requests[{name}]"
        found += check_name(name, here) + validate_amount(name, text, here)
        if text != limits.get(name):
            found += _against_limit(name, text, limits.get(name), path)
        found += _huge_pages(name, text, here)
    everything = [*limits, *requests]
    huge = any(name.startswith(HUGE_PAGES) for name in everything)
    if huge and not any(name in QOS_RESOURCES for name in everything):
        found.append(field_errors.forbidden(path, "HugePages require cpu or memory"))
    if "claims" in resources:
        found += _claims(resources["claims"], claim_names, f"{path}.claims")
    return found


def accepts_requirements(resources: Tree) -> bool:
    """Whether requests and limits of a container are fine at a glance, and there are no claims.

    Whoever gets False has to ask ``validate_requirements``.
    """
    if "claims" in resources:
        return False
    for amounts in resources.values():
        for name, text in amounts.items():
            if name not in CONTAINER_RESOURCES or not text[:1].isdecimal():
                return not validate_requirements(resources, "", ())
    limits = resources.get("limits", {})
    for name, text in resources.get("requests", {}).items() if limits else ():
        limit = limits.get(name, text)
        if text != limit and quantity.parse(text).nano > quantity.parse(limit).nano:
            return False
    return True


def _against_limit(name: str, text: str, limit: str | None, path: str) -> list[FieldError]:
    if limit is None:
        return [] if may_overcommit(name) else [field_errors.required(f"{path}.limits", NO_LIMIT)]
    asked, allowed = quantity.parse(text).nano, quantity.parse(limit).nano
    if asked != allowed and not may_overcommit(name):
        return [field_errors.invalid(f"{path}.requests", text, f"must be equal to {name} limit of {limit}")]
    if asked > allowed:
        what = f"must be less than or equal to {name} limit of {limit}"
        return [field_errors.invalid(f"{path}.requests", text, what)]
    return []


def _huge_pages(name: str, text: str, path: str) -> list[FieldError]:
    if not name.startswith(HUGE_PAGES):
        return []
    try:
        page = quantity.parse(name.removeprefix(HUGE_PAGES)).nano
    except quantity.QuantityError:
        page = 0
    if page and quantity.parse(text).nano % page == 0:
        return []
    return [field_errors.invalid(path, text, f"{text} is not positive integer multiple of {name}")]


def _claims(claims: list[Tree], claim_names: Sequence[str], path: str) -> list[FieldError]:
    found: list[FieldError] = []
    declared = frozenset(claim_names)
    seen: set[str] = set()
    requests: dict[str, int] = {}
    detail = ""
    for position, claim in enumerate(claims):
        here, name, request = f"{path}[{position}]", claim.get("name", ""), claim.get("request", "")
        if not name:
            found.append(field_errors.required(here))
            continue
        key = f"{name}/{request}" if request else name
        if name in seen:
            found.append(field_errors.duplicate(here, name))
        else:
            if request:
                found += complaints(f"{here}.request", request, names.dns1123_label(request))
            if key in seen:
                found.append(field_errors.duplicate(here, key))
            elif not request:
                found += [field_errors.duplicate(here, name)] * min(requests.get(name, 0), MOST_REPEATED)
            seen.add(key)
            owner, slash, _ = key.partition("/")
            if slash:
                requests[owner] = requests.get(owner, 0) + 1
        if name not in declared:
            if not detail:
                known = f": {', '.join(sorted(claim_names))}" if claim_names else " which is empty"
                detail = f"must be one of the names in pod.spec.resourceClaims{known}"
            found.append(FieldError("Not found", here, name, detail))
    return found
