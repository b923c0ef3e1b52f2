"""What controllers share about volumes and pods: which volume is best for a claim, which pod goes
first.
"""

import itertools
from typing import Any

import pytest

from fakekube.apimachinery import times
from fakekube.runtime import pods, volumes

NOW = 1_800_000_000.0


def volume(name: str, size: str = "1Gi", **more: Any) -> dict[str, Any]:
    labels = more.pop("labels", {})
    phase = more.pop("phase", "Available")
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": "c", **more},
        "status": {"phase": phase}}


def claim(size: str = "1Gi", **more: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "data", "namespace": "default", "uid": "u"},
        "spec": {
            "resources": {"requests": {"storage": size}}, "accessModes": ["ReadWriteOnce"], "storageClassName": "c", **more}}


REF = {"name": "data", "namespace": "default", "uid": "u"}


@pytest.mark.parametrize(("unfit", "wanted"), [
    (volume("small", "512Mi"), {}), (volume("block", volumeMode="Block"), {}), (volume("other", storageClassName="d"), {}),
    (volume("released", phase="Released"), {}), (volume("attributes", volumeAttributesClassName="fast"), {}),
    (volume("readonly", accessModes=["ReadOnlyMany"]), {}), (volume("theirs", claimRef={**REF, "uid": "v", "name": "x"}), {}),
    (volume("unlabelled"), {"selector": {"matchLabels": {"a": "b"}}}),
])
def test_a_volume_that_does_not_fit_is_passed_over(unfit: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Given a volume that is unfit, between two that fit / then the smaller of these is taken,
    whichever comes first; without them there is none.
    """
    large, small = volume("large", "3Gi", labels={"a": "b"}), volume("fit", "2Gi", labels={"a": "b"})
    for order in itertools.permutations([large, unfit, small]):
        assert volumes.best_match(claim(**wanted), order) is small
    assert volumes.best_match(claim(**wanted), [unfit]) is None


def test_a_volume_that_is_kept_for_the_claim_goes_before_all() -> None:
    """Given a volume that names the claim / then it is taken though a smaller one fits, also where
    binding is delayed; if it cannot be reached there is none.
    """
    kept, small = volume("kept", "9Gi", claimRef=REF), volume("small")
    assert volumes.best_match(claim(), [small, kept]) is kept
    assert volumes.best_match(claim(), [small, kept], delayed=True) is kept
    assert volumes.best_match(claim(), [small], delayed=True) is None
    assert volumes.best_match(claim(), [kept, small], is_reachable=lambda one: one is not kept) is None
    assert volumes.best_match(claim(), [small], delayed=True, is_reachable=lambda _: True) is small
    assert volumes.best_match(claim(), [small], is_taken=lambda _: True) is None


def pod(uid: str, *, ready: float = 60, created: float = 120, restarts: int = 0, name: str = "") -> dict[str, Any]:
    """A running pod on a node, ready and created so many seconds ago."""
    return {
        "metadata": {"uid": uid, "name": name or uid, "creationTimestamp": times.format_time(NOW - created)},
        "spec": {"nodeName": "n", "containers": [{"name": "main"}]},
        "status": {
            "phase": "Running", "containerStatuses": [{"name": "main", "restartCount": restarts}],
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": times.format_time(NOW - ready)}]}}


@pytest.mark.parametrize(("first", "second"), [
    (pod("b", ready=10), pod("a", ready=1000)),
    (pod("a", ready=50), pod("b", ready=60)),
    (pod("a", ready=60), pod("b", ready=50)),
    (pod("b", restarts=2), pod("a", restarts=1)),
    (pod("b", created=100), pod("a", created=100_000)),
    (pod("a", created=110), pod("b", created=120)),
    (pod("a", created=120), pod("b", created=110)),
    (pod("b", name="x"), pod("a", name="y")),
])
def test_of_two_pods_the_younger_by_a_magnitude_goes_first(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Given two pods that differ in one thing / then the one ready, or made, later by an order of
    magnitude goes first, of alike ages the one with the smaller uid, then the one restarted more.
    """
    for given in ([first, second], [second, first]):
        assert pods.ranked_for_deletion(given, {}, NOW, costs=False) == [first, second]
