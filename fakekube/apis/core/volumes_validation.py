"""What is wrong with the volumes of a pod.

Upstream: ValidateVolumes and what it calls in pkg/apis/core/validation/validation.go. Left out: the finer rules of
volume types of storage systems that no test cluster has (names of iSCSI initiators, kinds of Azure disks), and the
claim inside an ephemeral volume.
"""

from collections.abc import Callable

from fakekube.apimachinery import field_errors, names, quantity
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.core.projected_validation import validate_projected
from fakekube.apis.core.security_validation import validate_descending_path
from fakekube.apis.core.volume_items import validate_downward_file, validate_key_to_path, validate_mode
from fakekube.registry.validation import complaints, one_of

MORE_TYPES = "may not specify more than 1 volume type"
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
# In the order in which upstream looks for them, which decides which of two is the one too many.
TYPES = (
    "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi",
    "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc",
    "flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk",
    "storageos", "projected", "scaleIO", "csi", "ephemeral", "image",
)
MISNAMED = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
PATHS = {"gcePersistentDisk": "persistentDisk"}
REQUIRED_FIELDS = {
    "gcePersistentDisk": ("pdName",), "awsElasticBlockStore": ("volumeID",), "iscsi": ("targetPortal", "iqn"),
    "glusterfs": ("endpoints", "path"), "persistentVolumeClaim": ("claimName",), "rbd": ("monitors", "image"),
    "cinder": ("volumeID",), "cephfs": ("monitors",), "quobyte": ("registry", "volume"), "flexVolume": ("driver",),
    "azureFile": ("secretName", "shareName"), "vsphereVolume": ("volumePath",), "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",), "azureDisk": ("diskName", "diskURI"), "storageos": ("volumeName",),
    "scaleIO": ("gateway", "system", "volumeName"), "gitRepo": ("repository",),
}


def validate_volumes(volumes: list[Tree], pod_name: str, path: str) -> tuple[dict[str, Tree], list[FieldError]]:
    """All volumes: the good ones by name, and what is wrong with the others. ``pod_name`` is empty for a template."""
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


def _volume(volume: Tree, name: str, pod_name: str, path: str) -> list[FieldError]:
    present = [each for each in volume if each != "name"]
    if not present:
        return [field_errors.required(path, "must specify a volume type")]
    if len(present) > 1:
        present.sort(key=lambda each: TYPES.index(each) if each in TYPES else len(TYPES))
    first = present[0]
    found = _source(first, volume[first], f"{path}.{PATHS.get(first, first)}")
    found += [field_errors.forbidden(f"{path}.{MISNAMED.get(each, each)}", MORE_TYPES) for each in present[1:]]
    if first == "ephemeral" and pod_name and name:
        claim = f"{pod_name}-{name}"
        texts = [f"PVC name {field_errors.go_quote(claim)}: {text}" for text in names.dns1123_subdomain(claim)]
        found += complaints(f"{path}.name", name, texts)
    return found


def _source(kind: str, source: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    if kind in REQUIRED_FIELDS:
        found += [field_errors.required(f"{path}.{name}") for name in REQUIRED_FIELDS[kind] if not source.get(name)]
    special = SPECIAL.get(kind)
    return found + special(source, path) if special else found


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


def _host_path(source: Tree, path: str) -> list[FieldError]:
    text = source.get("path", "")
    if not text:
        return [field_errors.required(f"{path}.path")]
    found: list[FieldError] = []
    if ".." in text.split("/"):
        found.append(field_errors.invalid(f"{path}.path", text, "must not contain '..'"))
    return found + one_of(f"{path}.type", source.get("type", ""), HOST_PATH_TYPES)


def _git_repo(source: Tree, path: str) -> list[FieldError]:
    return validate_descending_path(source.get("directory", ""), f"{path}.directory")


def _nfs(source: Tree, path: str) -> list[FieldError]:
    found = [field_errors.required(f"{path}.{name}") for name in ("server", "path") if not source.get(name)]
    if not source.get("path", "").startswith("/"):
        found.append(field_errors.invalid(f"{path}.path", source.get("path", ""), "must be an absolute path"))
    return found


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


def _fibre_channel(source: Tree, path: str) -> list[FieldError]:
    targets, ids = source.get("targetWWNs"), source.get("wwids")
    found: list[FieldError] = []
    if not targets and not ids:
        what = "must specify either targetWWNs or wwids, but not both"
        found.append(field_errors.required(f"{path}.targetWWNs", what))
    if targets and ids:
        what = "targetWWNs and wwids can not be specified simultaneously"
        found.append(field_errors.invalid(f"{path}.targetWWNs", targets, what))
    if targets and "lun" not in source:
        found.append(field_errors.required(f"{path}.lun", "lun is required if targetWWNs is specified"))
    return found


def _flocker(source: Tree, path: str) -> list[FieldError]:
    name, uid = source.get("datasetName", ""), source.get("datasetUUID")
    found: list[FieldError] = []
    if not name and not uid:
        found.append(field_errors.required(path, "one of datasetName and datasetUUID is required"))
    if name and uid:
        what = "datasetName and datasetUUID can not be specified simultaneously"
        found.append(field_errors.invalid(path, "resource", what))
    if "/" in name:
        found.append(field_errors.invalid(f"{path}.datasetName", name, "must not contain '/'"))
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


def validate_csi_driver_name(name: str, path: str) -> list[FieldError]:
    """The name of a CSI driver: a domain name of at most 63 bytes, upper case allowed."""
    if not name:
        return [field_errors.required(path)]
    found: list[FieldError] = []
    if len(name) > names.MAX_LABEL_LENGTH:
        found.append(field_errors.too_long(path, names.MAX_LABEL_LENGTH))
    return found + complaints(path, name, names.dns1123_subdomain(name.lower()))


def _ephemeral(source: Tree, path: str) -> list[FieldError]:
    if "volumeClaimTemplate" in source:
        return []
    return [field_errors.required(f"{path}.volumeClaimTemplate")]


def _image(source: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    if not source.get("reference"):
        found.append(field_errors.required(f"{path}.reference"))
    return found + one_of(f"{path}.pullPolicy", source.get("pullPolicy", ""), PULL_POLICIES)


SPECIAL: dict[str, Callable[[Tree, str], list[FieldError]]] = {
    "emptyDir": _empty_dir, "hostPath": _host_path, "gitRepo": _git_repo, "secret": _secret, "nfs": _nfs,
    "flocker": _flocker, "downwardAPI": _downward, "fc": _fibre_channel, "configMap": _config_map,
    "projected": validate_projected, "csi": _csi, "ephemeral": _ephemeral, "image": _image,
}
