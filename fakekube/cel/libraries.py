"""Libraries, which environments are made of: functions, macros and types that belong together.

Upstream: cel-go's cel/library.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fakekube.cel.functions import Function
from fakekube.cel.macros import Macro
from fakekube.cel.types import Type
from fakekube.cel.validators import Validator


@dataclass(frozen=True, slots=True)
class Library:
    """What an environment may be made of: functions, macros and names of types and constants.

    Two libraries may bring overloads of one function. ``named_types`` maps the names of types, as
    identifiers, to them. ``optional_syntax`` switches ``a.?b``, ``a[?b]`` and ``{?a: b}`` on.
    ``validators`` look at trees whose types are right.
    """

    name: str
    functions: tuple[Function, ...] = ()
    macros: tuple[Macro, ...] = ()
    named_types: Mapping[str, Type] = field(default_factory=dict)
    optional_syntax: bool = False
    validators: tuple[Validator, ...] = ()
