"""What the status of a Deployment says."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.deployment import status as statuses

NOW, THEN, AT_NOW, AT_THEN = 1000.0, 400.0, "1970-01-01T00:16:40Z", "1970-01-01T00:06:40Z"
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}


def deployment(*, replicas: int = 4, deadline: int = 600, status: Tree | None = None, **spec: Any) -> Tree:
    return {
        "metadata": {"name": "d", "generation": 2},
        "spec": {"replicas": replicas, "strategy": ROLLING, "progressDeadlineSeconds": deadline, **spec},
        **({"status": status} if status is not None else {}),
    }


def set_of(size: int, /, *conditions: Tree, **status: int) -> Tree:
    found = {**status, **({"conditions": list(conditions)} if conditions else {})}
    return {"metadata": {"name": f"s{size}"}, "spec": {"replicas": size}, **({"status": found} if found else {})}


def condition(kind: str, status: str, reason: str, message: str, since: str = AT_NOW, updated: str = AT_NOW) -> Tree:
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": updated,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    }


def progressing(status: str, reason: str, message: str = "m", since: str = AT_THEN, updated: str = AT_THEN) -> Tree:
    return condition("Progressing", status, reason, message, since, updated)


AVAILABLE = condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
UNAVAILABLE = condition("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")


def test_the_numbers_of_a_status() -> None:
    """Given an old and a new set / then their numbers are added, and what the last status says of
    collisions and conditions stays.
    """
    new = set_of(3, replicas=2, readyReplicas=2, availableReplicas=1, terminatingReplicas=1)
    old = set_of(2, replicas=3, readyReplicas=2, availableReplicas=2, terminatingReplicas=2)
    other = condition("Other", "True", "R", "m", AT_THEN, AT_THEN)
    before = deployment(status={"collisionCount": 0, "conditions": [other], "replicas": 9, "unavailableReplicas": 9})
    expected = {
        "observedGeneration": 2,
        "replicas": 5,
        "updatedReplicas": 2,
        "readyReplicas": 4,
        "availableReplicas": 3,
        "unavailableReplicas": 2,
        "collisionCount": 0,
        "conditions": [other, AVAILABLE],
    }
    assert statuses.calculate(before, [old, new], new, NOW, terminating=False) == expected
    assert statuses.calculate(before, [old, new], new, NOW, terminating=True) == {**expected, "terminatingReplicas": 3}
    del expected["updatedReplicas"]
    assert statuses.calculate(before, [old, new], None, NOW, terminating=False) == expected


@pytest.mark.parametrize(("available", "shown"), [(2, UNAVAILABLE), (3, AVAILABLE), (5, AVAILABLE)])
def test_how_many_have_to_be_available(available: int, shown: Tree) -> None:
    """Given four pods of which one may be missing / then three are enough, and no number is below
    0.
    """
    one = set_of(4, availableReplicas=available)
    missing = {"unavailableReplicas": 4 - available} if available < 4 else {}
    assert statuses.calculate(deployment(), [one], one, NOW, terminating=False) == {
        "observedGeneration": 2,
        "availableReplicas": available,
        **missing,
        "conditions": [shown],
    }


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        ([], 0),
        ([set_of(1)], 0),
        ([set_of(1, observedGeneration=1)], None),
        ([set_of(1, observedGeneration=1, terminatingReplicas=2), set_of(2)], 2),
        ([set_of(2, terminatingReplicas=0), set_of(1, terminatingReplicas=1)], 1),
        ([set_of(2, terminatingReplicas=2), set_of(1, observedGeneration=1)], None),
    ],
)
def test_terminating_pods_are_told_when_all_sets_tell_them(sets: list[Tree], told: int | None) -> None:
    """Given sets / then a set that was reconciled and says nothing of terminating pods keeps the
    Deployment from saying it, and one that was not reconciled yet has none.
    """
    status = statuses.calculate(deployment(), sets, None, NOW, terminating=True)
    assert status.get("terminatingReplicas", "not told") == ("not told" if told is None else told)


COMPLETE = {"observedGeneration": 2, "replicas": 4, "updatedReplicas": 4, "readyReplicas": 4, "availableReplicas": 4}
HALF = {**COMPLETE, "updatedReplicas": 2, "availableReplicas": 3, "readyReplicas": 3}
UPDATED = progressing("True", "ReplicaSetUpdated")
DONE = progressing("True", "NewReplicaSetAvailable")
LATE = progressing("False", "ProgressDeadlineExceeded")
LATER = progressing("True", "ReplicaSetUpdated", updated="1970-01-01T00:06:39Z")
PROGRESS = 'ReplicaSet "s4" is progressing.'


@pytest.mark.parametrize(
    ("before", "status", "told"),
    [
        # a rollout that was complete stays so while no pod is old
        (({"conditions": [DONE]}), {**HALF, "replicas": 2}, DONE),
        ({"conditions": [DONE]}, HALF, progressing("True", "ReplicaSetUpdated", PROGRESS, AT_THEN, AT_NOW)),
        ({"conditions": [DONE], **HALF}, HALF, DONE),
        # all is new and available
        (
            {"conditions": [UPDATED], **COMPLETE},
            COMPLETE,
            progressing("True", "NewReplicaSetAvailable", 'ReplicaSet "s4" has successfully progressed.', AT_THEN, AT_NOW),
        ),
        (
            {},
            COMPLETE,
            progressing("True", "NewReplicaSetAvailable", 'ReplicaSet "s4" has successfully progressed.', AT_NOW, AT_NOW),
        ),
        # one more step
        (
            {"conditions": [UPDATED], **HALF, "updatedReplicas": 1},
            HALF,
            progressing("True", "ReplicaSetUpdated", PROGRESS, AT_THEN, AT_NOW),
        ),
        (
            {"conditions": [UPDATED], **HALF, "readyReplicas": 2},
            HALF,
            progressing("True", "ReplicaSetUpdated", PROGRESS, AT_THEN, AT_NOW),
        ),
        (
            {"conditions": [UPDATED], **HALF, "availableReplicas": 2},
            HALF,
            progressing("True", "ReplicaSetUpdated", PROGRESS, AT_THEN, AT_NOW),
        ),
        (
            {"conditions": [UPDATED], **HALF, "replicas": 5},
            HALF,
            progressing("True", "ReplicaSetUpdated", PROGRESS, AT_THEN, AT_NOW),
        ),
        (
            {"conditions": [LATE], **HALF, "updatedReplicas": 1},
            HALF,
            progressing("True", "ReplicaSetUpdated", PROGRESS, AT_NOW, AT_NOW),
        ),
        (HALF | {"replicas": 5}, HALF, progressing("True", "ReplicaSetUpdated", PROGRESS, AT_NOW, AT_NOW)),
        # none, in time and too late
        ({"conditions": [UPDATED], **HALF}, HALF, UPDATED),
        (
            {"conditions": [LATER], **HALF},
            HALF,
            progressing("False", "ProgressDeadlineExceeded", 'ReplicaSet "s4" has timed out progressing.', AT_NOW, AT_NOW),
        ),
        ({"conditions": [LATE], **HALF}, HALF, LATE),
        (HALF, HALF, None),
        (HALF, {**HALF, "readyReplicas": 2, "availableReplicas": 2, "updatedReplicas": 1}, None),
    ],
)
def test_how_a_rollout_goes(before: Tree, status: Tree, told: Tree | None) -> None:
    """Given a last status and a fresh one / then what is new between them is progress; without any
    the deadline of 600 s, counted from the last step, decides.
    """
    new = set_of(4)
    kept = {"conditions": list(before["conditions"])} if "conditions" in before else {}
    fresh = {**status, **kept}
    statuses.note_progress(deployment(status=before), [new], new, fresh, NOW)
    assert fresh == {**status, **({} if told is None else {"conditions": [told]})}


def test_without_a_set_the_deployment_is_named() -> None:
    """Given no new set / then the text names the Deployment."""
    fresh: Tree = {"replicas": 1}
    statuses.note_progress(deployment(status={"replicas": 2}), [], None, fresh, NOW)
    assert fresh["conditions"] == [condition("Progressing", "True", "ReplicaSetUpdated", 'Deployment "d" is progressing.')]


def test_without_a_deadline_nothing_is_said_of_progress() -> None:
    """Given no deadline / then the condition Progressing is taken off."""
    fresh: Tree = {**HALF, "conditions": [UPDATED, AVAILABLE]}
    statuses.note_progress(deployment(deadline=2**31 - 1, status={}), [], None, fresh, NOW)
    assert fresh == {**HALF, "conditions": [AVAILABLE]}


def failed(message: str) -> Tree:
    return {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": message,
        "lastTransitionTime": AT_THEN,
    }


def test_what_keeps_a_set_from_having_its_pods() -> None:
    """Given failures of sets / then that of the new one is told, or else the first one; none when
    no set fails any more.
    """
    new, old, older = set_of(4, failed("new")), set_of(1, failed("old")), set_of(2, failed("older"))
    for sets, one, told in (([old, new], new, "new"), ([set_of(3), old, older], set_of(3), "old"), ([older, old], None, "older")):
        fresh: Tree = {**HALF, "conditions": [DONE]}
        statuses.note_progress(deployment(status={"conditions": [DONE], **HALF}), sets, one, fresh, NOW)
        assert fresh["conditions"] == [DONE, {**failed(told), "lastUpdateTime": AT_THEN}]
    fresh = {**HALF, "conditions": [failed("gone"), DONE]}
    statuses.note_progress(deployment(status={"conditions": [DONE], **HALF}), [set_of(4)], set_of(4), fresh, NOW)
    assert fresh["conditions"] == [DONE]


@pytest.mark.parametrize(
    ("deadline", "status", "known", "expected"),
    [
        (600, HALF, UPDATED, 0.0),
        (700, HALF, UPDATED, 100.0),
        (500, HALF, UPDATED, -100.0),
        (700, HALF, None, None),
        (2**31 - 1, HALF, UPDATED, None),
        (700, COMPLETE, UPDATED, None),
        (700, HALF, LATE, None),
        (700, HALF, DONE, 100.0),
    ],
)
def test_how_long_a_rollout_may_still_stand_still(
    deadline: int,
    status: Tree,
    known: Tree | None,
    expected: float | None,
) -> None:
    """Given a deadline and the time of the last step / then what is left between them; nothing once
    it is complete or too late.
    """
    owner = deployment(deadline=deadline, status={"conditions": [known]} if known else {})
    assert statuses.seconds_until_deadline(owner, status, NOW) == expected


PAUSED = progressing("Unknown", "DeploymentPaused", "Deployment is paused", AT_NOW, AT_NOW)
RESUMED = progressing("Unknown", "DeploymentResumed", "Deployment is resumed", AT_NOW, AT_NOW)


@pytest.mark.parametrize(
    ("spec", "known", "expected"),
    [
        ({"paused": True}, UPDATED, PAUSED),
        ({"paused": True}, None, PAUSED),
        ({"paused": True}, PAUSED, None),
        ({"paused": True}, LATE, None),
        ({}, PAUSED, RESUMED),
        ({"paused": False}, PAUSED, RESUMED),
        ({}, UPDATED, None),
        ({}, None, None),
        ({"paused": True, "deadline": 2**31 - 1}, UPDATED, None),
    ],
)
def test_a_pause_and_its_end_are_told(spec: Tree, known: Tree | None, expected: Tree | None) -> None:
    """Given a Deployment that is paused or is not / then what its condition does not say yet is
    said, unless it is too late already or has no deadline.
    """
    owner = deployment(**spec, status={"conditions": [known]} if known else {})
    assert statuses.paused_condition(owner, NOW) == expected
