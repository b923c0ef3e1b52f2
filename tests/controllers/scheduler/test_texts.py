"""What the scheduler says of a pod that it could not place."""

import pytest

from fakekube_controllers.scheduler.framework.status import Code, FitError, Status

UNFIT = Status(Code.UNSCHEDULABLE, ("Insufficient cpu",), "NodeResourcesFit")
CORDONED = Status(Code.UNSCHEDULABLE, ("node(s) were unschedulable",), "NodeUnschedulable")


@pytest.mark.parametrize(("options", "text"), [
    ({"statuses": {"a": UNFIT, "b": CORDONED, "c": UNFIT}, "num_all_nodes": 3},
     "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu."),
    ({"statuses": {}, "num_all_nodes": 0}, "no nodes available to schedule pods"),
    ({"statuses": {}, "num_all_nodes": 2}, "0/2 nodes are available."),
    ({"statuses": {"a": UNFIT}, "num_all_nodes": 2, "pre_filter_status": Status(Code.UNSCHEDULABLE, ("no claim",), "V")},
     "0/2 nodes are available: no claim."),
    ({"statuses": {"a": UNFIT}, "num_all_nodes": 1, "post_filter_message": "preemption: none."},
     "0/1 nodes are available: 1 Insufficient cpu. preemption: none."),
])
def test_why_no_node_was_fit(options, text):
    """Given what the plugins said of each node / then the pod's Event and condition sum it up."""
    assert str(FitError(**options)) == text
