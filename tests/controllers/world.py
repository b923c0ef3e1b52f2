"""A cluster without nodes, where the test plays scheduler and kubelet by writing pod status by
hand.
"""

from typing import Any

from fakekube.apimachinery import times
from fakekube.client.resources import EVENTS, JOBS, NAMESPACES, PODS
from fakekube.composition.cluster import Cluster

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
CONTROLLERS = "job,garbagecollector,namespace,serviceaccount"
NAMESPACE = "default"


def manual_cluster(controllers=CONTROLLERS, **options):
    """A cluster whose time moves only when the test says so."""
    return Cluster(nodes=0, clock="manual", controllers=controllers, **options)


def pod_template(restart_policy: str = "Never", **spec: Any) -> Any:
    return {"spec": {"restartPolicy": restart_policy, "containers": [{"name": "main", "image": "busybox"}], **spec}}


def job_manifest(name: str = "j", *, restart_policy: str = "Never", **spec: Any) -> Any:
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"template": pod_template(restart_policy), **spec},
    }


def index_of(pod):
    return int(pod["metadata"]["annotations"][INDEX])


def is_tracked(pod):
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def phase(pod):
    return pod["status"].get("phase")


def is_active(pod):
    return phase(pod) not in ("Succeeded", "Failed") and "deletionTimestamp" not in pod["metadata"]


def condition(obj, kind):
    """The condition of that type, or None."""
    return next((c for c in obj["status"].get("conditions") or () if c["type"] == kind), None)


def true_conditions(obj):
    """The types of all conditions that are True, in order."""
    return [c["type"] for c in obj["status"].get("conditions") or () if c["status"] == "True"]


def counts(job):
    """active, succeeded, failed, terminating."""
    status = job["status"]
    return tuple(status.get(key, 0) for key in ("active", "succeeded", "failed", "terminating"))


class World:
    """A cluster and what tests do to it again and again. Objects are in the namespace ``default``.
    """

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    async def advance(self, seconds=1.0):
        await self.cluster.advance(seconds)

    async def settle(self):
        await self.cluster.settle()

    async def create_job(self, name="j", **spec):
        """Create a Job and let the controller do what it does at once; the Job as it is then."""
        await self.client.create(JOBS, job_manifest(name, **spec))
        await self.advance(1)
        return await self.job(name)

    async def job(self, name="j"):
        return await self.client.get(JOBS, name, NAMESPACE)

    async def change_job(self, name="j", **spec):
        """Patch the spec and let the controller see it."""
        await self.client.patch(JOBS, name, NAMESPACE, {"spec": spec})
        await self.advance(1)
        return await self.job(name)

    async def pods(self):
        """All pods, in the order of their creation."""
        listed = (await self.client.list(PODS, NAMESPACE)).items
        return sorted(listed, key=lambda pod: int(pod["metadata"].get("resourceVersion", 0)))

    async def active(self):
        """Pods that are neither finished nor being deleted."""
        return [pod for pod in await self.pods() if is_active(pod)]

    async def by_index(self):
        """The active pods by their completion index."""
        return {index_of(pod): pod for pod in await self.active()}

    async def set_status(self, pod, **status):
        """Write into a pod's status what a kubelet would."""
        body = {"status": status}
        return await self.client.patch(
            PODS, pod["metadata"]["name"], NAMESPACE, body, type="strategic", subresource="status")

    async def succeed(self, *pods):
        for pod in pods:
            await self.end(pod, 0)

    async def fail(self, *pods, exit_code=1):
        for pod in pods:
            await self.end(pod, exit_code)

    async def end(self, pod, exit_code):
        """The pod's container ends now."""
        now = times.format_time(self.cluster.clock.time())
        reason = "Error" if exit_code else "Completed"
        terminated = {"exitCode": exit_code, "reason": reason, "startedAt": now, "finishedAt": now}
        await self.set_status(pod, phase="Failed" if exit_code else "Succeeded", containerStatuses=[{
            "name": "main", "image": "busybox", "imageID": "", "ready": False, "restartCount": 0, "lastState": {},
            "state": {"terminated": terminated}}])

    async def make_ready(self, *pods):
        for pod in pods:
            await self.run(pod)

    async def run(self, pod, *, ready=True, restarts=0):
        """The pod's container runs."""
        now = times.format_time(self.cluster.clock.time())
        await self.set_status(
            pod, phase="Running",
            conditions=[{"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": now}],
            containerStatuses=[{
                "name": "main", "image": "busybox", "imageID": "", "ready": ready, "restartCount": restarts, "lastState": {},
                "state": {"running": {"startedAt": now}}}])

    async def delete_pods(self, *pods, **options):
        for pod in pods:
            await self.client.delete(PODS, pod["metadata"]["name"], NAMESPACE, **options)

    async def bind(self, *pods, node="somewhere"):
        """Put pods on a node, so that a deletion of theirs waits for a kubelet that is not there.
        """
        for pod in pods:
            await self.client.bind(pod["metadata"]["name"], NAMESPACE, node)

    async def events(self, name="j"):
        """(type, reason, message) of the core events about an object, in order."""
        listed = (await self.client.list(EVENTS, NAMESPACE)).items
        mine = [event for event in listed if event["involvedObject"]["name"] == name]
        mine.sort(key=lambda event: event["metadata"]["name"].rpartition(".")[2])
        return [(event["type"], event["reason"], event["message"]) for event in mine]

    async def reasons(self, name="j"):
        return [reason for _, reason, _ in await self.events(name)]

    async def namespace(self, name):
        return await self.client.get(NAMESPACES, name, missing_ok=True)

    async def restart(self, component="job"):
        """Stop a controller and start it again: what it only remembered is gone."""
        await self.cluster.manager.stop_component(component)
        await self.cluster.manager.start_component(component)
        await self.settle()
