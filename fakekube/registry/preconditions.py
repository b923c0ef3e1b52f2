"""Whether the stored object is the one that a write speaks of: its uid and its resourceVersion.

Errors come in the words of upstream's storage, which name the key in etcd.
Upstream: apiserver/pkg/storage/interfaces.go (Preconditions), pkg/storage/errors.go,
generic/registry/store.go (Update).
"""

from fakekube.apimachinery import errors, field_errors, strconv
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupKind
from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Kind
from fakekube.storage.record import Record


def check_preconditions(
    kind: Kind, record: Record, uid: str, resource_version: str = "", *, dry_run: bool = False,
) -> None:
    """Raises Conflict, in storage's words, when the stored object is another one or has another
    version.
    """
    if uid and uid != record.uid:
        raise uid_conflict(kind, record.namespace, record.name, uid, record.uid, dry_run=dry_run)
    if resource_version and resource_version != str(record.revision):
        raise storage_conflict(kind, record.namespace, record.name, (
            f"Precondition failed: ResourceVersion in precondition: {resource_version}, "
            f"ResourceVersion in object meta: {record.revision}"), dry_run=dry_run)


def uid_conflict(
    kind: Kind, namespace: str, name: str, asked: str, found: str, *, dry_run: bool = False,
) -> APIError:
    """Conflict about an object that is another one than the caller wrote of."""
    why = f"Precondition failed: UID in precondition: {asked}, UID in object meta: {found}"
    return storage_conflict(kind, namespace, name, why, dry_run=dry_run)


def storage_conflict(kind: Kind, namespace: str, name: str, why: str, *, dry_run: bool = False) -> APIError:
    """Conflict, in storage's words, about an object that is not as it would have to be.

    A dry run is refused before the storage puts its prefix before the key.
    """
    resource = kind.group_resource
    path = f"{kind.group}/{kind.plural}" if kind.custom else kind.storage_path or kind.plural
    key = ("" if dry_run else "/registry") + "".join(f"/{part}" for part in (path, namespace, name) if part)
    return errors.conflict(resource, name, (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"))


def check_version(kind: Kind, meta: Tree, record: Record) -> bool:
    """Whether a version was given.

    Raises Conflict when it is not the stored one, Invalid when there must be one.
    """
    text = str(meta.get("resourceVersion", ""))
    try:
        asked = strconv.parse_uint(text or "0")
    except strconv.NumberError as error:
        raise errors.raw(str(error)) from None
    if not asked:
        if not kind.unconditional_update:
            resource = kind.group_resource
            raise errors.invalid(GroupKind(resource.group, resource.resource), record.name, [
                field_errors.invalid("metadata.resourceVersion", 0, "must be specified for an update")])
        return False
    if asked != record.revision:
        raise errors.conflict(kind.group_resource, record.name)
    return True
