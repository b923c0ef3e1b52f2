"""What stands for what between a recording and the cluster on which it is played.

Names of namespaces, and of objects without one, get a prefix there. What a server makes up (uids,
versions, generated names, addresses, tokens of pages) is learnt by laying each answer beside the
recorded one, and put in wherever a later request has the recorded value. Answers are translated
back, so that they can be compared in the words of the recording.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from fakekube.apimachinery.types import Json, Tree
from fakekube.endpoints import requestinfo

UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SUFFIX = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{5}")
ACCOUNT = re.compile(r"\b(system:serviceaccounts?:)([a-z0-9-]+)")
SERVICE_DOMAIN = re.compile(r"\.([a-z0-9-]+)(\.svc\b)")
NESTED_NAMESPACE = re.compile(r'("namespace":\s*")([a-z0-9-]+)(")')
NAMESPACE_KEYS = ("namespace", "kubernetes.io/metadata.name")
CLUSTERWIDE_KINDS = ("ClusterRole", "PersistentVolume", "Node", "Namespace")
CLUSTERWIDE_KEYS = (
    "priorityClassName", "storageClassName", "runtimeClassName", "volumeName", "nodeName", "ingressClassName", "deviceClassName")
"""Where an object without a namespace is named: in references with a kind, and in these fields."""
MADE_UP = ("clusterIP", "nodePort", "healthCheckNodePort", "podIP", "hostIP", "ip", "continue", "pod-template-hash")
"""Fields whose values a server chooses."""
UID_HASH = re.compile(r"-(?:[bcdfghjklmnpqrstvwxz2456789]{7,10}|[0-9a-f]{5})(?=-|$)")
BY_UID_GROUP = "scheduling.k8s.io"
"""Controllers name its objects, and those of add-ons, by a hash of their owner's uid."""
BY_UID_KINDS = ("Workload", "PodGroup", "CompositePodGroup")
BY_UID_KEYS = ("podGroupName", "workloadName")
"""Where such an object is named."""
MOST_OF_A_LABEL, MOST_OF_A_NAME = 63, 253
"""So long are names of namespaces, and of other objects, at most."""
VERSION = "resourceVersion"
ACCESS = re.compile(r"\b(kube-api-access-)[a-z0-9]{5}\b")
"""The volume that admission gives to pods."""


class Translation:
    """Both directions for one conversation.

    ``namespaces`` get the prefix, and so do the objects without a namespace that ``clusterwide``
    names. Objects of the API groups of add-ons, ``addon_groups``, may name these anywhere.
    """

    def __init__(
        self, prefix: str, namespaces: Iterable[str], clusterwide: Iterable[str] = (), addon_groups: Iterable[str] = (),
    ) -> None:
        self.prefix, self.namespaces, self.clusterwide = prefix, frozenset(namespaces), frozenset(clusterwide)
        self._addon_groups = frozenset(addon_groups)
        self._is_of_addon = False  # what is translated
        limits = (self.namespaces, MOST_OF_A_LABEL), (self.clusterwide, MOST_OF_A_NAME)
        shortened = [
            (name, f"{prefix}{number}") for names, most in limits for number, name in enumerate(sorted(names))
            if len(prefix) + len(name) > most]
        self._generated: dict[str, None] = {}  # recorded names that a server has made up
        self._by_uid = False  # what is learnt has names by uids
        self._latest = 0  # the greatest version that was recorded so far
        self._uids: dict[str, str] = {}
        self._names: dict[str, str] = dict(shortened)
        self._values: dict[Any, Any] = {}
        self._versions: dict[str, str] = {}
        self._list_versions: dict[str, str] = {}
        self._back: tuple[re.Pattern[str], dict[str, str]] | None = None

    # to the cluster

    def namespace(self, name: str) -> str:
        """A namespace's name there."""
        return self._names.get(name, f"{self.prefix}{name}") if name in self.namespaces else name

    def path(self, path: str) -> str:
        """The path of a request there."""
        info = requestinfo.parse("GET", path, {})
        if not info.is_resource:
            return self.text(path)
        parts = path.split("/")
        if parts[1] == "apis":  # a group may have the name of what was made
            parts[2] = self.text(parts[2])
        if info.namespace:
            place = parts.index("namespaces") + 1
            parts[place] = self.namespace(info.namespace)
        if info.name and info.resource != "namespaces":
            place = len(parts) - len(info.parts) + 1
            parts[place] = self._named(parts[place], clusterwide=not info.namespace)
        return "/".join(parts)

    def query(self, query: dict[str, list[str]], *, clusterwide: bool = False) -> dict[str, list[str]]:
        """The query of a request there; ``clusterwide`` says that it names no namespace."""
        return {
            name: [self._parameter(name, value, clusterwide=clusterwide) for value in values] for name, values in query.items()}

    def body(self, value: Json) -> Json:
        """The body of a request there."""
        if isinstance(value, list):
            return [self._operation(item) if isinstance(item, dict) and "op" in item else self.body(item) for item in value]
        if isinstance(value, dict):
            made = {self.text(key): self._field(key, item) for key, item in value.items()}
            if value.get("kind") in CLUSTERWIDE_KINDS and value.get("name") in self.clusterwide:
                made["name"] = self._own(value["name"])
            return made
        return self.text(value) if isinstance(value, str) else value

    def object(self, value: Json, *, clusterwide: bool, group: str = "") -> Json:
        """The body of a write to an object of an API group; ``clusterwide`` says that it has no
        namespace.
        """
        self._is_of_addon = group in self._addon_groups
        made: Any = self.body(value)
        self._is_of_addon = False
        metadata = value.get("metadata") if clusterwide and isinstance(value, dict) else None
        if isinstance(metadata, dict):
            for key in ("name", "generateName"):
                if isinstance(name := metadata.get(key), str) and name:
                    made["metadata"][key] = self._own(name)
        return made

    def text(self, text: str) -> str:
        """Any text of a request there."""
        if self._uids and "-" in text:
            text = UID.sub(lambda found: self._uids.get(found[0], found[0]), text)
        if text in self._names:
            return self._names[text]
        if self._is_of_addon and text in self.clusterwide:
            return self._own(text)
        if ":" in text:
            text = ACCOUNT.sub(lambda found: found[1] + self.namespace(found[2]), text)
            text = NESTED_NAMESPACE.sub(lambda found: found[1] + self.namespace(found[2]) + found[3], text)
        if ".svc" in text:
            text = SERVICE_DOMAIN.sub(lambda found: f".{self.namespace(found[1])}{found[2]}", text)
        for name in self._names:
            if name in text:
                text = text.replace(name, self._names[name])
        return text

    def version(self, version: str, *, of_list: bool = False) -> str:
        """A version there: that of an object or of a list.

        Where none was told, that of a list is the latest before it; any other stays as it is.
        """
        first, second = (self._list_versions, self._versions) if of_list else (self._versions, self._list_versions)
        found = first.get(version) or second.get(version)
        if found is None and of_list and version.isdecimal() and int(version):
            told = self._versions | self._list_versions
            known = sorted((int(each), there) for each, there in told.items() if each.isdecimal())
            if int(version) <= self._latest:
                found = next((there for each, there in reversed(known) if each < int(version)), None)
        return found or version

    def renew(self, version: str, version_there: str) -> None:
        """Let another version of an object stand for a recorded one."""
        self._versions[version] = version_there

    def _named(self, name: str, *, clusterwide: bool) -> str:
        return self._own(name) if clusterwide and name in self.clusterwide else self.text(name)

    def _own(self, name: str) -> str:
        """The name there of an object without a namespace that the test makes."""
        return self._names.get(name) or f"{self.prefix}{name}"

    def _parameter(self, name: str, value: str, *, clusterwide: bool) -> str:
        if name in (VERSION, "resourceVersionMatch"):
            return self.version(value, of_list=True)
        if name == "continue":
            return str(self._values.get(("continue", value), value))
        if name == "fieldSelector":
            return ",".join(self._term(term, clusterwide=clusterwide) for term in value.split(","))
        return self.text(value)

    def _term(self, term: str, *, clusterwide: bool) -> str:
        field, equals, value = term.partition("=")
        if clusterwide and field.rstrip("!") == "metadata.name" and value.lstrip("=") in self.clusterwide:
            return f"{field}{equals}{'=' if value.startswith('=') else ''}{self._own(value.lstrip('='))}"
        if field.rstrip("!").endswith(".namespace"):
            return f"{field}{equals}{'=' if value.startswith('=') else ''}{self.namespace(value.lstrip('='))}"
        return self.text(term)

    def _field(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            if key in NAMESPACE_KEYS:
                return self.namespace(value)
            if value in self.clusterwide and (key in CLUSTERWIDE_KEYS or self._is_addons(key)):
                return self._own(value)
            if key == VERSION:
                return self.version(value)
            if (key, value) in self._values:
                return self._values[key, value]
        if key == "namespaces" and isinstance(value, list):
            return [self.namespace(item) if isinstance(item, str) else self.body(item) for item in value]
        if key == "clusterIPs" and isinstance(value, list):
            return [self._values.get(("clusterIP", item), item) for item in value]
        if isinstance(value, int) and not isinstance(value, bool):
            return self._values.get((key, value), value)
        return self.body(value)

    def _is_addons(self, key: str) -> bool:
        """Whether a label or an annotation is one of an add-on."""
        return key.partition("/")[0] in self._addon_groups

    def _operation(self, operation: Tree) -> Tree:
        """One operation of a JSON patch."""
        last = str(operation.get("path", "")).rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        made = {key: self.body(value) for key, value in operation.items()}
        if "value" in operation:
            made["value"] = self._field(last, operation["value"])
        return made

    # from the cluster

    def knows(self, recorded: str) -> bool:
        """Whether it is known what stands for a recorded uid or generated name there."""
        return recorded in self._uids or recorded in self._names

    def lacks(self, recorded: str) -> bool:
        """Whether a recorded name was made up, and nothing is known that stands for it there."""
        return recorded in self._generated and recorded not in self._names

    def learn(self, recorded: Json, there: Json, *, by_uid: bool = False) -> None:
        """Lay an answer beside the recorded one, and note what stands for what.

        The answer is as it came, not translated back. ``by_uid`` says that the names of objects are
        made of the uids of their owners.
        """
        self._by_uid = by_uid
        self.saw(recorded)
        self._learn("", recorded, there)
        self._back = None

    def back(self, value: Json) -> Json:
        """An answer of the cluster in the words of the recording."""
        if self._back is None:
            self._back = self._reverse()
        pattern, words = self._back
        return _texts(value, lambda text: pattern.sub(lambda found: words[found[0]], text))

    def _reverse(self) -> tuple[re.Pattern[str], dict[str, str]]:
        words = {new: old for known in (self._uids, self._names) for old, new in known.items()}
        words |= {str(new): str(old) for (key, old), new in self._values.items() if key != "continue" and isinstance(new, str)}
        words[self.prefix] = ""
        longest_first = sorted((word for word in words if word or not self.prefix), key=len, reverse=True)
        return re.compile("|".join(re.escape(word) for word in longest_first if word) or r"(?!)"), words

    def saw(self, recorded: Json) -> None:
        """Note the names that a server has made up in a recorded answer, and how far its versions
        went.
        """
        if not isinstance(recorded, dict):
            return
        items = recorded.get("items") or recorded.get("rows") or []
        for item in [recorded, *(items if isinstance(items, list) else [])]:
            metadata = metadata_of(item)
            base, name = metadata.get("generateName"), metadata.get("name")
            if base and isinstance(name, str) and SUFFIX.fullmatch(name.removeprefix(str(base))):
                self._generated[name] = None
            if str(version := metadata.get(VERSION)).isdecimal():
                self._latest = max(self._latest, int(str(version)))

    def _learn(self, key: str, recorded: Json, there: Json) -> None:
        if isinstance(recorded, dict) and isinstance(there, dict):
            self._learn_object(recorded, there)
        elif isinstance(recorded, list) and isinstance(there, list):
            for old, new in pairs(recorded, there, self, by_uid=self._by_uid):
                self._learn(key, old, new)
        elif isinstance(recorded, str) and isinstance(there, str) and recorded != there:
            if UID.fullmatch(recorded) and UID.fullmatch(there):
                self._uids[recorded] = there
            elif (ACCESS.fullmatch(recorded) and ACCESS.fullmatch(there)) or (
                    (key in BY_UID_KEYS or self._is_addons(key)) and UID_HASH.sub("-", recorded) == UID_HASH.sub("-", there)):
                self._names[recorded] = there
            elif key in MADE_UP or key == "clusterIPs":
                self._values[key.removesuffix("s") if key == "clusterIPs" else key, recorded] = there
        elif key in MADE_UP and isinstance(recorded, int) and isinstance(there, int):
            self._values[key, recorded] = there

    def _learn_object(self, recorded: Tree, there: Tree) -> None:
        base, old, new = recorded.get("generateName"), recorded.get("name"), there.get("name")
        if base and there.get("generateName") and isinstance(old, str) and isinstance(new, str) and SUFFIX.fullmatch(
                new[-5:]) and new not in (old, f"{self.prefix}{old}"):
            self._names[old] = new
        by_uid = (self._by_uid and "ownerReferences" in recorded) or recorded.get("kind") in BY_UID_KINDS
        if by_uid and isinstance(old, str) and isinstance(new, str) and old != new and UID_HASH.sub("-", old) == UID_HASH.sub(
                "-", new):
            self._names[old] = new
        version, version_there = recorded.get(VERSION), there.get(VERSION)
        if isinstance(version, str) and isinstance(version_there, str) and version_there:
            known = self._versions if "uid" in recorded or "name" in recorded else self._list_versions
            known[version] = version_there
        for key, value in recorded.items():
            if key in there:
                self._learn(key, value, there[key])


def _texts(value: Json, change: Callable[[str], str]) -> Json:
    """A copy with all texts changed, keys too."""
    if isinstance(value, dict):
        return {change(key): _texts(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def name_of(item: Any) -> str | None:
    """The name of an object or of a row of a Table, with its namespace."""
    metadata = metadata_of(item)
    name = metadata.get("name")
    return "/".join(filter(None, (metadata.get("namespace"), name))) if isinstance(name, str) else None


def pairs(recorded: list[Any], there: list[Any], translation: Translation, *, by_uid: bool = False) -> list[tuple[Any, Any]]:
    """Items of two lists that stand for each other: by name, of generated names in their order;
    what has no name by its place. ``by_uid`` is said of what is named by hashes of uids.
    """
    names = [_name(item) for item in recorded], [_name(item) for item in there]
    if None in names[0] or None in names[1]:
        return list(zip(recorded, there, strict=False))
    known = {translation.back(name): item for name, item in zip(names[1], there, strict=True)}
    found = [(item, known.pop(name)) for name, item in zip(names[0], recorded, strict=True) if name in known]
    taken = [id(item) for item, _ in found]
    left: dict[Any, list[Any]] = {}
    for item in known.values():
        left.setdefault(_generated_from(item, translation, by_uid=by_uid), []).append(item)
    unnamed = [item for item in recorded if id(item) not in taken]
    return found + [
        (item, same.pop(0)) for item in unnamed if (same := left.get(_generated_from(item, translation, by_uid=by_uid)))]


def metadata_of(item: Any) -> Tree:
    """The metadata of an object, of a row of a Table, or nothing."""
    if not isinstance(item, dict):
        return {}
    of = item.get("object") if "cells" in item else item
    metadata = of.get("metadata") if isinstance(of, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _name(item: Any) -> str | None:
    name: Any = name_of(item)
    if name is None and isinstance(item, dict):
        name = item.get("name", item.get("type"))
    return ACCESS.sub(r"\1", name) if isinstance(name, str) else None


def _generated_from(item: Any, translation: Translation, *, by_uid: bool) -> Json:
    metadata = metadata_of(item)
    if by_uid and "ownerReferences" in metadata:
        return UID_HASH.sub("-", str(translation.back(metadata.get("name"))))
    index = (metadata.get("annotations") or {}).get("batch.kubernetes.io/job-completion-index", "")
    base = metadata.get("generateName")
    return f"{translation.back(base)} {index}" if base else None
