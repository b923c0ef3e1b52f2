"""How custom objects print as Tables: by the columns of their definition, else name and age.

Upstream: apiextensions-apiserver/pkg/registry/customresource/tableconvertor, and
GetCustomResourceColumns in pkg/apihelpers.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from fakekube.apimachinery import ages, jsonpath
from fakekube.apimachinery.times import TimeError, parse_time
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.kind import CREATED_DESCRIPTION, NAME_DESCRIPTION, Column, Printer

NAME = Column("Name", "string", "name", NAME_DESCRIPTION)
AGE: Tree = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "description": CREATED_DESCRIPTION}
DESCRIPTION = "Custom resource definition column (in JSONPath format): "

Cell = Callable[[Any, float], Json]


def printer_of(declared: list[Tree]) -> Printer:
    """The printer of ``additionalPrinterColumns``.

    Columns from the first on whose path cannot be read are left out.
    """
    columns, cells = [NAME], []
    for column in declared or [AGE]:
        try:
            path = jsonpath.compiled(column["jsonPath"])
        except jsonpath.BadPath:
            break
        columns.append(Column(
            column["name"], column["type"], column.get("format", ""),
            column.get("description") or DESCRIPTION + column["jsonPath"], column.get("priority", 0)))
        cells.append(partial(_at, path, CELLS[column["type"]]))

    def row(obj: Tree, now: float) -> list[Json]:
        return [obj["metadata"].get("name", ""), *(cell(obj, now) for cell in cells)]

    return Printer(columns, row)


def _at(path: jsonpath.JSONPath, cell: Cell, obj: Tree, now: float) -> Json:
    """The first value on a path as a cell; nothing where there is none."""
    try:
        found = path.find(obj)
    except jsonpath.NotApplicable:
        return None
    return cell(found[0], now) if found else None


def _text(value: Any, _: float) -> Json:
    return jsonpath.text_of(value)


def _integer(value: Any, _: float) -> Json:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number(value: Any, _: float) -> Json:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _boolean(value: Any, _: float) -> Json:
    return value if isinstance(value, bool) else None


def _date(value: Any, now: float) -> Json:
    if not isinstance(value, str):
        return None
    if value in ("", "null"):
        return ages.UNKNOWN
    try:
        return ages.human_duration(now - parse_time(value))
    except TimeError:
        return "<invalid>"


CELLS: dict[str, Cell] = {"string": _text, "integer": _integer, "number": _number, "boolean": _boolean, "date": _date}
