"""Names and amounts of resources in quotas and limit ranges.

Upstream: pkg/apis/core/helper/helpers.go, the resource name checks of pkg/apis/core/validation.
"""

from fakekube.apimachinery import names, quantity
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apis.checks import quantity_not_negative, ruled

INTEGER = (
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
)
COMPUTE = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
EPHEMERAL = ("ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage")
QUOTA = (*COMPUTE, *EPHEMERAL, "requests.storage", *INTEGER)
STANDARD = (*QUOTA, "storage")
CONTAINER = ("cpu", "ephemeral-storage", "memory")
CLAIM_SCOPED = ("persistentvolumeclaims", "requests.storage")
HUGE_PAGES = ("hugepages-", "requests.hugepages-")


def is_native(name: str) -> bool:
    """Whether a resource is Kubernetes' own: no domain, or one of kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Whether a resource is somebody else's, counted in whole units: ``example.com/gpu``."""
    return not is_native(name) and not name.startswith("requests.") and not names.qualified_name(f"requests.{name}")


def is_standard_quota(name: str) -> bool:
    """Whether a quota knows the resource without a domain in front."""
    return name in QUOTA or name.startswith(HUGE_PAGES)


def name_errors(path: str, name: str) -> list[FieldError]:
    """The name of any resource."""
    found = ruled(path, name, names.qualified_name)
    if not found and "/" not in name and name not in STANDARD and not name.startswith(HUGE_PAGES):
        found.append(invalid(path, name, "must be a standard resource type or fully qualified"))
    return found


def container_name_errors(path: str, name: str) -> list[FieldError]:
    """The name of a resource of a container."""
    found = name_errors(path, name)
    if "/" not in name:
        if name not in CONTAINER and not name.startswith("hugepages-"):
            found.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        found.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return found


def quota_errors(path: str, name: str, amount: str) -> list[FieldError]:
    """A resource of a quota and its amount."""
    found = name_errors(path, name)
    if "/" not in name and not is_standard_quota(name):
        found.append(invalid(path, name, "must be a standard resource for quota"))
    found += quantity_not_negative(path, amount)
    if (name in INTEGER or is_extended(name)) and quantity.parse(amount).milli_value % 1000:
        found.append(invalid(path, amount, "must be an integer"))
    return found
