"""Removes from a cluster what was made to play there, and nothing else."""

from fakekube.client.transport import TransportError
from fakekube.recording.asking import JSON, Target, tree_of

SECONDS = 15.0
"""How long namespaces may take to go before finalizers are taken off what is left in them, and
pods are not waited for.
"""
LAST_SECONDS = 60.0
BACKGROUND = b'{"propagationPolicy":"Background"}'
MERGE = {**JSON, "content-type": "application/merge-patch+json"}


class Removal:
    """What is to be removed of one conversation.

    ``namespaces`` are names, ``objects`` the paths of objects without a namespace, ``collections``
    the paths of collections in these namespaces that somebody wrote to: all as they are there.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.namespaces: dict[str, None] = {}
        self.objects: dict[str, None] = {}
        self.collections: dict[str, None] = {}
        self._is_over = False

    async def begin(self) -> list[str]:
        """Delete all of it; what could not be asked for."""
        left = []
        for path in [*reversed(self.objects), *(f"/api/v1/namespaces/{name}" for name in self.namespaces)]:
            try:
                await self._target.ask("DELETE", path, body=BACKGROUND)
            except TransportError:
                left.append(path)
        return left

    async def finish(self) -> list[str]:
        """Wait until all of it is gone, if that was not done; what is not after a while."""
        if self._is_over:
            return []
        try:
            left = [name for name in self.namespaces if not await self._is_removed(name)]
            left += [path for path in self.objects if not await self._is_gone_within(path, LAST_SECONDS)]
        except TransportError as error:
            return [*self.namespaces, *self.objects, str(error)]
        self._is_over = True
        return left

    async def _is_removed(self, name: str) -> bool:
        path = f"/api/v1/namespaces/{name}"
        if await self._is_gone_within(path, SECONDS):
            return True
        await self._take_finalizers_off(name)
        # pods of a node that does not answer
        await self._target.ask("DELETE", f"{path}/pods", query={"gracePeriodSeconds": ["0"]})
        return await self._is_gone_within(path, LAST_SECONDS)

    async def _is_gone_within(self, path: str, seconds: float) -> bool:
        async def is_gone() -> bool:
            return (await self._target.ask("GET", path)).status == 404

        return (await self._target.until(is_gone, seconds))[0]

    async def _take_finalizers_off(self, name: str) -> None:
        for collection in self.collections:
            if f"/namespaces/{name}/" not in collection:
                continue
            found = tree_of(await self._target.ask("GET", collection))
            for item in found.get("items") or () if isinstance(found, dict) else ():
                if item["metadata"].get("finalizers"):
                    await self._target.ask(
                        "PATCH", f"{collection}/{item['metadata']['name']}", body=b'{"metadata":{"finalizers":null}}',
                        headers=MERGE)
