"""Who a pod of a StatefulSet is, whose its claims are, and what the set's status says."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.statefulset import identity, retention
from fakekube_controllers.statefulset import status as statuses

NOW = 1000.0
NAME, INDEX, HASH = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-revision-hash"
DATA: Tree = {"metadata": {"name": "data", "labels": {"tier": "db", "app": "x"}, "annotations": {"n": "1"}}, "spec": {"s": 1}}


def owner(*, status: Tree | None = None, pod: Tree | None = None, **spec: Any) -> Tree:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [], **(pod or {})}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web", "namespace": "x", "uid": "set", "generation": 4},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": template,
            "updateStrategy": {"type": "RollingUpdate"},
            **spec,
        },
        **({"status": status} if status else {}),
    }


def test_a_new_pod() -> None:
    """Given a set with a Service, claims and volumes / then its pod has name, labels, hostname,
    subdomain and volumes, its claims' first and in the place of those of the same name.
    """
    volumes = [{"name": "tmp", "emptyDir": {}}, {"name": "data", "emptyDir": {}}]
    found = identity.new_pod(
        owner(pod={"volumes": volumes, "subdomain": "other"}, serviceName="svc", volumeClaimTemplates=[DATA]), 3, "web-rev"
    )
    assert found["metadata"]["name"] == "web-3"
    assert found["metadata"]["labels"] == {"app": "a", NAME: "web-3", INDEX: "3", HASH: "web-rev"}
    assert found["spec"] == {
        "containers": [],
        "hostname": "web-3",
        "subdomain": "svc",
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-3"}}, {"name": "tmp", "emptyDir": {}}],
    }
    plain = identity.new_pod(owner(pod={"subdomain": "other"}), 0, "r")
    assert plain["spec"] == {"containers": [], "hostname": "web-0"}
    assert [one["uid"] for one in plain["metadata"]["ownerReferences"]] == ["set"]


def test_the_claims_of_a_pod() -> None:
    """Given a template of a claim / then the claim has its annotations and spec, the labels of the
    set's selector over its own, and the name of template, set and ordinal.
    """
    found = owner(volumeClaimTemplates=[DATA, {"spec": {}, "metadata": {"name": "log"}}])
    assert identity.claims_of(found, {"metadata": {"name": "web-1"}}) == [
        {
            "metadata": {"name": "data-web-1", "namespace": "x", "labels": {"tier": "db", "app": "a"}, "annotations": {"n": "1"}},
            "spec": {"s": 1},
        },
        {"metadata": {"name": "log-web-1", "namespace": "x", "labels": {"app": "a"}}, "spec": {}},
    ]
    assert identity.claims_of(owner(), {"metadata": {"name": "web-1"}}) == []
    found["spec"]["selector"] = {"matchExpressions": []}
    assert identity.claims_of(found, {"metadata": {"name": "web-1"}})[1]["metadata"]["labels"] == {}


@pytest.mark.parametrize(
    ("spec", "ordinals"),
    [
        ({}, range(1)),
        ({"replicas": 3}, range(3)),
        ({"replicas": 2, "ordinals": {"start": 5}}, range(5, 7)),
        ({"ordinals": {}}, range(1)),
        ({"replicas": 0}, range(0)),
    ],
)
def test_the_ordinals_of_a_set(spec: Tree, ordinals: range) -> None:
    """Given replicas and a start / then the ordinals begin there, and there is one by default."""
    assert identity.ordinals_of(owner(**spec)) == ordinals


@pytest.mark.parametrize(
    ("name", "label", "member", "matches"),
    [
        ("web-1", "web-1", True, True),
        ("web-1", "web-2", True, False),
        ("web-1", None, True, False),
        ("other-1", "other-1", False, False),
        ("web", "web", False, False),
    ],
)
def test_a_pod_is_labelled_with_its_name(name: str, label: str | None, member: bool, matches: bool) -> None:
    """Given names and labels / then a pod of the set's name belongs to it, and says so or not."""
    pod = {"metadata": {"name": name, "labels": {NAME: label} if label else {}}}
    assert (identity.is_member(owner(), pod), identity.identity_matches(owner(), pod)) == (member, matches)


def pod(
    revision: str = "new", *, phase: str | None = "Running", ready: bool = True, since: int = 1, leaving: bool = False
) -> Tree:
    stamp = f"1970-01-01T00:{since // 60:02}:{since % 60:02}Z"
    status: Tree = {"conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": stamp}]}
    return {
        "metadata": {"name": "web-0", "labels": {HASH: revision}, **({"deletionTimestamp": "t"} if leaving else {})},
        "status": status | ({"phase": phase} if phase else {}),
    }


@pytest.mark.parametrize(
    ("found", "created", "running", "unavailable"),
    [
        (pod(), True, True, False),
        (pod(phase=None), False, False, False),
        (pod(phase="Pending"), True, False, False),
        (pod(ready=False), True, False, True),
        (pod(leaving=True), True, True, True),
        (pod(since=991), True, True, True),
        (pod(since=990), True, True, False),
        ({"metadata": {"name": "web-0"}}, False, False, True),
    ],
)
def test_the_states_of_a_pod(found: Tree, created: bool, running: bool, unavailable: bool) -> None:
    """Given pods and minReadySeconds 10 / then they are created, run and are available or not."""
    assert identity.is_created(found) is created
    assert identity.is_running_and_ready(found) is running
    assert identity.is_unavailable(owner(minReadySeconds=10), found, NOW) is unavailable


def test_pods_are_counted() -> None:
    """Given pods of two revisions / then those on their way out are of neither, one that the server
    does not have is not counted, and only ready ones that run are available.
    """
    found = [
        pod(),
        pod("old"),
        pod("old", ready=False),
        pod("other", since=995),
        pod(leaving=True),
        pod(phase=None),
        pod("old", phase="Pending"),
    ]
    counts = {"replicas": 6, "readyReplicas": 4, "availableReplicas": 4, "currentReplicas": 3, "updatedReplicas": 1}
    assert statuses.count(owner(), found, "old", "new", NOW) == counts
    assert statuses.count(owner(minReadySeconds=10), found, "old", "new", NOW) == {**counts, "availableReplicas": 3}
    assert statuses.count(owner(), [], "old", "new", NOW) == dict.fromkeys(counts, 0)


FULL = {
    "replicas": 3,
    "readyReplicas": 3,
    "updatedReplicas": 3,
    "currentReplicas": 1,
    "currentRevision": "old",
    "updateRevision": "new",
}
DONE = FULL | {"currentReplicas": 3, "currentRevision": "new"}


@pytest.mark.parametrize(
    ("kind", "any_strategy", "changed", "done"),
    [
        ("RollingUpdate", True, {}, True),
        ("RollingUpdate", False, {}, True),
        ("OnDelete", True, {}, True),
        ("OnDelete", False, {}, False),
        ("RollingUpdate", True, {"replicas": 4}, False),
        ("RollingUpdate", True, {"readyReplicas": 2}, False),
        ("RollingUpdate", True, {"updatedReplicas": 2}, False),
        ("Recreate", True, {}, True),
    ],
)
def test_a_rollout_that_is_complete(kind: str, any_strategy: bool, changed: Tree, done: bool) -> None:
    """Given a status / when all pods are new and ready / then the new revision is the current one,
    of other strategies than rolling updates only where the release has it.
    """
    status = {**FULL, **changed}
    statuses.complete(owner(replicas=3, updateStrategy={"type": kind}), status, any_strategy=any_strategy, now="t")
    assert status == ((DONE if done else FULL) | changed)


def test_recreation_that_is_complete_is_told() -> None:
    """Given the condition Progressing / when a set of the strategy Recreate is complete / then it
    says so; for another strategy it stays as it is.
    """
    before = {"type": "Progressing", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "before"}
    for kind, expected in (
        ("RollingUpdate", before),
        (
            "Recreate",
            {
                "type": "Progressing",
                "status": "False",
                "reason": "RecreateCompleted",
                "message": "All pods recreated successfully",
                "lastTransitionTime": "t",
            },
        ),
    ):
        status: Tree = {**FULL, "conditions": [before]}
        statuses.complete(owner(replicas=3, updateStrategy={"type": kind}), status, any_strategy=True, now="t")
        assert status["conditions"] == [expected]
    one: Tree = {**FULL, **dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas"), 1)}
    statuses.complete(owner(), one, any_strategy=True, now="t")
    assert one["currentRevision"] == "new"


OLD = {**FULL, "availableReplicas": 3, "observedGeneration": 4, "collisionCount": 0}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"observedGeneration": 3}, False),
        ({"observedGeneration": 5}, True),
        ({"collisionCount": 1}, False),
        ({"conditions": []}, False),
        ({"conditions": [{"type": "x"}]}, True),
        ({"replicas": 2}, True),
        ({"currentReplicas": 0}, True),
        ({"readyReplicas": 0}, True),
        ({"updatedReplicas": 0}, True),
        ({"availableReplicas": 0}, True),
        ({"currentRevision": "x"}, True),
        ({"updateRevision": "x"}, True),
    ],
)
def test_what_makes_a_status_new(changed: Tree, expected: bool) -> None:
    """Given a status and a fresh one / then it is written when anything that it tells is new."""
    assert statuses.is_changed(owner(status=OLD), OLD | changed) is expected


def test_what_is_left_out_of_a_status() -> None:
    """Given numbers that are 0 / then two of them are written nevertheless, and the collisions; and
    a set without a status has none of its numbers.
    """
    zeros: Tree = dict.fromkeys([*OLD, "conditions"], 0)
    assert statuses.as_written(zeros) == {"replicas": 0, "availableReplicas": 0, "collisionCount": 0}
    assert statuses.is_changed(owner(), {"observedGeneration": 0, "replicas": 0}) is False
    assert statuses.is_changed(owner(), {"observedGeneration": 1}) is True


# whose claims are

POD: Tree = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "x", "uid": "pod"}}
CONDEMNED: Tree = {**POD, "metadata": {**POD["metadata"], "name": "web-2"}}
BY_SET = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "name": "web",
    "uid": "set",
    "controller": True,
    "blockOwnerDeletion": True,
}
BY_POD = {"apiVersion": "v1", "kind": "Pod", "name": "web-2", "uid": "pod", "controller": True, "blockOwnerDeletion": True}
BY_FORMER_SET, BY_FORMER_POD = {**BY_SET, "uid": "former"}, {**BY_POD, "uid": "former"}
STRANGER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "s", "uid": "s"}
CONTROLLER = {**STRANGER, "controller": True}
NOT_CONTROLLED = {**BY_SET, "controller": False}


def claim(*references: Tree) -> Tree:
    return {"metadata": {"name": "c", **({"ownerReferences": list(references)} if references else {})}, "spec": {}}


def policy(scaled: str, deleted: str) -> Tree:
    return owner(replicas=2, persistentVolumeClaimRetentionPolicy={"whenScaled": scaled, "whenDeleted": deleted})


RETAIN, DELETED, SCALED, BOTH = (
    policy("Retain", "Retain"),
    policy("Retain", "Delete"),
    policy("Delete", "Retain"),
    policy("Delete", "Delete"),
)


@pytest.mark.parametrize(
    ("found", "pod", "before", "after"),
    [
        (owner(replicas=2), POD, [BY_SET, STRANGER], [STRANGER]),
        (RETAIN, POD, [BY_SET], []),
        (RETAIN, CONDEMNED, [BY_POD], []),
        (DELETED, POD, [], [BY_SET]),
        (DELETED, CONDEMNED, [STRANGER], [STRANGER, BY_SET]),
        (DELETED, CONDEMNED, [BY_POD], [BY_SET]),
        (SCALED, POD, [BY_SET], []),
        (SCALED, CONDEMNED, [], [BY_POD]),
        (SCALED, CONDEMNED, [BY_SET], [BY_POD]),
        (BOTH, POD, [], [BY_SET]),
        (BOTH, CONDEMNED, [BY_SET], [BY_POD]),
        (DELETED, POD, [NOT_CONTROLLED], [BY_SET]),
        (DELETED, POD, [CONTROLLER, BY_SET], [CONTROLLER]),
    ],
)
def test_claims_get_the_owner_that_the_policy_gives_them(found: Tree, pod: Tree, before: list[Tree], after: list[Tree]) -> None:
    """Given a policy and a pod that stays or goes / then a claim with other owners is not right,
    and gets the set, the pod or nobody; and what strangers have of it stays.
    """
    assert retention.is_right(claim(*before), found, pod) is False
    assert retention.with_owners(claim(*before), found, pod) == claim(*after)
    assert retention.is_right(claim(*after), found, pod) is True
    assert retention.with_owners(claim(*after), found, pod) == claim(*after)


@pytest.mark.parametrize(
    ("found", "references", "right", "stale", "other"),
    [
        (DELETED, [BY_FORMER_SET], True, True, True),
        (DELETED, [BY_FORMER_POD], True, False, True),
        (RETAIN, [BY_FORMER_SET], True, True, False),
        (RETAIN, [CONTROLLER], True, False, False),
        (DELETED, [CONTROLLER], True, False, True),
        (DELETED, [STRANGER, BY_SET], True, False, False),
        (DELETED, [STRANGER], False, False, False),
        (DELETED, [], False, False, False),
        (DELETED, [{**BY_SET, "apiVersion": "apps/v2", "controller": False}], False, False, False),
        (RETAIN, [{**BY_FORMER_SET, "kind": "Other"}], True, False, False),
    ],
)
def test_claims_of_former_sets_and_of_others(found: Tree, references: list[Tree], right: bool, stale: bool, other: bool) -> None:
    """Given a claim that a former set or pod of the name has, or somebody else / then it is left
    alone, and a policy is told that it has no say.
    """
    assert retention.is_right(claim(*references), found, CONDEMNED) is right
    assert retention.has_stale_owner(claim(*references), found) is stale
    assert retention.has_other_controller(claim(*references), found, CONDEMNED) is other


def test_what_a_policy_says() -> None:
    """Given policies / then each of the two deletes or does not, and no policy deletes nothing."""
    assert [retention.policy_of(one) for one in (owner(), RETAIN, DELETED, SCALED, BOTH)] == [
        (False, False),
        (False, False),
        (False, True),
        (True, False),
        (True, True),
    ]
