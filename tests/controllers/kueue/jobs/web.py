"""A kind of job of a user's own, as the docs show it."""

from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube_controllers.kueue import podset
from fakekube_controllers.kueue.jobframework.integrations import Integration
from fakekube_controllers.kueue.jobframework.job import Finished, GenericJob
from fakekube_controllers.kueue.podset import PodSetInfo

WEBS = Resource("example.com", "v1", "webs", "Web")


class Web(GenericJob):
    """So many pods of one template; ``status`` says how many are ready, and at last the outcome."""

    resource = WEBS

    def is_suspended(self) -> bool:
        return bool(self.spec.get("suspend"))

    def suspend(self) -> None:
        self.spec["suspend"] = True

    async def pod_sets(self, _client: Client | None) -> list[Tree]:
        return [{"name": "web", "count": self.spec["replicas"], "template": self.spec["template"]}]

    def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
        podset.expect_podsets(infos, 1)
        self.spec["suspend"] = False
        podset.merge(self.spec["template"], infos[0], self.features)

    def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
        return bool(infos) and podset.restore_pod_spec(self.spec["template"], infos[0])

    def finished(self) -> Finished | None:
        outcome = self.status.get("outcome")
        return Finished(f"It ended: {outcome}", outcome == "good") if outcome else None

    def is_active(self) -> bool:
        return bool(self.status.get("ready"))

    def pods_ready(self) -> bool:
        return self.status.get("ready", 0) >= self.spec["replicas"]


WEB = Integration("example.com/web", WEBS, lambda: Web)
