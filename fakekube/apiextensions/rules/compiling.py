"""The rules of one node of a schema, compiled.

A rule that does not compile says why in upstream's words: its definition is refused with them.
Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fakekube.apiextensions.validation.paths import BadPath, looked_up
from fakekube.apimachinery.types import Tree
from fakekube.cel import decltypes, types
from fakekube.cel.decltypes import MAX_REQUEST_SIZE, DeclType
from fakekube.cel.environment import Environment, Program
from fakekube.cel.errors import CompileError, ProgramError
from fakekube.cel.frames import Layout
from fakekube.cel.library.kubernetes import environment

SELF, OLD_SELF = "self", "oldSelf"
NOT_A_BOOL = "cel expression must evaluate to a bool"
NOT_A_STRING = "messageExpression must evaluate to a string"


class CompiledRule(NamedTuple):
    """A rule: its program, None if the rule is empty or ``error`` says why there is none.

    ``takes_optional`` says that it reads oldSelf as an optional, and runs where there is no old
    value, too. ``path`` is where its errors are told, below the node. ``message`` computes what is
    told, None if nothing does or ``message_error`` says why it cannot.
    """

    rule: Tree
    program: Program | None = None
    error: str = ""
    uses_old_self: bool = False
    takes_optional: bool = False
    message: Program | None = None
    message_error: str = ""
    path: str = ""

    @property
    def told(self) -> str:
        """What names the rule in errors: its message, or else its text."""
        text: str = self.rule.get("message") or self.rule["rule"]
        return text.strip()

    @property
    def reads_old(self) -> bool:
        """Whether the rule, or what computes its message, reads the old value."""
        return self.uses_old_self or (self.message is not None and self.message.uses(OLD_SELF))

    def cost(self) -> int:
        """The most that one evaluation may cost, as far as sizes are declared."""
        return self.program.estimate().max if self.program is not None else 0

    def message_cost(self) -> int | None:
        """The most that one evaluation of the message may cost; None when nothing computes it."""
        return self.message.estimate().max if self.message is not None else None


def compile_rules(
    rules: Sequence[Tree], decl: DeclType, schema: Tree, minor: int, *, stored: Callable[[str], bool],
) -> list[CompiledRule]:
    """The rules of a node, in their order.

    ``decl`` is what the node declares, ``schema`` the node itself, which paths of rules lead into.
    ``minor`` is that of the release; ``stored`` says of an expression whether it was there before:
    a new one may not use what the release before did not know.
    """
    optional = decltypes.optional_of(decl)
    known: dict[tuple[bool, bool], _Basis] = {}

    def basis_of(text: str, rule: Tree) -> _Basis:
        key = is_stored, takes_optional = stored(text), bool(rule.get("optionalOldSelf"))
        if key not in known:
            variables = {SELF: decl, OLD_SELF: optional if takes_optional else decl}
            known[key] = _Basis(environment(minor, stored=is_stored).extended(variables), Layout() if len(rules) > 1 else None)
        return known[key]

    return [_compiled(rule, schema, basis_of) for rule in rules]


class _Basis(NamedTuple):
    """What rules of a node are compiled with, and the layout that they share.

    A rule that is alone has nobody to share it with.
    """

    environment: Environment
    layout: Layout | None


def undescribed(schema: Tree) -> Tree:
    """A schema without the descriptions of its nodes, which no rule depends on."""
    bare = {name: value for name, value in schema.items() if name != "description"}
    if properties := bare.get("properties"):
        bare["properties"] = {name: undescribed(below) for name, below in properties.items()}
    for name in ("items", "additionalProperties"):
        if isinstance(bare.get(name), dict):
            bare[name] = undescribed(bare[name])
    return bare


def max_cardinality(decl: DeclType) -> int:
    """How often values of the node can be in an object if nothing bounds the lists around it."""
    return MAX_REQUEST_SIZE // (decl.min_size + 1)


def _compiled(rule: Tree, schema: Tree, basis_of: Callable[[str, Tree], _Basis]) -> CompiledRule:
    text: str = rule.get("rule", "")
    if not text.strip():
        return CompiledRule(rule)
    try:
        basis = basis_of(text, rule)
        program = basis.environment.compile(text, basis.layout)
    except CompileError as error:
        return CompiledRule(rule, error=f"compilation failed: {error}")
    except ProgramError as error:
        return CompiledRule(rule, error=f"program instantiation failed: {error}" if error.type == types.BOOL else NOT_A_BOOL)
    if program.type != types.BOOL:
        return CompiledRule(rule, error=NOT_A_BOOL)
    uses_old_self = program.uses(OLD_SELF)
    message, wrong = _message(rule, basis_of)
    compiled = CompiledRule(
        rule, program, uses_old_self=uses_old_self, takes_optional=uses_old_self and bool(rule.get("optionalOldSelf")))
    if wrong:
        return compiled._replace(message_error=wrong)
    return compiled._replace(message=message, path=_path(rule, schema))


def _message(rule: Tree, basis_of: Callable[[str, Tree], _Basis]) -> tuple[Program | None, str]:
    text: str = rule.get("messageExpression", "")
    if not text:
        return None, ""
    try:
        program = basis_of(text, rule).environment.compile(text)
    except CompileError as error:
        return None, f"messageExpression compilation failed: {error}"
    except ProgramError as error:
        return None, f"messageExpression instantiation failed: {error}" if error.type == types.STRING else NOT_A_STRING
    return (program, "") if program.type == types.STRING else (None, NOT_A_STRING)


def _path(rule: Tree, schema: Tree) -> str:
    """The path of a rule as errors show it: ``a.b``, ``m[key]``."""
    text = rule.get("fieldPath", "")
    if not text:
        return ""
    try:
        names, _ = looked_up(text, schema)
    except BadPath:
        return ""
    path, node = "", schema
    for name in names:
        fields = node.get("properties")
        path += f".{name}" if fields else f"[{name}]"
        node = fields[name] if fields else node["additionalProperties"]
    return path.removeprefix(".")
