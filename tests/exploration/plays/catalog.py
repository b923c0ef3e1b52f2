"""All plays, and which of them proves which component."""

from tests.exploration.plays import addons, nodes, objects, scheduling, volumes, workloads

PLAYS = tuple(play for module in (workloads, objects, nodes, volumes, scheduling, addons) for play in module.PLAYS)
PROVING = {
    component: [play.name for play in PLAYS if component in play.components]
    for component in sorted({component for play in PLAYS for component in play.components})}
"""By component, the names of the plays in which it is tried."""
