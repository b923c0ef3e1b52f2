"""They act on what they see happen, and miss what they do not (Sieve: unobserved states).
"""

from fakekube.client.resources import SECRETS
from tests.exploration.buggy.base import Reconciler, declared, missing_ok


class CleansWhatItSees(Reconciler):
    """Makes a Secret for a map, and deletes it once it sees the map gone.

    Who deletes a map and makes another between two looks is not seen: the Secret stays that of
    the first (Sieve: an operator of Cassandra deletes the volumes of a scale-down that it sees).
    """

    async def work(self, name, found):
        if found is None:
            await missing_ok(self.client.delete(SECRETS, name, "default"))
            return
        labels = {"of": found["metadata"]["uid"]}
        metadata = {"name": name, "namespace": "default", "labels": labels}
        await missing_ok(self.client.create(SECRETS, {"metadata": metadata}), "AlreadyExists")


class CleansWhatIsThere(CleansWhatItSees):
    """Compares uids, of what is there."""

    async def work(self, name, found):
        secret = await missing_ok(self.client.get(SECRETS, name, "default"))
        if found is not None and secret is not None and secret["metadata"]["labels"]["of"] != found["metadata"]["uid"]:
            await missing_ok(self.client.delete(SECRETS, name, "default"))
        await super().work(name, found)


sees, there = declared("cleans-what-it-sees", CleansWhatItSees), declared("cleans-what-is-there", CleansWhatIsThere)
