"""Kueue under upstream's own load: many queues, and Workloads that arrive, run for a while and end.

``python -m benchmarks.kueue NAME`` plays one load in this process and prints its figures as JSON:
one of LOADS, ``baseline-real`` (on the wall's clock), ``jobs`` and ``multikueue`` (kueuejobs.py).
The loads are those of Kueue's performance tests (test/performance/scheduler/configs); the runner
does what theirs does: it ends what has run long enough, and takes the quota of what was evicted.
Every write and every watch goes through the API; garbage is collected as ``fakekube serve`` does.
Time is virtual, so that the load lasts as long as Kueue and its delays make it, but in
``baseline-real``; upstream's figures beside are those of its own runs, in real time.
"""

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks import kueuejobs
from benchmarks.table import Figure, decode_seconds
from benchmarks.turns import in_turns
from fakekube.apimachinery import meta, quantity, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import NAMESPACES, NODES
from fakekube.client.retry import is_conflict
from fakekube.composition.cluster import Cluster
from fakekube.runtime.builder import Declaration, Options
from fakekube.runtime.context import Context
from fakekube.util.collector import PacedCollector
from fakekube_controllers.kueue import addon
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, LOCAL_QUEUES, RESOURCE_FLAVORS, TOPOLOGIES, WORKLOADS

CLASS, RUNTIME = "class", "runtime-ms"


class Class(NamedTuple):
    """Workloads of one kind in every queue: how many, one every so many milliseconds.

    Each has so many CPUs in so many pods, which may ask for a topology.
    """

    name: str
    count: int
    interval_ms: int
    runtime_ms: int
    cpu: int
    priority: int
    pods: int = 1
    topology: Mapping[str, Any] = MappingProxyType({})


class Load(NamedTuple):
    """Cohorts, queues in each, and what arrives in each queue.

    ``real`` has upstream's figures: seconds on the wall, percent of use, milliseconds to admission.
    With ``racks`` the flavor has a topology: so many racks of NODES_IN_RACK nodes.
    """

    cohorts: int
    queues: int
    classes: tuple[Class, ...]
    real: Mapping[str, float]
    racks: int = 0


RACK, HOSTNAME, NODES_IN_RACK = "cloud.provider.com/topology-rack", "kubernetes.io/hostname", 64
LEVELS = ("cloud.provider.com/topology-block", RACK, HOSTNAME)


def in_racks() -> Iterator[Class]:
    """The classes of the load with a topology: of each size some must be in a rack, some would
    rather be, and some in slices.
    """
    sizes = (
        ("small", (120, 120, 110), 100, 200, 1, 50, 2, 1), ("medium", (34, 33, 33), 500, 500, 5, 100, 4, 2),
        ("large", (17, 17, 16), 1200, 1000, 20, 200, 8, 4))
    for name, counts, interval_ms, runtime_ms, cpu, priority, pods, slice_size in sizes:
        slices = {"podSetSliceRequiredTopology": RACK, "podSetSliceSize": slice_size}
        asked = {"required": {"required": RACK}, "preferred": {"preferred": RACK}, "balanced": slices}
        for (how, topology), count in zip(asked.items(), counts, strict=True):
            yield Class(f"{name}-{how}-rack", count, interval_ms, runtime_ms, cpu, priority, pods, topology)


LOADS = {
    "baseline": Load(5, 6, (
        Class("small", 350, 100, 200, 1, 50), Class("medium", 100, 500, 500, 5, 100), Class("large", 50, 1200, 1000, 20, 200),
    ), {"wall": 351, "usage": 55.9, "large": 16_501, "medium": 76_768, "small": 215_468}),
    "large-scale": Load(10, 100, (
        Class("small", 35, 60, 150, 1, 50), Class("medium", 11, 300, 350, 5, 100), Class("large", 4, 700, 700, 20, 200),
    ), {"wall": 1179, "usage": 38.64, "large": 105_604, "medium": 256_413, "small": 700_379}),
    "tas": Load(5, 6, tuple(in_racks()), {
        "wall": 401, "usage": 62.41, "large-required-rack": 39_625, "large-preferred-rack": 39_573,
        "large-balanced-rack": 37_862, "medium-required-rack": 107_071, "medium-preferred-rack": 106_324,
        "medium-balanced-rack": 106_303, "small-required-rack": 246_755, "small-preferred-rack": 246_090,
        "small-balanced-rack": 237_846}, racks=10),
}
NOMINAL_CPUS, BORROWING_LIMIT = 20, 100


def figures() -> Iterator[Figure]:
    """CPU time of the whole, and how Kueue did; upstream's figures in the notes."""
    for name, must, aim in (("baseline", 60.0, 30.0), ("large-scale", None, None), ("tas", None, None)):
        before = decode_seconds(50)
        found, real = run(name), LOADS[name].real
        decode = (before + decode_seconds(50)) / 2
        yield Figure(f"Kueue's {name}: {found['workloads']:,} Workloads", found["cpu"], "s", must, aim, (
            f"{found['wall']:.1f} s on the wall (theirs {real['wall']:,.0f}), {found['admissions_a_second']:,.0f} admissions/s, "
            f"{found['virtual']:,.0f} virtual s, peak {found['peak_mb']:,.0f} MB"), decode)
        yield Figure(f"Kueue's {name}: lowest use of a queue", found["usage"], "%", note=f"theirs {real['usage']}")
        for each in LOADS[name].classes:
            note = f"virtual; theirs {real[each.name]:,.0f}"
            yield Figure(f"Kueue's {name}: {each.name} to admission", found[each.name], "ms", note=note)
    yield from _of_jobs()


def _of_jobs() -> Iterator[Figure]:
    """What Kueue adds to the cost of Jobs, and what MultiKueue takes."""
    found = _jobs()
    plain, queued = found["without"], found["with"]
    told = [f"{each['cpu']:.1f} s of CPU, {each['writes_a_job']:.0f} writes a Job" for each in (queued, plain)]
    yield Figure(
        f"{plain['jobs']:,} Jobs of {kueuejobs.PODS} pods with Kueue, to those without", found["ratio"], "times", 1.3, None,
        " against ".join(told))
    before = decode_seconds(50)
    spread = run("multikueue")
    note = f"{spread['wall']:.1f} s on the wall, {spread['admissions_a_second']:,.0f} admissions/s"
    yield Figure(
        f"MultiKueue: {spread['jobs']:,} Jobs on three workers", spread["cpu"], "s", note=note,
        decode_seconds=(before + decode_seconds(50)) / 2)


def run(name: str) -> dict[str, Any]:
    """A load in a process of its own, in figures."""
    result: dict[str, Any] = json.loads(subprocess.run(_command(name), stdout=subprocess.PIPE, text=True, check=True).stdout)
    return result


def _command(name: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.kueue", name]


@dataclass(slots=True)
class Used:
    """What a queue used, from the first time that it was seen to the last. Times in seconds."""

    first: float
    last: float = 0.0
    cpus: float = 0.0
    cpu_seconds: float = 0.0

    def see(self, now: float, cpus: float) -> None:
        """Note what it uses from now on."""
        self.cpu_seconds += self.cpus * (now - (self.last or now))
        self.last, self.cpus = now, cpus

    @property
    def mean_cpus(self) -> float:
        """What it used all the time, on average."""
        return self.cpu_seconds / (self.last - self.first or 1.0)


@dataclass(slots=True)
class Runner:
    """A component that makes the Workloads of a load and lives them.

    ``waited`` has by class the seconds from creation to the last admission, by Workload; ``used``
    by ClusterQueue what its status said was used, as upstream's recorder reads it.
    """

    load: Load
    waited: dict[str, dict[str, float]] = field(default_factory=dict)
    used: "dict[str, Used]" = field(default_factory=dict)
    finished: int = 0
    _ctx: Any = None
    _running: dict[str, float] = field(default_factory=dict)

    async def start(self, ctx: Context) -> None:
        """Watch Workloads and queues."""
        self._ctx = ctx
        ctx.add_handler(WORKLOADS, on_update=self._updated)
        ctx.add_handler(CLUSTER_QUEUES, on_add=self._look_at, on_update=lambda _, new: self._look_at(new))

    def begin(self) -> None:
        """Begin to make Workloads."""
        for cohort in range(self.load.cohorts):
            for queue in range(self.load.queues):
                name = queue_name(cohort, queue)
                for each in self.load.classes:
                    self._ctx.tasks.spawn(self._create(name, each), f"create-{each.name}-{name}")

    async def stop(self) -> None:
        """Nothing is left to do."""

    async def _create(self, queue: str, kind: Class) -> None:
        for number in range(kind.count):
            await self._ctx.clock.sleep(kind.interval_ms / 1000)
            await self._ctx.client.create(WORKLOADS, workload(queue, kind, number))

    def _look_at(self, queue: ReadOnlyTree) -> None:
        flavors = queue.get("status", {}).get("flavorsUsage") or ()
        cpus = quantity.parse(flavors[0]["resources"][0]["total"]).milli_value / 1000 if flavors else 0.0
        self.used.setdefault(meta.name_of(queue), Used(self._ctx.clock.time())).see(self._ctx.clock.time(), cpus)

    def _updated(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        key = f"{meta.namespace_of(new)}/{meta.name_of(new)}"
        if meta.is_condition_true(new, "Finished"):
            return
        if meta.is_condition_true(new, "Evicted") and "admission" in new["status"]:
            self._running.pop(key, None)
            self._ctx.tasks.spawn(self._release(new), f"release-{key}")
        elif meta.is_condition_true(new, "Admitted") and key not in self._running:
            now = self._running[key] = self._ctx.clock.time()
            labels = meta.labels_of(new)
            created = times.parse_time(new["metadata"]["creationTimestamp"])
            self.waited.setdefault(labels[CLASS], {})[key] = now - created
            self._ctx.clock.call_later(int(labels[RUNTIME]) / 1000, self._end, key, now)

    def _end(self, key: str, since: float) -> None:
        if self._running.get(key) == since:
            self._ctx.tasks.spawn(self._finish(key), f"finish-{key}")

    async def _finish(self, key: str) -> None:
        await _until_nobody_else_writes(lambda: self._try_to_finish(key))

    async def _try_to_finish(self, key: str) -> None:
        namespace, _, name = key.partition("/")
        found = await self._ctx.client.get(WORKLOADS, name, namespace)
        if meta.is_condition_true(found, "Evicted") or not meta.is_condition_true(found, "Admitted"):
            return
        await self._write(found, [("Finished", "True", "ByTest", "By test runner")])
        self._running.pop(key, None)
        self.finished += 1

    async def _release(self, obj: ReadOnlyTree) -> None:
        await _until_nobody_else_writes(lambda: self._try_to_release(obj))

    async def _try_to_release(self, obj: ReadOnlyTree) -> None:
        found = await self._ctx.client.get(WORKLOADS, meta.name_of(obj), meta.namespace_of(obj))
        if "admission" in found["status"]:
            del found["status"]["admission"]
            text = "Evicted by the test runner"
            await self._write(found, [("QuotaReserved", "False", "Pending", text), (
                "Admitted", "False", "NoReservation", "The workload has no reservation")])

    async def _write(self, found: Tree, changed: list[tuple[str, str, str, str]]) -> None:
        conditions = found["status"]["conditions"]
        for kind, status, reason, text in changed:
            conditions[:] = [each for each in conditions if each["type"] != kind]
            conditions.append({
                "type": kind, "status": status, "reason": reason, "message": text,
                "lastTransitionTime": times.format_time(self._ctx.clock.time())})
        await self._ctx.client.update_status(WORKLOADS, found)


async def _until_nobody_else_writes(attempt: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Try again after each conflict; on the wall's clock Kueue writes meanwhile."""
    while True:
        try:
            return await attempt()
        except APIError as error:
            if not is_conflict(error):
                raise


def queue_name(cohort: int, queue: int) -> str:
    """Of a ClusterQueue, of its LocalQueue and of the namespace of that."""
    return f"cq-0-{queue}-cohort-{cohort}"


def workload(queue: str, kind: Class, number: int) -> Tree:
    """A Workload of a class."""
    cpu = f"{1000 * kind.cpu // kind.pods}m"
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    podset = {"name": "main", "count": kind.pods, "template": template}
    if kind.topology:
        podset["topologyRequest"] = dict(kind.topology)
    return {
        "metadata": {
            "name": f"{kind.name}-{number}", "namespace": queue, "labels": {CLASS: kind.name, RUNTIME: str(kind.runtime_ms)}},
        "spec": {
            "queueName": queue, "priority": kind.priority, "podSets": [podset]}}


async def _make_queues(cluster: Cluster, load: Load) -> None:
    flavor: Tree = {"metadata": {"name": "rf"}}
    if load.racks:
        await _make_racks(cluster, load.racks)
        flavor["spec"] = {"nodeLabels": {"tas-node-group": "tas"}, "topologyName": "default-topology"}
    await cluster.client.create(RESOURCE_FLAVORS, flavor)
    for cohort in range(load.cohorts):
        for queue in range(load.queues):
            name = queue_name(cohort, queue)
            quota = {"name": "cpu", "nominalQuota": str(NOMINAL_CPUS), "borrowingLimit": str(BORROWING_LIMIT)}
            group = {"coveredResources": ["cpu"], "flavors": [{"name": "rf", "resources": [quota]}]}
            await cluster.client.create(NAMESPACES, {"metadata": {"name": name}})
            await cluster.client.create(CLUSTER_QUEUES, {"metadata": {"name": name}, "spec": {
                "cohortName": f"cohort-{cohort}", "namespaceSelector": {}, "resourceGroups": [group],
                "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}}})
            await cluster.client.create(
                LOCAL_QUEUES, {"metadata": {"name": name, "namespace": name}, "spec": {"clusterQueue": name}})
    await cluster.settle()


async def _make_racks(cluster: Cluster, racks: int) -> None:
    await cluster.client.create(TOPOLOGIES, {
        "metadata": {"name": "default-topology"}, "spec": {"levels": [{"nodeLabel": level} for level in LEVELS]}})
    amounts = {"cpu": "96", "memory": "256Gi", "pods": "110"}
    for rack in range(racks):
        for node in range(NODES_IN_RACK):
            name = f"block-0-rack-{rack}-node-{node}"
            labels = {"tas-node-group": "tas", **dict(zip(LEVELS, ("block-0", f"rack-{rack}", name), strict=True))}
            await cluster.client.create(NODES, {
                "metadata": {"name": name, "labels": labels}, "status": {
                    "allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]}})
            await cluster.client.patch(NODES, name, "", {"spec": {"taints": None}})


async def play(load: Load, clock: str = "manual") -> dict[str, float]:
    """The figures of a load on a clock."""
    total = load.cohorts * load.queues * sum(each.count for each in load.classes)
    runner = Runner(load)
    collector = PacedCollector(asyncio.get_running_loop().call_later)
    extra = [addon(), Declaration("runner", lambda: runner, Options())]
    async with Cluster(nodes=0, clock=clock, controllers="", extra=extra) as cluster:
        await _make_queues(cluster, load)
        collector.start()
        began, started, cpu = cluster.clock.time(), time.perf_counter(), time.process_time()
        runner.begin()
        await cluster.run_until(lambda: runner.finished == total)
        wall, virtual = time.perf_counter() - started, cluster.clock.time() - began
        used = min(queue.mean_cpus for queue in runner.used.values())
        return {
            "workloads": total, "wall": wall, "cpu": time.process_time() - cpu, "virtual": virtual,
            "admissions_a_second": total / wall, "usage": 100 * used / NOMINAL_CPUS,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            **{name: 1000 * sum(waited.values()) / len(waited) for name, waited in runner.waited.items()}}


def _jobs() -> dict[str, Any]:
    """Both, each in a process of its own, in turns."""
    plain, queued = map(json.loads, in_turns([_command("jobs-without"), _command("jobs-with")]))
    return {"without": plain, "with": queued, "ratio": queued["cpu"] / plain["cpu"]}


OTHERS: Mapping[str, Callable[[], Coroutine[Any, Any, dict[str, float]]]] = MappingProxyType({
    "baseline-real": lambda: play(LOADS["baseline"], "real"),
    "jobs-without": lambda: kueuejobs.jobs(kueue=False),
    "jobs-with": lambda: kueuejobs.jobs(kueue=True),
    "multikueue": kueuejobs.multikueue,
})
"""What is played besides the loads in virtual time."""


if __name__ == "__main__":
    asked = sys.argv[1]
    print(json.dumps(_jobs() if asked == "jobs" else asyncio.run(OTHERS[asked]() if asked in OTHERS else play(LOADS[asked]))))
