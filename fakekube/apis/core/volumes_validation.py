"""What is wrong with the volumes of a pod.

Upstream: ValidateVolumes and what it calls in pkg/apis/core/validation/validation.go. What storage
systems ask for is in ``storage_systems``.
"""

from collections.abc import Callable

from fakekube.apimachinery import field_errors, names, quantity
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of
from fakekube.apis.checks import PULL_POLICIES, template_metadata
from fakekube.apis.core.persistentvolumeclaim import claim_spec_errors
from fakekube.apis.core.projected_validation import accepts_projected, validate_projected
from fakekube.apis.core.security_validation import validate_descending_path
from fakekube.apis.core.storage_systems import (
    TOO_LONG_TOGETHER,
    is_too_long_for_iscsi,
    validate_csi_driver_name,
    validate_host_path,
    validate_storage_system,
)
from fakekube.apis.core.volume_items import validate_downward_file, validate_key_to_path, validate_mode

MORE_TYPES = "may not specify more than 1 volume type"
# In the order in which upstream looks for them, which decides which of two is the one too many.
TYPES = (
    "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi",
    "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc",
    "flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk",
    "storageos", "projected", "scaleIO", "csi", "ephemeral", "image",
)
MISNAMED = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
PATHS = {"gcePersistentDisk": "persistentDisk"}


def validate_volumes(volumes: list[Tree], pod_name: str, path: str) -> tuple[dict[str, Tree], list[FieldError]]:
    """All volumes: the good ones by name, and what is wrong with the others.

    ``pod_name`` is empty for a template.
    """
    found: list[FieldError] = []
    good: dict[str, Tree] = {}
    created = [f"{pod_name}-{volume.get('name', '')}" for volume in volumes if pod_name and "ephemeral" in volume]
    for position, volume in enumerate(volumes):
        here, name = f"{path}[{position}]", volume.get("name", "")
        wrong = _volume(volume, name, pod_name, here)
        if not name:
            wrong.append(field_errors.required(f"{here}.name"))
        else:
            wrong += complaints(f"{here}.name", name, names.dns1123_label(name))
        if name in good:
            wrong.append(field_errors.duplicate(f"{here}.name", name))
        if not wrong:
            good[name] = volume
        found += wrong
        claim = volume.get("persistentVolumeClaim", {}).get("claimName") if created else None
        if claim in created:
            what = "must not reference a PVC that gets created for an ephemeral volume"
            found.append(field_errors.invalid(f"{here}.persistentVolumeClaim.claimName", claim, what))
    return good, found


def accepted_volumes(volumes: list[Tree]) -> dict[str, Tree] | None:
    """All volumes by name, when they are fine at a glance and need no claims of the pod's own.

    Whoever gets None has to ask ``validate_volumes``.
    """
    good: dict[str, Tree] = {}
    for volume in volumes:
        name = volume.get("name", "")
        if len(volume) != 2 or not name or name in good or names.dns1123_label(name):
            return None
        one, other = volume
        kind = other if one == "name" else one
        # they are about the names of the pod and of the volume, too
        if kind in ("ephemeral", "iscsi"):
            return None
        source = volume[kind]
        if not (kind == "projected" and accepts_projected(source)) and _source(kind, source, ""):
            return None
        good[name] = volume
    return good


def _volume(volume: Tree, name: str, pod_name: str, path: str) -> list[FieldError]:
    present = [each for each in volume if each != "name"]
    if not present:
        return [field_errors.required(path, "must specify a volume type")]
    if len(present) > 1:
        present.sort(key=lambda each: TYPES.index(each) if each in TYPES else len(TYPES))
    first = present[0]
    found = _source(first, volume[first], f"{path}.{PATHS.get(first, first)}")
    found += [field_errors.forbidden(f"{path}.{MISNAMED.get(each, each)}", MORE_TYPES) for each in present[1:]]
    if "iscsi" in volume and is_too_long_for_iscsi(name, volume["iscsi"]):
        found.append(field_errors.invalid(f"{path}.name", name, TOO_LONG_TOGETHER))
    if first == "ephemeral" and pod_name and name:
        claim = f"{pod_name}-{name}"
        texts = [f"PVC name {field_errors.go_quote(claim)}: {text}" for text in names.dns1123_subdomain(claim)]
        found += complaints(f"{path}.name", name, texts)
    return found


def _source(kind: str, source: Tree, path: str) -> list[FieldError]:
    special = SPECIAL.get(kind)
    return special(source, path) if special else validate_storage_system(kind, source, path)


def _empty_dir(source: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    limit = source.get("sizeLimit")
    if limit is not None and quantity.parse(limit).nano < 0:
        found.append(field_errors.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity"))
    mode = source.get("mode")
    if mode is not None and not 0 <= mode <= 0o1777:
        what = "must be a number between 0 and 01777 (octal), both inclusive"
        found.append(field_errors.invalid(f"{path}.mode", mode, what))
    return found


def _git_repo(source: Tree, path: str) -> list[FieldError]:
    found = [] if source.get("repository") else [field_errors.required(f"{path}.repository")]
    return found + validate_descending_path(source.get("directory", ""), f"{path}.directory")


def _secret(source: Tree, path: str) -> list[FieldError]:
    return _keyed(source, path, "secretName")


def _config_map(source: Tree, path: str) -> list[FieldError]:
    return _keyed(source, path, "name")


def _keyed(source: Tree, path: str, name_field: str) -> list[FieldError]:
    found: list[FieldError] = []
    if not source.get(name_field):
        found.append(field_errors.required(f"{path}.{name_field}"))
    found += validate_mode(source.get("defaultMode"), f"{path}.defaultMode")
    for position, item in enumerate(source.get("items", ())):
        found += validate_key_to_path(item, f"{path}.items[{position}]")
    return found


def _downward(source: Tree, path: str) -> list[FieldError]:
    found = validate_mode(source.get("defaultMode"), f"{path}.defaultMode")
    for item in source.get("items", ()):
        found += validate_downward_file(item, path)
    return found


def _csi(source: Tree, path: str) -> list[FieldError]:
    found = validate_csi_driver_name(source.get("driver", ""), f"{path}.driver")
    reference = source.get("nodePublishSecretRef")
    if reference is not None:
        name = reference.get("name", "")
        if not name:
            found.append(field_errors.required(f"{path}.nodePublishSecretRef.name"))
        else:
            found += complaints(f"{path}.name", name, names.dns1123_subdomain(name))
    return found


def _claim(source: Tree, path: str) -> list[FieldError]:
    return [] if source.get("claimName") else [field_errors.required(f"{path}.claimName")]


def _ephemeral(source: Tree, path: str) -> list[FieldError]:
    template, here = source.get("volumeClaimTemplate"), f"{path}.volumeClaimTemplate"
    if template is None:
        return [field_errors.required(here)]
    found = template_metadata(f"{here}.metadata", template.get("metadata") or {})
    return found + claim_spec_errors(f"{here}.spec", template.get("spec") or {})


def _image(source: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    if not source.get("reference"):
        found.append(field_errors.required(f"{path}.reference"))
    return found + one_of(f"{path}.pullPolicy", source.get("pullPolicy", ""), PULL_POLICIES)


SPECIAL: dict[str, Callable[[Tree, str], list[FieldError]]] = {
    "emptyDir": _empty_dir, "hostPath": validate_host_path, "gitRepo": _git_repo, "secret": _secret,
    "downwardAPI": _downward, "configMap": _config_map, "projected": validate_projected, "csi": _csi,
    "persistentVolumeClaim": _claim, "ephemeral": _ephemeral, "image": _image,
}
