"""What is read out of Deployments and their ReplicaSets: counts, limits, revisions, templates."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.deployment import facts

REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"


def deployment(replicas: int | None = 10, kind: str = "RollingUpdate", **rolling: Any) -> Tree:
    spec: Tree = {"strategy": {"type": kind} | ({"rollingUpdate": rolling} if rolling else {})}
    if replicas is not None:
        spec["replicas"] = replicas
    return {"metadata": {"name": "d", "generation": 3}, "spec": spec}


def set_of(name: str, replicas: Any = 0, at: Any = 0, status: Any = None, **annotations: str) -> Tree:
    """A ReplicaSet; ``at``: the second of its creation."""
    metadata = {"name": name, "creationTimestamp": f"2026-01-01T00:00:{at:02}Z", "annotations": annotations}
    return {"metadata": metadata, "spec": {"replicas": replicas}, **({"status": status} if status else {})}


def numbered(revision: str | None) -> Tree:
    return {"metadata": {"annotations": {} if revision is None else {REVISION: revision}}}


@pytest.mark.parametrize(
    ("replicas", "rolling", "surge", "unavailable"),
    [
        (10, {"maxSurge": "25%", "maxUnavailable": "25%"}, 3, 2),
        (10, {"maxSurge": 2, "maxUnavailable": 1}, 2, 1),
        (10, {"maxSurge": 0, "maxUnavailable": 0}, 0, 1),
        (3, {"maxSurge": 0, "maxUnavailable": "10%"}, 0, 1),
        (3, {"maxSurge": 1, "maxUnavailable": "10%"}, 1, 0),
        (2, {"maxSurge": 0, "maxUnavailable": 5}, 0, 2),
        (0, {"maxSurge": 1, "maxUnavailable": 1}, 1, 0),
        (None, {"maxSurge": "50%", "maxUnavailable": 4}, 1, 1),
        (10, {}, 0, 1),
        (10, {"maxSurge": 2}, 2, 0),
        (10, {"maxUnavailable": 2}, 0, 2),
    ],
)
def test_how_many_pods_may_be_more_or_fewer(replicas: int | None, rolling: Tree, surge: int, unavailable: int) -> None:
    """Given numbers and shares / then surges are rounded up and unavailability down, one pod may
    always be missing where none may be more, and never more than there are to be.
    """
    found = deployment(replicas, **rolling)
    assert (facts.max_surge(found), facts.max_unavailable(found)) == (surge, unavailable)


def test_who_recreates_has_no_limits() -> None:
    """Given the strategy Recreate / then no pod is more, and none is missing."""
    found = deployment(10, "Recreate", maxSurge=3, maxUnavailable=2)
    assert (facts.is_rolling(found), facts.max_surge(found), facts.max_unavailable(found)) == (False, 0, 0)
    assert facts.is_rolling(deployment())


@pytest.mark.parametrize(
    ("strategy", "others", "own", "expected"),
    [
        ({"maxSurge": 3}, (8,), 0, 5),
        ({"maxSurge": 3}, (8, 5), 2, 2),
        ({"maxSurge": 3}, (8, 3), 2, 2),
        ({"maxSurge": 3}, (8, 2), 2, 3),
        ({"maxSurge": "25%"}, (), 9, 10),
        ({"maxSurge": "11%"}, (11,), 0, 1),
        ({"maxSurge": 0, "kind": "Recreate"}, (8,), 0, 10),
        ({"maxSurge": 3}, (1,), 9, 10),
    ],
)
def test_the_size_of_the_new_set(strategy: Tree, others: tuple[int, ...], own: int, expected: int) -> None:
    """Given ten pods are wanted and other sets have some / then the new one gets what the surge
    leaves, no more than are wanted and no fewer than it has; who recreates gets all.
    """
    new = set_of("new", own)
    sets = [*(set_of(f"old-{number}", size) for number, size in enumerate(others)), new]
    assert facts.size_of_new(deployment(10, **strategy), sets, new) == expected


@pytest.mark.parametrize(("seconds", "expected"), [(None, False), (2**31 - 1, False), (2**31 - 2, True), (600, True)])
def test_a_deadline_is_one_below_the_largest_number(seconds: int | None, expected: bool) -> None:
    """Given none, or the largest number there is / then lack of progress is not told."""
    assert facts.has_deadline({"spec": {} if seconds is None else {"progressDeadlineSeconds": seconds}}) is expected


@pytest.mark.parametrize(
    ("size", "available", "desired", "expected"),
    [
        (10, 10, "10", True),
        (10, 9, "10", False),
        (9, 9, "10", False),
        (10, 10, "9", False),
        (10, 10, "x", False),
        (10, None, "10", False),
        (11, 10, "10", False),
    ],
)
def test_a_saturated_set_has_all_pods_available(size: int, available: int | None, desired: str, expected: bool) -> None:
    """Given a set of some size, scaled for a number / then size, number and available pods all have
    to be what is wanted.
    """
    status = None if available is None else {"availableReplicas": available}
    assert facts.is_saturated(deployment(), set_of("n", size, status=status, **{DESIRED: desired})) is expected


def test_no_set_is_not_saturated() -> None:
    """Given no set, or one that was never scaled / then it is not saturated, even by no pods."""
    assert facts.is_saturated(deployment(0), None) is False
    assert facts.is_saturated(deployment(0), set_of("n")) is False
    assert facts.is_saturated(deployment(0), set_of("n", **{DESIRED: "0"})) is True


COMPLETE = {"updatedReplicas": 10, "replicas": 10, "availableReplicas": 10, "observedGeneration": 3}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, True),
        ({"observedGeneration": 4}, True),
        ({"observedGeneration": 2}, False),
        ({"updatedReplicas": 9}, False),
        ({"replicas": 11}, False),
        ({"availableReplicas": 9}, False),
    ],
)
def test_a_complete_rollout_has_new_pods_alone(changed: Tree, expected: bool) -> None:
    """Given a status / then all pods are new and available, none is old, and it is of this
    generation.
    """
    assert facts.is_complete(deployment(), COMPLETE | changed) is expected


def test_a_status_that_says_nothing() -> None:
    """Given no number in the status / then it counts as 0, and so does the generation."""
    nothing = {"metadata": {"name": "d", "generation": 0}, "spec": {"replicas": 0}}
    assert facts.is_complete(nothing, {}) is True
    assert facts.is_complete(deployment(0), {}) is False
    assert facts.counted(nothing, "replicas") == 0
    assert facts.counted({**nothing, "status": {"replicas": 2}}, "replicas") == 2
    assert facts.total_counted([{"status": {"x": 2}}, {}, {"status": {"x": 3}}], "x") == 5
    assert facts.total([{"spec": {}}, {"spec": {"replicas": 4}}]) == 5
    assert [one["spec"] for one in facts.with_pods([{"spec": {"replicas": size}} for size in (0, 1, 2)])] == [
        {"replicas": 1},
        {"replicas": 2},
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("-7", -7), ("0", 0), ("", None), (None, None), ("x", None), ("1.0", None), ("\u0661", None), ("--1", None)],
)
def test_the_number_of_an_annotation(text: str | None, number: int | None) -> None:
    """Given texts / then only digits, perhaps below 0, are a number."""
    assert facts.integer(text) == number


@pytest.mark.parametrize(
    ("revisions", "highest", "last"),
    [((), 0, 0), (("3",), 3, 0), (("3", "1", "2"), 3, 2), (("2", "x", "5", None), 5, 2), (("4", "4"), 4, 4), (("-3",), 0, 0)],
)
def test_the_highest_revision_and_the_one_before(revisions: tuple[str | None, ...], highest: int, last: int) -> None:
    """Given the revisions of sets / then those without a number count as 0."""
    sets = [numbered(revision) for revision in revisions]
    assert (facts.max_revision(sets), facts.last_revision(sets)) == (highest, last)


def test_a_revision_that_is_no_number() -> None:
    """Given no revision / then it is 0; given one that is no number / then it is none."""
    assert (facts.revision_of(numbered(None)), facts.revision_of(numbered("x"))) == (0, None)


def test_the_order_of_sets() -> None:
    """Given sets / then they are in the order of creation and name, or of revision before that."""
    sets = [set_of("b", at=1), set_of("a", at=1), set_of("c", at=0, **{REVISION: "2"}), set_of("d", at=9, **{REVISION: "1"})]
    assert [one["metadata"]["name"] for one in sorted(sets, key=facts.by_age)] == ["c", "a", "b", "d"]
    assert [one["metadata"]["name"] for one in sorted(sets, key=facts.by_revision)] == ["a", "b", "d", "c"]


def test_the_only_set_with_pods() -> None:
    """Given sets / then it is the one with pods; without pods the new one, else the newest old one;
    none when several have pods, or there is no set.
    """
    old, older, new = set_of("old", at=2), set_of("older", at=1), set_of("new", at=3)
    full, fuller = set_of("full", 1, at=0), set_of("fuller", 1, at=1)
    assert facts.only_active(new, [older, full, old]) is full
    assert facts.only_active(fuller, [older, old]) is fuller
    assert facts.only_active(fuller, [older, full]) is None
    assert facts.only_active(None, [full, fuller]) is None
    assert facts.only_active(new, [older, old]) is new
    assert facts.only_active(None, [older, old]) is old
    assert facts.only_active(None, []) is None


def template(**changed: Any) -> Tree:
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}], **changed}}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (template(), True),
        (template(nodeSelector={}, tolerations=[], hostname=None), True),
        (template(hostname="h"), False),
        (template(securityContext={}), False),
        ({**template(), "metadata": {"labels": {"app": "b"}}}, False),
        ({**template(), "metadata": {"labels": {"app": "a", "pod-template-hash": "x"}, "annotations": {}}}, True),
        ({**template(), "metadata": {"labels": {"app": "a"}, "annotations": {"x": "y"}}}, False),
        (template(containers=[{"name": "c", "image": "i", "args": [], "resources": {"limits": {}}}]), False),
        (template(containers=[{"name": "c", "image": "i", "args": []}]), True),
        ({"spec": template()["spec"]}, False),
    ],
)
def test_two_templates_are_alike(other: Tree, expected: bool) -> None:
    """Given templates / then empty lists and maps and the label of the hash make no difference, and
    an empty structure does.
    """
    assert facts.same_template(template(), other) is expected
    assert facts.same_template(other, template()) is expected


def test_the_oldest_set_with_the_template_is_the_new_one() -> None:
    """Given several sets with the Deployment's template / then the oldest is its new one; none
    without such a set.
    """
    owner: Tree = {"spec": {"template": template()}}
    sets: list[Tree] = [set_of(name, at=at) for name, at in (("x", 3), ("b", 2), ("a", 2), ("first", 1))]
    for one in sets:
        one["spec"]["template"] = template(**({"hostname": "h"} if one["metadata"]["name"] == "first" else {}))
    assert facts.find_new(owner, sets) is sets[2]
    assert facts.find_new(owner, sets[3:]) is None


def condition(kind: str, status: str, reason: str, at: str = "now") -> Tree:
    return {"type": kind, "status": status, "reason": reason, "message": "m", "lastUpdateTime": at, "lastTransitionTime": at}


def test_a_condition_is_set_last_of_all() -> None:
    """Given conditions / when one is set / then the same status and reason change nothing, the same
    status keeps the time of the last change, and another one does not.
    """
    first, second = condition("A", "True", "R", "then"), condition("B", "True", "R", "then")
    status: Tree = {"conditions": [first, second]}
    facts.set_condition(status, condition("A", "True", "R"))
    assert status == {"conditions": [first, second]}
    facts.set_condition(status, condition("A", "True", "other"))
    kept = {**condition("A", "True", "other"), "lastTransitionTime": "then"}
    assert status == {"conditions": [second, kept]}
    facts.set_condition(status, condition("B", "False", "R"))
    assert status == {"conditions": [kept, condition("B", "False", "R")]}
    facts.remove_condition(status, "A")
    assert status == {"conditions": [condition("B", "False", "R")]}
    facts.remove_condition(status, "B")
    assert status == {}
    facts.set_condition(status, first)
    assert status == {"conditions": [first]}
