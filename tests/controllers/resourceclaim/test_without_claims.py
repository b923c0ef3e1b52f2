"""A server that has no claims, or no groups: the component does nothing there."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.podgroupprotection import controller as podgroupprotection
from fakekube_controllers.podgroupprotection.controller import PodGroupProtection
from fakekube_controllers.resourceclaim.controller import ResourceClaims


async def missing(name: str) -> Any:
    raise KeyError(name)


def context() -> Any:
    """One that fails when it is asked for anything but resources."""
    return SimpleNamespace(client=SimpleNamespace(resource=missing))


async def test_there_is_nothing_to_do_without_claims() -> None:
    """Given a server without ResourceClaims / then the component starts, and watches nothing."""
    made = ResourceClaims()
    await made.start(context())
    assert not hasattr(made, "queue")


async def test_there_is_nothing_to_do_without_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server without PodGroups / then their protection starts, and watches nothing; groups
    have no claims.
    """
    monkeypatch.setattr(podgroupprotection, "has_groups", lambda _: True)
    protection = PodGroupProtection()
    await protection.start(context())
    assert not hasattr(protection, "queue")
    made: Any = ResourceClaims()
    made.client = context().client
    assert await made._group_claims() is None
