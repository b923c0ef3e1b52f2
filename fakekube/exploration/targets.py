"""Which operator a strategy tries: a component of the cluster, an operator outside that is one, or
a client outside.

By default the components of ``extra=``; without any, the clients outside that watch, as operators
do and tests do not.
"""

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from fakekube.composition.fleet import Fleet
from fakekube.exploration import fleettargets
from fakekube.exploration.strategies import Calm, Target
from fakekube.testing.background import BackgroundCluster
from fakekube.testing.operators import OutsideOperator

if TYPE_CHECKING:
    from fakekube.apiserver.filters import LogEntry
    from fakekube.composition.cluster import Cluster

OWN_AGENTS = "fakekube"
"""The user agent of ``Cluster.client``, which tests use."""


class TargetError(ValueError):
    """Nobody to try: no component of that name, and no client of that user agent or user."""


def calm_of(where: "Cluster | BackgroundCluster | Fleet", wanted: str = "") -> list[Calm]:
    """What was asked in a run, for each target: those that ``wanted`` names (components, patterns
    of user agents or of users, with commas), or the default ones. In a fleet ``manager/scheduler``
    is one of a member, and there is a Calm for each cluster to which its requests came.

    Raises TargetError; also for one that is named and has asked for nothing.
    """
    if isinstance(where, BackgroundCluster):
        return where.run(lambda cluster: calm_of(cluster, wanted))
    if isinstance(where, Fleet):
        targets = [found for name in _names(wanted) or [""] for found in _in_fleet(where, name)]
        found = [_calm(target, tuple(where[cluster].apiserver.log)) for cluster, target in targets]
        found = [calm for calm in found if calm.own] or found
    else:
        requests = tuple(where.apiserver.log)
        found = [_calm(target, requests) for target in _targets(where, requests, wanted)]
    silent = [calm.target.name for calm in found if not calm.own]
    if silent and (wanted or len(silent) == len(found)):
        raise TargetError(f"{' and '.join(silent)} asked for nothing in the calm run: there is nothing to try")
    return found


def _calm(target: Target, requests: "tuple[LogEntry, ...]") -> Calm:
    return Calm(target, requests, tuple(entry for entry in requests if _is_by(entry, target)))


def _in_fleet(fleet: Fleet, wanted: str) -> list[tuple[str, Target]]:
    """Those of one name, or the default ones, and in which cluster each is one.

    Raises TargetError.
    """
    members, name = fleettargets.member_and_name(fleet, wanted)
    found: list[tuple[str, Target]] = []
    problem: TargetError | None = None
    for member in members:
        try:
            targets = _targets(fleet[member], tuple(fleet[member].apiserver.log), name)
        except TargetError as error:
            problem = error
            continue
        found += [one for target in targets for one in fleettargets.targets_of(fleet, member, target)]
    if not found and problem is not None:
        raise problem
    return found


def _names(wanted: str) -> list[str]:
    return [name.strip() for name in wanted.split(",") if name.strip()]


def _targets(cluster: "Cluster", requests: "tuple[LogEntry, ...]", wanted: str) -> list[Target]:
    return [_named(cluster, requests, name) for name in _names(wanted)] or _default(cluster, requests)


def requests_of(where: "Cluster | BackgroundCluster") -> "list[LogEntry]":
    """The request log of a cluster."""
    if isinstance(where, BackgroundCluster):
        return where.run(requests_of)
    return list(where.apiserver.log)


def looked_at(where: "Cluster | BackgroundCluster", wanted: str = "") -> list[Target]:
    """Whom oracles look at: the targets, and where there are none everybody but the cluster's own
    client. Raises TargetError for a name of nobody.
    """
    if isinstance(where, BackgroundCluster):
        return where.run(lambda cluster: looked_at(cluster, wanted))
    requests = tuple(where.apiserver.log)
    try:
        return _targets(where, requests, wanted)
    except TargetError:
        if wanted:
            raise
        agents = dict.fromkeys(entry.user_agent for entry in requests)
        return [Target(agent, (agent,)) for agent in agents if agent and agent != OWN_AGENTS]


def looked_at_in(fleet: Fleet, wanted: str = "") -> list[tuple["Cluster", list[Target]]]:
    """The same of each cluster of a fleet. Raises TargetError for a name of nobody."""
    if not wanted:
        return [(cluster, looked_at(cluster)) for cluster in fleet.values()]
    found = [one for name in _names(wanted) for one in _in_fleet(fleet, name)]
    return [(cluster, [target for at, target in found if at == member]) for member, cluster in fleet.items()]


def _default(cluster: "Cluster", requests: "tuple[LogEntry, ...]") -> list[Target]:
    components = [_component(cluster, name) for name in cluster.extra_components]
    agents = {name: None for target in _known(cluster) for name in target.user_agents}
    outside = dict.fromkeys(
        entry.user_agent for entry in requests
        if entry.verb == "watch" and entry.user_agent not in agents and entry.user_agent != OWN_AGENTS)
    targets = components or [Target(agent, (agent,)) for agent in outside]
    if not targets:
        raise TargetError("there is no operator to try: no component of extra=, and no client outside that watches; name one")
    return targets


def _named(cluster: "Cluster", requests: "tuple[LogEntry, ...]", name: str) -> Target:
    if name in cluster.manager.names:
        return _component(cluster, name)
    if any(fnmatchcase(entry.user_agent, name) for entry in requests):
        return Target(name, (name,))
    if any(fnmatchcase(entry.user, name) for entry in requests):
        return Target(name, users=(name,))
    raise TargetError(
        f"there is no operator {name!r} to try: no component ({', '.join(cluster.manager.names)}), "
        "and no request has such a user agent or user")


def _known(cluster: "Cluster") -> list[Target]:
    return [_component(cluster, name) for name in cluster.manager.names]


def _component(cluster: "Cluster", name: str) -> Target:
    found = cluster.manager.component(name)
    if isinstance(found, OutsideOperator):
        return Target(name, users=(found.user.name,), component=name)
    return Target(name, cluster.manager.agents_of(name), component=name)


def _is_by(entry: "LogEntry", target: Target) -> bool:
    if target.users and not any(fnmatchcase(entry.user, user) for user in target.users):
        return False
    return not target.user_agents or any(fnmatchcase(entry.user_agent, agent) for agent in target.user_agents)
