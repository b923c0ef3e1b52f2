"""No answer depends on what a server remembers: with all memos off it gives the same bytes, and
stores the same history.

A difference names the scenario's seed, the step and what was asked in it; ``python -m
tests.differential.scenario`` shows either side, with ``FAKEKUBE_MEMO=off`` in its environment or
without.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEPS = 150
SEEDS_A_PROCESS = 6
SLOW_PROCESSES, SLOW_SEEDS, SLOW_STEPS = 25, 80, 300


def start(module: str, *words: object, memo: str = "on", hash_seed: str = "0") -> "subprocess.Popen[str]":
    environment = os.environ | {
        "FAKEKUBE_MEMO": memo, "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "controllers"), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, words)], cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)


def printed(process: "subprocess.Popen[str]") -> list[str]:
    out, error = process.communicate(timeout=3600)
    assert process.returncode == 0, error[-4000:]
    return out.splitlines()


def check_same(seeds: list[int], steps: int) -> None:
    """Compare two processes, a line after the other."""
    module = "tests.differential.scenario"
    on = start(module, steps, *seeds, hash_seed="0")
    off = start(module, steps, *seeds, memo="off", hash_seed="1")
    seed = ""
    lines_on, lines_off = printed(on), printed(off)
    for line, other in zip(lines_on, lines_off, strict=True):
        seed = line if line.startswith("seed ") else seed
        assert line == other, f"{seed}, with memos on and off:\n{line}\n{other}"
    codes = [line for line in lines_on if line.startswith("answers ")]
    # what is refused only would prove little
    assert all("200: " in line and "201: " in line for line in codes), codes


def test_a_server_without_memos_answers_the_same() -> None:
    """Given the lives of objects of every kind, then some hundred random writes, reads and watches,
    several at a time When a process with all memos and one without any serve them / then all
    answers and the history have the same bytes.
    """
    check_same(list(range(SEEDS_A_PROCESS + 1)), STEPS)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(SLOW_PROCESSES))
def test_very_many_scenarios(part: int) -> None:
    """Given two thousand scenarios, some after the other in one process / when run with memos and
    without / then the same.
    """
    first = 1000 + part * SLOW_SEEDS
    check_same(list(range(first, first + SLOW_SEEDS)), SLOW_STEPS)


@pytest.mark.parametrize(("jobs", "pods", "nodes"), [
    (3, 4, 2), pytest.param(100, 8, 20, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])])
def test_a_history_is_one_whatever_is_remembered_and_however_python_hashes(jobs: int, pods: int, nodes: int) -> None:
    """Given some Jobs with every component at work / when they run with other hash seeds, and
    without memos Then the history has the same bytes each time.
    """
    module = "tests.differential.histories"
    runs = [start(module, jobs, pods, nodes, memo=memo, hash_seed=hash_seed)
            for memo, hash_seed in (("on", "0"), ("on", "1"), ("off", "2"))]
    first, *others = [printed(run) for run in runs]
    assert len(first) > jobs * pods * 10
    for other in others:
        assert [(line, one) for line, one in zip(first, other, strict=False) if line != one][:1] == []
        assert len(first) == len(other)


READS = """
import asyncio
from fakekube.client.resources import CONFIG_MAPS
from fakekube.composition.cluster import Cluster
async def main():
    async with Cluster(nodes=0, controllers="namespace", clock="manual") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "x", "namespace": "default"}, "data": {"a": "b"}})
        stored = cluster.apiserver.cluster
        trees = [stored.lookup("", "configmaps", "default", "x") for _ in range(8)]
        found = [tree for _ in range(8) for tree in stored.select("", "configmaps", "default")]
        trees += [tree for tree in found if tree["metadata"]["name"] == "x"]
        parts = [part for tree in trees for part in (tree, tree["metadata"], tree["data"])]
        print(len(parts), len({id(part) for part in parts}), len({str(tree) for tree in trees}))
asyncio.run(main())
"""


def test_a_server_without_memos_keeps_no_trees() -> None:
    """Given a process without memos / when an object is read from the storage time and again / then
    no two reads share a tree.
    """
    environment = os.environ | {
        # which would keep trees to compare with
        "FAKEKUBE_MEMO": "off", "FAKEKUBE_CHECK_TREES": "",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'controllers'}"}
    done = subprocess.run(
        [sys.executable, "-c", READS], cwd=ROOT, env=environment, text=True, capture_output=True, check=True, timeout=60)
    assert done.stdout.split() == ["48", "48", "1"]
