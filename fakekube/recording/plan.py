"""What of a recording would be played on a cluster, in which namespaces, and what would not.

Nothing is touched but namespaces that are made for it. What concerns all of a cluster is refused,
or gets a name of its own where its user allows that.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube.recording.exchanges import Exchange
from fakekube.recording.translation import metadata_of

NAMESPACES = "namespaces"
SYSTEM = ("kube-system", "kube-public", "kube-node-lease")
REVIEW_GROUPS = ("authorization.k8s.io", "authentication.k8s.io")
"""What is POSTed there is a question, and leaves nothing."""
METRICS, AUTOSCALERS = "metrics.k8s.io", "horizontalpodautoscalers"
"""What the decisions of the second depend on."""
DEFINITIONS = "customresourcedefinitions"
FOR_ALL = (
    "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies",
    "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "apiservices",
    "flowschemas", "prioritylevelconfigurations")
"""Objects that would have a say in the requests of others."""
NOTICED = ("nodes", "persistentvolumes", "resourceslices")
"""Objects that pods and claims of others would be given."""
DEFAULT_CLASS = ".kubernetes.io/is-default-class"
AGGREGATED = "rbac.authorization.k8s.io/aggregate-to-"
NOT_ASKED_AGAIN = ("exec", "attach", "portforward", "log", "proxy")

OWN_PATH = "a path of fakekube's own"
LIVE = "commands, ports and logs of containers are not asked again"
NOT_SERVED = "its API group is not served there"
UNKNOWN = "who asked was not known"
CACHED = "its client had the answer already"
FURNISHED = ("default", "kube-root-ca.crt", "kubernetes")
"""What controllers put into every namespace."""
OTHER_CLUSTERS = "other clusters beside it"
OTHER_SETUP = "its cluster had"
LATER = "the same look follows, with nothing written between"
SYSTEM_NAMESPACE = "it is about a namespace of the system"
CLUSTER_SCOPED = "without a namespace: --allow-cluster-scoped plays it, with a name of its own"
SAYS_FOR_ALL = "it would have a say in the requests of others"
NOTICED_BY_OTHERS = "others would notice it: --alone plays it where there are none"
HOOKED = "a webhook of the test's own has a say in it"
NOT_MADE = "it is about what is not made there"
NO_COUNTERPART = "nothing there is known to stand for what it is about"
NOT_OURS = "it is about what is not the test's own"
BYTES = "it is protobuf, which is not translated: ask for JSON"
EVERYBODY = "everybody may do everything where it was recorded"
UNSERVED = "it met a fault, and was not done"
UNTOLD = "a fault changed what it was answered"
MASKED = "its values are masked: record them with --secrets"


@dataclass
class Step:
    """One exchange; ``reason`` says why it is not played, if it is not, and ``uncompared`` why its
    answer is not compared.
    """

    exchange: Exchange
    reason: str = ""
    uncompared: str = ""


@dataclass
class Conversation:
    """What one test asked of one cluster.

    ``namespaces`` are those that get names of their own, ``made`` those of them that it found, and
    that are to be made for it. ``clusterwide`` are the names of objects without a namespace that it
    makes, ``definitions`` those of kinds. ``missing`` are objects that it made and that are not
    made there: resource, and name with namespace. ``idle``: no pod runs there, where some did.
    ``addon_groups`` are API groups whose objects controllers of add-ons wrote.
    """

    test: str
    facts: Tree
    steps: list[Step]
    namespaces: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    clusterwide: list[str] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    idle: bool = False
    addon_groups: tuple[str, ...] = ()

    @property
    def played(self) -> list[Step]:
        """The steps that are played."""
        return [step for step in self.steps if not step.reason]

    def summary(self) -> Counter[str]:
        """What is played, counted by verb and resource."""
        return Counter(
            f"{step.exchange.info.verb} {step.exchange.info.resource}" if step.exchange.info.is_resource
            else f"{step.exchange.method.lower()} {step.exchange.path.split('/')[1]}" for step in self.played)


def other_setup(facts: Tree, gates: Iterable[str] = (), addons: Collection[str] = ()) -> tuple[str, ...]:
    """What the recorded cluster had that the one to play on has not: add-ons besides ``addons``,
    and feature gates besides ``gates``.
    """
    known = list(gates)
    wanted = [name for name, on in (facts.get("featureGates") or {}).items() if on and name not in known]
    storage = ["a default StorageClass"] if facts.get("defaultStorageClass") else []
    member = [OTHER_CLUSTERS] if facts.get("member") else []
    return *(name for name in facts.get("addons") or () if name not in addons), *storage, *member, *wanted


def gives_accounts(facts: Tree) -> bool:
    """Whether a recorded cluster ran the controller for service accounts, and gave them to pods."""
    controllers = str(facts.get("controllers", "*")).split(",")
    return "serviceaccount" in controllers or ("*" in controllers and "-serviceaccount" not in controllers)


def plan(
    test: str, facts: Tree, exchanges: Iterable[Exchange], *, cluster_scoped: bool = False, alone: bool = False,
    setup: Sequence[str] = (), groups: Sequence[str] | None = None, nodes: int | None = None,
) -> Conversation:
    """What is played of one conversation; ``facts`` are those of the cluster that was asked.

    ``cluster_scoped`` allows what has no namespace, and ``alone``, which says that nobody else uses
    the cluster, what others would notice. Of a cluster that had a ``setup`` that is not
    there nothing is played. ``groups`` are the API groups that are served there, ``nodes``
    is how many nodes there are.
    """
    exchanges = list(exchanges)
    if groups is not None and METRICS not in groups and any(each.info.resource == AUTOSCALERS for each in exchanges):
        setup = [*setup, METRICS]
    if setup:
        reason = f"{OTHER_SETUP} {', '.join(setup)}: --any-setup plays it all the same"
        return Conversation(test, facts, [Step(exchange, reason) for exchange in exchanges])
    steps = [Step(exchange) for exchange in exchanges]
    planner = _Planner(facts, cluster_scoped=cluster_scoped, alone=alone, groups=groups)
    for step in steps:
        step.reason = planner.reason(step.exchange)
        fault = step.exchange.fault
        step.uncompared = UNTOLD if fault is not None and not fault.told and not step.reason else ""
    _leave_out_looks(steps)
    named, there = dict[str, None](), dict[str, None]()
    for step in steps:
        info = step.exchange.info
        if step.reason or not info.namespace:
            continue
        named[info.namespace] = None
        if info.namespace not in planner.created and _shows_namespace(step.exchange):
            there[info.namespace] = None
    return Conversation(
        test, facts, steps, list({**named, **planner.created}), list(there),
        [name for resource, name in planner.objects if resource != DEFINITIONS],
        [name for resource, name in planner.objects if resource == DEFINITIONS], planner.missing,
        idle=nodes == 0 and bool(facts.get("nodes")))


def _shows_namespace(exchange: Exchange) -> bool:
    """Whether the namespace of an exchange was there when it was asked, as far as that tells."""
    info = exchange.info
    if info.namespace == "default":
        return True
    return exchange.code < 300 and (info.verb != "list" and info.verb != "watch")


class _Planner:
    """Knows what the conversation has made so far."""

    def __init__(self, facts: Tree, *, cluster_scoped: bool, alone: bool, groups: Sequence[str] | None) -> None:
        self._facts, self._cluster_scoped, self._alone, self._groups = facts, cluster_scoped, alone, groups
        self._is_prepared = bool(facts.get("extra") or facts.get("prepared"))
        self._made: dict[tuple[str, str, str], None] = {}  # by requests
        self._defined: dict[str, None] = {}  # groups of definitions that are made
        self.created: dict[str, None] = {}
        self.objects: dict[tuple[str, str], None] = {}  # that have no namespace, by resource and name
        self._missing: dict[tuple[str, str, str], None] = {}  # objects that are not made there
        # resources whose writes a webhook sees that is not there
        self._hooked = dict.fromkeys(name for each in facts.get("registered") or () for name in _hooked_resources(each))
        self._undefined: dict[tuple[str, str], None] = {}  # resources of definitions that are not made

    @property
    def missing(self) -> list[tuple[str, str]]:
        """The objects that are not made there: resource, and name with namespace."""
        return [(resource, f"{namespace}/{name}") for resource, namespace, name in self._missing]

    def reason(self, exchange: Exchange) -> str:
        """Why an exchange is not played; nothing if it is."""
        reason, info = self._reason(exchange), exchange.info
        if info.namespaced and exchange.code == 201 and info.verb in ("create", "patch"):
            known = self._missing if reason else self._made
            known[info.resource, info.namespace, info.name or _name_in(exchange.answer)] = None
        elif self._is_prepared and not reason and info.namespace and exchange.code < 300:
            reason = self._of_strangers(exchange)
        return reason

    def _of_strangers(self, exchange: Exchange) -> str:
        """Note what is shown and was made by no request; the reason, if the exchange is about such
        an object.
        """
        info, answer = exchange.info, exchange.answer
        told: list[Any] = [told.event.get("object") for told in exchange.told if isinstance(told.event, dict)]
        told += [*_items(_tree(answer), "items", "rows"), answer]
        for thing in told:
            metadata = metadata_of(thing)
            name = str(metadata.get("name", ""))
            key = info.resource, info.namespace, name
            if name and key not in self._made and name not in FURNISHED and not metadata.get("ownerReferences"):
                self._missing[key] = None
        asked = info.resource, info.namespace, info.name
        if info.verb == "delete" and asked not in self._made and not metadata_of(answer).get("name"):
            self._missing[asked] = None  # a Status says nothing of what is gone
        return NOT_MADE if asked in self._missing else ""

    def _reason(self, exchange: Exchange) -> str:
        line, info = exchange.line, exchange.info
        if exchange.path.startswith("/fakekube/"):
            return OWN_PATH
        if info.subresource in NOT_ASKED_AGAIN or line.get("stream") in ("text", "session"):
            return LIVE
        if exchange.fault is not None and not (exchange.fault.told or (exchange.fault.served and not exchange.is_read)):
            return UNTOLD if exchange.fault.served else UNSERVED
        if exchange.code == 304:
            return CACHED
        if exchange.code == 401:
            return UNKNOWN
        if "spec.nodeName" in info.field_selector:
            return NOT_OURS
        if not exchange.is_read and (info.resource in self._hooked or "*" in self._hooked):
            return HOOKED
        if info.name and (info.resource, info.namespace, info.name) in self._missing:
            return NOT_MADE
        if "bodyBase64" in line or _is_binary(str((line.get("headers") or {}).get("content-type"))):
            return BYTES
        if line.get("masked") and not exchange.is_read:
            return MASKED
        place = exchange.path.removeprefix("/openapi/v3")
        group = place.split("/")[2] if place.startswith("/apis/") else ""
        if group and exchange.code < 400 and self._groups is not None and group not in (*self._groups, *self._defined):
            return NOT_SERVED
        if not info.is_resource:
            return "" if exchange.is_read else NOT_OURS
        if (info.group, info.resource) in self._undefined:
            return NOT_MADE
        if info.resource == NAMESPACES:
            return self._of_namespace(exchange)
        if info.namespace:
            return SYSTEM_NAMESPACE if info.namespace in SYSTEM else ""
        return self._without_namespace(exchange)

    def _of_namespace(self, exchange: Exchange) -> str:
        info = exchange.info
        if info.verb == "create":
            if exchange.code < 300 and (name := _name_in(exchange.answer)) and not exchange.query.get("dryRun"):
                self.created[name] = None
            return ""
        if info.name in SYSTEM or (info.name == "default" and not exchange.is_read):
            return SYSTEM_NAMESPACE
        return NOT_OURS if info.verb == "deletecollection" else ""

    def _without_namespace(self, exchange: Exchange) -> str:
        info = exchange.info
        if info.group in REVIEW_GROUPS:
            return "" if "RBAC" in (self._facts.get("authorizationMode") or ()) else EVERYBODY
        if info.verb in ("list", "watch") and _is_namespaced(exchange):
            return NOT_OURS if exchange.query.get("limit") or exchange.query.get("continue") else ""
        known = (info.resource, info.name) in self.objects
        if info.resource in FOR_ALL and not exchange.is_read:
            self._hooked |= dict.fromkeys(_hooked_resources(exchange.answer))
            return SAYS_FOR_ALL
        if exchange.is_read:
            return "" if known else NOT_OURS
        if self._cluster_scoped and not self._alone and (_is_noticed(exchange) or self._is_others(info.group)):
            return NOTICED_BY_OTHERS
        if info.verb == "create":
            return self._creation(exchange)
        if info.verb == "patch" and not known and exchange.code == 201:  # server-side apply creates, too
            return self._creation(exchange)
        return "" if known else NOT_OURS

    def _is_others(self, group: str) -> bool:
        """Whether somebody else's controllers serve the custom kinds of a group."""
        return "." in group and not group.endswith(".k8s.io") and group not in self._defined

    def _creation(self, exchange: Exchange) -> str:
        info, name = exchange.info, _name_in(exchange.answer) or exchange.info.name
        spec = _tree(_tree(exchange.answer).get("spec"))
        if info.resource == DEFINITIONS:
            group = str(spec.get("group"))
            if self._cluster_scoped:
                self._defined[group] = None
            else:
                self._undefined[group, str(_tree(spec.get("names")).get("plural"))] = None
        if not self._cluster_scoped:
            return CLUSTER_SCOPED
        if exchange.code < 300:
            self.objects[info.resource, name] = None
        return ""


def _is_noticed(exchange: Exchange) -> bool:
    """Whether an object without a namespace changes what others get or may do."""
    tree, info = _tree(exchange.answer), exchange.info
    if exchange.code >= 300 or exchange.method == "DELETE":
        return False
    metadata = metadata_of(tree)
    named = [*_tree(metadata.get("annotations")).items(), *_tree(metadata.get("labels")).items()]
    if any(value == "true" and (key.endswith(DEFAULT_CLASS) or key.startswith(AGGREGATED)) for key, value in named):
        return True
    if info.resource == "clusterrolebindings":
        return any(_tree(subject).get("kind") != "ServiceAccount" for subject in _items(tree, "subjects"))
    return info.resource in NOTICED or bool(tree.get("globalDefault"))


def _leave_out_looks(steps: list[Step]) -> None:
    """Of equal looks between two writes only the last is played: a test that polls saw it all. One
    from which the test took a name that it asked for stays, too.
    """
    seen: dict[tuple[str, ...], None] = {}
    asked_for: dict[str, None] = {}
    for step in reversed(steps):
        exchange = step.exchange
        if step.reason:
            continue
        if not exchange.is_read:
            seen.clear()
            continue
        if exchange.is_watch:
            continue
        look = (str(exchange), str((exchange.line.get("headers") or {}).get("accept")), str(exchange.line.get("user")))
        told = [name for name in _made_up(exchange.answer) if name in asked_for]
        for name in told:
            del asked_for[name]
        if look in seen and not told:
            step.reason = LATER
        seen[look] = None
        asked_for[exchange.info.name] = None


def _made_up(answer: Any) -> Iterator[str]:
    """The names in a list that controllers may have made up."""
    for item in _items(_tree(answer), "items", "rows"):
        metadata = metadata_of(item)
        if "ownerReferences" in metadata or "generateName" in metadata:
            yield str(metadata.get("name"))


def _hooked_resources(configuration: Any) -> Iterator[str]:
    """The resources that the webhooks of a configuration are asked about."""
    for webhook in _items(_tree(configuration), "webhooks"):
        for rule in _items(_tree(webhook), "rules"):
            yield from (str(resource).partition("/")[0] for resource in _items(_tree(rule), "resources"))


def _tree(value: Any) -> Tree:
    return value if isinstance(value, dict) else {}


def _items(tree: Tree, *fields: str) -> list[Any]:
    """What the first of some fields has that is a list which is not empty."""
    return next((tree[field] for field in fields if isinstance(tree.get(field), list) and tree[field]), [])


def _is_binary(content_type: str) -> bool:
    return "protobuf" in content_type or "cbor" in content_type


def _name_in(answer: Any) -> str:
    return str(metadata_of(answer).get("name", "")) if _tree(answer).get("kind") != "Status" else ""


def _is_namespaced(exchange: Exchange) -> bool:
    """Whether a list or a watch of all namespaces shows objects that have one."""
    items = _items(_tree(exchange.answer), "items", "rows")
    items = items + [told.event.get("object") for told in exchange.told if isinstance(told.event, dict)]
    for item in items:
        if (metadata := metadata_of(item)).get("name"):
            return "namespace" in metadata
    return False
