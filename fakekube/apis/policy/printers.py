"""How PodDisruptionBudgets print."""

from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, CellFunction, column, dig, table


def _limit(field: str) -> CellFunction:
    def text(obj: Tree) -> str:
        value = dig(obj, "spec", field)
        return "N/A" if value is None else str(value)

    return text


POD_DISRUPTION_BUDGET = table(
    NAME,
    column("Min Available", _limit("minAvailable")),
    column("Max Unavailable", _limit("maxUnavailable")),
    column("Allowed Disruptions:integer", "status.disruptionsAllowed", 0),
    AGE,
)
