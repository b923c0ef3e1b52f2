"""What upstream's own library made of random strategic merge patches of pods (apimachinery
v0.37.1).
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from fakekube.patch import strategic_merge
from fakekube.patch.strategic_merge import PatchError
from tests.patch.test_strategic_merge import schema


@lru_cache
def recorded() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads(Path(__file__).with_name("strategic_answers.json").read_bytes())
    return found


@pytest.mark.parametrize("number", range(100))
def test_a_patch_leads_where_upstreams_leads(number: int) -> None:
    """Given a recorded patch / when it is applied / then the object is the same, or both refuse it.
    """
    case = recorded()[number]
    pod = schema("", "v1", "Pod")
    if "error" in case:
        # With several things wrong, upstream words whichever it meets first in a map without order.
        with pytest.raises(PatchError):
            strategic_merge.apply(case["object"], case["patch"], pod)
    else:
        assert strategic_merge.apply(case["object"], case["patch"], pod) == case["answer"]
