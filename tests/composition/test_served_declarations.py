"""What an add-on serves to a cluster that is elsewhere: aggregated APIs and webhooks, with the
objects that stand for them.
"""

import base64
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.http import Request, Response
from fakekube.composition import webhookserver
from fakekube.composition.apiserviceserver import APIServiceServer, _Router, _service
from fakekube.composition.functionwebhooks import Given
from fakekube.composition.webhookserver import WebhookServer
from fakekube.runtime.addon import AggregatedAPI


class Answers:
    """A Handler that says who it is."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def handle(self, request: Request) -> Response:
        return Response(200, f"{self.name} {request.path}".encode())


class Client:
    """Notes what is written; it has one ConfigMap."""

    def __init__(self, data: Any = None) -> None:
        self.data = data
        self.calls: list[Any] = []

    async def get(self, resource: Any, name: str, namespace: str, *, missing_ok: bool) -> Any:
        self.calls.append(("get", resource.plural, namespace, name, missing_ok))
        return self.data

    async def apply(self, tree: Any) -> None:
        self.calls.append(tree)

    async def delete(self, resource: Any, name: str, namespace: str = "", *, missing_ok: bool) -> None:
        self.calls.append(("delete", resource.plural, namespace, name, missing_ok))


def server(client: Client, *names: str, host: str = "127.0.0.1") -> APIServiceServer:
    apis = [AggregatedAPI(name, cast("Any", Answers(name)), 100, 5) for name in names]
    return APIServiceServer(cast("Any", client), apis, cast("Any", None), host=host)


NONE_PUBLISHED = "no requestheader-client-ca-file is published by extension-apiserver-authentication, so anybody could ask"
PUBLISHED = {"data": {"requestheader-client-ca-file": "PEM"}}


@pytest.mark.parametrize(
    ("host", "published", "told"),
    [
        ("10.0.0.1", None, NONE_PUBLISHED),
        ("localhost", None, NONE_PUBLISHED),
        ("h.example", {}, NONE_PUBLISHED),
        ("10.0.0.1", {"data": {"client-ca-file": "PEM"}}, NONE_PUBLISHED),
        ("::1", None, "a Service cannot lead to an IPv6 address"),
        ("fd00::1", PUBLISHED, "a Service cannot lead to an IPv6 address"),
    ],
)
async def test_apis_that_cannot_be_served(host: str, published: Any, told: str) -> None:
    """Given an address that others reach and no authority, or one of IPv6, when APIs are to be
    served there, then it is told why not, and nothing is written or taken away.
    """
    client = Client(published)
    async with server(client, "v1.a", host=host) as refused:
        assert refused.refusal == told
        await refused.register()
    assert client.calls == [("get", "configmaps", "kube-system", "extension-apiserver-authentication", True)]


@pytest.mark.parametrize(("host", "authority"), [("127.0.0.1", ""), ("10.0.0.1", "PEM"), ("h.example", "PEM"), ("127.9.9.9", "")])
def test_apis_that_may_be_served(host: str, authority: str) -> None:
    """Given an authority or a loopback address, when APIs are to be served, then they may be."""
    assert server(Client(), "v1.a", host=host)._reason(authority) == ""


async def test_without_apis_nothing_is_asked() -> None:
    """Given no API, when it is served, then nothing is asked, written or taken away."""
    client = Client()
    async with server(client) as none:
        await none.register()
        assert none.refusal == ""
    assert client.calls == []


async def test_the_objects_of_served_apis() -> None:
    """Given APIs of two groups, when they are served, then each has a Service that leads here and
    an APIService; both are taken away at the end.
    """
    client = Client()
    async with server(client, "v1.shop.example.com", "v2.b") as served:
        await served.register()
        assert served._server is not None
        port = served._server.port
    _, *written = client.calls
    bundle = written[1]["spec"]["caBundle"]
    assert base64.b64decode(bundle).startswith(b"-----BEGIN CERTIFICATE-----")

    def objects(name: str, service: str) -> list[Any]:
        version, _, group = name.partition(".")
        return [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": service, "namespace": "kube-system"},
                "spec": {"type": "ExternalName", "externalName": "127.0.0.1"},
            },
            {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": name},
                "spec": {
                    "group": group,
                    "version": version,
                    "groupPriorityMinimum": 100,
                    "versionPriority": 5,
                    "caBundle": bundle,
                    "service": {"namespace": "kube-system", "name": service, "port": port},
                },
            },
        ]

    assert written == [
        *objects("v1.shop.example.com", "fakekube-shop-example-com"),
        *objects("v2.b", "fakekube-b"),
        ("delete", "apiservices", "", "v1.shop.example.com", True),
        ("delete", "services", "kube-system", "fakekube-shop-example-com", True),
        ("delete", "apiservices", "", "v2.b", True),
        ("delete", "services", "kube-system", "fakekube-b", True),
    ]


@pytest.mark.parametrize(
    ("name", "service"),
    [
        ("v1.a.b", "fakekube-a-b"),
        (f"v1.{'a' * 60}", f"fakekube-{'a' * 54}"),
        (f"v1.{'a' * 53}.b", f"fakekube-{'a' * 53}"),
    ],
)
def test_the_name_of_a_service(name: str, service: str) -> None:
    """Given a group, when its Service is named, then it is as long as a name may be at most."""
    assert _service(AggregatedAPI(name)) == service


async def test_who_answers_a_path() -> None:
    """Given Handlers of versions, when a path is asked for, then that of its version answers, and
    404 is for all else.
    """
    router = _Router({name: cast("Any", Answers(name)) for name in ("v1.a.b", "v2.a.b")})
    for path, name in (("/apis/a.b/v1", "v1.a.b"), ("/apis/a.b/v2/ws/x", "v2.a.b")):
        assert (await router.handle(Request("GET", path))).body == f"{name} {path}".encode()
    for path in ("/apis/a.b/v3", "/apis/a.b", "/api/a.b/v1", "/x/apis/a.b/v1", "/"):
        answer = await router.handle(Request("GET", path))
        assert (answer.status, orjson.loads(answer.body)) == (
            404,
            {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "reason": "NotFound",
                "details": {},
                "message": "the server could not find the requested resource",
                "code": 404,
            },
        )


TOLD = {"uid": "u", "kind": {"group": "g", "version": "v", "kind": "K"}, "resource": {"resource": "ks"}, "operation": "UPDATE"}


def test_what_a_review_asks() -> None:
    """Given the request of an AdmissionReview, when it is read, then all that it says is in it, and
    what is left out is empty.
    """

    def seen(told: Any) -> list[Any]:
        asked = webhookserver._request_of(told)
        return [
            asked.uid,
            tuple(asked.kind),
            asked.resource,
            asked.subresource,
            asked.name,
            asked.namespace,
            asked.operation,
            tuple(asked.user)[:4],
            asked.dry_run,
            asked.options,
            asked.object,
            asked.old_object,
        ]

    assert seen(TOLD) == ["u", ("g", "v", "K"), "ks", "", "", "", "UPDATE", ("", (), "", {}), False, {}, None, None]
    user = {"username": "n", "groups": ["a", "b"], "uid": "i", "extra": {"k": ["1", "2"]}}
    assert seen(
        {
            **TOLD,
            "subResource": "s",
            "name": "n",
            "namespace": "a",
            "userInfo": user,
            "dryRun": True,
            "options": {"o": 1},
            "object": {"x": 1},
            "oldObject": {"y": 2},
        }
    ) == [
        "u",
        ("g", "v", "K"),
        "ks",
        "s",
        "n",
        "a",
        "UPDATE",
        ("n", ("a", "b"), "i", {"k": ("1", "2")}),
        True,
        {"o": 1},
        {"x": 1},
        {"y": 2},
    ]


def denies(denial: Denied, *, changes: bool = False) -> Any:
    def function(request: AdmissionRequest) -> None:
        if changes:
            request.object["x"] = 9
        raise denial

    return function


def changes(request: AdmissionRequest) -> None:
    request.object["x"] = 2
    request.object["new"] = {"a": 1}
    del request.object["gone"]


def says(request: AdmissionRequest) -> None:
    request.warn("w")
    request.annotate("k", "v")


async def waits(request: AdmissionRequest) -> None:
    request.warn("waited")


@pytest.mark.parametrize(
    ("function", "more"),
    [
        (lambda _: None, {}),
        (waits, {"warnings": ["waited"]}),
        (Given(waits), {"warnings": ["waited"]}),
        (Given(says), {"warnings": ["w"], "auditAnnotations": {"k": "v"}}),
        (says, {"warnings": ["w"], "auditAnnotations": {"k": "v"}}),
        (denies(Denied("no")), {"allowed": False, "status": {"message": "no"}}),
        (denies(Denied()), {"allowed": False, "status": {}}),
        (
            denies(Denied("no", code=422, reason="R", details={"d": 1}), changes=True),
            {"allowed": False, "status": {"message": "no", "code": 422, "reason": "R", "details": {"d": 1}}},
        ),
    ],
)
async def test_what_a_function_decides(function: Any, more: Any) -> None:
    """Given a function, when it is asked, then the response has its refusal, warnings and
    annotations, and no patch where it changed nothing or refused.
    """
    response: dict[str, Any] = {"uid": "u", "allowed": True}
    await webhookserver._ask(function, webhookserver._request_of({**TOLD, "object": {"x": 1}}), response)
    assert response == {"uid": "u", "allowed": True, **more}


async def test_what_a_function_changes() -> None:
    """Given a function that changes an object, when it is asked, then the patch has an operation
    for each field that is another, new or gone.
    """
    response: dict[str, Any] = {"allowed": True}
    await webhookserver._ask(changes, webhookserver._request_of({**TOLD, "object": {"x": 1, "gone": 0, "same": 3}}), response)
    assert (list(response), response["patchType"], orjson.loads(base64.b64decode(response["patch"]))) == (
        ["allowed", "patchType", "patch"],
        "JSONPatch",
        [
            {"op": "remove", "path": "/gone"},
            {"op": "replace", "path": "/x", "value": 2},
            {"op": "add", "path": "/new", "value": {"a": 1}},
        ],
    )


async def test_the_configurations_of_served_webhooks() -> None:
    """Given webhooks of an add-on, when they are served, then their configurations lead here, with
    the authority; conversions have such a clientConfig, and the configurations go at the end.
    """
    hooks: list[Any] = [
        SimpleNamespace(
            function=lambda _: None,
            resources=("pods",),
            operations=("CREATE",),
            mutating=mutating,
            name=name,
            fields=(),
            configuration="",
            has_client=False,
            has_find=False,
        )
        for name, mutating in (("a", False), ("b", True))
    ]
    client = Client()
    async with WebhookServer(cast("Any", client), hooks, find=cast("Any", None), host="127.0.0.1") as served:
        await served.register()
        conversion = served.conversion("ws.x.dev")
    first, second, *gone = client.calls
    base = conversion["url"].removesuffix("/convert/ws.x.dev")
    assert (base.rpartition(":")[0], list(conversion)) == ("https://127.0.0.1", ["url", "caBundle"])
    assert [(each["kind"], each["webhooks"][0]["clientConfig"]) for each in (first, second)] == [
        ("ValidatingWebhookConfiguration", {**conversion, "url": f"{base}/a"}),
        ("MutatingWebhookConfiguration", {**conversion, "url": f"{base}/b"}),
    ]
    assert gone == [
        ("delete", "validatingwebhookconfigurations", "", "a", True),
        ("delete", "mutatingwebhookconfigurations", "", "b", True),
    ]
    async with WebhookServer(cast("Any", client), [], find=cast("Any", None), host="127.0.0.1") as none:
        await none.register()
        assert (none._runner, len(client.calls)) == (None, 4)
