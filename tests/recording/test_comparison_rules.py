"""What is put out of sight before answers are compared, and what counts of what is left."""

from typing import Any

import pytest

from fakekube.recording.comparison import Answer, Difference, Setting, differences, normal, of_events, own_part
from fakekube.recording.exchanges import Exchange, Told
from fakekube.recording.translation import Translation

Tree = dict[str, Any]
UID = "11111111-2222-4333-8444-555555555555"


@pytest.mark.parametrize(("value", "shown"), [
    ({"resourceVersion": "5"}, {"resourceVersion": "<version>"}), ({"resourceVersion": ""}, {"resourceVersion": ""}),
    ({"uid": UID, "t": "x 2026-01-01T00:00:00.123Z", "u": "2026-01-01T00:00:00+01:00"},
     {"uid": "<uid>", "t": "x <time.3>", "u": "<time>"}),
    ({"continue": "abc"}, {"continue": "<continue>"}), ({"continue": ""}, {"continue": ""}),
    ({"message": "Too large resource version: 9, current: 7"}, {"message": "Too large resource version: 9, current: <version>"}),
    ({"message": "too old resource version: 9 (7)"}, {"message": "too old resource version: 9 (<version>)"}),
    ({"cells": ["5s", "1h2m", "x5s", 3]}, {"cells": ["<age>", "<age>", "x5s", 3]}),
    ({"columnDefinitions": [{"name": "A", "description": "d"}, 1]}, {"columnDefinitions": [{"name": "A"}, 1]}),
    ({"token": "t", "storageVersionHash": "h", "serverAddress": "s", "containerID": "c", "imageID": "i"},
     {"token": "<token>", "storageVersionHash": "<storageVersionHash>", "serverAddress": "<serverAddress>",
      "containerID": "<containerID>", "imageID": "<imageID>"}),
    ({"token": {"a": 1}}, {"token": {"a": 1}}),
    ({"name": "kube-api-access-bcdfg"}, {"name": "kube-api-access-<suffix>"}),
    ({"generateName": "j-", "name": "j-bcdfg"}, {"generateName": "j-", "name": "j-<suffix>"}),
    ({"generateName": "j-", "name": "j-abcde"}, {"generateName": "j-", "name": "j-abcde"}),
    ({"reason": 'RBAC: allowed by ClusterRoleBinding "x" of y\nz'}, {"reason": "RBAC: allowed by "}),
    ({"reason": 'RBAC: allowed by RoleBinding "x"'}, {"reason": "RBAC: allowed by "}),
    ({"reason": 'Else: allowed by RoleBinding "x"'}, {"reason": 'Else: allowed by RoleBinding "x"'}),
    ({"annotations": dict.fromkeys([
        "deployment.kubernetes.io/revision", "pv.kubernetes.io/a", "volume.kubernetes.io/a", "volume.beta.kubernetes.io/a",
        "endpoints.kubernetes.io/a", "node.alpha.kubernetes.io/ttl", "kubernetes.io/a"], "x")},
            {"annotations": {"kubernetes.io/a": "x"}}),
    ({"a": 1, "annotations": {"pv.kubernetes.io/a": "x"}}, {"a": 1}),
    ({"managedFields": [{"manager": name} for name in (
        "kube-controller-manager", "kube-scheduler", "kubelet", "kube-apiserver", "cloud-controller-manager",
            "fakekube-verify")]}, {}),
    ({"managedFields": [
        {"manager": "b", "operation": "Update", "time": "t"}, {"manager": "a", "operation": "Update", "apiVersion": "v2"},
        {"manager": "a", "operation": "Update", "apiVersion": "v1", "subresource": "status"},
        {"manager": "a", "operation": "Update", "apiVersion": "v1", "subresource": "scale"}, {"manager": "a",
            "operation": "Apply"}]},
     {"managedFields": [
         {"manager": "a", "operation": "Apply"},
         {"manager": "a", "operation": "Update", "apiVersion": "v1", "subresource": "scale"},
         {"manager": "a", "operation": "Update", "apiVersion": "v1", "subresource": "status"},
         {"manager": "a", "operation": "Update", "apiVersion": "v2"}, {"manager": "b", "operation": "Update"}]}),
    ({"username": "me", "uid": "7", "extra": {}, "groups": ["a", "system:masters"], "b": 1},
     {"username": "<administrator>", "groups": ["a", "system:masters"], "b": 1}),
    ({"username": "me", "uid": "7", "groups": ["a"]}, {"username": "me", "uid": "7", "groups": ["a"]}),
    ({"resourceRules": [{"verbs": ["b"]}, {"verbs": ["a"]}], "nonResourceRules": [2, 1], "others": [2, 1]},
     {"resourceRules": [{"verbs": ["a"]}, {"verbs": ["b"]}], "nonResourceRules": [1, 2], "others": [2, 1]}),
    ({"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "x"}}, {"metadata": {"name": "kube-root-ca.crt"},
        "data": "<ca>"}),
    ({"metadata": {"name": "kube-root-ca.crt"}}, {"metadata": {"name": "kube-root-ca.crt"}}),
    ({"metadata": {"name": "a"}, "data": {"ca.crt": "x"}}, {"metadata": {"name": "a"}, "data": {"ca.crt": "x"}}),
    ({"reason": "Conflict", "message": "head\n- b\n- a", "details": {"causes": [{"f": "b"}, {"f": "a"}], "k": 1}},
     {"reason": "Conflict", "message": "head\n- a\n- b", "details": {"causes": [{"f": "a"}, {"f": "b"}], "k": 1}}),
    ({"reason": "Conflict", "message": "head\n- b\n- a"}, {"reason": "Conflict", "message": "head\n- a\n- b"}),
    ({"reason": "Else", "message": "head\n- b\n- a"}, {"reason": "Else", "message": "head\n- b\n- a"}),
])
def test_what_two_servers_may_answer_differently(value: Tree, shown: Tree) -> None:
    """Given an answer / when what servers choose is put out of sight / then that is as it stands
    here, also inside of a list, and all else is as it was.
    """
    before = repr(value)
    assert normal([value, 1], Translation("pre-", ["default"])) == [shown, 1]
    assert repr(value) == before


def asked(path: str, recorded: Any, method: str = "GET", **line: Any) -> Exchange:
    return Exchange({"method": method, "path": path, "query": {}, "code": 200, "answer": recorded, **line})


@pytest.mark.parametrize(("field", "kind"), [
    (("status", "a"), "state"), (("statuses",), "answer"), (("endpoints",), "state"), (("subsets",), "state"),
    (("spec", "volumeName"), "state"), (("spec", "volumeNames"), "answer"), (("spec", "nodeName"), "state"),
    (("spec", "taints"), "state"), (("cells",), "state"), (("metadata", "deletionTimestamp"), "state"),
    (("metadata", "deletionGracePeriodSeconds"), "state"), (("metadata", "labels", "topology.kubernetes.io/zone"), "state"),
    (("metadata", "labels", "topology.kubernetes.io/region"), "state"), (("metadata", "labels", "topology"), "answer"),
    (("metadata", "finalizers"), "answer"),
])
def test_whose_a_field_is(field: tuple[str, ...], kind: str) -> None:
    """Given a field that differs, of an object and of one of a list / when it is compared / then
    what controllers and kubelets write does not count.
    """
    def with_field(value: str) -> Tree:
        tree: Tree = {}
        below = tree
        for name in field[:-1]:
            below = below.setdefault(name, {})
        below[field[-1]] = value
        return tree

    def listed(tree: Tree) -> Tree:
        return {"items": [{**tree, "metadata": {**tree.get("metadata", {}), "name": "p"}}]}

    translation = Translation("pre-", ["default"])
    old, new, path = with_field("a"), with_field("b"), "/api/v1/namespaces/default/pods"
    assert [each.kind for each in differences(asked(f"{path}/p", old), Answer(200, new), translation)] == [kind]
    assert [each.kind for each in differences(asked(path, listed(old)), Answer(200, listed(new)), translation)] == [kind]


def test_codes_and_warnings() -> None:
    """Given answers with another code or other warnings / when they are compared / then both codes
    are told with their messages; one that forbids what was allowed is the user's; of what tells
    what is installed the code alone counts, and warnings.
    """
    translation, path = Translation("pre-", ["default"]), "/api/v1/namespaces/default/pods/p"
    status = {"kind": "Status", "message": "no"}
    refused = Answer(403, {"kind": "Status", "message": 'pods is forbidden: User "a" cannot'})
    assert differences(asked(path, {}), Answer(404, status), translation) == [Difference("code", "", "200", '404 "no"')]
    assert differences(asked(path, {}), refused, translation) == [
        Difference("forbidden", "", "200", '403 "pods is forbidden: User \\"a\\" cannot"')]
    assert differences(asked(path, status, code=404), refused, translation)[0].kind == "code"
    assert differences(asked(path, status, code=400), refused, translation)[0].kind == "code"
    assert differences(asked(path, {}), Answer(403, status), translation)[0].kind == "code"
    warned = asked(path, {}, answerHeaders=[["Warning", "a"], ["Age", "b"], ["warning", "c"]])
    assert differences(warned, Answer(200, {}, ("a", "c")), translation) == []
    assert differences(warned, Answer(200, {}, ("a",)), translation) == [Difference("warning", "", '["a","c"]', '["a"]')]
    for known in ("/version", "/api", "/apis", "/apis/", "/metrics", "/openapi/v3", "/api/v1/namespaces/default/events"):
        assert differences(asked(known, {"a": 1}), Answer(200, {"a": 2}), translation) == []
    assert differences(asked("/api/v1", {"a": 1}), Answer(200, {"a": 2}), translation) == [Difference("answer", "a", "1", "2")]
    assert differences(asked(path, "a"), Answer(200, "b"), translation) == []


def test_lists_of_all_namespaces() -> None:
    """Given a list of all namespaces / when it is compared / then the objects of the test's own
    count; of what came, that is laid aside which is in no namespace of ours.
    """
    def of(*names: str) -> Tree:
        return {"items": [{"metadata": {"namespace": name, "name": "p"}} for name in names]}

    translation = Translation("pre-", ["default"], ["high"])
    recorded = of("default", "kube-system")
    assert differences(asked("/api/v1/pods", recorded), Answer(200, of("pre-default")), translation) == []
    assert len(differences(asked("/api/v1/pods", recorded), Answer(200, of()), translation)) == 1
    assert own_part(of("pre-default", "kube-system", "default"), translation) == of("pre-default")
    rows = {"rows": [{"object": {"metadata": {"name": "pre-high"}}}, {"object": {"metadata": {"name": "high"}}}, {"cells": []}]}
    assert own_part(rows, translation) == {"rows": rows["rows"][:1]}
    assert (own_part("x", translation), own_part({"a": 1}, translation)) == ("x", {"a": 1})


def event(kind: str, name: str, namespace: str = "default", **more: Any) -> Tree:
    return {"type": kind, "object": {"kind": "Pod", "metadata": {"name": name, "namespace": namespace}, **more}}


def test_events_of_a_watch() -> None:
    """Given what a watch told / when it is compared / then it is by object: which events, without
    how often one was modified, and the last state; what others made, bookmarks and the certificate
    do not count.
    """
    exchange = asked("/api/v1/namespaces/default/pods", None, stream="watch")
    exchange.told += [Told(0.0, each) for each in (
        event("ADDED", "a"), event("MODIFIED", "a"), event("MODIFIED", "a", spec={"b": 1}), event("ADDED", "b"), event("DELETED",
            "b"),
        event("ADDED", "c", status={"x": 1}), event("BOOKMARK", "d"), event("ADDED", "kube-root-ca.crt"), event("ADDED", "e",
            "else"),
        event("ADDED", "f"), event("MODIFIED", "g"), "text", event("ADDED", "h"), {"type": "ERROR",
            "object": {"reason": "Expired"}})]
    there = [
        event("ADDED", "a", "pre-default"), event("MODIFIED", "a", "pre-default", spec={"b": 2}), event("ADDED", "b",
            "pre-default"),
        event("ADDED", "c", "pre-default", status={"x": 2})]
    translation = Translation("pre-", ["default"])
    assert of_events(exchange, list(there), translation, Setting(missing=("default/f",))) == [
        Difference("event", "Pod default/a spec.b", "1", "2"), Difference("event", "Pod default/b", "ADDED DELETED", "ADDED"),
        Difference("state", "Pod default/c status.x", "1", "2"), Difference("state", "Pod default/g", "MODIFIED", "nothing"),
        Difference("event", "Pod default/h", "ADDED", "nothing"), Difference("event", " Expired", "ERROR", "nothing")]
    idle = of_events(exchange, list(there), translation, Setting(missing=("default/f",), idle=True))
    assert {each.kind for each in idle} == {"state"}
