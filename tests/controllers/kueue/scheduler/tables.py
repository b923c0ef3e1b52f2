"""Clusters of queues and Workloads written as lines, and the snapshots that they make.

``cohort NAME [parent=P] [weight=W]: QUOTAS``, ``cq NAME [cohort=C] [within=..] [reclaim=..]
[borrow=POLICY<=PRIORITY] [weight=W]: QUOTAS``. Quotas are
``FLAVOR RESOURCE=NOMINAL[/BORROW[/LEND]] ...``, flavors of a group parted by commas and groups by
bars. ``wl NAME QUEUE [pri=N] [at=SECONDS] [evicted] RESOURCE=AMOUNT@FLAVOR ...`` holds quota,
reserved so many seconds from now. ``in QUEUE [pri=N] PODSETS`` asks for it: what is marked ``!``
needs preemption. ``ask NAME QUEUE [pri=N] [created=SECONDS]: PODSET [N*] [min=N] RESOURCE=AMOUNT
... + ...`` waits in a queue, and ``flavor NAME KEY=VALUE:EFFECT`` has a taint. What follows ``=>``
is the outcome.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.apimachinery.times import format_time
from fakekube_controllers.kueue.cache.cache import Cache
from fakekube_controllers.kueue.cache.clusterqueue import Settings
from fakekube_controllers.kueue.cache.snapshot import Snapshot
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.workload.info import Info, InfoOptions

Tree = dict[str, Any]
NOW = 1_800_000_000.0
OPTIONS = InfoOptions(Features(TopologyAwareScheduling=False))


class Asked(NamedTuple):
    """One resource that a podset asks for."""

    amount: str
    flavor: str
    needs_preemption: bool


@dataclass
class Case:
    """One case of a table."""

    id: str
    options: dict[str, str] = field(default_factory=dict)
    cohorts: list[Tree] = field(default_factory=list)
    cluster_queues: list[Tree] = field(default_factory=list)
    workloads: list[Tree] = field(default_factory=list)
    incoming: Tree = field(default_factory=dict)
    queue: str = ""
    asked: list[dict[str, Asked]] = field(default_factory=list)
    pending: dict[str, Tree] = field(default_factory=dict)  # by name, with the queue as queueName
    taints: dict[str, list[Tree]] = field(default_factory=dict)  # by flavor
    expected: list[str] = field(default_factory=list)

    def snapshot(self) -> Snapshot:
        return cache(self.cluster_queues, self.cohorts, self.workloads, self.taints).snapshot()

    def heads(self) -> list[Info]:
        """The first of every queue."""
        first: dict[str, Info] = {}
        for made in self.pending.values():
            info = Info(made, OPTIONS)
            info.cluster_queue = made["spec"]["queueName"]
            present = first.get(info.cluster_queue)
            if present is None or in_queue(info) < in_queue(present):
                first[info.cluster_queue] = info
        return list(first.values())

    def info(self) -> Info:
        info = Info(self.incoming, OPTIONS)
        info.cluster_queue = self.queue
        return info


def read(text: str) -> list[Case]:
    """The cases of a table, parted by empty lines."""
    cases = []
    for block in text.split("\n\n"):
        case = Case("")
        for line in block.strip().splitlines():
            kind, _, rest = line.partition(" ")
            _LINES[kind](case, rest)
        cases.append(case)
    return cases


def in_queue(info: Info) -> tuple[int, str]:
    """Where a Workload stands in its queue."""
    return -info.obj["spec"]["priority"], info.obj["metadata"]["creationTimestamp"]


def cache(
    cluster_queues: list[Tree], cohorts: Sequence[Tree] = (), workloads: Sequence[Tree] = (),
    taints: Mapping[str, list[Tree]] = MappingProxyType({}),
) -> Cache:
    """A cache that knows these, and every flavor that they name."""
    made = Cache(Settings(OPTIONS))
    groups = [group for queue in cluster_queues for group in queue["spec"]["resourceGroups"]]
    names = {flavor["name"]: None for group in groups for flavor in group["flavors"]}
    for name in names:
        made.add_or_update_resource_flavor({"metadata": {"name": name}, "spec": {"nodeTaints": taints.get(name, [])}})
    for queue in cluster_queues:
        name = queue["metadata"]["name"]
        made.add_cluster_queue(queue, (), [each for each in workloads if each["status"]["admission"]["clusterQueue"] == name])
    for cohort in cohorts:
        made.add_or_update_cohort(cohort)
    return made


def resource_groups(text: str) -> list[Tree]:
    """Quotas as lines have them, as a spec has them."""
    groups = []
    for group in filter(None, map(str.strip, text.split("|"))):
        flavors = []
        for flavor in group.split(","):
            name, *quotas = flavor.split()
            flavors.append({"name": name, "resources": [_quota(quota) for quota in quotas]})
        covered = [quota["name"] for quota in flavors[0]["resources"]]
        groups.append({"coveredResources": covered, "flavors": flavors})
    return groups


def _quota(text: str) -> Tree:
    name, _, amounts = text.partition("=")
    fields = zip(("nominalQuota", "borrowingLimit", "lendingLimit"), amounts.split("/"), strict=False)
    return {"name": name, **{key: amount for key, amount in fields if amount}}


def cluster_queue(name: str, quotas: str, **options: str) -> Tree:
    """A ClusterQueue, by the options that lines have."""
    spec: Tree = {"resourceGroups": resource_groups(quotas), "namespaceSelector": {}}
    fungibility = {field: options[field] for field in ("whenCanBorrow", "whenCanPreempt", "preference") if field in options}
    spec |= {"flavorFungibility": fungibility, "queueingStrategy": options.get("strategy", "BestEffortFIFO")}
    if "cohort" in options:
        spec["cohortName"] = options["cohort"]
    preemption: Tree = {}
    if "within" in options:
        preemption["withinClusterQueue"] = options["within"]
    if "reclaim" in options:
        preemption["reclaimWithinCohort"] = options["reclaim"]
    if "borrow" in options:
        policy, _, threshold = options["borrow"].partition("<=")
        preemption["borrowWithinCohort"] = {"policy": policy, **({"maxPriorityThreshold": int(threshold)} if threshold else {})}
    spec["preemption"] = preemption
    if "weight" in options:
        spec["fairSharing"] = {"weight": options["weight"]}
    return {"metadata": {"name": name}, "spec": spec}


def cohort(name: str, quotas: str = "", *, parent: str = "", weight: str = "") -> Tree:
    spec: Tree = {"resourceGroups": resource_groups(quotas), "parentName": parent}
    if weight:
        spec["fairSharing"] = {"weight": weight}
    return {"metadata": {"name": name}, "spec": spec}


def workload(
    name: str, requests: dict[str, str], *, priority: int = 0, created: float = 0.0, count: int = 1, uid: str = "",
) -> Tree:
    """A Workload of one podset; ``requests`` are of one pod."""
    return {
        "metadata": {"namespace": "ns", "name": name, "uid": uid or name, "creationTimestamp": format_time(NOW + created)},
        "spec": {"priority": priority, "podSets": [podset("main", requests, count)]}, "status": {}}


def podset(name: str, requests: dict[str, str], count: int) -> Tree:
    containers = [{"name": "c", "resources": {"requests": requests}}]
    return {"name": name, "count": count, "template": {"spec": {"containers": containers}}}


def reserved(made: Tree, queue: str, flavors: dict[str, str], *, at: float = 0.0, evicted: bool = False) -> Tree:
    """The Workload with its quota, reserved so many seconds from now."""
    conditions = [condition("QuotaReserved", "QuotaReserved", at)]
    if evicted:
        conditions.append(condition("Evicted", "Preempted", 0.0))
    pods = made["spec"]["podSets"][0]
    requests = pods["template"]["spec"]["containers"][0]["resources"]["requests"]
    assignment = {"name": "main", "flavors": flavors, "resourceUsage": requests, "count": pods["count"]}
    return {**made, "status": {
        "conditions": conditions, "admission": {"clusterQueue": queue, "podSetAssignments": [assignment]}}}


def condition(type_: str, reason: str, at: float) -> Tree:
    return {"type": type_, "status": "True", "reason": reason, "message": "", "lastTransitionTime": format_time(NOW + at)}


def _options(words: list[str]) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in words)


def _read_id(case: Case, rest: str) -> None:
    case.id, *words = rest.split()
    case.options = _options(words)


def _read_cohort(case: Case, rest: str) -> None:
    head, _, quotas = rest.partition(":")
    name, *words = head.split()
    case.cohorts.append(cohort(name, quotas, **_options(words)))


def _read_cluster_queue(case: Case, rest: str) -> None:
    head, _, quotas = rest.partition(":")
    name, *words = head.split()
    case.cluster_queues.append(cluster_queue(name, quotas, **_options(words)))


def _read_workload(case: Case, rest: str) -> None:
    name, queue, *words = rest.split()
    asked = {word.partition("=")[0]: word.partition("=")[2].partition("@") for word in words if "@" in word}
    options = _options([word for word in words if "@" not in word])
    made = workload(
        name, {resource: amount for resource, (amount, _, _) in asked.items()}, priority=int(options.get("pri", 0)),
        created=float(options.get("created", -3600)))
    case.workloads.append(reserved(
        made, queue, {resource: flavor for resource, (_, _, flavor) in asked.items()}, at=float(options.get("at", 0)),
        evicted="evicted" in options))


def _read_incoming(case: Case, rest: str) -> None:
    parts = [part.split() for part in rest.split(" + ")]
    case.queue = parts[0].pop(0)
    options = _options([word for word in parts[0] if "@" not in word and not word.endswith("*")])
    case.incoming = workload("in", {}, priority=int(options.get("pri", 0)), created=float(options.get("created", -3600)))
    case.incoming["spec"]["podSets"] = []
    for number, words in enumerate(parts):
        count = next((int(word[:-1]) for word in words if word.endswith("*")), 1)
        asked = {}
        for word in words:
            if "@" in word:
                resource, _, amount = word.partition("=")
                amount, _, flavor = amount.partition("@")
                asked[resource] = Asked(amount or "0", flavor.rstrip("!"), flavor.endswith("!"))
        requests = {resource: each.amount for resource, each in asked.items()}
        case.incoming["spec"]["podSets"].append(podset(f"podset-{number}", requests, count))
        case.asked.append(asked)


def _read_pending(case: Case, rest: str) -> None:
    head, _, podsets = rest.partition(": ")
    name, queue, *words = head.split()
    options = _options(words)
    made = workload(name, {}, priority=int(options.get("pri", 0)), created=float(options.get("created", -3600)))
    made["spec"] |= {"queueName": queue, "podSets": [_pending_podset(text.split()) for text in podsets.split(" + ")]}
    case.pending[name] = made


def _pending_podset(words: list[str]) -> Tree:
    count = next((int(word[:-1]) for word in words if word.endswith("*")), 1)
    options = _options([word for word in words[1:] if "=" in word])
    minimum = options.pop("min", None)
    made = podset(words[0], options, count)
    return made if minimum is None else {**made, "minCount": int(minimum)}


def _read_flavor(case: Case, rest: str) -> None:
    name, *words = rest.split()
    for word in words:
        key, _, value = word.partition("=")
        value, _, effect = value.partition(":")
        case.taints.setdefault(name, []).append({"key": key, "value": value, "effect": effect})


def _read_expected(case: Case, rest: str) -> None:
    case.expected.append(rest)


_LINES = {
    "#": _read_id, "cohort": _read_cohort, "cq": _read_cluster_queue, "wl": _read_workload, "in": _read_incoming,
    "ask": _read_pending, "flavor": _read_flavor, "=>": _read_expected,
}
