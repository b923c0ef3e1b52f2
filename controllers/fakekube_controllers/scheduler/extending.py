"""A scheduling cycle in which extenders have a say: they narrow the nodes that the plugins let
pass, and add to their scores.

Upstream: pkg/scheduler/schedule_one.go (findNodesThatPassExtenders, prioritizeNodes).
"""

import logging
from collections.abc import Sequence

from fakekube_controllers.scheduler.cycle import Algorithm, SchedulingError
from fakekube_controllers.scheduler.framework.extender import EXTENDER_NAME, Extender, ExtenderError
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

log = logging.getLogger(__name__)

MAX_EXTENDER_PRIORITY = 10


async def schedule(
    algorithm: Algorithm, extenders: Sequence[Extender], state: CycleState, pod: PodInfo, snapshot: Snapshot,
) -> str:
    """The best node's name. Raises FitError when none fits, SchedulingError when a plugin or an
    extender fails that cannot be ignored.
    """
    feasible = algorithm.feasible_nodes(state, pod, snapshot, all_of_them=True)
    statuses = dict(feasible.statuses)
    asked = [extender for extender in extenders if extender.is_interested(pod)]
    nodes = await _filtered(asked, pod, feasible.nodes, statuses)
    if not nodes:
        more = (EXTENDER_NAME,) if feasible.nodes else ()
        raise algorithm.fit_error(statuses, len(snapshot.nodes), *feasible.named_by, *more)
    if len(nodes) == 1:
        return nodes[0].name
    totals = algorithm.scores(state, pod, nodes)
    for extender in asked:
        if not extender.is_prioritizer:
            continue
        try:
            scores = await extender.prioritize(pod, nodes)
        except ExtenderError as error:
            log.debug("extender %s gives no scores: %s", extender.name, error)
            continue
        for name, score in scores.items():
            if name in totals:
                totals[name] += score * extender.weight * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
    return algorithm.best_by(totals, nodes)


async def _filtered(
    extenders: Sequence[Extender], pod: PodInfo, nodes: Sequence[NodeInfo], statuses: dict[str, Status],
) -> Sequence[NodeInfo]:
    """The nodes that all extenders let pass; ``statuses`` gets why the others do not."""
    for extender in extenders:
        if not nodes:
            break
        if not extender.is_filter:
            continue
        try:
            result = await extender.filter(pod, nodes)
        except ExtenderError as error:
            if extender.is_ignorable:
                log.info("extender %s is left out: %s", extender.name, error)
                continue
            raise SchedulingError(str(error)) from error
        statuses.update({name: unschedulable(text) for name, text in result.failed.items()})
        statuses.update({name: unresolvable(text) for name, text in result.unresolvable.items()})
        nodes = result.nodes
    return nodes
