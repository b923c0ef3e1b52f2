"""What is done to the pods and claims of a StatefulSet, with the Events that tell of it.

Upstream: pkg/controller/statefulset/stateful_pod_control.go.
"""

from collections.abc import Callable

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.client.recorder import Recorder
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PODS, Resource
from fakekube_controllers.statefulset import identity, retention


class StatefulPodControl:
    """Writes the pods and claims of one set. ``wrote`` is called with every answer to a write."""

    def __init__(
        self, client: Client, recorder: Recorder, claims: Lister, wrote: Callable[[Resource, ReadOnlyTree], None],
    ) -> None:
        self.client, self.recorder, self._claims, self.wrote = client, recorder, claims, wrote

    async def create(self, owner: ReadOnlyTree, pod: Tree) -> None:
        """Create a pod, its claims first. Raises APIError after a Warning."""
        try:
            await self._create_claims(owner, pod)
        except APIError as error:
            self._record("create", owner, pod, error)
            raise
        failure: APIError | None = None
        try:
            self.wrote(PODS, await self.client.create(PODS, pod))
        except APIError as error:
            if error.reason == "AlreadyExists":
                raise
            failure = error
        await self.keep_claims(owner, pod)
        self._record("create", owner, pod, failure)
        if failure is not None:
            raise failure

    async def delete(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> None:
        """Delete a pod; one that is gone already is fine. Raises APIError after a Warning."""
        try:
            left = await self.client.delete(PODS, meta.name_of(pod), meta.namespace_of(pod), missing_ok=True)
        except APIError as error:
            self._record("delete", owner, pod, error)
            raise
        if left is not None and left.get("kind") == "Pod":
            self.wrote(PODS, left)
        self._record("delete", owner, pod)

    async def update_pod(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> None:
        """Give a pod the labels, volumes and claims that it ought to have.

        Raises APIError after a Warning.
        """
        if identity.identity_matches(owner, pod) and identity.storage_matches(owner, pod) and self.claims_are_right(owner, pod):
            return
        wanted: Tree = {**pod, "metadata": {**pod["metadata"], "labels": identity.identity_labels(owner, pod)}}
        try:
            if not identity.storage_matches(owner, pod):
                wanted["spec"] = {**pod["spec"], "volumes": identity.volumes_of(owner, pod)}
                await self._create_claims(owner, pod)
            await self.keep_claims(owner, pod)
            self.wrote(PODS, await self.client.update(PODS, wanted))
        except APIError as error:
            if error.code != 409:  # a conflict is tried again
                self._record("update", owner, pod, error)
            raise
        self._record("update", owner, pod)

    # claims

    async def create_missing_claims(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> None:
        """Create claims of a pod that is there already. Raises APIError."""
        await self._create_claims(owner, pod)
        await self.keep_claims(owner, pod)

    async def _create_claims(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> None:
        failures: list[APIError] = []
        for claim in identity.claims_of(owner, pod):
            name = meta.name_of(claim)
            there = self._claims.get(meta.namespace_of(claim), name)
            if there is None:
                failures += await self._create_claim(owner, pod, claim)
            elif meta.is_deleting(there):
                failures.append(APIError(409, "Conflict", f"pvc {name} is being deleted"))
        if failures:
            first, texts = failures[0], [str(failure) for failure in failures]
            text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            raise APIError(first.code, first.reason, text, first.details)

    async def _create_claim(self, owner: ReadOnlyTree, pod: ReadOnlyTree, claim: Tree) -> list[APIError]:
        name = meta.name_of(claim)
        what = f"Pod {meta.name_of(pod)} in StatefulSet {meta.name_of(owner)}"
        try:
            self.wrote(PERSISTENT_VOLUME_CLAIMS, await self.client.create(PERSISTENT_VOLUME_CLAIMS, claim))
        except APIError as error:
            if error.reason != "AlreadyExists":
                self.recorder.event(owner, "Warning", "FailedCreate", f"Create Claim {name} for {what} failed error: {error}")
            return [APIError(error.code, error.reason, f"failed to create PVC {name}: {error}", error.details)]
        self.recorder.event(owner, "Normal", "SuccessfulCreate", f"Create Claim {name} {what} success")
        return []

    def _claims_there(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> list[Tree]:
        names = (identity.claim_name(owner, one, identity.ordinal_of(pod)) for one in identity.claim_templates(owner))
        found = (self._claims.get(meta.namespace_of(owner), name) for name in names)
        return [claim for claim in found if claim is not None]

    def claims_are_right(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> bool:
        """Whether the pod's claims belong to whom the retention policy gives them."""
        return all(retention.is_right(claim, owner, pod) for claim in self._claims_there(owner, pod))

    async def keep_claims(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> None:
        """Give the pod's claims to whom the retention policy gives them.

        Raises APIError after a Warning.
        """
        for claim in self._claims_there(owner, pod):
            name = meta.name_of(claim)
            if retention.has_other_controller(claim, owner, pod):
                self.recorder.event(
                    owner, "Warning", "ConflictingController",
                    f"PersistentVolumeClaim {name} has a conflicting OwnerReference that acts as a manging controller, "
                    "the retention policy is ignored for this claim")
            if retention.is_right(claim, owner, pod):
                continue
            wanted = retention.with_owners(claim, owner, pod)
            try:
                self.wrote(PERSISTENT_VOLUME_CLAIMS, await self.client.update(PERSISTENT_VOLUME_CLAIMS, wanted))
            except APIError as error:
                text = f"could not update claim {name} for delete policy ownerRefs: {error}"
                raise APIError(error.code, error.reason, text, error.details) from error

    def has_stale_claim(self, owner: ReadOnlyTree, pod: ReadOnlyTree) -> bool:
        """Whether a claim of the pod to be still belongs to the pod that was, and is about to go
        with it.
        """
        if not retention.policy_of(owner)[0]:
            return False
        return any(retention.has_stale_owner(claim, pod) for claim in self._claims_there(owner, pod))

    def _record(self, verb: str, owner: ReadOnlyTree, pod: ReadOnlyTree, error: APIError | None = None) -> None:
        word = verb.capitalize()
        what = f"{word} Pod {meta.name_of(pod)} in StatefulSet {meta.name_of(owner)}"
        if error is None:
            self.recorder.event(owner, "Normal", f"Successful{word}", f"{what} successful")
        else:
            self.recorder.event(owner, "Warning", f"Failed{word}", f"{what} failed error: {error}")
