"""The finalizer that keeps a pod of a Job until it is counted, and the removals that the cache does
not show yet.

A pod whose finalizer was removed is not counted again, even while the cache still shows the
finalizer.
Upstream: pkg/controller/job/tracking_utils.go (uidTrackingExpectations), patchPod in
pod_control.go.
"""

from collections.abc import Mapping

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.client.client import Client
from fakekube.client.resources import PODS
from fakekube_controllers.job import pods
from fakekube_controllers.job.pods import Pod

PATCHED_TOO_LATE = (404, 409, 422)  # the pod is gone, or another one has its name


class TrackingFinalizers:
    """Removes tracking finalizers, and keeps by Job the uids of pods of which the cache still shows
    them.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._expected: dict[ObjectKey, dict[str, None]] = {}

    async def remove(self, pod: Pod) -> None:
        """Remove the finalizer from a pod of a Job; a pod that is gone already is no error.

        Raises APIError.
        """
        uid = meta.uid_of(pod)
        expected = self._expected.setdefault(_job_key(pod), {})
        expected[uid] = None
        try:
            await self._patch(pod)
        except APIError as error:
            expected.pop(uid, None)
            if error.code not in PATCHED_TOO_LATE:
                raise

    async def remove_from_orphan(self, pod: Pod) -> None:
        """Remove the finalizer from a pod that no Job counts; a pod that is gone already is no
        error. Raises APIError.
        """
        try:
            await self._patch(pod)
        except APIError as error:
            if error.code not in PATCHED_TOO_LATE:
                raise

    async def _patch(self, pod: Pod) -> None:
        body = {"metadata": {"uid": meta.uid_of(pod), "$deleteFromPrimitiveList/finalizers": [pods.TRACKING_FINALIZER]}}
        await self._client.patch(
            PODS, meta.name_of(pod), meta.namespace_of(pod), body, type="strategic", read_answer=False)

    def expected(self, key: ObjectKey) -> Mapping[str, None]:
        """The uids of a Job's pods whose finalizer was removed and is still in the cache."""
        return {**self._expected.get(key, {})}

    def is_removal_expected(self, pod: Pod) -> bool:
        """Whether the pod's finalizer was removed and the cache does not show that yet."""
        return meta.uid_of(pod) in self._expected.get(_job_key(pod), ())

    def removal_observed(self, pod: Pod, job_name: str) -> None:
        """Note that the cache shows the pod without its finalizer, or no longer has the pod."""
        expected = self._expected.get(ObjectKey(meta.namespace_of(pod), job_name))
        if expected is not None:
            expected.pop(meta.uid_of(pod), None)

    def forget(self, key: ObjectKey) -> None:
        """Drop what is kept about a Job that is gone."""
        self._expected.pop(key, None)


def _job_key(pod: Pod) -> ObjectKey:
    """The key of the Job that controls a pod; that of no Job when none does."""
    owner = meta.controller_of(pod)
    return ObjectKey(meta.namespace_of(pod), owner["name"] if owner is not None else "")
