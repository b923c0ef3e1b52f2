"""The page about strategies does what it says, as its reader would run it."""

import re
from pathlib import Path

from fakekube.exploration.oracles import ORACLES
from fakekube.exploration.strategies import STRATEGIES
from tests.docs.test_exploration_page import ran
from tests.docs.test_readme import ROOT, of_page, python


def test_the_secret_is_missed_as_the_page_says(tmp_path: Path) -> None:
    """Given the operator of the page, when its test runs, then a seed lets it die between its
    writes, which is told and replays.
    """
    test = tmp_path / "test_web.py"
    test.write_text(of_page("strategies.md", "pytest, strategies"))
    told = ran(tmp_path, str(test))
    assert re.search(r"the calm run passes, seed \d+ fails: shrunk from \d+ deviations to 1 in \d+ runs", told)
    assert "fault: pod-and-secret dies after its write 1 is committed (create pods)" in told
    command = re.search(r"pytest (\S+::test_there_is_a_secret) --fakekube-schedule (\S+)", told)
    assert command is not None
    assert "1 failed" in ran(tmp_path, str(test), "--fakekube-schedule", command[2])


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec: {completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: main, image: work}]}}}
"""


def test_crash_points_are_tried_as_the_page_says(tmp_path: Path) -> None:
    """Given the lines of the page and a Job, when they run, then the Job controller dies after each
    of its writes, and each run ends as the calm one.
    """
    (tmp_path / "job.yaml").write_text(JOB)
    told = python(tmp_path, "-c", of_page("strategies.md", "crash points"))
    assert re.fullmatch(r"[1-9]\d* crash points\n", told)


def test_the_claims_hold_as_the_page_says(tmp_path: Path) -> None:
    """Given the operator of the page that makes one pod, when every strategy tries it, then its
    claims hold.
    """
    test = tmp_path / "test_web.py"
    test.write_text(of_page("strategies.md", "pytest, claims"))
    assert "1 passed" in ran(tmp_path, str(test))


def test_kopf_dies_between_its_writes_as_the_page_says(tmp_path: Path) -> None:
    """Given the operator in kopf of the page, when its test runs, then it dies after its first
    write, and the secret is missed.
    """
    test = tmp_path / "test_web.py"
    test.write_text(of_page("strategies.md", "pytest, kopf strategies"))
    told = ran(tmp_path, str(test))
    assert "fault: shop dies after its write 1 is committed (create pods)" in told


def test_it_dies_between_two_clusters_as_the_page_says(tmp_path: Path) -> None:
    """Given the operator of the page that writes to two clusters, when its test runs, then it dies
    after its write to the other, and the failure replays.
    """
    test = tmp_path / "test_web.py"
    test.write_text(of_page("strategies.md", "pytest, fleet"))
    told = ran(tmp_path, str(test))
    assert "fault: manager/copies at worker1 dies after its write 1 is committed (create configmaps)" in told
    command = re.search(r"pytest (\S+::test_there_is_one_copy) --fakekube-schedule (\S+)", told)
    assert command is not None
    assert "1 failed" in ran(tmp_path, str(test), "--fakekube-schedule", command[2])


def test_the_page_tells_a_bug_for_every_strategy() -> None:
    """Given the table of bugs, when the page is read, then each strategy finds some."""
    page = (ROOT / "docs" / "strategies.md").read_text()
    found = re.findall(r"^\| .+ \| `([a-z]+(?:-[a-z]+)*)` \| .+ \|$", page, re.MULTILINE)
    assert list(dict.fromkeys(found)) == [*STRATEGIES]


def test_the_page_names_every_strategy() -> None:
    """Given the strategies and the oracles, when the page is read, then its tables have each."""
    page = (ROOT / "docs" / "strategies.md").read_text()
    assert re.findall(r"^\| `([a-z]+(?:-[a-z]+)*)` \|", page, re.MULTILINE) == [*STRATEGIES, *ORACLES]
