"""What is wrong with a container's environment: env, envFrom, and what they may refer to.

Upstream: pkg/apis/core/validation/validation.go (ValidateEnv, ValidateEnvFrom) and
pkg/apis/core/pods/helpers.go.
"""

import re
from collections.abc import Iterable, Sequence

from fakekube.apimachinery import field_errors, names, quantity
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree

ENV_FIELD_PATHS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)
DOWNWARD_FIELDS = (
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP",
    "status.hostIPs", "status.podIP", "status.podIPs",
)
RESOURCE_FIELDS = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
    "requests.memory",
)
HUGE_PAGES_PREFIXES = ("limits.hugepages-", "requests.hugepages-")
SIZE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
CPU_DIVISORS = ("1m", "1")
SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
FROM_SOURCES = ("configMapRef", "secretRef")
ONE_SOURCE = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
ONE_FROM_SOURCE = "must specify one of: `configMapRef` or `secretRef`"
NO_MORE = "may not have more than one field specified at a time"
SUBSCRIPT = r"(.*)\['(.*)'\]"


def validate_env(variables: list[Tree], path: str) -> list[FieldError]:
    """The ``env`` of a container."""
    found: list[FieldError] = []
    for position, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            found.append(field_errors.required(f"{path}[{position}].name"))
        elif not name.isidentifier():
            found += complaints(f"{path}[{position}].name", name, names.env_name(name))
        if "valueFrom" in variable:
            found += _value_from(variable["valueFrom"], variable.get("value", ""), f"{path}[{position}].valueFrom")
    return found


def accepts_env(variables: list[Tree]) -> bool:
    """Whether the ``env`` of a container is fine at a glance.

    Whoever gets False has to ask ``validate_env``.
    """
    for variable in variables:
        source = variable.get("valueFrom")
        if source is None:
            plain = variable.get("name", "").isidentifier()
        else:
            if "fileKeyRef" in source:
                return False  # it is about the pod's volumes, too
            plain = len(source) == 1 and not variable.get("value") and variable.get("name", "").isidentifier() and (
                is_plain_field_ref(source.get("fieldRef"), ENV_FIELD_PATHS))
        if not plain and validate_env([variable], ""):
            return False
    return True


def is_plain_field_ref(reference: Tree | None, supported: Sequence[str]) -> bool:
    """Whether it is a reference to one of the ``supported`` fields, without a subscript."""
    return reference is not None and reference.get("apiVersion") == "v1" and reference.get("fieldPath") in supported


def _value_from(source: Tree, value: str, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    if "fieldRef" in source:
        found += validate_field_ref(source["fieldRef"], f"{path}.fieldRef", ENV_FIELD_PATHS)
    if "resourceFieldRef" in source:
        found += validate_resource_ref(source["resourceFieldRef"], f"{path}.resourceFieldRef")
    for name in ("configMapKeyRef", "secretKeyRef"):
        if name in source:
            found += _key_ref(source[name], f"{path}.{name}")
    if "fileKeyRef" in source:
        found += _file_key_ref(source["fileKeyRef"], f"{path}.fileKeyRef")
    count = sum(name in source for name in SOURCES)
    if not count:
        found.append(field_errors.invalid(path, "", ONE_SOURCE))
    elif value:
        found.append(field_errors.invalid(path, "", "may not be specified when `value` is not empty"))
    elif count > 1:
        found.append(field_errors.invalid(path, "", NO_MORE))
    return found


def validate_field_ref(reference: Tree, path: str, supported: Sequence[str]) -> list[FieldError]:
    """A reference to a field of the pod itself; ``supported`` are the paths without a subscript,
    sorted.
    """
    version, field_path = reference.get("apiVersion", ""), reference.get("fieldPath", "")
    if not version:
        return [field_errors.required(f"{path}.apiVersion")]
    if not field_path:
        return [field_errors.required(f"{path}.fieldPath")]
    if version != "v1":
        why = f"error converting fieldPath: unsupported pod version: {version}"
        return [field_errors.invalid(f"{path}.fieldPath", field_path, why)]
    subscripted = re.fullmatch(SUBSCRIPT, field_path)
    base = subscripted[1] if subscripted else field_path
    if base == "spec.host":
        base = "spec.nodeName"
    if base not in DOWNWARD_FIELDS or (subscripted and base not in DOWNWARD_FIELDS[:2]):
        why = f"error converting fieldPath: field label not supported: {base if not subscripted else field_path}"
        if subscripted and base in DOWNWARD_FIELDS:
            why = f'error converting fieldPath: field label does not support subscript: "{base}"'
        return [field_errors.invalid(f"{path}.fieldPath", field_path, why)]
    if subscripted:
        key = subscripted[2].lower() if base == "metadata.annotations" else subscripted[2]
        return complaints(path, key, names.qualified_name(key))
    if base not in supported:
        return [field_errors.not_supported(f"{path}.fieldPath", base, supported)]
    return []


def validate_resource_ref(reference: Tree, path: str, *, in_volume: bool = False) -> list[FieldError]:
    """A reference to a resource of a container, which a volume must name."""
    found: list[FieldError] = []
    resource = reference.get("resource", "")
    if in_volume and not reference.get("containerName"):
        found.append(field_errors.required(f"{path}.containerName"))
    elif not resource:
        found.append(field_errors.required(f"{path}.resource"))
    elif resource not in RESOURCE_FIELDS and not resource.startswith(HUGE_PAGES_PREFIXES):
        found.append(field_errors.not_supported(f"{path}.resource", resource, RESOURCE_FIELDS))
    divisor = reference.get("divisor", "0")
    if quantity.parse(divisor).nano == 0:
        return found
    kind = resource.partition(".")[2]
    if kind == "cpu":
        if divisor not in CPU_DIVISORS:
            what = "only divisor's values 1m and 1 are supported with the cpu resource"
            found.append(field_errors.invalid(f"{path}.divisor", resource, what))
    elif kind in ("memory", "ephemeral-storage") or kind.startswith("hugepages-"):
        shown = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}.get(kind, "hugepages")
        if divisor not in SIZE_DIVISORS:
            what = f"only divisor's values {', '.join(SIZE_DIVISORS)} are supported with the {shown} resource"
            found.append(field_errors.invalid(f"{path}.divisor", resource, what))
    return found


def _key_ref(reference: Tree, path: str) -> list[FieldError]:
    name, key = reference.get("name", ""), reference.get("key", "")
    found = complaints(f"{path}.name", name, names.dns1123_subdomain(name))
    if not key:
        return [*found, field_errors.required(f"{path}.key")]
    return found + complaints(f"{path}.key", key, names.config_key(key))


def _file_key_ref(reference: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    key, volume, file_path = (reference.get(name, "") for name in ("key", "volumeName", "path"))
    if not key:
        found.append(field_errors.required(f"{path}.key"))
    else:
        found += complaints(f"{path}.key", key, names.env_name(key))
    if not volume:
        found.append(field_errors.required(f"{path}.volumeName"))
    else:
        found += complaints(f"{path}.volumeName", volume, names.dns1123_label(volume))
    if not file_path:
        found.append(field_errors.required(f"{path}.path"))
    elif ".." in file_path.split("/"):
        found.append(field_errors.invalid(f"{path}.path", file_path, "must not contain '..'"))
    return found


def validate_env_from(sources: list[Tree], path: str) -> list[FieldError]:
    """The ``envFrom`` of a container."""
    found: list[FieldError] = []
    for position, source in enumerate(sources):
        here = f"{path}[{position}]"
        if prefix := source.get("prefix"):
            found += complaints(f"{here}.prefix", prefix, names.env_name(prefix))
        for name in FROM_SOURCES:
            if name in source:
                found += _env_source(source[name], f"{here}.{name}")
        count = sum(name in source for name in FROM_SOURCES)
        if count != 1:
            found.append(field_errors.invalid(path, "", NO_MORE if count else ONE_FROM_SOURCE))
    return found


def _env_source(source: Tree, path: str) -> list[FieldError]:
    name = source.get("name", "")
    if not name:
        return [field_errors.required(f"{path}.name")]
    return complaints(f"{path}.name", name, names.object_name_prefix("subdomain", name))


def validate_file_key_volumes(spec: Tree, path: str, lists: Iterable[str]) -> list[FieldError]:
    """Environment files must lie in an emptyDir volume of the pod."""
    found: list[FieldError] = []
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes", ())}
    for field in lists:
        for position, container in enumerate(spec.get(field) or ()):
            for number, variable in enumerate(container.get("env", ())):
                reference = variable.get("valueFrom", {}).get("fileKeyRef")
                if reference is None:
                    continue
                name = reference.get("volumeName", "")
                here = f"{path}.{field}[{position}].env[{number}].valueFrom.fileKeyRef.volumeName"
                if name not in volumes:
                    found.append(field_errors.not_found(here, name))
                elif "emptyDir" not in volumes[name]:
                    found.append(field_errors.invalid(here, name, "referenced volume must be of type emptyDir"))
    return found
