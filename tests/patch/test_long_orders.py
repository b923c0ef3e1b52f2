"""Orders of more items than numbers that Python keeps one of each."""

import pytest

from fakekube.patch import strategic_merge
from fakekube.patch.strategic_merge import PatchError

NAMES = [{"name": f"n{number}"} for number in range(600)]


@pytest.mark.parametrize("count", [1, 255, 256, 257, 258, 600])
def test_a_patch_of_many_items_stands_in_its_order(count: int) -> None:
    """given so many items, when the order names them all in that order, then they pass; when it
    names them the other way round, then they do not
    """
    strategic_merge._check_order(NAMES[:count], NAMES, "name")
    strategic_merge._check_order(NAMES[:count], NAMES[:count], "name")
    if count > 1:
        with pytest.raises(PatchError, match="doesn't match"):
            strategic_merge._check_order(NAMES[:count], NAMES[:count][::-1], "name")
        with pytest.raises(PatchError, match="doesn't match"):
            strategic_merge._check_order(NAMES[:count], NAMES[: count - 1], "name")
