"""A cluster with one node, and a pod on it called ``p``."""

from fakekube.client.resources import EVENTS, PODS
from fakekube.composition.cluster import Cluster

NAMESPACE = "default"


def container(name="main", *command, **more):
    return {"name": name, "image": "busybox", **({"command": list(command)} if command else {}), **more}


class Machine:
    """An async context manager. Options are those of the cluster."""

    def __init__(self, **options):
        self.cluster = Cluster(nodes=1, **{"clock": "manual", **options})
        self.client = self.cluster.client

    async def __aenter__(self):
        await self.cluster.start()
        return self

    async def __aexit__(self, *_):
        await self.cluster.stop()

    async def run(self, *containers, annotations=None, restart_policy="Never", **spec):
        """Create the pod; it is bound when this returns, and starts a second later."""
        metadata = {"name": "p", "namespace": NAMESPACE}
        if annotations:
            metadata["annotations"] = {f"fakekube.dev/{name}": text for name, text in annotations.items()}
        await self.client.create(PODS, {"metadata": metadata, "spec": {
            "restartPolicy": restart_policy, "containers": list(containers or [container()]), **spec}})
        await self.cluster.settle()

    async def advance(self, seconds):
        await self.cluster.advance(seconds)

    async def pod(self):
        return await self.client.get(PODS, "p", NAMESPACE, missing_ok=True)

    async def status(self):
        return (await self.pod())["status"]

    async def phase(self):
        pod = await self.pod()
        return pod and pod["status"]["phase"]

    async def states(self):
        """What each container is doing, init containers first: a word, or an exit code."""
        status = await self.status()
        result = []
        for each in [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]:
            [(kind, detail)] = each["state"].items()
            result.append({"running": "running", "waiting": detail.get("reason"), "terminated": detail.get("exitCode")}[kind])
        return result

    async def condition(self, kind):
        """Status and reason of a condition."""
        found = next(c for c in (await self.status())["conditions"] if c["type"] == kind)
        return found["status"], found.get("reason", "")

    async def delete(self, **options):
        await self.client.delete(PODS, "p", NAMESPACE, **options)
        await self.cluster.settle()

    async def log(self, name="main", query=""):
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/p/log"
        options = {"container": [name]} | dict(part.split("=") for part in query.split("&") if part)
        response = await self.client.request("GET", path, query={
            key: value if isinstance(value, list) else [value] for key, value in options.items()})
        return response.body.decode() if isinstance(response.body, bytes) else ""

    async def events(self):
        listed = (await self.client.list(EVENTS, NAMESPACE)).items
        return [event for event in listed if event["involvedObject"]["name"] == "p"]
