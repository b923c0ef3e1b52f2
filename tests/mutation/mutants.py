"""Which changes of a module there are, a seeded sample of them, and which of them change nothing.

The operators are those of cosmic-ray, besides two of ours. Its own sampling takes each operator of
each place as one, so that a single ``+`` would count eleven times; here a place is drawn first.
"""

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider

from tests.mutation.areas import Area
from tests.mutation.operators import StatementRemover, TextReplacer

NEED_ARGUMENTS = ("VariableReplacer", "VariableInserter")
LOGS = ("debug", "info", "warning", "error", "exception")
LOGGERS = ("log", "logger", "_log", "_LOG")
SPEED_ONLY = ("memoized", "cached_property", "final", "override", "runtime_checkable", "abstractmethod", "cache")
"""Decorators that change no answer."""


class Mutant(NamedTuple):
    """One change: ``code`` is the whole changed module, ``lines`` what it touches."""

    area: Area
    file: Path
    operator: str
    lines: range
    code: str


def operators() -> dict[str, Operator]:
    """All that are used, by name."""
    theirs = OperatorProvider()
    found = {name: theirs[name]() for name in theirs if name not in NEED_ARGUMENTS}
    return {**found, "TextReplacer": TextReplacer(), "StatementRemover": StatementRemover()}


def sample(area: Area, root: Path, count: int, draw: random.Random) -> tuple[list[Mutant], int]:
    """Draw ``count`` that change something. Besides, how many drawn ones change nothing.

    A file is drawn by its size, then a place in it, then what happens there.
    """
    files, made, ignored = area.files(root), [], 0
    weights = [file.stat().st_size for file in files]
    used: set[tuple[Path, int, int]] = set()
    known: dict[Path, list[tuple[tuple[int, int], list[tuple[str, int, int]]]]] = {}
    for _ in range(count * 50):
        if len(made) == count:
            break
        file = draw.choices(files, weights)[0]
        places = known.get(file)
        if places is None:
            places = known[file] = list(_places(file.read_text()))
        if not places:
            continue
        start, changes = draw.choice(places)
        name, occurrence, last = draw.choice(changes)
        if (file, *start) in used:
            continue
        used.add((file, *start))
        code = _changed(file.read_text(), name, occurrence)
        if code is None or _meaning(code) is None:
            continue
        if _meaning(code) == _meaning(file.read_text()):
            ignored += 1
            continue
        made.append(Mutant(area, file.relative_to(root), name, range(start[0], last + 1), code))
    return made, ignored


def _changed(code: str, operator: str, occurrence: int) -> str | None:
    """The changed module; None of what the tool cannot change: an exception with dots."""
    try:
        return mutate_code(code, operators()[operator], occurrence)
    except AttributeError:
        return None


def _places(code: str) -> Iterator[tuple[tuple[int, int], list[tuple[str, int, int]]]]:
    """Where something can be changed, with ``(operator, occurrence, last line)`` of each change."""
    found: dict[tuple[int, int], list[tuple[str, int, int]]] = defaultdict(list)
    nodes = list(ast_nodes(get_ast(code)))
    for name, operator in operators().items():
        positions = [position for node in nodes for position in operator.mutation_positions(node)]
        for occurrence, (start, end) in enumerate(positions):
            found[start].append((name, occurrence, end[0] if end[1] else end[0] - 1))
    yield from sorted(found.items())


def _meaning(code: str) -> str | None:
    """What a module does, without what changes nothing. None where it is no Python."""
    try:
        return ast.dump(_Meaning().visit(ast.parse(code)))
    except SyntaxError:
        return None


class _Meaning(ast.NodeTransformer):
    """Leaves out docstrings, annotations, texts of logs and of assertions, memos, slots, and a last
    ``return None``."""

    def visit_Expr(self, node: ast.Expr) -> Any:
        return ast.Pass() if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> Any:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        node.returns = None
        node.decorator_list = [each for each in node.decorator_list if _name(each) not in SPEED_ONLY]
        if any(_name(each) == "overload" for each in node.decorator_list) or _is_declared_only(node.body):
            return ast.Pass()
        while node.body and isinstance(node.body[-1], ast.Return) and _is_none(node.body[-1].value):
            node.body[-1] = ast.Pass()
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        for each in node.decorator_list:
            if isinstance(each, ast.Call) and _name(each) == "dataclass":
                each.keywords = [one for one in each.keywords if one.arg not in ("slots", "frozen")]
        node.decorator_list = [each for each in node.decorator_list if _name(each) not in SPEED_ONLY]
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in ("__slots__", "__all__"):
            return ast.Pass()
        if isinstance(node.value, ast.Call) and _name(node.value) in ("TypeVar", "getLogger", "NewType", "ParamSpec"):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.msg = None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        test = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
        return ast.Pass() if _name(test) == "TYPE_CHECKING" else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in LOGS and _name(node.func.value) in LOGGERS:
            return ast.Constant(None)
        if _name(node) == "cast":
            node.args = node.args[1:]
        return self.generic_visit(node)


def _is_declared_only(body: list[ast.stmt]) -> bool:
    """Whether there is nothing but ``...``, as of overloads."""
    return len(body) == 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
