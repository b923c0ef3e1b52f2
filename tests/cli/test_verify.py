"""``fakekube verify`` and ``replay``: what tests ask of ours, asked of a served cluster."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakekube.client.resources import CONFIG_MAPS, NAMESPACES
from fakekube.testing.background import BackgroundCluster

Run = Callable[..., subprocess.CompletedProcess[str]]

TESTS = """
from fakekube.client.resources import CONFIG_MAPS

def test_it(fakekube_server):
    async def story(cluster):
        client = cluster.client
        made = await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
        await client.update(CONFIG_MAPS, {**made, "data": {"k": "w"}})
        assert (await client.get(CONFIG_MAPS, "a"))["data"] == {"k": "w"}
        await client.create(await client.resource("priorityclasses"), {"metadata": {"name": "p"}, "value": 1})
    fakekube_server.call(story)
"""
QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:timeout")


@pytest.fixture
def tests(tmp_path: Path) -> tuple[str, ...]:
    """What is given to pytest."""
    (tmp_path / "test_them.py").write_text(TESTS)
    return "--", *QUIET, str(tmp_path / "test_them.py")


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BackgroundCluster]:
    """The cluster to verify against."""
    options = {"nodes": 0, "clock": "real", "seed": 9, **getattr(request, "param", {})}
    with BackgroundCluster(kubeconfig=tmp_path / "kubeconfig", **options) as cluster:
        yield cluster


def namespaces(cluster: BackgroundCluster) -> list[str]:
    async def names(inner: object) -> list[str]:
        return [item["metadata"]["name"] for item in (await cluster.cluster.client.list(NAMESPACES)).items]

    return [name for name in cluster.call(names) if not name.startswith("kube-")]


def test_nothing_is_done_before_it_was_shown(
    fakekube: Run, target: BackgroundCluster, tests: tuple[str, ...],
) -> None:
    """Given a cluster in use / when verify is called without --yes and with it / then it shows what
    it would do and does nothing; then it plays, tells of no difference, and leaves nothing.
    """
    target.call(lambda inner: inner.client.create(NAMESPACES, {"metadata": {"name": "theirs"}}))
    target.call(lambda inner: inner.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "theirs"}}))
    shown = fakekube("verify", "--against", str(target.kubeconfig), *tests)
    assert (shown.returncode, shown.stderr.splitlines()[-1]) == (1, "Error: nothing was done: say --yes to go on")
    lines = shown.stdout.splitlines()
    assert f"{target.url}: Kubernetes 1.37, 0 nodes" in lines
    assert "it is in use: 1 namespace of others (theirs), which are left alone" in lines
    assert "      1 create configmaps" in lines
    assert "      1 without a namespace: --allow-cluster-scoped plays it, with a name of its own: create priorityclasses" in lines
    assert namespaces(target) == ["default", "theirs"]
    done = fakekube("verify", "--against", str(target.kubeconfig), "--yes", *tests)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(" of 1 test: 5 equal, 0 differ")
    assert namespaces(target) == ["default", "theirs"]
    theirs = target.call(lambda inner: inner.client.get(CONFIG_MAPS, "a"))
    assert theirs["data"] == {"k": "theirs"}


def test_a_difference_is_told(fakekube: Run, target: BackgroundCluster, tests: tuple[str, ...]) -> None:
    """Given a cluster whose webhook changes what is written / when verify plays there / then the
    requests that it answers otherwise are told, for people and as JSON, and the exit code is 1.
    """
    @target.webhook("configmaps", mutating=True)
    def mark(request: object) -> None:
        request.object["data"]["marked"] = "yes"  # type: ignore[attr-defined]

    done = fakekube("verify", "--against", str(target.kubeconfig), "--yes", "--wait", "1s", *tests)
    assert done.returncode == 1
    assert '    answer data.marked: (none) recorded, "yes" there' in done.stdout.splitlines()
    program = fakekube("verify", "--against", str(target.kubeconfig), "--yes", "--wait", "1s", "-o", "json", *tests)
    told = json.loads(program.stdout[program.stdout.index("{\n"):])
    assert (program.returncode, told["totals"]["differ"]) == (1, 3)
    assert told["tests"][0]["notPlayed"][0]["request"] == "POST /apis/scheduling.k8s.io/v1/priorityclasses"


@pytest.mark.parametrize("target", [{"kubernetes_version": "1.36"}], indirect=True)
def test_another_release(fakekube: Run, target: BackgroundCluster, tests: tuple[str, ...], tmp_path: Path) -> None:
    """Given a cluster of an older release / when verify runs, and when a recording of the newest is
    replayed / then the tests run as on that release, without a difference; and the recording's
    release is told.
    """
    done = fakekube("verify", "--against", str(target.kubeconfig), "--yes", *tests)
    assert done.returncode == 0, done.stdout
    assert f"{target.url}: Kubernetes 1.36, 0 nodes" in done.stdout
    file = tmp_path / "run.jsonl"
    assert fakekube("record", "-o", str(file), "--secrets", "--", sys.executable, "-m", "pytest", *tests[1:]).returncode == 0
    again = fakekube("replay", str(file), "--server", target.url, "--yes")
    assert "1 test recorded on Kubernetes 1.37, played on 1.36" in again.stderr


@pytest.mark.parametrize("target", [{"authorization_mode": "RBAC"}], indirect=True)
def test_who_may_not(fakekube: Run, target: BackgroundCluster, tests: tuple[str, ...]) -> None:
    """Given a user who may make no namespaces / when verify is called / then one sentence says so,
    and nothing runs.
    """
    path = target.kubeconfig_for("ann")
    done = fakekube("verify", "--against", str(path), "--yes", *tests)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: who asks may not create namespaces there, which is all that is needed\n"


def test_misuse(fakekube: Run, tmp_path: Path) -> None:
    """Given no cluster, two, one that does not answer, or no duration / when verify or replay is
    called / then one sentence says so.
    """
    (tmp_path / "file").write_text("")
    for words, code, text in (
        (("verify",), 2, "say which cluster is asked"),
        (("verify", "--server", "a", "--against", str(tmp_path / "file")), 2, "say which cluster is asked"),
        (("replay", str(tmp_path / "file"), "--server", "127.0.0.1:1"), 1, "127.0.0.1:1"),
        (("verify", "--server", "a", "--wait", "soon"), 2, "--wait: 'soon' is no duration"),
    ):
        done = fakekube(*words)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
        assert text in done.stderr
