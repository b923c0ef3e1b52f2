"""What events mean for pods that wait, with plugins that register whatever."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.scheduler.framework.events import (
    NODE_ADD,
    NODE_DELETE,
    QUEUE,
    SKIP,
    UNSCHEDULED_POD_ADD,
    ClusterEventWithHint,
)
from fakekube_controllers.scheduler.framework.queued import QueuedPodInfo
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.inflight import Happened
from fakekube_controllers.scheduler.requeueing import ANYBODY, Requeueing
from fakekube_controllers.scheduler.requeueing import SKIP as STAY

NAMES = ("A", "B", "C")
EVENTS = (NODE_ADD, NODE_DELETE, UNSCHEDULED_POD_ADD)
# what plugins say to an event: nothing, or whether it helps, and whether it can help any pod
SAYINGS = st.fixed_dictionaries({
    name: st.lists(st.tuples(st.sampled_from(EVENTS), st.sampled_from([None, True, False]), st.booleans()), max_size=3)
    for name in NAMES})
REJECTIONS = st.dictionaries(st.sampled_from((*NAMES, "Unknown")), st.none(), max_size=3)


def _registered(event: Any, helps: bool | None, can_help: bool) -> ClusterEventWithHint:
    if helps is None:
        return ClusterEventWithHint(event)
    # a hint that helps says so only of what can help
    said = QUEUE if helps and can_help else SKIP
    return ClusterEventWithHint(event, lambda *_: said, lambda *_: can_help)


@given(SAYINGS, REJECTIONS, REJECTIONS, st.sampled_from(EVENTS))
def test_who_is_not_among_the_listeners_would_stay(sayings: Any, rejected: Any, pending: Any, event: Any) -> None:
    """Given plugins that register events with and without hints, and a pod that some rejected, when
    an event happens, then a pod none of whose plugins listens would have stayed where it is.
    """
    requeueing = Requeueing({"s": {name: [_registered(*each) for each in said] for name, said in sayings.items()}})
    pod = {"metadata": {"name": "p", "uid": "p"}, "spec": {"schedulerName": "s", "containers": []}}
    queued = QueuedPodInfo(pod_info(pod), timestamp=0.0, sequence=1)
    queued.unschedulable_plugins, queued.pending_plugins = rejected, pending
    happened = Happened(event, None, None)
    rejecting, listeners = requeueing.rejecting_plugins(queued), requeueing.listeners(happened)
    assert ANYBODY in listeners
    if listeners.isdisjoint(rejecting):
        assert requeueing.strategy(queued, happened) == STAY
    if not rejected and not pending:
        assert not listeners.isdisjoint(rejecting)
