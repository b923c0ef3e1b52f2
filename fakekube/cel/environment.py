"""The public way in: an environment compiles texts to programs, a program gives values.

Upstream: cel/env.go and cel/program.go.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from fakekube.cel import checker, costs, errors, estimate, frames, macros, parser, planner, spending, tree, types, validators
from fakekube.cel.declarations import Declarations
from fakekube.cel.decltypes import DeclType
from fakekube.cel.libraries import Library
from fakekube.cel.standard import library as standard
from fakekube.cel.tree import Declaration
from fakekube.util.turns import Turn

DEFAULT_COST_LIMIT = 10_000_000
"""What Kubernetes lets all expressions on one object cost together: about a second."""


class Environment:
    """What expressions may name: variables with types, functions, macros, types.

    The standard library of CEL is always part of it; ``libraries`` adds to it. An environment is
    immutable; compile as many texts with it as there are.
    """

    def __init__(
        self,
        variables: Mapping[str, types.Type | DeclType] | None = None,
        *,
        libraries: Iterable[Library] = (),
        named_types: Mapping[str, types.Type] | None = None,
        options: checker.Options | None = None,
    ) -> None:
        """``variables`` have types, or what schemas declare (``decltypes.of_schema``).

        ``named_types`` are types that expressions may name, above all to create objects.
        """
        self.options = options or checker.Options()
        self.declarations = Declarations()
        self.macros: dict[tuple[str, int, bool], macros.Macro] = {}
        self.optional_syntax = False
        self.validators: tuple[validators.Validator, ...] = ()
        for library in (standard.library(), *libraries):
            self.declarations.add_functions(library.functions)
            self.declarations.add_types(library.named_types)
            self.macros |= {(macro.name, macro.arguments, macro.receiver): macro for macro in library.macros}
            self.optional_syntax = self.optional_syntax or library.optional_syntax
            self.validators += library.validators
        self.declarations.add_types(named_types or {})
        self.declarations.variables = {name: _declaration(name, of) for name, of in (variables or {}).items()}

    def extended(
        self, variables: Mapping[str, types.Type | DeclType], named_types: Mapping[str, types.Type] | None = None
    ) -> "Environment":
        """An environment with more variables and named types; cheap."""
        extended = Environment.__new__(Environment)
        extended.options = self.options
        extended.macros = self.macros
        extended.optional_syntax = self.optional_syntax
        extended.validators = self.validators
        declared = self.declarations.variables | {name: _declaration(name, of) for name, of in variables.items()}
        named = self.declarations.named_types | dict(named_types or {})
        extended.declarations = Declarations(declared, self.declarations.functions, named)
        return extended

    def compile(self, text: str, layout: frames.Layout | None = None) -> "Program":
        """The program of a text.

        ``layout`` is that of all programs of this environment that are run on the same values one
        after the other, if there are several.

        Raises CompileError, and ProgramError for a constant that has no value.
        """
        text = _valid(text)
        root = parser.parse(text, self.macros, optional_syntax=self.optional_syntax)
        try:
            checker.check(text, root, self.declarations, self.options)
            self._validate(text, root)
            return Program(text, root, self.declarations, layout)
        except RecursionError:
            message = f"expression recursion limit exceeded: {parser.MAX_DEPTH}"
            raise errors.CompileError(text, [errors.Issue(message, -1)]) from None

    def _validate(self, text: str, root: tree.Expression) -> None:
        """Raise what is found in a checked expression: issues before what shows in its program."""
        parts = validators.nodes(root) if self.validators else []
        issues: list[errors.Issue] = []
        refused: errors.ProgramError | None = None
        for validator in self.validators:
            try:
                issues += validator(parts)
            except errors.ProgramError as error:
                refused = refused or errors.ProgramError(str(error), root.type)
        if issues:
            raise errors.CompileError(text, issues)
        if refused is not None:
            raise refused


def _valid(text: str) -> str:
    """A text with U+FFFD in place of what no UTF-8 holds, as Go reads it."""
    if text.isascii():
        return text
    return text.encode(errors="surrogatepass").decode(errors="replace")


def _declaration(name: str, of: types.Type | DeclType) -> Declaration:
    if isinstance(of, DeclType):
        return Declaration(name, of.type, decl=of)
    return Declaration(name, of)


class Program:
    """An expression that is ready to run; immutable.

    ``type`` is the type of its value, ``root`` the checked tree.
    """

    def __init__(
        self, text: str, root: tree.Expression, declarations: Declarations, layout: frames.Layout | None = None,
    ) -> None:
        self.text = text
        self._declarations = declarations
        self.root = root
        self.type = root.type
        planned = planner.Planner(layout)
        try:
            plan = planned.plan(root)
        except errors.ProgramError as refused:
            raise errors.ProgramError(str(refused), root.type) from None
        self._code, self._cost = plan.code, plan.cost
        self._layout = planned.layout
        self._names = planned.names

    def estimate(self) -> costs.CostEstimate:
        """The least and the most that an evaluation may cost, as far as sizes are declared."""
        declared = {name: found.decl for name, found in self._declarations.variables.items() if found.decl is not None}
        return estimate.estimate(self.root, declared)

    def uses(self, name: str) -> bool:
        """Whether the expression reads a variable."""
        return name in self._names

    def evaluate(self, variables: Mapping[str, Any], *, cost_limit: int = DEFAULT_COST_LIMIT) -> Any:
        """The value. Raises EvaluationError, and CostExceeded if it costs more than the limit."""
        return self.run(variables, cost_limit)[0]

    def run(
        self, variables: Mapping[str, Any], cost_limit: int = DEFAULT_COST_LIMIT, turn: Turn | None = None,
    ) -> tuple[Any, int]:
        """The value, and what it cost. Raises EvaluationError and CostExceeded.

        With a ``turn`` it ends that now and then: TakesLong is raised in the first.
        """
        return self.run_on(frames.Given(variables), cost_limit, turn)

    def run_on(self, given: frames.Given, cost_limit: int, turn: Turn | None = None) -> tuple[Any, int]:
        """The same on values that programs before it may have been run on.

        What they share is computed once, and costs each of them what it does.
        """
        left = cost_limit - self._cost
        if left < 0:
            raise errors.CostExceeded
        frame = given.frame if given.layout is self._layout else given.lay_out(self._layout)
        spending.begin(frame, left, cost_limit * spending.WORK_PER_COST, turn)
        if given.lacks_some:
            for name, index in self._names.items():
                if frame[index] is frames.ABSENT:
                    raise errors.EvaluationError(f"no such attribute(s): {name}")
        try:
            value = self._code(frame)
        except errors.CelError:
            raise
        except (RecursionError, TypeError, AttributeError, ValueError, ArithmeticError, LookupError):
            # a value that is not what its declaration says it is
            raise errors.no_such_overload() from None
        finally:
            left = spending.finish(frame, turn)
        if left < 0:
            raise errors.CostExceeded
        return value, cost_limit - left
