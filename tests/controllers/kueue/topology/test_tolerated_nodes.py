"""Which failures of nodes the pods of a Workload tolerate, by what flavors and checks add."""

from typing import Any

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from fakekube_controllers.kueue.topology.nodehealth import health_of

Tree = dict[str, Any]
TOLERATES = [{"key": "k", "operator": "Exists"}]
TAINTED: Tree = {
    "metadata": {"name": "a"}, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def assigned(name: str, node: str) -> Tree:
    """A podset on a node."""
    one = {"domainCount": 1, "valuesPerLevel": [{"universal": node}], "podCounts": {"universal": 1}}
    return {"name": name, "count": 1, "flavors": {"cpu": "f"}, "topologyAssignment": {"levels": [HOSTNAME], "slices": [one]}}


def workload(*assignments: Tree, checks: Any = ()) -> Tree:
    """A Workload with the podsets ``main`` and ``more``."""
    return {
        "metadata": {"name": "w", "namespace": "x"},
        "spec": {"podSets": [{"name": name, "count": 1, "template": {"spec": {}}} for name in ("main", "more")]},
        "status": {"admission": {"podSetAssignments": [*assignments]}, "admissionChecks": [*checks]}}


def check(name: str, tolerations: list[Tree]) -> Tree:
    """A check that wants a podset to tolerate something."""
    return {"name": "c", "state": "Ready", "podSetUpdates": [{"name": name, "tolerations": tolerations}]}


@pytest.mark.parametrize(("asked", "flavor", "wanted"), [
    (workload(assigned("main", "a")), {}, True),
    (workload(assigned("main", "a")), {"tolerations": TOLERATES}, False),
    (workload(assigned("main", "a"), checks=[check("main", TOLERATES)]), {}, False),
    (workload(assigned("main", "a"), checks=[check("more", TOLERATES)]), {}, True),
    (workload(assigned("main", "a"), checks=[check("main", []), check("main", TOLERATES)]), {}, False),
    (workload(assigned("main", "a"), checks=[{"name": "c", "state": "Pending"}]), {}, True),
    (workload(assigned("main", "b"), assigned("more", "a"), checks=[check("main", TOLERATES)]), {}, True),
    (workload(assigned("main", "b"), assigned("more", "a"), checks=[check("more", TOLERATES)]), {}, False),
    (workload(assigned("main", "a"), assigned("more", "a"), checks=[check("main", TOLERATES)]), {}, True),
])
def test_a_taint_that_is_tolerated(asked: Tree, flavor: Tree, wanted: bool) -> None:
    """Given a Workload on a node that gets a taint, when all its podsets there tolerate it, by
    their flavor or by a check, then the node has not failed for it.
    """
    found = health_of(asked, TAINTED, (), (), lambda _: {"spec": flavor}, Features())
    assert found.is_unhealthy is wanted
