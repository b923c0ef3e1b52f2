"""Rules that few objects meet: each with the whole answer."""

from typing import Any

import pytest

from fakekube.apimachinery import fields, gojson, labels, meta, pod_resources, quotas, times
from fakekube.apimachinery.amounts import texts
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Frame, Response
from fakekube.apimachinery.jsonpath import BadPath, NotApplicable, compiled
from fakekube.apimachinery.pod_resources import IN_FLIGHT

CLAIMS, PODS, SERVICES = (GroupResource("", name) for name in ("persistentvolumeclaims", "pods", "services"))
META: dict[str, Any] = {"name": "a", "uid": "u", "resourceVersion": "1"}
OWNER: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "v"}
WRONG: list[dict[str, Any]] = [
    {"name": 1}, {"uid": 1}, {"resourceVersion": 1}, {"namespace": 1}, {"generation": "1"}, {"labels": []},
    {"labels": {"a": 1}}, {"annotations": "a"}, {"finalizers": {}}, {"finalizers": [1]}, {"creationTimestamp": 1},
    {"deletionTimestamp": 1}, {"ownerReferences": {}}, {"ownerReferences": ["a"]},
    *({"ownerReferences": [{**OWNER, name: None}]} for name in OWNER)]
"""Metadata with one field that is of another type."""


@pytest.mark.parametrize(("path", "tree", "found"), [
    (".a[0]", {"a": None}, []),
    (".l[?(@.k[5])]", {"l": [{"k": "text"}, {"k": [0]}]}, []),
    (".l[?(@.k[0])].n", {"l": [{"k": "text", "n": 1}, {"k": [0], "n": 2}]}, [2]),
    (".l[0:4:2]", {"l": [0, 1, 2, 3]}, [0, 2]),
    (".l[0:4:1]", {"l": [0, 1, 2, 3]}, [0, 1, 2, 3]),
    (".l[?(@<=2)]", {"l": [1, 2, 3]}, [1, 2]),
    (".l[?(@<2)]", {"l": [1, 2, 3]}, [1]),
    (".l[?(@>2)]", {"l": [1, 2, 3]}, [3]),
])
def test_paths_that_lead_somewhere_or_nowhere(path: str, tree: dict[str, Any], found: list[Any]) -> None:
    """Given a tree / when a path is followed / then null has no items, and what means nothing for
    an item is not in it.
    """
    assert compiled(path).find(tree) == found


@pytest.mark.parametrize(("path", "message"), [
    (".l[0:1:0]", "step must be > 0"),
    (".l[0:1:-1]", "step must be > 0"),
    (".l[?(@.*==1)]", "can only compare one element at a time"),
    (".l[?(1==@.*)]", "can only compare one element at a time"),
    (".l[?(@.a=1)]", "unrecognized filter operator ="),
    (".l[?(@.a<>1)]", "unrecognized filter operator <>"),
    (".l[?(@.t<true)]", "unrecognized filter operator <"),
    (".l[?(@.t==1)]", "incompatible types for comparison"),
])
def test_paths_that_mean_nothing(path: str, message: str) -> None:
    """Given a path / when it is followed / then what means nothing for the tree is said."""
    with pytest.raises(NotApplicable) as error:
        compiled(path).find({"l": [{"a": 1, "t": True}]})
    assert str(error.value) == message


@pytest.mark.parametrize(("path", "message"), [
    ("\n", "unclosed action"), ("\r", "unclosed action"), (".a[?(@.b)x", "unclosed array expect ]"),
    (".a[-]", "array index - is not a number"), (".a[0:-]", "array index - is not a number"),
    ("%", "unrecognized character in action: U+0025 '%'"), ("+", "cannot parse number +"),
])
def test_texts_that_are_no_paths(path: str, message: str) -> None:
    """Given a text that is no path / when it is read / then the error is upstream's."""
    with pytest.raises(BadPath) as error:
        compiled(path)
    assert str(error.value) == message


@pytest.mark.parametrize(("key", "operator", "values", "told"), [
    ("a", "gt", ("1",), ""),
    ("a", "gt", (), "for 'Gt', 'Lt' operators, exactly one value is required"),
    ("a", "lt", ("1", "2"), "for 'Gt', 'Lt' operators, exactly one value is required"),
])
def test_a_comparison_has_one_value(key: str, operator: str, values: tuple[str, ...], told: str) -> None:
    """Given a comparison / when it has no value or two / then exactly one is asked for."""
    found = labels.requirement_errors(key, operator, values, "here")
    shown = str(list(values)).replace("'", '"').replace(", ", ",")
    assert [str(each) for each in found] == ([f"here.values: Invalid value: {shown}: {told}"] if told else [])


@pytest.mark.parametrize("text", ["a in (x,()", "a in (x,=)", "a in (x,!)"])
def test_a_list_of_values_goes_on_with_values(text: str) -> None:
    """Given a sign among the values / when the selector is read / then it says what may
    stand there.
    """
    with pytest.raises(labels.SelectorError) as error:
        labels.parse(text)
    assert str(error.value) == f"unable to parse requirement: found '{text[8]}', expected: ',', or identifier"


def test_selectors_are_themselves() -> None:
    """Given selectors / when they are compared and shown / then they are equal to what asks the
    same, and to nothing else.
    """
    selector = labels.parse("a in (1,2),b")
    assert (selector == labels.parse("b,a in (2,1)"), selector == "a in (1,2),b", selector == labels.NOTHING) == (
        True, False, False)
    assert (labels.EVERYTHING == labels.NOTHING, hash(selector) == hash(labels.parse("b,a in (2,1)"))) == (False, True)
    assert repr(selector) == "Selector('a in (1,2),b')"
    assert repr(fields.parse("b=1,a!=2")) == "Selector('a!=2,b=1')"


@pytest.mark.parametrize(("value", "is_one"), [
    ({"metadata": META}, True),
    ({"metadata": {**META, "namespace": "n", "generation": 1, "labels": {"a": "b"}, "annotations": {}, "finalizers": ["f"],
                   "ownerReferences": [OWNER], "creationTimestamp": "t", "deletionTimestamp": None}}, True),
    ({"metadata": {**META, "labels": None, "finalizers": None, "ownerReferences": None}}, True),
    ([], False), ("", False), (None, False), ({}, False), ({"metadata": []}, False), ({"metadata": {}}, False),
    *(({"metadata": {name: value for name, value in META.items() if name != lacking}}, False) for lacking in META),
    *(({"metadata": {**META, **more}}, False) for more in WRONG),
])
def test_what_has_the_form_of_an_object(value: Any, is_one: bool) -> None:
    """Given what a server sent / when it is looked at / then it is an object only with a name, a
    uid and a version, each field of its type.
    """
    assert meta.is_object(value) is is_one


@pytest.mark.parametrize(("text", "problem"), [
    ("2026-01-01T00:00:00+25:00", "time zone offset hour out of range"),
    ("2026-01-01T00:00:00-01:61", "time zone offset minute out of range"),
    ("2026-01-01T00:00:00+25:61", "time zone offset minute out of range"),
])
def test_offsets_end(text: str, problem: str) -> None:
    """Given an offset of more than a day / when the time is read / then it is refused."""
    with pytest.raises(times.TimeError) as error:
        times.parse_time(text)
    assert str(error.value) == f'parsing time "{text}": {problem}'
    assert times.parse_time("2026-01-02T01:00:00+24:60") == 1767225600


def test_the_fraction_of_a_second_is_read_before_the_zone() -> None:
    """Given a fraction and no zone / when the time is read / then the complaint begins behind it.
    """
    with pytest.raises(times.TimeError) as error:
        times.parse_time("2026-01-01T00:00:00.5x")
    assert str(error.value) == (
        'parsing time "2026-01-01T00:00:00.5x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "Z07:00"')


def test_numbers_beyond_64_bits_are_floats_everywhere() -> None:
    """Given a tree without types / when it is read as Go does / then large integers are floats, in
    lists and maps too.
    """
    found = gojson.untyped({"a": [2**63, 2**63 - 1, -(2**63), [-(2**63) - 1, True]]})
    assert found == {"a": [2.0**63, 2**63 - 1, -(2**63), [-(2.0**63), True]]}
    assert [type(each) for each in (*found["a"][:3], *found["a"][3])] == [float, int, int, float, bool]


def test_a_frame_that_makes_its_bytes_is_json() -> None:
    """Given frames / when they are asked / then only one that makes a line of JSON is for certain.
    """
    assert (Frame(b"{}").is_json, Frame(make_data=lambda: b"{}\n").is_json) == (False, True)


def test_headers_are_completed_once_somebody_looks() -> None:
    """Given an answer whose headers are completed late / when they are looked at / then they are,
    once; the answer's own are there before.
    """
    response = Response(200, b"", headers=[("a", "b")])
    response.complete_headers(lambda headers: [*headers, ("c", "d")])
    assert response.own_headers == [("a", "b")]
    assert (response.headers, response.headers) == ([("a", "b"), ("c", "d")],) * 2


def claim(name: str | None = None, current: str | None = None, target: str | None = None) -> dict[str, Any]:
    """A claim with classes of attributes."""
    status = {"currentVolumeAttributesClassName": current, "modifyVolumeStatus": {"targetVolumeAttributesClassName": target}}
    return {"spec": {"volumeAttributesClassName": name}, "status": status}


@pytest.mark.parametrize(("operator", "values", "inside"), [
    ("Exists", [], [True, True, True, False]), ("DoesNotExist", [], [False, False, False, True]),
    ("In", ["a", "x"], [True, False, False, False]), ("In", ["b", "c"], [False, True, True, False]),
    ("NotIn", ["a"], [False, True, True, True]), ("NotIn", ["b"], [True, False, True, True]),
])
def test_the_scope_of_attribute_classes(operator: str, values: list[str], inside: list[bool]) -> None:
    """Given claims with a class asked for, present or on its way / when a scope is tried / then any
    of the three counts.
    """
    requirement = {"scopeName": "VolumeAttributesClass", "operator": operator, "values": values}
    claims = [claim(name="a"), claim(current="b"), claim(current="b", target="c"), {"spec": {}}]
    assert [quotas.in_scope(CLAIMS, each, requirement) for each in claims] == inside
    assert [quotas.in_scope(CLAIMS, each, {**requirement, "scopeName": "Terminating"}) for each in claims] == [False] * 4
    assert [quotas.in_scope(SERVICES, each, requirement) for each in claims] == [False] * 4


def test_a_claim_that_changes_its_class_has_moved() -> None:
    """Given claims that cost the same / when their classes differ / then one has moved, in
    whichever order they are told.
    """
    before = claim(name="a", current="b")
    assert not quotas.has_moved(CLAIMS, before, claim(name="b", current="a"), in_flight=True)
    assert quotas.has_moved(CLAIMS, before, claim(name="b", current="b"), in_flight=True)
    assert quotas.has_moved(CLAIMS, before, claim(name="a"), in_flight=True)
    assert not quotas.has_moved(SERVICES, {"spec": {}}, {"spec": {"x": 1}}, in_flight=True)


@pytest.mark.parametrize("resource", [GroupResource("", "events"), GroupResource("events.k8s.io", "events")])
def test_events_are_not_counted(resource: GroupResource) -> None:
    """Given a quota of events / when one is written / then it does not count."""
    assert quotas.matching(resource, [quotas.count_name(resource)]) == []
    assert quotas.matching(GroupResource("", "secrets"), ["count/secrets", "secrets", "pods"]) == ["count/secrets", "secrets"]


def test_huge_pages_count_under_two_names() -> None:
    """Given a pod with huge pages and a thing of its own / when it is counted / then the pages have
    a name with and one without what they are asked by.
    """
    requests = {"hugepages-2Mi": "4Mi", "example.com/x": "1", "kubernetes.io/y": "1"}
    pod = {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}
    assert texts(quotas.usage(PODS, pod, in_flight=True)) == {
        "count/pods": "1", "hugepages-2Mi": "4Mi", "pods": "1", "requests.example.com/x": "1", "requests.hugepages-2Mi": "4Mi"}


def test_containers_that_lack_what_a_quota_wants() -> None:
    """Given containers that say too little / when a quota of requests and limits looks / then each
    is named under what it lacks, in order.
    """
    pod: dict[str, Any] = {"spec": {
        "containers": [{"name": "b"}, {"name": "a", "resources": {"requests": {"cpu": "1"}}}],
        "initContainers": [{"name": "0", "resources": {"limits": {"memory": "1"}}}]}}
    assert quotas.missing(PODS, pod, ["pods", "requests.cpu", "limits.memory"]) == "limits.memory for: a,b; requests.cpu for: 0,b"
    assert quotas.missing(PODS, {"spec": {**pod["spec"], "resources": {"requests": {"cpu": "1"}}}}, ["cpu"]) == ""
    assert quotas.missing(SERVICES, pod, ["cpu"]) == ""


def test_a_pod_that_does_not_run_yet_has_what_it_names_for_itself() -> None:
    """Given a pod that names resources for itself / when its status tells none / then its own
    count.
    """
    gated = IN_FLIGHT._replace(pod_level_status=True)
    for status in ({}, {"status": {"resources": None, "allocatedResources": {"cpu": "9"}}}):
        pod = {"spec": {"containers": [{"name": "c"}], "resources": {"requests": {"cpu": "2"}}}, **status}
        assert texts(pod_resources.quantities(pod_resources.requests(pod, gated))) == {"cpu": "2"}
