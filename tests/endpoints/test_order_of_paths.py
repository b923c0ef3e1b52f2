"""In which order unknown fields are told."""

from fakekube.endpoints import patchchanges


def test_paths_stand_as_in_a_tree_whose_keys_are_sorted() -> None:
    """given paths with names and numbers, when they are sorted, then numbers stand by their size,
    and what is below a name stands behind it
    """
    told = ["a[10].x", "a[2].y", "a[2].x", "a.b", "b", "a", "a[2][1]", "a-b.c"]
    assert sorted(told, key=patchchanges._members) == ["a", "a[2][1]", "a[2].x", "a[2].y", "a[10].x", "a.b", "a-b.c", "b"]
    assert patchchanges._members("a[10].x[2]") == ["a", "0000000010", "x", "0000000002"]
