"""An object as a controller in Go writes it that has read it into its structs.

Webhooks and controllers of upstream decode what they are given and encode it again. What comes out
has the fields that Go always writes, and amounts in their canonical form. Two objects are the same
to them where the structs are: a text that is empty is one that is not there.
The structs of a kind stand in a table, which ``tools/addon_tables.py`` makes and describes.
Upstream: encoding/json, apimachinery/pkg/api/equality. Left out: fields that a struct does not
have, which stay as they are.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fakekube.apimachinery import quantity
from fakekube.apimachinery.gotext import value_text

_ZEROS: Mapping[str, Any] = {"s": "", "i": 0, "f": 0, "b": False, "q": "0", "v": 0}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "s": (str,), "i": (int,), "f": (int, float), "b": (bool,), "q": (str, int, float), "v": (str, int)}
_GO: Mapping[str, str] = {
    "s": "string", "i": "int32", "f": "float64", "b": "bool", "q": "resource.Quantity", "v": "intstr.IntOrString"}


class CannotDecode(ValueError):
    """A value that Go cannot read into a struct; the text is that of encoding/json."""


class _Field(NamedTuple):
    type: str
    is_pointer: bool
    is_always_written: bool


class Structs:
    """The structs of a table, by their names in it: ``core.Container``."""

    def __init__(self, table: str, versions: Mapping[str, str] | None = None) -> None:
        """``versions`` are the names of Go's packages that are not ``v1``, by their names in the
        table.
        """
        self._versions = versions or {}
        self._fields: dict[str, dict[str, _Field]] = {}
        for line in table.splitlines():
            if not line.startswith("#"):
                name, *fields = line.split()
                self._fields[name] = dict(map(_field, fields))

    def encoded(self, value: Any, type_: str, *, struct: str = "", path: str = "") -> Any:
        """A value of a type as Go writes it, a new tree.

        ``struct`` and ``path`` say where it stands. Raises CannotDecode for one that is not of the
        type.
        """
        return self._encoded(value, type_, struct, path)

    def default_spec(self, obj: dict[str, Any], type_: str, struct: str, fill: Callable[[dict[str, Any]], None]) -> None:
        """Let ``fill`` complete an object's spec as Go has read it; the spec of one in which
        nothing is missing stays as it was written.

        Raises CannotDecode for a spec that is none.
        """
        read = self.encoded(obj.get("spec"), type_, struct=struct, path="spec")
        spec = self.encoded(read, type_)
        fill(spec)
        if spec != read:
            obj["spec"] = spec

    def shown(self, value: Any, type_: str) -> Any:
        """A value of a type as Go's encoder shows it: fields in their order, without those that it
        leaves out.
        """
        return self._shown(self._encoded(value, type_, "", ""), type_)

    def _shown(self, value: Any, type_: str) -> Any:
        if value is None:
            return None
        if type_.startswith("[]"):
            return [self._shown(item, type_[2:]) for item in value]
        if type_.startswith("{}"):
            return {key: self._shown(value[key], type_[2:]) for key in sorted(value)}
        if type_ not in self._fields:
            return value
        return {
            key: self._shown(value[key], field.type) for key, field in self._fields[type_].items()
            if key in value and (field.is_always_written or not _is_empty(value[key], is_pointer=field.is_pointer))}

    def compared(self, value: Any, type_: str) -> Any:
        """A value of a type in the one form that it has in common with all that Go takes for the
        same.
        """
        if type_.startswith("[]"):
            return [self.compared(item, type_[2:]) for item in value or ()]
        if type_.startswith("{}"):
            return {key: self.compared(item, type_[2:]) for key, item in (value or {}).items()}
        if type_ == "q" and value is not None:
            return _amount(value)
        fields = self._fields.get(type_)
        if fields is None or not isinstance(value, dict):
            return value
        found = {}
        for key, item in value.items():
            field = fields.get(key)
            if field is None:
                told = item
            else:
                told = self.compared(item, field.type)
                if not field.is_pointer and (told in ([], {}) or told == _ZEROS.get(field.type, ())):
                    continue
            if told is not None:
                found[key] = told
        return found

    def _encoded(self, value: Any, type_: str, struct: str, path: str) -> Any:
        if value is None:
            return self._zero(type_)
        kinds = _TYPES.get(type_)
        if kinds is not None:
            if not isinstance(value, kinds) or (value.__class__ is bool and type_ != "b"):
                raise self._cannot(value, type_, struct, path)
            return _amount(value) if type_ == "q" else value
        if type_[:2] == "[]":
            return [self._encoded(item, type_[2:], struct, path) for item in self._checked(value, list, type_, struct, path)]
        if type_[:2] == "{}":
            found = self._checked(value, dict, type_, struct, path)
            return {key: self._encoded(item, type_[2:], struct, path) for key, item in found.items()}
        fields = self._fields.get(type_)
        if fields is None:
            return value
        found, name = dict(self._checked(value, dict, type_, struct, path)), type_.rpartition(".")[2]
        for key, field in fields.items():
            if found.get(key) is not None:
                found[key] = self._encoded(found[key], field.type, name, f"{path}.{key}" if path else key)
            elif field.is_always_written:
                found[key] = None if field.is_pointer else self._zero(field.type)
        return found

    def _checked(self, value: Any, wanted: type, type_: str, struct: str, path: str) -> Any:
        if not isinstance(value, wanted):
            raise self._cannot(value, type_, struct, path)
        return value

    def _cannot(self, value: Any, type_: str, struct: str, path: str) -> CannotDecode:
        names = {str: "string", bool: "bool", list: "array", dict: "object"}
        told = names.get(type(value), "number")
        if told == "number" and type_ == "i":
            told = f"number {value_text(value)}"
        where = f"Go struct field {struct}.{path}" if path else "Go value"
        return CannotDecode(f"json: cannot unmarshal {told} into {where} of type {self._go_type(type_)}")

    def _go_type(self, type_: str) -> str:
        if type_[:2] in ("[]", "{}"):
            return f"{type_[:2].replace('{}', 'map[string]')}{self._go_type(type_[2:])}"
        package, dot, name = type_.partition(".")
        return f"{self._versions.get(package, 'v1')}.{name}" if dot else _GO.get(type_, type_)

    def _zero(self, type_: str) -> Any:
        if type_ in self._fields:
            return self._encoded({}, type_, "", "")
        return _ZEROS.get(type_)


def _field(text: str) -> tuple[str, _Field]:
    name, _, rest = text.partition(":")
    type_ = rest.lstrip("*!")
    marks = rest[:len(rest) - len(type_)]
    return name, _Field(type_, "*" in marks, "!" in marks)


def _is_empty(value: Any, *, is_pointer: bool) -> bool:
    return value is None or (not is_pointer and not value)


def _amount(value: Any) -> Any:
    try:
        return quantity.canonical(value)
    except ValueError as error:
        raise CannotDecode(str(error)) from error
