"""What admission meets seldom: other versions, dry runs, conditions, and what is not there."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.admission.optional import NamespaceAutoProvision
from fakekube.admission.plugin import Plugin
from fakekube.admission.pod_security import PodSecurity
from fakekube.admission.policy.validating import namespace_of
from fakekube.admission.webhook import asking, mutating
from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import Resource
from fakekube.util.rng import Rng
from fakekube.webhooks import AdmissionRequest, Denied
from fakekube.webhooks.client import CallError, ReviewKind, WebhookClient, _value
from fakekube.webhooks.services import ServiceResolver
from fakekube.webhooks.transport import Answer
from tests.admission.test_policies import BINDINGS, PLAIN, VALIDATING, binding, config_map, policy
from tests.admission.world import World, kind
from tests.webhooks.test_calls import Objects

RBAC = "rbac.authorization.k8s.io"
MAPS, PODS = kind("", "v1", "configmaps"), kind("", "v1", "pods")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "default"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}


ASKED = "authorizer{}.group('').resource('secrets').namespace('default').check('get').allowed()"


async def test_expressions_ask_about_service_accounts() -> None:
    """Given a role for all service accounts of a namespace / when a policy asks what one of them
    may, and what one of another namespace / then the authorizer knows their names and groups.
    """
    rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": rules}
    bound = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "r"}, "roleRef": {
        "apiGroup": RBAC, "kind": "ClusterRole", "name": "r"}, "subjects": [
            {"kind": "Group", "apiGroup": RBAC, "name": "system:serviceaccounts:one"},
            {"kind": "ServiceAccount", "namespace": "two", "name": "b"}]}
    holding = (ASKED.format(""), ASKED.format(".serviceAccount('one', 'a')"), ASKED.format(".serviceAccount('two', 'b')"))
    async with Cluster(**PLAIN, authorization_mode="RBAC") as cluster:
        client = cluster.client
        await client.create(Resource(RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False), role)
        await client.create(Resource(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False), bound)
        refused = ASKED.format(".serviceAccount('two', 'a')")
        validations = [*({"expression": text} for text in holding), {"expression": f"!{refused}"}]
        await client.create(VALIDATING, policy(VALIDATING, validations=validations))
        await client.create(BINDINGS, binding(BINDINGS, validationActions=["Deny"]))
        made = await client.create(CONFIG_MAPS, config_map("a"))
        await client.create(VALIDATING, policy(VALIDATING, "q", validations=[{"expression": refused}]))
        await client.create(BINDINGS, binding(BINDINGS, "c", "q", validationActions=["Deny"]))
        with pytest.raises(APIError) as caught:
            await client.create(CONFIG_MAPS, config_map("b"))
    assert made["metadata"]["name"] == "a"
    assert caught.value.message == (
        "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'q' with binding 'c' denied request: failed expression: "
        f"{refused}")


@pytest.mark.parametrize(("error", "told"), [
    (None, None), (errors.already_exists(kind("", "v1", "namespaces").group_resource, "t"), None),
    (errors.bad_request("no"), 'configmaps "m" is forbidden: no'),
])
async def test_a_namespace_that_is_made_meanwhile(error: APIError | None, told: str | None) -> None:
    """Given a namespace that is missing / when somebody else makes it first, or it is refused /
    then the one is fine, and the other is told.
    """
    made: list[Any] = []

    async def create(ctx: Any, namespace: str, tree: Any) -> None:
        made.append((ctx.operation, namespace, tree["metadata"]))
        if error is not None:
            raise error

    plugin, services = NamespaceAutoProvision(), SimpleNamespace(stores=SimpleNamespace(
        named=lambda *key: SimpleNamespace(create=create) if key == ("", "v1", "namespaces") else None))
    plugin.initialize(services)  # type: ignore[arg-type]
    attrs = World().attributes(MAPS, {"metadata": {"name": "m", "namespace": "t"}})
    pending = plugin.admit(attrs)
    assert pending is not None
    if told is None:
        await pending
    else:
        with pytest.raises(APIError) as caught:
            await pending
        assert (caught.value.code, caught.value.message) == (403, told)
    assert made == [("CREATE", "", {"name": "t"})]


def test_a_plugin_by_itself_does_nothing() -> None:
    """Given a plugin that overrides nothing / when it is asked / then it sees and changes nothing.
    """
    attrs = World().attributes(MAPS, {"metadata": {"name": "m", "namespace": "t"}})
    assert (Plugin().handles(MAPS, "CREATE", ""), Plugin().admit(attrs), Plugin().validate(attrs)) == (False, None, None)


def test_where_there_is_no_namespace() -> None:
    """Given a pod in a namespace that is not there, and what is in none / when it is looked at /
    then no rule of a namespace counts.
    """
    world = World()
    pod = {"metadata": {"name": "p", "namespace": "t"}, "spec": {"hostNetwork": True, "containers": []}}
    PodSecurity().validate(world.attributes(PODS, pod))
    namespaces = kind("", "v1", "namespaces")
    world.put("", "namespaces", {"metadata": {"name": "t"}})
    assert namespace_of(world.attributes(namespaces, {"metadata": {"name": "t"}}, namespace="t")) is None
    assert namespace_of(world.attributes(kind("", "v1", "nodes"), {"metadata": {"name": "t"}}, namespace="")) is None
    assert namespace_of(world.attributes(PODS, pod)) == {"metadata": {"name": "t"}}


def hook(**fields: Any) -> Any:
    """A webhook."""
    return SimpleNamespace(**{
        "name": "w.x.y", "side_effects": "None", "client": {}, "timeout_seconds": 1, "versions": ["v1"], **fields})


def test_a_webhook_with_side_effects_is_not_asked_on_a_dry_run() -> None:
    """Given a webhook that does more / when a dry run would ask it / then the write is refused."""
    attrs = World().attributes(MAPS, {"metadata": {"name": "m", "namespace": "t"}})
    attrs.ctx.dry_run = True
    for effects in ("Some", "Unknown", ""):
        with pytest.raises(APIError) as caught:
            asking.ask(SimpleNamespace(), hook(side_effects=effects), attrs, MAPS, mutating=False)  # type: ignore[arg-type]
        assert (caught.value.code, caught.value.message) == (400, 'admission webhook "w.x.y" does not support dry run')


def test_a_webhook_that_cannot_be_called() -> None:
    """Given a webhook whose address has no function / when it is asked / then the call has failed.
    """
    def check(*_: Any) -> None:
        raise CallError("nobody is there")

    services: Any = SimpleNamespace(rng=Rng(0), callables=SimpleNamespace(find=lambda _: None, check=check))
    attrs = World().attributes(MAPS, {"metadata": {"name": "m", "namespace": "t"}})
    with pytest.raises(asking.CallFailed) as caught:
        asking.ask(services, hook(), attrs, MAPS, mutating=False)
    assert str(caught.value) == 'failed calling webhook "w.x.y": failed to call webhook: nobody is there'


async def test_a_webhook_of_unknown_versions() -> None:
    """Given a webhook that takes reviews of no version that there is / when it is asked / then the
    call has failed.
    """
    attrs = World().attributes(MAPS, {"metadata": {"name": "m", "namespace": "t"}})
    with pytest.raises(asking.CallFailed) as caught:
        await asking._sent(SimpleNamespace(), hook(versions=["v2"]), attrs, MAPS, "u", mutating=False)  # type: ignore[arg-type]
    assert str(caught.value) == (
        'failed calling webhook "w.x.y": could not create admission objects: webhook does not accept known AdmissionReview '
        "versions (v1, v1beta1)")


def test_a_patch_of_nothing() -> None:
    """Given a patch for an object that goes / when it is applied / then it is refused; an empty one
    is none.
    """
    patch = SimpleNamespace(patch=b'[{"op":"remove","path":"/a"}]', patch_type="JSONPatch")
    with pytest.raises(APIError) as caught:
        mutating._patched(hook(), None, patch)  # type: ignore[arg-type]
    assert caught.value.message == (
        'Internal error occurred: admission webhook "w.x.y" attempted to modify the object, which is not supported for this '
        "operation")
    for nothing in (b"", b"null", b"[]"):
        assert mutating._patched(hook(), None, SimpleNamespace(patch=nothing, patch_type="")) is None  # type: ignore[arg-type]


GOOD_ENTRY = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}


@pytest.mark.parametrize(("before", "after", "left"), [
    ([GOOD_ENTRY], [{"operation": "Else"}], [GOOD_ENTRY]), (None, [{"operation": "Else"}], None),
    ([GOOD_ENTRY], [GOOD_ENTRY], [GOOD_ENTRY]), ([], [GOOD_ENTRY], [GOOD_ENTRY]),
])
def test_managed_fields_that_a_webhook_spoils(before: Any, after: Any, left: Any) -> None:
    """Given a webhook that leaves nonsense of who owns what / when the object comes back / then
    that is as it was before, and the client is warned.
    """
    attrs = World().attributes(MAPS, {"metadata": {"name": "m", "namespace": "t", "managedFields": after}})
    mutating._check_managed_fields(attrs, before)
    assert attrs.obj is not None
    assert attrs.obj["metadata"].get("managedFields") == left
    said = ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    begin = f"{said}admission controller; please fix your requests: "
    assert [text.startswith(begin) for text in attrs.ctx.warnings] == ([True] if left != after else [])


@pytest.mark.parametrize(("body", "said"), [(b"a: [", "problem: "), (b"{", "problem: unexpected end of JSON input")])
def test_what_is_no_review(body: bytes, said: str) -> None:
    """Given a body that is no JSON, and no YAML / when it is read / then a CallError says so."""
    with pytest.raises(CallError) as caught:
        _value(body, "problem: ")
    assert str(caught.value).startswith(said if body == b"{" else "yaml: ")


async def test_a_large_review_is_read_beside() -> None:
    """Given an answer of more than 256 KiB / when it is read / then in a thread of its own."""
    seen: list[bool] = []

    class Read(dict[str, Any]):
        """The headers of an answer, which notice who reads them."""

        def get(self, name: str, default: Any = None) -> Any:
            seen.append(threading.current_thread() is threading.main_thread())
            return super().get(name, default)

    class Posts:
        """Answers with so many bytes."""

        def __init__(self, size: int) -> None:
            review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "u"}}
            self.body = orjson.dumps(review).ljust(size)

        async def post(self, _: Any) -> Answer:
            return Answer(200, {}, self.body)

    for size in (1 << 18, (1 << 18) + 1):
        client = WebhookClient(Posts(size), ServiceResolver({}, Objects(), Rng()))
        expected = ReviewKind("admission.k8s.io/v1", "AdmissionReview", {})
        found = await client.call({"url": "https://a/"}, {}, timeout_seconds=5, expected=expected)
        assert found["response"] == {"uid": "u"}


async def test_functions_see_and_change_a_scale() -> None:
    """Given functions that are asked of scales / when a deployment is scaled / then they see the
    scale, and what they make of it is stored.
    """
    seen: list[Any] = []
    async with Cluster(**PLAIN) as cluster:
        @cluster.webhook("deployments.apps/scale", operations=["UPDATE"], mutating=True)
        def three(request: AdmissionRequest) -> None:
            seen.append((request.object["kind"], dict(request.object["spec"]), request.old_object["spec"]))
            request.object["spec"]["replicas"] = 3

        client = cluster.client
        await client.create(DEPLOYMENTS, DEPLOYMENT)
        await client.patch(DEPLOYMENTS, "d", "default", {"spec": {"replicas": 2}}, subresource="scale")
        found = await client.get(DEPLOYMENTS, "d", namespace="default")
    assert seen == [("Scale", {"replicas": 2}, {"replicas": 1})]
    assert found["spec"]["replicas"] == 3


async def test_a_function_that_waits_denies() -> None:
    """Given a function that waits and denies / when it is asked / then its refusal is told as one
    that answers at once.
    """
    async with Cluster(**PLAIN) as cluster:
        @cluster.webhook("configmaps", operations=["CREATE"])
        async def waits(request: AdmissionRequest) -> None:
            await asyncio.sleep(0)
            if request.name == "a":
                raise Denied("not this one", code=409)

        with pytest.raises(APIError) as caught:
            await cluster.client.create(CONFIG_MAPS, config_map("a"))
        await cluster.client.create(CONFIG_MAPS, config_map("b"))
    assert (caught.value.code, caught.value.message.endswith("denied the request: not this one")) == (409, True)
