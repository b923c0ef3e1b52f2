"""What a reader may rely on: no file is long, no function is long, and what may not stand in the
code does not.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("fakekube", "controllers", "benchmarks", "tools")
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 70
GUARDS = {
    "fakekube/apiserver/apiserver.py", "fakekube/apiserver/filters.py", "fakekube/runtime/controller.py",
    "fakekube/util/turns.py", "fakekube/util/answering.py", "fakekube/testing/operatorruns.py",
    "fakekube/exploration/crashes.py"}
"""The panic guard of the API server and the reconcile worker: the only ones that may catch
everything. Beside them a thread catches what it hands to who awaits its result, a function of a
user answers however it does, and what is played at a crash point ends so.
"""


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def long_functions(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield f"{name_of(path)}:{node.lineno} {node.name}: {lines} lines"


def test_no_module_is_longer_than_500_lines() -> None:
    """Given all that is not a test, when lines are counted, then no module has more than 500: one
    that has holds two ideas.
    """
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in sources(*CODE)}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_MODULE_LINES} == {}


def test_no_function_is_longer_than_70_lines() -> None:
    """Given all that is not a test, when functions are measured, then none has more than 70 lines.
    """
    assert [text for path in sources(*CODE) for text in long_functions(path)] == []


@pytest.mark.parametrize("folder", ["fakekube", "controllers"])
def test_every_module_says_what_problem_it_solves(folder: str) -> None:
    """Given the packages, when modules are opened, then each that has any code begins with a
    docstring.
    """
    trees = {name_of(path): ast.parse(path.read_text()) for path in sources(folder)}
    assert [name for name, tree in trees.items() if tree.body and not ast.get_docstring(tree)] == []


def test_only_the_two_guards_catch_everything() -> None:
    """Given the packages, when ``except Exception`` is searched, then only the panic guard and the
    worker have it.
    """
    caught = {name_of(path) for path in sources("fakekube", "controllers")
              if re.search(r"except (Exception|BaseException)\b|except:", path.read_text())}
    assert caught <= GUARDS


def test_nothing_is_left_for_later_and_nothing_names_a_machine() -> None:
    """Given everything that ships, when it is searched, then no note for later and no path of one
    machine is in it.
    """
    marks = re.compile(r"\b(TODO" + r"|FIXME|XXX)\b|" + "/(work|root)" + "/|/tmp" + "/dev")
    texts = [*sources(*CODE), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    assert [name_of(path) for path in texts if marks.search(path.read_text())] == []


def test_the_library_names_no_add_on() -> None:
    """Given the library, when it is searched for projects that are installed into a cluster, then
    it names none: it serves whatever a package brings.
    """
    names = re.compile(r"(?i)\b(jobset|leaderworkerset|lws|kueue|kuberay|rayjob|raycluster|volcano|kubeflow)")
    assert [name_of(path) for path in sources("fakekube") if names.search(path.read_text())] == []
