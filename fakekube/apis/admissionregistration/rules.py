"""What webhooks and admission policies match: rules of resources and operations, selectors,
conditions, addresses.

Upstream: pkg/apis/admissionregistration/{v1/defaults.go,validation},
apiserver/pkg/util/webhook/validation.go.
"""

from fakekube.apimachinery import gourl, names
from fakekube.apimachinery.field_errors import FieldError, child, duplicate, index, invalid, required, too_many
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import label_selector, one_of
from fakekube.apis.admissionregistration.expressions import Expressions
from fakekube.apis.checks import ruled

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
FAILURE_POLICIES, MATCH_POLICIES = ("Fail", "Ignore"), ("Equivalent", "Exact")
REINVOCATION_POLICIES = ("IfNeeded", "Never")
URL_FORM = "; desired format: https://host[/path]"
MAX_CONDITIONS = 64


def default_match(match: Tree) -> None:
    """The policy, selectors and scopes of what a policy or a webhook matches."""
    match.setdefault("matchPolicy", "Equivalent")
    for name in ("namespaceSelector", "objectSelector"):
        match.setdefault(name, {})
    for name in ("rules", "resourceRules", "excludeResourceRules"):
        for rule in match.get(name) or ():
            rule.setdefault("scope", "*")


def rule_errors(path: str, rule: Tree) -> list[FieldError]:
    """One rule: operations, groups, versions, resources, scope."""
    found: list[FieldError] = []
    operations = rule.get("operations") or []
    if not operations:
        found.append(required(child(path, "operations")))
    if len(operations) > 1 and "*" in operations:
        text = "if '*' is present, must not specify other operations"
        found.append(invalid(child(path, "operations"), operations, text))
    for number, operation in enumerate(operations):
        found += one_of(index(child(path, "operations"), number), operation, OPERATIONS)
    for name, words in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values, where = rule.get(name) or [], child(path, name)
        if not values:
            found.append(required(where))
        if len(values) > 1 and "*" in values:
            found.append(invalid(where, values, f"if '*' is present, must not specify other {words}"))
        if name == "apiVersions":
            found += [required(index(where, number)) for number, value in enumerate(values) if not value]
    found += _resources(child(path, "resources"), rule.get("resources") or [])
    if "scope" in rule:
        found += one_of(child(path, "scope"), rule["scope"], SCOPES)
    return found


def _resources(path: str, resources: list[str]) -> list[FieldError]:
    found = [] if resources else [required(path)]
    whole: list[str] = []  # x of x/*
    every: list[str] = []  # x of */x
    for number, text in enumerate(resources):
        where = index(path, number)
        if not text:
            found.append(required(where))
        resource, slash, subresource = text.partition("/")
        if not slash:
            continue
        if resource in whole:
            found.append(invalid(where, text, f"if '{resource}/*' is present, must not specify {text}"))
        if subresource in every:
            found.append(invalid(where, text, f"if '*/{subresource}' is present, must not specify {text}"))
        if subresource == "*":
            whole.append(resource)
        if resource == "*":
            every.append(subresource)
    if len(resources) > 1 and "*/*" in resources:
        found.append(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    plain = [text for text in resources if text and "/" not in text]
    if "*" in plain and plain[-1] != "*":  # upstream looks at the last one alone
        text = "if '*' is present, must not specify other resources without subresources"
        found.append(invalid(path, resources, text))
    return found


def match_errors(path: str, match: Tree) -> list[FieldError]:
    """What an admission policy or its binding matches."""
    found = one_of(child(path, "matchPolicy"), match.get("matchPolicy", ""), MATCH_POLICIES)
    for name in ("namespaceSelector", "objectSelector"):
        found += label_selector(match.get(name), child(path, name))
    for name in ("resourceRules", "excludeResourceRules"):
        for number, rule in enumerate(match.get(name) or ()):
            where = index(child(path, name), number)
            seen: set[str] = set()
            for each, text in enumerate(rule.get("resourceNames") or ()):
                found += ruled(index(child(where, "resourceNames"), each), text, names.path_segment)
                if text in seen:
                    found.append(duplicate(index(child(where, "resourceNames"), each), text))
                seen.add(text)
            found += rule_errors(where, rule)
    return found


def condition_errors(path: str, conditions: list[Tree], expressions: Expressions) -> list[FieldError]:
    """The names of match conditions, and that they say something."""
    found = [too_many(path, len(conditions), MAX_CONDITIONS)] if len(conditions) > MAX_CONDITIONS else []
    seen: set[str] = set()
    for number, condition in enumerate(conditions):
        where, name = index(path, number), condition.get("name", "")
        if not condition.get("expression", "").strip():
            found.append(required(child(where, "expression")))
        else:
            found += expressions.condition(child(where, "expression"), condition["expression"])
        found += ruled(child(where, "name"), name, names.qualified_name) if name else [required(child(where, "name"))]
        if name and name in seen:
            found.append(duplicate(child(where, "name"), name))
        seen.add(name)
    return found


def client_errors(path: str, client: Tree) -> list[FieldError]:
    """Where a webhook is: a URL or a service."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if url is not None:
        return url_errors(child(path, "url"), url)
    return service_errors(child(path, "service"), service or {})


def url_errors(path: str, url: str) -> list[FieldError]:
    """An https URL without anything but host and path."""
    try:
        parts = gourl.parse(url)
    except gourl.URLError as error:
        return [required(path, f"url must be a valid URL: {error}{URL_FORM}")]
    found = []
    if parts.scheme != b"https":
        found.append(invalid(path, gourl.decode(parts.scheme), f"'https' is the only allowed URL scheme{URL_FORM}"))
    if not parts.host:
        found.append(invalid(path, "", f"host must be specified{URL_FORM}"))
    if parts.user is not None:
        found.append(invalid(path, gourl.decode(parts.user), "user information is not permitted in the URL"))
    if parts.fragment:
        found.append(invalid(path, gourl.decode(parts.fragment), "fragments are not permitted in the URL"))
    if parts.raw_query:
        found.append(invalid(path, gourl.decode(parts.raw_query), "query parameters are not permitted in the URL"))
    return found


def service_errors(path: str, service: Tree) -> list[FieldError]:
    """A service, its port and the path of the webhook in it.

    Upstream takes name and namespace for each other.
    """
    swapped = (("name", "namespace"), ("namespace", "name"))
    found = [required(child(path, told)) for told, name in swapped if not service.get(name)]
    port = service.get("port", 0)
    if texts := names.port_number(port):
        found.append(invalid(child(path, "port"), port, f"port is not valid: {', '.join(texts)}"))
    text, where = service.get("path", ""), child(path, "path")
    if text in ("", "/"):
        return found
    if text == "//":
        return [*found, invalid(where, text, "segment[0] may not be empty")]
    if not text.startswith("/"):
        found.append(invalid(where, text, "must start with a '/'"))
    for number, segment in enumerate(text[1:].removesuffix("/").split("/")):
        if not segment:
            found.append(invalid(where, text, f"segment[{number}] may not be empty"))
            continue
        found += [invalid(where, text, f"segment[{number}]: {each}") for each in names.dns1123_subdomain(segment)]
    return found
