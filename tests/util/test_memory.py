"""Memories of a bounded size."""

from fakekube.util.memory import remember


def test_the_oldest_is_forgotten_for_a_new_key_and_nothing_for_a_known_one() -> None:
    """Given a memory of two / when a known key comes again, and then a third one / then only the third costs the oldest."""
    memory: dict[str, int] = {}
    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        remember(memory, key, value, 2)
    assert memory == {"a": 3, "b": 2}
    remember(memory, "c", 4, 2)
    assert memory == {"b": 2, "c": 4}
