"""What the search makes of signatures that are wrong, or of no use, and of several scores."""

from typing import Any

import pytest

from fakekube_controllers.scheduler import search
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import unschedulable
from fakekube_controllers.scheduler.framework.types import pod_info
from tests.controllers.scheduler.contexts import algorithm, framework
from tests.controllers.scheduler.plugins.cases import node, pod, snapshot

SPREAD = {"topologySpreadConstraints": [{
    "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}}}]}


def test_nodes_of_pods_that_count_others_are_all_different() -> None:
    """Given a pod that is spread over zones, and one that is not / then what filters depend on at a
    node is known for the second only, and is the same for nodes of the same kind.
    """
    profile = framework()
    where = [node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "a"}), node("n3", labels={"zone": "a"}, cpu="5")]
    for of, is_known in ((pod(), True), (pod(**SPREAD), False)):
        state, info = CycleState(), pod_info(of)
        assert profile.run_pre_filter_plugins(state, info, snapshot(*where))[1] is None
        sign = profile.filter_signer(state, info)
        assert (sign is not None) == is_known
        if sign is not None:
            first, second, third = map(sign, where)
            assert (first == second, first == third) == (True, False)


class Liar:
    """Says that all nodes are the same to it, and rejects the first."""

    name = "Liar"

    def __init__(self, *_: Any) -> None:
        return

    def sign_pod(self, _: Any) -> Any:
        """The same for all."""
        return 0

    def node_fields(self, _: Any) -> Any:
        """None."""
        return ()

    def sign_node(self, *_: Any) -> Any:
        """The same for all."""
        return 0

    def filter(self, _: Any, __: Any, where: Any) -> Any:
        """The first is not."""
        return unschedulable("not this") if where.name == "n1" else None


def test_signatures_that_contradict_a_filter_are_a_defect() -> None:
    """Given a plugin whose signatures say that nodes are alike, of which it rejects one only / when
    a pod is tried / then that is told.
    """
    alike = [node("n1", labels={}), node("n2", pod("other"), labels={})]
    with pytest.raises(RuntimeError, match=r"^a plugin's signatures contradict its filter on node n2$"):
        algorithm(Liar).schedule(CycleState(), pod_info(pod()), snapshot(*alike))


@pytest.mark.parametrize(("parts", "expected"), [
    ([((1,), 1)], 1), ([((4,), 3)], 12), ([((-1,), 3)], -1), ([((1,), 2), ((3,), 4)], 14), ([((1,), 2), ((-1,), 4)], -1),
    ([((-1,), 2), ((3,), 4)], -1), ([((1,), 2), ((3,), 4), ((5,), 6)], 44), ([((1,), 2), ((3,), 4), ((-1,), 6)], -1),
    ([((0,), 2), ((0,), 4), ((0,), 6)], 0)])
def test_scores_are_added_by_weight(parts: Any, expected: int) -> None:
    """Given scores with weights / then they are added; one that says that the pod does not fit says
    so for all.
    """
    functions: Any = [(lambda usage, score=score: score + len(usage), weight) for (score,), weight in parts]
    assert search._sum(functions)(()) == expected
