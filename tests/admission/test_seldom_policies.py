"""Policies and webhooks that fail before they are asked, and what begins with the first of many."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.admission.webhook import asking, validating
from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame
from fakekube.apiserver.aggregation import API_SERVICES, Aggregation
from fakekube.composition.controlplane import expression_warnings
from fakekube.endpoints.reading import ProtobufStream
from tests.admission.test_policies import (
    MAPS,
    MUTATING,
    MUTATING_BINDINGS,
    PLAIN,
    PODS,
    apply,
    binding,
    config_map,
    json_patch,
    mutate,
    policy,
    refusal,
)
from tests.admission.test_typechecking import policy as checked
from tests.admission.world import World, kind
from tests.authentication.conftest import Server

POD: dict[str, Any] = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "i"}]}}


async def test_a_mutation_without_its_parameter() -> None:
    """Given a mutating policy whose binding wants a parameter / when that is not there / then the
    write is refused, since the binding cannot be configured.
    """
    async with Cluster(**PLAIN) as cluster:
        client = cluster.client
        await client.create(MUTATING, policy(
            MUTATING, reinvocationPolicy="Never", paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
            mutations=[apply("Object{}")]))
        reference = {"name": "gone", "namespace": "default", "parameterNotFoundAction": "Deny"}
        await client.create(MUTATING_BINDINGS, binding(MUTATING_BINDINGS, paramRef=reference))
        error = await refusal(client, config_map())
    assert (error.code, error.reason) == (403, "Forbidden")
    assert error.message == (
        "policy 'p' with binding 'b' denied request: failed to configure binding: no params found "
        "for policy binding with `Deny` parameterNotFoundAction")


async def test_what_is_one_thing_is_not_merged() -> None:
    """Given a policy that merges into a map which is one indivisible thing / when a pod is made /
    then it is refused.
    """
    async with Cluster(**PLAIN) as cluster:
        await mutate(cluster.client, apply("Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}"))
        error = await refusal(cluster.client, POD, PODS)
    assert error.message == (
        "policy 'p' with binding 'b' denied request: error applying patch: invalid ApplyConfiguration: "
        "may not mutate atomic arrays, maps or structs: .spec.nodeSelector")


async def test_what_goes_is_not_mutated() -> None:
    """Given a mutating policy that matches all operations / when an object is deleted / then it
    goes, and what is made is mutated.
    """
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]
    async with Cluster(**PLAIN) as cluster:
        await mutate(
            cluster.client, json_patch("[JSONPatch{op: 'add', path: '/data/x', value: '1'}]"), matchConstraints={
                "resourceRules": rules})
        made = await cluster.client.create(MAPS, config_map(a="1"))
        await cluster.client.delete(MAPS, "a", "default")
        with pytest.raises(APIError) as error:
            await cluster.client.get(MAPS, "a", "default")
    assert (made["data"], error.value.code) == ({"a": "1", "x": "1"}, 404)


def test_constants_without_a_value_have_their_type() -> None:
    """Given expressions whose constants have no value / when types are checked / then they fit."""
    check = expression_warnings(Server().plane.apiserver)
    assert check(checked({"expression": "'a'.find('[') == ''"}, {"expression": "1 / 0 == 1"})) == []


@pytest.mark.parametrize(("ignores", "error", "told"), [
    (False, errors.bad_request("no"), (400, "no")), (True, errors.bad_request("no"), (400, "no")),
    (False, "gone", (500, 'Internal error occurred: failed calling webhook "w.x.y": gone')), (True, "gone", None),
])
async def test_a_webhook_that_cannot_be_asked(
    ignores: bool, error: APIError | str, told: tuple[int, str] | None, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a webhook that cannot be asked / when its failures are ignored / then a call that
    failed is, and is told to the audit log; a refusal of the server itself is not.
    """
    hook: Any = SimpleNamespace(name="w.x.y", ignores_failures=ignores)

    def ask(*_: Any, **__: Any) -> None:
        raise error if isinstance(error, APIError) else asking.CallFailed(hook, error)

    monkeypatch.setattr(asking, "ask", ask)
    of = kind("", "v1", "configmaps")
    attrs = World().attributes(of, {"metadata": {"name": "m", "namespace": "t"}})
    annotated: list[tuple[str, str]] = []
    monkeypatch.setattr(type(attrs.ctx), "annotate", lambda _, key, value: annotated.append((key, value)), raising=True)
    asks = validating.ValidatingWebhooks(SimpleNamespace(buckets=None, resources=None))  # type: ignore[arg-type]
    found = await asks._ask(hook, 3, attrs, of)
    assert (found and (found.code, found.message)) == told
    assert annotated == ([] if told else [("failed-open.validating.webhook.admission.k8s.io/round_0_index_3", "w.x.y")])


def test_the_first_of_many_begins_once() -> None:
    """Given two APIServices that lead elsewhere, written at once / when what follows them begins /
    then once, and it runs where the server does.
    """
    later: list[Any] = []
    made: list[Any] = []
    told: list[str] = []
    aggregator = SimpleNamespace(
        start=lambda: told.append("start"), stop=lambda: told.append("stop"), changed=lambda event: told.append(event.type))
    bucket = SimpleNamespace(
        resource=API_SERVICES, revision=1, records=list, subscribe=lambda *args: later.append(args[2]))
    buckets = SimpleNamespace(
        storage=SimpleNamespace(afterwards=later.append), existing=lambda resource: bucket if resource == API_SERVICES else None)
    aggregation = Aggregation(buckets, lambda: aggregator, made.append)  # type: ignore[arg-type,return-value]
    changed = later.pop()

    def event(type_: str, **spec: Any) -> Any:
        return SimpleNamespace(type=type_, record=SimpleNamespace(tree=lambda: {"spec": spec}))

    aggregation.start()
    changed(event("ADDED"))
    changed(event("DELETED", service={}))
    assert (later, made) == ([], [])
    changed(event("ADDED", service={}))
    changed(event("MODIFIED", service={}))
    for begin in later:
        begin()
    assert (made, told) == ([aggregator], ["start"])
    changed(event("DELETED", service={}))
    aggregation.stop()
    assert told == ["start", "DELETED", "stop"]


def test_a_watch_in_protobuf_ends() -> None:
    """Given a watch in protobuf / when it ends before and after it began / then its receiver is
    told once it is there; a kind without a message is left out.
    """
    got: list[Any] = []
    inner: Any = SimpleNamespace(start=got.append, stop=lambda: got.append("stopped"))
    codec: Any = SimpleNamespace(encode_event=lambda _, tree: tree["bytes"])
    stream = ProtobufStream(inner, codec)
    stream.end()
    sink: Any = SimpleNamespace(send=lambda frame: got.append(frame.data), end=lambda: got.append("end"))
    stream.start(sink)
    trees = [{"type": "ADDED", "object": {"bytes": data}} for data in (b"1", None)]
    for tree in trees:
        stream.send(Frame(make_tree=partial(dict, tree)))
    stream.end()
    stream.stop()
    assert got == [stream, b"1", "end", "stopped"]
