"""NodeRestriction: a kubelet writes its own node and the pods on it, and nothing of others.

Upstream: plugin/pkg/admission/noderestriction. What a kubelet may read the Node authorizer knows.
Left out: audiences of tokens, signers of pod certificates, the names in signing requests.
"""

from collections.abc import Callable, Iterator

from fakekube.admission.plugin import Plugin, forbidden
from fakekube.apimachinery import errors, podreferences
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.auth.node import LEASES, MIRROR, node_of
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

KUBELET_LABELS = (
    "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type", "kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch")
KUBELET_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
RESTRICTED = "node-restriction.kubernetes.io"
CLAIM_STATUSES = {
    "resourceClaimStatuses": "resource claim statues", "extendedResourceClaimStatus": "extended resource claim status",
    "nodeAllocatableResourceClaimStatuses": "node allocatable resource claim statuses"}
SOURCES = {
    "configMap": "configmaps (via projected volumes)", "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)", "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates"}
VOLUMES = {
    "configMap": "configmaps (via configmap volumes)", "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)", "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims", "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)"}
"""Volumes that a mirror pod may not have, and how upstream calls what they speak of."""
Check = Callable[[str, Attributes], None]


class NodeRestriction(Plugin):
    """Refuses what is not a kubelet's to write. Nobody else is concerned."""

    name = "NodeRestriction"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """What kubelets write."""
        return operation != "CONNECT" and (kind.group, kind.plural) in CHECKS

    def admit(self, attrs: Attributes) -> None:
        """Whether it is the kubelet's own."""
        user = attrs.ctx.user
        node = node_of(user)
        if node is None:
            return
        if not node:
            raise forbidden(attrs, f"could not determine node from user {go_quote(user.name)}")
        CHECKS[attrs.kind.group, attrs.kind.plural](node, attrs)


def _pod(node: str, attrs: Attributes) -> None:
    if attrs.subresource == "status":
        return _pod_status(node, attrs)
    if attrs.subresource == "eviction":
        if _existing_pod(attrs)["spec"].get("nodeName") != node:
            raise forbidden(attrs, f"node {node} can only evict pods with spec.nodeName set to itself")
        return None
    quoted = go_quote(node)
    if attrs.subresource:
        what = go_quote(attrs.subresource)
        raise forbidden(attrs, f"unexpected pod subresource {what}, only 'status' and 'eviction' are allowed")
    if attrs.operation == "CREATE":
        return _mirror_pod(node, attrs, _obj(attrs))
    if attrs.operation != "DELETE":
        what = f"unexpected operation {go_quote(attrs.operation)}"
        raise forbidden(attrs, f"{what}, node {quoted} can only create and delete mirror pods")
    if _existing_pod(attrs)["spec"].get("nodeName") != node:
        raise forbidden(attrs, f"node {quoted} can only delete pods with spec.nodeName set to itself")
    return None


def _mirror_pod(node: str, attrs: Attributes, pod: Tree) -> None:
    quoted, meta = go_quote(node), pod["metadata"]
    if MIRROR not in (meta.get("annotations") or {}):
        raise forbidden(
            attrs, f"pod does not have {go_quote(MIRROR)} annotation, node {quoted} can only create mirror pods")
    if pod["spec"].get("nodeName") != node:
        raise forbidden(attrs, f"node {quoted} can only create pods with spec.nodeName set to itself")
    owners = meta.get("ownerReferences") or []
    if len(owners) > 1:
        raise forbidden(attrs, f"node {quoted} can only create pods with a single owner reference set to itself")
    if not owners or (owners[0].get("apiVersion"), owners[0].get("kind"), owners[0].get("name")) != ("v1", "Node", node):
        raise forbidden(attrs, f"node {quoted} can only create pods with an owner reference set to itself")
    if not owners[0].get("controller"):
        raise forbidden(attrs, f"node {quoted} can only create pods with a controller owner reference set to itself")
    if owners[0].get("blockOwnerDeletion"):
        raise forbidden(attrs, f"node {quoted} must not set blockOwnerDeletion on an owner reference")
    present = attrs.ctx.cluster.lookup("", "nodes", "", node)
    if present is None:
        raise errors.not_found(GroupResource("", "node"), node)
    asked, uid = owners[0].get("uid", ""), present["metadata"]["uid"]
    if asked != uid:
        raise forbidden(attrs, f"node {node} UID mismatch: expected {asked} got {uid}")
    for what in _spoken_of(pod):
        raise forbidden(attrs, f"node {quoted} can not create pods that reference {what}")


def _spoken_of(pod: Tree) -> Iterator[str]:
    """What a pod has to do with that the API server holds."""
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        yield "serviceaccounts"
    if any(podreferences.secret_names(pod)):
        yield "secrets"
    if any(podreferences.config_map_names(pod)):
        yield "configmaps"
    if spec.get("resourceClaims"):
        yield "resourceclaims"
    for volume in spec.get("volumes") or ():
        yield from (text for kind, text in VOLUMES.items() if kind in volume)
        for source in volume.get("projected", {}).get("sources") or ():
            yield from (text for kind, text in SOURCES.items() if kind in source)


def _pod_status(node: str, attrs: Attributes) -> None:
    quoted, old, new = go_quote(node), _old(attrs), _obj(attrs)
    if old["spec"].get("nodeName") != node:
        what = "pod status for pods with spec.nodeName set to itself"
        raise forbidden(attrs, f"node {quoted} can only update {what}")
    if (old["metadata"].get("labels") or {}) != (new["metadata"].get("labels") or {}):
        raise forbidden(attrs, f"node {quoted} cannot update labels through pod status")
    before, after = old.get("status") or {}, new.get("status") or {}
    for field, text in CLAIM_STATUSES.items():
        if not same(before.get(field) or None, after.get(field) or None):
            raise forbidden(attrs, f"node {quoted} cannot update {text}")


def _node(node: str, attrs: Attributes) -> None:
    quoted = go_quote(node)
    if attrs.name != node:
        raise forbidden(attrs, f"node {quoted} is not allowed to modify node {go_quote(attrs.name)}")
    if attrs.operation == "DELETE":
        return
    new = _obj(attrs)
    if attrs.operation == "CREATE":
        if labels := _forbidden_labels(new, {}):
            raise forbidden(attrs, f"node {quoted} is not allowed to set the following labels: {', '.join(labels)}")
        return
    old = _old(attrs)
    if (new["spec"].get("taints") or []) != (old["spec"].get("taints") or []):
        raise forbidden(attrs, f"node {quoted} is not allowed to modify taints")
    if (new["metadata"].get("ownerReferences") or []) != (old["metadata"].get("ownerReferences") or []):
        raise forbidden(attrs, f"node {quoted} is not allowed to modify ownerReferences")
    if labels := _forbidden_labels(new, old):
        raise forbidden(attrs, f"is not allowed to modify labels: {', '.join(labels)}")


def _forbidden_labels(new: Tree, old: Tree) -> list[str]:
    """The labels that differ and are not a kubelet's to set, sorted."""
    after, before = new["metadata"].get("labels") or {}, (old.get("metadata") or {}).get("labels") or {}
    changed = sorted({**before, **after})
    return [key for key in changed if before.get(key) != after.get(key) and not _may_label(key)]


def _may_label(key: str) -> bool:
    namespace, slash, _ = key.partition("/")
    if not slash:
        return True
    if _is_below(namespace, RESTRICTED):
        return False
    if not (_is_below(namespace, "kubernetes.io") or _is_below(namespace, "k8s.io")):
        return True
    return key in KUBELET_LABELS or any(_is_below(namespace, allowed) for allowed in KUBELET_NAMESPACES)


def _is_below(namespace: str, domain: str) -> bool:
    return namespace == domain or namespace.endswith(f".{domain}")


def _claim(node: str, attrs: Attributes) -> None:
    if attrs.subresource != "status":
        raise forbidden(attrs, "may only update PVC status")
    if not same(_claim_to_keep(_old(attrs)), _claim_to_keep(_obj(attrs))):
        allowed = "status.quantity and status.conditions"
        raise forbidden(attrs, f"node {go_quote(node)} is not allowed to update fields other than {allowed}")


def _claim_to_keep(claim: Tree) -> Tree:
    meta = {name: value for name, value in claim["metadata"].items() if name not in ("resourceVersion", "managedFields")}
    changeable = ("capacity", "conditions", "allocatedResourceStatuses", "allocatedResources")
    status = {name: value for name, value in (claim.get("status") or {}).items() if name not in changeable}
    return {**claim, "metadata": meta, "status": status}


def _account(node: str, attrs: Attributes) -> None:
    if attrs.operation != "CREATE" or attrs.subresource != "token":
        return
    reference = (_obj(attrs).get("spec") or {}).get("boundObjectRef") or {}
    if (reference.get("apiVersion"), reference.get("kind")) != ("v1", "Pod") or not reference.get("name"):
        raise forbidden(attrs, "node requested token not bound to a pod")
    uid = reference.get("uid", "")
    if not uid:
        raise forbidden(attrs, "node requested token with a pod binding without a uid")
    pod = _pod_named(attrs, reference["name"])
    if uid != pod["metadata"]["uid"]:
        raise forbidden(attrs, (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted "
            "and then recreated"))
    if pod["spec"].get("nodeName") != node:
        raise forbidden(attrs, "node requested token bound to a pod scheduled on a different node")


def _lease(node: str, attrs: Attributes) -> None:
    if attrs.namespace != LEASES:
        raise forbidden(attrs, f'can only access leases in the "{LEASES}" system namespace')
    _same_name(node, attrs, "node lease")


def _csi_node(node: str, attrs: Attributes) -> None:
    _same_name(node, attrs, "CSINode")


def _same_name(node: str, attrs: Attributes, what: str) -> None:
    name = _obj(attrs)["metadata"].get("name", "") if attrs.operation == "CREATE" else attrs.name
    if name != node:
        raise forbidden(attrs, f"can only access {what} with the same name as the requesting node")


def _slice(node: str, attrs: Attributes) -> None:
    verbs = {"CREATE": ("create", attrs.obj), "DELETE": ("delete", attrs.old)}
    verb, tree = verbs.get(attrs.operation, ("", None))
    if verb and (tree or {}).get("spec", {}).get("nodeName") != node:
        raise forbidden(attrs, f"can only {verb} ResourceSlice with the same NodeName as the requesting node")


def _existing_pod(attrs: Attributes) -> Tree:
    return _pod_named(attrs, attrs.name or _obj(attrs)["metadata"].get("name", ""))


def _pod_named(attrs: Attributes, name: str) -> Tree:
    pod = attrs.ctx.cluster.lookup("", "pods", attrs.namespace, name)
    if pod is None:
        raise _gone(name)
    return pod


def _gone(name: str) -> APIError:
    return errors.not_found(GroupResource("", "pod"), name)


def _obj(attrs: Attributes) -> Tree:
    assert attrs.obj is not None, "only a delete has no object"
    return attrs.obj


def _old(attrs: Attributes) -> Tree:
    assert attrs.old is not None, "an update has seen an object"
    return attrs.old


CHECKS: dict[tuple[str, str], Check] = {
    ("", "pods"): _pod, ("", "nodes"): _node, ("", "persistentvolumeclaims"): _claim, ("", "serviceaccounts"): _account,
    ("coordination.k8s.io", "leases"): _lease, ("storage.k8s.io", "csinodes"): _csi_node,
    ("resource.k8s.io", "resourceslices"): _slice,
}
