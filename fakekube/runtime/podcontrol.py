"""Making and deleting pods for an object that owns them, with the Events that tell of it.

Upstream: pkg/controller/controller_utils.go (RealPodControl, GetPodFromTemplate),
pkg/controller/replicaset (slowStartBatch).
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from fakekube.apimachinery import errors, meta
from fakekube.apimachinery.errors import APIError, is_namespace_terminating
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.client import Client
from fakekube.client.recorder import Recorder
from fakekube.client.resources import PODS
from fakekube.client.transport import TransportError
from fakekube.runtime.ownwrites import OwnWrites
from fakekube.util.tasks import turn

T = TypeVar("T")
P = TypeVar("P", bound=ReadOnlyTree)


UNTURNED_PODS = 16
"""So many pods are made, deleted or changed before everybody else gets a turn: in-process nothing
else yields.
"""


async def turn_before(place: int) -> None:
    """Give everybody else a turn before the pod at this place of many, if it is due."""
    if place and place % UNTURNED_PODS == 0:
        await turn()


class PodControl:
    """Creates and deletes pods, and records ``SuccessfulCreate`` and its like for their owner;
    notes in ``own_writes`` what it creates.
    """

    def __init__(self, client: Client, recorder: Recorder, own_writes: OwnWrites | None = None) -> None:
        self._client, self._recorder, self._own_writes = client, recorder, own_writes

    async def create(self, owner: ReadOnlyTree, pod: Tree) -> Tree:
        """Create a pod and say so.

        Raises APIError and TransportError, after a Warning unless the namespace is on its way out.
        """
        try:
            made = await self._client.create(PODS, pod)
        except (APIError, TransportError) as error:
            if not isinstance(error, APIError) or not is_namespace_terminating(error):
                self._recorder.event(owner, "Warning", "FailedCreate", f"Error creating: {error}")
            raise
        if self._own_writes is not None:
            self._own_writes.note(meta.key_of(owner), PODS, made)
        self._recorder.event(owner, "Normal", "SuccessfulCreate", f"Created pod: {meta.name_of(made)}")
        return made

    async def delete(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> bool:
        """Delete a pod and say so; False when it was gone already.

        Raises APIError and TransportError, after a Warning.
        """
        name, namespace = meta.name_of(pod), meta.namespace_of(pod)
        try:
            gone = await self._client.delete(PODS, name, namespace, missing_ok=True)
        except (APIError, TransportError) as error:
            self._recorder.event(owner, "Warning", "FailedDelete", f"Error deleting: {error}")
            raise
        if gone is None:
            return False
        self._recorder.event(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {name}")
        return True


def pod_from_template(template: ReadOnlyTree, owner: ReadOnlyTree) -> Tree:
    """A pod as a template has it, controlled by ``owner`` and with a name to be generated.

    It shares the template's spec.
    """
    metadata: Tree = {"generateName": f"{meta.name_of(owner)}-", "namespace": meta.namespace_of(owner)}
    given = template.get("metadata") or meta.EMPTY
    for key in ("labels", "annotations"):
        if given.get(key):
            metadata[key] = dict(given[key])
    if given.get("finalizers"):
        metadata["finalizers"] = list(given["finalizers"])
    metadata["ownerReferences"] = [meta.controller_reference(owner)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": dict(template["spec"])}


async def slow_start(items: Iterable[T], create: Callable[[T], Awaitable[object]]) -> tuple[int, APIError | None]:
    """Call ``create`` for items in batches that double, until a batch has a failure; how many went
    well, and the first error.

    A quota that refuses one pod is so not asked five hundred times. What a terminating namespace
    refuses counts as done. Whose connection broke may have been made, and has failed here.
    """
    made, tried, size = 0, 0, 1
    rest = list(items)
    while rest:
        batch, rest = rest[:size], rest[size:]
        failure: APIError | None = None
        for item in batch:
            await turn_before(tried)
            tried += 1
            try:
                await create(item)
            except APIError as error:
                if not is_namespace_terminating(error):
                    failure = failure or error
                    continue
            except TransportError as error:
                failure = failure or errors.raw(str(error))
                continue
            made += 1
        if failure is not None:
            return made, failure
        size *= 2
    return made, None


async def create_expected(
    expectations: Expectations, key: Hashable, items: Sequence[T], create: Callable[[T], Awaitable[object]],
) -> tuple[int, APIError | None]:
    """Expect a creation for each item, and call ``create`` for them as ``slow_start`` does.

    Items that failed or were not tried are not expected any more. Returns what ``slow_start`` does.
    """
    expectations.expect_creations(key, len(items))
    made, error = await slow_start(items, create)
    for _ in range(len(items) - made):
        expectations.creation_observed(key)
    return made, error


async def delete_expected(
    expectations: Expectations, key: Hashable, pods: Sequence[P], delete: Callable[[P], Awaitable[bool]],
) -> tuple[list[P], APIError | None]:
    """Expect the deletion of pods, and call ``delete`` for all of them: False for one that is gone.

    Pods that failed or are gone are not expected any more. Returns the pods that did not fail, and
    the first error.
    """
    if pods:
        expectations.expect_deletions_of(key, [meta.uid_of(pod) for pod in pods])
    deleted: list[P] = []
    failure: APIError | None = None
    for place, pod in enumerate(pods):
        await turn_before(place)
        try:
            if not await delete(pod):
                expectations.deletion_observed(key, meta.uid_of(pod))
        except (APIError, TransportError) as error:
            expectations.deletion_observed(key, meta.uid_of(pod))
            failure = failure or (error if isinstance(error, APIError) else errors.raw(str(error)))
        else:
            deleted.append(pod)
    return deleted, failure
