"""What is told of flavors that were tried for several resources, and whom a policy lets preempt."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.scheduler.flavorassigner import attempts
from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import FlavorAssignmentAttempt
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.preemption.common.preemption_policy import preemption_policy
from fakekube_controllers.kueue.workload.info import Info, Ordering
from tests.controllers.kueue import test_info

OPTIONS = test_info.OPTIONS
workload: Any = test_info.workload
FIT, NO_FIT, PREEMPT = FlavorAssignmentMode.FIT, FlavorAssignmentMode.NO_FIT, FlavorAssignmentMode.PREEMPT
QUOTA, MATCHING = "WaitingForQuota", "NoMatchingFlavor"


def attempt(flavor: str, mode: FlavorAssignmentMode, *reasons: str, borrow: int = 0, why: str = "") -> FlavorAssignmentAttempt:
    """What became of a flavor."""
    return FlavorAssignmentAttempt(flavor, mode, borrow, None, [*reasons], why)


def queue(*groups: list[str]) -> Any:
    """A ClusterQueue whose resource ``cpu`` is in the first of groups of flavors."""
    made = [SimpleNamespace(flavors=flavors) for flavors in groups]
    return SimpleNamespace(resource_groups=made, rg_by_resource=lambda name: made[0] if name == "cpu" else None)


def merged(total: list[FlavorAssignmentAttempt], found: list[FlavorAssignmentAttempt], of: Any) -> list[FlavorAssignmentAttempt]:
    """All that were tried, after one more resource."""
    known = {each.flavor: each for each in total}
    attempts.merge_for_resource(known, found, "cpu", of)
    return attempts.finalized(known)


@pytest.mark.parametrize(("total", "found", "wanted"), [
    ([], [attempt("b", FIT), attempt("a", NO_FIT, "y", "x", "y")], [attempt("a", NO_FIT, "x", "y"), attempt("b", FIT)]),
    ([attempt("a", FIT, "x", borrow=1)], [attempt("a", PREEMPT, "y", "x", borrow=2)],
     [attempt("a", PREEMPT, "x", "y", borrow=2)]),
    ([attempt("a", NO_FIT, why=QUOTA, borrow=3)], [attempt("a", FIT, why=MATCHING)],
     [attempt("a", NO_FIT, why=MATCHING, borrow=3)]),
    ([attempt("b", FIT, "x")], [attempt("a", FIT)], [
        attempt("a", FIT), attempt("b", NO_FIT, "flavor b does not provide resource cpu", "x", why=MATCHING)]),
    ([attempt("other", FIT)], [attempt("a", FIT)], [attempt("a", FIT), attempt("other", FIT)]),
    ([attempt("b", FIT)], [], [attempt("b", FIT)]),
])
def test_of_a_flavor_the_worst_counts(
    total: list[FlavorAssignmentAttempt], found: list[FlavorAssignmentAttempt], wanted: list[FlavorAssignmentAttempt],
) -> None:
    """Given what became of flavors for one resource, when another one is tried, then of each flavor
    the worst counts, and one of its group that it did not get to does not provide it.
    """
    assert merged(total, found, queue(["a", "b"])) == wanted


@pytest.mark.parametrize(("found", "wanted"), [
    ([attempt("a", NO_FIT, why=MATCHING), attempt("b", NO_FIT, why=QUOTA)], QUOTA),
    ([attempt("a", NO_FIT, why=QUOTA), attempt("c", NO_FIT, why=MATCHING)], MATCHING),
    ([attempt("a", FIT, why=MATCHING), attempt("c", NO_FIT, why=QUOTA)], QUOTA),
    ([attempt("a", NO_FIT, why=QUOTA), attempt("x", NO_FIT, why=MATCHING)], MATCHING),
    ([attempt("a", FIT)], ""),
])
def test_why_nothing_fits(found: list[FlavorAssignmentAttempt], wanted: str) -> None:
    """Given flavors that were tried, when none fits, then of those of one group the least bad
    reason counts, and of groups the worst.
    """
    assert attempts._of_podset(found, queue(["a", "b"], ["c"])) == wanted


def of(priority: int, created: str) -> Tree:
    """A Workload of a priority."""
    made: Tree = workload(priority=priority)
    made["metadata"]["creationTimestamp"] = created
    return made


@pytest.mark.parametrize(("policy", "gate", "wanted"), [
    ("Never", False, []), ("Any", False, ["low", "older", "same", "newer", "late", "high"]),
    ("LowerPriority", False, ["low"]), ("LowerOrNewerEqualPriority", False, ["low", "newer", "late"]),
    ("LowerOrNewerEqualPriority", True, ["low", "late"])])
def test_whom_a_policy_lets_preempt(policy: str, gate: bool, wanted: list[str]) -> None:
    """Given Workloads of other priorities and ages, when a policy is asked, then it lets those be
    preempted that it names; equals that are little newer are spared where that is on.
    """
    ordering = Ordering(Features(SchedulerTimestampPreemptionBuffer=gate))
    candidates = {
        "low": of(1, "2026-01-01T00:00:00Z"), "older": of(5, "2025-12-31T00:00:00Z"), "same": of(5, "2026-01-01T00:00:00Z"),
        "newer": of(5, "2026-01-01T00:05:00Z"), "late": of(5, "2026-01-01T00:05:01Z"), "high": of(9, "2026-01-01T00:05:01Z")}
    may = preemption_policy(of(5, "2026-01-01T00:00:00Z"), ordering, policy)
    assert [name for name, each in candidates.items() if may(Info(each, OPTIONS))] == wanted
