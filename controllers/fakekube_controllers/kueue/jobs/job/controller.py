"""What a Job of batch/v1 is to Kueue. Upstream: pkg/controller/jobs/job/job_controller.go."""

from collections.abc import Iterable, Iterator

from fakekube.apimachinery import meta, strconv
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import JOBS
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names, podset
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import Finished, GenericJob, UnretryableError
from fakekube_controllers.kueue.podset import PodSetInfo
from fakekube_controllers.kueue.topology import requests

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
JOB_NAME, CONTROLLER_UID = "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"
MANAGED_LABELS = ("job-name", "controller-uid", JOB_NAME, CONTROLLER_UID)
"""Labels of the template that Job's own controller sees to."""
JOB_CONTROLLER = "kubernetes.io/job-controller"
MAX_INT32 = 2**31 - 1


class Job(GenericJob):
    """A Job."""

    resource = JOBS
    own_manager = JOB_CONTROLLER

    def is_suspended(self) -> bool:
        """Whether it is suspended, and stopped to the end."""
        return self.spec.get("suspend") is True and meta.annotations_of(self.obj).get(names.STOPPING_ANNOTATION) != "true"

    def suspend(self) -> None:
        """Suspend it."""
        self.spec["suspend"] = True

    def is_active(self) -> bool:
        """Whether it has pods that have not ended."""
        return bool(self.status.get("active"))

    async def stop(
        self, framework: Framework, infos: list[PodSetInfo] | None, _reason: str, _message: str,
    ) -> list[Tree]:
        """Suspend it, forget when it started, and restore its template: three writes, of which an
        annotation says that they are not all done.

        The API takes the last one once its pods are gone; upstream tries it until then, and here
        UnretryableError leaves it to the event that says so.
        """
        was_suspended = self.is_suspended()
        if not was_suspended:
            await self.patch(framework, self._begin_stop)
        if self.status.get("startTime") is not None:
            await self.patch(framework, lambda: self.obj["status"].pop("startTime"), subresource="status")
        if not was_suspended and self.is_active():
            raise UnretryableError("its pods are not gone")
        await self.patch(framework, lambda: self._end_stop(infos or []))
        return [] if was_suspended else [self.obj]

    def _begin_stop(self) -> bool:
        annotations = meta.annotations_of(self.obj)
        if self.spec.get("suspend") is True and annotations.get(names.STOPPING_ANNOTATION) == "true":
            return False
        self.suspend()
        self.obj["metadata"]["annotations"] = {**annotations, names.STOPPING_ANNOTATION: "true"}
        return True

    def _end_stop(self, infos: list[PodSetInfo]) -> bool:
        restored = self.restore_podsets_info(infos)
        annotations = self.obj["metadata"].get("annotations") or {}
        return annotations.pop(names.STOPPING_ANNOTATION, None) is not None or restored

    def reclaimable_pods(self) -> list[Tree] | None:
        """What runs in parallel beyond what is left to be done."""
        parallelism = self.parallelism
        completions = self.spec.get("completions")
        completions = parallelism if completions is None else completions
        ended = self.status.get("succeeded") or 0
        if self.spec.get("completionMode") == "Indexed":
            status = self.status
            ended = terminal_indexes_count(
                [status.get("completedIndexes") or "", status.get("failedIndexes") or ""], completions)
        if parallelism <= 1 or ended <= 0:
            return []
        left = max(completions - ended, 0)
        return [{"name": names.DEFAULT_PODSET_NAME, "count": parallelism - left}] if left < parallelism else []

    def pod_sets_sources(self) -> tuple[object, ...]:
        """The spec, and the annotations, one of which says how few pods will do."""
        return self.spec, self.obj["metadata"].get("annotations")

    async def pod_sets(self, _client: Client | None) -> list[Tree]:
        """One. TopologyRequestError where its annotations cannot be read."""
        template: Tree = self.spec["template"]
        if labels := meta.labels_of(template):
            kept = {key: value for key, value in labels.items() if key == JOB_NAME or key not in MANAGED_LABELS}
            template = {**template, "metadata": {**template["metadata"], "labels": kept}}
        podset: Tree = {"name": names.DEFAULT_PODSET_NAME, "template": template, "count": self.pods_count}
        if self.min_pods_count is not None:
            podset["minCount"] = self.min_pods_count
        if self.features.TopologyAwareScheduling:
            metadata = self.spec["template"].get("metadata") or {}
            request = requests.topology_request(metadata, self.features, pod_index_label=COMPLETION_INDEX)
            if request is not None:
                podset["topologyRequest"] = request
        return [podset]

    def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
        """Let it run, with fewer pods if it takes fewer."""
        self.spec["suspend"] = False
        podset.expect_podsets(infos, 1)
        if self.min_pods_count is not None:
            self._scale(infos[0].count)
        podset.merge(self.spec["template"], infos[0], self.features)

    def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
        """What its template and its size were."""
        if not infos:
            return False
        changed = self.min_pods_count is not None and (self.spec.get("parallelism") or 0) != infos[0].count
        if changed:
            self._scale(infos[0].count)
        template = self.spec["template"]
        kept = {key: value for key, value in meta.labels_of(template).items() if key in MANAGED_LABELS}
        infos[0].labels.update(kept)
        return podset.restore_pod_spec(template, infos[0]) or changed

    def _scale(self, count: int) -> None:
        self.spec["parallelism"] = count
        if self.syncs_completions:
            self.spec["completions"] = count

    def finished(self) -> Finished | None:
        """By its conditions."""
        for condition in self.status.get("conditions") or ():
            if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
                return Finished(condition.get("message", ""), condition["type"] == "Complete")
        return None

    def pods_ready(self) -> bool:
        """Counting those that have succeeded."""
        uncounted = (self.status.get("uncountedTerminatedPods") or {}).get("succeeded") or ()
        return (self.status.get("succeeded") or 0) + (self.status.get("ready") or 0) + len(uncounted) >= self.pods_count

    @property
    def parallelism(self) -> int:
        """``spec.parallelism``; 1 unless given."""
        given: int | None = self.spec.get("parallelism")
        return 1 if given is None else given

    @property
    def pods_count(self) -> int:
        """How many pods run at once."""
        completions = self.spec.get("completions")
        return self.parallelism if completions is None else min(completions, self.parallelism)

    @property
    def min_pods_count(self) -> int | None:
        """How few would do; None where it takes no fewer."""
        text = meta.annotations_of(self.obj).get(names.JOB_MIN_PARALLELISM_ANNOTATION)
        count = None if text is None else strconv.whole(text)
        return count if count is not None and abs(count) <= MAX_INT32 else None

    @property
    def syncs_completions(self) -> bool:
        """Whether its completions are to be as many as run at once."""
        text = meta.annotations_of(self.obj).get(names.JOB_COMPLETIONS_EQUAL_PARALLELISM_ANNOTATION)
        try:
            return text is not None and requests.parse_bool(text)
        except ValueError:
            return False


def terminal_indexes_count(texts: Iterable[str], completions: int) -> int:
    """How many indexes below ``completions`` the texts name: ``0-3,5``.

    What is no range of indexes is left out.
    """
    ranges = sorted(each for text in texts for each in _ranges(text, completions))
    count, last_counted = 0, -1
    for first, last in ranges:
        first_uncounted = max(first, last_counted + 1)
        if first_uncounted <= last:
            count += last - first_uncounted + 1
            last_counted = last
    return count


def _ranges(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for part in text.split(","):
        first_text, dash, last_text = part.partition("-")
        first = strconv.whole(first_text)
        last = strconv.whole(last_text) if dash else first
        if first is not None and last is not None and first <= min(last, completions - 1):
            yield first, min(last, completions - 1)


def watch_parent_workloads(framework: Framework, queue: WorkQueue[ObjectKey]) -> None:
    """Look at Jobs again when the Workload of whoever is above them changes."""
    def enqueue(workload: Tree) -> None:
        owner = meta.controller_of(workload)
        if owner is not None:
            for job in framework.jobs.owned_by(owner["uid"]):
                queue.add(meta.key_of(job))

    def update(_: ReadOnlyTree, workload: Tree) -> None:
        enqueue(workload)

    framework.ctx.add_handler(names.WORKLOADS, enqueue, update)
