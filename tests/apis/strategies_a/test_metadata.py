"""Names, labels, owners and finalizers: what is refused, in upstream's words."""

from typing import Any

import pytest

from fakekube.apimachinery import names
from fakekube.registry import metadata
from fakekube.util.rng import SUFFIX_ALPHABET, Rng
from tests.apis.strategies_a import hooks

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def config_map(**meta: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **meta}}


@pytest.mark.spec("API-017")
def test_a_generated_name_has_at_most_63_characters() -> None:
    """Given a generateName of 63 letters, when a name is made of it, then 58 stay and five of the
    alphabet follow.
    """
    name = metadata.generate_name("x" * 63, Rng(1))
    assert len(name) == 63
    assert name.startswith("x" * 58)
    assert all(letter in SUFFIX_ALPHABET for letter in name[58:])


@pytest.mark.spec("API-018")
def test_a_name_is_required() -> None:
    """Given neither name nor generateName, when created, then the text says that one of them is
    required.
    """
    body = config_map()
    del body["metadata"]["name"]
    assert hooks.create(body).errors == ["metadata.name: Required value: name or generateName is required"]


@pytest.mark.spec("API-019")
def test_a_bad_name_is_told_with_the_rule() -> None:
    """Given a name with upper case, when a Pod is created, then the whole rule is quoted."""
    body = hooks.pod()
    body["metadata"]["name"] = "A_b"
    assert hooks.create(body).errors == [f'metadata.name: Invalid value: "A_b": {SUBDOMAIN}']


@pytest.mark.parametrize(("labels", "error"), [
    ({"a b": "c"}, f'metadata.labels: Invalid value: "a b": {LABEL_NAME}'),
    ({"/b": "c"}, 'metadata.labels: Invalid value: "/b": prefix part must be non-empty'),
    ({"a" * 64: "c"}, f'metadata.labels: Invalid value: "{"a" * 64}": name part must be no more than 63 bytes'),
    ({"k": "v" * 64}, f'metadata.labels: Invalid value: "{"v" * 64}": must be no more than 63 bytes'),
])
def test_bad_labels_are_told_at_the_map(labels: dict[str, str], error: str) -> None:
    """Given one bad label, when created, then the error names the map of labels and the bad word.
    """
    assert hooks.create(config_map(labels=labels)).errors == [error]


def test_annotations_are_counted_together() -> None:
    """Given annotations of more than 256 KiB, when created, then their sum is refused."""
    found = hooks.create(config_map(annotations={"a": "x" * 262144})).errors
    assert found == ["metadata.annotations: Too long: may not be more than 262144 bytes"]


def test_a_finalizer_needs_a_domain() -> None:
    """Given a plain finalizer, when created, then a built-in kind refuses it and takes the garbage
    collector's.
    """
    what = "name is neither a standard finalizer name nor is it fully qualified"
    assert hooks.create(config_map(finalizers=["plain"])).errors == [
        f'metadata.finalizers[0]: Invalid value: "plain": {what}']
    assert not hooks.create(config_map(finalizers=["foregroundDeletion", "a.example/b"])).errors
    both = hooks.create(config_map(finalizers=["orphan", "foregroundDeletion"])).errors
    assert both == [
        ('metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion '
        "cannot be both set")]


def test_an_owner_must_be_whole() -> None:
    """Given an owner reference without anything, when created, then each missing part is told."""
    found = hooks.create(config_map(ownerReferences=[{"apiVersion": "", "kind": "", "name": "", "uid": ""}])).errors
    path = "metadata.ownerReferences[0]"
    assert found == [f"{path}.{name}: Required value: must not be empty" for name in ("apiVersion", "kind", "name", "uid")]


def test_there_is_one_controller() -> None:
    """Given two owners that both control, when created, then the text names both."""
    owners = [
        {"apiVersion": "v1", "controller": True, "kind": "Secret", "name": name, "uid": name} for name in ("x", "y")
    ]
    (found,) = hooks.create(config_map(ownerReferences=owners)).errors
    assert found.startswith(
        'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"Secret","name":"x","uid":"x","controller":true},')
    assert found.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for Secret/x and Secret/y')


def test_owners_that_are_there_twice_are_dropped_with_a_warning() -> None:
    """Given the same owner twice, when created, then one stays and the client is warned."""
    owner = {"apiVersion": "v1", "kind": "Secret", "name": "x", "uid": "u"}
    outcome = hooks.create(config_map(ownerReferences=[owner, owner]))
    assert outcome.obj["metadata"]["ownerReferences"] == [owner]
    assert outcome.warnings[0].endswith("duplicate UID(s) observed: u")


def test_an_update_cannot_touch_what_the_server_manages() -> None:
    """Given a stored object, when an update changes uid or sets a deletion, then they are
    immutable; times come back.
    """
    old = hooks.create(config_map()).obj
    changed = {**old, "metadata": {**old["metadata"], "creationTimestamp": "2020-01-01T00:00:00Z"}}
    outcome = hooks.update(old, changed)
    assert not outcome.errors
    assert outcome.obj["metadata"] == old["metadata"]
    other = {**old, "metadata": {**old["metadata"], "uid": "other"}}
    assert hooks.update(old, other).errors == ['metadata.uid: Invalid value: "other": field is immutable']
    deleted = {**old, "metadata": {**old["metadata"], "deletionTimestamp": hooks.NOW}}
    (found,) = hooks.update(old, deleted).errors
    assert found == f'metadata.deletionTimestamp: Invalid value: "{hooks.NOW}": field is immutable'


@pytest.mark.parametrize(("body", "texts"), [
    (config_map(), ["may not contain '/'", SUBDOMAIN]),
    ({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a"}, "spec": {"limits": []}},
     ["may not contain '/'", SUBDOMAIN]),
    ({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}}, ["may not contain '/'"]),
])
def test_an_update_looks_at_generate_name(body: dict[str, Any], texts: list[str]) -> None:
    """Given a stored object, when an update gives it a bad generateName, then it is refused as a
    part of a path, and by the rule of those kinds that look at their metadata again.
    """
    old = hooks.create(body).obj
    changed = {**old, "metadata": {**old["metadata"], "generateName": "A.b/c"}}
    assert hooks.update(old, changed).errors == [f'metadata.generateName: Invalid value: "A.b/c": {text}' for text in texts]


@pytest.mark.parametrize("body", [
    {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"},
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "a"},
    {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"minAvailable": 1}},
])
def test_some_kinds_take_any_finalizer(body: dict[str, Any]) -> None:
    """Given a kind with upstream's generic rules for metadata, when a finalizer has no domain, then
    it is taken at creation and in an update.
    """
    old = hooks.create({**body, "metadata": {"name": "a", "finalizers": ["plain"]}})
    assert not old.errors
    changed = {**old.obj, "metadata": {**old.obj["metadata"], "finalizers": ["other"]}}
    assert not hooks.update(old.obj, changed).errors


def test_no_finalizer_comes_to_what_is_being_deleted() -> None:
    """Given a terminating object, when a finalizer is added, then it is forbidden; taking one away
    is not.
    """
    old = hooks.create(config_map(finalizers=["a.example/b"])).obj
    old["metadata"] |= {"deletionTimestamp": hooks.NOW, "deletionGracePeriodSeconds": 0}
    more = {**old, "metadata": {**old["metadata"], "finalizers": ["a.example/b", "a.example/c"]}}
    assert hooks.update(old, more).errors == [
        ("metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new "
        'finalizers []string{"a.example/c"}')]
    less = {**old, "metadata": {name: value for name, value in old["metadata"].items() if name != "finalizers"}}
    assert not hooks.update(old, less).errors


@pytest.mark.parametrize(("rule", "good", "bad"), [
    (names.dns1123_label, "1abc", "a.b"), (names.dns1035_label, "abc", "1abc"), (names.path_segment, "A B:c", "a%b"),
    (names.port_name, "http-1", "a--b"), (names.env_name, "A B", "A=B"), (names.c_identifier, "_a1", "1a"),
    (names.config_key, "a.B_c", "a b"), (names.percent, "25%", "25"), (names.http_header, "X-A", "X A"),
])
def test_each_rule_takes_the_good_and_tells_of_the_bad(rule: Any, good: str, bad: str) -> None:
    """Given a good and a bad word, when asked, then a rule has nothing to say of the one and
    something of the other.
    """
    assert rule(good) == []
    assert rule(bad)
