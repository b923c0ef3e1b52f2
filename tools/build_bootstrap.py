"""Write the tables of fakekube/apis/bootstrap.py from the objects that a fresh control plane holds.

Usage: python tools/build_bootstrap.py OBJECTS.json [--check]

OBJECTS.json maps collection paths (/apis/rbac.authorization.k8s.io/v1/clusterroles) to lists of objects, as answered by
a kube-apiserver that nobody has used yet, without what differs from start to start (uid, resourceVersion, times).
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "fakekube" / "apis"
AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
PORT = 6443  # of the API server; the recorded one is whatever was free
RBAC_KINDS = {
    "clusterroles": "clusterrole",
    "roles": "role",
    "clusterrolebindings": "clusterrolebinding",
    "rolebindings": "rolebinding",
}
RBAC_HEAD = """\
# Roles and bindings of a fresh cluster; tools/build_bootstrap.py writes this file, bootstrap.py reads it.
# clusterrole NAME [to=ROLE] [from=ROLE,...]: what it is aggregated to, and from which roles it is put together
# role NAMESPACE/NAME, and below each: VERBS APIGROUPS RESOURCES [NAMES], or VERBS ~URLS; - is the core group
# clusterrolebinding NAME ROLEREF SUBJECT..., rolebinding NAMESPACE/NAME ROLEREF SUBJECT...
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("objects", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file differs")
    arguments = parser.parse_args()
    collections = json.loads(arguments.objects.read_text())
    rbac = [
        line
        for path, objects in collections.items()
        if path.rsplit("/", 1)[1] in RBAC_KINDS
        for obj in objects
        for line in rbac_lines(RBAC_KINDS[path.rsplit("/", 1)[1]], obj)
    ]
    others = {
        resource_of(path): [cleaned(obj) for obj in objects]
        for path, objects in collections.items()
        if path.rsplit("/", 1)[1] not in RBAC_KINDS
    }
    written = {
        "bootstrap_rbac.txt": RBAC_HEAD + "\n".join(rbac) + "\n",
        "bootstrap.json": json_lines(others),
    }
    different = [name for name, text in written.items() if not same(TARGET / name, text)]
    if arguments.check:
        for name in different:
            print(f"{TARGET / name} differs", file=sys.stderr)
        return 1 if different else 0
    for name, text in written.items():
        (TARGET / name).write_text(text)
    return 0


def same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


def resource_of(path: str) -> str:
    """services of /api/v1/namespaces/default/services, priorityclasses.scheduling.k8s.io of the scheduling group's."""
    parts = path.strip("/").split("/")
    group = parts[1] if parts[0] == "apis" else ""
    return f"{parts[-1]}.{group}" if group else parts[-1]


def json_lines(others: dict[str, list[Any]]) -> str:
    """One object a line, so that differences can be read."""
    parts = []
    for resource, objects in others.items():
        lines = ",\n".join(json.dumps(obj, separators=(",", ":")) for obj in objects)
        parts.append(f"{json.dumps(resource)}: [\n{lines}\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def cleaned(obj: Any) -> Any:
    """In the order in which Go prints, with what depends on the recorded run made neutral."""
    if isinstance(obj, list):
        return [cleaned(each) for each in obj]
    if not isinstance(obj, dict):
        return obj
    first = [name for name in ("name", "namespace", "metadata", "type") if name in obj]
    last = [name for name in ("status",) if isinstance(obj.get(name), dict)]
    names = first + [name for name in obj if name not in first + last] + last
    ordered = {name: cleaned(obj[name]) for name in names}
    if "lastTransitionTime" in ordered:
        ordered["lastTransitionTime"] = None
    if ordered.get("name") == "https" and "targetPort" in ordered:
        ordered["targetPort"] = PORT
    return ordered


def rbac_lines(kind: str, obj: Any) -> list[str]:
    metadata = obj["metadata"]
    name = f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else metadata["name"]
    if "roleRef" in obj:
        ref = obj["roleRef"]
        return [" ".join([kind, name, f"{ref['kind']}/{ref['name']}", *map(subject, obj.get("subjects", []))])]
    words = [kind, name]
    words += [f"to={label.removeprefix(AGGREGATE)}" for label in metadata["labels"] if label.startswith(AGGREGATE)]
    selectors = obj.get("aggregationRule", {}).get("clusterRoleSelectors", [])
    sources = [label.removeprefix(AGGREGATE) for each in selectors for label in each["matchLabels"]]
    words += [f"from={','.join(sources)}"] if sources else []
    return [" ".join(words), *(f"  {rule(each)}" for each in obj.get("rules") or [])]


def rule(rule: Any) -> str:
    verbs = ",".join(rule["verbs"])
    if "nonResourceURLs" in rule:
        return f"{verbs} ~{','.join(rule['nonResourceURLs'])}"
    groups = ",".join(group or "-" for group in rule["apiGroups"])
    words = [verbs, groups, ",".join(rule["resources"])]
    if "resourceNames" in rule:
        words.append(",".join(rule["resourceNames"]))
    return " ".join(words)


def subject(subject: Any) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"sa={subject['namespace']}/{subject['name']}"
    return f"{subject['kind'].lower()}={subject['name']}"


if __name__ == "__main__":
    raise SystemExit(main())
