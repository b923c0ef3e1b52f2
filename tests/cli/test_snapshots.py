"""A served cluster as a file: taken, compared, and served again."""

import http.client
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

MAPS = "/api/v1/namespaces/default/configmaps"


def create(server: Any, name: str) -> None:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
    connection.request("POST", MAPS, json.dumps({"metadata": {"name": name}}), {"Content-Type": "application/json"})
    assert connection.getresponse().status == 201
    connection.close()


def test_a_file_is_served_again_and_compared(serve: Serve, fakekube: Run, tmp_path: Path) -> None:
    """Given a served cluster on manual time, when snapshots of it are taken before and after a
    change, then their difference is told and the exit code says that there is one; served again,
    the second goes on at its time, at its version, as a cluster on manual time.
    """
    server = serve("--clock", "manual", "--controllers", "namespace", "--nodes", "0")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert fakekube("snapshot", "--server", server.url, "-o", one).returncode == 0
    create(server, "added")
    assert fakekube("clock", "--server", server.url, "advance", "2h").returncode == 0
    printed = fakekube("snapshot", "--server", server.url, "-o", two).stdout
    assert f"fakekube serve --from {two}" in printed

    done = fakekube("diff", one, two, "configmaps")
    assert (done.returncode, done.stdout.splitlines()) == (
        1, ["time: 2026-01-01T00:00:00Z -> 2026-01-01T02:00:00Z", "+ configmaps default/added"])
    assert fakekube("diff", two, two).returncode == 0

    again = serve("--from", two, "--clock", "manual")
    assert again.get(f"{MAPS}/added")[1]["metadata"] == server.get(f"{MAPS}/added")[1]["metadata"]
    assert again.get("/fakekube/v1/clock")[1]["now"] == "2026-01-01T02:00:00.000000Z"


def test_a_file_is_served_on_the_walls_time_unless_told_otherwise(serve: Serve, fakekube: Run, tmp_path: Path) -> None:
    """Given a snapshot from manual time, when it is served without a word about the clock, then
    time runs on from its instant.
    """
    server = serve("--clock", "manual", "--controllers", "", "--nodes", "0")
    assert fakekube("snapshot", "--server", server.url, "-o", "file").returncode == 0
    clock = serve("--from", str(tmp_path / "file")).get("/fakekube/v1/clock")[1]
    assert (clock["mode"], clock["now"][:14]) == ("real", "2026-01-01T00:")


def test_what_cannot_be_served_is_told(fakekube: Run, tmp_path: Path) -> None:
    """Given a file that is no snapshot, or an option that the snapshot decides, when it is to be
    served or compared, then one line says what is wrong.
    """
    (tmp_path / "none").write_text("nothing")
    for command in (("serve", "--from", "none"), ("diff", "none", "none")):
        done = fakekube(*command)
        assert done.returncode == 1
        assert done.stderr.startswith("Error: none is no snapshot of fakekube")
