"""What is wrong with the files that a volume is made of: keys of ConfigMaps and Secrets, fields of
the pod.

Upstream: validateKeyToPath and validateDownwardAPIVolumeFile in
pkg/apis/core/validation/validation.go.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.core.container_env import validate_field_ref, validate_resource_ref
from fakekube.apis.core.security_validation import validate_descending_path

VOLUME_FIELD_PATHS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
MAX_MODE = 0o777


def validate_mode(mode: int | None, path: str) -> list[FieldError]:
    """The mode of a file, in decimal."""
    if mode is None or 0 <= mode <= MAX_MODE:
        return []
    return [field_errors.invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive")]


def validate_free_path(text: str, path: str) -> list[FieldError]:
    """A relative path below its start whose first part does not begin with two dots."""
    found = validate_descending_path(text, path)
    if text.startswith("..") and not text.startswith("../"):
        found.append(field_errors.invalid(path, text, "must not start with '..'"))
    return found


def validate_key_to_path(item: Tree, path: str) -> list[FieldError]:
    """A key of a ConfigMap or Secret as a file."""
    found: list[FieldError] = []
    if not item.get("key"):
        found.append(field_errors.required(f"{path}.key"))
    if not item.get("path"):
        found.append(field_errors.required(f"{path}.path"))
    found += validate_free_path(item.get("path", ""), f"{path}.path")
    return found + validate_mode(item.get("mode"), f"{path}.mode")


def validate_downward_file(item: Tree, path: str) -> list[FieldError]:
    """A field of the pod, or a resource of a container, as a file.

    The path is the volume's: there is no index.
    """
    found: list[FieldError] = []
    if not item.get("path"):
        found.append(field_errors.required(f"{path}.path"))
    found += validate_free_path(item.get("path", ""), f"{path}.path")
    if "fieldRef" in item:
        found += validate_field_ref(item["fieldRef"], f"{path}.fieldRef", VOLUME_FIELD_PATHS)
        if "resourceFieldRef" in item:
            what = "fieldRef and resourceFieldRef can not be specified simultaneously"
            found.append(field_errors.invalid(path, "resource", what))
    elif "resourceFieldRef" in item:
        found += validate_resource_ref(item["resourceFieldRef"], f"{path}.resourceFieldRef", in_volume=True)
    else:
        found.append(field_errors.required(path, "one of fieldRef and resourceFieldRef is required"))
    return found + validate_mode(item.get("mode"), f"{path}.mode")
