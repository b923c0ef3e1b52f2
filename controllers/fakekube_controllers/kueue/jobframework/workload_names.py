"""Names of the Workloads of jobs. Upstream: pkg/controller/jobframework/workload_names.go."""

from hashlib import sha1

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube_controllers.kueue.features import Features

HASH_LENGTH = 5
LONG_MAX_LENGTH, SHORT_MAX_LENGTH = 253, 63


def workload_name_for_owner(owner_name: str, owner_uid: str, gvk: GroupVersionKind, features: Features, extra: str = "") -> str:
    """The name of the Workload of an owner; ``extra`` tells the slices of one job apart.

    Upstream: GetWorkloadNameForOwnerWithGVK and GenerateWorkloadNameWithExtra.
    """
    prefix = workload_name_prefix(owner_name, gvk, features)
    return _with_hash(prefix, _hash(owner_name, owner_uid, gvk, extra), features)


def workload_name_prefix(owner_name: str, gvk: GroupVersionKind, features: Features) -> str:
    """What the name of every Workload of an owner begins with. Upstream:
    GenerateWorkloadNamePrefix.
    """
    return f"{gvk.kind.lower()}-{owner_name}"[:_max_prefix_length(features)]


def _with_hash(prefix: str, digest: str, features: Features) -> str:
    return f"{prefix[:_max_prefix_length(features)]}-{digest[:HASH_LENGTH]}"


def _max_prefix_length(features: Features) -> int:
    return (SHORT_MAX_LENGTH if features.ShortWorkloadNames else LONG_MAX_LENGTH) - 1 - HASH_LENGTH


def _hash(owner_name: str, owner_uid: str, gvk: GroupVersionKind, extra: str) -> str:
    text = "\n".join([gvk.kind, gvk.group, owner_name, owner_uid, *([extra] if extra else [])])
    return sha1(text.encode(), usedforsecurity=False).hexdigest()
