"""What is said of groups that lack pods, and by plugins whose policy is not there."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.queued import QueuedPodGroupInfo
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.plugins.gang_permit import GangPermit, Missing, Policy
from fakekube_controllers.scheduler.why import answers
from fakekube_controllers.scheduler.why.answers import Answers, Held
from tests.controllers.scheduler.groups.test_algorithm import leaf
from tests.controllers.scheduler.groups.trees import pod, pod_group
from tests.controllers.scheduler.plugins.cases import said


def about(states: GroupStates, entity: Any = None) -> Any:
    """What answers for a scheduler with these groups, and this entity in its queue."""
    made: Any = object.__new__(Answers)
    made._queue = SimpleNamespace(entity=lambda _: entity)
    made._ctx = SimpleNamespace(enabled=lambda _: True)
    made._scheduler = SimpleNamespace(
        shared=SimpleNamespace(groups=states), profiles={"default-scheduler": SimpleNamespace(profile_name="p")},
        failures=SimpleNamespace(diagnoses=SimpleNamespace(of=lambda _: ())))
    return made


@pytest.mark.parametrize(("minimum", "state", "text", "count"), [
    (3, "WaitingForPods", "waits for pods: 1 pods of it are on nodes, none waits", 2),
    (2, "WaitingForPods", "waits for pods: 1 pods of it are on nodes, none waits", 1),
    (1, "Scheduled", "has 1 pods on nodes, and none that waits", 0)])
def test_a_group_that_is_not_in_the_queue(minimum: int, state: str, text: str, count: int) -> None:
    """Given a group with one pod on a node, and none that waits / then it is scheduled if that is
    enough, else it waits for the pods that it lacks.
    """
    key, made = pod_group("g", minimum)
    states = GroupStates()
    states.set_group(key, made)
    states.set_pod(key, pod("a", "g"), "n1")
    found = about(states)._group(key)
    assert (found.state, found.message) == (state, text)
    expected: Any = (changes.create_pods("g", "default", count, 1, minimum),) if count else ()
    assert found.changes == expected


def test_a_group_that_lacks_objects_lacks_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a group that is held, as an object is not there / then that is all that is proposed:
    nodes are not looked at.
    """
    key, made = pod_group("g", 1)
    made["metadata"]["uid"] = "u"
    root = leaf((key, made), 1)
    entity = QueuedPodGroupInfo(root, timestamp=0.0, sequence=0)
    entity.gating_plugin = "Gate"
    states = GroupStates()
    states.set_group(key, made)
    answer, wanted = about(states, entity), (changes.create("ResourceClaim", "default", "c"),)
    monkeypatch.setattr(answers, "inconsistency", lambda *_, **__: None)
    answer._held = lambda *_: Held((), wanted)
    found = answer._tree("podgroup/default/g", states, entity)
    assert (found.state, found.message, found.changes, found.places) == (
        "Gated", "is held back by Gate, and is not tried", wanted, ())


@pytest.mark.parametrize(("policy", "expected"), [
    (Missing("waits", "gone"), ((1, "gone"), 0.0)), (Policy(), (None, 0.0))])
def test_a_pod_without_a_policy_is_not_permitted(policy: Any, expected: Any) -> None:
    """Given a pod of a group / when its policy is not there any more, then it has failed; with one
    for each pod alone it is permitted.
    """
    made: Any = object.__new__(GangPermit)
    made.key_of, made.policy_of = lambda _: "key", lambda _: policy
    status, seconds = made.permit(CycleState(), pod("a", "g"), "n1")
    found = said(status)
    assert ((int(found[0]), found[1]) if found else None, seconds) == expected


def test_a_group_that_is_gone() -> None:
    """Given a pod of a group that there is not, when its policy is looked for, then it is said what
    it waits for before it is in the queue, and afterwards that the group is gone.
    """
    made: Any = object.__new__(GangPermit)
    made._handle = SimpleNamespace(groups=GroupStates())
    assert made.policy_of(pod("a", "g").pod) == Missing(
        'waiting for pods\'s pod group "g" to appear in scheduling queue',
        'failed to get podGroup default/g: podgroup.scheduling.k8s.io "g" not found')
