"""Parts of definitions and of custom objects by themselves: approvals, names, conversions, numbers
and embedded objects; word for word.
"""

from typing import Any, cast

import pytest

from fakekube.apiextensions import remote, strategy
from fakekube.apiextensions.approval import approval_of, approved_status
from fakekube.apiextensions.names import established_status, named_status
from fakekube.apiextensions.objects.metadata import has_embedded, validate_embedded
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid, not_supported, required, too_long, too_many
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.registry.scale import Found
from fakekube.schema.structural import from_openapi
from fakekube.webhooks.client import CallError

NEEDED = 'protected groups must have approval annotation "api-approved.kubernetes.io"'
SEE = "see https://github.com/kubernetes/enhancements/pull/1111"


@pytest.mark.parametrize(("group", "text", "reason", "message"), [
    ("x.dev", "", "", ""), ("k8s.io.x.dev", "", "", ""), ("ak8s.io", "", "", ""),
    *((group, "", "MissingAnnotation", f"{NEEDED}, {SEE}") for group in ("k8s.io", "kubernetes.io", "a.k8s.io",
        "a.kubernetes.io")),
    ("a.k8s.io", "unapproved, x", "UnapprovedAnnotation", 'not approved: "unapproved, x"'),
    ("a.k8s.io", "https://h/1", "ApprovedAnnotation", "approved in https://h/1"),
    *(("a.k8s.io", text, "InvalidAnnotation", f'{NEEDED} with either a URL or a reason starting with "unapproved", {SEE}')
      for text in ("x", "/a/b", "https://", "https://[")),
])
def test_who_approves_of_a_community_group(group: str, text: str, reason: str, message: str) -> None:
    """Given a definition / when its annotation is looked at / then groups of the community need
    one, and the condition says what it comes to, once.
    """
    annotations = {"api-approved.kubernetes.io": text} if text else None
    definition: Tree = {"metadata": {"annotations": annotations}, "spec": {"group": group}, "status": {"conditions": []}}
    found, status = approval_of(definition), approved_status(definition, "now")
    if not reason:
        assert (found, status) == (None, None)
        return
    assert found == (reason, message)
    assert status == {"conditions": [{
        "type": "KubernetesAPIApprovalPolicyConformant", "status": "True" if reason == "ApprovedAnnotation" else "False",
        "lastTransitionTime": "now", "reason": reason, "message": message}]}
    assert approved_status({**definition, "status": status}, "later") is None


def named(wanted: Tree, accepted: Tree | None = None, taken: list[Tree] | None = None,
    conditions: list[Tree] | None = None) -> Tree | None:
    accepted = {"plural": "", "kind": ""} if accepted is None else accepted
    status = {"acceptedNames": accepted, "conditions": conditions}
    return named_status({"spec": {"names": wanted}, "status": status}, [accepted, *(taken or [])], "now")


NAMES: Tree = {"plural": "ws", "singular": "w", "shortNames": ["x", "y"], "kind": "W", "listKind": "WList", "categories": ["all"]}


def condition(type_: str, status: str, reason: str, message: str, time: str = "now") -> Tree:
    return {"type": type_, "status": status, "lastTransitionTime": time, "reason": reason, "message": message}


def test_names_that_are_free() -> None:
    """Given a new definition / when its names are free / then it has them, and is about to be
    served; later it is established, once.
    """
    status = named(NAMES)
    installing = condition("Established", "False", "Installing", "the initial names have been accepted")
    accepted = condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    assert status == {"acceptedNames": NAMES, "conditions": [accepted, installing]}
    assert list(status["acceptedNames"]) == list(NAMES)
    assert named(NAMES, NAMES) is None
    established = established_status({"status": status}, "later")
    assert established == {"acceptedNames": NAMES, "conditions": [
        accepted, condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted", "later")]}
    assert established_status({"status": established}, "later") is None
    fewer = named({"plural": "ws", "kind": "W"}, NAMES, conditions=established["conditions"])
    assert fewer == {"acceptedNames": {"plural": "ws", "kind": "W"}, "conditions": established["conditions"]}


@pytest.mark.parametrize(("taken", "reason", "message", "lost"), [
    ({"plural": "ws"}, "PluralConflict", '"ws" is already in use', ["plural"]),
    ({"plural": "w"}, "SingularConflict", '"w" is already in use', ["singular"]),
    ({"plural": "a", "singular": "ws"}, "PluralConflict", '"ws" is already in use', ["plural"]),
    ({"plural": "a", "shortNames": ["y", "x"]}, "ShortNamesConflict", '["x" is already in use, "y" is already in use]',
    ["shortNames"]),
    ({"plural": "y"}, "ShortNamesConflict", '"y" is already in use', ["shortNames"]),
    ({"plural": "a", "kind": "W"}, "KindConflict", '"W" is already in use', ["kind"]),
    ({"plural": "a", "kind": "WList"}, "ListKindConflict", '"WList" is already in use', ["listKind"]),
    ({"plural": "a", "listKind": "W"}, "KindConflict", '"W" is already in use', ["kind"]),
    ({"plural": "ws", "kind": "W"}, "KindConflict", '"W" is already in use', ["plural", "kind"]),
])
def test_names_that_are_taken(taken: Tree, reason: str, message: str, lost: list[str]) -> None:
    """Given another definition of the group / when it has one of the names / then the others are
    accepted, the last conflict is told, and nothing is served.
    """
    status = named(NAMES, taken=[{"kind": "Other", **taken}])
    before: Tree = {"plural": "", "kind": ""}  # these two stay as they were
    assert status == {
        "acceptedNames": {name: before.get(name) if name in lost else value for name, value in NAMES.items()
                          if name not in lost or name in before},
        "conditions": [condition("NamesAccepted", "False", reason, message),
                       condition("Established", "False", "NotAccepted", "not all names are accepted")]}
    assert established_status({"status": status}, "now") is None


GVK = GroupVersionKind("x.dev", "v1", "W")


def converter(version: str = "v1") -> Any:
    found = cast("Any", remote.WebhookConverter.__new__(remote.WebhookConverter))
    found._review = version
    return found


@pytest.mark.parametrize(("version", "review", "told"), [
    ("v1", {}, "no response provided"), ("v1", {"response": 7}, "no response provided"),
    ("v1", {"response": {}}, 'expected response.uid="u", got ""'), ("v1", {"response": {"uid": "a"}},
        'expected response.uid="u", got "a"'),
    ("v1", {"response": {"uid": "u"}}, "response.result.status was '', not 'Success'"),
    ("v1beta1", {"response": {"result": {"status": "Failure"}}}, "response.result.status was 'Failure', not 'Success'"),
    ("v1beta1", {"response": {"result": {"status": "Failure", "message": "no"}}}, "no"),
])
def test_reviews_that_convert_nothing(version: str, review: Tree, told: str) -> None:
    """Given the answer of a converter / when it holds no objects / then it is said why."""
    with pytest.raises(CallError) as refused:
        converter(version)._answered(review, "u")
    assert str(refused.value) == told


def test_reviews_that_convert() -> None:
    """Given the answer of a converter / when it succeeded / then its objects are those."""
    done: Tree = {"uid": "u", "result": {"status": "Success"}}
    assert converter()._answered({"response": {**done, "convertedObjects": [1]}}, "u") == [1]
    assert converter()._answered({"response": done}, "u") == []
    assert converter("v1beta1")._answered({"response": {"result": {"status": "Success"}, "convertedObjects": [1]}}, "u") == [1]


BEFORE: Tree = {"apiVersion": "x.dev/v2", "kind": "W", "metadata": {"name": "n", "namespace": "a", "uid": "u",
    "labels": {"a": "b"}}}


@pytest.mark.parametrize(("after", "told"), [
    (7, "missing metadata in converted object"), ({"kind": "W"}, "missing metadata in converted object"),
    ({**BEFORE, "apiVersion": "x.dev/v2"}, "invalid groupVersion (expected x.dev/v1, received x.dev/v2)"),
    ({"metadata": {}}, "invalid groupVersion (expected x.dev/v1, received )"),
    ({**BEFORE, "apiVersion": "x.dev/v1", "kind": "X"}, "invalid kind (expected W, received X)"),
    ({"apiVersion": "x.dev/v1", "metadata": {}}, "invalid kind (expected W, received )"),
    ({**BEFORE, "apiVersion": "x.dev/v1", "metadata": {}}, "must have the same name: n != "),
    ({**BEFORE, "apiVersion": "x.dev/v1", "metadata": {"name": "n", "namespace": "b"}}, "must have the same namespace: a != b"),
    ({**BEFORE, "apiVersion": "x.dev/v1", "metadata": {"name": "n", "namespace": "a", "uid": "v"}},
        "must have the same UID: u != v"),
    ({**BEFORE, "apiVersion": "x.dev/v1"}, ""),
])
def test_objects_that_were_not_converted(after: Any, told: str) -> None:
    """Given a converted object / when it is of another version or another object / then that is
    told.
    """
    assert remote._why_invalid(BEFORE, after, GVK) == told


@pytest.mark.parametrize(("given", "made"), [
    ({}, {}), ({"labels": None}, {}), ({"labels": {"c": "d"}, "annotations": {"e": "f"}}, {"labels": {"c": "d"},
        "annotations": {"e": "f"}}),
    ({"finalizers": ["x"], "name": "other"}, {}),
    ({"labels": 7}, "invalid metadata.labels in converted object"), ({"labels": {"a": 7}},
        "invalid metadata.labels in converted object"),
    ({"annotations": []}, "invalid metadata.annotations in converted object"),
])
def test_the_metadata_of_a_converted_object(given: Tree, made: Tree | str) -> None:
    """Given a converted object / when its metadata is taken / then labels and annotations are, and
    all else is as it was.
    """
    after = {"spec": 1, "metadata": given}
    if isinstance(made, str):
        with pytest.raises(APIError) as refused:
            remote._with_metadata(GVK, BEFORE, after)
        assert str(refused.value) == f"conversion webhook for x.dev/v1, Kind=W returned invalid metadata: {made}"
    else:
        kept = {name: BEFORE["metadata"][name] for name in ("name", "namespace", "uid")}
        assert remote._with_metadata(GVK, BEFORE, after) == {"spec": 1, "metadata": {**kept, **made}}


def test_labels_of_a_converted_object() -> None:
    """Given a converted object / when its labels are none / then that is told."""
    with pytest.raises(APIError, match=r"returned invalid metadata: metadata\.labels: Invalid value: \"a b\""):
        remote._with_metadata(GVK, BEFORE, {"metadata": {"labels": {"a": "a b"}}})


@pytest.mark.parametrize(("found", "told"), [
    (Found(None, ""), []), (Found(0, ""), []), (Found(2_147_483_647, ""), []),
    (Found(-1, ""), [".a: Invalid value: -1: should be a non-negative integer"]),
    (Found(2_147_483_648, ""), [".a: Invalid value: 2147483648: should be less than or equal to 2147483647"]),
    (Found(None, "no"), [".a: Invalid value: 0: no"]),
])
def test_replicas_of_a_scale(found: Any, told: list[str]) -> None:
    """Given the replicas of a custom object / when they are looked at / then they are an int32 that
    is not negative.
    """
    assert [str(error) for error in strategy._about_replicas(".a", found)] == told


def test_finalizers_are_warned_of() -> None:
    """Given finalizers / when an object comes with them / then those without a domain are warned
    of, but for the standard ones.
    """
    tail = "to avoid accidental conflicts with other finalizer writers"
    assert [strategy._about_finalizer(name) for name in ("a.b/c", "orphan", "foregroundDeletion", "a", "a.b")] == [
        [], [], [], [f'metadata.finalizers: "a": prefer a domain-qualified finalizer name {tail}'],
        [f'metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) {tail}']]
    assert strategy._about_finalizer("a b/c")[0].startswith('metadata.finalizers: "a b/c": prefix part a lowercase RFC 1123')


def test_numbers_print_as_gos() -> None:
    """Given floats in an object / when it is stored / then whole ones are integers, as far as 64
    bits hold them, unsigned ones too.
    """
    tree: Tree = {"a": [1.0, 1.5, {"b": -9223372036854774784.0}], "c": 9223372036854775808.0, "d": 18446744073709551616.0,
                  "e": -9223372036854777856.0, "f": 1e300, "g": True, "h": "1.0"}
    strategy.print_as_go(tree)
    assert repr(tree) == repr({
        "a": [1, 1.5, {"b": -9223372036854775000}], "c": 9223372036854776000, "d": 18446744073709551616.0,
        "e": -9223372036854777856.0, "f": 1e300, "g": True, "h": "1.0"})


@pytest.mark.parametrize(("error", "blocks"), [
    (invalid("a", 1, "b"), False), (forbidden("a", "b"), False), (required("a"), True), (not_supported("a", "b", ["c"]), True),
    (too_long("a", 1), True), (too_many("a", 2, 1), True), (invalid("a", 1, "b")._replace(reason="FieldValueTypeInvalid"), True),
])
def test_what_keeps_rules_from_being_asked(error: FieldError, blocks: bool) -> None:
    """Given something wrong with an object / when rules could trip over it / then they are not
    asked.
    """
    assert strategy.is_blocking([error]) is blocks
    assert not strategy.is_blocking([])


def embedded(schema: Tree, tree: Tree) -> list[str]:
    return [str(error) for error in validate_embedded(tree, from_openapi(schema))]


LABEL = "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case"


def test_what_is_wrong_with_embedded_objects() -> None:
    """Given embedded objects in fields, lists and maps / when they are looked at / then kind,
    apiVersion and metadata are those of any object.
    """
    one: Tree = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    schema: Tree = {"type": "object", "properties": {
        "a": one, "l": {"type": "array", "items": one}, "m": {"type": "object", "additionalProperties": one},
            "t": {"type": "string"}}}
    good = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert embedded(schema, {"a": good, "l": [good], "m": {"x": good}, "t": {}}) == []
    assert embedded(schema, {"a": {}, "l": [good, {"apiVersion": "v1"}], "m": {"x": {"kind": "A"}}}) == [
        "a.apiVersion: Required value", "a.kind: Required value", "l[1].kind: Required value", "m[x].apiVersion: Required value"]
    assert embedded(schema, {"a": {"apiVersion": 1, "kind": 2}, "l": [{"apiVersion": "", "kind": ""}]}) == [
        "a.apiVersion: Invalid value: 1: must be a string", "a.kind: Invalid value: 2: must be a string",
        'l[0].apiVersion: Invalid value: "": must not be empty', 'l[0].kind: Invalid value: "": must not be empty']
    told = embedded(schema, {"a": {"apiVersion": "a/b/c", "kind": "A_b", "metadata": {"name": "a/b", "labels": {"a": "-"}}}})
    assert told[0] == 'a.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'
    assert told[1].startswith(f'a.kind: Invalid value: "A_b": {LABEL}')
    assert told[2:3] == ["a.metadata.name: Invalid value: \"a/b\": may not contain '/'"]
    assert told[3].startswith('a.metadata.labels: Invalid value: "-"')
    assert [has_embedded(from_openapi(each)) for each in (schema, one, schema["properties"]["l"], schema["properties"]["m"],
                                                         {"type": "object", "properties": {"t": {"type": "string"}}})] == [
        True, True, True, True, False]
