"""Requests around custom resources, expressions, admission and identity: definitions of every
shape, objects of them, policies, roles, reviews.

A seeded generator beside the one in ``blowing``; ``python -m tests.fuzz`` runs both.
"""

import copy
from typing import Any

from tests.fuzz.blowing import SMALL, Blower, Sent
from tests.fuzz.conftest import APPLY, JSON, JSON_PATCH, MERGE_PATCH, NAMESPACE, STRATEGIC, YAML, Target

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "fuzz.example.com"
COLLECTION = f"/apis/{GROUP}/v1/namespaces/default"
RBAC, ADMISSION = "/apis/rbac.authorization.k8s.io/v1", "/apis/admissionregistration.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
RULES = "x-kubernetes-validations"
TEXT = {"type": "string"}


def rule(text: str, **more: Any) -> dict[str, Any]:
    """One rule of a schema."""
    return {"rule": text, **more}


SCHEMAS: dict[str, dict[str, Any]] = {
    "nested": {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "array", "items": {
        "type": "object", "properties": {"c": {"type": "integer", "minimum": 0, "maximum": 9}, "d": {
            "type": "object", "additionalProperties": TEXT, "maxProperties": 50}}}}}},
        "when": {"type": "string", "format": "date-time"}, "at": {"type": "string", "format": "ipv4"}}},
    "loose": {"type": "object", "properties": {
        "port": {"x-kubernetes-int-or-string": True}, "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "template": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        "pattern": {"type": "string", "pattern": "^(a|b)*c$", "nullable": True}}},
    "listed": {"type": "object", "properties": {
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"], "items": {
            "type": "object", "required": ["k"], "properties": {
                "k": TEXT, "p": {"type": "string", "default": "TCP"}, "v": {"type": "integer"}}}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
        "atomic": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "number"}},
        "replicas": {"type": "integer", "default": 1}, "deep": {"type": "object", "default": {}, "properties": {
            "x": {"type": "object", "default": {"y": 5}, "properties": {"y": {"type": "integer"}}}}}}},
    "ruled": {"type": "object", "properties": {
        "names": {"type": "array", "maxItems": 200, "items": {"type": "string", "maxLength": 100, RULES: [
            rule("!self.contains('zz')"), rule("self.matches('^[a-z]*$') || true")]}},
        "numbers": {"type": "array", "maxItems": 1000, "items": {"type": "integer"}},
        "text": {"type": "string", "maxLength": 10000}, "many": {"type": "object", "maxProperties": 100,
            "additionalProperties": {"type": "string", "maxLength": 50}}},
        RULES: [
            rule("!has(self.names) || self.names.all(x, x.size() < 90)"), rule("!has(self.text) || self.text.size() >= 0",
                messageExpression="'text ' + self.text"),
            rule("!has(self.numbers) || self.numbers.exists_one(x, x == 5) || true"),
            rule("!has(self.names) || self.names.join(',').lowerAscii().size() >= 0"),
            rule("!has(self.many) || self.many.all(k, self.many[k] != k + 'x')", reason="FieldValueForbidden"),
            *(rule(f"!has(self.numbers) || self.numbers.all(x, x != {number} || x > 0)") for number in range(25))]},
}  # fmt: skip
CONTENTS: dict[str, dict[str, Any]] = {
    "nested": {"a": {"b": [{"c": 1, "d": {"e": "f"}}, {"c": 2}]}, "when": "2026-01-01T00:00:00Z", "at": "10.0.0.1"},
    "loose": {"port": "http", "any": {"x": [1, {"y": None}], "z": "a"}, "pattern": "ababc", "template": {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}}, "spec": {"x": [1]}}},
    "listed": {"map": [{"k": "a", "p": "UDP", "v": 1}, {"k": "b"}], "set": ["a", "b"], "atomic": [1.5, 2], "deep": {"x": {}}},
    "ruled": {"names": ["a", "b"], "numbers": [1, 5, 3], "text": "abc", "many": {"a": "b", "c": "d"}},
}  # fmt: skip
EXPRESSIONS = (
    "true", "self", "self.a", "self.spec.x + 'a' == 'b'", "[1, 2, 3].all(a, [1, 2, 3].all(b, [1, 2, 3].all(c, a + b + c > 0)))",
    "self.spec.names.all(x, self.spec.names.exists(y, x == y))", "self.spec.text.matches('(a|b)*c{1,1000}')",
    "self.spec.names.map(x, x + x).map(x, x + x).join(',').size() < 100", "self.spec.names.sum() == ''", "1 / 0 == 1",
    "self.spec.numbers.isSorted()", "self.spec.text.replace('a', 'bb').replace('b', 'cc').size() > 0", "'a' * 5",
    "quantity(self.spec.text).isGreaterThan(quantity('1'))", "ip(self.spec.text).isLoopback()",
        "url(self.spec.text).getHost() != ''",
    "self.spec.text.format([1]) == ''", "'%s%d'.format([self.spec.text, 5]) == ''", "oldSelf == self", "cel.bind(a, 5, a > 4)",
    "self.metadata.name.startsWith('a')", "self.spec.names.filter(x, x.matches(x)).size() == 0",
        "duration('1h') > duration('5')",
    "timestamp(self.spec.text) < timestamp('2026-01-01T00:00:00Z')", "has(self.spec.x) ? self.spec.x : true",
        "a.?b[?0].orValue(1)",
    "self.spec.numbers[self.spec.numbers.size() - 1] % 0 == 1", "type(self) == int", "dyn(self.spec.numbers) == dyn([1.0])",
    "object.metadata.name == request.name", "authorizer.group('').resource('pods').check('get').allowed()", "variables.v == 1",
    "size(object.spec) > 0", "params == null", "b'\\xff' == bytes(self.spec.text)", "0xffffffffffffffffffff", "'\\u{110000}'",
        "(",
    "self.spec.names.all(x, x.split('').all(y, y != 'q'))", "'" + "a" * 3000 + "'.matches(self.spec.text)",
        "semver('1.0.0').major() > 0",
)  # fmt: skip
REPEATED = ("(", "[", "!", "-", "1+", "a.", "a[", "{1:", "[1].all(x,", "true ? ", "true || ", "'a'+", "x.map(y,", "\\", "'",
    "9", "0x", "\n")
FORMATS = ("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "cidr", "uri", "uuid", "byte", "int32",
    "float", "bsonobjectid",
           "hexcolor", "rgbcolor", "isbn", "creditcard", "ssn", "mac", "password", "k8s-short-name", "x")  # fmt: skip
KEYWORDS: dict[str, tuple[Any, ...]] = {
    "maximum": (5, 1e308, "x", None), "minimum": (-5,), "exclusiveMaximum": (True, 5), "multipleOf": (0, 2, 0.1, -1),
        "maxLength": (5, -1),
    "minLength": (9,), "pattern": ("(", "(a+)+$", "\\d{1000}", "a{5000}", "(?=x)"), "maxItems": (3, 2**63), "minItems": (-1,),
        "uniqueItems": (True,),
    "maxProperties": (5,), "enum": ([], ["a", "a"], [1, {"a": []}, None], "x"), "required": (["a", "a"], [5], "a"),
        "nullable": (True, "x"),
    "default": (5, "x", {}, {"a": None}, [None], None), "format": FORMATS, "x-kubernetes-int-or-string": (True, False),
    "x-kubernetes-preserve-unknown-fields": (True, False), "x-kubernetes-embedded-resource": (True,),
        "x-kubernetes-list-type": ("map", "set", "x"),
    "x-kubernetes-list-map-keys": (["a"], [], ["a", "a"], [""]), "x-kubernetes-map-type": ("atomic", "granular", "x"),
        "not": ({}, {"type": "string"}),
    "additionalProperties": (True, False, {}, {"type": "string"}), "items": ({}, [], [{"type": "string"}],
        {"type": "integer"}), "type": ("x", 5, ["string"]),
    "allOf": ([{"minimum": 5}], [{}], [{"properties": {"a": {"enum": ["x"]}}}]), "anyOf": ([{"type": "integer"},
        {"type": "string"}], [{"required": ["a"]}]),
    "oneOf": ([{"required": ["a"]}, {"not": {"required": ["b"]}}],), "$ref": ("#", "#/properties/spec"), "$schema": ("x",),
        "id": ("x",),
    "definitions": ({"a": {"type": "object"}},), "dependencies": ({"a": ["b"]}, {"a": {}}), "patternProperties": ({"^a": {}},),
        "example": ({"a": 1},),
    "externalDocs": ({"url": "x"},), "title": ("t",), "description": ("d" * 100,), "x-unknown": (1,),
}  # fmt: skip


def definition(plural: str, schema: Any, **version: Any) -> dict[str, Any]:
    """A definition of one version, whose objects have this spec."""
    whole = {"type": "object", "properties": {"spec": schema, "status": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    return {"metadata": {"name": f"{plural}.{GROUP}"}, "spec": {
        "group": GROUP, "scope": "Namespaced", "names": {"plural": plural, "kind": plural.capitalize()}, "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}, **version}]}}  # fmt: skip


def prepare(target: Target) -> None:
    """Define what objects are thrown at, with one of each, and a policy that looks at them all."""
    for plural, schema in SCHEMAS.items():
        tree = definition(
            plural, schema, subresources={"status": {}}, additionalPrinterColumns=[
                {"name": "A", "type": "string", "jsonPath": ".spec.text"}, {"name": "B", "type": "date",
                    "jsonPath": ".spec.when"}])
        _post(target, DEFINITIONS, tree)
        _post(target, f"{COLLECTION}/{plural}", custom(plural, "kept"))
    for path, tree in (
        (f"{ADMISSION}/validatingadmissionpolicies", {"metadata": {"name": "all"}, "spec": POLICY}),
        (f"{ADMISSION}/validatingadmissionpolicybindings", {"metadata": {"name": "all"}, "spec": {
            "policyName": "all", "validationActions": ["Warn", "Audit"]}}),
        (f"{RBAC}/clusterroles", {"metadata": {"name": "limited"}, "rules": LIMITED}),
        (f"{RBAC}/clusterrolebindings", {"metadata": {"name": "limited"}, "subjects": [
            {"kind": "User", "name": "limited", "apiGroup": "rbac.authorization.k8s.io"}], "roleRef": {
            "kind": "ClusterRole", "name": "limited", "apiGroup": "rbac.authorization.k8s.io"}}),
    ):  # fmt: skip
        _post(target, path, tree)


def _post(target: Target, path: str, tree: Any) -> None:
    answer = target.post(path, tree)
    assert answer.status == 201, answer.body


def custom(plural: str, name: str) -> dict[str, Any]:
    """An object of one of the schemas."""
    return {"apiVersion": f"{GROUP}/v1", "kind": plural.capitalize(), "metadata": {"name": name},
        "spec": copy.deepcopy(CONTENTS[plural])}


ALL_RULES = [{"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["*"]}]
POLICY = {
    "failurePolicy": "Ignore", "matchConstraints": {"resourceRules": ALL_RULES},
    "variables": [{"name": "v", "expression": "has(object.spec.text) ? object.spec.text : ''"}],
    "matchConditions": [{"name": "c", "expression": "object.metadata.name != 'a'"}],
    "validations": [{"expression": "variables.v.size() < 1000", "messageExpression": "'long: ' + variables.v"},
                    {"expression":
                        "object.metadata.name != 'b' && authorizer.group('').resource('pods').check('get').allowed()"}],
    "auditAnnotations": [{"key": "k", "valueExpression": "string(variables.v)"}],
}  # fmt: skip
LIMITED = [
    {"apiGroups": [GROUP, "rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["get", "list", "create", "patch",
        "update"]},
    {"apiGroups": ["authorization.k8s.io", "authentication.k8s.io", "certificates.k8s.io"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["pods", "serviceaccounts/token"], "resourceNames": ["kept"], "verbs": ["get", "create"]},
]  # fmt: skip
SUBJECT = {"kind": "User", "name": "a", "apiGroup": "rbac.authorization.k8s.io"}
ROLE_REF = {"kind": "ClusterRole", "name": "view", "apiGroup": "rbac.authorization.k8s.io"}
ROLE = {"rules": [{"apiGroups": ["", "apps"], "resources": ["pods", "pods/log"], "resourceNames": ["a"], "verbs": ["get",
    "list"]}]}
ASKED = {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default", "labelSelector": {"requirements": [
    {"key": "a", "operator": "In", "values": ["b"]}]}, "fieldSelector": {"rawSelector": "metadata.name=a"}}}  # fmt: skip
MUTATING = {
    "failurePolicy": "Fail", "reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": ALL_RULES}, "mutations": [
        {"patchType": "ApplyConfiguration", "applyConfiguration":
            {"expression": "Object{spec: Object.spec{text: 'a' + object.spec.text}}"}},
        {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/spec/a', value: 5}]"}}],
}  # fmt: skip
WEBHOOK = {
    "name": "a.example.com", "clientConfig": {"url": "https://a.example/x", "caBundle": "Zm9v"}, "sideEffects": "None",
        "timeoutSeconds": 5,
    "admissionReviewVersions": ["v1"], "rules": ALL_RULES, "matchPolicy": "Equivalent", "reinvocationPolicy": "IfNeeded",
    "matchConditions": [{"name": "m",
        "expression": "object.metadata.name == 'a' && request.userInfo.groups.exists(g, g == 'b')"}],
    "objectSelector": {"matchLabels": {"a": "b"}}, "namespaceSelector": {"matchExpressions": [{"key": "a",
        "operator": "Exists"}]},
}  # fmt: skip
OTHERS: list[tuple[str, dict[str, Any]]] = [
    (f"{ADMISSION}/validatingadmissionpolicies", {"spec": POLICY}),
    (f"{ADMISSION}/mutatingadmissionpolicies", {"spec": MUTATING}),
    (f"{ADMISSION}/validatingadmissionpolicybindings", {"spec": {
        "policyName": "all", "validationActions": ["Deny"], "paramRef": {"name": "p", "parameterNotFoundAction": "Deny"},
            "matchResources": {
            "resourceRules": ALL_RULES, "namespaceSelector": {"matchLabels": {"a": "b"}}}}}),
    (f"{ADMISSION}/mutatingadmissionpolicybindings", {"spec": {"policyName": "all", "paramRef": {
        "selector": {"matchLabels": {"a": "b"}}, "parameterNotFoundAction": "Allow"}}}),
    (f"{ADMISSION}/mutatingwebhookconfigurations", {"webhooks": [WEBHOOK]}),
    (f"{ADMISSION}/validatingwebhookconfigurations", {"webhooks": [{k: v for k, v in WEBHOOK.items()
        if k != "reinvocationPolicy"}]}),
    (f"{RBAC}/clusterroles", {**ROLE, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}),
    (f"{RBAC}/clusterroles", {"rules": [{"nonResourceURLs": ["/a/*"], "verbs": ["get"]}, *ROLE["rules"]]}),
    (f"{RBAC}/namespaces/default/roles", ROLE),
    (f"{RBAC}/clusterrolebindings", {"subjects": [SUBJECT, {"kind": "ServiceAccount", "name": "a", "namespace": "b"}],
        "roleRef": ROLE_REF}),
    (f"{RBAC}/namespaces/default/rolebindings", {"subjects": [SUBJECT], "roleRef": ROLE_REF}),
    (f"{REVIEWS}/subjectaccessreviews", {"spec": {**ASKED, "user": "a", "groups": ["b"], "extra": {"k": ["v"]}, "uid": "u"}}),
    (f"{REVIEWS}/subjectaccessreviews", {"spec": {"nonResourceAttributes": {"path": "/a", "verb": "get"}, "user": "limited"}}),
    (f"{REVIEWS}/selfsubjectaccessreviews", {"spec": ASKED}),
    (f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}),
    (f"{REVIEWS}/namespaces/default/localsubjectaccessreviews", {"metadata": {"namespace": "default"}, "spec":
        {**ASKED, "user": "a"}}),
    ("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "a.b.c", "audiences": ["x"]}}),
    ("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}),
    (f"{NAMESPACE}/serviceaccounts/kept/token", {"spec": {"audiences": ["a"], "expirationSeconds": 3600, "boundObjectRef": {
        "kind": "Pod", "apiVersion": "v1", "name": "kept", "uid": "u"}}}),
    ("/apis/certificates.k8s.io/v1/certificatesigningrequests", {"spec": {
        "request": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIQQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K",
        "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"], "expirationSeconds": 3600}}),
]  # fmt: skip


class CustomBlower(Blower):
    """An endless row of such requests; one seed gives one row.

    ``headers`` say who asks.
    """

    def __init__(self, seed: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(seed)
        self._headers = headers or {}
        self._objects = OTHERS + [(f"{COLLECTION}/{plural}", custom(plural, "x")) for plural in SCHEMAS]

    def next(self) -> Sent:
        """The next request."""
        ways = (self._written, self._custom, self._defined, self._expressed, self._patched)
        return self._random.choices(ways, (4, 4, 3, 3, 4))[0]()._replace(headers=self._headers)

    def _query(self) -> dict[str, str]:
        return {"dryRun": "All", "fieldValidation": self._random.choice(("Strict", "Warn", "Ignore"))}

    def _custom(self) -> Sent:
        """An object of one of the schemas, changed anywhere below its spec."""
        plural, draw = self._random.choice(list(SCHEMAS)), self._random
        tree = custom(plural, draw.choice(("x", "kept")))
        for _ in range(draw.choice((1, 1, 2, 4))):
            if isinstance(tree["spec"], dict | list) and tree["spec"]:
                self._blow(tree["spec"])
        path = f"{COLLECTION}/{plural}"
        if tree["metadata"]["name"] == "kept":
            suffix = draw.choice(("", "", "/status"))
            return Sent("PUT", f"{path}/kept{suffix}", self._bytes(tree), draw.choice((JSON, YAML)), self._query())
        return Sent("POST", path, self._bytes(tree), draw.choice((JSON, YAML)), self._query())

    def _patched(self) -> Sent:
        draw = self._random
        plural = draw.choice(list(SCHEMAS))
        path, media = f"{COLLECTION}/{plural}/kept", draw.choice((MERGE_PATCH, APPLY, APPLY, JSON_PATCH, STRATEGIC))
        query = {"dryRun": "All", "fieldManager": "m", **({"force": "true"} if media == APPLY else {})}
        if media == JSON_PATCH:
            pointers = ("/spec", "/spec/names/0", "/spec/map/-", "/spec/any/x/1", "/metadata", "/kind", "", "/status",
                "/spec/a/b/0/c")
            changes = [
                {"op": draw.choice(("add", "replace", "move", "copy", "test", "remove")), "path": draw.choice(pointers),
                 "from": draw.choice(pointers), "value": self.value()} for _ in range(draw.choice((1, 2, 5, 50)))]  # fmt: skip
            return Sent("PATCH", path, self._bytes(changes), media, query)
        tree = custom(plural, "kept")
        self._blow(tree["spec"] if draw.random() < 0.8 else tree)
        return Sent("PATCH", path, self._bytes(tree), media, query)

    def _schema(self, depth: int = 0) -> Any:
        """A schema with some sense in it."""
        draw = self._random
        kind = draw.choice(("object", "object", "array", "string", "integer", "number", "boolean"))
        made: dict[str, Any] = {"type": kind}
        if kind == "object" and depth < 4:
            made["properties"] = {draw.choice("abcdef"): self._schema(depth + 1) for _ in range(draw.choice((0, 1, 3)))}
        if kind == "array" and depth < 4:
            made["items"] = self._schema(depth + 1)
        for _ in range(draw.choice((0, 0, 1, 1, 3))):
            name = draw.choice(list(KEYWORDS))
            made[name] = copy.deepcopy(draw.choice(KEYWORDS[name]))
        if draw.random() < 0.2:
            made[RULES] = [self._rule() for _ in range(draw.choice((1, 3)))]
        return made

    def _rule(self) -> dict[str, Any]:
        draw = self._random
        more = {"messageExpression": self._expression()} if draw.random() < 0.2 else {}
        more |= {"reason": draw.choice(("FieldValueInvalid", "x")), "fieldPath": draw.choice((".a", ".a[0]", "a", "",
            "." * 500))} \
            if draw.random() < 0.2 else {}
        return rule(self._expression(), **more)

    def _expression(self) -> str:
        draw = self._random
        chance = draw.random()
        if chance < 0.6:
            return draw.choice(EXPRESSIONS)
        if chance < 0.8:
            piece = draw.choice(REPEATED)
            return (piece * min(self.size(), SMALL * 10)) + draw.choice(("", "1", "true", "x"))
        if chance < 0.9:
            return draw.choice((" && ", " || ", " + ",
                " == ")).join(draw.choice(EXPRESSIONS) for _ in range(draw.choice((2, 10, 100))))
        return self.text()

    def _defined(self) -> Sent:
        """A definition with any schema; at times deep or wide."""
        draw, schema = self._random, self._schema()
        chance, many = draw.random(), min(self.size(), SMALL)
        if chance < 0.15:
            for _ in range(min(many, 200)):
                schema = draw.choice(({"type": "array", "items": schema}, {"type": "object", "properties": {"a": schema}},
                                      {"type": "object", "additionalProperties": schema}))  # fmt: skip
        elif chance < 0.3:
            schema = {"type": "object", "properties": {f"p{number}": copy.deepcopy(schema) for number in range(many)}}
        elif chance < 0.4:
            for _ in range(min(many, 100)):
                schema = {"type": "object", draw.choice(("allOf", "anyOf", "oneOf")): [schema], "not": {}}
        tree = definition("made", schema)
        if draw.random() < 0.4:
            self._blow(tree["spec"])
        return Sent("POST", DEFINITIONS, self._bytes(tree), draw.choice((JSON, YAML)), self._query())

    def _expressed(self) -> Sent:
        """Expressions wherever they may stand."""
        draw, text = self._random, self._expression()
        if draw.random() < 0.5:
            schema = copy.deepcopy(SCHEMAS["ruled"])
            schema[RULES] = [rule(text)]
            schema["properties"]["names"][RULES] = [self._rule()]
            if draw.random() < 0.5:
                schema["properties"]["names"]["items"] = {"type": "string"}
                del schema["properties"]["names"]["maxItems"]
            return Sent("POST", DEFINITIONS, self._bytes(definition("made", schema)), JSON, self._query())
        path, content = draw.choice(OTHERS[:2] + OTHERS[4:6])
        tree = copy.deepcopy({"metadata": {"name": "x"}, **content})
        self._express(tree, text)
        return Sent("POST", path, self._bytes(tree), JSON, self._query())

    def _express(self, tree: Any, text: str) -> None:
        for key, value in list(tree.items()) if isinstance(tree, dict) else enumerate(tree):
            if isinstance(value, dict | list):
                self._express(value, text)
            elif isinstance(key, str) and "xpression" in key and self._random.random() < 0.5:
                tree[key] = text
