"""Selectors of devices: ``device.attributes["gpu.example.com"].model == "x"``.

``device`` is what a driver says of a device in a ResourceSlice. Attributes and capacities stand
under the domain of their names; a domain that a device has nothing of is an empty map. Upstream:
dynamic-resource-allocation/cel/compile.go. Left out: derived attributes.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube.cel import errors, types
from fakekube.cel.decltypes import DeclField, DeclType
from fakekube.cel.environment import Environment, Program
from fakekube.cel.libraries import Library
from fakekube.cel.library import bindings, kubernetes, kubernetes_lists, quantities, semvers
from fakekube.util.memory import memoized
from fakekube.util.turns import Turn

MAX_LENGTH = 10 * 1024
MAX_COST = 1_000_000
MAX_DOMAIN, MAX_ID, MAX_DRIVER = 63, 32, 63
MAX_NAMES, MAX_VALUE, MAX_VALUES = 32, 64, 48

DEVICE = "device"
_MULTIPLE_SINCE = 34
_LISTS_SINCE = 36


class SelectorError(ValueError):
    """An expression that is no selector; says why as upstream does."""


class Attributes(dict[str, Any]):
    """Maps by domains; one that is not there is empty."""

    cel_type = types.MAP

    def __missing__(self, domain: str) -> dict[str, Any]:
        return {}


class _SameForAll(Mapping[str, DeclField]):
    """Fields of any name, all declared the same."""

    def __init__(self, decl: DeclType) -> None:
        self._decl = decl

    def __getitem__(self, name: str) -> DeclField:
        return DeclField(self._decl, name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@memoized(32)
def environment(minor: int, *, stored: bool, multiple_allocations: bool, list_attributes: bool) -> Environment:
    """What selectors of a release may use, by its minor number.

    ``multiple_allocations`` and ``list_attributes`` are the gates DRAConsumableCapacity and
    DRAListTypeAttributes; a stored expression has what they bring in any case.
    """
    compatible = kubernetes.compatible_with(minor, stored=stored)
    lists = list_attributes or (stored and compatible >= _LISTS_SINCE)
    multiple = multiple_allocations or (stored and compatible >= _MULTIPLE_SINCE)
    libraries = [*kubernetes.libraries(minor, stored=stored), bindings.library()]
    if lists:
        libraries.append(_includes())
    options = kubernetes.environment(minor, stored=stored).options
    return Environment({DEVICE: _device(multiple_allocations=multiple, lists=lists)}, libraries=libraries, options=options)


def _includes() -> Library:
    of = kubernetes_lists.library(1)
    return Library("includes", tuple(each for each in of.functions if each.name == "includes"))


def _device(*, multiple_allocations: bool, lists: bool) -> DeclType:
    domain, name = DeclType(types.STRING, 0, MAX_DOMAIN), DeclType(types.STRING, 0, MAX_ID)
    value = DeclType(types.DYN, 0, MAX_VALUE) if lists else DeclType(types.ANY, 0, MAX_VALUE)
    fields = {
        "driver": DeclType(types.STRING, 0, MAX_DRIVER),
        "attributes": _by_domain(domain, name, value, known=_SameForAll(value)),
        "capacity": _by_domain(domain, name, DeclType(quantities.QUANTITY_TYPE, 0), known={}),
    }
    if multiple_allocations:
        fields["allowMultipleAllocations"] = DeclType(types.BOOL, 0, 1)
    of = types.object_type("kubernetes.DRADevice", {field: decl.type for field, decl in fields.items()})
    return DeclType(of, 0, fields={field: DeclField(decl, field) for field, decl in fields.items()})


def _by_domain(domain: DeclType, name: DeclType, value: DeclType, *, known: Mapping[str, DeclField]) -> DeclType:
    inner = DeclType(types.map_of(types.STRING, value.type), 0, MAX_NAMES, fields=known, key=name, element=value)
    return DeclType(types.map_of(types.STRING, inner.type), 0, MAX_NAMES, key=domain, element=inner)


def compiled(text: str, of: Environment) -> Program:
    """The program of a selector, whose value is a bool. Raises SelectorError."""
    try:
        program = of.compile(text)
    except errors.CompileError as error:
        raise SelectorError(f"compilation failed: {error}") from None
    except errors.ProgramError as error:
        raise SelectorError(f"program instantiation failed: {error}") from None
    if program.type.kind not in (types.Kind.BOOL, types.Kind.DYN, types.Kind.ANY):
        raise SelectorError(f"must evaluate to bool or the unknown type, not {program.type}")
    return program


def matches(program: Program, device: Tree, driver: str, turn: Turn | None = None) -> bool:
    """Whether a device of a driver, as a ResourceSlice has it, is selected. Raises CelError.

    With a ``turn`` it ends that now and then: TakesLong is raised in the first.
    """
    value, _ = program.run({DEVICE: value_of(device, driver)}, MAX_COST, turn)
    if value.__class__ is not bool:
        raise errors.EvaluationError(f"CEL result of type {program.type} could not be converted to bool")
    return bool(value)


def value_of(device: Tree, driver: str) -> dict[str, Any]:
    """The value of the variable ``device``. Raises EvaluationError for a version that is none."""
    attributes, capacity = Attributes(), Attributes()
    for name, attribute in (device.get("attributes") or {}).items():
        _put(attributes, name, driver, _attribute(attribute))
    for name, amount in (device.get("capacity") or {}).items():
        _put(capacity, name, driver, quantities.to_quantity(str(amount["value"])))
    multiple = bool(device.get("allowMultipleAllocations"))
    return {"driver": driver, "allowMultipleAllocations": multiple, "attributes": attributes, "capacity": capacity}


def _put(into: dict[str, Any], name: str, driver: str, value: Any) -> None:
    domain, slash, own = name.partition("/")
    into.setdefault(domain if slash else driver, {})[own if slash else name] = value


def _attribute(attribute: Tree) -> Any:
    for key, value in attribute.items():
        if key == "version":
            return semvers.to_semver(value)
        if key == "versions":
            return [semvers.to_semver(each) for each in value]
        return value
    raise errors.EvaluationError("unsupported attribute value")
