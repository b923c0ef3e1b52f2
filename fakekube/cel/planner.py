"""From a checked tree to closures.

A frame is a list: at index 0 the cost that may still be spent, at 1 the work (elements copied or
compared, which cost too little), at 2 what was converted, at 3 the regular expressions that were
made ready, from 4 on what ``spending`` says of turns, then variables, and results that programs
share (``frames``). A closure takes a frame and returns a value or raises. What a part costs in any
case is added up when it is planned; only what depends on values is counted while it runs. What is
constant is computed here, for free.

Upstream: interpreter/planner.go, decorators.go, interpretable.go and runtimecost.go.
"""

from collections.abc import Callable, Iterable
from typing import Any

from fakekube.cel import calls, costs, errors, folds, frames, macros, operators, plans, shapes, shortcuts, tree, types
from fakekube.cel.decltypes import DeclType
from fakekube.cel.plans import Form, Plan
from fakekube.cel.types import Kind

Code = Callable[[list[Any]], Any]

_CONSTANT_FRAME = (costs.MAX, costs.MAX, None, None, None, 0, 0)


class Planner:
    """Plans the parts of one expression; ``names`` tells which variable stands at which index."""

    def __init__(self, layout: frames.Layout | None = None) -> None:
        self.names: dict[str, int] = {}
        self.layout = layout or frames.Layout()
        self._shares = layout is not None
        self._scopes: list[dict[str, tuple[int, DeclType | None]]] = []
        self._planned: dict[int, Plan] = {}

    def plan(self, node: tree.Expression) -> Plan:
        """The plan of a part that gives a value of CEL."""
        raw = self.raw(node)
        if raw.decl is None:
            return raw
        assert raw.decl.convert is not None
        return raw._replace(code=operators.converted(raw.code, raw.decl.convert), decl=None, path=None)

    def raw(self, node: tree.Expression) -> Plan:
        """The plan of a part, whose value may have to be converted.

        One that stands twice in the tree is planned once.
        """
        planned = self._planned.get(id(node))
        if planned is None:
            for part in tree.bottom_up(node, self._parts):
                if id(part) not in self._planned:
                    self._planned[id(part)] = _PLANS[part.__class__](self, part)
            planned = self._planned[id(node)]
        return planned

    def _parts(self, node: tree.Expression) -> Iterable[tree.Expression]:
        """What of a node is planned before it, so that only loops within loops need recursion."""
        if isinstance(node, tree.Comprehension) or id(node) in self._planned:
            return ()
        if isinstance(node, tree.Select) and node.declaration is not None:
            return ()
        return node.children()

    def literal(self, node: tree.Literal) -> Plan:
        """A constant costs nothing."""
        return plans.constant(node.value)

    def ident(self, node: tree.Ident | tree.Select) -> Plan:
        """A variable, or a constant that the environment declares."""
        declaration = node.declaration
        assert declaration is not None
        if declaration.constant:
            return plans.constant(declaration.value)
        if isinstance(node, tree.Ident):
            for scope in reversed(self._scopes):
                if node.name in scope:
                    index, decl = scope[node.name]
                    return Plan(operators.local(index), costs.SELECT_AND_IDENT, Form.ATTRIBUTE, decl)
        found = self.names[declaration.name] = self.layout.variable(declaration.name)
        return Plan(
            operators.variable(found), costs.SELECT_AND_IDENT, Form.ATTRIBUTE, _converting(declaration.decl),
            shortcuts.Path(found))

    def select(self, node: tree.Select) -> Plan:
        """A field, or whether it is there."""
        if node.declaration is not None:
            return self.ident(node)
        operand = self.raw(node.operand)
        of = node.operand.type
        key = of.fields[node.field].key if isinstance(of, types.ObjectType) else node.field
        cost, form = plans.selected(operand)
        nulls = _absent_nulls(of)
        if node.test_only:
            code = operators.has_field(operand.code, key, absent_nulls=nulls)
            if operand.path is not None:
                code = shortcuts.has_field_at_path(operand.path, key, code, absent_nulls=nulls)
            return Plan(code, cost)
        cost += costs.SELECT_AND_IDENT
        if of.kind is Kind.STRUCT or of.kind is Kind.MAP:
            path = operand.path
            if path is None:
                code = operators.field(operand.code, key, node.field, absent_nulls=nulls)
            else:
                path = shortcuts.Path(path.slot, (*path.steps, (key, node.field, nulls)))
                code = shortcuts.at_path(path)
                if len(path.steps) == 1:
                    code = shortcuts.field_of_variable(path.slot, key, node.field, absent_nulls=nulls)
            return Plan(code, cost, form, _below(operand.decl, node.field), path)
        if types.is_optional(of):
            inner = of.parameters[0]
            key = inner.fields[node.field].key if isinstance(inner, types.ObjectType) else node.field
            code = operators.optional_index(operand.code, operators.constant(key), absent_nulls=nulls)
            return Plan(code, cost - costs.SELECT_AND_IDENT, form)
        return Plan(operators.dynamic_field(operand.code, key), cost, form)

    def index(self, node: tree.Call) -> Plan:
        """``a[b]``."""
        operand, index = self.raw(node.arguments[0]), self.plan(node.arguments[1])
        cost, form = plans.selected(operand)
        cost += plans.qualified(index)
        if types.is_optional(node.arguments[0].type):
            return Plan(operators.optional_index(operand.code, index.code), cost - costs.SELECT_AND_IDENT, form)
        texts_only = node.arguments[1].type.kind is not Kind.STRING and _is_declared(node.arguments[0])
        code = operators.index(operand.code, index.code, texts_only=texts_only)
        return Plan(code, cost, form, _below(operand.decl))

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
        found = operators.optional_index(operand.code, code, absent_nulls=_absent_nulls(of))
        if below is not None and below.convert is not None:
            found = operators.converted_optional(found, below.convert)
        cost, form = plans.selected(operand)
        return Plan(found, cost + plans.qualified(index) - costs.SELECT_AND_IDENT, form)

    def call(self, node: tree.Call) -> Plan:
        """An operator or a function."""
        return _SPECIAL.get(node.function, Planner.function)(self, node)

    def function(self, node: tree.Call) -> Plan:
        """A call of a function that computes all its arguments."""
        planned = self.raw if node.function == "size" and _is_sized(node) else self.plan
        arguments = [planned(argument) for argument in node.children()]
        if len(arguments) == 1 and node.function in _CONVERSIONS and arguments[0].form is Form.CONSTANT:
            return self.folded(node, arguments[0])
        cost = sum(argument.cost for argument in arguments)
        codes = [argument.code for argument in arguments]
        constants = [argument.form is Form.CONSTANT for argument in arguments]
        if node.function in _FINDS and constants[1] and isinstance(codes[1]([]), str):
            codes[0] = operators.text(codes[0])
        if constants[1:] == [True] and len(node.overloads) == 1:
            overload = node.overloads[0]
            if overload.id == "in_list":
                return self.constant_list(arguments[0], codes[1]([]))
            if overload.id in {"matches", "matches_string"} and isinstance(codes[1]([]), str):
                return Plan(calls.matches_constant(codes[0], codes[1]([]), overload.cost), cost)
        if not any(types.is_dyn(argument.type) for argument in node.children()) and len(node.overloads) == 1:
            overload = node.overloads[0]
            if overload.id == "in_list":
                return Plan(calls.in_elements(codes[0], codes[1]), cost)
            if overload.id == "add_list":
                return Plan(calls.add_lists(codes[0], codes[1]), cost + 1)
            if overload.id in calls.SEARCHES:
                return Plan(calls.searching_call(overload, codes), cost)
            if overload.cost is None:
                return Plan(calls.call(overload, codes, constants), cost + 1)
            return Plan(calls.costed_call(overload.implementation, codes, overload.cost, dear=overload.dear), cost)
        return Plan(calls.dispatched_call(node.function, node.overloads, codes), cost)

    def folded(self, node: tree.Call, argument: Plan) -> Plan:
        """The conversion of a constant."""
        code = calls.dispatched_call(node.function, node.overloads, [argument.code])
        try:
            return plans.constant(code(list(_CONSTANT_FRAME)))
        except errors.EvaluationError as failed:
            raise errors.ProgramError(str(failed)) from None

    def constant_list(self, element: Plan, elements: list[Any]) -> Plan:
        """``in`` a list of constants costs no more than the element; an empty one not even that."""
        if not elements:
            return plans.constant(False)
        found = calls.members(elements)
        if found is None:
            return Plan(calls.in_elements(element.code, operators.constant(elements)), element.cost)
        return Plan(calls.in_set(element.code, found), element.cost)

    def logical(self, node: tree.Call) -> Plan:
        """``&&`` and ``||``: the first part is always computed, others only as long as it takes."""
        terms = [self.plan(argument) for argument in node.arguments]
        if self._shares and not self._scopes:
            terms = self.shared(node, terms)
        if len(terms) == 1:
            return terms[0]
        decisive = node.function == "_||_"
        spent = [0, *(term.cost for term in terms[1:])]
        code = operators.logical([term.code for term in terms], spent, decisive=decisive)
        if (found := self.compared_texts(node)) is not None:
            code = shortcuts.all_equal_texts(*found, code)
        return Plan(code, terms[0].cost)

    def shared(self, node: tree.Call, terms: list[Plan]) -> list[Plan]:
        """The terms of ``&&`` or ``||``, those up to the last loop as one that is computed once for
        all programs that begin so: as rules do that ask whether an object has some condition.

        In a loop or a binding nothing is shared: its variables have other values each time.
        """
        loops = [number for number, term in enumerate(node.arguments, 1) if isinstance(term, tree.Comprehension)]
        first = node.arguments[:loops[-1]] if loops else []
        part = shapes.shape(tree.Call(node.offset, node.function, first)) if first else None
        if part is None:
            return terms
        begun = terms[0].code
        if len(first) > 1:
            spent = [0, *(term.cost for term in terms[1:len(first)])]
            begun = operators.logical([term.code for term in terms[:len(first)]], spent, decisive=node.function == "_||_")
        return [Plan(shortcuts.shared(begun, self.layout.result(part)), terms[0].cost), *terms[len(first):]]

    def compared_texts(self, node: tree.Expression) -> tuple[int, list[shortcuts.Compared]] | None:
        """Of ``&&`` of fields of one loop's variable that are compared with constants: where the
        variable stands in the frame, and the fields; None for any other part.
        """
        if not isinstance(node, tree.Call) or node.function != "_&&_":
            return None
        compared = [*filter(None, map(self.compared_text, node.arguments))]
        if len(compared) < len(node.arguments) or len({index for index, _, _ in compared}) > 1:
            return None
        spent = [0, *(self.plan(argument).cost for argument in node.arguments[1:])]
        return compared[0][0], [(key, text, cost) for (_, key, text), cost in zip(compared, spent, strict=True)]

    def compared_text(self, node: tree.Expression) -> tuple[int, str, str] | None:
        """Of a field of a loop's variable that is compared with a constant: where the variable
        stands in the frame, the key of the field, and the constant; None for any other part.
        """
        if not isinstance(node, tree.Call) or node.function != "_==_":
            return None
        field, text = node.arguments
        if not (isinstance(text, tree.Literal) and isinstance(text.value, str) and field.type.kind is Kind.STRING):
            return None
        if not isinstance(field, tree.Select) or field.test_only or field.declaration is not None:
            return None
        operand, of = field.operand, field.operand.type
        if not isinstance(operand, tree.Ident) or not isinstance(of, types.ObjectType) or self.raw(field).decl is not None:
            return None
        scope = next((scope for scope in reversed(self._scopes) if operand.name in scope), None)
        return None if scope is None else (scope[operand.name][0], of.fields[field.field].key, text.value)

    def conditional(self, node: tree.Call) -> Plan:
        """``a ? b : c``."""
        condition, then, otherwise = (self.plan(argument) for argument in node.arguments)
        costs_of = [branch.cost - (branch.form is Form.ATTRIBUTE) for branch in (then, otherwise)]
        least = min(costs_of)
        code = operators.conditional(condition.code, then.code, otherwise.code, costs_of[0] - least, costs_of[1] - least)
        return Plan(code, condition.cost + least, Form.CHOICE)

    def optional_or(self, node: tree.Call) -> Plan:
        """``a.or(b)`` and ``a.orValue(b)`` of an optional: the second is computed if needed."""
        assert node.target is not None  # they are methods only
        first, second = self.plan(node.target), self.plan(node.arguments[0])
        code = operators.optional_or(first.code, second.code, second.cost, unwrapped=node.function == "orValue")
        return Plan(code, first.cost)

    def equals(self, node: tree.Call) -> Plan:
        """``==`` and ``!=``."""
        left, right = (self.plan(argument) for argument in node.arguments)
        cost = left.cost + right.cost
        declared = {argument.type.kind for argument in node.arguments}
        negated = node.function == "_!=_"
        if len(declared) == 1 and declared <= _SCALARS:
            return Plan(operators.equal_scalars(left.code, right.code, negated=negated), cost + 1)
        if declared == {Kind.STRING}:
            if right.form is Form.CONSTANT:
                return Plan(operators.equals_text(left.code, right.code([]), negated=negated), cost)
            return Plan(operators.equal_texts(left.code, right.code, negated=negated), cost)
        return Plan(operators.equal(left.code, right.code, negated=negated), cost)

    def create_list(self, node: tree.CreateList) -> Plan:
        """``[a, ?b]``."""
        elements = [self.plan(element) for element in node.elements]
        codes = [element.code for element in elements]
        code = operators.create_optional_list(codes, node.optional) if node.optional else operators.create_list(codes)
        if all(element.form is Form.CONSTANT for element in elements):
            return self.created(code)
        return Plan(code, sum(element.cost for element in elements) + costs.CREATE_LIST)

    def create_map(self, node: tree.CreateMap) -> Plan:
        """``{a: b}``."""
        entries = []
        cost, constant = costs.CREATE_MAP, True
        for entry in node.entries:
            assert entry.key is not None
            key, value = self.plan(entry.key), self.plan(entry.value)
            cost += key.cost + value.cost
            constant = constant and key.form is Form.CONSTANT and value.form is Form.CONSTANT
            entries.append((key.code, value.code, entry.optional))
        code = operators.create_map(entries)
        return self.created(code) if constant else Plan(code, cost)

    def created(self, code: Code) -> Plan:
        """A list or a map of constants; an error in it shows when it runs."""
        try:
            return plans.constant(code(list(_CONSTANT_FRAME)))
        except errors.EvaluationError as failed:
            return Plan(operators.failing(str(failed)), 0, Form.CONSTANT)

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

    # loops

    def comprehension(self, node: tree.Comprehension) -> Plan:
        """A loop, or a binding."""
        if tree.is_binding(node):
            return self.binding(node)
        ranged = self.raw(node.range)
        initial = self.plan(node.initial)
        accumulator, first = self.layout.slot(), self.layout.slot()
        element = _below(ranged.decl)
        whole = node.variable2 is None and node.range.type.kind is Kind.LIST
        scope: dict[str, tuple[int, DeclType | None]] = {node.variable: (first, element if whole else None)}
        second = 0
        if node.variable2 is not None:
            second = self.layout.slot()
            scope[node.variable2] = (second, element)
        self._scopes.append({node.accumulator: (accumulator, None)})
        result = self.plan(node.result)
        self._scopes.append(scope)
        loop = folds.Loop(ranged.code, first, second)
        code, always = self.fold(node, loop, accumulator, result)
        self._scopes.pop()
        self._scopes.pop()
        return Plan(code, ranged.cost + initial.cost + always)

    def fold(self, node: tree.Comprehension, loop: folds.Loop, accumulator: int, result: Plan) -> tuple[Code, int]:
        """The code of a loop, and what it costs beside the range in any case."""
        step = node.step
        if isinstance(step, tree.Call):
            if step.function in {"_&&_", "_||_"} and _is_accumulator(step.arguments[0], node):
                predicate = self.plan(step.arguments[1])
                exists = step.function == "_||_"
                code = folds.quantifier(loop, predicate.code, predicate.cost, stops_at=exists)
                compared = self.compared_texts(step.arguments[1]) if exists and self.raw(node.range).path is not None else None
                if compared is not None and compared[0] == loop.first:
                    code = shortcuts.exists_with_texts(loop, compared[1], predicate.cost, code)
                return code, result.cost
            predicate_node: tree.Expression | None = None
            if step.function == "_?_:_" and _is_accumulator(step.arguments[2], node):
                predicate_node, step = step.arguments[0], step.arguments[1]
            if isinstance(step, tree.Call) and _is_accumulator(step.arguments[0], node):
                test = None if predicate_node is None else self.plan(predicate_node)
                tested = None if test is None else (test.code, test.cost)
                added = step.arguments[-1]
                if step.function == "_+_" and isinstance(added, tree.CreateList) and len(added.elements) == 1:
                    made = self.plan(added.elements[0])
                    cost = made.cost + (costs.CREATE_LIST if made.form is not Form.CONSTANT else 0) + 2
                    return folds.collect(loop, made.code, cost, tested), result.cost
                if step.function == macros.MAP_INSERT:
                    parts = [self.plan(argument) for argument in step.arguments[1:]]
                    cost = sum(part.cost for part in parts) + 2
                    return folds.insert(loop, [part.code for part in parts], cost, tested), result.cost
        planned, initial = self.plan(node.step), self.plan(node.initial)
        run = folds.Steps(initial.code, planned.code, result.code, accumulator)
        return folds.general(loop, run, planned.cost), result.cost

    def binding(self, node: tree.Comprehension) -> Plan:
        """A name for a value, which is computed when it is used first."""
        value = self.plan(node.initial)
        index = self.layout.slot()
        self._scopes.append({node.accumulator: (index, None)})
        result = self.plan(node.result)
        self._scopes.pop()
        return Plan(folds.binding(index, value.code, value.cost, result.code), result.cost)


def _is_accumulator(node: tree.Expression, of: tree.Comprehension) -> bool:
    return isinstance(node, tree.Ident) and node.name == of.accumulator == macros.ACCUMULATOR


def _absent_nulls(of: types.Type) -> bool:
    """Whether fields of such objects that are null count as absent."""
    if types.is_optional(of):
        of = of.parameters[0]
    return isinstance(of, types.ObjectType) and of.absent_nulls


def _is_sized(node: tree.Call) -> bool:
    """Whether the only operand of a call is a list or a map: of as many elements as in the tree."""
    operands = list(node.children())
    return len(operands) == 1 and operands[0].type.kind in (Kind.LIST, Kind.MAP)


def _is_declared(node: tree.Expression) -> bool:
    """Whether a value stands in a tree that a schema declares, whose maps have strings as keys."""
    while not isinstance(node, tree.Ident):
        if isinstance(node, tree.Select) and node.declaration is None:
            node = node.operand
        elif isinstance(node, tree.Call) and node.function in {"dyn", "_[_]"}:
            node = node.arguments[0]
        else:
            return False
    return node.declaration is not None and node.declaration.decl is not None


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
_CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
_FINDS = ("find", "findAll")  # with an expression that is known before, they say less of what is no string
_SPECIAL: dict[str, Callable[[Planner, tree.Call], Plan]] = {
    "_&&_": Planner.logical,
    "_||_": Planner.logical,
    "_?_:_": Planner.conditional,
    "_==_": Planner.equals,
    "_!=_": Planner.equals,
    "_[_]": Planner.index,
    "or": Planner.optional_or,
    "orValue": Planner.optional_or,
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
