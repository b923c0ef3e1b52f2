"""The areas of the mutation runs cover the code."""

from collections import Counter
from pathlib import Path

from tests.mutation.areas import STATED, areas

ROOT = Path(__file__).parents[2]


def test_every_module_is_in_one_area() -> None:
    """Given all modules of the library and of the controllers, when the areas are looked up, then
    each stands in exactly one, so that no part of the code is left out or counted twice.
    """
    modules = {*(ROOT / "fakekube").rglob("*.py"), *(ROOT / "controllers/fakekube_controllers").rglob("*/**/*.py")}
    found = Counter(file for area in areas(ROOT) for file in area.files(ROOT))
    assert modules == set(found)
    assert set(found.values()) == {1}


def test_the_tests_of_an_area_are_there() -> None:
    """Given the stated areas, when their tests are looked for, then every folder holds some."""
    for area in STATED:
        for place in area.tests:
            assert list((ROOT / place).rglob("test_*.py")), (area.name, place)
