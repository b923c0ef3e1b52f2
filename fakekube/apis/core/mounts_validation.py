"""What is wrong with the volumes that a container mounts, and the devices that it opens.

Upstream: ValidateVolumeMounts and ValidateVolumeDevices in pkg/apis/core/validation/validation.go.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of
from fakekube.apis.core.security_validation import validate_descending_path

PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
RECURSIVE_MODES = ("Disabled", "Enabled", "IfPossible")
BIND_OPTIONS = ("noDev", "noExec", "noSuid")
BLOCK_SOURCES = ("persistentVolumeClaim", "ephemeral")
UNPRIVILEGED = "Bidirectional mount propagation is available only to privileged containers"


def validate_mounts(container: Tree, volumes: dict[str, Tree], path: str) -> list[FieldError]:
    """The ``volumeMounts`` of a container. Some errors lack the index, as upstream's do."""
    found: list[FieldError] = []
    devices = {device.get("name", ""): device.get("devicePath", "") for device in container.get("volumeDevices", ())}
    device_paths = set(devices.values())
    taken: set[str] = set()
    for position, mount in enumerate(container["volumeMounts"]):
        here, name, target = f"{path}[{position}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            found.append(field_errors.required(f"{here}.name"))
        if name not in volumes:
            found.append(field_errors.not_found(f"{here}.name", name))
        if not target:
            found.append(field_errors.required(f"{here}.mountPath"))
        if target in taken:
            found.append(field_errors.invalid(f"{here}.mountPath", target, "must be unique"))
        taken.add(target)
        if name in devices:
            found.append(field_errors.invalid(f"{here}.name", name, "must not already exist in volumeDevices"))
        if target in device_paths:
            what = "must not already exist as a path in volumeDevices"
            found.append(field_errors.invalid(f"{here}.mountPath", target, what))
        if len(mount) > 2:
            found += _details(mount, container, volumes.get(name, {}), path, here)
    return found


def accepts_mounts(container: Tree, volumes: dict[str, Tree]) -> bool:
    """Whether the ``volumeMounts`` of a container that opens no device are fine at a glance.

    Whoever gets False has to ask ``validate_mounts``.
    """
    taken: set[str] = set()
    for mount in container["volumeMounts"]:
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if name not in volumes or not target or target in taken:
            return False
        taken.add(target)
        rarer = len(mount) - ("readOnly" in mount) > 2
        if rarer and _details(mount, container, volumes[name], "", ""):
            return False
    return True


def _details(mount: Tree, container: Tree, volume: Tree, path: str, here: str) -> list[FieldError]:
    """The rarer fields of a mount."""
    found: list[FieldError] = []
    sub_path, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    if sub_path:
        found += validate_descending_path(sub_path, f"{path}.subPath")
    if expression:
        if sub_path:
            what = "subPathExpr and subPath are mutually exclusive"
            found.append(field_errors.invalid(f"{here}.subPathExpr", expression, what))
        found += validate_descending_path(expression, f"{path}.subPathExpr")
    if "mountPropagation" in mount:
        mode = mount["mountPropagation"]
        found += one_of(f"{path}.mountPropagation", mode, PROPAGATIONS)
        if mode == "Bidirectional" and not container.get("securityContext", {}).get("privileged"):
            found.append(field_errors.forbidden(f"{path}.mountPropagation", UNPRIVILEGED))
    if "recursiveReadOnly" in mount:
        found += _recursive(mount, f"{path}.recursiveReadOnly")
    options = mount.get("bindMountOptions", [])
    repeated = field_errors.repetitions(options)
    for number, option in enumerate(options):
        found += one_of(f"{here}.bindMountOptions[{number}]", option, BIND_OPTIONS)
        if number in repeated:
            found.append(field_errors.duplicate(f"{here}.bindMountOptions[{number}]", option))
    if options and "image" in volume:
        what = "bindMountOptions may not be used with image volumes"
        found.append(field_errors.invalid(f"{here}.bindMountOptions", options, what))
    return found


def _recursive(mount: Tree, path: str) -> list[FieldError]:
    mode = mount["recursiveReadOnly"]
    if mode not in ("Enabled", "IfPossible"):
        return one_of(path, mode, RECURSIVE_MODES)
    found: list[FieldError] = []
    if not mount.get("readOnly"):
        found.append(field_errors.forbidden(path, "may only be specified when readOnly is true"))
    if mount.get("mountPropagation", "None") != "None":
        what = "may only be specified when mountPropagation is None or not specified"
        found.append(field_errors.forbidden(path, what))
    return found


def validate_devices(container: Tree, volumes: dict[str, Tree], path: str) -> list[FieldError]:
    """The ``volumeDevices`` of a container."""
    found: list[FieldError] = []
    mounts = {mount.get("name", ""): mount.get("mountPath", "") for mount in container.get("volumeMounts", ())}
    mount_paths = set(mounts.values())
    names: set[str] = set()
    paths: set[str] = set()
    for position, device in enumerate(container["volumeDevices"]):
        here, name, target = f"{path}[{position}]", device.get("name", ""), device.get("devicePath", "")
        if not name:
            found.append(field_errors.required(f"{here}.name"))
        if name in names:
            found.append(field_errors.invalid(f"{here}.name", name, "must be unique"))
        if name not in volumes:
            found.append(field_errors.not_found(f"{here}.name", name))
        elif not any(source in volumes[name] for source in BLOCK_SOURCES):
            what = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            found.append(field_errors.invalid(f"{here}.name", name, what))
        if not target:
            found.append(field_errors.required(f"{here}.devicePath"))
        if target in paths:
            found.append(field_errors.invalid(f"{here}.devicePath", target, "must be unique"))
        if ".." in target.split("/"):
            found.append(field_errors.invalid(f"{here}.devicePath", target, "can not contain backsteps ('..')"))
        else:
            paths.add(target)
        if name in mounts:
            found.append(field_errors.invalid(f"{here}.name", name, "must not already exist in volumeMounts"))
        if target in mount_paths:
            what = "must not already exist as a path in volumeMounts"
            found.append(field_errors.invalid(f"{here}.devicePath", target, what))
        if name:
            names.add(name)
    return found
