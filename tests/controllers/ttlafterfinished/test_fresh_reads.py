"""A fresh read has the last word on whether a finished Job goes: the reconciler alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.client.resources import JOBS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.ttlafterfinished.controller import TTLReconciler


def job(seconds: int | None = 10, ended: bool = True) -> Any:
    condition = {"type": "Complete", "status": "True", "lastTransitionTime": "1970-01-01T00:00:00Z"}
    return {"metadata": {"name": "j", "namespace": "n", "uid": "u"}, "spec": {} if seconds is None else {
        "ttlSecondsAfterFinished": seconds}, "status": {"conditions": [condition] if ended else []}}


@pytest.mark.parametrize(("cached", "fresh", "now", "after", "read", "deleted"), [
    (None, job(), 10, None, False, False), (job(), job(), 9, 1.0, False, False), (job(), job(), 10, None, True, True),
    (job(None), job(), 10, None, False, False), (job(ended=False), job(), 10, None, False, False),
    (job(), None, 10, None, True, False), (job(), job(15), 10, 5.0, True, False), (job(), job(None), 10, None, True, False),
])
async def test_what_the_server_has_counts(
    cached: Any, fresh: Any, now: float, after: float | None, read: bool, deleted: bool,
) -> None:
    """Given a Job that ended at zero with ten seconds to live, by the cache / when it is reconciled
    / then the server is asked once these are over, and the Job is deleted if it is over by that
    too: one that is gone is not, and one that has more time waits for it.
    """
    asked: list[Any] = []

    async def get(*what: Any, **options: Any) -> Any:
        asked.append(("get", *what, options))
        return fresh

    async def delete(*what: Any, **options: Any) -> None:
        asked.append(("delete", *what, options))

    ctx: Any = SimpleNamespace(
        client=SimpleNamespace(get=get, delete=delete), clock=SimpleNamespace(time=lambda: now),
        lister=lambda _: SimpleNamespace(get=lambda *_: cached))
    again: Any = await TTLReconciler(ctx).reconcile(Request("n", "j"))
    assert (again and (again.requeue_after.total_seconds(), again.daemon)) == (None if after is None else (after, True))
    options = {"propagation_policy": "Foreground", "uid": "u", "missing_ok": True}
    assert asked == [("get", JOBS, "j", "n", {"missing_ok": True})] * read + [("delete", JOBS, "j", "n", options)] * deleted
