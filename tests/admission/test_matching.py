"""Which writes rules and selectors match, and in which version."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.admission.matching import Matcher
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from tests.admission.world import World, kind

PODS, NAMESPACES, NODES = kind("", "v1", "pods"), kind("", "v1", "namespaces"), kind("", "v1", "nodes")
SCALERS, OLD_SCALERS = kind("autoscaling", "v2", "horizontalpodautoscalers"), kind("autoscaling", "v1",
    "horizontalpodautoscalers")
ALL: Tree = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}


def services() -> Any:
    others = {SCALERS: [OLD_SCALERS], OLD_SCALERS: [SCALERS]}
    return SimpleNamespace(resources=SimpleNamespace(generation=1), equivalents=lambda of: others.get(of, []))


def world() -> World:
    made = World()
    made.put("", "namespaces", {"metadata": {"name": "t", "labels": {"env": "test"}}})
    made.put("", "namespaces", {"metadata": {"name": "bare"}})
    return made


def named(name: str = "x", **labels: str) -> Tree:
    return {"metadata": {"name": name, **({"labels": labels} if labels else {})}}


def matcher(rules: list[Tree], excluded: list[Tree] | None = None, **spec: Any) -> Matcher:
    return Matcher(services(), spec, rules, excluded or [])


def create(of: Any = PODS, obj: Tree | None = None, **options: Any) -> Attributes:
    return world().attributes(of, obj or named(), **options)


@pytest.mark.parametrize(("change", "attrs", "matches"), [
    ({}, create(), True), ({"operations": ["CREATE", "UPDATE"]}, create(), True), ({"operations": ["DELETE"]}, create(), False),
    ({"operations": []}, create(), False), ({"apiGroups": [""]}, create(), True), ({"apiGroups": ["apps"]}, create(), False),
    ({"apiVersions": ["v1"]}, create(), True), ({"apiVersions": ["v2"]}, create(), False),
    ({"resources": ["pods"]}, create(), True), ({"resources": ["nodes", "pods"]}, create(), True),
    ({"resources": ["nodes"]}, create(), False), ({"resources": ["pods"]}, create(subresource="status"), False),
    ({"resources": ["*"]}, create(subresource="status"), False), ({"resources": ["pods/*"]}, create(subresource="status"), True),
    ({"resources": ["*/*"]}, create(subresource="status"), True),
    ({"resources": ["*/status"]}, create(subresource="status"), True),
    ({"resources": ["pods/status"]}, create(subresource="scale"), False), ({"resources": ["pods/*"]}, create(), True),
    ({"scope": "Namespaced"}, create(), True), ({"scope": "Cluster"}, create(), False), ({"scope": "*"}, create(), True),
    ({"scope": "Namespaced"}, create(NODES), False), ({"scope": "Cluster"}, create(NODES), True),
    ({"scope": "Cluster"}, create(NAMESPACES), True), ({"scope": "Namespaced"}, create(NAMESPACES), False),
    ({"resourceNames": ["x"]}, create(), True), ({"resourceNames": ["y"]}, create(), False),
    ({"resourceNames": []}, create(), True),
])
def test_what_a_rule_covers(change: Tree, attrs: Attributes, matches: bool) -> None:
    """Given a rule that differs from one for everything in one field / then a write is matched or
    not, also beside a rule for nothing.
    """
    rule = {**ALL, **change}
    assert (matcher([rule]).matches(attrs) is not None) is matches
    assert (matcher([{}, rule]).matches(attrs) is not None) is matches
    assert matcher([ALL], [rule]).matches(attrs) is (None if matches or attrs.subresource else attrs.kind)


def test_other_versions_of_the_same() -> None:
    """Given a rule for one version / when another is written / then it is matched in that of the
    rule, unless the rule is to be exact; the own version goes first.
    """
    old, both = {**ALL, "apiVersions": ["v1"]}, {**ALL, "apiVersions": ["v1", "v2"]}
    attrs = create(SCALERS)
    assert matcher([old]).matches(attrs) is OLD_SCALERS
    assert matcher([old], matchPolicy="Equivalent").matches(attrs) is OLD_SCALERS
    assert matcher([old], matchPolicy="Exact").matches(attrs) is None
    assert matcher([old, both]).matches(attrs) is SCALERS
    assert matcher([ALL], [old]).matches(attrs) is None
    whole = {**old, "resources": ["*/*"]}
    assert matcher([whole]).matches(create(SCALERS, subresource="status")) is OLD_SCALERS
    assert matcher([whole]).matches(create(SCALERS, subresource="nothing")) is None


@pytest.mark.parametrize(("attrs", "matches"), [
    (create(), True), (create(namespace="bare"), False), (create(NODES), True), (create(NAMESPACES, named(env="test")), True),
    (create(NAMESPACES, named()), False), (create(NAMESPACES, named(), old=named(env="test")), False),
    (create(NAMESPACES, named("t"), subresource="status"), True),
    (create(NAMESPACES, named("bare"), subresource="status"), False),
    (world().attributes(NAMESPACES, None, named("t")), True),
    (world().attributes(NAMESPACES, None, named("bare", env="test")), False),
])
def test_selectors_of_namespaces(attrs: Attributes, matches: bool) -> None:
    """Given a selector of namespaces / then the labels of the namespace count, of one that is
    written itself those that it is to have; what is in none passes.
    """
    rule = {**ALL, "resources": ["*/*"]}
    found = matcher([rule], namespaceSelector={"matchLabels": {"env": "test"}}).matches(attrs)
    assert (found is not None) is matches
    assert matcher([rule], namespaceSelector={}).matches(attrs) is attrs.kind


def test_a_namespace_that_is_missing() -> None:
    """Given a selector of namespaces / when the namespace is not there / then 404, unless the
    object's selector does not match.
    """
    attrs = create(namespace="gone")
    chosen: Tree = {"namespaceSelector": {"matchLabels": {"env": "test"}}}
    with pytest.raises(APIError, match='namespaces "gone" not found'):
        matcher([ALL], **chosen).matches(attrs)
    assert matcher([ALL], **chosen, objectSelector={"matchLabels": {"a": "b"}}).matches(attrs) is None


@pytest.mark.parametrize(("new", "old", "matches"), [
    (named(a="b"), None, True), (named(), None, False), (named(a="c"), None, False), (named(a="b"), named(), True),
    (named(), named(a="b"), True), (named(), named(), False), (None, named(a="b"), True), ({}, None, False)])
def test_selectors_of_objects(new: Tree | None, old: Tree | None, matches: bool) -> None:
    """Given a selector of objects / then the new or the old object has to have the labels."""
    attrs = world().attributes(PODS, new, old)
    assert (matcher([ALL], objectSelector={"matchLabels": {"a": "b"}}).matches(attrs) is not None) is matches
    assert matcher([ALL], objectSelector={}).matches(attrs) is PODS


def test_what_is_served_is_looked_up_again_when_it_changes() -> None:
    """Given a rule for another version / when that version comes to be served / then the write is
    matched from then on.
    """
    made, others = services(), list[Any]()
    made.equivalents = lambda _: others
    found = Matcher(made, {}, [{**ALL, "apiVersions": ["v1"]}])
    assert found.matches(create(SCALERS)) is None
    others.append(OLD_SCALERS)
    assert found.matches(create(SCALERS)) is None
    made.resources.generation = 2
    assert found.matches(create(SCALERS)) is OLD_SCALERS
