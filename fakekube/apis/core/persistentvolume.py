"""PersistentVolume: a piece of storage.

Upstream: pkg/apis/core/v1/defaults.go, pkg/apis/core/validation,
pkg/registry/core/persistentvolume.
"""

import posixpath

from fakekube.apimachinery import names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index, invalid, key, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE, immutable, one_of
from fakekube.apis.base import StatusStrategy
from fakekube.apis.checks import quantity_positive, required_name, ruled
from fakekube.apis.core.persistentvolumeclaim import VOLUME_MODES, access_mode_errors, basic_resource
from fakekube.apis.core.pod_warnings import node_term_warnings
from fakekube.apis.core.podspec_defaults import VOLUME_FIELDS, round_amounts
from fakekube.apis.core.scheduling_validation import validate_node_selector
from fakekube.apis.core.storage_systems import (
    TOO_LONG_TOGETHER,
    is_too_long_for_iscsi,
    validate_csi_driver_name,
    validate_host_path,
    validate_no_backsteps,
    validate_storage_system,
)
from fakekube.apis.core.volumes_validation import PATHS
from fakekube.apis.internals import changed_lines, internal
from fakekube.registry.strategy import WriteContext

RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
SOURCES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs",
    "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume",
    "azureDisk", "scaleIO", "local", "storageos", "csi",
)
CSI_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")
DEPRECATED = {
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
NOT_INLINE = "may not be specified in the context of inline volumes"
RENEWED_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
ANNOTATIONS = {
    "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" attribute instead',
    "volume.beta.kubernetes.io/mount-options": 'deprecated since v1.31; use "mountOptions" attribute instead',
}


class PersistentVolumeStrategy(StatusStrategy):
    """What is particular to PersistentVolumes."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Kept when released; a file system; not available yet."""
        spec, status = obj.setdefault("spec", {}), obj.setdefault("status", {})
        if not status.get("phase"):
            status["phase"] = "Pending"
        if not spec.get("persistentVolumeReclaimPolicy"):
            spec["persistentVolumeReclaimPolicy"] = "Retain"
        spec.setdefault("volumeMode", "Filesystem")
        default_sources(spec)

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree:
        """Not available yet, since now."""
        return {"phase": "Pending", "lastPhaseTransitionTime": ctx.now}

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The time of the last change of phase is the server's, unless the client says."""
        super().prepare_for_status_update(obj, old, ctx)
        status, before = dict(obj.get("status") or {}), old.get("status") or {}
        time, old_time = status.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
        if status.get("phase") == before.get("phase"):
            if time is None and old_time is not None:
                status["lastPhaseTransitionTime"] = old_time
        elif time is None or time == old_time:
            status["lastPhaseTransitionTime"] = ctx.now
        obj["status"] = status

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Modes, capacity, one source, names."""
        spec = obj["spec"]
        found = access_mode_errors("spec.accessModes", spec, "") + _capacity(spec.get("capacity"))
        policy = spec["persistentVolumeReclaimPolicy"]
        found += one_of("spec.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES)
        found += _reach(spec, "spec.nodeAffinity") + _source(spec, obj["metadata"].get("name", ""), "spec")
        if spec.get("storageClassName"):
            found += ruled("spec.storageClassName", spec["storageClassName"], names.dns1123_subdomain)
        found += one_of("spec.volumeMode", spec["volumeMode"], VOLUME_MODES)
        if "volumeAttributesClassName" in spec:
            found += _attributes(spec)
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; source and mode stay."""
        new, before, found = obj["spec"], old["spec"], self.validate(obj, ctx)
        sources = {name: new.get(name) for name in SOURCES}
        if sources["csi"] and "controllerExpandSecretRef" not in (before.get("csi") or {"controllerExpandSecretRef": None}):
            sources["csi"] = {name: value for name, value in sources["csi"].items() if name != "controllerExpandSecretRef"}
        if not same(sources, {name: before.get(name) for name in SOURCES}):
            path = "spec.persistentvolumesource"
            lines = changed_lines("PersistentVolumeSource", before, sources)
            found.append(forbidden(path, f"{path} is immutable after creation\n{lines}"))
        found += immutable("volumeMode", new.get("volumeMode"), before.get("volumeMode"))
        if "nodeAffinity" in before and not ctx.cluster.gate("MutablePVNodeAffinity"):
            found += _affinity(new.get("nodeAffinity"), before["nodeAffinity"])
        if "volumeAttributesClassName" in before and "volumeAttributesClassName" not in new:
            text = "update from non-nil value to nil is forbidden"
            found.append(forbidden("spec.volumeAttributesClassName", text))
        return found

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """What does not work any more."""
        annotations, spec = obj["metadata"].get("annotations") or {}, obj["spec"]
        found = [f"metadata.annotations[{name}]: {text}" for name, text in ANNOTATIONS.items() if name in annotations]
        if spec["persistentVolumeReclaimPolicy"] == "Recycle":
            found.append(
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the "
                "recommended approach is to use dynamic provisioning.")
        terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
        for number, term in enumerate(terms):
            found += node_term_warnings(term, index("spec.nodeAffinity.required.nodeSelectorTerms", number))
        shown = {"storageos": "storageOS"}
        return found + [
            f"spec.{shown.get(name, name)}: {text}" for name, text in DEPRECATED.items() if name in spec]


def default_sources(spec: Tree) -> None:
    """The defaults of a volume's capacity and source, wherever the spec stands."""
    round_amounts(spec.get("capacity") or {})
    for source, fields in VOLUME_FIELDS.items():
        if source in spec:
            for name, value in fields.items():
                spec[source].setdefault(name, value)


def inline_spec_errors(spec: Tree, path: str) -> list[FieldError]:
    """What is wrong with the spec of a volume that an attachment has in place of the name of one:
    it is a CSI driver's, and what concerns claims is left out.
    """
    found = [forbidden(child(path, name), NOT_INLINE) for name in ("claimRef", "capacity") if spec.get(name) is not None]
    if "csi" not in spec:
        found.append(required(child(path, "csi"), "has to be specified in the context of inline volumes"))
    found += access_mode_errors(child(path, "accessModes"), spec, "")
    if spec.get("persistentVolumeReclaimPolicy", "Retain") not in ("", "Retain"):
        text = "may only be Retain in the context of inline volumes"
        found.append(forbidden(child(path, "persistentVolumeReclaimPolicy"), text))
    if "nodeAffinity" in spec:
        found.append(forbidden(child(path, "nodeAffinity"), NOT_INLINE))
    found += _source(spec, "", path)
    if spec.get("storageClassName"):
        found.append(forbidden(child(path, "storageClassName"), NOT_INLINE))
    if spec.get("volumeMode", "Filesystem") != "Filesystem":
        text = "may not specify volumeMode other than Filesystem in the context of inline volumes"
        found.append(forbidden(child(path, "volumeMode"), text))
    return found


def _capacity(capacity: Tree | None) -> list[FieldError]:
    found = [] if capacity else [required("spec.capacity")]
    if list(capacity or ()) != ["storage"]:
        found.append(not_supported("spec.capacity", capacity, ["storage"]))
    for name, amount in (capacity or {}).items():
        path = key("spec.capacity", name)
        found += basic_resource(path, amount) + quantity_positive(path, amount)
    return found


def _source(spec: Tree, name: str, at: str) -> list[FieldError]:
    given = [kind for kind in SOURCES if kind in spec]
    if not given:
        return [required(at, "must specify a volume type")]
    first, *others = given
    source, path, found = spec[first], child(at, PATHS.get(first, first)), list[FieldError]()
    if first == "hostPath":
        found += validate_host_path(source, path)
    elif first == "local":
        text = source.get("path")
        found += validate_no_backsteps(text, child(path, "path")) if text else [required(child(path, "path"))]
        if "nodeAffinity" not in spec:
            found.append(required(child(at, "nodeAffinity"), "Local volume requires node affinity"))
    elif first == "csi":
        found += _csi(source, path)
    else:
        found += validate_storage_system(first, source, path, persistent=True)
        if first == "iscsi" and is_too_long_for_iscsi(name, source):
            portal = source.get("targetPortal", "")
            found.insert(0 if portal else 1, invalid(child(path, "targetportal"), portal, TOO_LONG_TOGETHER))
    shown = {"cephfs": "cephFS"}
    for kind in others:
        found += (validate_storage_system(kind, spec[kind], child(at, kind), persistent=True) if kind == "flexVolume"
                  else [forbidden(child(at, shown.get(kind, kind)), "may not specify more than 1 volume type")])
    if first == "hostPath" and _is_root(source.get("path", "")) and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        what = "may not be 'recycle' for a hostPath mount of '/'"
        found.append(forbidden(child(at, "persistentVolumeReclaimPolicy"), what))
    return found


def _is_root(path: str) -> bool:
    return path.startswith("/") and posixpath.normpath(f"/{path.lstrip('/')}") == "/"


def _csi(source: Tree, path: str) -> list[FieldError]:
    found = validate_csi_driver_name(source.get("driver", ""), child(path, "driver"))
    if not source.get("volumeHandle"):
        found.append(required(child(path, "volumeHandle")))
    for field in CSI_SECRETS:
        if field in source:
            here = child(path, field)
            found += required_name(child(here, "name"), source[field].get("name", ""), names.dns1123_subdomain)
            found += required_name(child(here, "namespace"), source[field].get("namespace", ""), names.dns1123_label)
    return found


def _reach(spec: Tree, path: str) -> list[FieldError]:
    affinity = spec.get("nodeAffinity")
    if affinity is None:
        return []
    here = child(path, "required")
    if "required" not in affinity:
        return [required(here, "must specify required node constraints")]
    return validate_node_selector(affinity["required"], here)


def _affinity(new: Tree | None, before: Tree) -> list[FieldError]:
    """Where a volume can be reached from stays as it is, but for labels that get their newer name.
    """
    terms, old_terms = (((each or {}).get("required") or {}).get("nodeSelectorTerms") or [] for each in (new, before))
    if new is not None and len(terms) == len(old_terms) and all(map(_is_renewed, terms, old_terms)):
        return []
    shown = internal("*VolumeNodeAffinity", new)
    return [invalid("nodeAffinity", shown, f"{IMMUTABLE}, except for updating from beta label to GA")]


def _is_renewed(term: Tree, old: Tree) -> bool:
    requirements, before = term.get("matchExpressions") or [], old.get("matchExpressions") or []
    return same(term.get("matchFields"), old.get("matchFields")) and len(requirements) == len(before) and all(
        each in (was, {**was, "key": RENEWED_LABELS.get(was.get("key", ""), was.get("key"))})
        for each, was in zip(requirements, before, strict=True))


def _attributes(spec: Tree) -> list[FieldError]:
    name, path = spec["volumeAttributesClassName"], "spec.volumeAttributesClassName"
    found = ruled(path, name, names.dns1123_subdomain) if name else [required(path, "an empty string is disallowed")]
    if "csi" not in spec:
        found.append(required("spec.csi", "has to be specified when using volumeAttributesClassName"))
    return found


STRATEGY = PersistentVolumeStrategy()
