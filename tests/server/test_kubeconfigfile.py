"""Our entries in a kubeconfig that others share."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakekube.server import kubeconfig
from fakekube.server.kubeconfigfile import KubeconfigFile, Owner
from fakekube.util.files import NotReplaced

FOREIGN = """\
# work
apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: prod
  cluster: {server: "https://prod:6443", certificate-authority-data: YQ==}
users:
- name: me
  user:
    auth-provider: {name: gcp, config: {expiry: 2026-01-01T00:00:00Z}}
contexts:
- name: prod
  context: {cluster: prod, user: me}
- name: stage
  context: {cluster: prod, user: me, namespace: stage}
"""
OURS = kubeconfig.tree("http://127.0.0.1:1", "token")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A kubeconfig of somebody else."""
    path = tmp_path / "config"
    path.write_text(FOREIGN)
    path.chmod(0o640)
    return path


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    return found


def names(config: dict[str, Any]) -> list[list[str]]:
    return [[each["name"] for each in config[part]] for part in ("clusters", "users", "contexts")]


def test_entries_are_added_and_taken_out_again(path: Path) -> None:
    """Given a kubeconfig of somebody else, when a server adds itself and ends, then its context is
    the current one meanwhile, and afterwards all is as before, times that look like times and the
    mode of the file included."""
    file, before = KubeconfigFile(path), read(path)
    file.add(OURS)
    meanwhile = read(path)
    assert names(meanwhile) == [["prod", "fakekube"], ["me", "fakekube"], ["prod", "stage", "fakekube"]]
    assert meanwhile["current-context"] == "fakekube"
    assert meanwhile["clusters"][0] == before["clusters"][0]
    assert meanwhile["users"][0] == before["users"][0]
    assert file.owner() == Owner("http://127.0.0.1:1", "token", f"{socket.gethostname()}/{os.getpid()}")
    file.remove()
    assert read(path) == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(each.name for each in path.parent.iterdir()) == ["config"]


@pytest.mark.parametrize(("chosen", "left"), [("stage", "stage"), ("fakekube", "prod")])
def test_a_context_that_was_chosen_meanwhile_stays(path: Path, chosen: str, left: str) -> None:
    """Given a server's entries, when the user chooses another context and the server ends, then the
    choice stays; if ours is still the current one, that of before is again."""
    file = KubeconfigFile(path)
    file.add(OURS)
    path.write_text(path.read_text().replace("current-context: fakekube", f"current-context: {chosen}"))
    file.remove()
    assert read(path)["current-context"] == left


def test_what_a_dead_server_left_is_replaced(path: Path) -> None:
    """Given entries of a server that was killed, when another adds itself and ends, then there is
    one of each meanwhile, and the context of before both is the current one again; the first
    removes nothing of the second."""
    before, first, second = read(path), KubeconfigFile(path), KubeconfigFile(path)
    first.add(OURS)
    second.add(kubeconfig.tree("http://127.0.0.1:2", "other"))
    assert names(read(path))[0] == ["prod", "fakekube"]
    first.remove()
    owner = second.owner()
    assert owner is not None
    assert owner[:2] == ("http://127.0.0.1:2", "other")
    second.remove()
    assert read(path) == before


def test_a_file_of_ours_alone_goes(tmp_path: Path) -> None:
    """Given no file, or what a dead server left in one, when a server adds itself and ends, then
    the file is gone; it was for nobody else's eyes. One that was there, though empty, stays."""
    path, left, empty = tmp_path / "new", tmp_path / "left", tmp_path / "empty"
    KubeconfigFile(left).add(OURS)
    empty.touch()
    for each in (path, left, empty):
        file = KubeconfigFile(each)
        file.add(kubeconfig.tree("http://127.0.0.1:2", "token"))
        assert read(each)["clusters"][0]["cluster"]["server"] == "http://127.0.0.1:2"
        assert each == empty or stat.S_IMODE(each.stat().st_mode) == 0o600
        file.remove()
    assert [each.name for each in tmp_path.iterdir()] == ["empty"]
    assert names(read(empty)) == [[], [], []]


@pytest.mark.parametrize("text", [
    "my notes\n", "- a list\n", "apiVersion: v1\nkind: Pod\nclusters: []\n", "apiVersion: v2\nkind: Config\n", "a: [", "{",
    "clusters: 5\n", "clusters: [5]\n", "key: value\n", '{"a": 1}', "[" * 5000, "apiVersion: v1\nkind: Config\nusers: {a: b}\n",
])
def test_what_is_no_kubeconfig_stays_as_it_is(tmp_path: Path, text: str) -> None:
    """Given a file of another kind, when a server would add itself, then one sentence refuses, and
    not a byte is changed."""
    path = tmp_path / "notes.txt"
    path.write_text(text)
    for act in (KubeconfigFile(path).owner, lambda: KubeconfigFile(path).add(OURS)):
        with pytest.raises(NotReplaced, match=r"notes\.txt is no kubeconfig, and is left as it is$"):
            act()
    assert path.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


def test_bytes_devices_and_directories_are_refused(tmp_path: Path) -> None:
    """Given bytes that are no text, a device or a directory, when a server would add itself, then
    it is refused."""
    (tmp_path / "binary").write_bytes(b"\x7fELF\xff")
    null = Path("/dev/null")
    for path, text in (
        (tmp_path / "binary", "no kubeconfig"), (null, "no regular file"), (tmp_path, "no regular file"),
    ):
        with pytest.raises(NotReplaced, match=text):
            KubeconfigFile(path).owner()
    assert stat.S_ISCHR(null.stat().st_mode)


@pytest.mark.parametrize("kind", ["cluster", "user", "context"])
def test_entries_of_our_name_that_others_made_stay(path: Path, kind: str) -> None:
    """Given an entry of our name without our marker, when a server would add itself, then one
    sentence refuses."""
    path.write_text(f"apiVersion: v1\nkind: Config\n{kind}s:\n- name: fakekube\n  {kind}: {{server: x}}\n")
    with pytest.raises(NotReplaced, match=f"has a {kind} fakekube that no server of ours wrote"):
        KubeconfigFile(path).add(OURS)


def test_json_stays_json(tmp_path: Path) -> None:
    """Given a kubeconfig in JSON, when a server adds itself and ends, then it is JSON all the
    while."""
    path = tmp_path / "config.json"
    path.write_text('{"kind": "Config", "apiVersion": "v1", "contexts": [], "extra": {"a": 1}}')
    file = KubeconfigFile(path)
    file.add(OURS)
    assert path.read_text().startswith("{\n")
    assert yaml.safe_load(path.read_text())["extra"] == {"a": 1}
    file.remove()
    assert yaml.safe_load(path.read_text())["extra"] == {"a": 1}


def test_a_server_whose_process_is_gone_has_died(tmp_path: Path) -> None:
    """Given the process of a server that ran, or runs, on this host or another / then only one of
    this host that is there no more has surely died; entries of older servers say nothing of it.
    """
    host = socket.gethostname()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    died = [f"{host}/{ended.pid}"]
    unknown = [f"{host}/{os.getpid()}", f"elsewhere-{host}/{ended.pid}", "", host, f"{host}/x", f"{host}/-1", f"{host}/{10**30}"]
    assert [Owner("http://127.0.0.1:1", "t", process).has_died for process in died + unknown] == [True] + [False] * len(unknown)
