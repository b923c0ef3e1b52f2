"""A served cluster in a process of its own, and what it printed."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FAKEKUBE = [sys.executable, "-c", "import sys; sys.argv[0] = 'fakekube'; from fakekube.cli import main; main()"]
START_SECONDS = 60


class Serving:
    """A running ``fakekube serve``."""

    def __init__(self, kubeconfig: Path, *options: str) -> None:
        self.kubeconfig = kubeconfig
        self.process = subprocess.Popen(
            [*FAKEKUBE, "serve", "--kubeconfig", str(kubeconfig), *options], cwd=kubeconfig.parent,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        end = time.monotonic() + START_SECONDS
        while not kubeconfig.exists() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        assert kubeconfig.exists(), self.process.communicate()[0]
        cluster = yaml.safe_load(kubeconfig.read_text())
        self.url: str = cluster["clusters"][0]["cluster"]["server"]
        self.token: str = cluster["users"][0]["user"]["token"]

    def get(self, path: str) -> tuple[int, Any]:
        """Status and body, as curl would get it: no header of ours."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=20)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, json.loads(body) if answer.headers["Content-Type"] == "application/json" else body.decode()

    def get_once_there(self, path: str) -> Any:
        """The body, once the answer is 200: for what controllers make."""
        end = time.monotonic() + START_SECONDS
        while (found := self.get(path))[0] == 404 and time.monotonic() < end:
            time.sleep(0.01)
        assert found[0] == 200, found
        return found[1]

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float, str]:
        """Exit code, the seconds it took, and all that was printed."""
        started = time.monotonic()
        self.process.send_signal(number)
        output = self.process.communicate(timeout=30)[0]
        return self.process.returncode, time.monotonic() - started, output


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Serving]]:
    """Starts servers; those that still run at the end are stopped."""
    running: list[Serving] = []

    def start(*options: str) -> Serving:
        running.append(Serving(tmp_path / f"kubeconfig-{len(running)}", *options))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()


@pytest.fixture
def fakekube(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command to its end."""
    def run(*arguments: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*FAKEKUBE, *arguments], cwd=tmp_path, env=os.environ | {"COLUMNS": "110"}, capture_output=True, text=True,
            timeout=100, check=False, input=typed)

    return run
