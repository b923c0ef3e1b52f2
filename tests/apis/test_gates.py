"""Feature gates: which there are in a release, what switching them asks for."""

import csv
from pathlib import Path

import pytest

from fakekube.apimachinery import releases
from fakekube.apis.gates import Gates, InvalidFeatureGate, UnknownFeatureGate

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.mark.parametrize(
    ("release", "gate", "stage", "default"),
    [
        ("1.37", "GenericWorkload", "BETA", False),
        ("1.36", "GenericWorkload", "ALPHA", False),
        ("1.35", "GangScheduling", "ALPHA", False),
        ("1.37", "WatchList", "BETA", True),
        ("1.33", "WatchList", "BETA", False),
        ("1.28", "SidecarContainers", "ALPHA", False),
        ("1.29", "SidecarContainers", "BETA", True),
        ("1.26", "JobPodFailurePolicy", "BETA", True),
    ],
)
def test_a_gate_has_the_stage_and_the_default_of_its_release(release, gate, stage, default):
    """Given a release / when a gate is looked up / then it is as mature as it was then."""
    gates = Gates(release)
    assert (gates.known[gate].stage, gates.known[gate].default) == (stage, default)
    assert gates[gate] is default


def test_gates_of_other_releases_have_an_answer_but_cannot_be_set():
    """Given a gate that came later or is gone / when asked / then off, or its last default; setting
    it is an error.
    """
    assert Gates("1.35")["CompositePodGroup"] is False
    assert Gates("1.37")["SidecarContainers"] is True
    assert "SidecarContainers" not in list(Gates("1.37"))
    with pytest.raises(UnknownFeatureGate):
        Gates("1.35", {"CompositePodGroup": True})
    with pytest.raises(KeyError):
        Gates("1.37")["NoSuchGate"]


def test_an_unknown_gate_names_its_neighbours():
    """Given a typing error / when the gate is set / then the error says what was perhaps meant."""
    with pytest.raises(UnknownFeatureGate) as raised:
        Gates("1.37", {"GenericWorkloads": True})
    assert str(raised.value).startswith("unrecognized feature gate: GenericWorkloads (Kubernetes 1.37 has GenericWork")


def test_a_locked_gate_keeps_its_default():
    """Given a gate that is locked / when set to the other value / then upstream's text; to its own
    value nothing.
    """
    with pytest.raises(InvalidFeatureGate) as raised:
        Gates("1.37", {"DRAPrioritizedList": False})
    assert str(raised.value) == "cannot set feature gate DRAPrioritizedList to false, feature is locked to true"
    assert Gates("1.37", {"DRAPrioritizedList": True})["DRAPrioritizedList"]
    assert not Gates("1.36", {"DRAPrioritizedList": False})["DRAPrioritizedList"]


def test_a_gate_needs_those_it_depends_on():
    """Given CompositePodGroup alone / when set / then the error lists what is off."""
    with pytest.raises(InvalidFeatureGate) as raised:
        Gates("1.37", {"CompositePodGroup": True})
    assert str(raised.value) == (
        "CompositePodGroup is enabled, but depends on features that are disabled: "
        "[GenericWorkload TopologyAwareWorkloadScheduling]"
    )
    needed = {"CompositePodGroup": True, "GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
    assert Gates("1.37", needed)["CompositePodGroup"]


def test_all_alpha_and_all_beta_leave_explicit_gates_alone():
    """Given AllBeta off and one beta on / when looked up / then only that one is on among the
    betas.
    """
    gates = Gates("1.37", {"AllBeta": False, "WatchList": True})
    on = [name for name, gate in gates.known.items() if gate.stage == "BETA" and gates[name]]
    assert on == ["WatchList"]
    assert gates["CRDValidationRatcheting"]
    alphas = [name for name, gate in Gates("1.35").known.items() if gate.stage == "ALPHA" and name != "AllAlpha"]
    all_alpha = Gates("1.35", {"AllAlpha": True})
    assert all(all_alpha[name] for name in alphas)


@pytest.mark.parametrize("release", releases.RECORDED)
def test_the_gates_are_those_of_a_real_server(release: str):
    """Given the gates that a server reports / when compared / then names, stages and defaults
    agree.
    """
    table = RECORDED / f"feature-gates-{release}.tsv"
    if not table.exists():
        pytest.skip(f"no recorded feature gates here ({table})")
    with table.open() as lines:
        expected = {
            row["gate"]: (row["stage"], row["default"] == "true") for row in csv.DictReader(lines, delimiter="\t")
        }
    assert {name: (gate.stage, gate.default) for name, gate in Gates(release).known.items()} == expected


@pytest.mark.parametrize("release", ["1.30", "1.37"])
def test_gates_of_our_own_can_be_set_and_are_not_listed(release):
    """Given a gate that upstream does not have / when it is asked for / then it is off until
    somebody sets it, and no list of the release's gates has it.
    """
    assert Gates(release)["CronJobWorkloads"] is False
    gates = Gates(release, {"CronJobWorkloads": True})
    assert gates["CronJobWorkloads"] is gates.is_on("CronJobWorkloads") is True
    assert gates["UserWorkloadsForJobs"] is False
    assert "CronJobWorkloads" not in [*gates, *gates.known]
