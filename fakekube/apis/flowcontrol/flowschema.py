"""FlowSchema: which requests are of one kind.

Upstream: pkg/apis/flowcontrol/{v1/defaults.go,validation}. Left out: that the mandatory ones must
not change; nothing is queued here.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.base import StatusStrategy
from fakekube.apis.checks import ruled
from fakekube.registry.strategy import WriteContext

DEFAULT_PRECEDENCE, MAX_PRECEDENCE = 1000, 10000
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
NAMESPACE = "each member of this list must be '*' or a DNS-1123 label; "
SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}


class FlowSchemaStrategy(StatusStrategy):
    """What is particular to FlowSchemas."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """In the middle of the order."""
        spec = obj.setdefault("spec", {})
        if not spec.get("matchingPrecedence"):
            spec["matchingPrecedence"] = DEFAULT_PRECEDENCE

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The order, the level and the rules."""
        spec = obj["spec"]
        found = _precedence(spec["matchingPrecedence"], obj["metadata"].get("name", ""))
        method = (spec.get("distinguisherMethod") or {}).get("type")
        if method is not None and method not in ("ByNamespace", "ByUser"):
            path = "spec.distinguisherMethod.type"
            # printed as upstream's internal type, whose field has no name of its own in JSON
            found.append(not_supported(path, {"Type": method}, ("ByNamespace", "ByUser")))
        level = (spec.get("priorityLevelConfiguration") or {}).get("name", "")
        path = "spec.priorityLevelConfiguration.name"
        if level:
            found += ruled(path, level, names.dns1123_subdomain)
        else:
            found.append(required(path, "must reference a priority level"))
        for number, rule in enumerate(spec.get("rules") or ()):
            found += _rule(index("spec.rules", number), rule)
        return found


def _precedence(value: int, name: str) -> list[FieldError]:
    path = "spec.matchingPrecedence"
    found = []
    if value <= 0:
        found.append(invalid(path, value, "must be a positive value"))
    if value > MAX_PRECEDENCE:
        found.append(invalid(path, value, f"must not be greater than {MAX_PRECEDENCE}"))
    if value == 1 and name != "exempt":
        found.append(invalid(path, value, "only the schema named 'exempt' may have matchingPrecedence 1"))
    return found


def _rule(path: str, rule: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    if not rule.get("subjects"):
        found.append(required(child(path, "subjects"), "subjects must contain at least one value"))
    for number, subject in enumerate(rule.get("subjects") or ()):
        found += _subject(index(child(path, "subjects"), number), subject)
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        found.append(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"))
    for number, each in enumerate(rule.get("resourceRules") or ()):
        found += _resources(index(child(path, "resourceRules"), number), each)
    for number, each in enumerate(rule.get("nonResourceRules") or ()):
        where = index(child(path, "nonResourceRules"), number)
        found += _verbs(where, each)
        found += _urls(where, each)
    return found


def _verbs(path: str, rule: Tree) -> list[FieldError]:
    """One error for all verbs of a list that has an unknown one."""
    found = _values(path, rule, "verbs", "verbs must contain at least one value", "verbs")
    verbs = rule.get("verbs") or []
    if found or "*" in verbs or all(verb in VERBS for verb in verbs):
        return found
    return [not_supported(child(path, "verbs"), verbs, VERBS)]


def _urls(path: str, rule: Tree) -> list[FieldError]:
    text = "nonResourceURLs must contain at least one value"
    found = _values(path, rule, "nonResourceURLs", text, "non-resource URLs")
    urls = rule.get("nonResourceURLs") or []
    if found or "*" in urls:
        return found
    where = child(path, "nonResourceURLs")
    texts = [(number, url, _url(url)) for number, url in enumerate(urls)]
    return [invalid(index(where, number), url, text) for number, url, text in texts if text]


def _url(url: str) -> str:
    """What is wrong with a path; the first thing only."""
    if url == "/":
        return ""
    wildcards = url.count("*")
    for wrong, text in (
        (not url, "must not be empty"),
        (not url.startswith("/"), "must start with slash"),
        (" " in url, "must not contain white-space"),
        ("//" in url, "must not contain double slash"),
        (wildcards > 1 or (wildcards == 1 and not url.endswith("/*")), "wildcard can only do suffix matching"),
    ):
        if wrong:
            return text
    return ""


def _values(path: str, rule: Tree, name: str, missing: str, words: str) -> list[FieldError]:
    values = rule.get(name) or []
    if not values:
        return [required(child(path, name), missing)]
    if len(values) > 1 and "*" in values:
        return [invalid(child(path, name), values, f"if '*' is present, must not specify other {words}")]
    return []


def _resources(path: str, rule: Tree) -> list[FieldError]:
    found = _verbs(path, rule)
    found += _values(path, rule, "apiGroups", "resource rules must supply at least one api group", "api groups")
    found += _values(path, rule, "resources", "resource rules must supply at least one resource", "resources")
    text = "resource rules that are not cluster scoped must supply at least one namespace"
    if rule.get("namespaces") or not rule.get("clusterScope"):
        wrong = _values(path, rule, "namespaces", text, "namespaces")
        found += wrong or _namespaces(child(path, "namespaces"), rule.get("namespaces") or [])
    return found


def _namespaces(path: str, namespaces: list[str]) -> list[FieldError]:
    if "*" in namespaces:
        return []
    return [
        invalid(index(path, number), name, NAMESPACE + text)
        for number, name in enumerate(namespaces) for text in names.dns1123_label(name)]


def _subject(path: str, subject: Tree) -> list[FieldError]:
    kind = subject.get("kind", "")
    if kind not in SUBJECTS:
        return [not_supported(child(path, "kind"), kind, SUBJECTS)]
    wanted = SUBJECTS[kind]
    found: list[FieldError] = []
    if wanted not in subject:
        found.append(required(child(path, wanted), f"{wanted} is required when subject kind is '{kind}'"))
    else:
        found += _names(child(path, wanted), kind, subject[wanted])
    for other, name in SUBJECTS.items():
        if other != kind and name in subject:
            found.append(forbidden(child(path, name), f"{name} is forbidden when subject kind is not '{other}'"))
    return found


def _names(path: str, kind: str, named: Tree) -> list[FieldError]:
    """Names of users and groups are free; a service account may be any of its namespace's."""
    name, namespace = named.get("name", ""), named.get("namespace", "")
    found = [] if name else [required(child(path, "name"))]
    if kind != "ServiceAccount":
        return found
    if name and name != "*":
        found += ruled(child(path, "name"), name, names.dns1123_subdomain)
    if namespace:
        return found + ruled(child(path, "namespace"), namespace, names.dns1123_label)
    return [*found, required(child(path, "namespace"), "must specify namespace for service account")]


STRATEGY = FlowSchemaStrategy()
