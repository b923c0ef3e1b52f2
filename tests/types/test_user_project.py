"""A project that uses the models, the client and the fixtures: a type checker knows them, and its
tests pass.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_readme import ROOT, python

PROJECT = Path(__file__).parent / "project"
WRONG = """
from fakekube.types import Container, Pod

pod = Pod()
pod.spec.containers = [Container(name=1)]
pod.spec.container
pod.metadata.deletion_timestamp.isoformat()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shutil.copytree(PROJECT, tmp_path / "project")


def mypy(project: Path, *arguments: str) -> str:
    """What mypy says of the project in strict mode, with this checkout for an installed package."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "controllers")])
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={project / 'cache'}", *arguments],
        cwd=project, env=os.environ | {"MYPYPATH": path}, capture_output=True, text=True, timeout=110, check=False)
    return done.stdout + done.stderr


def test_mypy_knows_models_client_and_fixtures(project: Path) -> None:
    """Given a user's project, when mypy reads it strictly, then it finds nothing; and in a wrong
    module each mistake.
    """
    (project / "wrong.py").write_text(WRONG)
    found = mypy(project, "webs.py", "test_webs.py", "wrong.py")
    assert [line.partition(" error: ")[0] for line in found.splitlines() if "error" in line] == [
        "wrong.py:5:", "wrong.py:6:", "wrong.py:7:", "Found 3 errors in 1 file (checked 3 source files)"], found


def test_its_controller_works(project: Path) -> None:
    """Given the same project, when pytest runs its test, then its controller brings up what its
    object asks for.
    """
    settings = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", "-W", "error")
    assert "2 passed" in python(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", *settings)
