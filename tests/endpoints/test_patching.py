"""PATCH in its four forms, as far as the endpoint decides."""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gotext import value_text
from fakekube.endpoints.patchtexts import convert_error, patched_text
from fakekube.registry.store import Store
from tests.apiserver.conftest import Api

CONFIG_MAPS = "/api/v1/namespaces/t/configmaps"
JSON_PATCH, MERGE = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"


async def make(api: Api) -> None:
    answer = await api("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert answer.status == 201


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (JSON_PATCH, [{"op": "replace", "path": "/data/k", "value": "w"}]),
        (MERGE, {"data": {"k": "w"}}),
        (STRATEGIC, {"data": {"k": "w"}}),
    ],
)
async def test_plain_patches(api: Api, media: str, body: Any) -> None:
    """Given an object / when it is patched in any form / then 200 and the change."""
    await make(api)
    answer = await api.patch(f"{CONFIG_MAPS}/a", body, media)
    assert (answer.status, answer.tree["data"]) == (200, {"k": "w"})


@pytest.mark.spec("API-108")
async def test_unknown_kind_of_patch(api: Api) -> None:
    """Given a Content-Type that is no patch's, or none / when it is patched / then the router's
    415.
    """
    for headers in ({"content-type": "application/json"}, {"content-type": "application/apply-patch+cbor"}, {}):
        answer = await api("PATCH", f"{CONFIG_MAPS}/a", {}, headers)
        assert (answer.status, answer.message, answer.tree["details"]) == (415, "415: Unsupported Media Type", {})


@pytest.mark.spec("API-101", "API-102", "API-103", "API-109")
@pytest.mark.parametrize(
    ("media", "body", "status", "message"),
    [
        (MERGE, b"{", 400, "invalid JSON patch"),
        (JSON_PATCH, b"", 400, "invalid JSON patch"),
        (MERGE, b"null", 400, "Invalid JSON Patch"),
        (MERGE, b"[]", 400, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (
            JSON_PATCH,
            b"{}",
            400,
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            JSON_PATCH,
            b'[{"op":"test","path":"/data/k","value":"x"}]',
            422,
            "the server rejected our request due to an error in our request",
        ),
        (MERGE, b'{"metadata":{"name":"b"}}', 400, "the name of the object (b) does not match the name on the URL (a)"),
        (
            MERGE,
            b'{"metadata":{"namespace":"u"}}',
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            MERGE,
            b'{"metadata":{"uid":"mine"}}',
            422,
            'ConfigMap "a" is invalid: metadata.uid: Invalid value: "mine": field is immutable',
        ),
        (
            MERGE,
            b'{"metadata":{"uid":"mine"},"data":{"":"v"}}',
            422,
            ('ConfigMap "a" is invalid: [metadata.uid: Invalid value: "mine": field is immutable, data[]: Invalid value: "": a '
             "valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
             "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')]"),
        ),
        (
            MERGE,
            b'{"metadata":{"uid":"mine","resourceVersion":"1"}}',
            409,
            ('Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to '
             "the latest version and try again"),
        ),
        (
            STRATEGIC, b'{"metadata":{"labels":1}}', 422,
            ' "" is invalid: patch: Invalid value: "map[metadata:map[labels:1]]": cannot restore map from int64',
        ),
        (STRATEGIC, b'{"data":[1]}', 422, ' "" is invalid: patch: Invalid value: "map[data:[1]]": cannot restore map from slice'),
    ],
)
async def test_patches_that_fail(api: Api, media: str, body: bytes, status: int, message: str) -> None:
    """Given a patch that cannot be / when it is sent / then upstream's code and words."""
    await make(api)
    answer = await api("PATCH", f"{CONFIG_MAPS}/a", body, {"content-type": media})
    assert (answer.status, answer.message) == (status, message)
    assert (await api.patch(f"{CONFIG_MAPS}/zz", {})).status == 404


async def test_too_many_operations(api: Api) -> None:
    """Given 10001 operations / when they are sent / then 413 tells the limit."""
    await make(api)
    body = [{"op": "test", "path": "/data/k", "value": "v"}] * 10001
    assert (await api.patch(f"{CONFIG_MAPS}/a", body, JSON_PATCH)).message == (
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    )


async def test_strict_patches(api: Api) -> None:
    """Given patches that add an unknown field / when validation is strict or warning / then 422
    quotes the result, or a Warning.
    """
    await make(api)
    url = f"{CONFIG_MAPS}/a?fieldValidation=Strict"
    merged = await api.patch(url, {"foo": 1})
    assert merged.status == 422
    assert merged.message.startswith(
        r' "" is invalid: patch: Invalid value: "{\"apiVersion\":\"v1\",\"data\":{\"k\":\"v\"},\"foo\":1,'
    )
    assert merged.message.endswith('strict decoding error: unknown field "foo"')
    strategic = await api.patch(url, {"foo": 1}, STRATEGIC)
    assert strategic.message == (' "" is invalid: patch: Invalid value: "map[foo:1]": strict decoding error: unknown field "foo"')
    member = [{"op": "add", "path": "/data/x", "value": "y", "foo": 1}]
    assert (await api.patch(f"{CONFIG_MAPS}/a", member, JSON_PATCH)).warnings == [r'299 - "json patch unknown field \"[0].foo\""']


@pytest.mark.parametrize(("body", "media", "told"), [
    ({"zz": 1, "metadata": {"q": 1}, "aa": 1}, MERGE, ["aa", "metadata.q", "zz"]),
    ({"zz": 1, "metadata": {"q": 1}, "aa": 1}, STRATEGIC, ["aa", "metadata.q", "zz"]),
    ([{"op": "add", "path": f"/{name}", "value": 1} for name in ("zz", "metadata/q", "aa")], JSON_PATCH,
     ["aa", "metadata.q", "zz"]),
])
async def test_strict_patches_tell_in_the_order_of_keys(api: Api, body: Any, media: str, told: list[str]) -> None:
    """Given a patch that adds unknown fields / when it is sent / then a Warning for each comes in
    the order of sorted keys.
    """
    await make(api)
    warned = await api.patch(f"{CONFIG_MAPS}/a", body, media)
    assert warned.warnings == [rf'299 - "unknown field \"{path}\""' for path in told]


async def test_what_is_wrong_with_operations_is_told_operation_by_operation(api: Api) -> None:
    """Given operations with members that are repeated and unknown / when they are sent / then
    Warnings take them in turn.
    """
    await make(api)
    body = (
        b'[{"op":"test","op":"test","path":"/data/k","value":"v","foo":1},'
        b'{"foo":{"a":1,"a":1},"op":"test","foo":1,"path":"/data/k","value":"v","path":"/data/k"},'
        b'{"op":"add","path":"/metadata/labels","value":{"a":"1","a":"2"}}]')
    warned = await api.patch(f"{CONFIG_MAPS}/a", body, JSON_PATCH)
    assert warned.warnings == [
        rf'299 - "json patch {text}"' for text in (
            r'duplicate field \"[0].op\"', r'unknown field \"[0].foo\"', r'unknown field \"[1].foo\"',
            r'duplicate field \"[1].path\"', r'duplicate field \"[2].value.a\"')]


async def test_force_is_for_apply(api: Api) -> None:
    """Given a merge patch / when it is forced, and an apply without a manager / then 422 of
    PatchOptions.
    """
    forced = await api.patch(f"{CONFIG_MAPS}/a?force=false", {})
    assert forced.message == 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'
    nobody = await api.patch(f"{CONFIG_MAPS}/a", {}, APPLY)
    assert nobody.message == 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'


@pytest.mark.spec("API-113", "API-120", "API-123")
async def test_apply(api: Api) -> None:
    """Given nothing / when an object is applied twice / then 201, then 200 with the same version;
    mistakes get their texts.
    """
    url, body = (
        f"{CONFIG_MAPS}/a?fieldManager=m",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}},
    )
    first = await api.patch(url, body, APPLY)
    again = await api.patch(url, body, APPLY)
    assert (first.status, again.status) == (201, 200)
    assert first.tree["metadata"]["resourceVersion"] == again.tree["metadata"]["resourceVersion"]
    assert (await api.patch(url, {**body, "kind": "Secret"}, APPLY)).message == "invalid object type: /v1, Kind=Secret"
    absent = {**body, "metadata": {"name": "b", "uid": "u"}}
    assert (await api.patch(f"{CONFIG_MAPS}/b?fieldManager=m", absent, APPLY)).message == (
        'Operation cannot be fulfilled on configmaps "b": uid mismatch: the provided object specified uid u, and no existing '
        "object was found"
    )
    assert (await api("PATCH", url, b"[]", {"content-type": APPLY})).status == 400


async def test_apply_with_a_key_twice(api: Api) -> None:
    """Given YAML with a key twice / when it is applied strictly or not / then 400 or a Warning
    names the line.
    """
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: a\n  k: b\n"
    strict = await api("PATCH", f"{CONFIG_MAPS}/a?fieldManager=m&fieldValidation=Strict", body, {"content-type": APPLY})
    assert strict.message == (
        "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n"
        '  line 6: key "k" already set in map'
    )
    warned = await api("PATCH", f"{CONFIG_MAPS}/a?fieldManager=m", body, {"content-type": APPLY})
    assert (warned.status, warned.warnings) == (201, [r'299 - "line 6: key \"k\" already set in map"'])


def test_quoting_of_what_a_patch_made() -> None:
    """Given a patched object / when it is quoted / then touched levels are sorted and the others
    keep their order.
    """
    patched = {
        "kind": "X",
        "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {"z": "1", "a": "2"}},
        "data": {"z": 1, "a": 2},
    }
    assert patched_text(patched, None, merged={"data": {"a": 2}}) == (
        '{"apiVersion":"v1","data":{"a":2,"z":1},"kind":"X","metadata":{"name":"a","labels":{"z":"1","a":"2"}}}'
    )
    assert patched_text(patched, None, paths=["/metadata/labels/a"]).endswith(
        '"metadata":{"labels":{"a":"2","z":"1"},"name":"a"}}'
    )


def test_go_prints_a_map() -> None:
    """Given a value / when it is printed as Go prints maps / then keys are sorted and nothing is
    quoted.
    """
    tree = {"b": [1, None, True, 1.2345678, 1e6, -0.5], "a": {"x": "y z"}}
    assert value_text(tree) == "map[a:map[x:y z] b:[1 <nil> true 1.2345678 1e+06 -0.5]]"


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        ("json: cannot unmarshal number into Go struct field ConfigMap.data of type string", "cannot convert int64 to string"),
        (
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
            "cannot restore map from slice",
        ),
        (
            "json: cannot unmarshal object into Go struct field PodSpec.containers of type []v1.Container",
            "cannot restore slice from map",
        ),
        ("json: cannot unmarshal number 1.5 into Go struct field X.y of type int32", "cannot convert float64 to int32"),
        ("something else", "something else"),
    ],
)
def test_words_of_the_converter(text: str, converted: str) -> None:
    """Given a type error / when it arises in a strategic merge / then it has the converter's words.
    """
    assert convert_error(text) == converted


DEPLOYMENTS = "/apis/apps/v1/namespaces/t/deployments"


@pytest.mark.parametrize("media", [STRATEGIC, APPLY])
@pytest.mark.parametrize(("number", "replicas", "seconds"), [
    (b"2.0", 2, 2), (b"5e0", 5, 5), (b"4294967301", 5, 4294967301), (b"-2147483649", 2147483647, -2147483649),
    (b"2147483648", "spec.replicas: Invalid value: -2147483648: must be greater than or equal to 0", 2147483648),
    (b"9223372036854775808", 0, -2**63), (b"-18446744073709551616", 0, -2**63), (b"1e20", 0, -2**63),
    (b"1.5", "cannot convert float64 to int32", "cannot convert float64 to int64"),
])
async def test_numbers_are_made_to_fit(
    api: Api, media: str, number: bytes, replicas: int | str, seconds: int | str) -> None:
    """Given an integer of 32 or 64 bits / when a strategic merge patch or an applied configuration
    brings a number that is too wide, or a float / then what is whole loses its upper bits, as in
    upstream's converter, and anything else is refused.
    """
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = await api("POST", DEPLOYMENTS, {
        "metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod}})
    assert made.status == 201
    head = b'{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": '
    for name, field, end, expected in (
        ("replicas", b'{"replicas": ', b"}}", replicas),
        ("terminationGracePeriodSeconds", b'{"template": {"spec": {"terminationGracePeriodSeconds": ', b"}}}}", seconds),
    ):
        answer = await api.patch(
            f"{DEPLOYMENTS}/d?dryRun=All&fieldManager=m{'&force=true' if media == APPLY else ''}", head + field + number + end,
            media)
        if isinstance(expected, str):
            assert (answer.status >= 400, answer.message.endswith(expected)) == (True, True), answer.message
        else:
            spec = answer.tree["spec"]
            found = {"replicas": spec["replicas"], **spec["template"]["spec"]}
            assert found[name] == expected


@pytest.mark.parametrize(("data", "applied", "merged"), [
    (b'{"k": 9223372036854775808}', ".data.k: expected string, got &value.valueUnstructured{Value:9.223372036854776e+18}",
     '"map[data:map[k:9.223372036854776e+18]]": unrecognized type: string'),
    (b'{"k": 5}', ".data.k: expected string, got &value.valueUnstructured{Value:5}",
     '"map[data:map[k:5]]": cannot convert int64 to string'),
    (b"18446744073709551615", ".data: expected map, got &{1.8446744073709552e+19}",
     '"map[data:1.8446744073709552e+19]": cannot restore map from float64'),
])
async def test_long_integers_are_floats_where_no_type_says_otherwise(
    api: Api, data: bytes, applied: str, merged: str) -> None:
    """Given a number that 64 bits do not hold / when an error tells of it / then it is a float, as
    Go reads it.
    """
    await make(api)
    head = b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": '
    answer = await api.patch(f"{CONFIG_MAPS}/a?fieldManager=m", head + data + b"}", APPLY)
    assert (answer.status, answer.message) == (500, f"failed to create typed patch object (/a; /v1, Kind=ConfigMap): {applied}")
    answer = await api.patch(f"{CONFIG_MAPS}/a", b'{"data": ' + data + b"}", STRATEGIC)
    assert (answer.status, answer.message) == (422, f' "" is invalid: patch: Invalid value: {merged}')


POD_TEMPLATES = "/api/v1/namespaces/t/podtemplates"


@pytest.mark.parametrize(("value", "media", "status", "text"), [
    ({"kind": "Endpoints"}, MERGE, 422, "converting (v1.Endpoints) to (core.ConfigMap): unknown conversion"),
    ({"kind": "Nope"}, MERGE, 422, 'no kind "Nope" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"'),
    ({"kind": 5}, MERGE, 422, "json: cannot unmarshal number into Go struct field .kind of type string"),
    ({"apiVersion": "a/b/c"}, MERGE, 422, "unexpected GroupVersion string: a/b/c"),
    ({"apiVersion": None}, MERGE, 400, "the name of the object (a based on URL) was undeterminable: name must be provided"),
    ({"kind": "Nope", "apiVersion": "x"}, STRATEGIC, 200, ""),
])
async def test_patched_kind(api: Api, value: dict[str, object], media: str, status: int, text: str) -> None:
    """Given a patch of what an object is / when it is applied / then it is read as that, but by the
    strategic one.
    """
    await api("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    answer = await api("PATCH", f"{CONFIG_MAPS}/a", value, {"content-type": media})
    assert answer.status == status
    assert answer.tree["kind"] == "ConfigMap" if status == 200 else answer.message.endswith(text)


@pytest.mark.parametrize(("spec", "text"), [
    ({"hostname": True}, "unrecognized type: string"),
    ({"restartPolicy": 1}, "cannot convert int64 to v1.RestartPolicy"),
    ({"hostNetwork": "x"}, "unrecognized type: bool"),
    ({"affinity": {"nodeAffinity": 5}}, "cannot restore struct from: int64"),
    ({"containers": [{"name": "c", "livenessProbe": {"httpGet": {"port": True}}}]}, (
        "json: cannot unmarshal bool into Go value of type int32")),
])
async def test_values_that_cannot_be_converted(api: Api, spec: dict[str, object], text: str) -> None:
    """Given a value of the wrong type / when a strategic merge brings it / then the converter names
    the Go kind that it needs.
    """
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    await api("POST", POD_TEMPLATES, {"metadata": {"name": "a"}, "template": template})
    answer = await api("PATCH", f"{POD_TEMPLATES}/a", {"template": {"spec": spec}}, {"content-type": STRATEGIC})
    assert answer.status in (422, 500)
    assert answer.message.endswith(text)


@pytest.mark.parametrize(("media", "body", "text"), [
    (MERGE, {"metadata": {"name": -1}, "binaryData": {"a": "YQ"}}, "illegal base64 data at input byte 0"),
    (JSON_PATCH, [{"op": "add", "path": "/metadata/name", "value": 1}, {"op": "add", "path": "/binaryData", "value": {"a": "Y"}}],
     "illegal base64 data at input byte 0"),
    (STRATEGIC, {"data": {"a": 1}, "metadata": {"labels": []}}, "cannot restore map from slice"),
])
async def test_the_first_of_several_mistakes(api: Api, media: str, body: Any, text: str) -> None:
    """Given a patch with several mistakes / when it is sent / then that is told which comes first:
    in the patched object as it is quoted, or for a strategic merge in the fields of Go's type.
    """
    await make(api)
    assert (await api.patch(f"{CONFIG_MAPS}/a", body, media)).message.endswith(text)


async def test_what_a_patch_brings_is_quoted_as_it_is_spelled(api: Api) -> None:
    """Given a patched object that cannot be read / when it is quoted / then the values of a JSON
    patch have their keys as they came, and what HTML could trip over is escaped.
    """
    await make(api)
    body = [{"op": "add", "path": "/data", "value": {"z": "<", "a": 1}}]
    assert r'\"data\":{\"z\":\"\\u003c\",\"a\":1}' in (await api.patch(f"{CONFIG_MAPS}/a", body, JSON_PATCH)).message
    merged = await api.patch(f"{CONFIG_MAPS}/a", {"data": {"z": "&", "a": 1}})
    assert r'\"data\":{\"a\":1,\"k\":\"v\",\"z\":\"\\u0026\"}' in merged.message


async def test_a_patch_may_speak_of_another_version(api: Api) -> None:
    """Given an object of a kind with two versions / when a patch says that it is of the other one /
    then what comes of it is read as such, and answered in the version of the URL.
    """
    path, name = "/apis/autoscaling/{}/namespaces/t/horizontalpodautoscalers", "/a?dryRun=All"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "metrics": [{"type": "Resource", "resource": {
        "name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}}]}
    assert (await api("POST", path.format("v2"), {"metadata": {"name": "a"}, "spec": spec})).status == 201
    newer = await api.patch(path.format("v2") + name, {"apiVersion": "autoscaling/v1", "spec": {"maxReplicas": 7}})
    assert (newer.status, newer.tree["apiVersion"], newer.tree["spec"]["maxReplicas"]) == (200, "autoscaling/v2", 7)
    assert newer.tree["spec"]["metrics"][0]["resource"]["name"] == "cpu"
    older = await api.patch(path.format("v1") + name, {"apiVersion": "autoscaling/v2"})
    assert (older.status, older.tree["apiVersion"]) == (200, "autoscaling/v1")
    assert older.tree["spec"]["targetCPUUtilizationPercentage"] == 80


async def test_amounts_that_are_no_map_cannot_be_converted(api: Api) -> None:
    """Given a text where a map of amounts should be / when a strategic merge brings it / then the
    converter wants a map, although its Go type has a name of its own.
    """
    await api("POST", "/api/v1/namespaces/t/limitranges", {"metadata": {"name": "a"}, "spec": {"limits": []}})
    patch = {"spec": {"limits": [{"type": "Container", "defaultRequest": "x"}]}}
    answer = await api("PATCH", "/api/v1/namespaces/t/limitranges/a", patch, {"content-type": STRATEGIC})
    assert answer.message.endswith("cannot restore map from string")


async def test_applied_values_that_cannot_be_converted(api: Api) -> None:
    """Given a text that is no amount / when it is applied / then 500 says which object could not be
    converted, and why.
    """
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "binaryData": {"b": "**"}}
    answer = await api("PATCH", f"{CONFIG_MAPS}/a?fieldManager=m", config, {"content-type": "application/apply-patch+yaml"})
    assert (answer.status, answer.message) == (500, (
        "failed to convert new object (/a; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured object to "
        "/v1, Kind=ConfigMap: error decoding from json: illegal base64 data at input byte 0"))


async def test_lists_of_a_merge_patch_are_quoted_with_sorted_keys(api: Api) -> None:
    """Given a merge patch whose list cannot be taken / when the error quotes the object / then the
    keys in it are sorted.
    """
    await api("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    owners = [{"uid": "u", "controller": "x"}]
    answer = await api("PATCH", f"{CONFIG_MAPS}/a", {"metadata": {"ownerReferences": owners}}, {"content-type": MERGE})
    assert '[{\\"controller\\":\\"x\\",\\"uid\\":\\"u\\"}]' in answer.message


@pytest.mark.parametrize("body", ["a", 1, 1.5, True])
@pytest.mark.parametrize(("media", "strict", "message"), [
    (MERGE, "Strict", "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}"),
    (MERGE, "Ignore", "Invalid JSON Patch"),
    (STRATEGIC, "Strict", "json: cannot unmarshal {} into Go value of type map[string]interface {{}}"),
    (STRATEGIC, "Ignore", "json: cannot unmarshal {} into Go value of type map[string]interface {{}}"),
])
async def test_a_patch_that_is_a_scalar_is_refused_in_its_readers_words(
    api: Api, media: str, strict: str, message: str, body: Any,
) -> None:
    """Given a patch that is a text, a number or a boolean / when it is read strictly or not / then
    each reader says so in upstream's words.
    """
    await make(api)
    answer = await api.patch(f"{CONFIG_MAPS}/a?fieldValidation={strict}", body, media)
    name = {str: "string", bool: "bool"}.get(type(body), "number")
    assert (answer.status, answer.message) == (400, message.format(name))


async def test_a_patch_without_a_version_is_tried_again_when_a_write_came_between(
    api: Api, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a write that comes between a patch's read and its commit / when the patch names no
    version / then it is tried again, five times at most, and warns once; with a version it
    conflicts at once.
    """
    await make(api)
    tried, update = [0], Store.update

    async def conflicting(self: Any, context: Any, namespace: str, name: str, transform: Any) -> Any:
        tried[0] += 1
        if tried[0] <= moves:
            context.warn("once")
            other = self.bucket.get(namespace, name).copy_tree()
            other["data"] = {"n": str(tried[0])}
            self.bucket.update(other, self.bucket.get(namespace, name))
            raise APIError(409, "Conflict", "moved")
        return await update(self, context, namespace, name, transform)

    monkeypatch.setattr(Store, "update", conflicting)
    outcomes = []
    for count, body in ((4, {"data": {"k": "w"}}), (5, {"data": {"k": "x"}}), (1, {"metadata": {"resourceVersion": "1"}})):
        moves, tried[0] = count, 0
        answer = await api.patch(f"{CONFIG_MAPS}/a", body, MERGE)
        outcomes.append((answer.status, tried[0]))
    assert outcomes == [(200, 5), (409, 5), (409, 1)]


async def test_a_conflict_that_is_nobodys_write_is_not_tried_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a refusal with the reason Conflict while the object stays as it is / when a patch meets
    it / then it is told at once.
    """
    await make(api)
    tried = []

    async def refusing(self: Any, context: Any, namespace: str, name: str, transform: Any) -> Any:
        tried.append(name)
        raise APIError(409, "Conflict", "no")

    monkeypatch.setattr(Store, "update", refusing)
    assert (await api.patch(f"{CONFIG_MAPS}/a", {"data": {"k": "w"}}, MERGE)).status == 409
    assert tried == ["a"]


@pytest.mark.parametrize(("media", "status"), [(MERGE, 422), (STRATEGIC, 200), (JSON_PATCH, 422)])
async def test_whole_numbers_with_a_point_are_whole_in_a_strategic_merge_alone(api: Api, media: str, status: int) -> None:
    """Given a Service / when a patch gives the target of a port, in a list, as 81.0 / then it is 81
    by a strategic merge; the others are refused, as upstream's reader has no such number for it.
    """
    services = "/api/v1/namespaces/t/services"
    made = await api("POST", services, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 8080}]}})
    assert made.status == 201
    ports = [{"port": 8080, "targetPort": 81.0}]
    body: Any = [{"op": "replace", "path": "/spec/ports", "value": ports}] if media == JSON_PATCH else {"spec": {"ports": ports}}
    answer = await api.patch(f"{services}/s", body, media)
    assert answer.status == status, answer.message
    if status == 200:
        [port] = answer.tree["spec"]["ports"]
        assert (port["port"], port["targetPort"], type(port["targetPort"])) == (8080, 81, int)
    else:
        assert "cannot unmarshal number 81.0 into Go struct field ServicePort.spec.ports.targetPort" in answer.message


async def test_a_patch_that_takes_the_api_version_away(api: Api) -> None:
    """Given a patch after which an object has no apiVersion / when it is sent / then it is taken
    for upstream's own form, which knows none of the fields: that is an error, a warning or nothing.
    """
    await make(api)
    patch, url = {"apiVersion": ""}, f"{CONFIG_MAPS}/a?fieldValidation="
    strict = await api.patch(f"{url}Strict", patch)
    assert (strict.status, strict.message.rpartition('}": ')[2]) == (
        422, 'strict decoding error: unknown field "data", unknown field "metadata"')
    for directive, told in (("Warn", True), ("Ignore", False)):
        answer = await api.patch(url + directive, patch)
        assert answer.message == "the name of the object (a based on URL) was undeterminable: name must be provided"
        assert any("metadata" in text for text in answer.warnings) is told
