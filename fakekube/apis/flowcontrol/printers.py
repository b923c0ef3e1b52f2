"""How FlowSchemas and PriorityLevelConfigurations print, from their v1 form."""

from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import AGE, NAME, NONE, CellFunction, column, condition, dig, table


def _dangling(obj: Tree) -> Json:
    found = condition(obj, "Dangling")
    return "?" if found is None else found.get("status", "")


def _limited(*path: str) -> CellFunction:
    """A number of the limited level, whose absence means 0 there and nothing elsewhere."""

    def value(obj: Tree) -> Json:
        parent = dig(obj, "spec", "limited", *path[:-1])
        return NONE if parent is None else parent.get(path[-1], 0)

    return value


FLOW_SCHEMA = table(
    NAME,
    column("PriorityLevel", "spec.priorityLevelConfiguration.name"),
    column("MatchingPrecedence", "spec.matchingPrecedence", 0),
    column("DistinguisherMethod", "spec.distinguisherMethod.type", NONE),
    AGE,
    column("MissingPL", _dangling),
)
PRIORITY_LEVEL_CONFIGURATION = table(
    NAME,
    column("Type", "spec.type"),
    column("NominalConcurrencyShares", _limited("nominalConcurrencyShares")),
    column("Queues", _limited("limitResponse", "queuing", "queues")),
    column("HandSize", _limited("limitResponse", "queuing", "handSize")),
    column("QueueLengthLimit", _limited("limitResponse", "queuing", "queueLengthLimit")),
    AGE,
)
