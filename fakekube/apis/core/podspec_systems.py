"""What a pod may not ask for on its operating system.

Upstream: validateOS, validateLinux, validateWindows, validateWindowsHostProcessPod in
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
NOT_ON_LINUX = "windows options cannot be set for a linux pod"
NOT_ON_WINDOWS = "cannot be set for a windows pod"
LINUX_POD_CONTEXT = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser",
    "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy",
)
LINUX_POD_FIELDS = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
LINUX_CONTAINER_CONTEXT = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)


def _contexts(spec: Tree, path: str) -> Iterator[tuple[Tree, str]]:
    """The security context of every container, empty when it has none, and its path."""
    for field in CONTAINER_LISTS:
        for position, container in enumerate(spec.get(field) or ()):
            yield container.get("securityContext") or {}, f"{path}.{field}[{position}].securityContext"


def validate_system(spec: Tree, path: str) -> list[FieldError]:
    """spec.os, and what does not go with it."""
    name = spec["os"].get("name", "")
    if not name:
        return [field_errors.required(f"{path}.os.name")]
    if name not in ("linux", "windows"):
        return [field_errors.not_supported(f"{path}.os", name, ("linux", "windows"))]
    context = spec.get("securityContext") or {}
    if name == "linux":
        holders = [(context, f"{path}.securityContext"), *_contexts(spec, path)]
        return [
            field_errors.forbidden(f"{here}.windowsOptions", NOT_ON_LINUX)
            for holder, here in holders if "windowsOptions" in holder
        ]
    found = [
        field_errors.forbidden(f"{path}.securityContext.{field}", NOT_ON_WINDOWS)
        for field in LINUX_POD_CONTEXT if field in context
    ]
    found += [field_errors.forbidden(f"{path}.{field}", NOT_ON_WINDOWS) for field in LINUX_POD_FIELDS if field in spec]
    for holder, here in _contexts(spec, path):
        given = [field for field in LINUX_CONTAINER_CONTEXT if field in holder]
        found += [field_errors.forbidden(f"{here}.{field}", NOT_ON_WINDOWS) for field in given]
    return found


def validate_host_process(spec: Tree, path: str) -> list[FieldError]:
    """Containers that are processes of a Windows host: all or none."""
    pod_wide = ((spec.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess")
    found: list[FieldError] = []
    total = processes = 0
    for context, here in _contexts(spec, path):
        total += 1
        own = (context.get("windowsOptions") or {}).get("hostProcess") if context else None
        if pod_wide is not None and own is not None and own != pod_wide:
            shown = "true" if pod_wide else "false"
            what = f"pod hostProcess value must be identical if both are specified, was {shown}"
            found.append(field_errors.invalid(f"{here}.windowsOptions.hostProcess", own, what))
        processes += bool(pod_wide if own is None else own)
    if processes and processes != total:
        what = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        found.append(field_errors.invalid(path, "", what))
    if processes and not spec.get("hostNetwork"):
        what = "hostNetwork must be true if pod contains any hostProcess containers"
        found.append(field_errors.invalid(f"{path}.hostNetwork", False, what))
    return found
