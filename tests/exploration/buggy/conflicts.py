"""They take a conflict for something else than a reason to look again.
"""

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, SECRETS
from tests.exploration.buggy.base import Reconciler, create_once, declared, missing_ok, version


class RollsBack(Reconciler):
    """Makes a Secret and says so in the map; where that fails it deletes the Secret again, and says
    in its memory that it has tried (Acto: recovery from an error).
    """

    def __init__(self, ctx):
        super().__init__(ctx)
        self.tried = set()

    async def work(self, name, found):
        if found is None or "ready" in (found.get("data") or {}) or name in self.tried:
            return
        await create_once(self.client, SECRETS, name)
        try:
            await self.client.update(CONFIG_MAPS, {**found, "data": {"ready": "true"}})
        except APIError:
            await self.fail(name)

    async def fail(self, name):
        self.tried.add(name)
        await missing_ok(self.client.delete(SECRETS, name, "default"))


class TriesAgain(RollsBack):
    """Leaves what is made, and tries again."""

    async def fail(self, name):
        raise RuntimeError(f"{name} is not ready yet")


class SaysItIsDone(Reconciler):
    """Writes a Secret as a map wants it, and says in the map that it did, whatever came of it.

    Somebody was faster: the Secret is not written, and the map says that it is (Acto: a status
    that is wrong).
    """

    async def work(self, name, found):
        wanted = ((found or {}).get("data") or {}).get("version")
        if not wanted:
            return
        await create_once(self.client, SECRETS, name)
        secret = await self.client.get(SECRETS, name, "default")
        if self.is_done(found, secret, wanted):
            return
        await self.write(secret, version(wanted))
        await self.client.update(CONFIG_MAPS, {**found, "metadata": {**found["metadata"], "annotations": {"done": wanted}}})

    def is_done(self, found, secret, wanted):
        return (found["metadata"].get("annotations") or {}).get("done") == wanted

    async def write(self, secret, data):
        try:
            await self.client.update(SECRETS, {**secret, "data": data})
        except APIError as error:
            if error.reason != "Conflict":
                raise


class SaysWhatIsDone(SaysItIsDone):
    """Says so when it is, and believes the Secret."""

    def is_done(self, found, secret, wanted):
        return super().is_done(found, secret, wanted) and secret.get("data") == version(wanted)

    async def write(self, secret, data):
        await self.client.update(SECRETS, {**secret, "data": data})


rolls_back, tries_again_later = declared("rolls-back", RollsBack), declared("tries-again-later", TriesAgain)
says_it_is_done, says_what_is_done = declared("says-it-is-done", SaysItIsDone), declared("says-what-is-done", SaysWhatIsDone)
