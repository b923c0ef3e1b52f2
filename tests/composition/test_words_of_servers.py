"""What is said of servers that cannot be asked, and of functions that stand for webhooks."""

import errno
import ssl
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import pytest

from fakekube.composition import certificatetexts, functionwebhooks, httppool, reasons
from fakekube.composition.options import OptionError
from fakekube.webhooks.transport import NoAnswer


def key(host: str = "h", port: int = 9) -> Any:
    return SimpleNamespace(host=host, port=port, is_ssl=False, ssl=True)


def os_error(number: int, text: str = "Some Text") -> OSError:
    return OSError(number, text)


def tls(reason: str) -> OSError:
    error = ssl.SSLError(1, "text")
    error.reason = reason
    return error


@pytest.mark.parametrize(("error", "told"), [
    (aiohttp.ClientConnectorDNSError(key(), os_error(1)), "dial tcp: lookup h: no such host"),
    (aiohttp.ClientConnectorError(key(), os_error(errno.ECONNREFUSED)), "dial tcp h:9: connect: connection refused"),
    (aiohttp.ClientConnectorError(key(), os_error(errno.EHOSTUNREACH)), "dial tcp h:9: connect: no route to host"),
    (aiohttp.ClientConnectorError(key(), os_error(errno.ENETUNREACH)), "dial tcp h:9: connect: network is unreachable"),
    (aiohttp.ClientConnectorError(key("::1"), os_error(errno.ETIMEDOUT)), "dial tcp [::1]:9: connect: connection timed out"),
    (aiohttp.ClientConnectorError(key(), os_error(errno.EPERM)), "dial tcp h:9: connect: some text"),
    *((aiohttp.ClientConnectorSSLError(key(), tls(reason)), "http: server gave HTTP response to HTTPS client")
      for reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")),
    (aiohttp.ClientConnectorSSLError(key(), tls("BAD_CERTIFICATE")), "remote error: tls: bad certificate"),
    (aiohttp.ClientPayloadError("x"), "unexpected EOF"),
    (aiohttp.TooManyRedirects(cast("Any", None), ()), "stopped after 10 redirects"),
    (aiohttp.ClientResponseError(cast("Any", None), ()),
     "net/http: HTTP/1.x transport connection broken: malformed HTTP response"),
    (ValueError("a text"), "a text"), (ValueError(), "ValueError"),
])
def test_what_go_says_of_a_failure(error: Exception, told: str) -> None:
    """Given a failure to reach a server, when it is told, then it is in Go's words."""
    assert httppool._told(error) == told


def test_authorities_that_are_none() -> None:
    """Given a bundle that is no PEM, when it is to be trusted, then Go's words say so."""
    for bundle in (b"x", b"\xff"):
        with pytest.raises(ValueError, match=r"^unable to load root certificates: unable to parse bytes as PEM block$"):
            httppool._context_of(bundle)
    assert httppool._context_of(b"").verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize(("size", "told"), [(8, None), (9, "http: response body is larger than 8 bytes")])
async def test_bodies_that_are_too_large(size: int, told: str | None) -> None:
    """Given an answer, when its body has more bytes than are read, then it is given up."""
    closed: list[bool] = []

    async def pieces() -> Any:
        yield b"x" * 4
        yield b"x" * (size - 4)

    answer: Any = SimpleNamespace(content=SimpleNamespace(iter_any=pieces), close=lambda: closed.append(True))
    if told is None:
        assert await httppool.body_of(answer, 8) == b"x" * 8
    else:
        with pytest.raises(NoAnswer) as refused:
            await httppool.body_of(answer, 8)
        assert str(refused.value) == told
    assert bool(closed) is (told is not None)


PREFIX = "tls: failed to verify certificate: x509: "


@pytest.mark.parametrize(("code", "told"), [
    (10, "certificate has expired or is not yet valid: certificate has expired"),
    (9, "certificate has expired or is not yet valid: certificate is not yet valid"),
    (18, "certificate signed by unknown authority"), (0, "certificate signed by unknown authority"),
])
async def test_certificates_that_are_not_believed(code: int, told: str) -> None:
    """Given a certificate that is not believed, when that is told, then it is in Go's words."""
    error: Any = Exception()
    error.verify_code = code
    assert await certificatetexts.told(error, "h", "h:1", httppool._context_of(b"")) == PREFIX + told
    assert await certificatetexts.told(Exception(), "h", "h:1", httppool._context_of(b"")) == (
        f"{PREFIX}certificate signed by unknown authority")


@pytest.mark.parametrize("code", [62, 64])
@pytest.mark.parametrize(("host", "names", "told"), [
    ("a.b", [("DNS", "c.d"), ("DNS", "e"), ("IP Address", "::1")], "certificate is valid for c.d, e, not a.b"),
    ("::1", [("DNS", "c.d"), ("IP Address", "10.0.0.1")], "certificate is valid for 10.0.0.1, not ::1"),
    ("10.0.0.1", [("DNS", "c.d")], "cannot validate certificate for 10.0.0.1 because it doesn't contain any IP SANs"),
    ("a.b", [], "certificate relies on legacy Common Name field, use SANs instead"),
    ("a.b", [("IP Address", "::1")], "certificate is not valid for any names, but wanted to match a.b"),
])
async def test_certificates_of_somebody_else(
    code: int, host: str, names: list[tuple[str, str]], told: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a certificate of other names, when that is told, then the names are, as Go has them."""
    async def seen(*_: object) -> list[tuple[str, str]]:
        return names

    monkeypatch.setattr(certificatetexts, "_names", seen)
    error: Any = Exception()
    error.verify_code = code
    assert await certificatetexts.told(error, host, f"{host}:1", httppool._context_of(b"")) == PREFIX + told


class Callables:
    """Remembers what was added."""

    def __init__(self) -> None:
        self.added: dict[str, Any] = {}

    def add(self, name: str, function: Any) -> str:
        self.added[name] = function
        return f"function:{name}"


def no_latest_(_: Any) -> None:
    """A webhook."""


def test_the_configuration_of_a_function() -> None:
    """Given functions, when they are registered, then the configuration that stands for each has
    its rules, and the fields that were given by their names.
    """
    known: Any = Callables()
    assert functionwebhooks.register(
        known, no_latest_, ["pods", "deployments.apps", "pods/status", "*"], ("CREATE",), mutating=False, name="", fields={}) == {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "no-latest"}, "webhooks": [{
            "name": "no-latest.webhooks.fakekube.dev", "clientConfig": {"url": "function:no-latest"}, "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "rules": [
                {"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["pods"]},
                {"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["deployments"]},
                {"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["pods/status"]},
                {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["*"]}]}]}
    fields = {
        "failure_policy": 1, "match_policy": 2, "namespace_selector": 3, "object_selector": 4, "match_conditions": 5,
        "timeout_seconds": 6, "side_effects": 7, "reinvocation_policy": 8, "rules": 9}
    made = functionwebhooks.register(
        known, no_latest_, [], [], mutating=True, name="Shop.example", fields=fields, configuration="all")
    assert (made["kind"], made["metadata"]) == ("MutatingWebhookConfiguration", {"name": "all"})
    assert made["webhooks"] == [{
        "name": "shop.example", "clientConfig": {"url": "function:all/shop.example"}, "admissionReviewVersions": ["v1"],
        "failurePolicy": 1, "matchPolicy": 2, "namespaceSelector": 3, "objectSelector": 4, "matchConditions": 5,
        "timeoutSeconds": 6, "sideEffects": 7, "reinvocationPolicy": 8, "rules": 9}]
    with pytest.raises(OptionError) as refused:
        functionwebhooks.register(known, no_latest_, [], [], mutating=True, name="", fields={"x": 1})
    assert str(refused.value) == f"a webhook has no 'x': known are {', '.join(fields)}"
    assert {name: function is no_latest_ for name, function in known.added.items()} == {"no-latest": True,
        "all/shop.example": True}
    where = functionwebhooks.resource_of(made)
    assert (where.group, where.version, where.plural, where.kind, where.namespaced) == (
        "admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", False)


def test_webhooks_of_add_ons() -> None:
    """Given webhooks of add-ons, when they are declared, then those of one configuration are in
    one, and each function gets what it wants.
    """
    def hook(name: str, *, mutating: bool = False, client: bool = False, find: bool = False, configuration: str = "all") -> Any:
        return SimpleNamespace(
            function=lambda **given: given, resources=("pods",), operations=("CREATE",), mutating=mutating, name=name, fields=(),
            configuration=configuration, has_client=client, has_find=find)

    known: Any = Callables()
    hooks = [hook("a", client=True), hook("b", find=True), hook("c", mutating=True, client=True, find=True),
             hook("d", configuration="")]
    made = functionwebhooks.declared(known, hooks, cast("Any", "C"), cast("Any", "F"))
    assert [(each["kind"], each["metadata"]["name"], [hook["name"] for hook in each["webhooks"]]) for each in made] == [
        ("ValidatingWebhookConfiguration", "all", ["a.webhooks.fakekube.dev", "b.webhooks.fakekube.dev"]),
        ("MutatingWebhookConfiguration", "all", ["c.webhooks.fakekube.dev"]),
        ("ValidatingWebhookConfiguration", "d", ["d.webhooks.fakekube.dev"])]
    assert [known.added[name]() for name in ("all/a", "all/b", "all/c", "d")] == [
        {"client": "C"}, {"find": "F"}, {"client": "C", "find": "F"}, {}]


class Objects:
    """A storage of trees, by resource."""

    def __init__(self, **trees: list[dict[str, Any]]) -> None:
        self._trees = trees

    def has(self, resource: Any) -> bool:
        return resource.resource in self._trees

    def bucket(self, resource: Any) -> Any:
        records = [SimpleNamespace(tree=lambda tree=tree: tree, revision=tree.get("revision",
            0)) for tree in self._trees[resource.resource]]
        return SimpleNamespace(records=lambda: records)


def pod(status: dict[str, Any], node: str = "n") -> dict[str, Any]:
    return {"metadata": {"namespace": "a", "name": "p", "uid": "u"}, "spec": {"nodeName": node}, "status": status}


def ended(code: int, **more: Any) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, **more}}


@pytest.mark.parametrize(("made", "told"), [
    (pod({"phase": "Failed", "reason": "Evicted", "message": "m"}), ["pod a/p has failed: Evicted: m"]),
    (pod({"phase": "Failed", "message": "m"}), ["pod a/p has failed: m"]),
    (pod({"phase": "Failed", "initContainerStatuses": [{"name": "i", "state": ended(1)}],
          "containerStatuses": [{"name": "c", "state": ended(0)}, {"name": "d", "state": ended(2, reason="OOM", message=" m\n")}],
          "ephemeralContainerStatuses": [{"name": "e", "state": ended(3)}]}),
     ["pod a/p has failed: container i: Error, exit code 1", "pod a/p has failed: container d: OOM, exit code 2: m",
      "pod a/p has failed: container e: Error, exit code 3"]),
    (pod({"containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "R", "message": "m"}}, "lastState": ended(4)},
                                {"name": "d", "state": {"waiting": {"x": 1}}}, {"name": "e", "state": {"running": {}}}]}),
     ["pod a/p is Pending: container c: R: m, after Error, exit code 4", "pod a/p is Pending: container d: waiting"]),
    (pod({"phase": "Running"}), []), (pod({}, ""), ["pod a/p is not scheduled: no scheduler has looked at it"]),
    (pod({"conditions": [{"type": "X"}, {"type": "PodScheduled"}]}, ""), ["pod a/p is not scheduled: no reason is given"]),
    (pod({"conditions": [{"type": "PodScheduled", "reason": "R", "message": "m"}]}, ""), ["pod a/p is not scheduled: R: m"]),
])
def test_why_a_pod_is_as_it_is(made: dict[str, Any], told: list[str]) -> None:
    """Given a pod, when its reasons are told, then they are in the words that it has."""
    assert reasons.lines(cast("Any", Objects(pods=[made]))) == told


def test_why_jobs_are_as_they_are() -> None:
    """Given Jobs, when their reasons are told, then conditions are, those alone that a later one
    does not say again, or how many pods there are; what is said of several comes once.
    """
    def job(name: str, *conditions: str, **counts: int) -> dict[str, Any]:
        told = [{"type": type_, "status": "False" if type_ == "Suspended" else "True", "reason": "R"} for type_ in conditions]
        return {"metadata": {"namespace": "a", "name": name}, "status": {"conditions": told, **counts}}

    jobs = [job("j", "FailureTarget", "Failed"), job("k", "SuccessCriteriaMet", "Complete"), job("l", "FailureTarget"),
            job("m", "Suspended", active=2, failed=1), job("n", "Complete"), {"metadata": {"namespace": "a", "name": "o"}}]
    jobs[2]["status"]["conditions"][0].pop("reason")
    assert reasons.lines(cast("Any", Objects(jobs=jobs))) == [
        "job a/j is Failed: R", "job a/k and 1 more is Complete: R", "job a/l is FailureTarget: no reason is given",
        "job a/m has no condition yet: 2 active, 0 ready, 0 succeeded, 1 failed pods",
        "job a/o has no condition yet: 0 active, 0 ready, 0 succeeded, 0 failed pods"]
    many = [{"metadata": {"namespace": "a", "name": f"j{number}"}, "status": {"active": number}} for number in range(21)]
    assert len(reasons.lines(cast("Any", Objects(jobs=many[:20])))) == 20
    assert reasons.lines(cast("Any", Objects(jobs=many)))[-1] == "and 1 more"


def test_what_the_scheduler_said_last_and_other_warnings() -> None:
    """Given Events, when reasons are told, then the scheduler's latest counts, and Warnings that
    nothing else tells come once, in their order, five at most.
    """
    def event(number: int, reason: str, message: str, **more: Any) -> dict[str, Any]:
        about = {"uid": "u", "kind": "Pod", "namespace": "a", "name": "p"}
        return {"reason": reason, "message": message, "type": "Warning", "involvedObject": about, "revision": number, **more}

    events = [
        event(1, "FailedScheduling", "new", lastTimestamp="2026-01-02"), event(2, "FailedScheduling", "old",
            eventTime="2026-01-01"),
        *(event(number, "B", f"m{number % 6}") for number in range(9, 2, -1)), event(20, "C", "no", type="Normal"),
        event(21, "D", "", involvedObject={"kind": "Node", "name": "n"})]
    storage: Any = Objects(pods=[pod({}, "")], events=events)
    told = reasons.lines(storage)
    assert told == ["pod a/p is not scheduled: FailedScheduling: new"]
    assert reasons.warnings(storage, told) == [
        "event B about Pod a/p: m0", "event B about Pod a/p: m1", "event B about Pod a/p: m2", "event B about Pod a/p: m3",
        "event D about Node /n: "]
    assert reasons.warnings(cast("Any", Objects()), []) == []
