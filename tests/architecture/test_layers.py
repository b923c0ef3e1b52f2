"""The layers: every module has its place in a contract, and the page on the architecture shows what
the contracts say.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def layers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("layers", ROOT / "tools" / "layers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def children(package: Path) -> Iterator[str]:
    """The modules and packages directly in a package."""
    for path in sorted(package.iterdir()):
        if path.suffix == ".py" and path.stem != "__init__":
            yield f"{package.name}.{path.stem}"
        elif (path / "__init__.py").exists():
            yield f"{package.name}.{path.name}"


def test_every_part_of_the_library_has_its_layer(layers: ModuleType) -> None:
    """Given the contracts, when the packages and modules of the library are looked for in them,
    then each stands in one.
    """
    placed = {
        name for contract in layers.contracts() if contract["type"] == "layers" for layer in layers.layers_of(contract)
        for name in layer}
    assert [name for name in children(ROOT / "fakekube") if name not in placed] == []


def test_every_controller_is_kept_from_the_others(layers: ModuleType) -> None:
    """Given the contracts, when those of controllers are read, then one says of all of them that
    none knows another, and one that all stand above the engine.
    """
    independent = [contract["modules"] for contract in layers.contracts() if contract["type"] == "independence"]
    assert ["fakekube_controllers.*"] in independent
    highest = [
        name for contract in layers.contracts() if contract["type"] == "layers" for name in layers.layers_of(contract)[0]]
    assert "fakekube_controllers" in highest


def test_the_page_shows_the_layers(layers: ModuleType) -> None:
    """Given the page on the architecture, when the picture of the layers is made anew, then it is
    the one on the page.
    """
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert page == layers.with_picture(page), "run: python tools/layers.py"
