"""All plays, and which of them proves which component."""

from tests.exploration.plays import addons, multikueue, nodes, objects, scheduling, volumes, workloads

PLAYS = tuple(
    play for module in (workloads, objects, nodes, volumes, scheduling, addons, multikueue) for play in module.PLAYS)
PROVED = tuple((component.rpartition("/")[2], play.name) for play in PLAYS for component in play.components)
PROVING = {
    component: [name for proved, name in PROVED if proved == component] for component in sorted({one for one, _ in PROVED})}
"""By component, the names of the plays in which it is tried."""
