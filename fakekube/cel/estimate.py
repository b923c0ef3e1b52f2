"""What an expression may cost at most and at least, before it has run.

Sizes of values come from literals, from what a schema says, and from what calls make of them; what
is unknown may be as large as a number of 64 bits.

Upstream: checker/cost.go, and sizeEstimator of apiextensions' schema/cel/compilation.go.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fakekube.cel import costs, tree, types, values
from fakekube.cel.costs import MAX, UNKNOWN_SIZE, CallEstimate, CostEstimate, SizeEstimate, fixed, fixed_size
from fakekube.cel.decltypes import DeclType
from fakekube.cel.functions import Node, Overload
from fakekube.cel.standard import estimates
from fakekube.cel.types import Kind

Path = tuple[str, ...]

_SELECT = fixed(costs.SELECT_AND_IDENT)
_NOTHING = fixed(0)
_SCALARS = frozenset({Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT})


class EntrySize(NamedTuple):
    """How large the keys and the values of a list or a map may be."""

    container: Kind
    key: SizeEstimate
    value: SizeEstimate


class LocalVariable(NamedTuple):
    """What a loop or a binding gives to a name."""

    path: Path
    size: SizeEstimate | None
    entries: EntrySize | None


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call, or the elements of one; see ``functions.Node``."""

    type: types.Type
    path: Path
    computed: SizeEstimate | None = None
    literal: Any = None
    expression: tree.Expression | None = None


def estimate(root: tree.Expression, declared: Mapping[str, DeclType]) -> CostEstimate:
    """The least and the most that the checked expression may cost.

    ``declared`` says what schemas know of the variables.
    """
    return Estimator(declared).cost(root)


class Estimator:
    """Costs and sizes of the parts of one expression; what functions estimate with."""

    def __init__(self, declared: Mapping[str, DeclType]) -> None:
        self._declared = declared
        self._root = next(iter(declared.values()), None)
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, SizeEstimate] = {}
        self._entries: dict[int, EntrySize] = {}
        self._locals: dict[str, list[LocalVariable]] = {}
        self._costs: dict[int, CostEstimate] = {}

    # what functions ask

    def size(self, node: Node) -> SizeEstimate:
        """The size of an argument, as far as it is known."""
        computed = getattr(node, "computed", None)
        if computed is not None:
            known: SizeEstimate = computed
            return known
        return self._declared_size(node.path) or UNKNOWN_SIZE

    def element(self, node: Node) -> Node | None:
        """The elements of a list as one argument; None if it is no list."""
        if not node.type.parameters:
            return None
        path = (*node.path, "@items") if node.path else ()
        return Argument(node.type.parameters[0], path)

    # costs of parts

    def cost(self, node: tree.Expression) -> CostEstimate:
        """What a part may cost, with all that is in it."""
        known = self._costs.get(id(node))
        if known is None:
            for part in tree.bottom_up(node, self._parts):
                if id(part) not in self._costs:
                    self._costs[id(part)] = _COSTS[part.__class__](self, part)
            known = self._costs[id(node)]
        return known

    def _parts(self, node: tree.Expression) -> Iterable[tree.Expression]:
        """What of a node is estimated before it, so that only loops within loops need recursion."""
        if isinstance(node, tree.Comprehension) or id(node) in self._costs:
            return ()
        if isinstance(node, tree.Select) and node.declaration is not None:
            return ()
        return node.children()

    def literal(self, _node: tree.Literal) -> CostEstimate:
        """A constant is free."""
        return _NOTHING

    def ident(self, node: tree.Ident) -> CostEstimate:
        """A name costs one."""
        known = self._locals.get(node.name)
        self._paths[id(node)] = known[-1].path if known else (node.name,)
        return _SELECT

    def select(self, node: tree.Select) -> CostEstimate:
        """A field costs one more; a test whether it is there nothing."""
        if node.declaration is not None:
            self._paths[id(node)] = (node.declaration.name,)
            return _SELECT
        cost = self.cost(node.operand)
        if node.test_only:
            return cost
        if node.operand.type.kind in {Kind.MAP, Kind.STRUCT, Kind.TYPE_PARAMETER}:
            cost = cost.plus(_SELECT)
        self._paths[id(node)] = (*self._path(node.operand), node.field)
        return cost

    def call(self, node: tree.Call) -> CostEstimate:
        """The arguments, the receiver, and the most of what the overloads say."""
        if node.function == "dyn":
            cost = fixed(1).plus(self.cost(node.arguments[0]))
            self._copy_sizes(node, node.arguments[0])
            return cost
        argument_costs = [self.cost(argument) for argument in node.arguments]
        if node.function in {"_&&_", "_||_"}:
            return CostEstimate(argument_costs[0].min, min(sum(cost.max for cost in argument_costs), MAX))
        if node.function == "_?._":
            return _sum(argument_costs).plus(fixed(1))
        total = _NOTHING if node.target is None else self.cost(node.target)
        own = CostEstimate(MAX, 0)
        result: SizeEstimate | None = None
        for overload in node.overloads:
            called = self._call_cost(node, overload, argument_costs)
            own = own.union(called.cost)
            if called.result_size is not None:
                result = called.result_size if result is None else result.union(called.result_size)
            if overload.id in {"index_list", "index_map"}:
                entries = self._entry_size(node.arguments[0])
                result = None if entries is None else entries.value
                below = "@items" if overload.id == "index_list" else "@values"
                self._paths[id(node)] = (*self._path(node.arguments[0]), below)
            if result is None:
                result = self._size(node)
        if result is not None:
            self._sizes[id(node)] = result
        return total.plus(own)

    def create_list(self, node: tree.CreateList) -> CostEstimate:
        """The elements, and a list."""
        total = fixed(costs.CREATE_LIST)
        each = SizeEstimate(MAX if node.elements else 0, 0)
        for element in node.elements:
            total = total.plus(self.cost(element))
            each = each.union(self._size_or_unknown(element))
        self._entries[id(node)] = EntrySize(Kind.LIST, fixed_size(1), each)
        return total

    def create_map(self, node: tree.CreateMap) -> CostEstimate:
        """Keys and values, and a map."""
        total = fixed(costs.CREATE_MAP)
        keys = held = SizeEstimate(MAX if node.entries else 0, 0)
        for entry in node.entries:
            assert entry.key is not None
            total = total.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            keys = keys.union(self._size_or_unknown(entry.key))
            held = held.union(self._size_or_unknown(entry.value))
        self._entries[id(node)] = EntrySize(Kind.MAP, keys, held)
        return total

    def create_struct(self, node: tree.CreateStruct) -> CostEstimate:
        """The values of the fields, and an object."""
        return _sum([self.cost(entry.value) for entry in node.entries]).plus(fixed(costs.CREATE_STRUCT))

    def comprehension(self, node: tree.Comprehension) -> CostEstimate:
        """Condition and step for every element that the range may have."""
        total = self.cost(node.range).plus(self.cost(node.initial))
        initial = LocalVariable(self._path(node.initial), self._size(node.initial), self._entry_size(node.initial))
        self._push(node.accumulator, initial)
        if tree.is_binding(node):
            total = total.plus(self.cost(node.result))
            self._locals[node.accumulator].pop()
            self._copy_sizes(node, node.result)
            return total
        self._push(node.variable, self._variable(node, first=True))
        if node.variable2 is not None:
            self._push(node.variable2, self._variable(node, first=False))
        each = self.cost(node.condition).plus(self.cost(node.step))
        self._locals[node.variable].pop()
        if node.variable2 is not None:
            self._locals[node.variable2].pop()
        total = total.plus(self.cost(node.result))
        self._locals[node.accumulator].pop()
        turns = self._size_or_unknown(node.range)
        if isinstance(node.initial, tree.Literal):
            initial_size = self._size(node.initial)
            if initial_size is not None:
                self._sizes[id(node)] = initial_size
        elif isinstance(node.initial, tree.CreateList | tree.CreateMap):
            self._sizes[id(node)] = turns
            entries = self._entry_size(node.step)
            if entries is not None:
                self._entries[id(node)] = entries
        return total.plus(turns.cost_each(each))

    def _push(self, name: str, variable: LocalVariable) -> None:
        self._locals.setdefault(name, []).append(variable)

    def _variable(self, node: tree.Comprehension, *, first: bool) -> LocalVariable:
        """The first or the second variable of a loop: an element, a key, a value or an index."""
        entries = self._entry_size(node.range)
        container = node.range.type.kind if entries is None else entries.container
        is_list = container is Kind.LIST
        whole = node.variable2 is None and is_list  # one variable over a list holds the elements
        if first and not whole:
            below, size = "@indices" if is_list and node.variable2 is not None else "@keys", entries and entries.key
        else:
            below, size = "@items" if is_list else "@values", entries and entries.value
        return LocalVariable((*self._path(node.range), below), size, None)

    # costs of calls

    def _call_cost(self, node: tree.Call, overload: Overload, argument_costs: list[CostEstimate]) -> CallEstimate:
        arguments = [self._argument(argument) for argument in node.arguments]
        target = None if node.target is None else self._argument(node.target)
        total = _sum(argument_costs)
        if overload.estimate is not None:
            found = overload.estimate(self, target, arguments)
            if found is not None:
                return CallEstimate(found.cost.plus(total), found.result_size)
        if overload.id == "conditional":
            return self._conditional(node, argument_costs)
        operands = arguments if target is None else [target, *arguments]
        sizes = [operand.computed or UNKNOWN_SIZE for operand in operands]
        if overload.id == "equals" and operands[0].type == operands[1].type:
            same = estimates.same_type(operands[0].type, operands[1].computed)
            if same is not None:
                return CallEstimate(same.plus(total))
        if overload.id in estimates.CONCATENATIONS:
            self._join_entries(node, node.arguments[0], node.arguments[1])
        found = estimates.of_sizes(overload.id, sizes)
        return CallEstimate(found.cost.plus(total), found.result_size)

    def _conditional(self, node: tree.Call, argument_costs: list[CostEstimate]) -> CallEstimate:
        condition, then, otherwise = argument_costs
        size = self._size_or_unknown(node.arguments[1]).union(self._size_or_unknown(node.arguments[2]))
        self._join_entries(node, node.arguments[1], node.arguments[2])
        return CallEstimate(condition.plus(then.union(otherwise)), size)

    def _join_entries(self, node: tree.Expression, left: tree.Expression, right: tree.Expression) -> None:
        one, other = self._entry_size(left), self._entry_size(right)
        if one is not None and other is not None:
            joined = EntrySize(one.container, one.key.union(other.key), one.value.union(other.value))
            self._entries[id(node)] = joined

    # sizes

    def _argument(self, node: tree.Expression) -> Argument:
        literal = node.value if isinstance(node, tree.Literal) else None
        return Argument(node.type, self._path(node), self._size(node), literal, node)

    def _path(self, node: tree.Expression) -> Path:
        if isinstance(node, tree.Ident) and (known := self._locals.get(node.name)):
            return known[-1].path
        return self._paths.get(id(node), ())

    def _size_or_unknown(self, node: tree.Expression) -> SizeEstimate:
        return self._size(node) or UNKNOWN_SIZE

    def _size(self, node: tree.Expression) -> SizeEstimate | None:
        """The size of what a part gives, if anything is known of it."""
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        if isinstance(node, tree.Literal):
            return fixed_size(values.size(node.value))
        if isinstance(node, tree.CreateList):
            return fixed_size(len(node.elements))
        if isinstance(node, tree.CreateMap):
            return fixed_size(len(node.entries))
        declared = self._declared_size(self._path(node))
        if declared is not None:
            self._sizes[id(node)] = declared
            return declared
        if _is_scalar(node.type):
            return fixed_size(1)
        if isinstance(node, tree.Ident) and (local := self._locals.get(node.name)):
            return local[-1].size
        return None

    def _entry_size(self, node: tree.Expression) -> EntrySize | None:
        known = self._entries.get(id(node))
        if known is None and isinstance(node, tree.Ident) and (local := self._locals.get(node.name)):
            return local[-1].entries
        return known

    def _copy_sizes(self, to: tree.Expression, source: tree.Expression) -> None:
        size, entries = self._size(source), self._entry_size(source)
        if size is not None:
            self._sizes[id(to)] = size
        if entries is not None:
            self._entries[id(to)] = entries

    def _declared_size(self, path: Path) -> SizeEstimate | None:
        """What the schema of a variable says of the size at a path."""
        if not path:
            return None
        # upstream looks at the schema of self whatever the variable is, names of types included
        current = self._declared.get(path[0], self._root)
        for name in path[1:]:
            if current is None:
                return None
            if name in {"@items", "@values"}:
                current = current.element
            elif name == "@keys":
                current = current.key
            else:
                field = current.fields.get(name)
                current = None if field is None else field.decl
        return None if current is None else SizeEstimate(0, current.max_elements)


def _is_scalar(of: types.Type) -> bool:
    return of.kind in _SCALARS or (types.is_optional(of) and _is_scalar(of.parameters[0]))


def _sum(parts: list[CostEstimate]) -> CostEstimate:
    total = _NOTHING
    for part in parts:
        total = total.plus(part)
    return total


_COSTS: dict[type, Callable[..., CostEstimate]] = {
    tree.Literal: Estimator.literal,
    tree.Ident: Estimator.ident,
    tree.Select: Estimator.select,
    tree.Call: Estimator.call,
    tree.CreateList: Estimator.create_list,
    tree.CreateMap: Estimator.create_map,
    tree.CreateStruct: Estimator.create_struct,
    tree.Comprehension: Estimator.comprehension,
}
