"""What demonstrations of groups of pods have in common: nodes with GPUs, Jobs, and rows for groups.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cli.demos.stage import Story
from fakekube.client.resources import NODES, PODS, Resource
from fakekube.runtime.demo import Row

POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
SCHEDULED = "PodGroupInitiallyScheduled"
GPU = "nvidia.com/gpu"


def nodes(*names: str, gpus: int, labels: Mapping[str, str] | None = None) -> str:
    """Nodes, each with so many GPUs and these labels."""
    room = f'{{cpu: "8", memory: 32Gi, pods: "110", {GPU}: "{gpus}"}}'
    marked = ", ".join(f"{key}: {value}" for key, value in (labels or {}).items())
    return "---".join(f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{marked}}}}}
status: {{capacity: {room}, allocatable: {room}}}
""" for name in names)


def job(name: str, pods: int, *, seconds: int, scheduling: str = "{}", priority: str = '""') -> str:
    """A Job of so many pods at once, each with one GPU for so long. ``scheduling``: how its pods
    are scheduled together.
    """
    return f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: default}}
spec:
  parallelism: {pods}
  completions: {pods}
  completionMode: Indexed
  scheduling: {scheduling}
  template:
    metadata:
      annotations: {{fakekube.dev/run-duration: {seconds}s}}
    spec:
      restartPolicy: Never
      priorityClassName: {priority}
      containers:
      - name: train
        image: "train:1"
        resources: {{limits: {{{GPU}: "1"}}}}
"""


def pod_row(pod: Tree) -> tuple[str, ...]:
    """Name, phase and node."""
    status = "Terminating" if meta.is_deleting(pod) else (pod.get("status") or {}).get("phase", "Pending")
    return meta.name_of(pod), status, pod["spec"].get("nodeName", "")


def group_row(group: Tree) -> tuple[str, ...]:
    """Whose group it is, what kubectl calls its status, and how many pods start together."""
    owner = meta.controller_of(group)
    condition = meta.find_condition(group, SCHEDULED)
    status = "Waiting" if condition is None else "Scheduled" if condition["status"] == "True" else condition["reason"]
    gang = group["spec"]["schedulingPolicy"].get("gang")
    return owner["name"] if owner else meta.name_of(group), status, f"(gang of {gang['minCount']})" if gang else "(no gang)"


class GroupStory(Story):
    """Groups and their pods, on nodes that the story makes."""

    nodes = 0
    feature_gates = "workload-aware"
    header = ("NAME", "STATUS", "NODE")
    told: ClassVar[Mapping[str, str]] = {
        "Scheduled": "a pod gets a node", "Completed": "a Job is done",
    }

    def follows(self) -> Mapping[Resource, Row]:
        """Groups, and their pods."""
        return {POD_GROUPS: group_row, PODS: pod_row}

    async def create_nodes(self, *manifests: str) -> None:
        """Create nodes, and wait until pods can go there."""
        await self.create("---".join(manifests))

        async def are_open() -> bool:
            found = (await self.cluster.client.list(NODES)).items
            return all(meta.is_condition_true(node, "Ready") and not node["spec"].get("taints") for node in found)

        await self.until_answer(are_open)

    async def group_of(self, name: str) -> ReadOnlyTree:
        """The group of that name, or of the Job of that name."""
        found: list[Any] = (await self.cluster.client.list(POD_GROUPS, "default")).items
        return next(group for group in found if group_row(group)[0] == name)

    async def reason(self, name: str) -> str:
        """What a group says of why it waits."""
        return str((meta.find_condition(await self.group_of(name), SCHEDULED) or {}).get("message", ""))

    def pods(self, prefix: str, **cells: str) -> list[tuple[str, ...]]:
        """The rows of pods whose names begin so, and whose cells are these."""
        return [row for row in self.rows(**cells) if row[0].startswith(f"{prefix}-")]
