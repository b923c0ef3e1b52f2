"""What policies answer: codes, messages, actions, parameters, and what of a mutation cannot be."""

import re
from collections.abc import AsyncIterator

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Tree
from tests.admission.test_policies import (
    BINDINGS,
    MAPS,
    MUTATING,
    MUTATING_BINDINGS,
    PLAIN,
    VALIDATING,
    binding,
    config_map,
    json_patch,
    mutate,
    policy,
    refusal,
    validate,
)
from tests.admission.test_policies import apply as merge
from tests.admission.test_webhooks import NAMESPACES


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(**PLAIN) as made:
        yield made


FAILING = {"name": "x", "expression": "object.data.none == '1'"}
DENIED = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "


@pytest.mark.parametrize(("reason", "code"), [
    (None, 422), ("Invalid", 422), ("Forbidden", 403), ("RequestEntityTooLarge", 413)])
async def test_reasons(cluster: Cluster, reason: str | None, code: int) -> None:
    """Given a reason of a validation / when it does not hold / then the code is that of the reason,
    and an object without a name is told by the one that was made for it.
    """
    await validate(cluster.client, {"expression": "false", "message": " m ", **({"reason": reason} if reason else {})})
    error = await refusal(cluster.client, {"kind": "ConfigMap", "metadata": {"generateName": "gen-", "namespace": "default"}})
    assert (error.code, error.reason) == (code, reason or "Invalid")
    assert re.fullmatch(f'configmaps "gen-[a-z0-9]{{5}}" is forbidden: {DENIED}m', error.message)


@pytest.mark.parametrize(("validation", "message"), [
    ({}, "failed expression: object.data.a == 'x'"), ({"message": "plain"}, "plain"),
    ({"message": "plain", "messageExpression": "' own '"}, "own"), ({"message": "plain", "messageExpression": "''"}, "plain"),
    ({"message": "plain", "messageExpression": "' '"}, "plain"), ({"message": "plain", "messageExpression": r"'a\nb'"}, "plain"),
    ({"message": "plain", "messageExpression": "string(object.data.none)"}, "plain"),
    ({"messageExpression": "string(object.data.none)"}, "failed expression: object.data.a == 'x'"),
    ({"message": "plain", "messageExpression": "string(object.data.long)"}, "l" * 5120),
    ({"message": "plain", "messageExpression": "string(object.data.long) + 'l'"}, "plain"),
])
async def test_messages(cluster: Cluster, validation: Tree, message: str) -> None:
    """Given messages and expressions of messages / when a validation does not hold / then the
    expression counts where it has one line, not too long, else the message, else the expression.
    """
    await validate(cluster.client, {"expression": " object.data.a == 'x' ", **validation})
    error = await refusal(cluster.client, config_map(a="1", long="l" * 5120))
    assert error.message == f'configmaps "a" is forbidden: {DENIED}{message}'


async def answered(cluster: Cluster, name: str) -> tuple[int, list[str], Tree]:
    """Code, warnings and audit annotations of a create."""
    answer = await cluster.apiserver.handle(Request(
        "POST", "/api/v1/namespaces/default/configmaps", headers={"content-type": "application/json"},
        body=orjson.dumps(config_map(name, a="1"))))
    warnings = [value for key, value in answer.headers if key == "Warning"]
    return answer.status, warnings, dict([entry for entry in cluster.apiserver.log if entry.verb == "create"][-1].annotations)


FAILURE = "validation.policy.admission.k8s.io/validation_failure"


@pytest.mark.parametrize(("actions", "status"), [
    (("Deny",), 422), (("Warn",), 201), (("Audit",), 201), (("Deny", "Audit"), 422), (("Warn", "Audit"), 201)])
async def test_actions(cluster: Cluster, actions: tuple[str, ...], status: int) -> None:
    """Given actions of a binding / when two validations do not hold / then each is denied, warned
    of, and told to the audit log as the actions say.
    """
    await validate(cluster.client, {"expression": "false", "message": "one"}, {"expression": "false", "message": "two"},
                   actions=actions)
    code, warnings, annotations = await answered(cluster, "x")
    assert code == status
    assert warnings == ([
        f"299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': {text}\"" for text in ("one", "two")]
        if "Warn" in actions else [])
    told = orjson.loads(annotations.get(FAILURE, "[]"))
    assert told == ([
        {"message": text, "policy": "p", "binding": "b", "expressionIndex": number, "validationActions": list(actions)}
        for number, text in enumerate(("one", "two"))] if "Audit" in actions else [])


@pytest.mark.parametrize(("failure_policy", "expected"), [
    ("Fail", (422, {"p/good": "1, 2"})), ("Ignore", (201, {"p/good": "1, 2"}))])
async def test_annotations_that_fail(cluster: Cluster, failure_policy: str, expected: tuple[int, Tree]) -> None:
    """Given audit annotations of which one has no value / when an object is written under two
    bindings / then the others are told, each text once, and failurePolicy decides.
    """
    await cluster.client.create(VALIDATING, policy(
        VALIDATING, validations=[{"expression": "true"}], failurePolicy=failure_policy,
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"}, auditAnnotations=[
            {"key": "bad", "valueExpression": "string(object.data.none)"},
            {"key": "good", "valueExpression": "' ' + params.data.n + ' '"},
            {"key": "empty", "valueExpression": "'  '"}]))
    for name, number in (("one", "1"), ("same", "1"), ("two", "2")):
        await cluster.client.create(MAPS, config_map(f"params-{name}", n=number))
    for name in ("one", "same", "two"):
        await cluster.client.create(BINDINGS, binding(BINDINGS, f"b-{name}", validationActions=["Warn"], paramRef={
            "name": f"params-{name}", "parameterNotFoundAction": "Deny"}))
    status, warnings, annotations = await answered(cluster, "x")
    assert (status, annotations) == expected
    assert warnings == []


CLUSTER_KIND, NAMESPACED_KIND = {"apiVersion": "v1", "kind": "Namespace"}, {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.mark.parametrize(("of", "reference", "text"), [
    (NAMESPACED_KIND, {"name": "none", "parameterNotFoundAction": "Deny"},
     "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"),
    (NAMESPACED_KIND, {"name": "none", "parameterNotFoundAction": "Allow"}, ""),
    (NAMESPACED_KIND, {"name": "there", "namespace": "kube-system", "parameterNotFoundAction": "Deny"},
        "failed expression: false"),
    (NAMESPACED_KIND, {"name": "there", "parameterNotFoundAction": "Allow"}, ""),
    (NAMESPACED_KIND, {"selector": {}, "namespace": "kube-system", "parameterNotFoundAction": "Allow"},
        "failed expression: false"),
    (CLUSTER_KIND, {"name": "default", "parameterNotFoundAction": "Deny"}, "failed expression: false"),
    (CLUSTER_KIND, {"name": "default", "namespace": "x", "parameterNotFoundAction": "Deny"},
     "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"),
    ({"apiVersion": "no.example/v1", "kind": "No"}, {"name": "x", "parameterNotFoundAction": "Allow"},
     "failed to configure policy: failed to find resource referenced by paramKind: 'no.example/v1, Kind=No'"),
])
async def test_parameters_of_a_binding(cluster: Cluster, of: Tree, reference: Tree, text: str) -> None:
    """Given kinds and references of parameters / when an object is written / then the policy holds
    for each that is found, or the configuration is told to be wrong.
    """
    await cluster.client.create(MAPS, {"metadata": {"name": "there", "namespace": "kube-system"}})
    await cluster.client.create(VALIDATING, policy(VALIDATING, validations=[{"expression": "false"}], paramKind=of))
    await cluster.client.create(BINDINGS, binding(BINDINGS, validationActions=["Deny"], paramRef=reference))
    if not text:
        await cluster.client.create(MAPS, config_map())
        return
    error = await refusal(cluster.client, config_map())
    told = error.message.removeprefix('configmaps "a" is forbidden: ')
    where = "" if "configure policy" in text else " with binding 'b'"
    assert told == f"ValidatingAdmissionPolicy 'p'{where} denied request: {text}"
    await cluster.client.patch(VALIDATING, "p", "", {"spec": {"failurePolicy": "Ignore"}})
    if "failed to configure" in text:
        await cluster.client.create(MAPS, config_map())


async def test_namespaced_parameters_of_what_is_in_none(cluster: Cluster) -> None:
    """Given namespaced parameters without a namespace / when a namespace is written / then that
    cannot be, in upstream's words.
    """
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["namespaces"]}]
    await cluster.client.create(VALIDATING, policy(
        VALIDATING, rules=rules, validations=[{"expression": "false"}], paramKind=NAMESPACED_KIND))
    await cluster.client.create(BINDINGS, binding(BINDINGS, validationActions=["Deny"], paramRef={
        "name": "x", "parameterNotFoundAction": "Allow"}))
    error = await refusal(cluster.client, {"kind": "Namespace", "metadata": {"name": "n"}}, NAMESPACES)
    assert error.message == (
        f'namespaces "n" is forbidden: {DENIED}failed to configure binding: '
        "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")


async def test_bindings_choose_and_exclude(cluster: Cluster) -> None:
    """Given bindings that choose by labels of the object and of the namespace, by rules, and that
    exclude / when objects are written / then the policy holds where its binding says.
    """
    await cluster.client.create(VALIDATING, policy(VALIDATING, validations=[{"expression": "false", "message": "no"}]))
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    for name, resources in (
        ("object", {"objectSelector": {"matchLabels": {"by": "object"}}}),
        ("rule", {"resourceRules": [{**rule, "resources": ["pods"]}]}),
        ("excluded", {"objectSelector": {"matchLabels": {"by": "excluded"}}, "excludeResourceRules": [rule]}),
        ("named", {"objectSelector": {"matchLabels": {"by": "named"}}, "resourceRules": [{**rule, "resourceNames": ["n"]}]}),
        ("space", {"objectSelector": {"matchLabels": {"by": "space"}}, "namespaceSelector": {
            "matchLabels": {"kubernetes.io/metadata.name": "default"}}}),
    ):
        await cluster.client.create(BINDINGS, binding(BINDINGS, name, validationActions=["Deny"], matchResources=resources))
    for by in ("nobody", "excluded", "named"):
        await cluster.client.create(MAPS, config_map(by, {"by": by}))
    for name, by in (("o", "object"), ("n", "named"), ("s", "space")):
        error = await refusal(cluster.client, config_map(name, {"by": by}))
        assert error.message == (
            f"configmaps \"{name}\" is forbidden: ValidatingAdmissionPolicy 'p' with binding '{by}' denied request: no")
    await cluster.client.create(MAPS, {**config_map("s", {"by": "space"}), "metadata": {
        "name": "s", "namespace": "kube-system", "labels": {"by": "space"}}})


async def test_the_first_denial_is_the_answer(cluster: Cluster) -> None:
    """Given two policies and bindings that all deny / when an object is written / then the first by
    name is told; a condition that is false keeps a policy out, one that fails denies.
    """
    for name, condition in (("c", "true"), ("b", "object.metadata.name != 'skipped'"), ("a", "object.data.none == '1' || true")):
        await cluster.client.create(VALIDATING, policy(
            VALIDATING, name, validations=[{"expression": "false", "message": name}],
            matchConditions=[{"name": "x", "expression": condition}]))
        for bound in ("2", "1"):
            await cluster.client.create(BINDINGS, binding(BINDINGS, f"{name}-{bound}", name, validationActions=["Deny"]))
    assert (await refusal(cluster.client, config_map())).message.endswith("'a' with binding 'a-1' denied request: a")
    await cluster.client.delete(VALIDATING, "a")
    assert (await refusal(cluster.client, config_map())).message.endswith("'b' with binding 'b-1' denied request: b")
    assert (await refusal(cluster.client, config_map("skipped"))).message.endswith("'c' with binding 'c-1' denied request: c")
    await cluster.client.create(VALIDATING, policy(
        VALIDATING, "a", validations=[{"expression": "false"}], matchConditions=[FAILING]))
    assert (await refusal(cluster.client, config_map())).message.endswith(
        "'a' with binding 'a-1' denied request: expression 'object.data.none == '1'' resulted in error: no such key: data")


async def test_values_of_patches(cluster: Cluster) -> None:
    """Given values of every type / when a patch adds them / then they are in JSON as upstream
    writes them; a type that is none there is refused.
    """
    values = (
        "string([1, 2].size())", "'text'", "string(duration('90s'))",
        "string(timestamp('2026-01-01T00:00:00Z'))", "string(b'abc')")
    await mutate(cluster.client, *(
        json_patch(f"[JSONPatch{{op: 'add', path: '/data/v{number}', value: {value}}}]") for number, value in enumerate(values)),
        json_patch("[JSONPatch{op: 'copy', from: '/data/v1', path: '/data/copied'}, JSONPatch{op: 'remove', path: '/data/v0'}]"),
        json_patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]"),
        json_patch("[JSONPatch{op: 'add', path: '/data/bytes', value: b'abc'}]"),
        json_patch("[JSONPatch{op: 'add', path: '/data/span', value: duration('90s')}]"),
        json_patch("[JSONPatch{op: 'add', path: '/data/time', value: timestamp('2026-01-01T00:00:00Z')}]"),
        json_patch("[JSONPatch{op: 'add', path: '/metadata/finalizers', value: ['x.io/' + 'a', 'x.io/b']}]"))
    made = await cluster.client.create(MAPS, config_map(own="1"))
    assert made["data"] == {
        "own": "1", "v1": "text", "v2": "90s", "v3": "2026-01-01T00:00:00Z", "v4": "abc", "copied": "text", "bytes": "YWJj",
        "span": "90s", "time": "2026-01-01T00:00:00Z"}
    assert made["metadata"]["labels"] == {"a": "b"}
    assert made["metadata"]["finalizers"] == ["x.io/a", "x.io/b"]


@pytest.mark.parametrize(("mutation", "text"), [
    (json_patch("[JSONPatch{op: 'add', path: '/data/x', value: type(1)}]"),
     "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "),
    (json_patch("[JSONPatch{op: 'add', path: '/data', value: {1: 'x'}}]"), 'map key "1" is of type int, not string'),
    (merge("Object{metadata: object.metadata.name == 'a' ? Object.data{} : Object.data{}}"),
     'type mismatch: unexpected type name "Object.data", expected "Object.metadata"'),
    (json_patch("[JSONPatch{op: 'odd', path: '/data/x'}]"), "JSON Patch: "),
])
async def test_mutations_that_cannot_be(cluster: Cluster, mutation: Tree, text: str) -> None:
    """Given values and names that cannot stand where they do / when an object is written / then it
    is refused in upstream's words.
    """
    await mutate(cluster.client, mutation)
    error = await refusal(cluster.client, config_map(a="b"))
    assert (error.code, error.reason) == (403, "Invalid")
    assert error.message.startswith("policy 'p' with binding 'b' denied request: ")
    assert text in error.message
    assert error.details == {"name": "a", "kind": "configmaps", "causes": [{"message": error.message}]}


async def test_mutations_under_bindings_and_conditions(cluster: Cluster) -> None:
    """Given a mutating policy with conditions, parameters by label and bindings of which one does
    not match / when objects are written / then each parameter is applied once, in order.
    """
    for name in ("p1", "p2"):
        await cluster.client.create(MAPS, config_map(name, {"params": "yes"}, n=name))
    await cluster.client.create(MUTATING, policy(
        MUTATING, reinvocationPolicy="Never", paramKind=NAMESPACED_KIND,
        matchConditions=[{"name": "x", "expression": "object.metadata.name != 'skipped' && params.data.n != ''"}],
        mutations=[json_patch("[JSONPatch{op: 'add', path: '/data/' + params.data.n, value: variables.known}]")],
        variables=[{"name": "known", "expression": "string(object.data.size())"}]))
    reference = {"selector": {"matchLabels": {"params": "yes"}}, "parameterNotFoundAction": "Deny"}
    await cluster.client.create(MUTATING_BINDINGS, binding(MUTATING_BINDINGS, paramRef=reference))
    await cluster.client.create(MUTATING_BINDINGS, binding(
        MUTATING_BINDINGS, "other", paramRef=reference, matchResources={"objectSelector": {"matchLabels": {"other": "yes"}}}))
    assert (await cluster.client.create(MAPS, config_map(a="1")))["data"] == {"a": "1", "p1": "1", "p2": "2"}
    assert (await cluster.client.create(MAPS, config_map("skipped", a="1")))["data"] == {"a": "1"}
    await cluster.client.patch(MUTATING, "p", "", {"spec": {"matchConditions": [FAILING]}})
    error = await refusal(cluster.client, config_map("failing", a="1"))
    assert error.message == (
        "policy 'p' with binding 'b' denied request: expression 'object.data.none == '1'' resulted in error: no such key: none")
    await cluster.client.patch(MUTATING, "p", "", {"spec": {"matchConditions": None, "paramKind": {
        "apiVersion": "no.example/v1", "kind": "No"}}})
    error = await refusal(cluster.client, config_map("unknown", a="1"))
    assert (error.code, error.reason, error.message) == (403, "Forbidden", (
        'policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: '
        "'no.example/v1, Kind=No'"))
