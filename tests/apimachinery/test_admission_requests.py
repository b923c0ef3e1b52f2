"""What a webhook that is a function is given."""

from typing import Any

from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import UserInfo


def request(shown: Any, shown_old: Any) -> AdmissionRequest:
    return AdmissionRequest(
        uid="u", kind=GroupVersionKind("", "v1", "Pod"), resource="pods", subresource="", name="a", namespace="ns",
        operation="UPDATE", user=UserInfo("me"), dry_run=True, options={"a": 1}, shown=shown, shown_old=shown_old)


def test_a_functions_objects_are_its_own() -> None:
    """Given a write / when a function looks at both objects and changes them / then what others
    see stays, the change is known, and what is not there is None.
    """
    shown, old = {"a": [1]}, {"a": [0]}
    found = request(shown, old)
    assert (found.changed, found.shown, found.shown_old) == (None, shown, old)
    found.object["a"].append(2)
    found.old_object["a"].append(3)
    assert (shown, old, found.changed, found.object, found.old_object) == (
        {"a": [1]}, {"a": [0]}, {"a": [1, 2]}, {"a": [1, 2]}, {"a": [0, 3]})
    nothing = request(None, None)
    assert (nothing.object, nothing.old_object, nothing.changed) == (None, None, None)
    assert (found.uid, found.name, found.namespace, found.operation, found.dry_run) == ("u", "a", "ns", "UPDATE", True)
    found.warn("w")
    found.annotate("k", "v")
    assert (found.warnings, found.annotations) == (["w"], {"k": "v"})
    denied = Denied("no", code=403, reason="r", details={"d": 1})
    assert (str(denied), denied.message, denied.code, denied.reason, denied.details) == ("no", "no", 403, "r", {"d": 1})
    assert (Denied().message, Denied().code, Denied().reason, Denied().details) == ("", 0, "", None)
