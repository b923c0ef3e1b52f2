"""Makes the table of the objects that a fresh cluster holds: fakekube/apis/bootstrap.txt.

Roles and bindings have a notation of their own, which the head of the table tells; others are JSON,
one object a line, so that differences can be read. Source: the recorded objects of a control plane
that nobody has used.
"""

import json
from pathlib import Path
from typing import Any

from tools.releases import ROOT, Sources

OUTPUT = ROOT / "fakekube" / "apis" / "bootstrap.txt"
AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
PORT = 6443  # of the API server; the recorded one is whatever was free
RBAC_KINDS = {
    "clusterroles": "clusterrole",
    "roles": "role",
    "clusterrolebindings": "clusterrolebinding",
    "rolebindings": "rolebinding",
}
HEAD = """\
# The objects of a fresh cluster; tools/bootstrap.py makes this file, bootstrap.py reads it.
# clusterrole NAME [to=ROLE] [from=ROLE,...]: what it is aggregated to, and from which roles it is put together
# role NAMESPACE/NAME, and below each: VERBS APIGROUPS RESOURCES [NAMES], or VERBS ~URLS; - is the core group
# clusterrolebinding NAME ROLEREF SUBJECT..., rolebinding NAMESPACE/NAME ROLEREF SUBJECT...
# object RESOURCE JSON
"""


def build(sources: Sources) -> dict[Path, bytes]:
    """The table, roles and bindings first."""
    lines: list[str] = []
    others: list[str] = []
    for path, objects in sources.first_objects().items():
        kind = RBAC_KINDS.get(path.rsplit("/", 1)[1])
        for obj in objects:
            if kind:
                lines += rbac_lines(kind, obj)
            else:
                others.append(f"object {resource_of(path)} {json.dumps(cleaned(obj), separators=(',', ':'))}")
    return {OUTPUT: (HEAD + "\n".join([*lines, *others]) + "\n").encode()}


def resource_of(path: str) -> str:
    """services of /api/v1/namespaces/default/services, priorityclasses.scheduling.k8s.io of the
    scheduling group's.
    """
    parts = path.strip("/").split("/")
    group = parts[1] if parts[0] == "apis" else ""
    return f"{parts[-1]}.{group}" if group else parts[-1]


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
