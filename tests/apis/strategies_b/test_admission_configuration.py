"""Webhook configurations, admission policies and their bindings."""

import pytest

from fakekube.apis.admissionregistration import (
    mutatingadmissionpolicy,
    mutatingwebhookconfiguration,
    validatingadmissionpolicy,
    validatingadmissionpolicybinding,
    validatingwebhookconfiguration,
)
from fakekube.apis.admissionregistration.rules import rule_errors, service_errors, url_errors
from tests.apis.strategies_b.steps import created, named, refused

RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
HOOK = {
    "name": "a.b.io",
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "clientConfig": {"service": {"name": "s", "namespace": "t"}},
    "rules": [RULE],
}
FIRST = "spec.validations[0].expression"
DESIRED = "desired format: https://host[/path]"


def hooks(*changes):
    return named({"webhooks": [{**HOOK, **change} for change in changes]})


def test_a_webhook_refuses_when_in_doubt():
    """Given a webhook / when made in either kind / then its defaults are there, and mutating ones
    run once.
    """
    hook = created(validatingwebhookconfiguration.STRATEGY, hooks({}))["webhooks"][0]
    defaults = {
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "timeoutSeconds": 10,
        "namespaceSelector": {},
        "objectSelector": {},
        "clientConfig": {"service": {"name": "s", "namespace": "t", "port": 443}},
        "rules": [{**RULE, "scope": "*"}],
    }
    assert hook == {**HOOK, **defaults}
    hook = created(mutatingwebhookconfiguration.STRATEGY, hooks({}))["webhooks"][0]
    assert hook == {**HOOK, **defaults, "reinvocationPolicy": "Never"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": "a"}, ['name: Invalid value: "a": should be a domain with at least three segments separated by dots']),
        ({"sideEffects": "Some"}, ['sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"']),
        ({"timeoutSeconds": 31}, ["timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"]),
        ({"admissionReviewVersions": []}, ["admissionReviewVersions: Required value: must specify one of v1, v1beta1"]),
        (
            {"admissionReviewVersions": ["v2"]},
            ['admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1'],
        ),
        ({"clientConfig": {}}, ["clientConfig: Required value: exactly one of url or service is required"]),
        (
            {"matchConditions": [{"name": "c", "expression": " "}, {"name": "c", "expression": "true"}]},
            [
                "matchConditions[0].expression: Required value",
                'matchConditions[1].name: Duplicate value: "c"',
            ],
        ),
    ],
)
def test_what_is_refused_of_a_webhook(change, expected):
    """Given something wrong in a webhook / when made / then it is named."""
    texts = refused(validatingwebhookconfiguration.STRATEGY, hooks(change))
    assert texts == [f"webhooks[0].{text}" for text in expected]


def test_webhooks_have_names_of_their_own():
    """Given a name twice / when made / then a duplicate."""
    assert refused(validatingwebhookconfiguration.STRATEGY, hooks({}, {})) == ['webhooks[1].name: Duplicate value: "a.b.io"']


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"operations": []}, ["r.operations: Required value"]),
        (
            {"operations": ["CREATE", "*"]},
            ['r.operations: Invalid value: ["CREATE","*"]: if \'*\' is present, must not specify other operations'],
        ),
        ({"apiVersions": [""]}, ["r.apiVersions[0]: Required value"]),
        (
            {"resources": ["pods/*", "pods/log"]},
            ["r.resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, must not specify pods/log"],
        ),
        (
            {"resources": ["*/*", "pods"]},
            ['r.resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources'],
        ),
        ({"scope": "Some"}, ['r.scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced"']),
    ],
)
def test_rules_name_each_thing_once(change, expected):
    """Given a rule that says something twice / when checked / then refused."""
    assert [str(error) for error in rule_errors("r", {**RULE, **change})] == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://h/p", []),
        ("http://h", [f"u: Invalid value: \"http\": 'https' is the only allowed URL scheme; {DESIRED}"]),
        ("https:///p", [f'u: Invalid value: "": host must be specified; {DESIRED}']),
        (
            "https://a@h/p?q#f",
            [
                'u: Invalid value: "a": user information is not permitted in the URL',
                'u: Invalid value: "f": fragments are not permitted in the URL',
                'u: Invalid value: "q": query parameters are not permitted in the URL',
            ],
        ),
    ],
)
def test_addresses_of_webhooks(url, expected):
    """Given a URL / when checked / then only https with host and path passes."""
    assert [str(error) for error in url_errors("u", url)] == expected


def test_services_of_webhooks():
    """Given a service / when port and path are wrong / then refused."""
    service = {"name": "s", "namespace": "t", "port": 0, "path": "a//b"}
    assert [str(error) for error in service_errors("s", service)] == [
        "s.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
        "s.path: Invalid value: \"a//b\": must start with a '/'",
        's.path: Invalid value: "a//b": segment[0] may not be empty',
        's.path: Invalid value: "a//b": segment[1] may not be empty',
    ]


def test_upstream_confuses_name_and_namespace_of_services():
    """Given a service without a namespace / when checked / then the name is said to be missing."""
    assert [str(error) for error in service_errors("s", {"name": "n", "port": 1})] == ["s.name: Required value"]
    assert [str(error) for error in service_errors("s", {"namespace": "n", "port": 1})] == ["s.namespace: Required value"]


def policy(**spec):
    return named({"spec": {"matchConstraints": {"resourceRules": [RULE]}, **spec}})


def test_a_policy_matches_as_webhooks_do():
    """Given a policy / when made / then failure policy and constraints are filled in."""
    spec = created(validatingadmissionpolicy.STRATEGY, policy(validations=[{"expression": "true"}]))["spec"]
    assert spec["failurePolicy"] == "Fail"
    assert spec["matchConstraints"] == {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "resourceRules": [{**RULE, "scope": "*"}],
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {},
            [
                "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
                "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
            ],
        ),
        (
            {"validations": [{"expression": "true", "message": "a\nb"}]},
            ['spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks'],
        ),
        (
            {"validations": [{"expression": "true"}], "variables": [{"name": "a-b", "expression": ""}]},
            [
                'spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier',
                "spec.variables[0].expression: Required value: expression is not specified",
            ],
        ),
        ({"validations": [{"expression": "true"}], "paramKind": {"apiVersion": "v1"}}, ["spec.paramKind.kind: Required value"]),
        (
            {"validations": [{"expression": "bool('x')"}]},
            [f"{FIRST}: Internal error: program instantiation failed: type conversion error from 'string' to 'bool'"],
        ),
        (
            {"auditAnnotations": [{"key": "k"}, {"key": "k", "valueExpression": "'v'"}]},
            [
                "spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified",
                'spec.auditAnnotations[1].key: Duplicate value: "k"',
            ],
        ),
    ],
)
def test_what_is_refused_of_a_policy(spec, expected):
    """Given something wrong in a policy / when made / then it is named."""
    assert refused(validatingadmissionpolicy.STRATEGY, policy(**spec)) == expected


def test_a_mutating_policy_says_what_it_changes():
    """Given a policy without mutations, and with a wrong one / when made / then refused."""
    assert refused(mutatingadmissionpolicy.STRATEGY, policy(reinvocationPolicy="Never")) == [
        "spec.mutations: Required value: mutations must contain at least one item"
    ]
    mutation = {"patchType": "JSONPatch", "applyConfiguration": {"expression": "x"}}
    assert refused(mutatingadmissionpolicy.STRATEGY, policy(mutations=[mutation])) == [
        "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
        (
            'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": '
            "must not be specified when patchType is JSONPatch"
        ),
        "spec.reinvocationPolicy: Required value",
    ]


def test_a_binding_names_policy_and_actions():
    """Given bindings / when policy or actions are missing or contradict each other / then refused.
    """
    assert refused(validatingadmissionpolicybinding.STRATEGY, named()) == [
        "spec.policyName: Required value",
        "spec.validationActions: Required value",
    ]
    assert refused(validatingadmissionpolicybinding.STRATEGY, named({"spec": {"validationActions": ["Shout"]}})) == [
        'spec.validationActions[0]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"',
        "spec.policyName: Required value",
    ]
    both = {"policyName": "p", "validationActions": ["Deny", "Warn"], "paramRef": {"name": "n"}}
    texts = refused(validatingadmissionpolicybinding.STRATEGY, named({"spec": both}))
    assert texts[0] == "spec.paramRef.parameterNotFoundAction: Required value"
    assert texts[1].startswith('spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn')
