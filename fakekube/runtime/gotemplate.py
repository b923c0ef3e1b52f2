"""A pod template as Go prints the structure: the text that upstream hashes, so that templates have
upstream's hashes here.

Structs, fields and types are those of a release, from ``template_types.txt`` beside this file.
Upstream: k8s.io/utils/dump (ForHash) and what it calls. Left out: amounts that upstream keeps as
big numbers, such as ``1Pi`` and 19 digits.
"""

import pkgutil
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util.memory import memoized

ROOT = "v1.PodTemplateSpec"
NUMBERS = ("int32", "int64", "uint32", "uint64", "int")
NO_TIME = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"

_AMOUNT = re.compile(r"(-?)(\d+)(?:([numkMGTPE]?)|([KMGTPE]i)|[eE]([-+]?\d+))")
_TENS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_TWOS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_TEN_DIGITS, _TWO_DIGITS = 18, 15  # of which any number fits into 64 bits


class Field(NamedTuple):
    """A field of a struct: Go's name, the name in JSON (empty: embedded), and the type as
    reflection prints it.
    """

    name: str
    key: str
    type: str


Types = Mapping[str, tuple[Field, ...] | str]
"""The fields of structs, and the types of the values of maps that have a name."""


def printed(template: ReadOnlyTree, release: str) -> str:
    """What Go prints of a pod template of a release such as ``1.37``."""
    return _printed(ROOT, template, _types(int(release.partition(".")[2])))


def _printed(kind: str, value: Any, types: Types, *, typed: bool = True) -> str:
    if kind[0] == "*":
        head = f"({kind})" if typed else "<*>"
        return head + ("<nil>" if value is None else _printed(kind[1:], value, types, typed=False))
    return (f"({kind})" if typed else "") + _content(kind, value, types)


def _content(kind: str, value: Any, types: Types) -> str:
    if kind.startswith("[]"):
        return f"[{' '.join(_printed(kind[2:], each, types, typed=False) for each in value)}]" if value else "<nil>"
    known = types.get(kind)
    if isinstance(known, str) or kind.startswith("map["):
        return _map(known if isinstance(known, str) else kind.partition("]")[2], value, types)
    if known is not None:
        tree = value or {}
        return "{" + " ".join(
            f"{field.name}:{_printed(field.type, tree.get(field.key) if field.key else tree, types)}" for field in known) + "}"
    if kind == "resource.Quantity":
        return _amount(value)
    if kind == "intstr.IntOrString":
        text, number = (value, 0) if isinstance(value, str) else ("", value or 0)
        return f"{{Type:(intstr.Type){int(isinstance(value, str))} IntVal:(int32){number} StrVal:(string){text}}}"
    if kind == "v1.Time":
        return NO_TIME
    if kind == "bool":
        return "true" if value else "false"
    return str(value or 0) if kind in NUMBERS else value or ""


def _map(kind: str, value: Any, types: Types) -> str:
    if not value:
        return "<nil>"
    return f"map[{' '.join(f'{key}:{_printed(kind, value[key], types, typed=False)}' for key in sorted(value))}]"


def _amount(text: str | None) -> str:
    if text in (None, "0"):
        return _quantity(0, 0, "0", "DecimalSI")
    match = _AMOUNT.fullmatch(str(text))
    assert match is not None, f"{text} is an amount in its canonical form"
    sign, digits, tens, twos, exponent = match.groups()
    number = int(digits)
    if twos:
        power = _TWOS[twos]
        small = _TWO_DIGITS - len(digits) - power * 3 // 10 - 1 >= 0
        value, scale, form, kept = number << power, 0, "BinarySI", number & 7 != 0
    else:
        scale, small = (_TENS[tens] if exponent is None else int(exponent)), len(digits) <= _TEN_DIGITS
        value, form = number, "DecimalSI" if exponent is None else "DecimalExponent"
        kept = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    if not small:
        return f"{{{text}}}"
    return _quantity(-value if sign else value, scale, str(text) if kept else "", form)


def _quantity(value: int, scale: int, text: str, form: str) -> str:
    return (
        f"{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} "
        f"d:(resource.infDecAmount){{Dec:(*inf.Dec)<nil>}} s:(string){text} Format:(resource.Format){form}}}")


@memoized(4)
def _types(minor: int) -> Types:
    data = pkgutil.get_data(__package__, "template_types.txt")
    assert data is not None, "the package has its table"
    found: dict[str, tuple[Field, ...] | str] = {}
    _, *lines = data.decode("ascii").splitlines()
    for line in lines:
        since, name, *fields = line.split()
        if int(since) > minor:
            break
        found[name] = fields[0][4:] if fields[0].startswith("map:") else tuple(map(_field, fields))
    return found


def _field(text: str) -> Field:
    name, _, kind = text.partition(":")
    name, equals, key = name.partition("=")
    return Field(name, key if equals else name[0].lower() + name[1:], kind)
