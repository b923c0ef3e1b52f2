"""The Scale of an object: how many replicas it wants and has, whatever kind it is.

Built-in kinds have them in ``spec.replicas``, ``status.replicas`` and ``spec.selector``; the
definition of a custom kind says where (``ScalePaths``). Upstream: pkg/registry/apps/*/storage and
apiextensions-apiserver/pkg/registry/customresource/etcd.go.
"""

from collections.abc import Callable
from typing import NamedTuple

import orjson

from fakekube.apimachinery import errors, field_errors, labels
from fakekube.apimachinery.gvk import GroupKind, GroupResource
from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import scale as scalefields
from fakekube.registry import preconditions
from fakekube.registry.kind import ScalePaths
from fakekube.registry.store import Store, Transform

UNSET = -(1 << 31)
"""The replicas of a Scale whose object has none; nobody may want so many."""
_GO_TYPES = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}", dict: "map[string]interface {}"}


class Found(NamedTuple):
    """What stands at a path; ``value`` is None when there is nothing, ``error`` says what is wrong.
    """

    value: Json
    error: str = ""


def scale_of(store: Store, obj: Tree) -> Tree:
    """The autoscaling/v1 Scale of an object, for a GET.

    Raises APIError: 500 where a custom object has no replicas, or something else in their place.
    """
    paths = store.kind.scale_paths
    if paths is None:
        return _scale_of_built_in(store, obj)
    scale, is_set = _scale_of_custom(paths, obj)
    if not is_set:
        raise errors.internal(f"the spec replicas field {field_errors.go_quote(paths.replicas)} does not exist")
    return scale


def written_scale_of(store: Store, obj: Tree) -> Tree:
    """The Scale of an object that has just been written through it."""
    paths = store.kind.scale_paths
    return _scale_of_built_in(store, obj) if paths is None else _scale_of_custom(paths, obj)[0]


def _scale_of_built_in(store: Store, obj: Tree) -> Tree:
    spec, status = obj["spec"], obj.get("status") or {}
    selector = spec.get("selector") or {}
    parse = labels.from_set if store.kind.selector_is_map else labels.from_label_selector
    return _scale(obj, spec.get("replicas", 0), status.get("replicas", 0), str(parse(selector)))


def _scale_of_custom(paths: ScalePaths, obj: Tree) -> tuple[Tree, bool]:
    """The Scale, and whether the object says how many replicas it wants."""
    wanted, present = integer_at(obj, paths.replicas), integer_at(obj, paths.status_replicas)
    selector = text_at(obj, paths.selector) if paths.selector else Found("")
    for found in (wanted, present, selector):
        if found.error:
            raise errors.raw(found.error)
    return _scale(obj, wanted.value or 0, present.value or 0, selector.value or ""), wanted.value is not None


def _scale(obj: Tree, replicas: int, present: int, selector: str) -> Tree:
    meta = obj["metadata"]
    result: Tree = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {
        key: meta[key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp") if key in meta}}
    result["spec"] = {"replicas": replicas} if replicas else {}
    result["status"] = {"replicas": present} | ({"selector": selector} if selector else {})
    return result


def integer_at(obj: Tree, path: str) -> Found:
    """The integer at a path (``.spec.replicas``) of a custom object."""
    found = _at(obj, path)
    return found if found.value is None or found.value.__class__ is int else _wrong(path, found.value, "int64")


def text_at(obj: Tree, path: str) -> Found:
    """The text at a path (``.status.selector``) of a custom object."""
    found = _at(obj, path)
    return found if found.value is None or isinstance(found.value, str) else _wrong(path, found.value, "string")


def _at(obj: Tree, path: str) -> Found:
    value: Json = obj
    for name in names_of(path):
        if value is None:
            return Found(None)
        if not isinstance(value, dict):
            return _wrong(path, value, "map[string]interface{}")
        value = value.get(name)
    return Found(value)


def names_of(path: str) -> list[str]:
    """The fields on the way of a path: ``spec`` and ``replicas`` of ``.spec.replicas``."""
    return path.removeprefix(".").split(".")


def _wrong(path: str, value: Json, wanted: str) -> Found:
    shown = value if isinstance(value, str) else orjson.dumps(value).decode()
    return Found(None, f".{'.'.join(names_of(path))} accessor error: {shown} is of the type "
                       f"{_GO_TYPES[value.__class__]}, expected {wanted}")


def rescaled(store: Store, name: str, change: Callable[[Tree], Tree]) -> Transform:
    """From a change of the Scale to a change of the object behind it.

    ``change`` gets the present Scale, with the managedFields of its replicas, and gives the wanted
    one, with those that it leads to; so the store has nothing to track any more. Raises Invalid for
    replicas below zero, Conflict for another uid, BadRequest for a custom object without replicas
    that gets none.
    """
    paths = store.kind.scale_paths
    where = scalefields.REPLICAS if paths is None else tuple(names_of(paths.replicas))

    def transform(old: Tree | None) -> Tree:
        resource = GroupResource(store.kind.group, f"{store.kind.plural}/scale")
        if old is None:
            raise errors.not_found(resource, name)
        live = old["metadata"].get("managedFields")
        present = _present(store, old)
        if owners := scalefields.to_scale(live, where):
            present["metadata"]["managedFields"] = owners
        scale = change(present)
        meta, replicas = scale.get("metadata") or {}, (scale.get("spec") or {}).get("replicas", 0)
        _check_replicas(paths, name, replicas)
        uid = old["metadata"]["uid"]
        if meta.get("uid", uid) != uid:
            raise preconditions.uid_conflict(store.kind, old["metadata"].get("namespace", ""), name, meta["uid"], uid)
        new_meta = dict(old["metadata"])
        if paths is None or meta.get("resourceVersion"):  # a custom kind wants a version in each update
            new_meta["resourceVersion"] = meta.get("resourceVersion", "")
        new_meta.pop("managedFields", None)
        if owners := scalefields.to_parent(live, meta.get("managedFields"), store.kind.api_version, where):
            new_meta["managedFields"] = owners
        return with_scale(store, {**old, "metadata": new_meta}, scale)

    return transform


def with_scale(store: Store, obj: Tree, scale: Tree) -> Tree:
    """The object with the replicas of a Scale."""
    paths, replicas = store.kind.scale_paths, (scale.get("spec") or {}).get("replicas", 0)
    if paths is not None:
        return _with_replicas(obj, paths.replicas, replicas)
    return {**obj, "spec": {**obj["spec"], "replicas": replicas}}


def _present(store: Store, old: Tree) -> Tree:
    paths = store.kind.scale_paths
    if paths is None:
        return _scale_of_built_in(store, old)
    scale, is_set = _scale_of_custom(paths, old)
    if not is_set:
        scale["spec"]["replicas"] = UNSET
    return scale


def _check_replicas(paths: ScalePaths | None, name: str, replicas: int) -> None:
    """What the Scale itself may want; of a custom object's replicas its own rules decide."""
    if paths is not None:
        if replicas == UNSET:
            raise errors.bad_request(f"the spec replicas field {field_errors.go_quote(paths.replicas)} cannot be empty")
    elif replicas < 0:
        raise errors.invalid(GroupKind("autoscaling", "Scale"), name, [
            field_errors.invalid("spec.replicas", replicas, "must be greater than or equal to 0")])


def _with_replicas(obj: Tree, path: str, replicas: int) -> Tree:
    """A copy of a custom object with so many replicas."""
    changed: Tree = orjson.loads(orjson.dumps(obj))
    *names, last = names_of(path)
    place = changed
    for number, name in enumerate(names, 1):
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise errors.raw(f"value cannot be set because .{'.'.join(names[:number])} is not a map[string]interface{{}}")
    place[last] = replicas
    return changed
