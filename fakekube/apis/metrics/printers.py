"""How what nodes and pods use prints: an amount for each resource.

Upstream: metrics-server/pkg/api/table.go.
"""

from fakekube.apimachinery import quantity
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.kind import Column, Printer

RESOURCES = ("cpu", "memory")
COLUMNS = (
    Column("Name", "string", "name", "Name of the resource"), *(Column(name, format="quantity") for name in RESOURCES),
    Column("Window", format="duration"),
)


def _of_node(obj: Tree) -> list[Json]:
    return [obj["metadata"]["name"], *(obj["usage"][name] for name in RESOURCES), obj["window"]]


def _of_pod(obj: Tree) -> list[Json]:
    return [obj["metadata"]["name"], *(_sum(obj["containers"], name) for name in RESOURCES), obj["window"]]


def _sum(containers: list[Tree], resource: str) -> str:
    amounts = [quantity.parse(container["usage"][resource]) for container in containers]
    return quantity.render(sum(amount.nano for amount in amounts), amounts[0].format if amounts else quantity.DECIMAL)


NODE_METRICS = Printer(COLUMNS, lambda obj, _: _of_node(obj))
POD_METRICS = Printer(COLUMNS, lambda obj, _: _of_pod(obj))
