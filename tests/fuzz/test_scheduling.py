"""The comparison with upstream's scheduler: what it draws, what it sees, and what it takes for
different. Upstream's own plays along where the environment names it.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from fakekube.testing.background import BackgroundCluster
from tests.fuzz.scheduling.drawing import Draw
from tests.fuzz.scheduling.playing import Side, options_of, parts, play, prepare

SCHEDULER = os.environ.get("KUBE_SCHEDULER") or shutil.which("kube-scheduler") or ""


def test_one_seed_gives_one_scenario() -> None:
    """Given a seed, when scenarios are drawn, then it is always the same one; another seed and
    another sort give others.
    """
    first = Draw(1).scenario(14)
    assert Draw(1).scenario(14) == first
    assert Draw(2).scenario(14) != first
    assert Draw(1, "pods").scenario(14) != Draw(1, "groups").scenario(14)


def test_scenarios_have_all_there_is() -> None:
    """Given many seeds, when scenarios are drawn, then there are groups, trees of them, budgets,
    gates, nominations, affinities, and without groups none of the first.
    """
    text = repr([Draw(seed).scenario(14).steps for seed in range(60)])
    for word in ("'minCount'", "'minGroupCount'", "parentCompositePodGroupName", "poddisruptionbudgets", "schedulingGates",
                 "nominatedNodeName", "podAntiAffinity", "topologySpreadConstraints", "'Never'", "hostPort", "FINISH"):
        assert word in text, word
    assert "podgroups" not in repr([Draw(seed, "pods").scenario(14).steps for seed in range(60)])


@pytest.mark.parametrize(("real", "ours", "found"), [
    ({"a": 1}, {"a": 1}, {}), ({"a": 1, "b": 2}, {"a": 1, "b": 3}, {"b": (2, 3)}),
    ({"a": 1}, {}, {"a": (1, "(absent)")}), ({}, {"a": 1}, {"a": ("(absent)", 1)})])
def test_what_differs(real: Any, ours: Any, found: Any) -> None:
    """Given what two show, when it is compared, then every part that differs is told."""
    assert parts(real, ours) == found


def test_our_side_of_a_scenario(tmp_path: Path) -> None:
    """Given scenarios, when they are played with our scheduler, then some pods are bound and run,
    others are told why not, and uids stand nowhere in what is seen.
    """
    seen: dict[str, Any] = {}
    for seed in (1, 3):
        scenario = Draw(seed, "groups").scenario(14)
        with BackgroundCluster(
                kubeconfig=tmp_path / f"kubeconfig-{seed}", clock="manual", controllers="scheduler,podgroup-protection",
                scheduler_config=scenario.configuration, **options_of(scenario)) as cluster:
            side = Side(cluster)
            prepare(side)
            for step in scenario.steps:
                side.play(step)
                cluster.settle(grace=0)
                side.start_bound()
            seen |= {f"{seed} {name}": value for name, value in side.seen().items()}
    assert "Running" in seen.values()
    assert {value[1] for name, value in seen.items() if name.endswith("PodScheduled")} >= {"", "Unschedulable"}
    assert "UID" not in repr(seen)


@pytest.mark.toolchain
@pytest.mark.fake_only(reason="the server of the comparison is ours")
@pytest.mark.skipif(not SCHEDULER, reason="not on this machine: kube-scheduler (set KUBE_SCHEDULER to its path)")
@pytest.mark.parametrize("seed", range(1, 6))
def test_upstreams_scheduler_does_the_same(seed: int, tmp_path: Path) -> None:
    """Given a scenario, when it is played beside upstream's scheduler and with ours, then after
    each step both show the same.
    """
    assert play(Draw(seed).scenario(14), SCHEDULER, tmp_path) is None
