"""Who is preempted for whom: a table of facts, and what holds for any tree of queues."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fakekube_controllers.kueue.cache.fair_sharing import compare_drs
from fakekube_controllers.kueue.resources import FlavorResource, resource_value
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.preemption.preemptor import Preemptor, parse_strategies
from fakekube_controllers.kueue.workload.info import Ordering, Usage
from tests.controllers.kueue.scheduler import tables
from tests.controllers.kueue.scheduler.tables import NOW, Asked, Case

CASES = tables.read(Path(__file__).with_name("preemptions.txt").read_text())
CPU = FlavorResource("default", "cpu")
ORDERING = Ordering(tables.OPTIONS.features)
CLASSICAL = Preemptor(ORDERING)


def assignment(asked: list[dict[str, Asked]], counts: list[int]) -> SimpleNamespace:
    """What the flavor assigner would say."""
    podsets, total = [], {}
    for wanted, count in zip(asked, counts, strict=True):
        flavors = {}
        for resource, each in wanted.items():
            mode = FlavorAssignmentMode.PREEMPT if each.needs_preemption else FlavorAssignmentMode.FIT
            flavors[resource] = SimpleNamespace(name=each.flavor, mode=mode)
            key = FlavorResource(each.flavor, resource)
            total[key] = total.get(key, 0) + count * resource_value(resource, each.amount)
        podsets.append(SimpleNamespace(name="main", flavors=flavors))
    return SimpleNamespace(pod_sets=podsets, total_requests_for=lambda _: total)


def state(snapshot):
    """All usage, and all Workloads, of a snapshot."""
    nodes = [*snapshot.cluster_queues().values(), *snapshot.cohorts().values()]
    usage = {node.name: {fr: used for fr, used in node.resource_node.usage.items() if used} for node in nodes}
    return usage, {name: sorted(cq.workloads) for name, cq in snapshot.cluster_queues().items()}


def targets_of(case: Case):
    """The victims of a case, the snapshot, and that it is left as it was."""
    snapshot = case.snapshot()
    before = state(snapshot)
    strategies = tuple(filter(None, case.options.get("strategies", "").split(",")))
    preemptor = Preemptor(ORDERING, parse_strategies(strategies)) if case.id.startswith("fair") else CLASSICAL
    counts = [podset["count"] for podset in case.incoming["spec"]["podSets"]]
    found = preemptor.get_targets(case.info(), assignment(case.asked, counts), snapshot, NOW)
    assert state(snapshot) == before
    return found


@pytest.mark.spec("KUEUE-067", "KUEUE-068", "KUEUE-069", "KUEUE-070", "KUEUE-071", "KUEUE-072", "KUEUE-084")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_victims_are_those_of_upstream(case):
    """Given a case that upstream tests, when victims are looked for, then they are upstream's, for
    upstream's reasons.
    """
    found = [f"{target.workload_info.key.name}:{target.reason}" for target in targets_of(case)]
    assert sorted(found) == sorted(" ".join(case.expected).split())


# -- any tree of queues -------------------------------------------------------------------------

POLICIES = ("Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any")
PRIORITIES = st.integers(-1, 2)


@st.composite
def queues(draw, name, cohorts):
    limits = draw(st.sampled_from(["", "/0", "/2", "//1", "//0", "/3/1"])) if cohorts else ""
    options = {
        "within": draw(st.sampled_from(POLICIES[:3])), "reclaim": draw(st.sampled_from(["Never", "LowerPriority", "Any"])),
        "borrow": draw(st.sampled_from(["Never", "LowerPriority", "LowerPriority<=0"])),
        "weight": draw(st.sampled_from(["1", "2", "0"]))}
    if cohorts:
        options["cohort"] = draw(st.sampled_from(cohorts))
    return tables.cluster_queue(name, f"default cpu={draw(st.integers(0, 4))}{limits}", **options)


@st.composite
def situations(draw, *, depth=2):
    """Queues in cohorts, Workloads that hold quota, perhaps more than there is, and one that asks.
    """
    names = ["top", "left", "right"][: 1 if depth == 1 else 3]
    cohorts = [tables.cohort(name, parent="top" if name != "top" else "") for name in names]
    made = [draw(queues(f"q{number}", names)) for number in range(draw(st.integers(1, 4)))]
    held = []
    for number in range(draw(st.integers(0, 7))):
        each = tables.workload(
            f"w{number}", {"cpu": str(draw(st.integers(1, 3)))}, priority=draw(PRIORITIES), created=draw(st.integers(-9, 0)))
        queue = draw(st.sampled_from(made))["metadata"]["name"]
        held.append(tables.reserved(each, queue, {"cpu": "default"}, at=draw(st.integers(-9, 0)), evicted=draw(st.booleans())))
    amount = str(draw(st.integers(1, 5)))
    incoming = tables.workload("in", {"cpu": amount}, priority=draw(PRIORITIES), created=draw(st.integers(-9, 0)))
    asked = [{"cpu": Asked(amount, "default", needs_preemption=True)}]
    case = Case("any", {}, cohorts, made, held, incoming, draw(st.sampled_from(made))["metadata"]["name"], asked)
    left = case.snapshot().cluster_queue(case.queue).available(CPU)
    assume(left < int(amount) * 1000)  # what fits preempts nobody
    return case


def check_victims(case, preemptor):
    snapshot, info = case.snapshot(), case.info()
    before = state(snapshot)
    found = preemptor.get_targets(info, assignment(case.asked, [1]), snapshot, NOW)
    assert state(snapshot) == before
    queue, amount = snapshot.cluster_queue(case.queue), info.total_requests[0].requests["cpu"]
    for target in found:
        snapshot.remove_workload(target.workload_info)
    if found:
        assert queue.available(CPU) >= amount, "they suffice"
    for target in found:
        snapshot.add_workload(target.workload_info)
        needed = queue.available(CPU) < amount
        borrows = queue.borrowing_with(CPU, amount)
        snapshot.remove_workload(target.workload_info)
        assert needed or (borrows and not queue.borrowing_with(CPU, amount)), "none is superfluous"
    return snapshot, found


def may_be_preempted(case, victim):
    """What the policies of the queue say of a Workload."""
    queues_by_name = {queue["metadata"]["name"]: queue["spec"]["preemption"] for queue in case.cluster_queues}
    field = "withinClusterQueue" if victim.cluster_queue == case.queue else "reclaimWithinCohort"
    policy = queues_by_name[case.queue][field]
    own, priority = (each["spec"]["priority"] for each in (case.incoming, victim.obj))
    if policy == "LowerPriority":
        return priority < own
    if policy == "LowerOrNewerEqualPriority":
        created = [each["metadata"]["creationTimestamp"] for each in (victim.obj, case.incoming)]
        return priority < own or (priority == own and created[0] > created[1])
    return policy != "Never"


def check_priorities(case, found):
    assert all(may_be_preempted(case, target.workload_info) for target in found)


@given(situations())
def test_classical_victims_suffice_and_none_is_superfluous(case):
    """Given any tree, when victims are found, then they make room, no one of them can be spared,
    and no policy is broken; the snapshot stays as it was.
    """
    _, found = check_victims(case, CLASSICAL)
    check_priorities(case, found)


@given(situations())
def test_only_who_borrows_loses_to_another_queue(case):
    """Given any tree, when victims are of other queues, then those queues had borrowed."""
    snapshot, found = case.snapshot(), CLASSICAL.get_targets(case.info(), assignment(case.asked, [1]), case.snapshot(), NOW)
    for target in found:
        if target.workload_info.cluster_queue != case.queue:
            assert snapshot.cluster_queue(target.workload_info.cluster_queue).borrowing(CPU)


@given(situations(), st.sampled_from([(), ("LessThanOrEqualToFinalShare",), ("LessThanInitialShare",)]))
def test_fair_victims_suffice_and_none_is_superfluous(case, strategies):
    """Given any tree and strategy, when victims are found, then the same holds."""
    _, found = check_victims(case, Preemptor(ORDERING, parse_strategies(strategies)))
    check_priorities(case, found)


@given(situations(depth=1))
def test_the_final_share_of_the_winner_is_not_above_that_of_a_loser(case):
    """Given one cohort and the strategy of final shares alone, when a queue loses Workloads to make
    shares fair, then it is left with no less than the winner has, but for what the winner could
    preempt of its own: that is a victim first, and may be put back in the end without another look
    at the shares, as upstream's fillBackWorkloads does.
    """
    preemptor = Preemptor(ORDERING, parse_strategies(["LessThanOrEqualToFinalShare"]))
    snapshot, found = check_victims(case, preemptor)
    winner = snapshot.cluster_queue(case.queue)
    winner.add_usage(Usage({CPU: case.info().total_requests[0].requests["cpu"]}))
    for victim in [each for each in winner.workloads.values() if may_be_preempted(case, each)]:
        snapshot.remove_workload(victim)
    for target in found:
        if target.reason == "InCohortFairSharing":
            loser = snapshot.cluster_queue(target.workload_info.cluster_queue)
            assert compare_drs(winner.dominant_resource_share(), loser.dominant_resource_share()) <= 0
