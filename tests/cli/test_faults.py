"""Faults of a served cluster, from a shell."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

MAPS = "/api/v1/namespaces/default/configmaps"
PLAN = """
kind: FaultPlan
faults:
- {name: unsure, resources: configmaps, verbs: create, error: EtcdTimeout, moment: after, nth: 1}
"""


def test_from_the_command_line(
    serve: Callable[..., Any], fakekube: Callable[..., "subprocess.CompletedProcess[str]"], tmp_path: Path,
) -> None:
    """Given a served cluster with a plan / when faults are added, met, listed and removed from a
    shell / then each command says how things stand; the server ends without complaint.
    """
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN)
    server = serve("--faults", str(file), "--nodes", "0")
    at = ("--server", server.url)
    assert fakekube("faults", *at).stdout == "unsure: error EtcdTimeout after the commit, met 0 times\n"
    more = tmp_path / "more.yaml"
    more.write_text("- {name: broken, verbs: list, resources: configmaps, error: EtcdLeaderChanged, userAgents: fakekube}\n")
    told = fakekube("faults", *at, "add", str(more))
    assert told.stdout.splitlines()[-1] == "broken: error EtcdLeaderChanged, met 0 times", told
    assert server.get(MAPS)[0] == 200
    assert fakekube("faults", *at, "remove", "broken").stdout.count("\n") == 1
    wrong = fakekube("faults", *at, "remove", "broken")
    assert (wrong.returncode, wrong.stderr) == (1, "Error: there is no fault 'broken'\n")
    more.write_text("- {error: Sometimes}\n")
    wrong = fakekube("faults", *at, "add", str(more))
    assert wrong.returncode == 1
    assert wrong.stderr.startswith(f"Error: {more}:1: faults.0.error: input should be")
    assert fakekube("faults", *at, "remove").stdout == "nothing goes wrong on purpose\n"
    assert "Traceback" not in server.end()[2]


def test_the_schema(fakekube: Callable[..., "subprocess.CompletedProcess[str]"]) -> None:
    """Given the command that prints schemas / when it is asked for faults / then it is that of a
    plan.
    """
    assert "Rule" in json.loads(fakekube("schema", "faults").stdout)["$defs"]
