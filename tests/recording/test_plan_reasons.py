"""What is not played says why, whatever it is."""

from typing import Any

import pytest

from fakekube.recording.exchanges import Exchange
from fakekube.recording.plan import Conversation, gives_accounts, other_setup, plan

Tree = dict[str, Any]
POD = "/api/v1/namespaces/default/pods/p"
PODS = "/api/v1/namespaces/default/pods"


def asked(method: str, path: str, answer: Any = None, code: int = 200, **line: Any) -> Exchange:
    return Exchange({"number": 1, "cluster": "0", "method": method, "path": path, "answer": answer, "code": code, **line})


def reasons(conversation: Conversation) -> list[str]:
    return [step.reason for step in conversation.steps]


def named(name: str, **more: Any) -> Tree:
    return {"metadata": {"name": name}, **more}


@pytest.mark.parametrize(("exchange", "reason"), [
    (asked("GET", "/fakekube/v1/clock"), "a path of fakekube's own"),
    *((asked("GET", f"{POD}/{name}"), "commands, ports and logs of containers are not asked again")
      for name in ("exec", "attach", "portforward", "log", "proxy")),
    (asked("GET", f"{POD}/status", stream="text"), "commands, ports and logs of containers are not asked again"),
    (asked("GET", f"{POD}/status", stream="session"), "commands, ports and logs of containers are not asked again"),
    (asked("GET", f"{POD}/status", stream="watch"), ""),
    (asked("POST", PODS, fault="f", served=False, told=False), "it met a fault, and was not done"),
    (asked("GET", POD, fault="f", served=True, told=False), "a fault changed what it was answered"),
    (asked("PUT", POD, fault="f", served=True, told=False), ""),
    (asked("GET", POD, fault="f", served=False, told=True), ""),
    (asked("GET", POD, code=304), "its client had the answer already"),
    (asked("GET", POD, code=401), "who asked was not known"),
    (asked("GET", PODS, query={"fieldSelector": ["spec.nodeName=n"]}), "it is about what is not the test's own"),
    (asked("POST", PODS, bodyBase64="aGk="), "it is protobuf, which is not translated: ask for JSON"),
    (asked("POST", PODS, headers={"content-type": "application/vnd.kubernetes.protobuf"}),
     "it is protobuf, which is not translated: ask for JSON"),
    (asked("POST", PODS, headers={"content-type": "application/cbor"}), "it is protobuf, which is not translated: ask for JSON"),
    (asked("POST", PODS, headers={"content-type": "application/json"}), ""),
    (asked("POST", PODS, masked=True), "its values are masked: record them with --secrets"),
    (asked("GET", POD, masked=True), ""),
    (asked("GET", "/apis/x.dev/v1/namespaces/default/ws"), "its API group is not served there"),
    (asked("GET", "/openapi/v3/apis/x.dev/v1"), "its API group is not served there"),
    (asked("GET", "/apis/x.dev/v1/namespaces/default/ws", code=404), ""),
    (asked("GET", "/apis/apps/v1/namespaces/default/deployments"), ""),
    (asked("GET", "/version"), ""),
    (asked("POST", "/version"), "it is about what is not the test's own"),
    (asked("POST", "/api/v1/namespaces", named("a"), 201), ""),
    (asked("GET", "/api/v1/namespaces/kube-system"), "it is about a namespace of the system"),
    (asked("GET", "/api/v1/namespaces/kube-public"), "it is about a namespace of the system"),
    (asked("GET", "/api/v1/namespaces/kube-node-lease"), "it is about a namespace of the system"),
    (asked("GET", "/api/v1/namespaces/default"), ""),
    (asked("DELETE", "/api/v1/namespaces/default"), "it is about a namespace of the system"),
    (asked("DELETE", "/api/v1/namespaces"), "it is about what is not the test's own"),
    (asked("GET", "/api/v1/namespaces"), ""),
    (asked("GET", "/api/v1/namespaces/kube-system/pods"), "it is about a namespace of the system"),
    (asked("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {}, 201),
     "everybody may do everything where it was recorded"),
    (asked("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {}, 201), "everybody may do everything where it was recorded"),
    (asked("GET", "/api/v1/pods", {"items": [{"metadata": {"name": "p", "namespace": "default"}}]}), ""),
    (asked("GET", "/api/v1/pods", {"rows": [{"cells": [], "object": {"metadata": {"name": "p", "namespace": "d"}}}]}), ""),
    (asked("GET", "/api/v1/pods", {"items": [{"metadata": {"name": "p", "namespace": "default"}}]}, query={"limit": ["1"]}),
     "it is about what is not the test's own"),
    (asked("GET", "/api/v1/pods", {"items": [{"metadata": {"name": "p", "namespace": "default"}}]}, query={"continue": ["c"]}),
     "it is about what is not the test's own"),
    (asked("GET", "/api/v1/pods", {"items": []}), "it is about what is not the test's own"),
    (asked("GET", "/api/v1/nodes", {"items": [named("n")]}), "it is about what is not the test's own"),
    *((asked("POST", f"/apis/{group}/v1/{resource}", named("h"), 201), "it would have a say in the requests of others")
      for group, resource in (
          ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
          ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
          ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
          ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
          ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
          ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"), ("apiregistration.k8s.io", "apiservices"),
          ("flowcontrol.apiserver.k8s.io", "flowschemas"), ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"))),
    (asked("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", named("high"), 201),
     "without a namespace: --allow-cluster-scoped plays it, with a name of its own"),
    (asked("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/high"), "it is about what is not the test's own"),
    (asked("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/high"), "it is about what is not the test's own"),
])
def test_a_request_that_is_not_played(exchange: Exchange, reason: str) -> None:
    """Given one request / when it is planned for a cluster that serves few groups / then it is
    played, or what is said tells why not.
    """
    groups = (
        "apps", "scheduling.k8s.io", "authorization.k8s.io", "authentication.k8s.io", "admissionregistration.k8s.io",
        "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io")
    assert reasons(plan("t", {}, [exchange], groups=groups)) == [reason]


@pytest.mark.parametrize(("path", "answer", "code", "reason"), [
    ("/api/v1/nodes", named("n"), 201, True),
    ("/api/v1/persistentvolumes", named("v"), 201, True),
    ("/apis/resource.k8s.io/v1/resourceslices", named("s"), 201, True),
    ("/api/v1/nodes", named("n"), 409, False),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", named("c", globalDefault=True), 201, True),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", named("c", globalDefault=False), 201, False),
    ("/apis/storage.k8s.io/v1/storageclasses",
     {"metadata": {"name": "c", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}, 201, True),
    ("/apis/storage.k8s.io/v1/storageclasses",
     {"metadata": {"name": "c", "annotations": {"storageclass.kubernetes.io/is-default-class": "false"}}}, 201, False),
    ("/apis/rbac.authorization.k8s.io/v1/clusterroles",
     {"metadata": {"name": "c", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}}, 201, True),
    ("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "c", "labels": {"view": "true"}}}, 201, False),
    ("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
     named("b", subjects=[{"kind": "ServiceAccount"}, {"kind": "Group"}]), 201, True),
    ("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", named("b", subjects=[{"kind": "ServiceAccount"}]), 201, False),
    ("/apis/x.dev/v1/queues", named("q"), 201, True),
])
def test_what_others_would_notice(path: str, answer: Tree, code: int, reason: bool) -> None:
    """Given an object without a namespace that may be made / when others use the cluster, too /
    then what gives or allows them something is not played unless nobody else is there.
    """
    noticed = "others would notice it: --alone plays it where there are none"
    exchange = asked("POST", path, answer, code)
    assert reasons(plan("t", {}, [exchange], cluster_scoped=True)) == [noticed if reason else ""]
    found = plan("t", {}, [exchange], cluster_scoped=True, alone=True)
    assert reasons(found) == [""]
    assert found.clusterwide == ([answer["metadata"]["name"]] if code < 300 else [])


def test_what_was_made_is_the_tests_own() -> None:
    """Given a class and a kind that are made, one by apply / when they are used afterwards / then
    all of that is played, and both are known by their names; what is not made is missing.
    """
    classes, definitions = "/apis/scheduling.k8s.io/v1/priorityclasses", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    kind = named("ws.x.dev", spec={"group": "x.dev", "names": {"plural": "ws"}})
    exchanges = [
        asked("POST", classes, named("high"), 201), asked("GET", f"{classes}/high"), asked("DELETE", f"{classes}/high"),
        asked("PATCH", f"{classes}/low", named("low"), 201), asked("PATCH", f"{classes}/mid", named("mid"), 200),
        asked("POST", definitions, kind, 201), asked("POST", "/apis/x.dev/v1/namespaces/team/ws", named("w"), 201),
    ]
    found = plan("t", {"nodes": 1}, exchanges, cluster_scoped=True, groups=["scheduling.k8s.io", "apiextensions.k8s.io"], nodes=0)
    assert reasons(found) == ["", "", "", "", "it is about what is not the test's own", "", ""]
    assert (found.clusterwide, found.definitions, found.namespaces, found.made) == (
        ["high", "low"], ["ws.x.dev"], ["team"], ["team"])
    assert (found.missing, found.idle) == ([], True)
    assert found.summary() == {
        "create priorityclasses": 1, "get priorityclasses": 1, "delete priorityclasses": 1, "patch priorityclasses": 1,
        "create customresourcedefinitions": 1, "create ws": 1}
    found = plan("t", {}, exchanges[5:], nodes=0)
    assert reasons(found) == [
        "without a namespace: --allow-cluster-scoped plays it, with a name of its own", "it is about what is not made there"]
    assert (found.missing, found.idle) == ([("ws", "team/w")], False)


def test_namespaces_that_are_there_and_those_that_are_made() -> None:
    """Given looks and writes in namespaces / when the conversation is planned / then those that it
    made need no making, one that was only listed neither, and what is seen there was there.
    """
    found = plan("t", {}, [
        asked("POST", "/api/v1/namespaces", named("own"), 201),
        asked("POST", "/api/v1/namespaces", named("dry"), 201, query={"dryRun": ["All"]}),
        asked("POST", "/api/v1/namespaces", {"kind": "Status", "metadata": {"name": "no"}}, 409),
        asked("GET", "/api/v1/namespaces/own/pods/p"), asked("GET", "/api/v1/namespaces/listed/pods", {"items": []}),
        asked("GET", "/api/v1/namespaces/seen/pods/p"), asked("GET", "/api/v1/namespaces/gone/pods/p", code=404),
        asked("GET", "/api/v1/namespaces/default/pods", {"items": []}),
        asked("GET", "/api/v1/namespaces/kube-system/pods/p"),
    ])
    assert found.namespaces == ["own", "listed", "seen", "gone", "default"]
    assert found.made == ["seen", "default"]


def test_what_a_webhook_of_the_test_sees() -> None:
    """Given webhooks, registered or made by the test / when what they are asked about is written /
    then that is not played, and reading it is; * is everything.
    """
    def hooks(resource: str) -> Tree:
        return {"webhooks": [{"rules": [{"resources": [f"{resource}/status"]}]}]}

    hooked = "a webhook of the test's own has a say in it"
    made = asked("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", hooks("services"), 201)
    found = plan("t", {"registered": [hooks("pods")]}, [
        asked("POST", PODS, code=201), asked("GET", POD), asked("POST", "/api/v1/namespaces/default/services", code=201), made,
        asked("PUT", "/api/v1/namespaces/default/services/s")])
    assert reasons(found) == [hooked, "", "", "it would have a say in the requests of others", hooked]
    found = plan("t", {"registered": [hooks("*")]}, [asked("POST", PODS, code=201)])
    assert reasons(found) == [hooked]


def test_what_strangers_have_made() -> None:
    """Given a cluster with controllers of the test's own / when objects show up that no request has
    made / then what is about them is not played; what every namespace has, and what has an owner,
    is.
    """
    maps = "/api/v1/namespaces/default/configmaps"
    exchanges = [
        asked("POST", maps, named("mine"), 201),
        asked("GET", maps, {"items": [named("mine"), named("theirs"), named("kube-root-ca.crt"), named("default"),
                                      named("kubernetes"), {"metadata": {"name": "owned", "ownerReferences": [{}]}}]}),
        asked("GET", f"{maps}/mine", named("mine")), asked("GET", f"{maps}/theirs", named("theirs")),
        asked("GET", f"{maps}/kube-root-ca.crt", named("kube-root-ca.crt")),
        asked("GET", f"{maps}/owned"), asked("DELETE", f"{maps}/other", {"kind": "Status"}),
        asked("GET", f"{maps}/other", {"kind": "Status"}, 404),
    ]
    gone = "it is about what is not made there"
    for facts in ({"extra": ["c"]}, {"prepared": ["c"]}):
        found = plan("t", facts, exchanges)
        assert reasons(found) == ["", "", "", gone, "", "", gone, gone]
        assert found.missing == [("configmaps", "default/theirs"), ("configmaps", "default/other")]
    assert set(reasons(plan("t", {}, exchanges))) == {""}


def test_the_last_of_equal_looks_is_played() -> None:
    """Given a test that polls / when nothing is written between / then the last look alone is
    played, as far as who asks, and for what form, is the same; a look from which a name that a
    controller made up was taken stays.
    """
    later = "the same look follows, with nothing written between"
    made_up = {"items": [{"metadata": {"name": "p", "generateName": "p"}}]}
    found = plan("t", {}, [
        asked("GET", PODS), asked("GET", PODS), asked("GET", PODS, user="b"), asked("GET", PODS, stream="watch"),
        asked("GET", PODS, headers={"accept": "x"}), asked("GET", PODS, query={"limit": ["1"]}), asked("POST", PODS, code=201),
        asked("GET", PODS, made_up), asked("GET", POD), asked("GET", PODS, made_up), asked("GET", PODS)])
    assert reasons(found) == [later, "", "", "", "", "", "", "", "", later, ""]


def test_a_setup_that_is_not_there() -> None:
    """Given a cluster that had more than the one to play on / when its conversation is planned /
    then nothing is played, and what it had is told; an autoscaler had metrics.
    """
    scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    found = plan("t", {}, [asked("GET", POD)], setup=["kueue"])
    assert reasons(found) == ["its cluster had kueue: --any-setup plays it all the same"]
    found = plan("t", {}, [asked("GET", POD), asked("GET", scalers)], groups=["autoscaling"])
    assert reasons(found) == ["its cluster had metrics.k8s.io: --any-setup plays it all the same"] * 2
    assert reasons(plan("t", {}, [asked("GET", scalers)], groups=["autoscaling", "metrics.k8s.io"])) == [""]
    assert reasons(plan("t", {}, [asked("GET", scalers)])) == [""]
    facts = {"addons": ["kueue", "jobset"], "featureGates": {"A": True, "B": False, "C": True}, "defaultStorageClass": True,
             "member": "m"}
    assert other_setup(facts, gates=["C"], addons=["jobset"]) == (
        "kueue", "a default StorageClass", "other clusters beside it", "A")
    assert other_setup({}) == ()


@pytest.mark.parametrize(("controllers", "gives"), [
    (None, True), ("*", True), ("*,-serviceaccount", False), ("job", False), ("job,serviceaccount", True), ("", False),
])
def test_who_gives_service_accounts(controllers: str | None, gives: bool) -> None:
    """Given the controllers of a recorded cluster / when that is asked / then pods got accounts
    where the controller for them ran.
    """
    assert gives_accounts({} if controllers is None else {"controllers": controllers}) is gives


def test_an_answer_that_a_fault_has_changed_is_not_compared() -> None:
    """Given a write that was done, though its answer was lost / when it is planned / then it is
    played, and its answer is not compared.
    """
    found = plan("t", {}, [asked("PUT", POD, fault="f", served=True, told=False), asked("GET", POD)])
    assert [(step.reason, step.uncompared) for step in found.steps] == [("", "a fault changed what it was answered"), ("", "")]


@pytest.mark.parametrize("shown", [
    {"items": [named("theirs")]}, {"rows": [{"cells": [], "object": named("theirs")}]}, named("theirs"),
])
def test_what_a_look_shows_of_strangers(shown: Tree) -> None:
    """Given a cluster with controllers of the test's own / when a list, a table or an object shows
    what no request has made / then a write to it, whose answer says nothing, is not played.
    """
    maps = "/api/v1/namespaces/default/configmaps"
    found = plan("t", {"extra": ["c"]}, [asked("GET", maps, shown), asked("PUT", f"{maps}/theirs"), asked("PUT", f"{maps}/mine")])
    assert reasons(found) == ["", "it is about what is not made there", ""]
