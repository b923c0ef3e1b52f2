"""Admission policies: denials, variables, parameters, actions, mutations, and what is refused."""

from typing import Any

import pytest
from aiohttp import web

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.webhooks import AdmissionRequest
from tests.webhooks.servers import Authority

GROUP = "admissionregistration.k8s.io"
MAPS = Resource("", "v1", "configmaps", "ConfigMap")
PODS = Resource("", "v1", "pods", "Pod")
VALIDATING = Resource(GROUP, "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", namespaced=False)
BINDINGS = Resource(GROUP, "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", namespaced=False)
MUTATING = Resource(GROUP, "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", namespaced=False)
MUTATING_BINDINGS = Resource(
    GROUP, "v1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", namespaced=False)
PLAIN: dict[str, Any] = {"nodes": 0, "controllers": "", "clock": "manual"}
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps", "pods"]}]


def policy(resource: Resource, name: str = "p", **spec: Any) -> Tree:
    rules = spec.pop("rules", RULES)
    return {"apiVersion": f"{GROUP}/v1", "kind": resource.kind, "metadata": {"name": name},
            "spec": {"matchConstraints": {"resourceRules": rules}, **spec}}


def binding(resource: Resource, name: str = "b", policy_name: str = "p", **spec: Any) -> Tree:
    return {"apiVersion": f"{GROUP}/v1", "kind": resource.kind, "metadata": {"name": name},
            "spec": {"policyName": policy_name, **spec}}


def config_map(name: str = "a", labels: dict[str, str] | None = None, **data: str) -> Tree:
    metadata: Tree = {"name": name, "namespace": "default"} | ({"labels": labels} if labels else {})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def validate(client: Client, *validations: Tree, actions: tuple[str, ...] = ("Deny",), **spec: Any) -> None:
    await client.create(VALIDATING, policy(VALIDATING, validations=list(validations), **spec))
    await client.create(BINDINGS, binding(BINDINGS, validationActions=list(actions)))


async def mutate(client: Client, *mutations: Tree, **spec: Any) -> None:
    await client.create(MUTATING, policy(MUTATING, **{"reinvocationPolicy": "Never", "mutations": list(mutations), **spec}))
    await client.create(MUTATING_BINDINGS, binding(MUTATING_BINDINGS))


def apply(expression: str) -> Tree:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def json_patch(expression: str) -> Tree:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


async def refusal(client: Client, tree: Tree, resource: Resource = MAPS) -> APIError:
    with pytest.raises(APIError) as caught:
        await client.create(resource, tree)
    return caught.value


@pytest.mark.spec("API-165")
async def test_denial() -> None:
    """Given a policy, when it has no binding, then nothing happens; with one it denies with its
    reason, its message and the name of the binding."""
    async with Cluster(**PLAIN) as cluster:
        client = cluster.client
        await client.create(VALIDATING, policy(VALIDATING, validations=[
            {"expression": "object.data.size() < 2", "messageExpression": "'has ' + string(object.data.size())"},
            {"expression": "!('x' in object.data)", "reason": "Forbidden"}]))
        await client.create(MAPS, config_map("unbound", a="1", b="2"))
        await client.create(BINDINGS, binding(BINDINGS, validationActions=["Deny"]))
        error = await refusal(client, config_map(a="1", b="2"))
        text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: has 2"
        assert (error.code, error.reason) == (422, "Invalid")
        assert error.message == f'configmaps "a" is forbidden: {text}'
        assert error.details == {"name": "a", "kind": "configmaps", "causes": [{"message": text}]}
        error = await refusal(client, config_map(x="1"))
        assert (error.code, error.reason) == (403, "Forbidden")
        assert error.message.endswith("denied request: failed expression: !('x' in object.data)")
        await client.delete(BINDINGS, "b")
        await client.create(MAPS, config_map(x="1"))


@pytest.mark.spec("API-165")
async def test_warning() -> None:
    """Given a binding that only warns, when something breaks the policy, then the write passes
    with a Warning."""
    from fakekube.apimachinery.http import Request

    async with Cluster(**PLAIN) as cluster:
        await validate(cluster.client, {"expression": "false", "message": "never"}, actions=("Warn", "Audit"))
        body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w"}}'
        answer = await cluster.apiserver.handle(Request(
            "POST", "/api/v1/namespaces/default/configmaps", headers={"content-type": "application/json"}, body=body))
        assert answer.status == 201
        assert ("Warning", "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': never\"") in [
            (name, value) for name, value in answer.headers if name == "Warning"]


@pytest.mark.spec("API-165")
@pytest.mark.parametrize(("failure_policy", "passes"), [("Fail", False), ("Ignore", True)])
async def test_expression_that_fails(failure_policy: str, passes: bool) -> None:
    """Given an expression without a value for a write, when that is made, then failurePolicy
    decides."""
    async with Cluster(**PLAIN) as cluster:
        await validate(cluster.client, {"expression": "object.data.missing == 'x'"}, failurePolicy=failure_policy)
        if passes:
            await cluster.client.create(MAPS, config_map(a="1"))
            return
        error = await refusal(cluster.client, config_map(a="1"))
        assert error.message.endswith("expression 'object.data.missing == 'x'' resulted in error: no such key: missing")


async def test_variables_conditions_and_what_is_seen() -> None:
    """Given a policy with conditions and variables that build on each other, when objects are
    written, then variables are evaluated where they are used, with all that a write has."""
    async with Cluster(**PLAIN) as cluster:
        await validate(
            cluster.client,
            {"expression": "variables.count < 3 || variables.broken == 1", "messageExpression":
             "request.operation + ' ' + request.userInfo.username + ' in ' + namespaceObject.metadata.name"},
            {"expression": "authorizer.group('').resource('pods').namespace('default').check('create').allowed()"},
            matchConditions=[{"name": "checked", "expression": "object.metadata.name.startsWith('c-')"}],
            variables=[{"name": "keys", "expression": "has(object.data) ? object.data.map(k, k) : []"},
                       {"name": "count", "expression": "variables.keys.size()"}, {"name": "broken", "expression": "2"}])
        many = {"a": "1", "b": "2", "c": "3"}
        await cluster.client.create(MAPS, config_map("other", **many))
        await cluster.client.create(MAPS, config_map("c-few"))
        error = await refusal(cluster.client, config_map("c-many", **many))
        assert error.message.endswith("denied request: CREATE kubernetes-admin in default")


async def test_parameters() -> None:
    """Given a policy that takes ConfigMaps for parameters, when they are missing, there, or chosen
    by labels, then it denies, holds each of them, and follows their changes."""
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}]
    secrets = Resource("", "v1", "secrets", "Secret")

    def secret(name: str) -> Tree:
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"}}

    async with Cluster(**PLAIN) as cluster:
        client = cluster.client
        await client.create(VALIDATING, policy(
            VALIDATING, rules=rules, paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
            validations=[{"expression": "object.metadata.name.size() <= int(params.data.max)"}]))
        await client.create(BINDINGS, binding(BINDINGS, validationActions=["Deny"], paramRef={
            "selector": {"matchLabels": {"limits": "yes"}}, "parameterNotFoundAction": "Deny"}))
        error = await refusal(client, secret("a"), secrets)
        assert error.message.endswith(
            "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction")
        await client.create(MAPS, config_map("one", {"limits": "yes"}, max="5"))
        await client.create(MAPS, config_map("two", {"limits": "yes"}, max="3"))
        await client.create(secrets, secret("abc"))
        await refusal(client, secret("abcd"), secrets)
        await client.patch(MAPS, "two", "default", {"data": {"max": "4"}})
        await client.create(secrets, secret("abcd"))


@pytest.mark.spec("API-161")
async def test_mutations_of_both_kinds() -> None:
    """Given a policy that merges and patches, when a pod is created, then lists are merged by their
    keys, the result is defaulted, later mutations see earlier ones, and a validating policy sees
    all.
    """
    async with Cluster(**PLAIN, disable_admission_plugins="ServiceAccount") as cluster:
        await mutate(
            cluster.client,
            apply("Object{metadata: Object.metadata{labels: {'by': 'policy'}}, "
                  "spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'added', image: 'a:1'}]}}"),
            json_patch("[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/y'), "
                       "value: object.metadata.labels['by']}]"))
        await validate(cluster.client, {"expression": "object.metadata.?labels['x/y'].orValue('') == 'policy'"})
        made = await cluster.client.create(PODS, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"},
            "spec": {"initContainers": [{"name": "own", "image": "a:1"}], "containers": [{"name": "c", "image": "a:1"}]}})
        assert made["metadata"]["labels"] == {"by": "policy", "x/y": "policy"}
        assert [(each["name"], each["imagePullPolicy"]) for each in made["spec"]["initContainers"]] == [
            ("own", "IfNotPresent"), ("added", "IfNotPresent")]
        owned = made["metadata"]["managedFields"][0]["fieldsV1"]
        assert "f:labels" not in str(owned)


@pytest.mark.spec("API-165")
@pytest.mark.parametrize(("mutation", "message"), [
    (json_patch("[JSONPatch{op: 'remove', path: '/data/none'}]"),
     "JSON Patch: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value"),
    (apply("Object{colour: 'red'}"),
     "error applying patch: failed to convert patch object to typed object: .colour: field not declared in schema"),
    (apply("Object{metadata: Object.spec{labels: {'a': 'b'}}}"),
     ('type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root '
     "Object type")),
    (apply("Object{metadata: Object.metadata{labels: {'a': object.data.missing}}}"),
     ("expression 'Object{metadata: Object.metadata{labels: {'a': object.data.missing}}}' resulted in error: "
      "no such key: missing")),
])
async def test_mutation_that_fails(mutation: Tree, message: str) -> None:
    """Given a mutation that cannot be applied, when something is written, then it is refused as 403
    with reason Invalid and nothing is stored; under Ignore it passes as it is."""
    async with Cluster(**PLAIN) as cluster:
        await mutate(cluster.client, mutation)
        error = await refusal(cluster.client, config_map(a="b"))
        assert (error.code, error.reason) == (403, "Invalid")
        assert error.message == f"policy 'p' with binding 'b' denied request: {message}"
        await cluster.client.patch(MUTATING, "p", "", {"spec": {"failurePolicy": "Ignore"}})
        assert (await cluster.client.create(MAPS, config_map(a="b")))["data"] == {"a": "b"}


async def test_test_operation_that_fails_changes_nothing() -> None:
    """Given a JSON patch whose test fails, when something is written, then it stays as it is."""
    async with Cluster(**PLAIN) as cluster:
        await mutate(cluster.client, json_patch(
            "[JSONPatch{op: 'test', path: '/data/a', value: 'x'}, JSONPatch{op: 'remove', path: '/data/a'}]"))
        assert (await cluster.client.create(MAPS, config_map(a="b")))["data"] == {"a": "b"}
        assert "data" not in await cluster.client.create(MAPS, config_map("other", a="x"))


async def test_reinvocation_after_a_webhook() -> None:
    """Given a policy that wants to run again and a webhook after it that changes the object, when
    something is written, then the policy runs twice and the webhook once."""
    async with Cluster(**PLAIN) as cluster:
        asked = []

        @cluster.webhook("configmaps", mutating=True)
        def add(request: AdmissionRequest) -> None:
            asked.append(request.object["data"]["seen"])
            request.object["data"]["seen"] += "h"

        await mutate(
            cluster.client, json_patch("[JSONPatch{op: 'replace', path: '/data/seen', value: object.data.seen + 'p'}]"),
            reinvocationPolicy="IfNeeded")
        made = await cluster.client.create(MAPS, config_map(seen=""))
        assert (asked, made["data"]) == (["p"], {"seen": "php"})


@pytest.mark.parametrize(("resource", "spec", "message"), [
    (VALIDATING, {"validations": [{"expression": "nothing"}]}, "undeclared reference to 'nothing' (in container '')"),
    (VALIDATING, {"validations": [{"expression": "'text'"}]},
     "spec.validations[0].expression: Invalid value: \"'text'\": must evaluate to bool but got string"),
    (VALIDATING, {"validations": [{"expression": "params.x == 1"}]}, "undeclared reference to 'params'"),
    (VALIDATING, {"validations": [{"expression": "true"}], "auditAnnotations": [{"key": "k", "valueExpression": "1"}]},
     "must evaluate to one of [string null_type] but got int"),
    (MUTATING, {"reinvocationPolicy": "Never", "mutations": [json_patch("[JSONPatch{colour: 'red'}]")]},
     "expected type of field 'colour' is '' but provided type is 'string'"),
    (MUTATING, {"reinvocationPolicy": "Never", "mutations": [apply("Object.spec{}")]},
     "must evaluate to Object but got Object.spec"),
])
async def test_policies_that_are_refused(resource: Resource, spec: Tree, message: str) -> None:
    """Given a policy whose expression does not compile, when it is created, then the compiler's
    words are the answer."""
    async with Cluster(**PLAIN) as cluster:
        error = await refusal(cluster.client, policy(resource, **spec), resource)
        assert error.code == 422
        assert message in error.message


async def test_costs_are_limited() -> None:
    """Given an expression that costs too much, when something is written, then it is denied, and
    soon."""
    async with Cluster(**PLAIN) as cluster:
        await validate(cluster.client, {"expression": (
            "object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, size(a + b + c + d) > 0))))")})
        error = await refusal(cluster.client, config_map(**{f"k{number}": "v" * 50 for number in range(60)}))
        assert "cost limit exceeded" in error.message or "running out of cost budget" in error.message


async def test_policies_on_a_version_that_a_webhook_converts() -> None:
    """Given a custom kind whose versions a webhook converts, a mutating and a validating policy on
    the other version, when an object is written, then both see it as that version, what is changed
    comes back, and where the webhook fails, the write does."""
    from tests.apiextensions.definitions import custom_object, definition
    from tests.apiextensions.test_conversion import VERSIONS, Webhook

    rules = [{"apiGroups": ["probe.dev"], "apiVersions": ["v2"], "operations": ["CREATE"], "resources": ["widgets"]}]
    widgets = Resource("probe.dev", "v1", "widgets", "Widget")

    def widget(name: str, size: int) -> Tree:
        tree = custom_object(name, spec={"size": size})
        tree["metadata"]["namespace"] = "default"
        return tree

    authority, working = Authority(), [True]

    async def convert(request: web.Request) -> web.Response:
        asked = (await request.json())["request"]
        if not working:
            return web.json_response({}, status=500)
        converted = [Webhook.converted(each, asked["desiredAPIVersion"]) for each in asked["objects"]]
        return web.json_response({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "response": {"uid": asked["uid"], "result": {"status": "Success"}, "convertedObjects": converted}})

    async with authority.serve(convert) as url, Cluster(**PLAIN) as cluster:
        await cluster.load([definition(versions=VERSIONS, conversion={"strategy": "Webhook", "webhook": {
            "clientConfig": {"url": url, "caBundle": authority.bundle}, "conversionReviewVersions": ["v1"]}})])
        grow = '[JSONPatch{op: "replace", path: "/spec/width", value: object.spec.width + 1}]'
        await mutate(cluster.client, json_patch(grow), json_patch(grow), rules=rules)
        await validate(cluster.client, {"expression": "object.spec.width < 10"}, rules=rules)
        assert (await cluster.client.create(widgets, widget("a", 1)))["spec"] == {"size": 3}
        error = await refusal(cluster.client, widget("b", 8), widgets)
        assert error.message.endswith("denied request: failed expression: object.spec.width < 10")
        working.clear()
        error = await refusal(cluster.client, widget("c", 1), widgets)
        assert error.message.startswith(
            'policy "p" denied request: failed to configure policy: conversion webhook for probe.dev/v1')
