"""``fakekube serve --config`` and ``fakekube schema``, as somebody at a shell meets them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakekube.cli import configuration
from fakekube.cli.main import cli
from fakekube.composition.options import ClusterOptions
from tests.docs.test_readme import of_page

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"

LISTS_OF_WORDS = ("controllers", "authorization_mode")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The file that the documentation shows, in a directory of its own with what it names."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "team.yaml").write_text(NAMESPACE)
    file = folder / "fakekube.yaml"
    file.write_text(of_page("configuration.md", "config"))
    return file


def test_the_file_of_the_page_is_served(serve: Serve, page: Path) -> None:
    """Given the file that the page shows, when it is served from elsewhere, then the cluster is
    what it says, and what it loads is found beside it.
    """
    server = serve("--config", str(page))
    assert len(server.get("/api/v1/nodes")[1]["items"]) == 3
    assert server.get("/version")[1]["minor"] == "36"
    assert server.get("/apis/scheduling.k8s.io/v1alpha2")[0] == 200
    assert server.get("/api/v1/namespaces/team")[0] == 200
    assert server.get("/api/v1/namespaces/kube-system/services/metrics-server")[0] == 404
    assert "3 nodes" in server.end()[2]


def test_flags_win_over_the_file(serve: Serve, page: Path) -> None:
    """Given the same file, when flags say something else, a default among them, then they count,
    and so does the rest.
    """
    server = serve("--config", str(page), "--nodes", "1", "--runtime-config", "api/alpha=false")
    assert len(server.get("/api/v1/nodes")[1]["items"]) == 1
    assert server.get("/apis/scheduling.k8s.io/v1alpha2")[0] == 404
    assert server.get("/version")[1]["minor"] == "36"
    assert server.get("/api/v1/namespaces/team")[0] == 200


def test_json_is_read_too(serve: Serve, tmp_path: Path) -> None:
    """Given a file in JSON, when it is served, then it counts."""
    file = tmp_path / "fakekube.json"
    file.write_text(json.dumps({"nodes": 2, "controllers": ["kubelet"], "eventTTL": "5m"}))
    assert len(serve("--config", str(file)).get("/api/v1/nodes")[1]["items"]) == 2


@pytest.mark.parametrize(("text", "complaint"), [
    ("node: 3", "node: there is no such option: known are nodes, kubernetesVersion, "),
    ("nodes: three", "nodes: input should be a valid integer"),
    ("nodes: -1", "nodes: input should be greater than or equal to 0"),
    ("kubernetesVersion: 1.30", 'kubernetesVersion: 1.3 is a number: put the version in quotes, as "1.37"'),
    ("kubernetesVersion: newest", "kubernetesVersion: 'newest' is no version: say 1.37"),
    ("featureGates: {A: maybe}", "featureGates.A: input should be a valid boolean"),
    ("featureGates: A=maybe", "featureGates: invalid value of A=maybe, err: strconv.ParseBool"),
    ("featureGates: {Nope: true}", "unrecognized feature gate: Nope"),
    ("controllers: [nobody]", 'controllers: "nobody" is not in the list of known controllers'),
    ("clock: never", "clock: 'never' is none of real, manual, auto, or a factor above 0"),
    ("eventTTL: soon", "eventTTL: 'soon' is no duration: say 1h30m, 90s or 500ms"),
    ("start: yesterday", "start: 'yesterday' is no time with a time zone: say 2026-01-01T00:00:00Z"),
    ("load: [7]", "load.0: input should be a valid string"),
    ("port: 65536", "port: input should be less than or equal to 65535"),
    ("from: nowhere.snapshot", "No such file or directory"),
    ("- nodes", "it is no mapping of options"),
    ("nodes: 1\nclock: {", "fakekube.yaml:2: did not find expected node content"),
    ("nodes: \x00", "control characters are not allowed"),
])
def test_what_cannot_be_meant_is_said_in_a_sentence(fakekube: Run, tmp_path: Path, text: str, complaint: str) -> None:
    """Given a file with a mistake, when it is served, then one line on stderr says where and what,
    without a traceback.
    """
    (tmp_path / "fakekube.yaml").write_text(text)
    done = fakekube("serve", "--config", "fakekube.yaml")
    assert done.returncode != 0
    [line] = done.stderr.splitlines()
    assert line.startswith("Error: ")
    assert complaint in line
    assert ("fakekube.yaml:" in line) or "Nope" in text or "nobody" in text or "nowhere" in text


def test_the_schema_has_what_the_command_line_has(fakekube: Run) -> None:
    """Given the schema of the file, when it is compared with ``serve``, then each option is there,
    with its default and help.
    """
    schema = json.loads(fakekube("schema").stdout)
    assert json.loads(fakekube("schema", "config").stdout) == schema
    known = configuration.ServeConfiguration.model_fields
    fields = {configuration.PARAMETERS.get(name, name): field for name, field in known.items()}
    options = {option.name: option for option in cli.commands["serve"].params if option.name != "config"}
    assert fields.keys() == options.keys()
    assert options.keys() - fields.keys() == set()
    assert fields.keys() >= ClusterOptions.__dataclass_fields__.keys()
    for name, option in options.items():
        assert schema["properties"][fields[name].alias]["description"] == option.help
        # click has a word of its own for none
        default = option.default if isinstance(option.default, str | int) else None
        assert (fields[name].default or None) == ([default] if name in LISTS_OF_WORDS else default or None)
    assert schema["additionalProperties"] is False


def test_kinds_have_a_schema_too(fakekube: Run) -> None:
    """Given a kind, when its schema is asked for, then it is printed with wire names; a name that
    is none is one sentence.
    """
    job = json.loads(fakekube("schema", "Job").stdout)
    assert "backoffLimit" in job["$defs"]["JobSpec"]["properties"]
    done = fakekube("schema", "Nothing")
    assert (done.returncode, done.stderr) == (
        1, "Error: there is no schema of Nothing: say config, faults, or a kind of fakekube.types as Job\n")


PYTHON = """
from fakekube.client.resources import CONFIG_MAPS
from fakekube.runtime import controller

def outcome(pod, attempt, container):
    return 7

class Idle:
    def __init__(self, ctx): pass
    async def reconcile(self, request): pass

idle = controller("idle").for_(CONFIG_MAPS).complete(Idle)
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}
"""


def test_python_functions_and_controllers_are_named(serve: Serve, fakekube: Run, tmp_path: Path) -> None:
    """Given a module in the current directory, when the file names a function of it and the command
    line a controller, then both are used; a name of nothing is one sentence.
    """
    (tmp_path / "ours_here.py").write_text(PYTHON)
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "fakekube.yaml").write_text("clock: auto\noutcome: ours_here:outcome\nload: pod.yaml\n")
    server = serve("--config", "fakekube.yaml", "--extra", "ours_here:idle")
    pod: Any = {}
    while pod.get("phase") != "Failed":
        pod = server.get("/api/v1/namespaces/default/pods/p")[1]["status"]
    assert pod["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 7
    assert {"name": "idle", "running": True} in server.get("/fakekube/v1/controllers")[1]["items"]
    done = fakekube("serve", "--on-exec", "ours_here:nothing")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("Error: on_exec: 'ours_here:nothing' names nothing that can be imported: ")
