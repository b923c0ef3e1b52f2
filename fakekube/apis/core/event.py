"""Event: something happened.

One kind behind two APIs, with loose rules in core and strict ones in events.k8s.io.

Upstream: pkg/apis/core/validation/events.go, pkg/registry/core/event. Leaving after an hour is not
theirs but ``registry/expiry.py``'s.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE
from fakekube.apis.checks import ruled
from fakekube.registry.strategy import Strategy, WriteContext

CORE = {
    "object": "involvedObject", "message": "message", "first": "firstTimestamp", "last": "lastTimestamp",
    "count": "count", "source": "source", "controller": "reportingComponent",
}
STRICT = {
    "object": "regarding", "message": "note", "first": "deprecatedFirstTimestamp", "last": "deprecatedLastTimestamp",
    "count": "deprecatedCount", "source": "deprecatedSource", "controller": "reportingController",
}
LIMITS = {"reportingInstance": 128, "action": 128, "reason": 128}
MAX_NOTE_LENGTH = 1024
IMMUTABLE_FIELDS = (
    ("involvedObject", "regarding"), ("reason", "reason"), ("message", "note"), ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"), ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"), ("type", "type"), ("eventTime", "eventTime"),
    ("action", "action"), ("related", "related"), ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
)
"""What the strict API lets nobody change: core's name for it, which errors use, and its own."""
TIMES = ("eventTime", "deprecatedFirstTimestamp", "deprecatedLastTimestamp")
REFERENCE = {
    "Kind": "kind", "Namespace": "namespace", "Name": "name", "UID": "uid", "APIVersion": "apiVersion",
    "ResourceVersion": "resourceVersion", "FieldPath": "fieldPath",
}
SOURCE = {"Component": "component", "Host": "host"}
MISMATCH = "does not match event.namespace"


class EventStrategy(Strategy):
    """What is particular to Events: ``fields`` says what the API calls the fields that have two
    names.
    """

    def __init__(self, fields: Mapping[str, str], *, strict: bool) -> None:
        self.fields, self.strict = fields, strict

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """What any event must obey, and what a new one must say.

        The core API looks at metadata last, if all else is well.
        """
        found = self._loose(obj)
        if not self.strict:
            return found or of_metadata
        found += of_metadata + _series(obj)
        if not obj.get("eventTime"):
            found.append(required("eventTime"))
        if obj.get("type", "") not in ("Normal", "Warning"):
            found.append(invalid("type", "", f"has invalid value: {obj.get('type', '')}"))
        for what in ("first", "last", "count", "source"):
            if obj.get(self.fields[what]):
                found.append(invalid(CORE[what], "", "needs to be unset"))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """In the strict API nothing but the series changes."""
        found = self._loose(obj)
        if not self.strict:
            return found
        if obj.get("series") != old.get("series"):
            found += _series(obj)
        for path, name in IMMUTABLE_FIELDS:
            if (obj.get(name) or None) != (old.get(name) or None):
                found.append(invalid(path, _shown(name, obj.get(name)), IMMUTABLE))
        return found

    def _loose(self, obj: Tree) -> list[FieldError]:
        namespace = obj["metadata"].get("namespace", "")
        about = (obj.get(self.fields["object"]) or {}).get("namespace", "")
        found: list[FieldError] = []
        if not obj.get("eventTime"):
            expected = (namespace,) if about else ("", "default")
            if (about or namespace) not in expected:
                found.append(invalid("involvedObject.namespace", about, MISMATCH))
            return found
        if not about and namespace not in ("default", "kube-system"):
            found.append(invalid("involvedObject.namespace", about, MISMATCH))
        path = self.fields["controller"]
        controller = obj.get(path, "")
        if not controller:
            found.append(required(path))
        found += ruled(path, controller, names.qualified_name)
        for name, limit in LIMITS.items():
            text = obj.get(name, "")
            if not text:
                found.append(required(name))
            if _is_longer(text, limit):
                found.append(invalid(name, "", f"can have at most {limit} characters"))
        if _is_longer(obj.get(self.fields["message"], ""), MAX_NOTE_LENGTH):
            found.append(invalid("message", "", f"can have at most {MAX_NOTE_LENGTH} characters"))
        return found


def _is_longer(text: str, limit: int) -> bool:
    """Whether a text has more bytes than that; a character has at most four."""
    return len(text) * 4 > limit and len(text.encode()) > limit


def _shown(name: str, value: Any) -> Any:
    """A value as Go prints it in an error: structs with all their fields, and nothing missing."""
    fields = {"regarding": REFERENCE, "related": REFERENCE, "deprecatedSource": SOURCE}.get(name)
    if fields is not None:
        return None if value is None and name == "related" else {
            field: (value or {}).get(key, "") for field, key in fields.items()}
    if value is None and name not in TIMES:
        return 0 if name == "deprecatedCount" else ""
    return value


def _series(obj: Tree) -> list[FieldError]:
    series = obj.get("series")
    if series is None:
        return []
    found = []
    if series.get("count", 0) < 2:
        found.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        found.append(required("series.lastObservedTime"))
    return found


STRATEGY = EventStrategy(CORE, strict=False)
