"""What is wrong with volumes of storage systems, in a pod or as a PersistentVolume.

Upstream: validateISCSIVolumeSource and its fellows in pkg/apis/core/validation/validation.go, where
most stand twice: a PersistentVolume may name secrets of any namespace, and so has to say which.
"""

import re
from collections.abc import Callable

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, complaints, invalid, not_supported, required, too_long
from fakekube.apimachinery.field_errors import key as map_key
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of

REQUIRED_FIELDS = {
    "gcePersistentDisk": ("pdName",), "awsElasticBlockStore": ("volumeID",), "nfs": ("server", "path"),
    "glusterfs": ("endpoints", "path"), "rbd": ("monitors", "image"), "cinder": ("volumeID",), "cephfs": ("monitors",),
    "flexVolume": ("driver",), "azureFile": ("secretName", "shareName"), "vsphereVolume": ("volumePath",),
    "photonPersistentDisk": ("pdID",), "portworxVolume": ("volumeID",), "azureDisk": ("diskName", "diskURI"),
    "scaleIO": ("gateway", "system", "volumeName"),
}
HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
ISCSI_NAMES = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.([0-9A-Za-z\-.]+)(:[^,;*&$|\s]+)\Z"),
    "eui": re.compile(r"eui.[0-9A-Za-z]{16}\Z"),
    "naa": re.compile(r"naa.[0-9A-Za-z]{32}\Z"),
}
MAX_BYTE = 255
MAX_ISCSI_LENGTH = 64
MAX_TENANT_LENGTH = 64
TOO_LONG_TOGETHER = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
HOST_AND_PORT = "must be a host:port pair or multiple pairs separated by commas"
CACHING_MODES = ("None", "ReadOnly", "ReadWrite")
DISK_KINDS = ("Dedicated", "Managed", "Shared")
MANAGED_DISKS = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
BLOB_DISKS = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"


def validate_storage_system(kind: str, source: Tree, path: str, *, persistent: bool = False) -> list[FieldError]:
    """One source of a volume, by its field's name; nothing for sources that are no storage
    system's.

    ``persistent`` tells that it is a PersistentVolume's.
    """
    found = [required(f"{path}.{name}") for name in REQUIRED_FIELDS.get(kind, ()) if not source.get(name)]
    rule = RULES.get(kind)
    return found + rule(source, path, persistent) if rule else found


def validate_host_path(source: Tree, path: str) -> list[FieldError]:
    """A file or a directory of the node."""
    if not source.get("path"):
        return [required(f"{path}.path")]
    return validate_no_backsteps(source["path"], f"{path}.path") + one_of(
        f"{path}.type", source.get("type", ""), HOST_PATH_TYPES)


def validate_no_backsteps(text: str, path: str) -> list[FieldError]:
    """A path that does not go up again."""
    return [invalid(path, text, "must not contain '..'")] if ".." in text.split("/") else []


def is_too_long_for_iscsi(volume_name: str, source: Tree) -> bool:
    """Whether the name of a volume and its portal are too long together for an initiator of its
    own.
    """
    together = f"{volume_name}:{source.get('targetPortal', '')}"
    return "initiatorName" in source and len(together.encode()) > MAX_ISCSI_LENGTH


def _iscsi(source: Tree, path: str, persistent: bool) -> list[FieldError]:
    name, start = source.get("iqn", ""), "" if persistent else " starting with iqn, eui, or naa"
    found = [] if source.get("targetPortal") else [required(f"{path}.targetPortal")]
    found += _iscsi_name(name, f"{path}.iqn", start) if name else [required(f"{path}.iqn")]
    found += _byte(source.get("lun", 0), f"{path}.lun", 0)
    reference = source.get("secretRef")
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and reference is None:
        found.append(required(f"{path}.secretRef"))
    if persistent and reference is not None and not reference.get("name"):
        found.append(required(f"{path}.secretRef.name"))
    if "initiatorName" in source:
        found += _iscsi_name(source["initiatorName"], f"{path}.initiatorname", start)
    return found


def _iscsi_name(text: str, path: str, start: str) -> list[FieldError]:
    pattern = ISCSI_NAMES.get(text[:3])
    if pattern is None:
        return [invalid(path, text, f"must be valid format{start}")]
    return [] if pattern.search(text) and (text[:3] == "iqn" or pattern.match(text)) else [
        invalid(path, text, "must be valid format")]


def _byte(number: int, path: str, low: int) -> list[FieldError]:
    return [] if 0 <= number <= MAX_BYTE else [invalid(path, number, names.between(low, MAX_BYTE))]


def _partition(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    return _byte(source.get("partition", 0), f"{path}.partition", 1)


def _nfs(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    text = source.get("path", "")
    return [] if text.startswith("/") else [invalid(f"{path}.path", text, "must be an absolute path")]


def _glusterfs(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    namespace, here = source.get("endpointsNamespace"), f"{path}.endpointsNamespace"
    if namespace is None:
        return []
    if not namespace:
        return [invalid(here, namespace, "if the endpointnamespace is set, it must be a valid namespace name")]
    return complaints(here, namespace, names.dns1123_label(namespace))


def _secret_reference(source: Tree, path: str, persistent: bool) -> list[FieldError]:
    reference = source.get("secretRef")
    if reference is None:
        return []
    fields = ("name", "namespace") if persistent else ("name",)
    return [required(f"{path}.secretRef.{name}") for name in fields if not reference.get(name)]


def _quobyte(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    registry, found = source.get("registry", ""), list[FieldError]()
    if not registry:
        found.append(required(f"{path}.registry", HOST_AND_PORT))
    elif len(source.get("tenant", "").encode()) > MAX_TENANT_LENGTH:
        what = f"must be a UUID and may not exceed a length of {MAX_TENANT_LENGTH} characters"
        found.append(required(f"{path}.tenant", what))
    else:
        found += [invalid(f"{path}.registry", registry, HOST_AND_PORT)
                  for pair in registry.split(",") if not _is_host_and_port(pair)]
    return found if source.get("volume") else [*found, required(f"{path}.volume")]


def _is_host_and_port(text: str) -> bool:
    """Whether Go's net.SplitHostPort takes it."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1].replace(":", "")
    return bool(colon) and not any(mark in f"{host}{port}" for mark in "[]:")


def _flex(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    found = []
    for name in source.get("options") or {}:
        if f".{name.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            what = "kubernetes.io and k8s.io namespaces are reserved"
            found.append(invalid(map_key(f"{path}.options", name), name, what))
    return found


def _azure_file(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    return [required(f"{path}.secretNamespace")] if source.get("secretNamespace") == "" else []


def _azure_disk(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    kind, address = source.get("kind"), source.get("diskURI", "")
    found = one_of(f"{path}.cachingMode", source.get("cachingMode", "None"), CACHING_MODES)
    if kind is None:
        return found
    found += one_of(f"{path}.kind", kind, DISK_KINDS)
    start, form = ("/subscriptions/", MANAGED_DISKS) if kind == "Managed" else ("https://", BLOB_DISKS)
    return found if address.startswith(start) else [*found, not_supported(f"{path}.diskURI", address, [form])]


def _storageos(source: Tree, path: str, persistent: bool) -> list[FieldError]:
    found = [] if source.get("volumeName") else [required(f"{path}.volumeName")]
    for field in ("volumeName", "volumeNamespace"):
        if name := source.get(field):
            found += complaints(f"{path}.{field}", name, names.dns1123_label(name))
    return found + _secret_reference(source, path, persistent)


def _fibre_channel(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    targets, ids = source.get("targetWWNs"), source.get("wwids")
    found: list[FieldError] = []
    if not targets and not ids:
        what = "must specify either targetWWNs or wwids, but not both"
        found.append(required(f"{path}.targetWWNs", what))
    if targets and ids:
        what = "targetWWNs and wwids can not be specified simultaneously"
        found.append(invalid(f"{path}.targetWWNs", targets, what))
    if not targets:
        return found
    if "lun" not in source:
        return [*found, required(f"{path}.lun", "lun is required if targetWWNs is specified")]
    return found + _byte(source["lun"], f"{path}.lun", 0)


def _flocker(source: Tree, path: str, _persistent: bool) -> list[FieldError]:
    name, uid = source.get("datasetName", ""), source.get("datasetUUID")
    found: list[FieldError] = []
    if not name and not uid:
        found.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uid:
        what = "datasetName and datasetUUID can not be specified simultaneously"
        found.append(invalid(path, "resource", what))
    if "/" in name:
        found.append(invalid(f"{path}.datasetName", name, "must not contain '/'"))
    return found


def validate_csi_driver_name(name: str, path: str) -> list[FieldError]:
    """The name of a CSI driver: a domain name of at most 63 bytes, upper case allowed."""
    if not name:
        return [required(path)]
    found: list[FieldError] = []
    if names.is_longer(name, names.MAX_LABEL_LENGTH):
        found.append(too_long(path, names.MAX_LABEL_LENGTH))
    return found + complaints(path, name, names.dns1123_subdomain(name.lower()))


RULES: dict[str, Callable[[Tree, str, bool], list[FieldError]]] = {
    "gcePersistentDisk": _partition, "awsElasticBlockStore": _partition, "nfs": _nfs, "iscsi": _iscsi,
    "glusterfs": _glusterfs, "cinder": _secret_reference, "quobyte": _quobyte, "flexVolume": _flex,
    "azureFile": _azure_file, "azureDisk": _azure_disk, "storageos": _storageos, "fc": _fibre_channel, "flocker": _flocker,
}
