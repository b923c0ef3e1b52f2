"""Which requests a rule is about.

The form of a request (verb, group, resource, subresource) decides first, and the answer for a form
is kept: a request that no rule is about costs one look. Names are looked at next, who asks last.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import orjson

from fakekube.apimachinery import labels
from fakekube.apimachinery.causes import ACTING
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.versions import version_named
from fakekube.faults.globs import Globs
from fakekube.faults.rules import LEASES, Rule

ANY = "*"
HEALTH = ("healthz", "livez", "readyz")
"""What asks whether a server lives is let through by one that is overloaded, too."""
UNSTORED_SUBRESOURCES = ("attach", "exec", "portforward", "proxy", "token")
UNSTORED_GROUPS = ("authentication.k8s.io", "authorization.k8s.io")
"""Creations of these ask a question, and nothing is stored."""
Form = tuple[str, str, str, str]
"""Verb, group, resource and subresource; a path that names no resource has none of the last."""
LabelsOf = Callable[[GroupResource, str, str], Mapping[str, str] | None]
"""The labels of an object that is stored, None where there is none."""


class Wanted(NamedTuple):
    """A resource as rules name it; None for a group that is not said."""

    resource: str
    group: str | None
    subresource: str

    @classmethod
    def of(cls, text: str) -> "Wanted":
        """``jobs``, ``jobs.batch``, ``pods/status``, ``pods/*``, ``*``, ``*/*``."""
        name, _, subresource = text.partition("/")
        resource, dot, group = name.partition(".")
        return cls(resource, group if dot else None, subresource)

    def matches(self, group: str, resource: str, subresource: str) -> bool:
        """Whether a request is about it. ``pods/*`` are all subresources, ``*/*`` is everything."""
        if self.resource not in (ANY, resource) or (self.group is not None and self.group != group):
            return False
        if self.subresource == ANY:
            return bool(subresource) or self.resource == ANY
        return self.subresource == subresource


def is_about_cluster(rule: Rule, name: str) -> bool:
    """Whether a rule holds in the member of a fleet of that name; empty for a cluster alone."""
    return not rule.clusters or Globs(rule.clusters).fit(name)


class Matcher:
    """Tells of requests whether a rule is about them. ``is_here`` is whether it is about any in
    this cluster, ``cluster`` that one's name in its fleet.
    """

    def __init__(self, rule: Rule, labels_of: LabelsOf, cluster: str = "") -> None:
        self.rule, self._labels_of = rule, labels_of
        self.is_here = is_about_cluster(rule, cluster)
        self._resources = [Wanted.of(text) for text in rule.resources]
        self._verbs = rule.all_verbs
        self._selector = labels.parse(rule.labels) if rule.labels else None
        self._names_objects = bool(rule.names or rule.labels)
        self._namespaces, self._names, self._users = Globs(rule.namespaces), Globs(rule.names), Globs(rule.users)
        self._user_agents, self._components = Globs(rule.user_agents), Globs(rule.components)
        self._paths = Globs(rule.paths)

    def is_about(self, form: Form) -> bool:
        """Whether requests of a form may be meant."""
        verb, group, resource, subresource = form
        if not self.is_here:
            return False
        if not resource:
            rule = self.rule
            if self._resources or self._names_objects or rule.namespaces or not rule.is_about_any_path:
                return False
            return not rule.verbs or (bool(rule.paths) and verb in self._verbs)
        if self.rule.error == "EtcdNoSpace" and (group in UNSTORED_GROUPS or subresource in UNSTORED_SUBRESOURCES):
            return False
        if self.rule.lose_lease and (group, resource, subresource) != (*LEASES, ""):
            return False
        return verb in self._verbs and (
            not self._resources or any(one.matches(group, resource, subresource) for one in self._resources))

    def is_about_call(self, name: str) -> bool:
        """Whether calls of a webhook of that name are meant."""
        return self.is_here and (not self.rule.names or self._names.fit(name))

    def is_about_asked(self, info: RequestInfo, user: str, user_agent: str) -> bool:
        """Whether requests of such a form for that namespace and name, by that user and agent, may
        be meant.
        """
        rule = self.rule
        if rule.paths:
            if not self._paths.fit(info.path):
                return False
        elif not info.is_resource and info.path.strip("/").split("/", 1)[0] in HEALTH:
            return False
        return (not rule.namespaces or self._namespaces.fit(info.namespace)) and \
            (not rule.names or not info.name or self._names.fit(info.name)) and \
            (not rule.users or self._users.fit(user)) and (not rule.user_agents or self._user_agents.fit(user_agent))

    def matches(self, info: RequestInfo, request: Request) -> bool:
        """Whether a request of such a form is meant."""
        rule = self.rule
        user = request.user.name if request.user is not None else ""
        if not self.is_about_asked(info, user, request.headers.get("user-agent", "")):
            return False
        if rule.components:
            acting = ACTING.get()
            if acting is None or not self._components.fit(acting.component):
                return False
        if rule.error == "EtcdNoSpace" and request.param("dryRun"):
            return False
        if self._names_objects and not self._matches_object(info, request):
            return False
        return rule.error != "Conflict" or bool(version_named(info, request))

    def _matches_object(self, info: RequestInfo, request: Request) -> bool:
        sent = _metadata(request.body) if info.verb == "create" and not info.name else {}
        name = info.name or str(sent.get("name") or sent.get("generateName") or "")
        if self.rule.names and not self._names.fit(name):
            return False
        if self._selector is None:
            return True
        known = self._labels_of(GroupResource(info.group, info.resource), info.namespace, info.name) if info.name else None
        if known is None and info.verb in ("create", "update", "patch"):
            known = (sent or _metadata(request.body)).get("labels") or {}
        return isinstance(known, Mapping) and self._selector.matches(known)


def _metadata(body: bytes) -> ReadOnlyTree:
    """The metadata of an object in JSON; empty where there is none."""
    try:
        tree = orjson.loads(body) if body else None
    except orjson.JSONDecodeError:
        return {}
    metadata = tree.get("metadata") if isinstance(tree, dict) else None
    return metadata if isinstance(metadata, dict) else {}
