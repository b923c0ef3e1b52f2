"""Event in its two APIs."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apis.core import event as core
from fakekube.apis.events import event as strict
from tests.admission.world import World
from tests.apis.strategies_b.steps import changed, created, named, refused

TIME = "2026-01-01T00:00:00.000000Z"


def strict_event(**fields):
    return named(
        {
            "eventTime": TIME,
            "type": "Normal",
            "reason": "R",
            "action": "A",
            "reportingController": "c",
            "reportingInstance": "i",
            "regarding": {"namespace": "t"},
            **fields,
        }
    )


def refusal(obj):
    with pytest.raises(APIError) as caught:
        strict.STRATEGY.validate(obj, World().context())
    return caught.value.message


def test_core_events_need_little():
    """Given an event about something of the namespace / when made through core / then it passes as it is."""
    created(core.STRATEGY, named({"involvedObject": {"namespace": "t"}}))
    assert refused(core.STRATEGY, named({"involvedObject": {"namespace": "u"}})) == [
        'involvedObject.namespace: Invalid value: "u": does not match event.namespace'
    ]


def test_core_events_with_a_time_must_say_who_reports():
    """Given an eventTime / when made through core / then the new fields are required."""
    assert refused(core.STRATEGY, named({"eventTime": TIME, "involvedObject": {"namespace": "t"}})) == [
        "reportingComponent: Required value",
        'reportingComponent: Invalid value: "": name part must be non-empty',
        (
            "reportingComponent: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
            "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        ),
        "reportingInstance: Required value",
        "action: Required value",
        "reason: Required value",
    ]


def test_strict_events_are_complete():
    """Given a complete event / when made / then it passes; without a type it does not, named without a group."""
    created(strict.STRATEGY, strict_event())
    assert refusal(strict_event(type="Odd", deprecatedCount=1)) == (
        'Event "x" is invalid: [type: Invalid value: "": has invalid value: Odd, count: Invalid value: "": needs to be unset]'
    )
    assert refusal(strict_event(series={"count": 1})) == (
        'Event "x" is invalid: [series.count: Invalid value: "": should be at least 2, series.lastObservedTime: Required value]'
    )


def test_of_a_strict_event_only_the_series_changes():
    """Given an event / when series, and when the note changes / then only the first passes."""
    old = created(strict.STRATEGY, strict_event(note="n"))
    series = {"count": 2, "lastObservedTime": TIME}
    assert changed(strict.STRATEGY, old, {"series": series})[1] == []
    with pytest.raises(APIError) as caught:
        changed(strict.STRATEGY, old, {"note": "m"})
    assert caught.value.message == 'Event "x" is invalid: message: Invalid value: "m": field is immutable'


def test_changed_fields_are_shown_as_go_has_them():
    """Given an event / when its subject, type and related object change / then structs show all their fields."""
    old = created(strict.STRATEGY, strict_event(related={"name": "r"}))
    with pytest.raises(APIError) as caught:
        changed(
            strict.STRATEGY,
            {**old, "series": None},
            {"regarding": {"namespace": "t", "kind": "Pod"}, "type": "", "related": None},
        )
    empty = '"UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""'
    assert caught.value.message == (
        f'Event "x" is invalid: [involvedObject: Invalid value: {{"Kind":"Pod","Namespace":"t","Name":"",{empty}}}: '
        'field is immutable, type: Invalid value: "": field is immutable, related: Invalid value: null: field is immutable]'
    )
