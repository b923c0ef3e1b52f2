"""Ephemeral containers come, and stay as they are."""

from typing import Any

import pytest

from fakekube.apis.core.pod import STRATEGY
from fakekube.apis.core.pod_update import EphemeralContainersStrategy
from tests.admission.world import World
from tests.apis.strategies_b.steps import created, named, told


def ephemeral(name: str, **more: Any) -> dict[str, Any]:
    """A container as it is stored."""
    return {
        "name": name, "image": "i", "resources": {}, "imagePullPolicy": "Always",
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", **more}


@pytest.mark.parametrize(("after", "said"), [
    ([ephemeral("e"), ephemeral("f")], []),
    ([ephemeral("f")], ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n']),
])
def test_they_grow(after: list[dict[str, Any]], said: list[str]) -> None:
    """Given a pod with an ephemeral container / when another comes, or takes its place / then the
    former is fine, and the latter is told.
    """
    world, strategy = World(), EphemeralContainersStrategy()
    old = created(STRATEGY, named({"spec": {"containers": [{"name": "c", "image": "i"}]}}), world)
    old["spec"]["ephemeralContainers"] = [ephemeral("e")]
    obj, ctx = {**old, "spec": {**old["spec"], "ephemeralContainers": after}}, world.context("UPDATE", "ephemeralcontainers")
    strategy.prepare_for_update(obj, old, ctx)
    assert told(strategy.validate_update(obj, old, ctx), ctx) == said
    assert [each["name"] for each in obj["spec"]["ephemeralContainers"]] == [each["name"] for each in after]
