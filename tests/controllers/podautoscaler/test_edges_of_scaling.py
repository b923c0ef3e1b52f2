"""Where an autoscaler has little to go by: no pods, nothing requested, or no autoscaler."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.runtime.reconcile import Request
from fakekube_controllers.podautoscaler import replicas
from fakekube_controllers.podautoscaler.controller import HorizontalReconciler
from fakekube_controllers.podautoscaler.replicas import Proposal, Tolerances
from fakekube_controllers.podautoscaler.sources import MetricError
from tests.controllers.podautoscaler import test_replicas, test_syncs

pods_of: Any = test_replicas.pods_of
samples: Any = test_replicas.samples
TENTH = Tolerances(0.1, 0.1)
LARGE = 2**31 - 1


@pytest.mark.parametrize(("total", "target", "current", "pods", "expected"), [
    (0, 10, 0, [], Proposal(0, 0)), (1, 10, 0, [], Proposal(1, 1)), (20, 10, 0, [], Proposal(2, 20)),
    (21, 10, 0, [], Proposal(3, 21)), (2**40, 1, 0, [], Proposal(LARGE, 2**40)), (11, 10, 5, [], Proposal(5, 11)),
    (20, 10, 1, [{}, {}], Proposal(4, 20)), (20, 10, 1, [{}, {"ready": False}, {"phase": "Pending"}], Proposal(2, 20)),
    (2**63, 10**18, 1, [{}], Proposal(10, 2**63 - 1)),
])
def test_replicas_by_a_number_for_all(total: int, target: int, current: int, pods: Any, expected: Proposal) -> None:
    """Given one number for all pods / when there are none, then there are to be as many as the
    number asks for; else as many times those that are ready.
    """
    assert replicas.by_total(pods_of(*pods), total, target, current, TENTH) == expected


def test_a_number_without_pods_says_nothing() -> None:
    """Given replicas that have no pods / when the number is not the wanted one / then that is an
    error.
    """
    with pytest.raises(MetricError, match=r"^unable to calculate ready pods: no pods returned by selector while calculating "
                                          r"replica count$"):
        replicas.by_total([], 20, 10, 1, TENTH)


def test_metrics_of_pods_that_request_nothing() -> None:
    """Given pods with metrics / when what they request is nothing / then that is an error."""
    pods = pods_of({"request": "0"}, {"request": "0"})
    with pytest.raises(MetricError, match=r"^no metrics returned matched known pods$"):
        replicas.by_utilization(pods, samples(1, 2), lambda: {"p0": 0, "p1": 0}, 50, 2, TENTH, "cpu", test_replicas.NOW)


@pytest.mark.parametrize(("least", "says", "scale"), [(3, 9, 4), (4, 9, 4), (5, 9, 5), (6, 7, 6), (6, 0, 6), (2, 3, 3)])
async def test_from_none_to_the_minimum_at_once(least: int, says: int, scale: int) -> None:
    """Given an autoscaler that has scaled to none, and has a minimum since / when the metric asks
    for more than may come at once / then the minimum comes at once all the same.
    """
    world: Any = test_syncs.Target(0, says={"m": says}, gates=("HPAScaleToZero",), minor=37)
    await world.sync(test_syncs.autoscaler("m", least=least, status={"conditions": [test_syncs.ZEROED]}))
    assert [each[1] for each in world.told() if each[0] == "scale"] == [scale]


async def test_an_autoscaler_that_is_gone_is_forgotten() -> None:
    """Given an autoscaler that is gone / then what was written for it is forgotten."""
    forgotten: list[Any] = []
    made: Any = object.__new__(HorizontalReconciler)
    made.shared = SimpleNamespace(
        autoscalers=SimpleNamespace(get=lambda *_: None), own_writes=SimpleNamespace(forget=forgotten.append))
    assert (await made.reconcile(Request("n", "a")), forgotten) == (None, [Request("n", "a")])
