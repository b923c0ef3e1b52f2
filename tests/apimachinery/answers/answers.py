"""What the functions that read and write texts and values answer, in one table.

``python -m tests.apimachinery.answers.answers`` writes the answers down again, for review.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from fakekube.apimachinery import (
    ages,
    amounts,
    conditions,
    equality,
    errors,
    field_errors,
    field_names,
    fields,
    gojson,
    gotext,
    gourl,
    gvk,
    intstr,
    jsonpath,
    labels,
    meta,
    names,
    netip,
    origins,
    pod_resources,
    podreferences,
    quantity,
    quotas,
    strconv,
    strfmt,
    times,
)
from fakekube.apimachinery import yaml as go_yaml
from fakekube.apimachinery.gvk import GroupKind, GroupResource
from fakekube.patch import json_patch, merge_patch, strategic_merge
from fakekube.schema import definitions
from fakekube.util import base64url, cron, durations, nesting, treediff

FOLDER = Path(__file__).parent
AFTER = datetime(2026, 1, 31, 23, 58, 30, tzinfo=UTC)
PODS = GroupResource("", "pods")


def _due(text: str) -> list[str]:
    """The next three times, in two zones."""
    schedule, found = cron.parse(text), []
    for zone in ("", "Europe/Berlin"):
        at: datetime | None = AFTER
        for _ in range(3):
            at = cron.next_time(schedule, at, zone) if at is not None else None
            found.append(str(at))
    return found


def _path(text: str) -> list[str]:
    tree = {"a": {"b": [1, "x", None, 2.5, {"c": True}], "d.e": "f", "g": {}}, "n": 12345678901}
    return [jsonpath.text_of(value) for value in jsonpath.compiled(text).find(tree)]


def _selected(text: str) -> list[bool]:
    selector = labels.parse(text)
    return [selector.matches(one) for one in ({}, {"a": "b"}, {"a": "c", "n": "5"}, {"x": "", "n": "-1"})]


def _strategic(tree: Any, patch: Any) -> Any:
    schema = definitions.load("1.37").schema(gvk.GroupVersionKind("", "v1", "Pod"))
    assert schema is not None
    return strategic_merge.apply(tree, patch, schema)


def _quota(resource: str, tree: Any) -> Any:
    group, _, plural = resource.rpartition("/")
    return amounts.texts(quotas.usage(GroupResource(group, plural), tree, in_flight=True))


def _pod(tree: Any) -> list[Any]:
    """What it asks for, its class, and what it refers to."""
    return [
        amounts.texts(pod_resources.quantities(pod_resources.requests(tree))),
        amounts.texts(pod_resources.quantities(pod_resources.limits(tree))), pod_resources.qos_class(tree["spec"]),
        list(podreferences.secret_names(tree)), list(podreferences.config_map_names(tree)),
        list(podreferences.volume_claim_names(tree)), list(podreferences.resource_claim_names(tree))]


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "address": lambda text: str(netip.parse_address(text)),
    "address-is": lambda text: {
        name: getattr(netip.parse_address(text), name) for name in dir(netip.Address) if name.startswith("is_")},
    "prefix": lambda text: [str(netip.parse_prefix(text)), str(netip.parse_prefix(text).masked())],
    "url": lambda text: [str(part) for part in (*gourl.parse(text), gourl.parse(text).hostname, gourl.parse(text).port)],
    "request-uri": lambda text: [str(part) for part in gourl.parse_request_uri(text)],
    "cron": _due,
    "time-zone": cron.is_time_zone,
    "cron-duration": cron.duration,
    "duration": lambda text: [durations.go_nanoseconds(text), durations.text_of(durations.seconds_of(text))],
    "duration-text": lambda seconds: [durations.text_of(seconds), durations.go_text(seconds), ages.human_duration(seconds)],
    "quantity": lambda text: [quantity.canonical(text), list(quantity.parse(text)), quantity.round_up_milli(str(text))],
    "int": strconv.parse_int,
    "uint": strconv.parse_uint,
    "time": lambda text: times.format_time(times.parse_time(text)),
    "micro-time": lambda text: times.format_micro_time(times.parse_micro_time(text)),
    "since": lambda text: ages.since(text, 1767225600),
    "strfmt": lambda text: [
        strfmt.is_uuid(text), strfmt.is_base64(text), strfmt.is_date(text), strfmt.is_date_time(text), strfmt.duration(text)],
    "selector": lambda text: [str(labels.parse(text)), _selected(text)],
    "label-selector": lambda tree: [str(labels.from_label_selector(tree)), labels.go_text(tree)],
    "field-selector": lambda text: str(fields.parse(text)),
    "json": lambda text: gojson.loads(text.encode()),
    "json-clean": lambda text: gojson.clean(text.encode()).decode(),
    "yaml": lambda text: go_yaml.load(text.encode()),
    "jsonpath": _path,
    "names": lambda text: {
        function.__name__: function(text) for function in (
            names.dns1123_label, names.dns1123_subdomain, names.dns1035_label, names.qualified_name, names.label_value,
            names.path_segment, names.path_segment_prefix, names.config_key, names.env_name, names.c_identifier,
            names.port_name, names.percent, names.http_header)},
    "domain-path": lambda text: [str(error) for error in field_names.domain_prefixed_path("p", text)],
    "numbers": lambda number: [names.port_number(number), names.unix_id(number)],
    "api-version": lambda text: [list(gvk.split_api_version(text)), list(gvk.version_order(text))],
    "scaled": lambda value, total: [intstr.scaled(value, total, round_up=up) for up in (False, True)],
    "go-text": lambda value: [
        gotext.value_text(value), gotext.type_text(value), field_errors.go_json(value), gojson.type_name(value)],
    "go-float": gotext.float_text,
    "go-quote": field_errors.go_quote,
    "shown": field_errors.show,
    "host": lambda text: [origins.host_of(text), origins.is_loopback(origins.host_of(text)), str(origins.address_of(text))],
    "plain-host": origins.plain_host,
    "origin": origins.origin_of,
    "same": lambda left, right: equality.same(left, right),
    "differences": lambda left, right: [str(each) for each in treediff.differences(left, right)],
    "json-patch": lambda tree, patch: json_patch.apply(tree, patch),
    "merge-patch": lambda tree, patch: merge_patch.apply(tree, patch),
    "strategic-patch": _strategic,
    "usage": _quota,
    "quota-names": lambda resource, found: quotas.matching(GroupResource(*resource.rpartition("/")[::2]), found),
    "in-scope": lambda tree, requirement: quotas.in_scope(PODS, tree, requirement),
    "pod": _pod,
    "condition": lambda present, status: conditions.transition_time(present, status, "now"),
    "controller": lambda tree: meta.controller_of(tree),
    "deep": lambda text: nesting.may_be_deep(text.encode(), 3),
    "base64url": lambda text: [base64url.encoded(text.encode()), str(base64url.decoded(text))],
    "error": lambda name: {
        "conflict": errors.conflict(PODS, "a"), "why": errors.conflict(PODS, "a", "why"), "found": errors.not_found(PODS, ""),
        "exists": errors.already_exists(PODS, "a", terminating=True), "forbidden": errors.forbidden(None, "", "why"),
        "method": errors.method_not_supported(GroupResource("g", "r"), "fly"), "future": errors.future_version(5, 3),
        "many": errors.too_many_requests("m", 5), "gone": errors.expired("m", "token"), "raw": errors.raw("text", 418),
        "invalid": errors.invalid(GroupKind("g", "K"), "n", [field_errors.required("a"), field_errors.duplicate("b", 5)]),
        "unauthorized": errors.unauthorized(), "acceptable": errors.not_acceptable("m"), "large": errors.too_large("m"),
        "media": errors.unsupported_media_type("m"), "path": errors.no_such_path(), "allowed": errors.method_not_allowed(),
        "bad": errors.bad_request("m"), "internal": errors.internal("m"),
    }[name].status(),
}


def rows() -> Iterator[tuple[str, list[Any]]]:
    """Every function with every row of arguments."""
    tree = yaml.load((FOLDER / "questions.yaml").read_text(), yaml.CSafeLoader)
    for name, questions in tree.items():
        for question in questions:
            yield name, question if isinstance(question, list) else [question]


def answer(name: str, arguments: list[Any]) -> Any:
    """What a function answers, or the words in which it refuses."""
    try:
        return json.loads(json.dumps(FUNCTIONS[name](*arguments), default=str))
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Write them down."""
    lines = [json.dumps([name, arguments, answer(name, arguments)]) for name, arguments in rows()]
    (FOLDER / "answers.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
