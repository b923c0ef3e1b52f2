"""What the hints of several plugins have in common."""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime import volumes
from fakekube_controllers.scheduler.framework.events import QUEUE, SKIP, QueueingHint


def hint(helps: bool) -> QueueingHint:
    """QUEUE when it may help."""
    return QUEUE if helps else SKIP


def has_node(pod: ReadOnlyTree) -> bool:
    """Whether a pod has a node, or is nominated for one."""
    return bool(pod["spec"].get("nodeName") or (pod.get("status") or {}).get("nominatedNodeName"))


def uses_claim(pod: ReadOnlyTree, claim: ReadOnlyTree, *, ephemeral: bool = False) -> bool:
    """Whether a volume of a pod is a claim; ``ephemeral``: also one that is made for the pod."""
    namespace, name = meta.key_of(claim)
    return namespace == meta.namespace_of(pod) and any(
        name == found and (ephemeral or not is_ephemeral) for found, is_ephemeral in volumes.claim_names(pod))
