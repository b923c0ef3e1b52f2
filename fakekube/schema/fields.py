"""Definitions of a kind that no release of Kubernetes has, made of the fields that its declaration
names.

The notation: a text is a scalar or the name of a definition (``string``, ``integer int32``,
``io.k8s.api.core.v1.PodSpec``), a dict is an object with these fields, a list of one is a list, a
dict with the one key ``*`` is a map. All fields are optional, and lists are atomic. What Go would
say of such a struct is made up, since decoding asks for it: without it, nothing would be told of
unknown fields and wrong types. Upstream: the types.go of a group, and code-generator.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery.gvk import GroupVersionKind

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
HEAD = {"kind": "string", "apiVersion": "string"}
Node = str | Mapping[str, Any] | list[Any]
Raw = dict[str, Any]
_GO = {"string": "string", "integer": "int64", "integer int32": "int32", "integer int64": "int64", "number": "float64",
       "number double": "float64", "boolean": "bool"}  # fmt: skip


def definitions_for(gvk: GroupVersionKind, fields: Mapping[str, Node]) -> dict[str, Raw]:
    """The definitions of a kind, of its list and of all objects in it, in the form of a table's
    rows.

    They are named as that of a custom resource is upstream: the group backwards, version, kind.
    Raises ValueError.
    """
    package = ".".join([*reversed(gvk.group.split(".")), gvk.version])
    made = _Made(package)
    made.struct(gvk.kind, {**HEAD, "metadata": f"{META}.ObjectMeta", **fields}, gvk)
    of_list = gvk._replace(kind=f"{gvk.kind}List")
    made.struct(of_list.kind, {**HEAD, "metadata": f"{META}.ListMeta", "items": [f"{package}.{gvk.kind}"]}, of_list)
    return made.definitions


class _Made:
    def __init__(self, package: str) -> None:
        self.definitions: dict[str, Raw] = {}
        self._package = package

    def struct(self, name: str, fields: Mapping[str, Node], gvk: GroupVersionKind | None = None) -> str:
        """Add a definition. Its name."""
        version = self._package.rpartition(".")[2]
        properties, go = Raw(), list[list[str]]()
        for field, node in fields.items():
            properties[field], type_text = self._node(node, f"{name}{field[:1].upper()}{field[1:]}")
            go.append([field, type_text, _flags(field, node, whole=gvk is not None), "TypeMeta" if gvk and field in HEAD else ""])
        raw: Raw = {"type": "object", "go": {"fields": go, "name": name, "package": version}, "properties": properties}
        if gvk is not None:
            raw["kinds"] = [list(gvk)]
        full = f"{self._package}.{name}"
        self.definitions[full] = raw
        return full

    def _node(self, node: Node, name: str) -> tuple[str | Raw, str]:
        """The form of a field in a table, and Go's type.

        ``name`` is for an object that has none yet.
        """
        match node:
            case str() if node in _GO:
                return node, _GO[node]
            case str() if "." in node:
                return node, ".".join(node.split(".")[-2:])
            case [item]:
                inner, type_text = self._node(item, name)
                return {"type": "array", "items": inner}, f"[]{type_text}"
            case {"*": value, **others} if not others:
                inner, type_text = self._node(value, name)
                return {"type": "object", "additional": inner}, f"map[string]{type_text}"
            case Mapping() if "*" not in node:
                return self.struct(name, node), f"{self._package.rpartition('.')[2]}.{name}"
        raise ValueError(f"{name}: {node!r} is no field: write {', '.join(map(repr, _GO))}, the name of a definition, "
                         '{"name": FIELD} for an object, [FIELD] for a list, or {"*": FIELD} for a map')


def _flags(field: str, node: Node, *, whole: bool) -> str:
    """How Go marks a field, p for a pointer and e for omitempty, of a whole object or of a part of
    one.
    """
    if whole and field == "items":
        return ""
    return "e" if whole or isinstance(node, list) or (isinstance(node, Mapping) and "*" in node) else "pe"
