"""What changed in an ephemeral container, as upstream prints it: the lines of its internal type that differ.

Upstream: apimachinery/pkg/util/diff and the internal types of pkg/apis/core, whose fields have Go's names and order, and are
all there. Left out: what is not set inside of probes, mounts and variables.
"""

import difflib
import json
from typing import Any

from fakekube.apimachinery.types import Tree

TEXTS = ("name", "image", "workingDir", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy")
SWITCHES = ("stdin", "stdinOnce", "tty")
FIELDS = (
    "name", "image", "command", "args", "workingDir", "ports", "envFrom", "env", "resources", "resizePolicy",
    "restartPolicy", "restartPolicyRules", "volumeMounts", "volumeDevices", "livenessProbe", "readinessProbe",
    "startupProbe", "lifecycle", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy",
    "securityContext", "stdin", "stdinOnce", "tty", "targetContainerName",
)  # fmt: skip
INITIALISMS = {"tty": "TTY", "uid": "UID", "httpGet": "HTTPGet", "tcpSocket": "TCPSocket", "grpc": "GRPC"}
RESOURCES = {"Limits": "limits", "Requests": "requests", "Claims": "claims"}


def changed_lines(old: Tree, new: Tree) -> str:
    """The difference of two containers as a unified diff without file names, three lines around each change."""
    lines = list(difflib.unified_diff(_lines(old), _lines(new), lineterm=""))[2:]
    return "".join(f"{line}\n" for line in lines)


def _lines(container: Tree) -> list[str]:
    text = json.dumps(_internal(container), indent=1, ensure_ascii=False)
    for char in "<>&":  # which Go never prints in JSON
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.split("\n")


def _internal(container: Tree) -> Tree:
    shown: Tree = {}
    for name in FIELDS:
        empty: Any = "" if name in TEXTS or name == "targetContainerName" else False if name in SWITCHES else None
        shown[_go_name(name)] = _with_go_names(container.get(name, empty))
    resources = container.get("resources") or {}
    shown["Resources"] = {field: _with_go_names(resources[name]) if name == "claims" and name in resources
                          else resources.get(name) for field, name in RESOURCES.items()}
    return shown


def _with_go_names(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_go_names(each) for each in value]
    return {_go_name(name): _with_go_names(each) for name, each in value.items()} if isinstance(value, dict) else value


def _go_name(name: str) -> str:
    return INITIALISMS.get(name) or name[:1].upper() + name[1:]
