"""Sub-resources that are not the object: binding, eviction, scale, log; and the kinds that only
answer questions.
"""

import pytest

from fakekube.apimachinery.http import UserInfo
from tests.apiserver.conftest import TABLE, Api

PODS = "/api/v1/namespaces/t/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/t/deployments"
SPEC = {"containers": [{"name": "c", "image": "i"}]}


async def make_pod(api: Api, name: str = "p", **spec: object) -> None:
    answer = await api("POST", PODS, {"metadata": {"name": name}, "spec": {**SPEC, **spec}})
    assert answer.status == 201, answer.tree


@pytest.mark.spec("API-133")
@pytest.mark.parametrize("url", [f"{PODS}/p/binding", "/api/v1/namespaces/t/bindings"])
async def test_binding(api: Api, url: str) -> None:
    """Given a pod / when it is bound, by either path, and bound again / then Success with a code,
    then Conflict.
    """
    await make_pod(api)
    body = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    bound = await api("POST", url, body)
    assert (bound.status, bound.tree["status"], bound.tree["code"]) == (201, "Success", 201)
    assert (await api("GET", f"{PODS}/p")).tree["spec"]["nodeName"] == "n"
    again = await api("POST", url, body)
    assert again.message == 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"'


@pytest.mark.spec("API-134")
async def test_eviction(api: Api) -> None:
    """Given a pod / when evictions of either version come, one under another name / then 400, then
    201.
    """
    await make_pod(api)
    wrong = await api("POST", f"{PODS}/p/eviction", {"metadata": {"name": "q"}})
    assert wrong.message == "name in URL does not match name in Eviction object"
    old = {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "p"}}
    assert (await api("POST", f"{PODS}/p/eviction", old)).status == 201


@pytest.mark.spec("API-132")
async def test_scale(api: Api) -> None:
    """Given a Deployment / when its Scale is read, put, patched and applied / then replicas follow.
    """
    labels = {"app": "d"}
    template = {"metadata": {"labels": labels}, "spec": SPEC}
    await api(
        "POST",
        DEPLOYMENTS,
        {"metadata": {"name": "d"}, "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}},
    )
    url = f"{DEPLOYMENTS}/d/scale"
    scale = (await api("GET", url)).tree
    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == ("Scale", {"replicas": 2}, "app=d")
    shown = (await api("GET", url, headers=TABLE)).tree
    assert [column["name"] for column in shown["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert shown["rows"][0]["cells"][:3] == ["d", 2, 0]
    assert (await api("PUT", url, {**scale, "spec": {"replicas": 3}})).tree["spec"] == {"replicas": 3}
    negative = await api.patch(url, {"spec": {"replicas": -1}})
    assert negative.message == (
        'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )
    applied = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 5}}
    conflict = await api.patch(f"{url}?fieldManager=m", applied, "application/apply-patch+yaml")
    assert conflict.message.startswith("Apply failed with 1 conflict: ")
    assert (await api.patch(url, {"spec": {"replicas": 0}})).tree["spec"] == {}
    forced = await api.patch(f"{url}?fieldManager=m&force=true", applied, "application/apply-patch+yaml")
    assert forced.tree["spec"] == {"replicas": 5}
    assert (await api("GET", f"{DEPLOYMENTS}/d")).tree["metadata"]["generation"] == 4


@pytest.mark.spec("API-136")
async def test_log(api: Api) -> None:
    """Given pods with and without a node / when their logs are read / then text, 204, or what is
    wrong with the question.
    """
    await make_pod(api)
    assert (await api("GET", f"{PODS}/p/log")).status == 204
    await make_pod(api, "q", nodeName="n")
    log = await api("GET", f"{PODS}/q/log?tailLines=2")
    assert (log.response.content_type, log.response.body) == ("text/plain", b"two\nthree\n")
    assert (await api("GET", f"{PODS}/q/log?previous=true")).status == 400
    await make_pod(api, "r", containers=[{"name": "a", "image": "i"}, {"name": "b", "image": "i"}])
    which = await api("GET", f"{PODS}/r/log")
    assert which.message == "a container name must be specified for pod r, choose one of: [a b]"
    assert (await api("GET", f"{PODS}/r/log?container=x")).message == "container x is not valid for pod r"
    bad = await api("GET", f"{PODS}/r/log?tailLines=-1&limitBytes=0")
    assert [cause["field"] for cause in bad.tree["details"]["causes"]] == ["tailLines", "limitBytes"]


@pytest.mark.spec("API-168")
async def test_access_reviews(api: Api) -> None:
    """Given questions about access / when they are well put / then 201 with an answer; else 422
    names what is missing.
    """
    url = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    asked = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    assert (await api("POST", url, asked)).tree["status"] == {"allowed": True}
    assert (await api("POST", url, {})).tree["details"]["causes"][0]["field"] == "spec"
    other = await api("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", asked)
    assert other.tree["details"]["causes"][0]["field"] == "spec.user"
    local = await api(
        "POST", "/apis/authorization.k8s.io/v1/namespaces/t/localsubjectaccessreviews", {"spec": {**asked["spec"], "user": "u"}}
    )
    assert local.tree["details"]["causes"][0]["field"] == "spec.resourceAttributes.namespace"
    rules = await api("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {}})
    assert rules.message == "no namespace on request"


async def test_self_review_prints_the_user(api: Api) -> None:
    """Given a user with everything / when it asks who it is / then all of it comes back, and
    nothing is stored.
    """
    user = UserInfo("ann", ("a", "b"), "u-1", {"k": ("v",)})
    answer = await api("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, user=user)
    assert answer.tree["status"]["userInfo"] == {"username": "ann", "uid": "u-1", "groups": ["a", "b"], "extra": {"k": ["v"]}}


async def test_component_statuses(api: Api) -> None:
    """Given components / when they are listed or read / then they are well; another is not there;
    always with a Warning.
    """
    answer = await api("GET", "/api/v1/componentstatuses")
    assert [item["metadata"]["name"] for item in answer.tree["items"]] == ["controller-manager", "scheduler", "etcd-0"]
    table = (await api("GET", "/api/v1/componentstatuses", headers=TABLE)).tree
    assert table["rows"][0]["cells"][:2] == ["controller-manager", "Healthy"]
    for query, count in (("fieldSelector=metadata.name%3Dscheduler", 1), ("labelSelector=a", 0), ("labelSelector=!a", 3)):
        assert len((await api("GET", f"/api/v1/componentstatuses?{query}")).tree["items"]) == count
    missing = await api("GET", "/api/v1/componentstatuses/nope")
    assert missing.message == 'componentstatus "nope" not found'
    assert missing.tree["details"] == {"name": "nope", "kind": "componentstatus"}
    assert (missing.status, missing.warnings) == (404, ['299 - "v1 ComponentStatus is deprecated in v1.19+"'])


@pytest.mark.parametrize(("path", "status", "text"), [
    ("pods/nope/exec?command=ls", 404, 'pods "nope" not found'),
    ("pods/p/exec?command=ls", 400, "pod p does not have a host assigned"),
    ("pods/p/attach?container=x", 400, "container x is not valid for pod p"),
    ("pods/q/exec?command=ls", 400, "Upgrade request required"),
    ("pods/q/portforward?ports=80", 400, "Upgrade request required"),
    ("pods/q/portforward?ports=80,70000", 400, 'parsing "70000": value out of range'),
    ("pods/q/portforward?ports=x", 400, 'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax'),
    ("pods/q/proxy/some/path", 400, "address not allowed"), ("pods/q/exec?dryRun=All", 400, "dryRun is not supported"),
    ("services/s/proxy/", 503, 'no endpoints available for service "s"'),
    ("services/s:80/proxy/", 404, 'services "s" not found'),
])
async def test_connections_are_refused_clearly(api: Api, path: str, status: int, text: str) -> None:
    """Given pods / when somebody connects who may not / then the first of upstream's checks that
    fails is told.
    """
    await make_pod(api)
    await make_pod(api, "q", nodeName="n")
    answer = await api("GET", f"/api/v1/namespaces/t/{path}")
    assert answer.status == status
    assert text in answer.message


SIGNING_REQUEST = {"metadata": {"name": "c"}, "spec": {
    "signerName": "example.com/signer", "usages": ["client auth"],
    "request": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0t"}}
APPROVED = {"type": "Approved", "status": "True", "reason": "Fine"}


@pytest.mark.spec("API-140")
async def test_approval_takes_conditions_and_metadata_only(api: Api) -> None:
    """Given a signing request, when its approver sends a condition, a label, another spec and a
    certificate, then condition and label stay, with their times; the signer's endpoint cannot
    approve, and no endpoint takes an approval back.
    """
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    created = await api("POST", path, SIGNING_REQUEST)
    assert created.status == 201
    approval = {
        **created.tree, "metadata": {**created.tree["metadata"], "labels": {"by": "me"}},
        "spec": {**created.tree["spec"], "usages": ["server auth"]},
        "status": {"conditions": [APPROVED]}}
    refused = await api("PUT", f"{path}/c/status", approval)
    assert (refused.status, refused.tree["details"]["causes"][0]["message"]) == (
        422, 'Forbidden: updates may not add a condition of type "Approved"')
    approved = await api("PUT", f"{path}/c/approval", approval)
    assert approved.status == 200
    assert approved.tree["spec"] == created.tree["spec"]
    assert approved.tree["metadata"]["labels"] == {"by": "me"}
    condition = approved.tree["status"]["conditions"][0]
    assert {name: condition[name] for name in APPROVED} == APPROVED
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"]
    for endpoint in ("status", "approval"):
        withdrawn = await api("PUT", f"{path}/c/{endpoint}", {**approved.tree, "status": {}})
        assert (withdrawn.status, withdrawn.tree["details"]["causes"][0]["message"]) == (
            422, 'Forbidden: updates may not remove a condition of type "Approved"')


async def test_a_scale_is_read_and_written_at_versions_of_its_object(api: Api) -> None:
    """Given a Deployment / when its Scale is asked for at no version, or written under another uid
    / then 500, and a Conflict.
    """
    path = "/apis/apps/v1/namespaces/t/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    await api("POST", path, {"metadata": {"name": "d"}, "spec": spec})
    read = await api("GET", f"{path}/d/scale?resourceVersion=abc")
    assert (read.status, read.message.partition(":")[0]) == (500, "resourceVersion")
    written = await api("PUT", f"{path}/d/scale", {"metadata": {"name": "d", "uid": "u"}, "spec": {"replicas": 1}})
    assert written.message.startswith('Operation cannot be fulfilled on deployments.apps "d": StorageError: invalid object, ')


@pytest.mark.parametrize(("body", "status", "text"), [
    ({}, 500, "target.name: Required value"),
    ({"target": {"name": "n"}}, 400, "Name parameter required."),
    ({"metadata": {"name": "p"}, "target": {"name": "n"}}, 404, 'pods "p" not found'),
])
async def test_bindings_of_the_collection(api: Api, body: dict[str, object], status: int, text: str) -> None:
    """Given a Binding of no pod / when it is posted to the collection / then its target is looked
    at before its name.
    """
    answer = await api("POST", "/api/v1/namespaces/t/bindings", body)
    assert (answer.status, answer.message) == (status, text)


async def test_a_token_request_is_owned_by_who_asks(api: Api) -> None:
    """Given a TokenRequest with labels / when it is posted / then they stay, and managedFields say
    who asked for what.
    """
    path = "/api/v1/namespaces/t/serviceaccounts"
    await api("POST", path, {"metadata": {"name": "s"}})
    asked = {"metadata": {"labels": {"a": "b"}}, "spec": {"audiences": ["x"]}}
    answer = (await api("POST", f"{path}/s/token?fieldManager=m", asked)).tree
    (entry,) = answer["metadata"]["managedFields"]
    assert (entry["manager"], entry["subresource"], answer["metadata"]["labels"]) == ("m", "token", {"a": "b"})
    assert entry["fieldsV1"]["f:spec"] == {"f:audiences": {}, "f:expirationSeconds": {}}
    elsewhere = await api("POST", f"{path}/s/token", {"metadata": {"namespace": "u"}})
    assert elsewhere.status == 400


async def test_who_finalizes_a_namespace_owns_no_status(api: Api) -> None:
    """Given a Namespace / when its finalizers are written with a status / then nobody owns the
    status.
    """
    body = {"metadata": {"name": "t"}, "status": {"phase": "Active"}}
    written = await api("PUT", "/api/v1/namespaces/t/finalize?fieldManager=m", body)
    assert written.status == 200
    assert not any("f:status" in entry["fieldsV1"] for entry in written.tree["metadata"].get("managedFields", []))


async def test_the_status_of_some_kinds_has_no_metadata_of_its_own(api: Api) -> None:
    """Given a ServiceCIDR and a Service / when status is written with labels / then only the
    Service takes them.
    """
    port = {"spec": {"clusterIP": "None", "ports": [{"port": 1}]}}
    for path, spec in (("/apis/networking.k8s.io/v1/servicecidrs", {"spec": {"cidrs": ["10.7.0.0/24"]}}), (
            "/api/v1/namespaces/t/services", port)):
        made = (await api("POST", path, {"metadata": {"name": "a"}, **spec})).tree
        metadata = {**made["metadata"], "labels": {"a": "b"}}
        written = await api("PUT", f"{path}/a/status", {**made, "metadata": metadata})
        assert (written.status, written.tree["metadata"].get("labels")) == (200, None if "cidrs" in path else {"a": "b"})


async def test_sub_resources_without_tables(api: Api) -> None:
    """Given an Accept header for Tables alone / when a resize or an approval is read / then 406
    before anything is looked for.
    """
    table = {"accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    approval = "/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval"
    for path in ("/api/v1/namespaces/t/pods/x/resize", "/api/v1/namespaces/t/pods/x/ephemeralcontainers", approval):
        assert (await api("GET", path, None, table)).status == 406
    assert (await api("GET", "/api/v1/namespaces/t/pods/x/status", None, table)).status == 404


@pytest.mark.parametrize(("target", "expected"), [
    ({"kind": "Pod", "name": "n"}, 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'),
    ({"kind": "Node"}, "target.name: Required value"), ({"name": "A_b"}, "target.name: Invalid value"),
])
async def test_a_binding_names_a_node(api: Api, target: dict[str, str], expected: str) -> None:
    """Given a target that is no node, has no name or one of no node / when a pod is bound / then
    what is wrong is told, and the pod has no node.
    """
    await make_pod(api)
    answer = await api("POST", f"{PODS}/p/binding", {"metadata": {"name": "p"}, "target": target})
    assert answer.status >= 400
    assert expected in answer.message
    assert "nodeName" not in (await api("GET", f"{PODS}/p")).tree["spec"]


async def test_a_scale_tells_how_many_there_are(api: Api) -> None:
    """Given a Deployment whose status counts three / when its Scale is read / then both numbers and
    the selector are there.
    """
    template = {"metadata": {"labels": {"a": "b"}}, "spec": SPEC}
    made = await api("POST", DEPLOYMENTS, {
        "metadata": {"name": "d"}, "spec": {"replicas": 5, "selector": {"matchLabels": {"a": "b"}}, "template": template}})
    await api("PUT", f"{DEPLOYMENTS}/d/status", {**made.tree, "status": {"replicas": 3}})
    scale = (await api("GET", f"{DEPLOYMENTS}/d/scale")).tree
    assert (scale["spec"], scale["status"]) == ({"replicas": 5}, {"replicas": 3, "selector": "a=b"})
