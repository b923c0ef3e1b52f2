"""A binder whose cache is behind its own writes waits."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.runtime.reconcile import Request
from fakekube_controllers.persistentvolume.controller import PersistentVolumeBinder


@pytest.mark.parametrize(("seen", "request_", "synced"), [
    (False, Request("n", "c"), []), (True, Request("n", "c"), ["claim"]), (True, Request("", "v"), ["volume"]),
    (True, Request("n", "gone"), []), (True, Request("", "gone"), [])])
async def test_nothing_is_done_before_the_cache_shows_the_last_write(seen: bool, request_: Request, synced: list[str]) -> None:
    """Given a claim or a volume / when the cache does not show what was written last / then it is
    looked at again 5 ms later; else what is there is brought a step further.
    """
    done: list[str] = []

    def syncing(what: str) -> Any:
        async def sync(_: Any) -> None:
            done.append(what)

        return SimpleNamespace(sync=sync)

    made: Any = object.__new__(PersistentVolumeBinder)
    made.writes = SimpleNamespace(are_seen=lambda: seen)
    made.claims = SimpleNamespace(get=lambda _, name: {} if name == "c" else None)
    made.volumes = SimpleNamespace(get=lambda _, name: {} if name == "v" else None)
    made.claim_sync, made.volume_sync = syncing("claim"), syncing("volume")
    found = await made.reconcile(request_)
    assert (found and found.requeue_after.total_seconds(), done) == (None if seen else 0.005, synced)
