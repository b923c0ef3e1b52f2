"""What the demonstrations of Kueue print, from the first line to the last."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fakekube.cli.demos import stage
from fakekube.runtime.demo import Demo
from fakekube_controllers.kueue.demos import borrow, elastic, multikueue, podgroup, queue

DEMOS = {
    "borrow": borrow.demo, "elastic": elastic.demo, "multikueue": multikueue.demo, "podgroup": podgroup.demo,
    "queue": queue.demo}


@pytest.mark.parametrize(("name", "demo"), DEMOS.items())
async def test_what_a_demo_prints(
    name: str, demo: Callable[[], Demo], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a demonstration, when it is played on virtual time, then it prints these lines."""
    monkeypatch.setenv("COLUMNS", "200")
    await stage.play(stage.declared(demo()), "manual")
    assert capsys.readouterr().out.splitlines() == (Path(__file__).parent / f"{name}.txt").read_text().splitlines()
