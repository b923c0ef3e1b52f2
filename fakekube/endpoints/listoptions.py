"""The options of lists and watches: read from the query, checked, and worded as upstream words what
is wrong with them.

Upstream: apimachinery/pkg/apis/meta/internalversion (defaults, validation) and handlers/get.go
(listOpts). Left out: sharded lists, whose gate is off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fakekube.apimachinery import errors, field_errors, fields, labels, strconv
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.gvk import GroupKind
from fakekube.endpoints.options import parse_int
from fakekube.registry.kind import Kind

EXACT, NOT_OLDER_THAN = "Exact", "NotOlderThan"
METADATA_LABELS = ("metadata.name", "metadata.namespace")

Query = Mapping[str, list[str]]
LabelSelector: TypeAlias = labels.Selector  # the class below has fields of these names
FieldSelector: TypeAlias = fields.Selector


@dataclass(slots=True, eq=False)
class ListOptions:
    """What a list or a watch was asked with.

    A selector is None when it selects everything. ``limit`` is 0 for the whole list.
    ``timeout_seconds`` is None when not given. ``send_initial_events`` is None when neither asked
    for nor implied.
    """

    labels: LabelSelector | None = None
    fields: FieldSelector | None = None
    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""
    timeout_seconds: int | None = None
    allow_bookmarks: bool = False
    send_initial_events: bool | None = None

    @property
    def selects_all(self) -> bool:
        """Whether no selector narrows the list."""
        return self.labels is None and self.fields is None

    def exact_field(self, label: str) -> str | None:
        """The one text that a field may have by the field selector, or None."""
        return self.fields.exact(label) if self.fields is not None else None

    def narrowest_field(self) -> tuple[str, str] | None:
        """A field, metadata's aside, and the one text that it may have; None when there is no such
        field.
        """
        for term in self.fields.terms if self.fields is not None else ():
            if term.equal and term.value and term.field not in METADATA_LABELS:
                return term.field, term.value
        return None


def parse_list_options(
    query: Query, kind: Kind, *, watch: bool, name: str = "", watch_list: bool = True,
) -> ListOptions:
    """The options of a list, or of a watch.

    ``name`` is the one object that a path of the old form (``/watch/.../name``) confines a watch
    to. ``watch_list`` is the feature gate WatchList. Raises APIError: 400 for what cannot be read,
    422 for what cannot go together.
    """
    if not query and not watch and not name:
        return ListOptions()
    timeout, limit = query.get("timeoutSeconds"), query.get("limit")
    options = ListOptions(
        resource_version=_text(query, "resourceVersion"),
        resource_version_match=_text(query, "resourceVersionMatch"),
        timeout_seconds=parse_int(timeout[0]) if timeout else None,
        limit=max(0, parse_int(limit[0])) if limit else 0,
        continue_token=_text(query, "continue"),
        allow_bookmarks=_flag(query, "allowWatchBookmarks") is True,
        send_initial_events=_flag(query, "sendInitialEvents"),
    )
    if text := _text(query, "labelSelector"):
        options.labels = _parse_labels(text)
    if text := _text(query, "fieldSelector"):
        options.fields = _parse_fields(text)
    if watch:
        _default_watch(options, watch_list)
        found = _watch_errors(options, watch_list)
    else:
        found = _list_errors(options)
    if found:
        raise errors.invalid(GroupKind("meta.k8s.io", "ListOptions"), "", found)
    if options.fields is not None:
        options.fields = options.fields.transformed(lambda label, value: (field_label(kind, label), value))
    if name:
        _confine(options, name)
    return options


def parse_resource_version(text: str) -> int:
    """A resourceVersion; empty and "0" are 0.

    Raises the 500 that GET and watch answer when it is no number.
    """
    if text in ("", "0"):
        return 0
    try:
        return strconv.parse_uint(text)
    except strconv.NumberError as error:
        raise errors.raw(str(field_errors.invalid("resourceVersion", text, str(error)))) from None


def field_label(kind: Kind, label: str) -> str:
    """The name by which the storage knows a field label.

    Raises 400 for a label that the kind does not have.
    """
    selectable = kind.selectable
    if label in selectable.aliases:
        return selectable.aliases[label]
    # Kinds with labels of their own say which of metadata's they know: without a namespace, only
    # the name.
    nowhere = label == "metadata.namespace" and (selectable.labels or kind.custom) and not kind.namespaced
    if label in selectable.labels or (label in METADATA_LABELS and not nowhere):
        return label
    text = selectable.unknown or "field label not supported: {label}"
    raise errors.bad_request(text.replace("{label}", label))


def _text(query: Query, name: str) -> str:
    values = query.get(name)
    return values[0] if values else ""


def _flag(query: Query, name: str) -> bool | None:
    values = query.get(name)
    return values[0] != "0" and values[0].lower() != "false" if values else None


def _parse_labels(text: str) -> labels.Selector | None:
    try:
        selector = labels.parse(text)
    except ValueError as error:
        raise errors.bad_request(str(error)) from None
    return None if selector.empty else selector


def _parse_fields(text: str) -> fields.Selector | None:
    try:
        selector = fields.parse(text)
    except ValueError as error:
        raise errors.bad_request(str(error)) from None
    return None if selector.empty else selector


def _confine(options: ListOptions, name: str) -> None:
    if options.fields is None:
        options.fields = fields.Selector((fields.Term("metadata.name", name),))
    elif options.exact_field("metadata.name") != name:
        raise errors.bad_request("fieldSelector metadata.name doesn't match requested name")


def _default_watch(options: ListOptions, watch_list: bool) -> None:
    """A watch that begins with what is there is a watch-list, whether or not it says so."""
    unset = options.send_initial_events is None and not options.resource_version_match
    if watch_list and unset and options.resource_version in ("", "0"):
        options.send_initial_events, options.resource_version_match = True, NOT_OLDER_THAN


def _list_errors(options: ListOptions) -> list[FieldError]:
    found, match = [], options.resource_version_match
    if match:
        found += _match_errors(options, (EXACT, NOT_OLDER_THAN, ""))
    if options.send_initial_events is not None:
        found.append(field_errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return found


def _match_errors(options: ListOptions, supported: tuple[str, ...]) -> list[FieldError]:
    path, match, found = "resourceVersionMatch", options.resource_version_match, []
    if not options.resource_version:
        found.append(field_errors.forbidden(path, f"{path} is forbidden unless resourceVersion is provided"))
    if options.continue_token:
        found.append(field_errors.forbidden(path, f"{path} is forbidden when continue is provided"))
    if match not in supported:
        found.append(field_errors.not_supported(path, match, supported))
    if match == EXACT and options.resource_version == "0":
        found.append(field_errors.forbidden(path, f'{path} "exact" is forbidden for resourceVersion "0"'))
    return found


def _watch_errors(options: ListOptions, watch_list: bool) -> list[FieldError]:
    path, match, found = "resourceVersionMatch", options.resource_version_match, []
    if options.send_initial_events is not None:
        if match != NOT_OLDER_THAN:
            found.append(field_errors.forbidden(path, f"sendInitialEvents requires setting {path} to {NOT_OLDER_THAN}"))
        if not watch_list:
            found.append(field_errors.forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"))
    if match:
        if options.send_initial_events is None:
            detail = f"{path} is forbidden for watch unless sendInitialEvents is provided"
            found.append(field_errors.forbidden(path, detail))
        if match != NOT_OLDER_THAN:
            found.append(field_errors.not_supported(path, match, (NOT_OLDER_THAN,)))
        if options.continue_token:
            found.append(field_errors.forbidden(path, f"{path} is forbidden when continue is provided"))
    return found
