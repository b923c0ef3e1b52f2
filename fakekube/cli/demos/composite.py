"""``fakekube demo composite``: two roles that start together, each a gang of its own."""

from fakekube.cli.demos.groups import GPU, GroupStory, nodes

TREE = """
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: training, namespace: default}
spec:
  compositePodGroupTemplates:
  - name: roles
    schedulingPolicy: {gang: {minGroupCount: 2}}
    podGroupTemplates:
    - name: servers
      schedulingPolicy: {gang: {minCount: 2}}
    - name: workers
      schedulingPolicy: {gang: {minCount: 3}}
---
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: training, namespace: default}
spec:
  workloadRef: {workloadName: training, templateName: roles}
  schedulingPolicy: {gang: {minGroupCount: 2}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: servers, namespace: default}
spec:
  parentCompositePodGroupName: training
  workloadRef: {workloadName: training, templateName: servers}
  schedulingPolicy: {gang: {minCount: 2}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: workers, namespace: default}
spec:
  parentCompositePodGroupName: training
  workloadRef: {workloadName: training, templateName: workers}
  schedulingPolicy: {gang: {minCount: 3}}
"""


def pods(group: str, count: int) -> str:
    """The pods of a group."""
    return "---".join(f"""
apiVersion: v1
kind: Pod
metadata:
  name: {group}-{number}
  namespace: default
  annotations: {{fakekube.dev/run-duration: 1h}}
spec:
  schedulingGroup: {{podGroupName: {group}}}
  containers: [{{name: main, image: "train:1", resources: {{limits: {{{GPU}: "1"}}}}}}]
""" for number in range(count))


class Demo(GroupStory):
    """A tree that waits for its parts, then for room."""

    async def tell(self) -> None:
        """Servers, workers, room."""
        await self.say(
            "A training of two servers and three workers. Each role is a gang, and neither is of use without the other: "
            "a CompositePodGroup is the parent of both, and wants both (minGroupCount: 2). There are four GPUs.")
        await self.create_nodes(nodes("node-0", "node-1", gpus=2))
        await self.create(TREE)
        await self.create(pods("servers", 2))
        await self.until(lambda: len(self.pods("servers")) == 2)
        await self.pass_seconds(5)
        waiting = len(self.pods("servers", status="Pending"))
        await self.say(
            f"The servers are there, all of their gang, and {waiting} of them wait: the other child of their parent is not "
            "complete.")
        await self.create(pods("workers", 3))
        await self.until(lambda: self.rows(name="workers", status="Unschedulable"))
        await self.say(
            f"Now the tree is complete. Four GPUs would do for each role, but not for both, so that nobody starts. The workers: "
            f"{await self.reason('workers')}")
        await self.create_nodes(nodes("node-2", gpus=2))
        await self.until(lambda: len(self.rows(status="Running")) == 5)
        await self.say(
            "A third node comes, and all five start in one attempt. Controllers whose Jobs play several roles make such trees; "
            "they may be four levels deep.")
