"""They die between two writes, and do not go on where they were (Sieve: intermediate states).
"""

from fakekube.client.resources import CONFIG_MAPS, PODS, SECRETS
from tests.exploration.buggy.base import Reconciler, create_once, declared, declared_with_secrets, missing_ok, name_of, version
from tests.exploration.operators import POD


class SecretOnlyFirst(Reconciler):
    """Makes a pod, then a Secret for it; where there is a pod, it takes the Secret as made.

    Dies between the two: the Secret is never made (Sieve: intermediate states).
    """

    def is_done(self, name):
        return self.pods.get("default", name) is not None

    async def work(self, name, found):
        if found is None or self.is_done(name):
            return
        await create_once(self.client, PODS, name, spec=POD)
        await create_once(self.client, SECRETS, name)


class SecretAlways(SecretOnlyFirst):
    """Looks for each."""

    def is_done(self, name):
        return self.secrets.get("default", name) is not None and super().is_done(name)


class MovesInMemory(Reconciler):
    """Moves a Secret to the place that a map names: reads it, deletes it, makes it there.

    Dies after the second step: what it had read is gone (Sieve: intermediate states).
    """

    async def work(self, name, found):
        place = ((found or {}).get("data") or {}).get("place")
        for secret in self.secrets.list("default"):
            if place and name_of(secret) != place and secret["metadata"].get("labels", {}).get("of") == name:
                await self.move(secret, {"metadata": {
                    "name": place, "namespace": "default", "labels": {"of": name}}, "data": secret.get("data") or {}})

    async def move(self, secret, moved):
        await missing_ok(self.client.delete(SECRETS, name_of(secret), "default"))
        await missing_ok(self.client.create(SECRETS, moved), "AlreadyExists")


class MovesOnTheServer(MovesInMemory):
    """Makes it there before it deletes it."""

    async def move(self, secret, moved):
        await missing_ok(self.client.create(SECRETS, moved), "AlreadyExists")
        await missing_ok(self.client.delete(SECRETS, name_of(secret), "default"))


class MarksFirst(Reconciler):
    """Brings a Secret to the version that a map names: marks the map as moving, writes the Secret,
    takes the mark off. While there is a mark it waits, as somebody is at it.

    Dies after the mark: it waits for ever, and whoever sets the version back is not heard either
    (Acto: no way back to an earlier desired state, as operators that wait for a rolling update to
    end before they begin the next).
    """

    async def is_left(self, name, marks, wanted):
        return "moving" in marks or marks.get("at") == wanted

    async def work(self, name, found):
        marks = ((found or {}).get("metadata") or {}).get("annotations") or {}
        wanted = ((found or {}).get("data") or {}).get("version")
        if not wanted or await self.is_left(name, marks, wanted):
            return
        moving = await self.client.update(CONFIG_MAPS, self.marked(found, moving=wanted))
        await create_once(self.client, SECRETS, name)
        secret = await self.client.get(SECRETS, name, "default")
        await self.client.update(SECRETS, {**secret, "data": version(wanted)})
        await self.client.update(CONFIG_MAPS, self.marked(moving, at=wanted))

    def marked(self, found, **marks):
        return {**found, "metadata": {**found["metadata"], "annotations": marks}}


class MarksAndGoesOn(MarksFirst):
    """Takes the mark for its own, and looks at the Secret."""

    async def is_left(self, name, marks, wanted):
        secret = await missing_ok(self.client.get(SECRETS, name, "default"))
        return marks == {"at": wanted} and secret is not None and secret.get("data") == version(wanted)


secret_only_first, secret_always = declared("secret-only-first", SecretOnlyFirst), declared("secret-always", SecretAlways)
moves_in_memory, moves_on_the_server = declared_with_secrets("moves-in-memory", MovesInMemory), declared_with_secrets(
    "moves-on-the-server", MovesOnTheServer)
marks_first, marks_and_goes_on = declared("marks-first", MarksFirst), declared("marks-and-goes-on", MarksAndGoesOn)
