"""What is known of how a part is computed, before it is."""

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

from fakekube.cel import costs, operators, shortcuts
from fakekube.cel.decltypes import DeclType

Code = Callable[[list[Any]], Any]


class Form(enum.Enum):
    """What sort of part it is; selections and conditions count its cost by that."""

    VALUE = "the result of a call, a new list and the like"
    ATTRIBUTE = "a variable, with selections"
    CHOICE = "one of two parts by a condition, with selections"
    CONSTANT = "known before it runs"


class Plan(NamedTuple):
    """How a part is computed, and what it costs whenever it is computed without error.

    ``decl`` is set if the code gives what stands in a tree, which has to be converted before
    anything but a selection uses it. ``path`` is set if the code does nothing but select from a
    variable of the environment.
    """

    code: Code
    cost: int
    form: Form = Form.VALUE
    decl: DeclType | None = None
    path: shortcuts.Path | None = None


def constant(value: Any) -> Plan:
    """The plan of a value that is known; it costs nothing."""
    return Plan(operators.constant(value), 0, Form.CONSTANT)


def selected(operand: Plan) -> tuple[int, Form]:
    """What an operand costs as the root of a selection, and what sort of part that is."""
    if operand.form in {Form.ATTRIBUTE, Form.CHOICE}:
        return operand.cost, operand.form
    return operand.cost + costs.SELECT_AND_IDENT, Form.ATTRIBUTE


def qualified(index: Plan) -> int:
    """What an index costs; a variable in it is read without being counted."""
    return index.cost + costs.SELECT_AND_IDENT - (index.form is Form.ATTRIBUTE)
