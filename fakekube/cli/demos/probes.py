"""``fakekube demo probes``: a container that starts slowly, one that is not ready for a while, and
one that hangs.
"""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story, pod_row
from fakekube.client.resources import ENDPOINT_SLICES, PODS, Resource
from fakekube.runtime.demo import Row

SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  selector: {app: web}
  ports: [{port: 80}]
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, labels: {{app: web}}}}
spec:
  containers:
    - name: main
      image: "web:1"
      {probe}: {{periodSeconds: 5, failureThreshold: {failures}, httpGet: {{path: /healthz, port: 80}}}}
"""
BEHAVIOUR: Mapping[str, Tree] = {
    "slow": {"started-after": "22s"}, "busy": {"ready-after": "0s", "unready-after": "20s"}, "stuck": {"unhealthy-after": "20s"},
}
"""What the containers do in their first run; a restart cures them."""


def restarts_row(pod: Tree) -> tuple[str, ...]:
    """A pod, with how often its container was restarted."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or [{}]
    name, status, ready, _ = pod_row(pod)
    return name, "Pod", status, ready, str(statuses[0].get("restartCount", 0))


def service_row(endpoint_slice: Tree) -> tuple[str, ...]:
    """A Service, with the pods that it sends requests to."""
    endpoints = endpoint_slice.get("endpoints") or []
    ready = sorted(one["targetRef"]["name"] for one in endpoints if (one.get("conditions") or {}).get("ready"))
    name = meta.labels_of(endpoint_slice)["kubernetes.io/service-name"]
    return name, "Service", f"to {', '.join(ready) or 'nobody'}", "", ""


class Demo(Story):
    """The startup probe waits, the readiness probe takes out of service, the liveness probe
    restarts.
    """

    header = ("NAME", "KIND", "STATUS", "READY", "RESTARTS")
    told: ClassVar[Mapping[str, str]] = {"Unhealthy": "the kubelet", "Killing": "the kubelet", "Started": "the kubelet"}

    def outcome(self, pod: Tree, attempt: int, container: str) -> Tree:
        """Trouble in the first run only."""
        return BEHAVIOUR[meta.name_of(pod)] if attempt == 0 else {}

    def follows(self) -> Mapping[Resource, Row]:
        """The Service and the pods."""
        return {PODS: restarts_row, ENDPOINT_SLICES: service_row}

    def _leads_to(self, *pods: str) -> bool:
        return bool(self.rows(name="web", status=f"to {', '.join(pods) or 'nobody'}"))

    async def _create(self, name: str, probe: str, failures: int) -> None:
        await self.create(POD.format(name=name, probe=probe, failures=failures))

    async def tell(self) -> None:
        """One pod for each probe."""
        await self.say("A Service web, and no pod yet. The first pod, slow, takes 22 seconds to start; it has a startupProbe.")
        await self.create(SERVICE)
        await self._create("slow", "startupProbe", 12)
        await self.until(lambda: self._leads_to("slow"))
        await self.say(
            "It is ready now. Until a startup probe succeeds, no other probe is asked; it is asked every five seconds here, and "
            "only the twelfth failure would have had the container restarted.")
        await self._create("busy", "readinessProbe", 1)
        await self.until(lambda: self._leads_to("busy", "slow"))
        await self.say("The second pod, busy, has a readinessProbe, which fails after twenty seconds.")
        await self.until(lambda: self._leads_to("slow"))
        await self.say(
            "busy is not ready: the Service sends it no requests any more. It runs on, and no readiness probe ever restarts it.")
        await self._create("stuck", "livenessProbe", 3)
        await self.until(lambda: self._leads_to("slow", "stuck"))
        await self.say("The third pod, stuck, has a livenessProbe, and hangs after twenty seconds.")
        await self.until(lambda: self.rows(name="stuck", restarts="1", ready="yes"))
        await self.until(lambda: self._leads_to("slow", "stuck"))
        await self.say(
            "After the third failure the kubelet killed its container, and started another in the same pod: one restart.")
