"""What the printers of all kinds share: columns with their cells, ages, lists that end in ``+ 2
more...``.

A table is a list of cells, each a column and what to print in it, so that a kind's printer reads
like its output. Columns and cells are upstream's (pkg/printers/internalversion/printers.go),
descriptions our own short ones.
Left out: what depends on the whole list, namely the order of FlowSchemas by precedence, and which
of several default StorageClasses is the effective one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import labels
from fakekube.apimachinery.ages import since
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.kind import Column, Printer

NONE = "<none>"
UNSET = "<unset>"
WIDE = "+"

CellFunction = Callable[[Tree], Json]
TimedFunction = Callable[[Tree, float], Json]


class Cell(NamedTuple):
    """A column and what stands in it for an object at a time (Unix seconds)."""

    column: Column
    value: TimedFunction


def table(*cells: Cell, conditions: Callable[[Tree], list[Tree]] | None = None) -> Printer:
    """A printer of these cells."""
    functions = tuple(cell.value for cell in cells)

    def row(obj: Tree, now: float) -> list[Json]:
        return [function(obj, now) for function in functions]

    return Printer(tuple(cell.column for cell in cells), row, conditions)


def columns(*specs: str) -> tuple[Column, ...]:
    """Columns for printers that make a whole row at once; see ``column`` for the specs."""
    return tuple(_column(spec) for spec in specs)


def column(spec: str, value: CellFunction | str, default: Json = "") -> Cell:
    """A cell by a spec like ``Desired:integer`` or ``Selector+``, + for columns that ``-o wide``
    shows.

    ``value`` is a function, or the dotted path of a field, whose ``default`` stands for absent
    ones.
    """
    function = at(value, default) if isinstance(value, str) else value
    return Cell(_column(spec), lambda obj, _now: function(obj))


def timed(spec: str, value: TimedFunction) -> Cell:
    """A cell that changes with time: an age, a duration."""
    return Cell(_column(spec), value)


def _column(spec: str) -> Column:
    name, _, kind = spec.removesuffix(WIDE).partition(":")
    priority = 1 if spec.endswith(WIDE) else 0
    description = _DESCRIPTIONS.get(name, f"{name} of the object.")
    return Column(name, kind or "string", "name" if name == "Name" else "", description, priority)


_DESCRIPTIONS = {
    "Name": "Name of the object, unique among its kind within a namespace.",
    "Age": "Time since the server stored the object first.",
    "Created At": "When the server stored the object first.",
}


def dig(obj: Tree, *path: str) -> Any:
    """The value below a path of field names, or None."""
    value: Any = obj
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def at(path: str, default: Json = "") -> CellFunction:
    """A cell with the value of a field: ``spec.replicas``."""
    names = tuple(path.split("."))

    def value(obj: Tree) -> Json:
        found = dig(obj, *names)
        return default if found is None else found

    return value


def count(path: str) -> CellFunction:
    """A cell with the number of elements of a list or map."""
    names = tuple(path.split("."))
    return lambda obj: len(dig(obj, *names) or ())


def joined(path: str, default: str = "") -> CellFunction:
    """A cell with the elements of a list of strings, by commas."""
    names = tuple(path.split("."))
    return lambda obj: ",".join(dig(obj, *names) or ()) or default


def age(obj: Tree, now: float) -> str:
    """How long the object is there."""
    return since(dig(obj, "metadata", "creationTimestamp"), now)


def created_at(obj: Tree) -> str:
    """When the object was created, for columns of type date."""
    return dig(obj, "metadata", "creationTimestamp") or "0001-01-01T00:00:00Z"


def format_labels(pairs: Mapping[str, str] | None) -> str:
    """``a=1,b=2`` in order of the keys, or ``<none>``."""
    return ",".join(f"{key}={value}" for key, value in sorted((pairs or {}).items())) or NONE


def format_selector(selector: Tree | None) -> str:
    """A label selector as text, or ``<none>``, or ``<error>``."""
    try:
        return str(labels.from_label_selector(selector)) or NONE
    except labels.SelectorError:
        return "<error>"


def limited(items: Sequence[str], limit: int, *, total: int | None = None, empty: str = UNSET) -> str:
    """The first items by commas, and how many more there are."""
    text = ",".join(items[:limit])
    total = len(items) if total is None else total
    if total > limit:
        return f"{text} + {total - limit} more..."
    return text or empty


def container_names(containers: Iterable[Tree] | None) -> str:
    """The names of containers, by commas."""
    return ",".join(container.get("name", "") for container in containers or ())


def container_images(containers: Iterable[Tree] | None) -> str:
    """The images of containers, by commas."""
    return ",".join(container.get("image", "") for container in containers or ())


def condition(obj: Tree, kind: str) -> Tree | None:
    """The first condition of a type in the status."""
    return next((found for found in dig(obj, "status", "conditions") or () if found.get("type") == kind), None)


def has_condition(obj: Tree, kind: str) -> bool:
    """Whether the condition is there and True."""
    found = condition(obj, kind)
    return found is not None and found.get("status") == "True"


NAME = column("Name", "metadata.name")
AGE = timed("Age", age)
CREATED_AT = column("Created At:date", created_at)


def containers_of(path: str) -> tuple[Cell, Cell]:
    """The wide columns with the names and the images of the containers of a pod spec."""
    names = (*path.split("."), "containers")
    return (
        column("Containers+", lambda obj: container_names(dig(obj, *names))),
        column("Images+", lambda obj: container_images(dig(obj, *names))),
    )


def selector_of(path: str) -> Cell:
    """The wide column with a label selector."""
    names = path.split(".")
    return column("Selector+", lambda obj: format_selector(dig(obj, *names)))
