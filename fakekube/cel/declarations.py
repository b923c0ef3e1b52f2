"""What names mean: variables, constants, types and functions of an environment.

Upstream: checker/env.go, checker/scopes.go and common/decls.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fakekube.cel import types
from fakekube.cel.functions import Function, Overload
from fakekube.cel.tree import Declaration


@dataclass(frozen=True, slots=True)
class Candidate:
    """An overload, and the names of the type parameters in its signature."""

    overload: Overload
    parameters: tuple[str, ...]


@dataclass(slots=True)
class Declarations:
    """The names of an environment."""

    variables: dict[str, Declaration] = field(default_factory=dict)
    functions: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    named_types: dict[str, types.Type] = field(default_factory=dict)

    def add_functions(self, added: Iterable[Function]) -> None:
        """Add functions; overloads of one name are joined, later ones of the same id ignored."""
        for function in added:
            known = self.functions.get(function.name, ())
            taken = {candidate.overload.id for candidate in known}
            new = tuple(
                Candidate(overload, types.type_parameters(*overload.arguments, overload.result))
                for overload in function.overloads
                if overload.id not in taken
            )
            self.functions[function.name] = known + new

    def add_types(self, added: Mapping[str, types.Type]) -> None:
        """Add names of types."""
        self.named_types.update(added)

    def find(self, name: str) -> Declaration | None:
        """What an identifier of the outermost scope means: a variable, a constant or a type."""
        found = self.variables.get(name)
        if found is None and name in self.named_types:
            named = self.named_types[name]
            return Declaration(name, types.type_of_type(named), named, constant=True)
        return found
