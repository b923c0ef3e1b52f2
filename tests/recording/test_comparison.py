"""What two servers may answer differently is no difference; what controllers write does not count;
everything else does.
"""

from typing import Any

import pytest

from fakekube.recording.comparison import ALIKE, Answer, Setting, differences
from fakekube.recording.exchanges import Exchange
from fakekube.recording.translation import Translation

OLD, NEW = "11111111-2222-4333-8444-555555555555", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"


def told(
    recorded: Any, there: Any, *, method: str = "GET", path: str = "/api/v1/namespaces/default/pods/p", code: int = 200,
    setting: Setting = ALIKE,
) -> list[str]:
    """The differences of an answer."""
    exchange = Exchange({"method": method, "path": path, "query": {}, "code": 200, "answer": recorded})
    translation = Translation("pre-", ["default"])
    translation.learn(recorded, there)
    return [str(each) for each in differences(exchange, Answer(code, there), translation, setting)]


@pytest.mark.parametrize(("recorded", "there"), [
    ({"metadata": {"uid": OLD, "resourceVersion": "1"}}, {"metadata": {"uid": NEW, "resourceVersion": "999"}}),
    ({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}}, {"metadata": {"creationTimestamp": "2031-12-01T10:10:10Z"}}),
    ({"metadata": {"namespace": "default"}}, {"metadata": {"namespace": "pre-default"}}),
    ({"spec": {"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7"]}},
     {"spec": {"clusterIP": "10.96.1.1", "clusterIPs": ["10.96.1.1"]}}),
    ({"metadata": {"managedFields": [{"manager": "me", "time": "2026-01-01T00:00:00Z"}]}},
     {"metadata": {"managedFields": [
         {"manager": "kubelet", "subresource": "status"}, {"manager": "me", "time": "2030-01-01T00:00:00Z"}]}}),
    ({"rows": [{"cells": ["p", "5s"]}], "columnDefinitions": [{"name": "Name", "description": ""}]},
     {"rows": [{"cells": ["p", "2m10s"]}], "columnDefinitions": [{"name": "Name", "description": "Name must be unique."}]}),
    ({"spec": {"volumes": [{"name": "kube-api-access-bcdfg"}]}}, {"spec": {"volumes": [{"name": "kube-api-access-zzzzz"}]}}),
    ({"metadata": {"name": "j-bcdfg", "generateName": "j-"}}, {"metadata": {"name": "j-zzzzz", "generateName": "j-"}}),
    ({"reason": "Conflict", "message": "2 conflicts:\n- b\n- a", "details": {"causes": [{"field": "b"}, {"field": "a"}]}},
     {"reason": "Conflict", "message": "2 conflicts:\n- a\n- b", "details": {"causes": [{"field": "a"}, {"field": "b"}]}}),
    ({"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "x"}},
     {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "y"}}),
    ({"spec": {"username": "kubernetes-admin", "groups": ["system:masters"]}},
     {"spec": {"username": "root", "uid": "7", "groups": ["system:masters"], "extra": {"a": ["b"]}}}),
    ({"items": [{"metadata": {"name": "d-bcdfg", "generateName": "d-", "ownerReferences": []}}]}, {"items": []}),
])
def test_what_servers_make_up_is_no_difference(recorded: Any, there: Any) -> None:
    """Given answers that differ in what a server makes up / when they are compared / then nothing
    is told.
    """
    assert [each for each in told(recorded, there) if not each.startswith("state items")] == []


@pytest.mark.parametrize(("recorded", "there", "expected"), [
    ({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}},
     {"metadata": {"creationTimestamp": "2026-01-01T00:00:00.000000Z"}},
     'answer metadata.creationTimestamp: "<time>" recorded, "<time.6>" there'),
    ({"metadata": {"uid": OLD, "ownerReferences": [{"name": "j", "uid": OLD}]}},
     {"metadata": {"uid": NEW, "ownerReferences": []}},
     f'answer metadata.ownerReferences[j]: {{"name":"j","uid":"{OLD}"}} recorded, (none) there'),
    ({"spec": {"replicas": 1}}, {"spec": {"replicas": 2}}, "answer spec.replicas: 1 recorded, 2 there"),
    ({"status": {"phase": "Running"}}, {"status": {"phase": "Pending"}},
     'state status.phase: "Running" recorded, "Pending" there'),
    ({"spec": {"nodeName": "node-0"}}, {"spec": {}}, 'state spec.nodeName: "node-0" recorded, (none) there'),
    ({"items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]},
     {"items": [{"metadata": {"name": "b"}}, {"metadata": {"name": "a"}}]},
     'answer order[0]: "a" recorded, "b" there'),
    ({"items": [{"metadata": {"name": "a", "ownerReferences": []}}]}, {"items": []},
     'state items.a: {"metadata":{"name":"a","ownerReferences":[]}} recorded, (none) there'),
    ({"items": [{"metadata": {"name": "a"}}]}, {"items": []}, 'answer items.a: {"metadata":{"name":"a"}} recorded, (none) there'),
    ({"metadata": {"generateName": "j-", "name": "j-bcdfg"}}, {"metadata": {"generateName": "j-", "name": "j-1"}},
     'answer metadata.name: "j-<suffix>" recorded, "j-1" there'),
])
def test_what_is_a_difference(recorded: Any, there: Any, expected: str) -> None:
    """Given answers that differ / when they are compared / then the field is told first, and
    whether it is the server's or its controllers'.
    """
    assert told(recorded, there)[0] == expected


def test_the_status_of_what_is_made_is_the_servers() -> None:
    """Given answers with another status / when a POST was asked, or a custom kind / then it counts;
    when a code differs, it alone is told.
    """
    answers = {"status": {"phase": "a"}}, {"status": {"phase": "b"}}
    assert told(*answers, method="POST") == ['answer status.phase: "a" recorded, "b" there']
    assert told(*answers, path="/apis/stable.example.com/v1/namespaces/default/shirts/s")[0].startswith("answer")
    assert told(*answers, path="/apis/apps/v1/namespaces/default/deployments/d")[0].startswith("state")
    assert told(*answers, code=404) == ["code: 200 recorded, 404 there"]


def test_what_is_known_of_the_clusters() -> None:
    """Given answers that differ in what controllers have made / when no pod runs there, controllers
    of an add-on wrote it, or something was not made there / then that does not count; what a client
    has made does.
    """
    owned = {"metadata": {"name": "web", "ownerReferences": [{"name": "d", "uid": OLD}]}, "spec": {"replicas": 3}}
    other = {**owned, "spec": {"replicas": 1}}
    lists = {"items": [owned]}, {"items": [other]}
    sets = "/apis/apps/v1/namespaces/default/replicasets"
    for answers, path in (((owned, other), f"{sets}/web"), (lists, sets)):
        assert told(*answers, path=path)[0].startswith("answer")
        assert told(*answers, path=path, setting=Setting(idle=True))[0].startswith("state")
    pod = {"metadata": {"name": "p"}, "spec": {"a": 1}}, {"metadata": {"name": "p"}, "spec": {"a": 2}}
    assert told(*pod)[0].startswith("answer")
    assert told(*pod, setting=Setting(idle=True))[0].startswith("state")
    assert told(*pod, method="POST", setting=Setting(idle=True))[0].startswith("answer")
    assert told(*pod, code=404, setting=Setting(idle=True)) == ["state: 200 recorded, 404 there"]
    status = {"status": {"a": 1}}, {"status": {"a": 2}}
    queues = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q"
    assert told(*status, path=queues)[0].startswith("answer")
    assert told(*status, path=queues, setting=Setting(controlled=True))[0].startswith("state")
    named = {"items": [{"metadata": {"namespace": "default", "name": "a"}}]}, {"items": []}
    assert told(*named, setting=Setting(("default/a",))) == []
    assert told(*named, setting=Setting(("default/b",)))[0].startswith("answer")


def test_what_the_tests_own_controllers_have_written() -> None:
    """Given looks and writes that differ / when controllers of the test's own ran where it was
    recorded / then what a look shows does not count, and the answer to a write does.
    """
    web = {"metadata": {"name": "web"}}, {"metadata": {"name": "web", "annotations": {"a": "b"}}}
    assert told(*web, setting=Setting(extra=True))[0].startswith("state")
    assert told(*web, code=404, setting=Setting(extra=True))[0].startswith("state")
    assert told(*web, method="PUT", setting=Setting(extra=True))[0].startswith("answer")


def test_a_pods_service_account() -> None:
    """Given a pod that got a service account there alone / when no controller for service accounts
    ran where it was recorded / then that is no difference; another volume is.
    """
    given = {"spec": {"containers": [{"name": "c"}], "volumes": [{"name": "own"}]}}
    access = {"name": "kube-api-access-bcdfg"}
    there = {"spec": {
        "containers": [{"name": "c", "volumeMounts": [access]}], "volumes": [{"name": "own"}, access],
        "serviceAccount": "default", "serviceAccountName": "default"}}
    assert len(told(given, there, method="POST")) == 4
    assert told(given, there, method="POST", setting=Setting(accounts=False)) == []
    there["spec"]["volumes"].append({"name": "other"})
    [difference] = told(given, there, method="POST", setting=Setting(accounts=False))
    assert difference.startswith("answer spec.volumes[other]")


def test_finalizers_of_what_controllers_have_made() -> None:
    """Given a pod of a Job that has its finalizer still / when it is compared / then that is what
    its controller writes; of a pod of the test's own it counts.
    """
    owned = {"metadata": {"name": "p", "ownerReferences": [{"name": "j"}]}}
    held = {"metadata": {**owned["metadata"], "finalizers": ["x.y/z"]}}
    assert told(owned, held)[0].startswith("state")
    assert told({"metadata": {"name": "p"}}, {"metadata": {"name": "p", "finalizers": ["x.y/z"]}})[0].startswith("answer")


def test_errors_of_a_schema_come_in_any_order() -> None:
    """Given a custom object with two errors, which are told in another order there / when the
    answers are compared / then they do not differ; of a kind of Kubernetes' own they do.
    """
    def refused(*fields: str) -> dict[str, Any]:
        causes = [
            {"reason": "FieldValueInvalid", "message": f"Invalid value: bad {field}", "field": f"spec.{field}"}
            for field in fields]
        texts = ", ".join(f"{cause['field']}: {cause['message']}" for cause in causes)
        message = f'W.x.dev "b" is invalid: [{texts}]'
        return {"kind": "Status", "reason": "Invalid", "message": message, "details": {"causes": causes}}

    answers = refused("a", "b"), refused("b", "a")
    assert told(*answers, method="POST", path="/apis/x.dev/v1/namespaces/default/ws") == []
    assert told(*answers, method="POST", path="/apis/batch/v1/namespaces/default/jobs") != []
    assert told(refused("a", "b"), refused("a", "c"), method="POST", path="/apis/x.dev/v1/namespaces/default/ws") != []
