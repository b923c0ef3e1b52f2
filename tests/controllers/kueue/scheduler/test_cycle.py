"""What one cycle decides about the heads of all queues: a table of facts, and what holds always."""

from pathlib import Path

import pytest

from fakekube_controllers.kueue.configuration import Configuration, FairSharing
from fakekube_controllers.kueue.scheduler.assignments import settings_of
from fakekube_controllers.kueue.scheduler.cycle import Action, Cycle
from fakekube_controllers.kueue.workload.info import Ordering
from tests.controllers.kueue.scheduler import tables
from tests.controllers.kueue.scheduler.tables import NOW

CASES = tables.read(Path(__file__).with_name("cycles.txt").read_text())


def cycle_of(case):
    """A cycle on the snapshot of a case, with its gates."""
    gates = {name: value == "on" for name, value in case.options.items() if name != "fair"}
    features = tables.OPTIONS.features._replace(**gates)
    configuration = Configuration(features=features, fair_sharing=FairSharing() if "fair" in case.options else None)
    return Cycle(settings_of(configuration, Ordering(features)), case.snapshot(), 1, NOW)


def told(entry, decision):
    """A decision as the table has it."""
    name = entry.info.key.name
    if decision.action == Action.ADMIT:
        assigned = [
            " ".join([each["name"], *([f"{each['count']}*"] if each["count"] != 1 else []),
                      *(f"{resource}={flavor}" for resource, flavor in sorted(each["flavors"].items()))])
            for each in entry.assignment.to_api()]
        return f"{name} admit {' + '.join(assigned)}"
    if decision.action == Action.PREEMPT:
        victims = sorted(f"{target.workload_info.key.name}:{target.reason}" for target in decision.targets)
        return f"{name} preempt {' '.join(victims)} | {entry.inadmissible_msg}"
    return f"{name} wait {entry.inadmissible_msg}"


def decide(cycle, heads):
    """Every entry with its decision, in the order in which they were processed."""
    entries, inadmissible = cycle.nominate(heads, is_added=lambda _: False, validate=lambda *_: "")
    assert not inadmissible
    return [(entry, cycle.process(entry)) for entry in cycle.in_order(entries)]


@pytest.mark.spec(
    "KUEUE-050", "KUEUE-051", "KUEUE-054", "KUEUE-057", "KUEUE-058", "KUEUE-059", "KUEUE-060", "KUEUE-061", "KUEUE-066",
    "KUEUE-074", "KUEUE-084")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_cycle_decides_as_upstreams(case):
    """Given a case that upstream tests, when a cycle runs, then each head gets what it gets there,
    or is told the same.
    """
    assert sorted(told(*each) for each in decide(cycle_of(case), case.heads())) == sorted(case.expected)
