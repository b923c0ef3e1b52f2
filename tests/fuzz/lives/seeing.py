"""What a user sees of a life: every object of a namespace, without what a server draws at random.

Names that end in five random characters, and names that hold the hash of a uid, lose that end.
Objects that are equal then stand for each other: which of them a server takes does not matter.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

Tree = dict[str, Any]

SAFE = "bcdfghjklmnpqrstvwxz2456789"
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
SUFFIX = re.compile(rf"-[{SAFE}]{{5}}(?![a-z0-9])")
HASH = re.compile(rf"-[{SAFE}]{{6,10}}(?![a-z0-9])")  # of a uid: those of contents are compared
SERVERS_OWN = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "selfLink", "namespace", "generateName")
KINDS = (
    "api/v1/pods", "api/v1/services", "api/v1/events", "api/v1/persistentvolumeclaims", "apis/batch/v1/jobs",
    "apis/apps/v1/statefulsets", "apis/apps/v1/controllerrevisions", "apis/scheduling.k8s.io/v1beta1/workloads",
    "apis/scheduling.k8s.io/v1beta1/podgroups", "apis/scheduling.k8s.io/v1alpha3/compositepodgroups",
    "apis/resource.k8s.io/v1/resourceclaims", "apis/jobset.x-k8s.io/v1alpha2/jobsets",
    "apis/leaderworkerset.x-k8s.io/v1/leaderworkersets")
"""The collections that are looked at, as far as a server has them, by their paths."""


RACED_ABOUT = ("controllerrevisions", "services")
"""What its controller makes again while the garbage collector deletes it with its owner."""


def word(kind: str) -> str:
    """``pods`` of the path of a collection."""
    return kind.rpartition("/")[2]


def plain(text: str, *, hashes: bool) -> str:
    """A text without uids, times, random suffixes and, where ``hashes`` says so, hashes of uids."""
    text = SUFFIX.sub("-?", TIME.sub("<time>", UID.sub("<uid>", text)))
    return HASH.sub("-#", text) if hashes else text


def shown(tree: Tree, *, hashes: bool) -> Tree:
    """An object as it is compared."""
    metadata = {key: value for key, value in tree["metadata"].items() if key not in SERVERS_OWN}
    found = {**{key: value for key, value in tree.items() if key not in ("apiVersion", "kind")}, "metadata": metadata}
    return dict(json.loads(plain(json.dumps(found, sort_keys=True), hashes=hashes)))


def told(event: Tree, *, hashes: bool) -> Tree:
    """An Event as it is compared: what it says, of which object.

    The order of lines does not count: they are errors of requests that are sent at once.
    """
    about, source = event["involvedObject"], event.get("source", {}).get("component") or event.get("reportingComponent")
    text = {
        "about": f"{about['kind']} {about['name']}", "type": event["type"], "reason": event["reason"],
        "message": "\n".join(sorted(event.get("message", "").split("\n"))), "by": source}
    return dict(json.loads(plain(json.dumps(text), hashes=hashes)))


def _is_owned_by(tree: Tree, uids: Collection[str]) -> bool:
    return any(each["uid"] in uids for each in tree["metadata"].get("ownerReferences", ()))


def _marked(tree: Tree, marks: Mapping[str, list[int]]) -> Tree:
    """In which steps something was first seen and written to: times tell that no more."""
    steps = marks.get(tree["metadata"]["uid"])
    return {"steps": list(steps)} if steps else {}


class Sight:
    """A namespace at one moment: by kind its objects as they are compared, in a fixed order."""

    def __init__(self, objects: Mapping[str, Iterable[Tree]], marks: Mapping[str, list[int]], *, hashes: bool) -> None:
        self.objects: dict[str, list[Tree]] = {}
        self.ordered: dict[str, list[Tree]] = {}  # the same objects whole, in the same order
        self.messages: dict[str, int] = {}
        everything = [tree["metadata"] for trees in objects.values() for tree in trees]
        going = {metadata["uid"] for metadata in everything if "deletionTimestamp" in metadata}
        for kind, trees in sorted(objects.items()):
            if word(kind) == "events":
                self._count(trees, hashes=hashes)
                continue
            left = [tree for tree in trees if word(kind) not in RACED_ABOUT or not _is_owned_by(tree, going)]
            pairs = [({**shown(tree, hashes=hashes), **_marked(tree, marks)}, tree) for tree in left]
            pairs.sort(key=lambda pair: json.dumps(pair[0], sort_keys=True))
            if pairs:
                self.objects[word(kind)] = [seen for seen, _ in pairs]
            self.ordered[word(kind)] = [tree for _, tree in pairs]

    def _count(self, events: Iterable[Tree], *, hashes: bool) -> None:
        for event in events:
            seen = told(event, hashes=hashes)
            lines = seen["message"].split("\n")
            if all(line.endswith(" already exists") for line in lines):
                continue  # a controller whose cache does not show yet what it has made
            key, times = json.dumps(seen, sort_keys=True), event.get("count") or 1
            self.messages[key] = 1 if len(lines) > 1 else self.messages.get(key, 0) + times

    def tree(self) -> Tree:
        """All of it, to be stored and compared."""
        return {"objects": self.objects, "events": dict(sorted(self.messages.items()))}


def differences(real: Any, ours: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Every place in which two trees differ, with what stands there."""
    if isinstance(real, dict) and isinstance(ours, dict):
        return [each for key in sorted({*real, *ours})
                for each in differences(real.get(key, "(absent)"), ours.get(key, "(absent)"), f"{path}.{key}")]
    if isinstance(real, list) and isinstance(ours, list):
        if len(real) != len(ours):
            return [(f"{path}[]", *_rest(real, ours))]
        pairs = enumerate(zip(real, ours, strict=True))
        return [each for number, pair in pairs for each in differences(*pair, f"{path}[{number}]")]
    return [] if real == ours and type(real) is type(ours) else [(path, real, ours)]


def _rest(real: list[Any], ours: list[Any]) -> tuple[list[Any], list[Any]]:
    """Of two lists what only one has."""
    left = list(ours)
    only = []
    for item in real:
        if item in left:
            left.remove(item)
        else:
            only.append(item)
    return only, left
