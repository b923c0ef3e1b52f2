"""What happens in a life: what a kubelet and a user would do, with pods and objects that are named
by where they stand in a sight.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fuzz.lives.seeing import Sight, Tree
from tests.fuzz.lives.sides import Side

PODS = "api/v1/pods"
COLLECTIONS = {
    "jobs": "apis/batch/v1/jobs", "jobsets": "apis/jobset.x-k8s.io/v1alpha2/jobsets",
    "leaderworkersets": "apis/leaderworkerset.x-k8s.io/v1/leaderworkersets", "pods": PODS, "services": "api/v1/services",
    "workloads": "apis/scheduling.k8s.io/v1beta1/workloads", "podgroups": "apis/scheduling.k8s.io/v1beta1/podgroups",
    "resourcequotas": "api/v1/resourcequotas",
    "statefulsets": "apis/apps/v1/statefulsets", "controllerrevisions": "apis/apps/v1/controllerrevisions"}
OLD = timedelta(hours=1)  # what ended so long ago needs no back-off


def _finished(pod: Tree) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def _ready(pod: Tree) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions") or ())


CHOICES: dict[str, Callable[[Tree], bool]] = {
    "active": lambda pod: not _finished(pod) and "deletionTimestamp" not in pod["metadata"],
    "unfinished": lambda pod: not _finished(pod),
    "pending": lambda pod: pod["status"].get("phase") == "Pending" and "deletionTimestamp" not in pod["metadata"],
    "running": lambda pod: pod["status"].get("phase") == "Running",
    "unready": lambda pod: not _finished(pod) and not _ready(pod) and "deletionTimestamp" not in pod["metadata"],
    "terminating": lambda pod: "deletionTimestamp" in pod["metadata"],
    "any": lambda _: True,
}


def picked(trees: list[Tree], step: Tree) -> list[Tree]:
    """Those that a step means: ``count`` of them from where ``pick`` (0 to 1) says."""
    if not trees:
        return []
    start = int(step["pick"] * len(trees)) % len(trees)
    return (trees[start:] + trees[:start])[:step.get("count", 1)]


def _pods(sight: Sight, step: Tree) -> list[Tree]:
    prefix = step.get("prefix", "")
    chosen = CHOICES[step.get("of", "active")]
    pods = sight.ordered.get("pods", [])
    return picked([pod for pod in pods if chosen(pod) and pod["metadata"]["name"].startswith(prefix)], step)


def _time(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Actor:
    """Plays steps on one side. ``now`` tells that side's time."""

    def __init__(self, side: Side, now: Callable[[], datetime]) -> None:
        self._side, self._now = side, now
        self._do: dict[str, Callable[[Sight, Tree], Awaitable[None]]] = {
            "run": self._run, "end": self._end, "delete": self._delete, "kill": self._kill, "create": self._create,
            "patch": self._patch, "wait": self._wait, "relabel": self._relabel}

    async def act(self, sight: Sight, step: Tree) -> None:
        """Do what a step says."""
        await self._do[step["do"]](sight, step)

    def _pods(self, sight: Sight, step: Tree) -> list[Tree]:
        found = _pods(sight, step)
        for pod in found:
            self._side.mark(pod)
        return found

    async def _wait(self, _: Sight, step: Tree) -> None:
        """Nothing but time passes."""

    async def _create(self, _: Sight, step: Tree) -> None:
        await self._side.below("POST", COLLECTIONS[step["kind"]], body=step["body"])

    async def _bind(self, pod: Tree) -> None:
        if not pod["spec"].get("nodeName"):
            name = pod["metadata"]["name"]
            body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": "nowhere"}}
            await self._side.below("POST", PODS, f"{name}/binding", body)

    async def _status(self, pod: Tree, status: Tree) -> None:
        await self._side.below("PATCH", PODS, f"{pod['metadata']['name']}/status", {"status": status})

    def _containers(self, pod: Tree, state: Tree, restarts: int, *, ready: bool) -> list[Tree]:
        same = {"imageID": "", "restartCount": restarts, "ready": ready, "state": state}
        return [{"name": each["name"], "image": each["image"], **same} for each in pod["spec"]["containers"]]

    async def _run(self, sight: Sight, step: Tree) -> None:
        """Pods run, ready or not, with so many restarts behind them."""
        for pod in self._pods(sight, step):
            await self._bind(pod)
            at, ready = _time(self._now()), step.get("ready", True)
            await self._status(pod, {
                "phase": "Running", "startTime": at,
                "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": at}],
                "containerStatuses": self._containers(
                    pod, {"running": {"startedAt": at}}, step.get("restarts", 0), ready=ready)})

    async def _end(self, sight: Sight, step: Tree) -> None:
        """Pods end, with an exit code and maybe a condition, just now or long ago."""
        for pod in self._pods(sight, step):
            await self._bind(pod)
            await self._status(pod, self._ended(pod, step))

    def _ended(self, pod: Tree, step: Tree) -> Tree:
        code, at = step.get("code", 0), _time(self._now() if step.get("now") else self._now() - OLD)
        ended = {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": at, "startedAt": at}
        more = [{**each, "lastTransitionTime": at} for each in step.get("conditions", ())]
        status = {
            "phase": "Failed" if code else "Succeeded",
            "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": at}, *more],
            "containerStatuses": self._containers(pod, {"terminated": ended}, step.get("restarts", 0), ready=False)}
        return {**status, "containerStatuses": []} if step.get("bare") else status

    async def _delete(self, sight: Sight, step: Tree) -> None:
        """Objects are deleted: pods, bound first where the step says so, or others."""
        kind = step.get("kind", "pods")
        trees = self._pods(sight, step) if kind == "pods" else picked(sight.ordered.get(kind, []), step)
        for tree in trees:
            if step.get("bound"):
                await self._bind(tree)
            options = {key: step[key] for key in ("propagationPolicy", "gracePeriodSeconds") if key in step}
            await self._side.below("DELETE", COLLECTIONS[kind], tree["metadata"]["name"], options or None)

    async def _kill(self, sight: Sight, step: Tree) -> None:
        """A kubelet ends pods that are being deleted."""
        for pod in self._pods(sight, {"of": "terminating", **step}):
            if not _finished(pod):
                await self._status(pod, self._ended(pod, step))
            await self._side.below("DELETE", PODS, pod["metadata"]["name"], {"gracePeriodSeconds": 0})

    async def _patch(self, sight: Sight, step: Tree) -> None:
        """Somebody changes objects by a merge patch, or by a JSON patch if it is a list."""
        media = "application/json-patch+json" if isinstance(step["body"], list) else "application/merge-patch+json"
        for tree in picked(sight.ordered.get(step["kind"], []), step):
            name = tree["metadata"]["name"] + step.get("below", "")
            await self._side.below("PATCH", COLLECTIONS[step["kind"]], name, step["body"], media)

    async def _relabel(self, sight: Sight, step: Tree) -> None:
        """Somebody takes labels off pods, or gives them others."""
        for pod in self._pods(sight, step):
            body: Any = {"metadata": {"labels": step["labels"]}}
            await self._side.below("PATCH", PODS, pod["metadata"]["name"], body)
