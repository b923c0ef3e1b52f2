"""Checks that kinds outside of pods and workloads share, besides those of
apimachinery/validation.py.

Each gives the complaints about one value at one path. Upstream: apimachinery/pkg/util/validation
and the helpers in kubernetes/pkg/apis/core/validation.
"""

from collections.abc import Callable

from fakekube.apimachinery import names, quantity
from fakekube.apimachinery.empties import NoItems
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    declared,
    forbidden,
    go_quote,
    invalid,
    not_supported,
    required,
    too_long,
)
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE, NEGATIVE, annotations, labels

Rule = Callable[[str], list[str]]
PROTOCOLS = ("SCTP", "TCP", "UDP")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
MAX_SIGNER_LENGTH = 2 * names.MAX_SUBDOMAIN_LENGTH + names.MAX_LABEL_LENGTH + 2
# In the order in which upstream's structure has them.
FORBIDDEN_METADATA = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields",
)


def ruled(path: str, value: str, rule: Rule) -> list[FieldError]:
    """Each text of a rule of names.py, as an invalid value."""
    return [invalid(path, value, text) for text in rule(value)]


def port_protocol(path: str, port: Tree) -> list[FieldError]:
    """The protocol of a port; ``path`` is that of the port."""
    protocol = port.get("protocol", "")
    return [] if protocol in PROTOCOLS else [not_supported(child(path, "protocol"), protocol, PROTOCOLS)]


def port_number(path: str, value: int) -> list[FieldError]:
    """A port."""
    return [invalid(path, value, text) for text in names.port_number(value)]


def port_number_or_name(path: str, value: int | str) -> list[FieldError]:
    """A port, or the name of one."""
    if isinstance(value, int):
        return port_number(path, value)
    return ruled(path, value, names.port_name)


def fully_qualified_name(path: str, text: str) -> list[FieldError]:
    """A domain of at least three segments."""
    if not text:
        return [required(path)]
    if texts := names.dns1123_subdomain(text):
        return [invalid(path, text, ",".join(texts))]
    if text.count(".") < 2:
        return [invalid(path, text, "should be a domain with at least three segments separated by dots")]
    return []


def caseless_subdomain(text: str) -> list[str]:
    """What is wrong with ``Example.com``, upper case allowed."""
    found = [names.too_long(names.MAX_SUBDOMAIN_LENGTH)] if len(text) > names.MAX_SUBDOMAIN_LENGTH else []
    if not names.matches(names.DNS1123_SUBDOMAIN, text.lower()):
        what = f"an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', {names.ALPHANUMERIC_ENDS}"
        found.append(names.mismatch(what, names.DNS1123_SUBDOMAIN, "Example.com"))
    return found


def wildcard_subdomain(text: str) -> list[str]:
    """What is wrong with ``*.example.com``."""
    found = [names.too_long(names.MAX_SUBDOMAIN_LENGTH)] if len(text) > names.MAX_SUBDOMAIN_LENGTH else []
    expression = rf"\*\.{names.DNS1123_SUBDOMAIN}"
    if not names.matches(expression, text):
        what = (
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist "
            "of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character")
        found.append(names.mismatch(what, expression, "*.example.com"))
    return found


def signer_name(path: str, text: str) -> list[FieldError]:
    """``example.com/signer-name``."""
    if not text:
        return [required(path)]
    domain, slash, rest = text.partition("/")
    if not slash or "/" in rest:
        return [invalid(path, text, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
    found = [too_long(path, names.MAX_SUBDOMAIN_LENGTH)] if len(domain) > names.MAX_SUBDOMAIN_LENGTH else []
    found += _first_bad_label(path, domain, names.dns1123_label)
    if "." not in domain:
        found.append(invalid(path, domain, "should be a domain with at least two segments separated by dots"))
    found += _first_bad_label(path, rest, names.dns1123_subdomain)
    return found if len(text) <= MAX_SIGNER_LENGTH else [*found, too_long(path, MAX_SIGNER_LENGTH)]


def _first_bad_label(path: str, text: str, rule: Rule) -> list[FieldError]:
    for label in text.split("."):
        if texts := rule(label):
            return [invalid(path, text, f"validating label {go_quote(label)}: {each}") for each in texts]
    return []


def declared_form_of_name(of_metadata: list[FieldError], minor: int) -> list[FieldError]:
    """What is wrong with metadata, for kinds of which a declarative rule looks at the form of the
    name, and since then of no generateName.
    """
    if minor >= DECLARATIVE_SINCE:
        of_metadata = [error for error in of_metadata if error.field != "metadata.generateName"]
    return [
        declared(error._replace(detail=names.in_bytes(error.detail)), before=error)
        if error.field == "metadata.name" and error.type == "Invalid value" else error for error in of_metadata]


def template_metadata(path: str, meta: Tree) -> list[FieldError]:
    """Metadata of what is made from a template, which may have labels and annotations and nothing
    else.
    """
    found: list[FieldError] = []
    if noted := meta.get("annotations"):
        found += annotations(noted, f"{path}.annotations")
    if given := meta.get("labels"):
        found += labels(given, f"{path}.labels")
    return found + [
        forbidden(f"{path}.{'uID' if name == 'uid' else name}", "cannot be set") for name in FORBIDDEN_METADATA
        if meta.get(name) or isinstance(meta.get(name), NoItems)]


def required_name(path: str, value: str, rule: Rule) -> list[FieldError]:
    """A text that must be there and obey a rule."""
    return ruled(path, value, rule) if value else [required(path)]


def quantity_not_negative(path: str, text: str) -> list[FieldError]:
    """An amount of 0 or more."""
    return [] if quantity.parse(text).nano >= 0 else [invalid(path, text, NEGATIVE)]


def quantity_positive(path: str, text: str) -> list[FieldError]:
    """An amount of more than 0."""
    return [] if quantity.parse(text).nano > 0 else [invalid(path, text, "must be greater than zero")]
