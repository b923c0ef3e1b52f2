"""What expressions of admission may name, and of which type it is."""

import pytest

from fakekube.cel import admission, errors, types
from fakekube.cel.types import Type

TEXT, TEXTS, LABELS = "string", "list(string)", "map(string, string)"
KIND, RESOURCE = "kubernetes.GroupVersionKind", "kubernetes.GroupVersionResource"
SEEN = {
    "object": "dyn", "oldObject": "dyn", "request": "kubernetes.AdmissionRequest", "namespaceObject": "kubernetes.Namespace",
    "request.kind": KIND, "request.kind.group": TEXT, "request.kind.version": TEXT, "request.kind.kind": TEXT,
    "request.resource": RESOURCE, "request.resource.group": TEXT, "request.resource.version": TEXT,
    "request.resource.resource": TEXT, "request.subResource": TEXT, "request.requestKind": KIND,
    "request.requestResource": RESOURCE, "request.requestSubResource": TEXT, "request.name": TEXT, "request.namespace": TEXT,
    "request.operation": TEXT, "request.userInfo": "kubernetes.UserInfo", "request.userInfo.username": TEXT,
    "request.userInfo.uid": TEXT, "request.userInfo.groups": TEXTS, "request.userInfo.extra": f"map(string, {TEXTS})",
    "request.dryRun": "bool", "request.options": "dyn",
    "namespaceObject.metadata": "kubernetes.NamespaceMetadata", "namespaceObject.metadata.name": TEXT,
    "namespaceObject.metadata.generateName": TEXT, "namespaceObject.metadata.namespace": TEXT,
    "namespaceObject.metadata.labels": LABELS, "namespaceObject.metadata.annotations": LABELS,
    "namespaceObject.metadata.UID": TEXT, "namespaceObject.metadata.creationTimestamp": "timestamp",
    "namespaceObject.metadata.deletionGracePeriodSeconds": "int", "namespaceObject.metadata.deletionTimestamp": "timestamp",
    "namespaceObject.metadata.generation": "int", "namespaceObject.metadata.resourceVersion": TEXT,
    "namespaceObject.metadata.finalizers": TEXTS, "namespaceObject.spec": "kubernetes.NamespaceSpec",
    "namespaceObject.spec.finalizers": TEXTS, "namespaceObject.status": "kubernetes.NamespaceStatus",
    "namespaceObject.status.phase": TEXT, "namespaceObject.status.conditions": "list(kubernetes.NamespaceCondition)",
    "namespaceObject.status.conditions[0].status": TEXT, "namespaceObject.status.conditions[0].type": TEXT,
    "namespaceObject.status.conditions[0].lastTransitionTime": "timestamp",
    "namespaceObject.status.conditions[0].message": TEXT, "namespaceObject.status.conditions[0].reason": TEXT,
    "authorizer": "kubernetes.authorization.Authorizer",
    "authorizer.requestResource": "kubernetes.authorization.ResourceCheck",
    "params": "undeclared reference to 'params' (in container '')",
    "variables": "undeclared reference to 'variables' (in container '')",
    "request.labels": "undefined field 'labels'", "request.kind.resource": "undefined field 'resource'",
    "request.resource.kind": "undefined field 'kind'", "request.userInfo.name": "undefined field 'name'",
    "namespaceObject.kind": "undefined field 'kind'", "namespaceObject.metadata.uid": "undefined field 'uid'",
    "namespaceObject.metadata.managedFields": "undefined field 'managedFields'",
    "namespaceObject.spec.name": "undefined field 'name'", "namespaceObject.status.name": "undefined field 'name'",
    "kubernetes.AdmissionRequest": "type(kubernetes.AdmissionRequest)", "kubernetes.Namespace": "type(kubernetes.Namespace)",
    "kubernetes.UserInfo{username: 'a'}": "kubernetes.UserInfo", "kubernetes.GroupVersionKind{kind: 'a'}": KIND,
    "kubernetes.GroupVersionResource{group: 'a'}": RESOURCE,
}


def type_of(text: str, seen: admission.Seen | None = None) -> str:
    """The type of an expression, or the first words of its refusal."""
    try:
        return str(admission.environment(37, seen or admission.Seen(), stored=True).compile(text).type)
    except errors.CompileError as error:
        return str(error).partition("\n")[0].partition(": <input>:")[2].partition(": ")[2]


def test_what_is_seen_and_of_which_type() -> None:
    """given what an expression of admission may name, when its type is asked for, then it is the
    one of upstream, and nothing else is known
    """
    assert {text: type_of(text) for text in SEEN} == SEEN


@pytest.mark.parametrize(("seen", "known"), [
    (admission.Seen(), {"authorizer", "authorizer.requestResource"}),
    (admission.Seen(params=True), {"params", "authorizer", "authorizer.requestResource"}),
    (admission.Seen(authorizer=False), set()),
    (admission.Seen(params=True, authorizer=False, resource_check=True), {"params"}),
    (admission.Seen(resource_check=False), {"authorizer"}),
])
def test_what_is_there_when_it_is_asked_for(seen: admission.Seen, known: set[str]) -> None:
    """given parts that are asked for, when variables are listed, then those are there as well"""
    assert set(admission.variables(seen)) == {"object", "oldObject", "namespaceObject", "request", *known}
    assert type_of("params.a", seen) == ("dyn" if "params" in known else "undeclared reference to 'params' (in container '')")


@pytest.mark.parametrize(("text", "results", "said", "internal"), [
    ("object.", (types.BOOL,), "compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'", False),
    ("'a'.find('(')", (types.STRING,), "program instantiation failed: error parsing regexp: missing closing ): `(`", True),
    ("request", (types.BOOL,), "must evaluate to bool but got kubernetes.AdmissionRequest", False),
    ("request.userInfo.extra", (types.BOOL,), "must evaluate to bool but got map(string, list(string))", False),
    ("[1]", (types.STRING,), "must evaluate to string but got list(int)", False),
    ("1", (types.STRING, types.NULL), "must evaluate to one of [string null_type] but got int", False),
    ("timestamp(1)", (types.list_of(types.STRING),), "must evaluate to list(string) but got google.protobuf.Timestamp", False),
    ("object", (types.BOOL,), "must evaluate to bool but got dyn", False),
    ("Obj{}", (types.BOOL,), "compilation failed: ERROR: <input>:1:4: undeclared reference to 'Obj' (in container '')", False),
])
def test_what_cannot_be_used_is_refused(text: str, results: tuple[Type, ...], said: str, internal: bool) -> None:
    """given an expression that gives something else, when it is compiled, then upstream's words say
    so; what only fails as a program is an error of upstream's own
    """
    with pytest.raises(admission.Refused) as refused:
        admission.compiled(admission.environment(37, admission.Seen(), stored=True), text, results)
    assert (str(refused.value).partition("\n")[0], refused.value.internal) == (said, internal)


def test_any_result_is_taken_where_any_will_do() -> None:
    """given no types, or any among them, when it is compiled, then it may give anything"""
    within = admission.environment(37, admission.Seen(), stored=True)
    assert str(admission.compiled(within, "[1]").type) == "list(int)"
    assert str(admission.compiled(within, "[1]", (types.ANY, types.BOOL)).type) == "list(int)"
    assert str(admission.compiled(within, "'a'", (types.NULL, types.STRING)).type) == "string"


@pytest.mark.parametrize(("text", "told"), [
    ("variables.a + 1", "int"), ("variables.b", "undefined field 'b'"), ("variables", "kubernetes.variables"),
    ("params.a", "dyn"), ("authorizer.requestResource", "kubernetes.authorization.ResourceCheck"),
    ("Object{spec: Object.spec{replicas: 1}}", "Object"), ("Object.spec.template{any: 'a'}", "Object.spec.template"),
    ("JSONPatch{op: 'add', path: '/a', from: '/b', value: 1}", "JSONPatch"),
    ("[JSONPatch{op: 'add'}]", "list(JSONPatch)"), ("jsonpatch.escapeKey('a/b')", "string"),
    ("JSONPatch{op: 1}", "expected type of field 'op' is 'string' but provided type is 'int'"),
    ("Objects{}", "undeclared reference to 'Objects' (in container '')"),
])
def test_what_a_mutation_may_create(text: str, told: str) -> None:
    """given a policy with parameters and a variable, when the expression of a mutation is compiled,
    then it knows both, objects at every place, and patches
    """
    composition = admission.Composition(37, params=True, composes=True)
    composition.add("a", types.INT)
    try:
        found = str(composition.within(stored=True, patches=True).compile(text).type)
    except errors.CompileError as error:
        found = str(error).partition("\n")[0].split(": ", 2)[2]
    assert found == told


def test_a_place_without_variables_or_authorizer_knows_none() -> None:
    """given a policy without variables, when an expression names them, then they are not known;
    neither is an authorizer where there is none, nor a patch where nothing is patched
    """
    composition = admission.Composition(37, params=False, composes=False)
    for text, known in (("variables.a", False), ("params", False), ("authorizer", True), ("JSONPatch{}", False)):
        try:
            composition.within(stored=True).compile(text)
            found = True
        except errors.CompileError:
            found = False
        assert (text, found) == (text, known)
    with pytest.raises(errors.CompileError):
        composition.within(stored=True, authorized=False).compile("authorizer")


def test_what_expressions_may_spend() -> None:
    """given the limits, then they are upstream's: of a call, of a policy, of match conditions"""
    assert (admission.CALL_COST_LIMIT, admission.COST_BUDGET, admission.CONDITIONS_COST_BUDGET) == (1000000, 10000000, 2500000)
    assert {name: str(of) for name, of in admission.PATCH_RESULTS.items()} == {
        "ApplyConfiguration": "Object", "JSONPatch": "list(JSONPatch)"}
