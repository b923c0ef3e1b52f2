"""The type check: what each part of an expression gives, and which overloads it may call.

Upstream: checker/checker.go; the texts as in checker/errors.go.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fakekube.cel import errors, tree, types
from fakekube.cel.assignability import Substitutions, most_general
from fakekube.cel.declarations import Candidate, Declarations
from fakekube.cel.tree import Declaration
from fakekube.cel.types import Kind, Type


@dataclass(frozen=True, slots=True)
class Options:
    """What differs between environments.

    ``homogeneous_literals`` refuses lists and maps of mixed types; ``cross_type_comparisons`` lets
    numbers of different types be ordered; ``container`` is where names are looked up first.
    """

    homogeneous_literals: bool = False
    cross_type_comparisons: bool = True
    container: str = ""


def check(text: str, root: tree.Expression, declarations: Declarations, options: Options) -> None:
    """Complete the tree: the types of its parts, what names mean. Raises CompileError."""
    checker = _Checker(declarations, options)
    checker.check(root)
    if checker.count:
        raise errors.CompileError(text, checker.issues, checker.count)
    _settle(root, checker.substitutions)


def _settle(root: tree.Expression, substitutions: Substitutions) -> None:
    """Put in what type parameters turned out to be; those that stayed open are dyn."""
    pending, seen = [root], set()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        node.type = substitutions.substitute(node.type, open_to_dyn=True)
        pending.extend(node.children())


class _Checker:
    def __init__(self, declarations: Declarations, options: Options) -> None:
        self.declarations = declarations
        self.options = options
        self.substitutions = Substitutions()
        self.scopes: list[dict[str, Declaration]] = []
        self.issues: list[errors.Issue] = []
        self.count = 0
        self.checked: set[int] = set()
        names = options.container.split(".") if options.container else []
        self.prefixes = [".".join(names[:length]) + "." for length in range(len(names), 0, -1)] + [""]

    def report(self, node: tree.Expression | tree.Entry, message: str) -> None:
        """Note what is wrong; the check goes on."""
        self.count += 1
        if len(self.issues) < errors.MAX_REPORTED:
            self.issues.append(errors.Issue(message, node.offset))

    def check(self, node: tree.Expression) -> None:
        """Find the type of a node and its parts; a node that stands twice is checked once.

        Parts are checked first, so that only loops within loops need recursion.
        """
        if id(node) in self.checked:
            return
        for part in tree.bottom_up(node, self.parts):
            if id(part) not in self.checked:
                self.checked.add(id(part))
                _CHECKS[part.__class__](self, part)

    def parts(self, node: tree.Expression) -> Iterable[tree.Expression]:
        """What of a node is checked before it, whatever it turns out to be.

        A loop checks its parts itself, where its variables are known; so does what may be one name
        with dots, and a call whose target may be part of its own name. Nobody looks into an object
        whose type nobody declared.
        """
        if isinstance(node, tree.Comprehension) or id(node) in self.checked:
            return ()
        if isinstance(node, tree.CreateStruct) and self.named_type(node.name) is None:
            return ()
        if isinstance(node, tree.Select) and tree.qualified_name(node) is not None:
            return ()
        if isinstance(node, tree.Call) and node.target is not None and tree.qualified_name(node.target) is not None:
            return node.arguments
        return node.children()

    # names

    def candidates(self, name: str) -> list[str]:
        """Under which full names to look for a name."""
        return [name[1:]] if name.startswith(".") else [prefix + name for prefix in self.prefixes]

    def named_type(self, name: str) -> Type | None:
        """The type that objects of a name have; None when there is none."""
        for candidate in self.candidates(name):
            found = self.declarations.named_types.get(candidate)
            if found is not None:
                return found
        return None

    def local(self, name: str) -> Declaration | None:
        """What a loop or a binding around has given this name to."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def outermost(self, name: str) -> Declaration | None:
        """What the environment has given this name to."""
        for candidate in self.candidates(name):
            found = self.declarations.find(candidate)
            if found is not None:
                return found
        return None

    def function(self, name: str) -> tuple[str, tuple[Candidate, ...]] | None:
        """The full name of a function, and its overloads."""
        for candidate in self.candidates(name):
            found = self.declarations.functions.get(candidate)
            if found is not None:
                return candidate, found
        return None

    def undeclared(self, node: tree.Expression, name: str) -> None:
        """Note that nobody declared a name."""
        self.report(node, f"undeclared reference to '{name}' (in container '{self.options.container}')")
        node.type = types.ERROR

    def literal(self, node: tree.Literal) -> None:
        """The type of a constant."""
        node.type = _LITERALS[node.value.__class__.__name__]

    def ident(self, node: tree.Ident) -> None:
        """The type of what a name stands for."""
        found = self.local(node.name) or self.outermost(node.name)
        if found is None:
            self.undeclared(node, node.name)
            return
        node.declaration = found
        node.type = found.type

    def select(self, node: tree.Select) -> None:
        """The type of a field, unless it is all one name with dots.

        Of ``a.b.c`` the longest beginning that is a name counts; the rest are selections.
        """
        chain: list[tree.Select] = [node]
        while not self.named(chain[-1]):
            operand = chain[-1].operand
            if not isinstance(operand, tree.Select) or id(operand) in self.checked:
                break
            self.checked.add(id(operand))
            chain.append(operand)
        for part in reversed(chain):
            if part.declaration is None:
                field = self.field(part, part.operand, part.field, optional=False)
                part.type = types.BOOL if part.test_only else self.substitutions.substitute(field)

    def named(self, node: tree.Select) -> bool:
        """Whether a selection is the name of something, which is noted then."""
        name = tree.qualified_name(node)
        if name is None or self.local(name.split(".", 1)[0]) is not None:
            return False
        node.declaration = self.outermost(name)
        if node.declaration is not None:
            node.type = node.declaration.type
        return node.declaration is not None

    def field(self, node: tree.Expression, operand: tree.Expression, name: str, *, optional: bool) -> Type:
        """The type of a field of an operand, which is checked."""
        self.check(operand)
        target = self.substitutions.substitute(operand.type)
        if types.is_optional(target):
            target, optional = target.parameters[0], True
        found = types.DYN
        if target.kind is Kind.MAP:
            found = target.parameters[1]
        elif isinstance(target, types.ObjectType):
            declared = target.fields.get(name)
            if declared is None:
                unknown = f"undefined field '{name}'" if target.known else f"unexpected failed resolution of '{target.name}'"
                self.report(node, unknown)
                found = types.ERROR
            else:
                found = declared.type
        elif target.kind is Kind.TYPE_PARAMETER:
            self.substitutions.assignable(types.DYN, target)
        elif not types.is_dyn(target) and target.kind is not Kind.ERROR:
            self.report(node, f"type '{target}' does not support field selection")
        return types.optional_of(found) if optional else found

    # calls

    def call(self, node: tree.Call) -> None:
        """Which overloads the call may mean, and what they give."""
        if node.function == "_?._":
            self.optional_select(node)
            return
        if node.target is not None:
            prefix = tree.qualified_name(node.target)
            found = self.function(f"{prefix}.{node.function}") if prefix is not None else None
            if found is not None:
                node.target = None
            else:
                self.check(node.target)
                found = self.function(node.function)
        else:
            found = self.function(node.function)
        if found is None:
            self.undeclared(node, node.function)
            return
        node.function, candidates = found
        self.resolve(node, candidates)

    def optional_select(self, node: tree.Call) -> None:
        """``a.?b``: the second argument is the name of the field."""
        operand, name = node.arguments
        assert isinstance(name, tree.Literal)
        field = self.field(node, operand, name.value, optional=True)
        node.type = self.substitutions.substitute(field)

    def resolve(self, node: tree.Call, candidates: tuple[Candidate, ...]) -> None:
        """Find the overloads that take these arguments."""
        receiver = node.target is not None
        given = [argument.type for argument in node.children()]
        if node.function in {"_&&_", "_||_"}:
            self.logical(node, candidates)
            return
        result: Type | None = None
        chosen = []
        for candidate in candidates:
            overload = candidate.overload
            if overload.receiver is not receiver or (overload.cross_type and not self.options.cross_type_comparisons):
                continue
            if len(overload.arguments) != len(given):
                continue
            arguments, gives = self.instance(candidate)
            if not self.substitutions.assignable_all(given, arguments):
                continue
            chosen.append(overload)
            found = self.substitutions.substitute(gives)
            if result is None:
                result = found
            elif not types.is_dyn(result) and found != result:
                result = types.DYN
        if result is None:
            shown = [str(self.substitutions.substitute(argument, open_to_dyn=True)) for argument in given]
            signature = f"{shown[0]}.({', '.join(shown[1:])})" if receiver else f"({', '.join(shown)})"
            self.report(node, f"found no matching overload for '{node.function}' applied to '{signature}'")
            node.type = types.ERROR
            return
        node.overloads = tuple(chosen)
        node.type = result

    def instance(self, candidate: Candidate) -> tuple[list[Type], Type]:
        """The signature of an overload with type parameters of its own for this call."""
        overload = candidate.overload
        if not candidate.parameters:
            return list(overload.arguments), overload.result
        fresh = {name: self.substitutions.fresh() for name in candidate.parameters}
        return [_replace(argument, fresh) for argument in overload.arguments], _replace(overload.result, fresh)

    def logical(self, node: tree.Call, candidates: tuple[Candidate, ...]) -> None:
        """``&&`` and ``||`` take bools, any number of them."""
        node.type = types.BOOL
        node.overloads = (candidates[0].overload,)
        for argument in node.arguments:
            if not self.substitutions.assignable(argument.type, types.BOOL):
                self.report(argument, f"expected type 'bool' but found '{argument.type}'")
                node.type = types.ERROR

    # what expressions create

    def create_list(self, node: tree.CreateList) -> None:
        """The type that all elements have in common."""
        common: Type | None = None
        for index, element in enumerate(node.elements):
            given = self.unwrapped(element) if index in node.optional else element.type
            common = self.join(element, common, given)
        node.type = types.list_of(self.substitutions.fresh() if common is None else common)

    def create_map(self, node: tree.CreateMap) -> None:
        """The types that all keys and all values have in common."""
        common_key: Type | None = None
        common: Type | None = None
        for entry in node.entries:
            assert entry.key is not None
            common_key = self.join(entry.key, common_key, entry.key.type)
            given = self.unwrapped(entry.value) if entry.optional else entry.value.type
            common = self.join(entry.value, common, given)
        if common_key is None or common is None:
            common_key, common = self.substitutions.fresh(), self.substitutions.fresh()
        node.type = types.map_of(common_key, common)

    def create_struct(self, node: tree.CreateStruct) -> None:
        """An object of a named type, whose fields are checked."""
        declared = self.named_type(node.name)
        if declared is None:
            self.undeclared(node, node.name)
            return
        node.type = declared
        if not isinstance(declared, types.ObjectType):
            self.report(node, f"'{declared.name}' is not a message type")
            node.type = types.ERROR
        for entry in node.entries:
            field = declared.fields.get(entry.name) if isinstance(declared, types.ObjectType) else None
            expected = types.ERROR if field is None else field.type
            if field is None:
                self.report(entry, f"undefined field '{entry.name}'")
            given = self.unwrapped(entry.value) if entry.optional else entry.value.type
            if not self.substitutions.assignable(expected, given):
                shown = f"expected type of field '{entry.name}' is '{expected}' but provided type is '{given}'"
                self.report(entry, shown)

    def unwrapped(self, node: tree.Expression) -> Type:
        """The type in the optional that stands after a question mark."""
        given = node.type
        if types.is_optional(given):
            return given.parameters[0]
        if not types.is_dyn(given):
            self.report(node, f"expected type '{types.optional_of(given)}' but found '{given}'")
        return given

    def join(self, node: tree.Expression, previous: Type | None, current: Type) -> Type:
        """The more general of two types; of types that do not go together dyn, or an issue."""
        if previous is None:
            return current
        if self.substitutions.assignable(previous, current):
            return most_general(previous, current)
        if not self.options.homogeneous_literals:
            return types.DYN
        self.report(node, f"expected type '{previous}' but found '{current}'")
        return types.ERROR

    # loops

    def comprehension(self, node: tree.Comprehension) -> None:
        """The variables of a loop have the types of the range; the step that of the accumulator."""
        self.check(node.range)
        self.check(node.initial)
        range_type = self.substitutions.substitute(node.range.type)
        accumulated = node.initial.type
        self.scopes.append({node.accumulator: Declaration(node.accumulator, accumulated)})
        first, second = self.variables(node, range_type)
        scope = {node.variable: Declaration(node.variable, first)}
        if node.variable2 is not None:
            scope[node.variable2] = Declaration(node.variable2, second)
        self.scopes.append(scope)
        self.check(node.condition)
        self.check(node.step)
        self.substitutions.assignable(accumulated, node.step.type)  # macros see to it; parameters come to stand for something
        self.scopes.pop()
        self.check(node.result)
        self.scopes.pop()
        node.type = self.substitutions.substitute(node.result.type)

    def variables(self, node: tree.Comprehension, range_type: Type) -> tuple[Type, Type]:
        """The types of the first and the second variable of a loop."""
        if range_type.kind is Kind.LIST:
            element = range_type.parameters[0]
            return (element, element) if node.variable2 is None else (types.INT, element)
        if range_type.kind is Kind.MAP:
            return range_type.parameters[0], range_type.parameters[1]
        if types.is_dyn(range_type) or range_type.kind in {Kind.ERROR, Kind.TYPE_PARAMETER}:
            self.substitutions.assignable(types.DYN, range_type)
            return types.DYN, types.DYN
        message = f"expression of type '{range_type}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self.report(node.range, message)
        return types.ERROR, types.ERROR


def _replace(of: Type, parameters: dict[str, Type]) -> Type:
    """The type with its parameters replaced."""
    if of.kind is Kind.TYPE_PARAMETER:
        return parameters.get(of.name, of)
    if not of.parameters:
        return of
    return Type(of.kind, of.name, tuple(_replace(inner, parameters) for inner in of.parameters), of.wrapper)


_LITERALS = {
    "NoneType": types.NULL,
    "bool": types.BOOL,
    "int": types.INT,
    "Uint": types.UINT,
    "float": types.DOUBLE,
    "str": types.STRING,
    "bytes": types.BYTES,
}
_CHECKS: dict[type, Callable[..., None]] = {
    tree.Literal: _Checker.literal,
    tree.Ident: _Checker.ident,
    tree.Select: _Checker.select,
    tree.Call: _Checker.call,
    tree.CreateList: _Checker.create_list,
    tree.CreateMap: _Checker.create_map,
    tree.CreateStruct: _Checker.create_struct,
    tree.Comprehension: _Checker.comprehension,
}
