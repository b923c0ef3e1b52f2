"""Which of several Stages is played, and what becomes of one whose object is gone: the player
alone.
"""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("jq", reason="the extra kwok is not installed")

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.kubelet.stages.player import Player

POD: Any = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}


@pytest.mark.parametrize(("code", "raised"), [(404, ""), (403, "no 403"), (409, "no 409")])
async def test_a_stage_of_what_is_gone_is_over(code: int, raised: str) -> None:
    """Given a stage that writes / when its object is gone, that is fine; any other refusal is told.
    """
    async def step(*_: Any) -> None:
        raise APIError(code, "R", f"no {code}")

    made: Any = object.__new__(Player)
    made._played, made._step, queued = {}, step, list[Any]()
    made._queue = SimpleNamespace(add=queued.append)
    stage = SimpleNamespace(name="s", steps=[1], immediate=True)
    try:
        await made._play(stage, "key", POD)
        said = ""
    except APIError as error:
        said = error.message
    assert (said, made._played, queued) == (raised, {"key": "s"}, [] if raised else ["key"])


@pytest.mark.parametrize(("weights", "at", "expected"), [
    ([1, 2], 0, "a"), ([1, 2], 1, "b"), ([1, 2], 2, "b"), ([-1, 2], 0, "b"), ([2, -1], 0, "a"), ([None, 3], 2, "b"),
    ([0, 1], 0, "b"),
    ([0, 0], 1, "b"), ([None, None], 0, "a"), ([None, 0], 0, "b")])
def test_stages_are_picked_by_weight(weights: Any, at: int, expected: str) -> None:
    """Given two stages that match / then one is picked by weight; one of less than nothing never
    is, and where none has any, each is as good.
    """
    made: Any = object.__new__(Player)
    made._rng = SimpleNamespace(randbelow=lambda limit: at if at < limit else pytest.fail("too far"))
    stages: Any = [SimpleNamespace(name=name, weight_of=lambda _, of=of: of) for name, of in zip("ab", weights, strict=True)]
    assert made._pick(stages, POD).name == expected
    assert (made._pick(stages[:1], POD), made._pick([], POD)) == (stages[0], None)
