"""How the kinds of scheduling.k8s.io print."""

from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, NONE, column, condition, dig, table


def _policy(obj: Tree) -> str:
    return "Basic" if dig(obj, "spec", "schedulingPolicy", "gang") is None else "Gang"


def _workload(obj: Tree) -> str:
    """The Workload behind a group; 1.36 names it in podGroupTemplateRef."""
    ref = dig(obj, "spec", "workloadRef") or dig(obj, "spec", "podGroupTemplateRef", "workload")
    return NONE if ref is None else str(ref.get("workloadName", ""))


def _status(obj: Tree) -> str:
    disrupted = condition(obj, "DisruptionTarget")
    if disrupted is not None:
        return str(disrupted.get("reason", ""))
    scheduled = condition(obj, "PodGroupInitiallyScheduled") or condition(obj, "PodGroupScheduled")
    if scheduled is None:
        return "Pending"
    return "Scheduled" if scheduled.get("status") == "True" else "Unschedulable"


COMPOSITE_POD_GROUP = table(NAME, column("Policy", _policy), column("Workload", _workload), AGE)
POD_GROUP = table(NAME, column("Policy", _policy), column("Workload", _workload), column("Status", _status), AGE)
PRIORITY_CLASS = table(
    NAME,
    column("Value:integer", "value", 0),
    column("Global-Default:boolean", "globalDefault", default=False),
    AGE,
    column("PreemptionPolicy", "preemptionPolicy"),
)
