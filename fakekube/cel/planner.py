"""From a checked tree to closures.

A frame is a list: the budget that is left at index 0, variables after it. A closure takes a frame
and returns a value or raises. What a part costs in any case is added up when it is planned; only
what depends on values is counted while it runs.

Upstream: interpreter/planner.go, interpretable.go and runtimecost.go.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from fakekube.cel import costs, folds, operators, tree, types
from fakekube.cel.decltypes import DeclType
from fakekube.cel.types import Kind

Code = Callable[[list[Any]], Any]


class Plan(NamedTuple):
    """How a part is computed, and what it costs whenever it is computed without error.

    ``decl`` is set if the code gives what stands in a tree, which has to be converted before
    anything but a selection uses it.
    """

    code: Code
    cost: int
    decl: DeclType | None = None


class Planner:
    """Plans the parts of one expression; ``names`` tells which variable stands at which index."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.size = 1
        self._scopes: list[dict[str, tuple[int, DeclType | None]]] = []
        self._planned: dict[int, Plan] = {}

    def plan(self, node: tree.Expression) -> Plan:
        """The plan of a part that gives a value of CEL."""
        raw = self.raw(node)
        if raw.decl is None:
            return raw
        assert raw.decl.convert is not None
        return Plan(operators.converted(raw.code, raw.decl.convert), raw.cost)

    def raw(self, node: tree.Expression) -> Plan:
        """The plan of a part, whose value may have to be converted.

        One that stands twice in the tree is planned once.
        """
        planned = self._planned.get(id(node))
        if planned is None:
            planned = self._planned[id(node)] = _PLANS[node.__class__](self, node)
        return planned

    def slot(self) -> int:
        """An index of the frame that is free."""
        self.size += 1
        return self.size - 1

    def literal(self, node: tree.Literal) -> Plan:
        """A constant costs nothing."""
        return Plan(operators.constant(node.value), 0)

    def ident(self, node: tree.Ident | tree.Select) -> Plan:
        """A variable, or a constant that the environment declares."""
        declaration = node.declaration
        assert declaration is not None
        if declaration.constant:
            return Plan(operators.constant(declaration.value), 0)
        for scope in reversed(self._scopes):
            if isinstance(node, tree.Ident) and node.name in scope:
                index, decl = scope[node.name]
                return Plan(operators.variable(index), costs.SELECT_AND_IDENT, decl)
        found = self.names.get(declaration.name)
        if found is None:
            found = self.names[declaration.name] = self.slot()
        return Plan(operators.variable(found), costs.SELECT_AND_IDENT, _converting(declaration.decl))

    def select(self, node: tree.Select) -> Plan:
        """A field, or whether it is there."""
        if node.declaration is not None:
            return self.ident(node)
        operand = self.raw(node.operand)
        of = node.operand.type
        key = of.fields[node.field].key if isinstance(of, types.ObjectType) else node.field
        if node.test_only:
            return Plan(operators.has_field(operand.code, key), operand.cost)
        if of.kind is Kind.STRUCT or of.kind is Kind.MAP:
            cost = operand.cost + costs.SELECT_AND_IDENT
            return Plan(operators.field(operand.code, key, node.field), cost, _below(operand.decl, node.field))
        return Plan(operators.dynamic_field(operand.code, key), operand.cost + costs.SELECT_AND_IDENT)

    def call(self, node: tree.Call) -> Plan:
        """Operators that are special, and functions."""
        special = _SPECIAL.get(node.function)
        if special is not None:
            return special(self, node)
        arguments = [self.plan(argument) for argument in node.children()]
        cost = sum(argument.cost for argument in arguments)
        codes = [argument.code for argument in arguments]
        declared = [argument.type for argument in node.children()]
        if len(node.overloads) == 1 and not any(map(types.is_dyn, declared)):
            overload = node.overloads[0]
            if overload.cost is None:
                return Plan(operators.call(overload.implementation, codes), cost + 1)
            return Plan(operators.costed_call(overload.implementation, codes, overload.cost), cost)
        return Plan(operators.dispatched_call(node.overloads, codes), cost)

    def logical(self, node: tree.Call) -> Plan:
        """``&&`` and ``||``: the first part is always computed, others only as long as it takes."""
        terms = [self.plan(argument) for argument in node.arguments]
        decisive = node.function == "_||_"
        code = operators.logical([term.code for term in terms], [term.cost for term in terms], decisive=decisive)
        return Plan(code, terms[0].cost)

    def conditional(self, node: tree.Call) -> Plan:
        """``a ? b : c``."""
        condition, then, otherwise = (self.plan(argument) for argument in node.arguments)
        least = min(then.cost, otherwise.cost)
        code = operators.conditional(condition.code, then.code, otherwise.code, then.cost - least, otherwise.cost - least)
        return Plan(code, condition.cost + least)

    def not_strictly_false(self, node: tree.Call) -> Plan:
        """What decides whether a loop goes on: an error does not end it."""
        argument = self.plan(node.arguments[0])
        return Plan(operators.not_strictly_false(argument.code), argument.cost + 1)

    def equals(self, node: tree.Call) -> Plan:
        """``==`` and ``!=``."""
        left, right = (self.plan(argument) for argument in node.arguments)
        declared = {argument.type.kind for argument in node.arguments}
        negated = node.function == "_!=_"
        if len(declared) == 1 and declared <= _SCALARS:
            return Plan(operators.equal_scalars(left.code, right.code, negated=negated), left.cost + right.cost + 1)
        same_text = declared == {Kind.STRING}
        return Plan(operators.equal(left.code, right.code, negated=negated, same_text=same_text), left.cost + right.cost)

    def index(self, node: tree.Call) -> Plan:
        """``a[b]``."""
        operand, index = self.raw(node.arguments[0]), self.plan(node.arguments[1])
        cost = operand.cost + index.cost + costs.SELECT_AND_IDENT
        return Plan(operators.index(operand.code, index.code), cost, _below(operand.decl))

    def optional_select(self, node: tree.Call) -> Plan:
        """``a.?b`` and ``a[?b]``."""
        operand, index = self.raw(node.arguments[0]), self.plan(node.arguments[1])
        of = node.arguments[0].type
        if types.is_optional(of):
            of = of.parameters[0]
        name = node.arguments[1]
        code, below = index.code, _below(operand.decl)
        if isinstance(of, types.ObjectType) and isinstance(name, tree.Literal):
            code = operators.constant(of.fields[name.value].key)
            below = _below(operand.decl, name.value)
        found = operators.optional_index(operand.code, code)
        if below is not None and below.convert is not None:
            found = operators.converted_optional(found, below.convert)
        return Plan(found, operand.cost + index.cost + costs.SELECT_AND_IDENT)

    def create_list(self, node: tree.CreateList) -> Plan:
        """``[a, ?b]``."""
        elements = [self.plan(element) for element in node.elements]
        cost = sum(element.cost for element in elements) + costs.CREATE_LIST
        codes = [element.code for element in elements]
        if node.optional:
            return Plan(operators.create_optional_list(codes, node.optional), cost)
        return Plan(operators.create_list(codes), cost)

    def create_map(self, node: tree.CreateMap) -> Plan:
        """``{a: b}``."""
        entries = []
        cost = costs.CREATE_MAP
        for entry in node.entries:
            assert entry.key is not None
            key, value = self.plan(entry.key), self.plan(entry.value)
            cost += key.cost + value.cost
            entries.append((key.code, value.code, entry.optional))
        return Plan(operators.create_map(entries), cost)

    def create_struct(self, node: tree.CreateStruct) -> Plan:
        """``Name{field: value}``: a dict under the keys that the type says."""
        declared = node.type
        assert isinstance(declared, types.ObjectType)
        cost = costs.CREATE_STRUCT
        entries = []
        for entry in node.entries:
            value = self.plan(entry.value)
            cost += value.cost
            entries.append((declared.fields[entry.name].key, value.code, entry.optional))
        return Plan(operators.create_struct(entries), cost)

    def comprehension(self, node: tree.Comprehension) -> Plan:
        """A loop, or a binding."""
        range_ = self.raw(node.range)
        initial = self.plan(node.initial)
        accumulator, first = self.slot(), self.slot()
        element = _below(range_.decl)
        whole = node.variable2 is None and node.range.type.kind is Kind.LIST
        scope: dict[str, tuple[int, DeclType | None]] = {node.variable: (first, element if whole else None)}
        second = 0
        if node.variable2 is not None:
            second = self.slot()
            scope[node.variable2] = (second, element)
        self._scopes.append({node.accumulator: (accumulator, None)})
        result = self.plan(node.result)
        self._scopes.append(scope)
        condition, step = self.plan(node.condition), self.plan(node.step)
        self._scopes.pop()
        self._scopes.pop()
        loop = folds.Loop(range_.code, initial.code, condition.code, step.code, result.code, accumulator, first, second)
        code = folds.fold(loop, condition.cost + step.cost)
        return Plan(code, range_.cost + initial.cost + result.cost)


def _converting(decl: DeclType | None) -> DeclType | None:
    """The declaration, if values of it have to be converted."""
    return decl if decl is not None and decl.convert is not None else None


def _below(decl: DeclType | None, name: str | None = None) -> DeclType | None:
    """What is declared of a field or of the elements, if they have to be converted."""
    if decl is None:
        return None
    field = None if name is None else decl.fields.get(name)
    return _converting(decl.element if field is None else field.decl)


_SCALARS = frozenset({Kind.INT, Kind.UINT, Kind.BOOL, Kind.DURATION, Kind.TIMESTAMP})
_SPECIAL: dict[str, Callable[[Planner, tree.Call], Plan]] = {
    "_&&_": Planner.logical,
    "_||_": Planner.logical,
    "_?_:_": Planner.conditional,
    "@not_strictly_false": Planner.not_strictly_false,
    "_==_": Planner.equals,
    "_!=_": Planner.equals,
    "_[_]": Planner.index,
    "_?._": Planner.optional_select,
    "_[?_]": Planner.optional_select,
}
_PLANS: dict[type, Callable[..., Plan]] = {
    tree.Literal: Planner.literal,
    tree.Ident: Planner.ident,
    tree.Select: Planner.select,
    tree.Call: Planner.call,
    tree.CreateList: Planner.create_list,
    tree.CreateMap: Planner.create_map,
    tree.CreateStruct: Planner.create_struct,
    tree.Comprehension: Planner.comprehension,
}
