"""The pages for those who carry the work on name what there is: modules, functions, files, targets
of make.
"""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md")
PACKAGES = ("fakekube", "fakekube_controllers", "benchmarks")
DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
MAKE = re.compile(r"make ([a-z-]+)")


def spans(page: str) -> Iterator[str]:
    """What stands between backticks outside of blocks, and every line of a block of shell commands.
    """
    text = (ROOT / page).read_text()
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or what a module or class has by that name, fields of
    instances included.
    """
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if part not in getattr(found, "__annotations__", ()) and not hasattr(found, part):
                return False
            found = getattr(found, part, None)
        return True
    return False


def is_there(path: str) -> bool:
    """Whether a file or folder stands where a page says, from the top or from the library's folder.
    """
    return any((ROOT / folder / path).exists() for folder in ("", "fakekube", "controllers/fakekube_controllers"))


@pytest.mark.parametrize("page", PAGES)
def test_names_of_code_lead_somewhere(page: str) -> None:
    """Given a page, when it names a module, a class or a function by its dotted name, then there is
    one.
    """
    names = {span.removesuffix("()") for span in spans(page) if DOTTED.fullmatch(span.removesuffix("()"))}
    assert names or page.endswith("CONTRIBUTING.md"), "a map without names leads nowhere"
    assert sorted(name for name in names if not exists(name)) == []


@pytest.mark.parametrize("page", PAGES)
def test_files_and_folders_are_there(page: str) -> None:
    """Given a page, when it names a file or a folder with a slash in it, then there is one."""
    paths = [span for span in spans(page) if "/" in span and FILE.fullmatch(span)]
    links = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", (ROOT / page).read_text())
    assert [path for path in paths if not is_there(path)] == []
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make_exist(page: str) -> None:
    """Given a page, when it says ``make something``, then the Makefile has that target."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    wanted = {target for span in spans(page) for target in MAKE.findall(span)}
    assert sorted(wanted - targets) == []


@pytest.mark.parametrize(("name", "there"), [
    ("fakekube.registry.store.Store.create", True), ("fakekube.registry.store.Store.created", False),
    ("fakekube.registry.shop", False), ("fakekube.registry.write.Write.tree", True)])
def test_a_name_is_told_from_a_mistake(name: str, there: bool) -> None:
    """Given names that exist and names that do not, when they are looked up, then they are told
    apart.
    """
    assert exists(name) is there
