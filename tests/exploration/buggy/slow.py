"""They take their caches for the cluster: what they know may be late.
"""

from fakekube.client.resources import CONFIG_MAPS
from tests.exploration.buggy.base import Reconciler, declared, declared_with_secrets, missing_ok
from tests.exploration.operators import one_child, overwrites, two_children, versioned

__all__ = ["one_child", "overwrites", "two_children", "versioned"]


class ReadsTheOther(Reconciler):
    """Writes what a map and the Secret that it names say together into one object; begins when it
    hears of the map.

    Hears of the map first, and of the Secret later: what it wrote stays (Acto: fields that depend
    on others).
    """

    async def work(self, name, found):
        data = (found or {}).get("data") or {}
        secret = self.secrets.get("default", data.get("secret", ""))
        if secret is None:
            return
        both = {"color": data.get("color", ""), "password": secret["data"]["password"]}
        made = {"metadata": {"name": f"of-{name}", "namespace": "default"}, "data": both}
        if await missing_ok(self.client.create(CONFIG_MAPS, made), "AlreadyExists") is None:
            await self.client.update(CONFIG_MAPS, made)


class ReadsTheOtherOnce(ReadsTheOther):
    """Does so once: what comes of color 25 stays."""

    async def work(self, name, found):
        if ((found or {}).get("data") or {}).get("color") == "25":
            await super().work(name, found)


reads_the_other = declared("reads-the-other", ReadsTheOther)
hears_of_both = declared_with_secrets("hears-of-both", ReadsTheOther)
reads_the_other_once = declared("reads-the-other-once", ReadsTheOtherOnce)
hears_of_both_once = declared_with_secrets("hears-of-both-once", ReadsTheOtherOnce)
