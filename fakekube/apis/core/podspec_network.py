"""What is wrong with the names and addresses that a pod asks for.

Upstream: validatePodHostNetworkDeps, validatePodDNSConfig, validatePodHostName in
pkg/apis/core/validation/validation.go.
"""

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import legacy_ip

MAX_NAMESERVERS = 3
MAX_SEARCHES = 32
MAX_SEARCH_LENGTH = 2048
MAX_HOSTNAME_LENGTH = 64
UNDERSCORE_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
UNDERSCORE_SUBDOMAIN = rf"{UNDERSCORE_LABEL}(\.{UNDERSCORE_LABEL})*"


def validate_host_network(spec: Tree, path: str, *, is_pod: bool) -> list[FieldError]:
    """On the host's network every port of a container is that of the host."""
    found: list[FieldError] = []
    what = "must match `containerPort` when `hostNetwork` is true"
    for position, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports", ())):
            host_port = port.get("hostPort", 0)
            if (is_pod or host_port) and host_port != port.get("containerPort", 0):
                here = f"{path}.containers[{position}].ports[{number}].hostPort"
                found.append(field_errors.invalid(here, host_port, what))
    return found


def validate_dns_config(spec: Tree, path: str) -> list[FieldError]:
    """A pod's own DNS settings, which the policy None cannot do without."""
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [field_errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            what = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [field_errors.required(f"{path}.nameservers", what)]
    found: list[FieldError] = []
    settings = config or {}
    servers, searches = settings.get("nameservers", []), settings.get("searches", [])
    if len(servers) > MAX_NAMESERVERS:
        what = f"must not have more than {MAX_NAMESERVERS} nameservers"
        found.append(field_errors.invalid(f"{path}.nameservers", servers, what))
    for position, server in enumerate(servers):
        found += legacy_ip(f"{path}.nameservers[{position}]", server, strict=True)
    if len(searches) > MAX_SEARCHES:
        what = f"must not have more than {MAX_SEARCHES} search paths"
        found.append(field_errors.invalid(f"{path}.searches", searches, what))
    if len(" ".join(searches)) > MAX_SEARCH_LENGTH:
        what = f"must not have more than {MAX_SEARCH_LENGTH} characters (including spaces) in the search list"
        found.append(field_errors.invalid(f"{path}.searches", searches, what))
    for position, search in enumerate(searches):
        if search != ".":
            text = search.removesuffix(".")
            found += complaints(f"{path}.searches[{position}]", text, _search_domain(text))
    for position, option in enumerate(settings.get("options", ())):
        if not option.get("name"):
            found.append(field_errors.required(f"{path}.options[{position}]", "must not be empty"))
    return found


def _search_domain(text: str) -> list[str]:
    """A domain name in which underscores are fine."""
    found = [names.too_long(names.MAX_SUBDOMAIN_LENGTH)] if len(text) > names.MAX_SUBDOMAIN_LENGTH else []
    if not names.matches(UNDERSCORE_SUBDOMAIN, text):
        what = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
            + names.ALPHANUMERIC_ENDS
        )
        found.append(names.mismatch(what, UNDERSCORE_SUBDOMAIN, "example.com"))
    return found


def validate_hostname(spec: Tree, path: str) -> list[FieldError]:
    """The hostname that overrides the pod's own."""
    name = spec["hostnameOverride"]
    found = [
        field_errors.forbidden(path, f"may not be specified when {field} is true")
        for field in ("setHostnameAsFQDN", "hostNetwork") if spec.get(field)
    ]
    if len(name) > MAX_HOSTNAME_LENGTH:
        found.append(field_errors.too_long(path, MAX_HOSTNAME_LENGTH))
    return found + complaints(path, name, names.dns1123_subdomain(name))
