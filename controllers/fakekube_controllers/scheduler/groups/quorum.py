"""What a tree of groups lacks to be tried: groups that are not there, and pods.

Asked when somebody wants to know why it waits; ``GroupStates.is_ready`` only says whether it does.
"""

from typing import NamedTuple

from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.queued import EntityKey, EntityType
from fakekube_controllers.scheduler.groups.entities import minimum_of
from fakekube_controllers.scheduler.groups.states import GroupStates

KINDS = {EntityType.POD_GROUP: "PodGroup", EntityType.COMPOSITE_POD_GROUP: "CompositePodGroup"}


class Lacking(NamedTuple):
    """How many pods have to come, at least, and in which groups."""

    pods: int
    changes: list[Change]


def missing(states: GroupStates, key: EntityKey) -> list[Change] | None:
    """What has to come before the tree that a group is in is tried.

    None where the parents of the group are a cycle.
    """
    root = states.root_of(key)
    if root is not None:
        return lacking(states, root).changes
    highest = states.nearest_known(key)
    if states.group(highest) is not None:
        return None
    return [changes.create(KINDS[highest.type], highest.namespace, highest.name)]


def lacking(states: GroupStates, key: EntityKey) -> Lacking:
    """What a group that is there lacks of its minimum, with all below it."""
    group = states.group(key)
    assert group is not None, "it is there"
    minimum = minimum_of(group)
    if key.type is EntityType.POD_GROUP:
        there = states.all_count(key)
        short = minimum - there
        if short <= 0:
            return Lacking(0, [])
        return Lacking(short, [changes.create_pods(key.name, key.namespace, short, there, minimum)])
    children = sorted((lacking(states, child) for child in states.children(key)), key=lambda each: each.pods)
    taken = children[:minimum]
    found = [change for child in taken for change in child.changes]
    short = minimum - len(taken)
    if short > 0:
        found.append(changes.create_groups(key.name, key.namespace, short, len(taken), minimum))
    return Lacking(sum(child.pods for child in taken) + max(short, 0), found)
