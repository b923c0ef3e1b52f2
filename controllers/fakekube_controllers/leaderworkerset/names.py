"""Labels, annotations and names of what belongs to a LeaderWorkerSet.

Upstream: api/leaderworkerset/v1/leaderworkerset_types.go, pkg/utils.
"""

from hashlib import sha1

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import Resource

LEADER_WORKER_SETS = Resource("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet")

DOMAIN = "leaderworkerset.sigs.k8s.io"
NAME = f"{DOMAIN}/name"
GROUP_INDEX, WORKER_INDEX, GROUP_KEY = f"{DOMAIN}/group-index", f"{DOMAIN}/worker-index", f"{DOMAIN}/group-key"
SUBGROUP_INDEX, SUBGROUP_KEY = f"{DOMAIN}/subgroup-index", f"{DOMAIN}/subgroup-key"
REVISION = f"{DOMAIN}/template-revision-hash"
SIZE, REPLICAS, LEADER_NAME = f"{DOMAIN}/size", f"{DOMAIN}/replicas", f"{DOMAIN}/leader-name"
EXCLUSIVE_TOPOLOGY = f"{DOMAIN}/exclusive-topology"
SUBGROUP_EXCLUSIVE_TOPOLOGY = f"{DOMAIN}/subgroup-exclusive-topology"
SUBGROUP_SIZE, SUBGROUP_POLICY_TYPE = f"{DOMAIN}/subgroup-size", f"{DOMAIN}/subgroup-policy-type"
SUBDOMAIN_POLICY = f"{DOMAIN}/subdomainPolicy"
RECREATE_AFTER_START = f"{DOMAIN}/experimental-recreate-group-after-start"

SHARED, UNIQUE_PER_REPLICA = "Shared", "UniquePerReplica"
LEADER_EXCLUDED = "LeaderExcluded"
MAX_ORDINAL = 2**31 - 1
SPEC = "leaderworkerset.LeaderWorkerSetSpec"
"""The struct of a spec, in the table of structs."""


def template_of(lws: ReadOnlyTree) -> Tree:
    """``spec.leaderWorkerTemplate``."""
    found: Tree = lws["spec"]["leaderWorkerTemplate"]
    return found


def size_of(lws: ReadOnlyTree) -> int:
    """How many pods a group has."""
    return int(template_of(lws).get("size", 1))


def replicas_of(lws: ReadOnlyTree) -> int:
    """How many groups there are to be."""
    return int(lws["spec"].get("replicas", 1))


def subdomain_policy(lws: ReadOnlyTree) -> str:
    """Whether all groups share a Service, or each has one."""
    return str((lws["spec"].get("networkConfig") or meta.EMPTY).get("subdomainPolicy", SHARED))


def leader_template(lws: ReadOnlyTree) -> Tree:
    """The template of leaders: their own, or that of workers."""
    template = template_of(lws)
    found: Tree = template.get("leaderTemplate") or template["workerTemplate"]
    return found


def key_of(first: str, second: str) -> str:
    """A hash of two names, within the length of a label."""
    return sha1(f"{first}/{second}".encode(), usedforsecurity=False).hexdigest()


def parent_and_ordinal(name: str) -> tuple[str, int]:
    """What the name of a StatefulSet's pod consists of; nothing and -1 for any other."""
    parent, _, digits = name.rpartition("-")
    if not parent or not digits.isascii() or not digits.isdigit():
        return "", -1
    ordinal = int(digits) if len(digits) <= 10 else MAX_ORDINAL + 1
    return (parent, ordinal) if ordinal <= MAX_ORDINAL else (parent, -1)


def number(text: str) -> int:
    """A number of a label or annotation. Raises ValueError in Go's words."""
    digits = text[text[:1] in ("+", "-"):]
    if not digits.isdigit() or not digits.isascii() or len(digits) > 18:
        raise ValueError(f'strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)


def divided(amount: int, by: int) -> tuple[int, int]:
    """Quotient and remainder as Go has them. Raises ValueError in its words."""
    if by == 0:
        raise ValueError("panic: runtime error: integer divide by zero [recovered]")
    quotient = abs(amount) // abs(by) * (1 if (amount < 0) == (by < 0) else -1)
    return quotient, amount - quotient * by


def index_of(obj: ReadOnlyTree) -> int | None:
    """The number of the group that a pod or StatefulSet is of, by its label."""
    text = meta.labels_of(obj).get(GROUP_INDEX, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None


def revision_key(obj: ReadOnlyTree) -> str:
    """The revision that an object was made of, by its label."""
    return meta.labels_of(obj).get(REVISION, "")


def is_leader(pod: ReadOnlyTree) -> bool:
    """Whether a pod is the first of its group."""
    return meta.labels_of(pod).get(WORKER_INDEX) == "0"
