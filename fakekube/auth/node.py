"""What kubelets may do. Upstream: plugin/pkg/auth/authorizer/node, pkg/auth/nodeidentifier.

A kubelet reads what pods of its node speak of, and no other Secret, ConfigMap, claim or volume;
what it writes NodeRestriction confines further. Upstream keeps a graph of who speaks of whom; here
the pods of the node are looked through when a kubelet asks, which an index by node makes cheap.
Reasons are those of 1.37.
"""

from collections.abc import Callable, Iterable, Sequence

from fakekube.apimachinery import fields, podreferences
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import AccessAttributes, Decision
from fakekube.auth.rules import PolicyRule, UserRules
from fakekube.storage.memory import Bucket

PREFIX, NODES = "system:node:", "system:nodes"
MIRROR = "kubernetes.io/config.mirror"
LEASES = "kube-node-lease"
COORDINATION, STORAGE, RESOURCE, CERTIFICATES = (
    "coordination.k8s.io", "storage.k8s.io", "resource.k8s.io", "certificates.k8s.io")
YES, NO = Decision(True), Decision(False)
READS, OWN_OBJECT = ("get", "list", "watch"), ("get", "create", "update", "patch", "delete")
SLICE_VERBS = (
    "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, "
    "deletecollection")
BY_FIELD = {
    "pods": ("spec.nodeName", "can only list/watch pods with spec.nodeName field selector"),
    "resourceslices": ("spec.nodeName", "can only list/watch/deletecollection resourceslices with nodeName field selector"),
    "podcertificaterequests": (
        "spec.nodeName", "can only list/watch podcertificaterequests with nodeName field selector"),
}
"""Resources that a kubelet lists as far as they are for its node: by which field, and the refusal.
"""


def node_of(user: UserInfo) -> str | None:
    """The name of the node whose kubelet a user is; None for anybody else."""
    if not user.name.startswith(PREFIX) or NODES not in user.groups:
        return None
    return user.name.removeprefix(PREFIX)


class Node:
    """An Authorizer for kubelets. It has nothing to say about anybody else."""

    def __init__(
        self, bucket_of: Callable[[GroupResource], Bucket], node_rules: Callable[[], Sequence[PolicyRule]],
    ) -> None:
        """``node_rules`` are those of all kubelets, for what is not told apart by node."""
        self._bucket_of, self._node_rules = bucket_of, node_rules
        self._rules: Sequence[PolicyRule] | None = None
        self._of_resources: dict[tuple[str, str], Callable[[str, AccessAttributes], Decision]] = {
            ("", "secrets"): self._read, ("", "configmaps"): self._read,
            ("", "persistentvolumeclaims"): self._claim, ("", "persistentvolumes"): self._get,
            (RESOURCE, "resourceclaims"): self._get, (STORAGE, "volumeattachments"): self._get,
            ("", "serviceaccounts"): self._account, (COORDINATION, "leases"): _lease, (STORAGE, "csinodes"): _csi_node,
            (RESOURCE, "resourceslices"): self._slice, ("", "nodes"): _node, ("", "pods"): self._pod,
            (CERTIFICATES, "podcertificaterequests"): self._certificate_request,
        }

    def decide(self, user: UserInfo, access: AccessAttributes) -> Decision:
        """Whether a kubelet may."""
        node = node_of(user)
        if node is None:
            return NO
        if not node:
            return Decision(False, f"unknown node for user {go_quote(user.name)}")
        special = self._of_resources.get((access.group, access.resource))
        return special(node, access) if special is not None else self._by_rules(access)

    def rules(self, user: UserInfo, namespace: str) -> UserRules:
        """Nothing that can be listed."""
        if node_of(user) is None:
            return UserRules([])
        return UserRules([], incomplete=True, error="node authorizer does not support user rule resolution")

    def _by_rules(self, access: AccessAttributes) -> Decision:
        if self._rules is None:
            self._rules = self._node_rules()
        asked = (access.verb, access.group, access.resource, access.subresource)
        if access.resource and any(rule.allows(*asked) for rule in self._rules):
            return YES
        return NO

    # by what the node's pods speak of

    def _read(self, node: str, access: AccessAttributes) -> Decision:
        if access.verb not in READS:
            return Decision(False, "can only read resources of this type")
        if access.subresource:
            return Decision(False, "cannot read subresource")
        if not access.namespace:
            return Decision(False, "can only read namespaced object of this type")
        return self._related(node, access)

    def _get(self, node: str, access: AccessAttributes) -> Decision:
        if access.verb != "get":
            return Decision(False, "can only get individual resources of this type")
        return Decision(False, "cannot get subresource") if access.subresource else self._related(node, access)

    def _claim(self, node: str, access: AccessAttributes) -> Decision:
        if access.subresource != "status":
            return self._get(node, access)
        if access.verb not in ("update", "patch"):
            return Decision(False, "can only get/update/patch this type")
        return self._related(node, access)

    def _account(self, node: str, access: AccessAttributes) -> Decision:
        if access.verb == "get" and not access.subresource:
            return self._read(node, access)
        if access.verb != "create" or not access.name:
            return Decision(False, "can only create tokens for individual service accounts")
        if access.subresource != "token":
            return Decision(False, "can only create token subresource of serviceaccount")
        return self._related(node, access)

    def _slice(self, node: str, access: AccessAttributes) -> Decision:
        if access.subresource:
            return Decision(False, "cannot authorize ResourceSlice subresources")
        if access.verb == "create":
            return YES
        if access.verb in OWN_OBJECT:
            return self._related(node, access)
        return _by_field(node, access) if access.verb in ("list", "watch", "deletecollection") else Decision(False, SLICE_VERBS)

    def _certificate_request(self, node: str, access: AccessAttributes) -> Decision:
        if access.subresource:
            return Decision(False, "nodes may not access the status subresource of PodCertificateRequests")
        if access.verb == "create":
            return YES
        if access.verb == "get":
            return self._related(node, access)
        if access.verb in READS:
            return _by_field(node, access)
        return Decision(False, f"nodes may not {access.verb} podcertificaterequests")

    def _pod(self, node: str, access: AccessAttributes) -> Decision:
        verb = access.verb
        if access.subresource:
            allowed = {"status": ("update", "patch"), "eviction": ("create",)}.get(access.subresource, ())
            return YES if verb in allowed else NO
        if verb == "get":
            return self._related(node, access)
        if verb in READS:
            found = _by_field(node, access)
            return self._related(node, access) if not found.allowed and access.name else found
        return YES if verb in ("create", "delete") else NO

    def _related(self, node: str, access: AccessAttributes) -> Decision:
        if not access.name:
            return Decision(False, "No Object name found")
        if self._speaks_of(node, access.resource, access.namespace, access.name):
            return YES
        return Decision(False, f"no relationship found between node '{node}' and this object")

    def _speaks_of(self, node: str, resource: str, namespace: str, name: str) -> bool:
        """Whether the node, or a pod on it, has to do with an object."""
        if resource == "pods":
            return any(name == pod["metadata"]["name"] for pod in self._pods(node, namespace))
        if resource in BY_FIELD or resource == "volumeattachments":
            group = {"resourceslices": RESOURCE, "volumeattachments": STORAGE}.get(resource, CERTIFICATES)
            record = self._bucket_of(GroupResource(group, resource)).get(namespace, name)
            return record is not None and record.tree()["spec"].get("nodeName") == node
        if resource == "persistentvolumes":
            record = self._bucket_of(GroupResource("", "persistentvolumes")).get("", name)
            return record is not None and self._uses_volume(node, record.tree())
        if any(name in _names(resource, pod) for pod in self._pods(node, namespace) if not _is_mirror(pod)):
            return True
        return resource == "secrets" and any(
            (namespace, name) in podreferences.volume_secrets(volume)
            for record in self._bucket_of(GroupResource("", "persistentvolumes")).all()
            if self._uses_volume(node, volume := record.tree()))

    def _uses_volume(self, node: str, volume: Tree) -> bool:
        claim = volume["spec"].get("claimRef") or {}
        pods = self._pods(node, claim.get("namespace", "")) if claim else ()
        return any(str(claim.get("name")) in podreferences.volume_claim_names(pod) for pod in pods if not _is_mirror(pod))

    def _pods(self, node: str, namespace: str) -> Iterable[Tree]:
        for record in self._bucket_of(GroupResource("", "pods")).by_field("spec.nodeName", node):
            if record.namespace == namespace:
                yield record.tree()


def _names(resource: str, pod: Tree) -> Iterable[str]:
    if resource == "secrets":
        return podreferences.secret_names(pod)
    if resource == "configmaps":
        return podreferences.config_map_names(pod)
    if resource == "persistentvolumeclaims":
        return podreferences.volume_claim_names(pod)
    if resource == "resourceclaims":
        return podreferences.resource_claim_names(pod)
    return (pod["spec"].get("serviceAccountName", ""),)


def _is_mirror(pod: Tree) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or {})


def _by_field(node: str, access: AccessAttributes) -> Decision:
    """Whether a list is confined to what is for the node."""
    field, refusal = BY_FIELD[access.resource]
    try:
        wanted = fields.parse(access.field_selector).exact(field)
    except fields.SelectorError:
        wanted = None
    return YES if wanted == node else Decision(False, refusal)


def _lease(node: str, access: AccessAttributes) -> Decision:
    if access.verb not in OWN_OBJECT:
        return Decision(False, "can only get, create, update, patch, or delete a node lease")
    if access.namespace != LEASES:
        return Decision(False, f'can only access leases in the "{LEASES}" system namespace')
    if access.verb != "create" and access.name != node:
        return Decision(False, "can only access node lease with the same name as the requesting node")
    return YES


def _csi_node(node: str, access: AccessAttributes) -> Decision:
    if access.subresource:
        return Decision(False, "cannot authorize CSINode subresources")
    if access.verb not in OWN_OBJECT:
        return Decision(False, "can only get, create, update, patch, or delete a CSINode")
    if access.verb != "create" and access.name != node:
        return Decision(False, "can only access CSINode with the same name as the requesting node")
    return YES


def _node(node: str, access: AccessAttributes) -> Decision:
    verb = access.verb
    if access.subresource:
        return YES if access.subresource == "status" and verb in ("update", "patch") else NO
    if verb not in READS:
        return YES if verb in ("create", "update", "patch") else NO
    if access.name == node:
        return YES
    if not access.name:
        return Decision(False, f"node '{node}' cannot read all nodes, only its own Node object")
    return Decision(False, f"node '{node}' cannot read '{access.name}', only its own Node object")
