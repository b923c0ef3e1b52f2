"""Which operator a strategy tries in a fleet, and where: an operator of one member may write to
others, too.

``manager/scheduler`` is a component, or a pattern of a user agent or user, of one member;
``scheduler`` alone is that of each member that has one. Each is several targets: one for its own
cluster, and one for each other member to which its requests came. So a fault meets it in one of
them; when it dies there, it dies as a whole.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fakekube.composition.controllermanager import USER
from fakekube.exploration.strategies import Target

if TYPE_CHECKING:
    from fakekube.apiserver.filters import LogEntry
    from fakekube.composition.cluster import Cluster
    from fakekube.composition.fleet import Fleet


def member_and_name(fleet: "Fleet", wanted: str) -> tuple[tuple[str, ...], str]:
    """The members in which a target is looked for, and its name there."""
    member, slash, name = wanted.partition("/")
    if slash and member in fleet:
        return (member,), name
    having = tuple(each for each, cluster in fleet.items() if wanted in cluster.manager.names)
    return having or tuple(fleet), wanted


def targets_of(fleet: "Fleet", member: str, target: Target) -> Iterator[tuple[str, Target]]:
    """A target of a member, for each cluster in which it is one: with the cluster's name."""
    name = f"{member}/{target.name}"
    if not target.component:
        yield member, target._replace(name=name, clusters=(member,))
        return
    component = f"{member}/{target.component}"
    users = target.users or _users_of(fleet[member], target.component)
    yield member, target._replace(name=name, users=users, component=component, clusters=(member,))
    for other, cluster in fleet.items():
        strangers = _strangers(cluster, target.user_agents) if other != member else ()
        if strangers:
            yield other, Target(f"{name} at {other}", target.user_agents, strangers, component, (other,))


def _users_of(cluster: "Cluster", component: str) -> tuple[str, ...]:
    """Who a component is, and the process whose caches it uses."""
    own = cluster.manager.user_of(component) or USER
    return tuple(dict.fromkeys([own.name, USER.name]))


def _strangers(cluster: "Cluster", agents: tuple[str, ...]) -> tuple[str, ...]:
    """The users with one of these agents that are no components of a cluster."""
    own = {user for name in cluster.manager.names for user in _users_of(cluster, name)}
    log: tuple[LogEntry, ...] = tuple(cluster.apiserver.log)
    return tuple(dict.fromkeys(entry.user for entry in log if entry.user_agent in agents and entry.user not in own))
