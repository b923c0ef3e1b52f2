"""Small plugins that fill something in: tolerations, taints, classes, topology labels, protection
finalizers.

Upstream:
plugin/pkg/admission/{defaulttolerationseconds,nodetaint,storage,network/defaultingressclass,
podtopologylabels,scheduling/podgroupprotection}.
"""

from fakekube.admission.plugin import Plugin, is_resource
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
TOLERATION_SECONDS = 300
TOPOLOGY_LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
DEFAULT_STORAGE_CLASS = (
    "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class",
)
CLAIM_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
DEFAULT_INGRESS_CLASS = ("ingressclass.kubernetes.io/is-default-class",)
INGRESS_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
PROTECTION = {
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
    ("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
    ("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}
POD_GROUP_PROTECTION = "scheduling.k8s.io/podgroup-protection"


class TaintNodesByCondition(Plugin):
    """Gives a new node the taint not-ready, so that it takes no pods yet."""

    name = "TaintNodesByCondition"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New nodes."""
        return operation == "CREATE" and not subresource and is_resource(kind, "", "nodes")

    def admit(self, attrs: Attributes) -> None:
        """The taint, unless it is there."""
        if attrs.obj is None:
            return
        spec = attrs.obj.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any(taint.get("key") == NOT_READY and taint.get("effect") == "NoSchedule" for taint in taints):
            spec["taints"] = [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]


class DefaultTolerationSeconds(Plugin):
    """Lets a pod tolerate not-ready and unreachable nodes for five minutes, by default."""

    name = "DefaultTolerationSeconds"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Pods."""
        return operation in ("CREATE", "UPDATE") and not subresource and is_resource(kind, "", "pods")

    def admit(self, attrs: Attributes) -> None:
        """Both tolerations, at the end."""
        if attrs.obj is None:
            return
        spec = attrs.obj["spec"]
        present = spec.get("tolerations") or []
        missing = [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS}
            for key in (NOT_READY, UNREACHABLE)
            if not any(
                toleration.get("key", "") in ("", key) and toleration.get("effect", "") in ("", "NoExecute")
                for toleration in present)
        ]
        if missing:
            attrs.obj["spec"] = {**spec, "tolerations": [*present, *missing]}


class PodTopologyLabels(Plugin):
    """A pod carries the zone and region of its node."""

    name = "PodTopologyLabels"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Bindings, and pods that are created with a node."""
        return operation == "CREATE" and subresource in ("", "binding") and is_resource(kind, "", "pods")

    def admit(self, attrs: Attributes) -> None:
        """The labels, over those of the same name."""
        obj = attrs.obj
        if obj is None or not attrs.ctx.cluster.gate("PodTopologyLabelsAdmission"):
            return
        if attrs.subresource == "binding":
            target = obj.get("target") or {}
            node_name = target.get("name", "") if target.get("kind") == "Node" else ""
        else:
            node_name = obj["spec"].get("nodeName", "")
        node = attrs.ctx.cluster.lookup("", "nodes", "", node_name) if node_name else None
        node_labels = (node["metadata"].get("labels") or {}) if node else {}
        copied = {name: node_labels[name] for name in TOPOLOGY_LABELS if name in node_labels}
        if copied:
            metadata = obj.setdefault("metadata", {})
            metadata["labels"] = {**(metadata.get("labels") or {}), **copied}


class DefaultStorageClass(Plugin):
    """A claim that asks for no class gets the default one."""

    name = "DefaultStorageClass"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New claims."""
        return operation == "CREATE" and not subresource and is_resource(kind, "", "persistentvolumeclaims")

    def admit(self, attrs: Attributes) -> None:
        """The class; an empty name is an answer too."""
        if attrs.obj is None:
            return
        spec = attrs.obj.setdefault("spec", {})
        annotated = CLAIM_CLASS_ANNOTATION in (attrs.obj["metadata"].get("annotations") or {})
        if "storageClassName" in spec or annotated:
            return
        if name := _default_class(attrs, "storage.k8s.io", "storageclasses", DEFAULT_STORAGE_CLASS):
            spec["storageClassName"] = name


class DefaultIngressClass(Plugin):
    """An Ingress that names no class gets the default one."""

    name = "DefaultIngressClass"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New Ingresses."""
        return operation == "CREATE" and not subresource and is_resource(kind, "networking.k8s.io", "ingresses")

    def admit(self, attrs: Attributes) -> None:
        """The class, unless the old annotation names one."""
        if attrs.obj is None:
            return
        spec = attrs.obj.setdefault("spec", {})
        annotated = INGRESS_CLASS_ANNOTATION in (attrs.obj["metadata"].get("annotations") or {})
        if "ingressClassName" in spec or annotated:
            return
        if name := _default_class(attrs, "networking.k8s.io", "ingressclasses", DEFAULT_INGRESS_CLASS):
            spec["ingressClassName"] = name


class StorageObjectInUseProtection(Plugin):
    """Volumes, claims and attribute classes stay as long as somebody uses them."""

    name = "StorageObjectInUseProtection"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New ones of the three."""
        return operation == "CREATE" and not subresource and (kind.group, kind.plural) in PROTECTION

    def admit(self, attrs: Attributes) -> None:
        """The finalizer that the protecting controller takes away."""
        _add_finalizer(attrs, PROTECTION[attrs.kind.group, attrs.kind.plural])


class PodGroupProtection(Plugin):
    """A PodGroup stays as long as pods refer to it."""

    name = "PodGroupProtection"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """New PodGroups."""
        return operation == "CREATE" and not subresource and is_resource(kind, "scheduling.k8s.io", "podgroups")

    def admit(self, attrs: Attributes) -> None:
        """The finalizer, where workload-aware scheduling is on."""
        if attrs.ctx.cluster.gate("GenericWorkload"):
            _add_finalizer(attrs, POD_GROUP_PROTECTION)


def _add_finalizer(attrs: Attributes, finalizer: str) -> None:
    if attrs.obj is None:
        return
    metadata = attrs.obj["metadata"]
    finalizers = metadata.get("finalizers") or []
    if finalizer not in finalizers:
        metadata["finalizers"] = [*finalizers, finalizer]


def _default_class(attrs: Attributes, group: str, plural: str, annotations: tuple[str, ...]) -> str:
    """The name of the newest class that is marked as default; of equally new ones the first by
    name.
    """
    newest = ("", "")
    for tree in attrs.ctx.cluster.select(group, plural, ""):
        metadata = tree["metadata"]
        marks = metadata.get("annotations") or {}
        created = metadata.get("creationTimestamp", "")
        if any(marks.get(name) == "true" for name in annotations) and (not newest[1] or created > newest[0]):
            newest = (created, metadata["name"])
    return newest[1]
