"""Says where the answer of a cluster differs from the recorded one, and of what kind that is.

What two servers may answer differently is put out of sight first: uids, times, versions, ages,
entries of managed fields that controllers wrote, what upstream's prose says of columns. What is
left is compared field by field.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fakekube.apimachinery.types import Json, Tree
from fakekube.recording.exchanges import Exchange
from fakekube.recording.translation import ACCESS, SUFFIX, UID, VERSION, Translation, name_of
from fakekube.util import treediff

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)")
AGE = re.compile(r"(?:\d+[ydhms])+")
HIDDEN = ("token", "storageVersionHash", "serverAddress", "containerID", "imageID")
ALLOWED_BY = re.compile(r"^(RBAC: allowed by )(?:Cluster)?RoleBinding .*", re.DOTALL)
ITEM = re.compile(r"^(?:items|rows)(?:\[[^\]]*\]|\.[^.\[]+)\.?(?:object\.)?")
LARGE_VERSION = re.compile(r"([Tt]oo (?:large|old) resource version: )(\d+)(, current: | \()\d+")
COMPONENTS = (
    "kube-controller-manager", "kube-scheduler", "kubelet", "kube-apiserver", "cloud-controller-manager")
"""Managers of fields that are part of a cluster."""
STATE, STATE_KIND = "status", "state"
PODS = "pods"
ADMINISTRATORS = "system:masters"
"""Who is one has another name in another cluster."""
STATE_FIELDS = (
    STATE, "endpoints", "subsets", "spec.volumeName",
    "spec.nodeName", "spec.taints", "cells", "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds",
    "metadata.labels[topology.kubernetes.io/zone]", "metadata.labels[topology.kubernetes.io/region]")
"""What controllers and kubelets write, and kubectl shows of it; what pods get of their nodes."""
FINALIZERS = "metadata.finalizers"
"""Controllers take off those of what they have made."""
OF_AN_ACCOUNT = re.compile(r"\.(?:serviceAccount|serviceAccountName|(?:volumes|volumeMounts)(?:\[kube-api-access-[^\]]*\])?)$")
"""What a pod gets of its service account."""
OF_A_NODE = "matchFields[metadata.name]"
"""In the affinity of a daemon's pod."""
ANNOTATIONS = ("deployment.kubernetes.io/", "pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/",
               "endpoints.kubernetes.io/", "node.alpha.kubernetes.io/ttl")
"""How annotations begin that controllers write."""
OF_THE_CLUSTER = ("/version", "/api", "/apis", "/metrics")
"""Paths whose answers tell what is installed in a cluster; only their codes are compared."""
ROOT_CA = "kube-root-ca.crt"
OWN_MANAGER = "fakekube-verify"
"""The manager of namespaces that are made to play in."""
COUNTED_LISTS = ("events",)
"""Resources whose objects controllers make as they like."""


class Difference(NamedTuple):
    """One difference: ``code`` (the status of the answer), ``answer`` (a field of it), ``warning``
    (a Warning header), ``event`` (of a watch), or ``state`` (what controllers write, after the time
    that there was to wait for it), and ``forbidden`` (the cluster does not let its user ask).
    """

    kind: str
    path: str
    recorded: str
    there: str

    def __str__(self) -> str:
        where = f" {self.path}" if self.path else ""
        return f"{self.kind}{where}: {self.recorded} recorded, {self.there} there"


class Setting(NamedTuple):
    """What is to be known of a kind that is asked about: ``missing`` are objects which are not made
    there, by name with namespace, ``idle`` says that no pod runs there, ``controlled`` that
    controllers of an add-on wrote its objects, ``extra`` that controllers ran that do not run
    there, and ``accounts`` that pods got service accounts.
    """

    missing: tuple[str, ...] = ()
    idle: bool = False
    controlled: bool = False
    extra: bool = False
    accounts: bool = True


ALIKE = Setting()


class Answer(NamedTuple):
    """What a cluster answered; ``tree`` is JSON, a text, or None."""

    code: int
    tree: Json
    warnings: tuple[str, ...] = ()


def differences(
    exchange: Exchange, answer: Answer, translation: Translation, setting: Setting = ALIKE,
) -> list[Difference]:
    """Where an answer differs from the recorded one; ``answer`` is as it came."""
    found = []
    recorded, there = exchange.answer, translation.back(answer.tree)
    if exchange.code != answer.code:
        kind = "forbidden" if _is_forbidden(answer) and exchange.code < 400 else "code"
        if _is_others(exchange, setting):
            kind = STATE_KIND
        return [Difference(kind, "", _told(exchange.code, recorded), _told(answer.code, there))]
    warnings = [value for name, value in exchange.line.get("answerHeaders") or () if name.lower() == "warning"]
    told = [str(translation.back(text)) for text in answer.warnings]
    if warnings != told:
        found.append(Difference("warning", "", treediff.shown(warnings), treediff.shown(told)))
    path = exchange.path.rstrip("/")
    if path in OF_THE_CLUSTER or path.startswith("/openapi") or exchange.info.resource in COUNTED_LISTS:
        return found
    if not isinstance(recorded, dict) or not isinstance(there, dict):
        return found
    group = exchange.info.group
    is_custom = "." in group and not group.endswith(".k8s.io")
    if is_custom:
        recorded, there = _sorted_causes(recorded), _sorted_causes(there)
    # what is no kind of Kubernetes' own has no controllers but those that were recorded
    strict = exchange.method == "POST" or (is_custom and not setting.controlled)
    clusterwide = not exchange.info.namespace and exchange.info.verb == "list"
    of_fields = _of_trees(recorded, there, translation, setting, strict=strict, clusterwide=clusterwide)
    if _is_others(exchange, setting):
        of_fields = (each._replace(kind=STATE_KIND) for each in of_fields)
    return found + list(of_fields)


def _is_others(exchange: Exchange, setting: Setting) -> bool:
    """Whether all that a look shows may be what the other cluster's controllers make of it."""
    return exchange.is_read and (setting.extra or (setting.idle and exchange.info.resource == PODS))


def of_events(
    exchange: Exchange, told: list[Json], translation: Translation, setting: Setting = ALIKE,
) -> list[Difference]:
    """Where the events of a watch differ from the recorded ones: by object, in their order.

    How often an object was modified does not count, since controllers write when they like.
    """
    recorded = _by_object([each.event for each in exchange.told], translation)
    there = _by_object([translation.back(event) for event in told], translation)
    found = []
    is_others = _is_others(exchange, setting)
    for name in dict.fromkeys([*recorded, *there]):
        if name.partition(" ")[2] in setting.missing:
            continue
        old, new = recorded.get(name, []), there.get(name, [])
        types = [_types(events) for events in (old, new)]
        if types[0] != types[1]:
            by_controllers = is_others or sorted(types) == ["MODIFIED", "nothing"]  # who write when they like
            found.append(Difference(STATE_KIND if by_controllers else "event", name, *types))
        elif exchange.info.resource not in COUNTED_LISTS:
            found += [
                each._replace(kind=STATE_KIND if is_others or each.kind == STATE_KIND else "event", path=f"{name} {each.path}")
                for each in _of_trees(_object(old[-1]), _object(new[-1]), translation, setting, strict=False, clusterwide=False)]
    return found


def _of_trees(
    recorded: Tree, there: Tree, translation: Translation, setting: Setting, *, strict: bool, clusterwide: bool,
) -> Iterator[Difference]:
    first, second = (normal(tree, translation) for tree in (recorded, there))
    if clusterwide:
        first = _own_items(first, translation)
    first, second = (_by_name(tree, setting.missing, translation) for tree in (first, second))
    if sorted(first.get("order", ["?"])) != sorted(second.get("order", ["?"])):
        first, second = ({key: item for key, item in tree.items() if key != "order"} for tree in (first, second))
    owned = tuple(_owned(first, second))
    for each in treediff.differences(first, second):
        if not setting.accounts and each.old is treediff.MISSING and OF_AN_ACCOUNT.search(each.path):
            continue
        by_controllers = setting.idle or setting.controlled or FINALIZERS in each.path
        is_state = _is_state(each.path) or _is_owned(each) or (by_controllers and each.path.startswith(owned))
        kind = STATE_KIND if is_state and not strict else "answer"
        yield Difference(kind, each.path, treediff.shown(each.old), treediff.shown(each.new))


def _owned(*trees: Tree) -> Iterator[str]:
    """Where in the trees objects are that a controller has made, and goes on writing."""
    for tree in trees:
        if "ownerReferences" in (tree.get("metadata") or {}):
            yield ""
        for key in ("items", "rows"):
            of = tree.get(key)
            for name, item in of.items() if isinstance(of, dict) else ():
                if "ownerReferences" in str(item):
                    yield treediff.below(key, name)


def _is_state(path: str) -> bool:
    path = ITEM.sub("", path)
    if OF_A_NODE in path:
        return True
    return any(path == field or path.startswith((f"{field}.", f"{field}[")) for field in STATE_FIELDS)


def _is_owned(difference: treediff.Difference) -> bool:
    """Whether one side has an object that a controller has made, and the other has not."""
    return ITEM.sub("", difference.path) == "" and any(
        isinstance(side, dict) and "ownerReferences" in ((side.get("object") or side).get("metadata") or {})
        for side in (difference.old, difference.new))


def _own_items(tree: Any, translation: Translation) -> Any:
    """A recorded list of all namespaces, with the objects of the test's own alone."""
    made = dict(tree)
    for key in ("items", "rows"):
        if isinstance(made.get(key), list):
            made[key] = [item for item in made[key] if space_of(item) in translation.namespaces | translation.clusterwide]
    return made


def own_part(value: Json, translation: Translation) -> Json:
    """An answer about all namespaces, as it came, without what is not in ours; of an event that is
    about another one nothing is left.
    """
    if not isinstance(value, dict):
        return value
    made = dict(value)
    for key in ("items", "rows"):
        if isinstance(made.get(key), list):
            made[key] = [item for item in made[key] if space_of(item).startswith(translation.prefix)]
    return made


def _by_name(tree: Any, missing: tuple[str, ...], translation: Translation) -> Any:
    """A list whose items can be told apart by their names, without those that are ``missing``
    there; their order is compared, too, unless chance has named one.
    """
    made = dict(tree)
    for key in ("items", "rows"):
        items = made.get(key)
        if not isinstance(items, list):
            continue
        items = [item for item in items if name_of(item) not in missing]
        names = [name_of(item) for item in items]
        if None in names:
            made[key] = items
            continue
        made[key] = {str(name): item for name, item in zip(names, items, strict=True)}
        if not any("generateName" in str(item) or translation.knows(name.rpartition("/")[2])
                   for item, name in zip(items, filter(None, names), strict=True)):
            made["order"] = names
    return made


def space_of(item: Any) -> str:
    """That of an object or a row, or its own name where it is a namespace."""
    of = item.get("object", item) if isinstance(item, dict) else {}
    metadata = (of.get("metadata") or {}) if isinstance(of, dict) else {}
    return str(metadata.get("namespace") or metadata.get("name", ""))


def normal(value: Json, translation: Translation) -> Any:
    """A copy without what two servers may answer differently."""
    if isinstance(value, list):
        return [normal(item, translation) for item in value]
    if isinstance(value, dict):
        return _normal_object(value, translation)
    return _normal_text(value, translation) if isinstance(value, str) else value


def _normal_text(text: str, translation: Translation) -> str:
    if "-" in text:
        text = UID.sub(lambda found: found[0] if translation.knows(found[0]) else "<uid>", text)
        text = TIME.sub(lambda found: f"<time.{len(found[1])}>" if found[1] else "<time>", text)
        text = ACCESS.sub(r"\1<suffix>", text)
    return LARGE_VERSION.sub(r"\1\2\3<version>", text) if "esource version" in text else text


def _normal_object(value: Tree, translation: Translation) -> Tree:
    made = {key: normal(item, translation) for key, item in value.items()}
    if isinstance(made.get(VERSION), str):
        made[VERSION] = "<version>" if made[VERSION] else ""
    if made.get("continue"):
        made["continue"] = "<continue>"
    if isinstance(entries := made.get("managedFields"), list) and all(isinstance(entry, dict) for entry in entries):
        made["managedFields"] = _managed(entries)
        if not made["managedFields"]:
            del made["managedFields"]
    if isinstance(cells := made.get("cells"), list):
        made["cells"] = ["<age>" if isinstance(cell, str) and AGE.fullmatch(cell) else cell for cell in cells]
    for column in made.get("columnDefinitions") or ():
        if isinstance(column, dict):
            column.pop("description", None)
    if made.get("reason") == "Conflict" and isinstance(made.get("message"), str):
        made = _sorted_conflict(made)
    if (base := made.get("generateName")) and isinstance(name := made.get("name"), str) and not translation.knows(name):
        made["name"] = f"{base}<suffix>" if SUFFIX.fullmatch(name.removeprefix(str(base))) else name
    if isinstance(annotations := made.get("annotations"), dict):
        kept = {key: item for key, item in annotations.items() if not key.startswith(ANNOTATIONS)}
        made = {key: item for key, item in made.items() if key != "annotations"} | ({"annotations": kept} if kept else {})
    if ADMINISTRATORS in (made.get("groups") or ()) and "username" in made:
        made = {key: item for key, item in made.items() if key not in ("uid", "extra")} | {"username": "<administrator>"}
    for key in ("resourceRules", "nonResourceRules"):  # upstream's come in the order of a map
        if isinstance(made.get(key), list):
            made[key] = sorted(made[key], key=str)
    if isinstance(made.get("reason"), str):  # of several that allow it, any
        made["reason"] = ALLOWED_BY.sub(r"\1", made["reason"])
    made |= {key: f"<{key}>" for key in HIDDEN if isinstance(made.get(key), str)}
    if isinstance(metadata := made.get("metadata"), dict) and metadata.get("name") == ROOT_CA and "data" in made:
        made["data"] = "<ca>"
    return made


def _managed(entries: list[Any]) -> list[Any]:
    """The entries of those who are no part of a cluster, in an order that no second decides."""
    own = [
        {key: item for key, item in entry.items() if key != "time"} for entry in entries
        if entry.get("manager") not in (OWN_MANAGER, *COMPONENTS)]
    return sorted(own, key=lambda entry: [str(entry.get(key)) for key in ("manager", "operation", "apiVersion", "subresource")])


def _sorted_conflict(made: Tree) -> Tree:
    """The causes of a conflict come in the order of a map."""
    head, *rest = made["message"].split("\n")
    details = dict(made.get("details") or {})
    if isinstance(details.get("causes"), list):
        details["causes"] = sorted(details["causes"], key=str)
    return {**made, "message": "\n".join([head, *sorted(rest)]), **({"details": details} if details else {})}


def _sorted_causes(tree: Tree) -> Tree:
    """An answer to an object that its definition's schema does not allow; upstream finds the errors
    in the order of a map.
    """
    details = tree.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    if tree.get("reason") != "Invalid" or not isinstance(causes, list) or not isinstance(details, dict):
        return tree
    texts = [f"{cause.get('field')}: {cause.get('message')}" for cause in causes if isinstance(cause, dict)]
    head, bracket, tail = str(tree.get("message")).partition("[")
    if tail == f"{', '.join(texts)}]":
        tree = {**tree, "message": f"{head}{bracket}{', '.join(sorted(texts))}]"}
    return {**tree, "details": {**details, "causes": sorted(causes, key=str)}}


def _is_forbidden(answer: Answer) -> bool:
    return answer.code == 403 and isinstance(answer.tree, dict) and "is forbidden: User " in str(answer.tree.get("message"))


def _told(code: int, tree: Json) -> str:
    message = tree.get("message") if isinstance(tree, dict) and tree.get("kind") == "Status" else None
    return f"{code} {treediff.shown(message)}" if message else str(code)


def _by_object(events: list[Json], translation: Translation) -> dict[str, list[Tree]]:
    found: dict[str, list[Tree]] = {}
    for event in events:
        if not isinstance(event, dict):
            continue
        thing = _object(event)
        metadata = thing.get("metadata") or {}
        if event.get("type") == "BOOKMARK" or metadata.get("name") == ROOT_CA:  # comes when its controller likes
            continue
        if metadata.get("namespace") and metadata["namespace"] not in translation.namespaces:
            continue
        name = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name")))) or str(thing.get("reason", ""))
        found.setdefault(f"{thing.get('kind', '')} {name}", []).append(event)
    return found


def _object(event: Tree) -> Tree:
    thing = event.get("object")
    return thing if isinstance(thing, dict) else {}


def _types(events: list[Tree]) -> str:
    """ADDED, MODIFIED, DELETED, of which those in a row count once."""
    types: list[str] = []
    for event in events:
        if not types or types[-1] != event.get("type"):
            types.append(str(event.get("type")))
    return " ".join(kind for kind in types if kind != "MODIFIED") or ("MODIFIED" if types else "nothing")

