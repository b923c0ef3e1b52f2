"""What the status of a Workload says: claims for devices, gates of preemption."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.workload import states

DISABLED = "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled"
CLAIMS = "KueueDRAIntegration feature does not support use of resource claims"
TEMPLATE, CLAIM = {"name": "c", "resourceClaimTemplateName": "t"}, {"name": "c", "resourceClaimName": "r"}


def workload(*claims: Tree, status: Any = None, **spec: Any) -> Tree:
    """A Workload with a podset for each of the claims."""
    podsets = [{"name": "p", "template": {"spec": {"resourceClaims": [claim]}}} for claim in claims]
    return {"metadata": {"name": "w", "namespace": "n"}, "spec": {"podSets": podsets, **spec}, "status": status or {}}


@pytest.mark.parametrize(("claims", "gates", "wanted"), [
    ((), {}, None),
    ((), {"KueueDRAIntegration": False}, None),
    ((TEMPLATE,), {}, None),
    ((CLAIM,), {}, CLAIMS),
    ((TEMPLATE, CLAIM), {}, CLAIMS),
    ((TEMPLATE,), {"KueueDRAIntegration": False}, DISABLED),
    ((CLAIM,), {"KueueDRAIntegration": False}, DISABLED),
    ((CLAIM,), {"KueueDRAIntegration": False, "KueueDRARejectWorkloadsWhenDRADisabled": False}, None),
])
def test_which_claims_for_devices_are_rejected(claims: tuple[Tree, ...], gates: dict[str, bool], wanted: str | None) -> None:
    """Given a Workload with claims for devices, when it is asked why they are rejected, then it is
    for claims by name, and for all of them where the gate is off and that is to be told.
    """
    found = workload(*claims)
    assert states.why_devices_are_rejected(found, Features(**gates)) == wanted
    assert states.is_admissible(found, Features(**gates)) is (wanted is None)


@pytest.mark.parametrize(("gates", "positions", "wanted"), [
    ([], [], False),
    ([], [("a", "Closed")], False),
    (["a"], [], True),
    (["a"], [("a", "Open")], False),
    (["a"], [("a", "Closed")], True),
    (["a"], [("b", "Open")], True),
    (["a", "b"], [("a", "Open")], True),
    (["a", "b"], [("a", "Open"), ("b", "Open")], False),
    (["a", "b"], [("a", "Open"), ("b", "Closed")], True),
])
def test_a_preemption_gate_is_closed_until_it_is_open(
    gates: list[str], positions: list[tuple[str, str]], wanted: bool,
) -> None:
    """Given gates of preemption in the spec, when the status says of some that they are open, then
    one is closed as long as any other is not.
    """
    told = [{"name": name, "position": position} for name, position in positions]
    found = workload(preemptionGates=[{"name": name} for name in gates], status={"preemptionGates": told})
    assert states.has_closed_preemption_gate(found) is wanted
