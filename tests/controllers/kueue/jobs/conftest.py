"""A cluster with the integrations of Kueue alone: the test plays its scheduler, which admits and
evicts, and the kubelet.
"""

from copy import deepcopy

import pytest

from fakekube.apimachinery import times
from fakekube.client.resources import EVENTS_V1, JOBS
from fakekube.composition.cluster import Cluster
from fakekube.runtime import addontables
from fakekube.runtime.addon import AddOn
from fakekube_controllers import kueue
from fakekube_controllers.kueue import conversion, names
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.jobframework import setup
from fakekube_controllers.kueue.jobs import builtin
from fakekube_controllers.kueue.slices import ungater
from fakekube_controllers.kueue.workload import finish, patching, reservation
from tests.controllers.world import CONTROLLERS, NAMESPACE, World, job_manifest

QUEUE = {names.QUEUE_LABEL: "q"}


def integrations(configuration=None):
    """Kueue without queues and scheduler."""
    chosen = configuration or Configuration()
    options = builtin.options_of(chosen)
    controllers = (*setup.controllers(options), *ungater.controllers(chosen))
    return AddOn(
        "kueue", manifests=tuple(addontables.definitions(kueue.__name__)), controllers=controllers,
        webhooks=tuple(setup.webhooks_of(options)), conversions=conversion.conversions(chosen.features))


def manifest(name="j", *, labels=None, annotations=None, template=None, namespace=NAMESPACE, **spec):
    """A Job in the queue ``q``; ``template`` adds to the spec of its pods."""
    job = job_manifest(name, **spec)
    job["metadata"] |= {"labels": QUEUE if labels is None else labels, "annotations": annotations or {}, "namespace": namespace}
    pod = job["spec"]["template"]
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    pod["spec"] |= template or {}
    return job


class Jobs(World):
    """A cluster and what tests of jobs do to it."""

    def __init__(self, cluster, configuration):
        super().__init__(cluster)
        self.features = configuration.features

    async def create(self, name="j", **fields):
        """Create a Job, and let the controllers do what they do at once; the Job then."""
        await self.client.create(JOBS, manifest(name, **fields))
        await self.advance(1)
        return await self.job(name)

    async def workloads(self):
        """All of the namespace, oldest first."""
        listed = (await self.client.list(names.WORKLOADS, NAMESPACE)).items
        return sorted(listed, key=lambda each: each["metadata"]["creationTimestamp"])

    async def workload(self):
        """The only one."""
        found = await self.workloads()
        assert len(found) == 1, [each["metadata"]["name"] for each in found]
        return found[0]

    async def flavor(self, name="f", **spec):
        body = {"metadata": {"name": name}, "spec": spec}
        await self.client.create(names.RESOURCE_FLAVORS, body)

    async def write_status(self, workload, change):
        """Change a Workload's status as the scheduler would, and let the controllers see it."""
        def update(changed):
            change(changed)
            return True

        await patching.patch_admission_status(self.client, workload, update, features=self.features, how=patching.LOOSE)
        await self.advance(1)

    async def admit(self, workload, flavor="f", **counts):
        """Reserve quota for a Workload and admit it; ``counts``: fewer pods for podsets."""
        assignments = [
            {"name": each["name"], "flavors": {"cpu": flavor}, "count": counts.get(each["name"], each["count"]),
             "resourceUsage": {"cpu": f"{100 * counts.get(each['name'], each['count'])}m"}}
            for each in workload["spec"]["podSets"]]
        now = self.cluster.clock.time()

        def change(changed):
            reservation.set_quota_reservation(changed, {"clusterQueue": "cq", "podSetAssignments": assignments}, now=now)
            reservation.sync_admitted_condition(changed, now=now, features=self.features)

        await self.write_status(workload, change)

    async def finish(self, workload, reason="WorkloadSliceReplaced", message="replaced"):
        """Let a Workload be finished, as the scheduler does with a slice that is replaced."""
        now = self.cluster.clock.time()
        await finish.finish(self.client, workload, reason, message, now=now, features=self.features)
        await self.advance(1)

    async def evict(self, workload, reason="Preempted", message="for somebody else"):
        """Ask for a Workload to stop."""
        now = self.cluster.clock.time()
        await self.write_status(
            workload, lambda changed: reservation.set_condition(changed, "Evicted", "True", reason, message, now=now))

    async def change_workload(self, workload, change):
        changed = deepcopy(workload)
        change(changed)
        written = await self.client.update(names.WORKLOADS, changed)
        await self.advance(1)
        return written

    async def label_job(self, name="j", **body):
        """Patch the metadata of a Job."""
        await self.client.patch(JOBS, name, NAMESPACE, {"metadata": body})
        await self.advance(1)

    async def events(self, reason=""):
        """(reason, note) of the Events, or of one reason the notes."""
        await self.advance(1)
        listed = (await self.client.list(EVENTS_V1, NAMESPACE)).items
        listed = [each for each in listed if each["reportingController"].endswith("kueue-controller")]
        listed.sort(key=lambda each: times.parse_time(each["eventTime"]))
        return [each["note"] if reason else (each["reason"], each["note"]) for each in listed if reason in ("", each["reason"])]


def condition_of(workload, type_):
    """(status, reason, message) of a condition of a Workload; None without it."""
    for each in (workload.get("status") or {}).get("conditions") or ():
        if each["type"] == type_:
            return each["status"], each["reason"], each["message"]
    return None


@pytest.fixture
def configuration():
    """What Kueue is told; a test may override it."""
    return Configuration()


@pytest.fixture
async def jobs(configuration):
    extra = [integrations(configuration)]
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=extra) as cluster:
        world = Jobs(cluster, configuration)
        await world.flavor(nodeLabels={"zone": "a"}, tolerations=[{"key": "k", "operator": "Exists", "effect": "NoSchedule"}])
        yield world
