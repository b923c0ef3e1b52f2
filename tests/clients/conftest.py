"""One suite, two servers: every test here takes its cluster from ``kubeconfig``, ours or the one of
``--kubeconfig``.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config


@pytest.fixture
def kubeconfig(request: pytest.FixtureRequest) -> Path:
    """The path of a kubeconfig: of the given cluster, or of a fresh one of ours."""
    given = request.config.getoption("--kubeconfig")
    if given:
        return Path(given)
    path: Path = request.getfixturevalue("fakekube_kubeconfig")
    return path


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[client.ApiClient]:
    """The official client, connected."""
    settings = client.Configuration()
    config.load_kube_config(str(kubeconfig), client_configuration=settings)
    with client.ApiClient(settings) as connected:
        yield connected


@pytest.fixture
def namespace(api: client.ApiClient) -> Iterator[str]:
    """A namespace for this test alone, with its service account."""
    core = client.CoreV1Api(api)
    name = core.create_namespace({"metadata": {"generateName": "suite-"}}).metadata.name
    eventually(lambda: core.read_namespaced_service_account("default", name))
    yield name
    core.delete_namespace(name)


def eventually(look: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What ``look`` returns once it neither raises ApiException nor returns something false.

    A real cluster needs time; ours has usually done everything before the first look.
    """
    import time

    end = time.monotonic() + seconds
    while True:
        try:
            if found := look():
                return found
        except client.ApiException:
            if time.monotonic() > end:
                raise
        assert time.monotonic() < end, f"not within {seconds} s: {look}"
        time.sleep(0.05)


@pytest.fixture
def kubectl(kubeconfig: Path, tmp_path: Path) -> Callable[..., str]:
    """Runs kubectl with arguments and returns what it prints; an unexpected end shows both outputs.

    ``code`` is the exit status to expect; unless it is 0, what went to standard error is returned
    too. ``editor`` is the program that ``kubectl edit`` opens.
    """
    environment = os.environ | {"KUBECONFIG": str(kubeconfig), "HOME": str(tmp_path), "KUBECACHEDIR": str(tmp_path / "cache")}

    def run(*arguments: str, stdin: str = "", code: int = 0, editor: str = "false") -> str:
        done = subprocess.run(["kubectl", *arguments], env=environment | {"KUBE_EDITOR": editor}, input=stdin,
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, f"kubectl {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout if code == 0 else done.stdout + done.stderr

    return run


@pytest.fixture
def inside(kubectl: Callable[..., str], namespace: str) -> Callable[..., str]:
    """kubectl in the test's own namespace."""
    return lambda *arguments, **options: kubectl("-n", namespace, *arguments, **options)


@pytest.fixture
def until() -> Callable[..., Any]:
    """``eventually``, for tests that wait for what another program does."""
    return eventually
