"""Event in its two APIs."""

from fakekube.apimachinery.field_errors import required
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


def test_core_events_need_little():
    """Given an event about something of the namespace / when made through core / then it passes as
    it is.
    """
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
    """Given a complete event / when made / then it passes; without a type, or with half a series,
    it does not.
    """
    created(strict.STRATEGY, strict_event())
    assert refused(strict.STRATEGY, strict_event(type="Odd", deprecatedCount=1)) == [
        'type: Invalid value: "": has invalid value: Odd', 'count: Invalid value: "": needs to be unset',
    ]
    assert refused(strict.STRATEGY, strict_event(series={"count": 1})) == [
        'series.count: Invalid value: "": should be at least 2', "series.lastObservedTime: Required value",
    ]


def test_of_a_strict_event_only_the_series_changes():
    """Given an event / when series, and when the note changes / then only the first passes."""
    old = created(strict.STRATEGY, strict_event(note="n"))
    series = {"count": 2, "lastObservedTime": TIME}
    assert changed(strict.STRATEGY, old, {"series": series})[1] == []
    assert changed(strict.STRATEGY, old, {"note": "m"})[1] == ['message: Invalid value: "m": field is immutable']


def test_changed_fields_are_shown_as_go_has_them():
    """Given an event / when its subject, type and related object change / then structs show all
    their fields.
    """
    old = created(strict.STRATEGY, strict_event(related={"name": "r"}))
    change = {"regarding": {"namespace": "t", "kind": "Pod"}, "type": "", "related": None}
    empty = '"UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""'
    assert changed(strict.STRATEGY, {**old, "series": None}, change)[1] == [
        f'involvedObject: Invalid value: {{"Kind":"Pod","Namespace":"t","Name":"",{empty}}}: field is immutable',
        'type: Invalid value: "": field is immutable', "related: Invalid value: null: field is immutable",
    ]


def test_core_looks_at_metadata_last():
    """Given what is wrong with metadata / when an event is made / then core tells it only if
    nothing else is, and not first.
    """
    ctx, of_metadata = World().context(), [required("metadata.name")]
    lost = named({"involvedObject": {"namespace": "u"}})
    assert [error.field for error in core.STRATEGY.validate_create(lost, of_metadata, ctx)] == ["involvedObject.namespace"]
    assert core.STRATEGY.validate_create(named({"involvedObject": {"namespace": "t"}}), of_metadata, ctx) == of_metadata
    found = strict.STRATEGY.validate_create(strict_event(type="Odd"), of_metadata, ctx)
    assert [error.field for error in found] == ["metadata.name", "type"]
