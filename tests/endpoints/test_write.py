"""POST and PUT: which mistake is told first, and in which words."""

import orjson
import pytest

from tests.apiserver.conftest import Api

CONFIG_MAPS = "/api/v1/namespaces/t/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/t/leases"
YAML = {"content-type": "application/yaml"}


@pytest.mark.spec("API-015", "API-016", "API-025")
async def test_create(api: Api) -> None:
    """Given a body without Content-Type, kind and apiVersion / when it is posted twice / then 201,
    then AlreadyExists.
    """
    made = await api("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert (made.status, made.tree["kind"], made.tree["apiVersion"]) == (201, "ConfigMap", "v1")
    assert made.tree["metadata"]["managedFields"][0]["manager"] == "unknown"
    again = await api("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    assert (again.status, again.message) == (409, 'configmaps "a" already exists')


@pytest.mark.spec("API-026")
async def test_yaml_in(api: Api) -> None:
    """Given YAML / when it is posted / then it is what the same JSON would be."""
    made = await api("POST", CONFIG_MAPS, b"metadata: {name: a}\ndata:\n  k: v\n", YAML)
    assert (made.status, made.tree["data"]) == (201, {"k": "v"})


@pytest.mark.spec("API-028", "API-029", "API-108")
@pytest.mark.parametrize("media", ["text/plain", "application/cbor", ";;", "application/merge-patch+json"])
async def test_unknown_media_type(api: Api, media: str) -> None:
    """Given a Content-Type that a create does not take / when it is posted / then 415 lists those
    it takes.
    """
    answer = await api("POST", CONFIG_MAPS, b"{}", {"content-type": media})
    assert answer.status == 415
    assert answer.message.startswith(
        "the body of the request was in an unknown format - accepted media types include: application/json"
    )


@pytest.mark.spec("API-031")
async def test_body_beyond_the_limit(api: Api) -> None:
    """Given a body of more than 3 MiB / when it is posted / then 413 tells the limit."""
    answer = await api("POST", CONFIG_MAPS, b" " * (3 << 20) + b"{}")
    assert (answer.status, answer.message) == (413, "Request entity too large: limit is 3145728")


@pytest.mark.spec("API-032", "API-033", "API-034")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            b"{",
            (
                "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
                "unexpected end of JSON input ({)"
            ),
        ),
        (
            b"",
            (
                "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
                "unexpected end of JSON input (<empty>)"
            ),
        ),
        (
            b"hello",
            (
                "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
                "invalid character 'h' looking for beginning of value (68656c6c6f)"
            ),
        ),
        (
            b'{"kind":5}',
            (
                "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
                'json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})'
            ),
        ),
        (
            b'{"apiVersion":"a/b/c"}',
            (
                "the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: "
                'a/b/c ({"apiVersion":"a/b/c"})'
            ),
        ),
        (
            b'{"kind":"Pod","apiVersion":"v1"}',
            'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
        ),
        (
            b'{"kind":"Nope","apiVersion":"v1"}',
            (
                'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for '
                'version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"'
            ),
        ),
        (
            b'{"metadata":{"name":"a","namespace":"u"}}',
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)
async def test_bodies_that_are_no_object_of_the_kind(api: Api, body: bytes, message: str) -> None:
    """Given a body that cannot be a ConfigMap here / when it is posted / then 400 says why in
    upstream's words.
    """
    answer = await api("POST", CONFIG_MAPS, body)
    assert (answer.status, answer.message) == (400, message)


async def test_another_version_of_the_kind(api: Api) -> None:
    """Given an autoscaling/v1 body / when it is posted to v2 / then 400 names both versions."""
    body = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}}
    answer = await api("POST", "/apis/autoscaling/v2/namespaces/t/horizontalpodautoscalers", body)
    assert answer.message == (
        "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)"
    )


@pytest.mark.spec("API-036", "API-037", "API-038")
async def test_strictness(api: Api) -> None:
    """Given an unknown field and a key given twice / when validation is strict, warning or off /
    then 400, Warnings, nothing.
    """
    body = b'{"metadata":{"name":"a"},"spec":{"foo":1,"holderIdentity":"x","holderIdentity":"y"}}'
    strict = await api("POST", f"{LEASES}?fieldValidation=Strict", body)
    problems = 'unknown field "spec.foo", duplicate field "spec.holderIdentity"'
    assert strict.message == f'Lease in version "v1" cannot be handled as a Lease: strict decoding error: {problems}'
    warned = await api("POST", f"{LEASES}?dryRun=All", body)
    assert warned.warnings == [r'299 - "unknown field \"spec.foo\""', r'299 - "duplicate field \"spec.holderIdentity\""']
    silent = await api("POST", f"{LEASES}?fieldValidation=Ignore", body)
    assert (silent.status, silent.warnings, silent.tree["spec"]) == (201, [], {"holderIdentity": "y"})


@pytest.mark.spec("API-036", "API-038")
async def test_strictness_keeps_to_the_order_of_the_body(api: Api) -> None:
    """Given unknown and repeated fields in turn, one within a value that a later one hides, one
    below an unknown field / when validation is strict or warning / then each is told once, in the
    order of the body.
    """
    body = (
        b'{"zeta":1,"metadata":{"name":"a","name":"a","quux":1,"labels":{"a":"1","a":"2"}},"data":{"k":"1","k":"1"},"bar":1,'
        b'"bar":{"a":1,"a":2},"metadata":{"name":"a","alpha":1},"alpha":1}')
    told = [
        'unknown field "zeta"', 'duplicate field "metadata.name"', 'unknown field "metadata.quux"',
        'duplicate field "metadata.labels.a"', 'duplicate field "data.k"', 'unknown field "bar"', 'duplicate field "metadata"',
        'unknown field "metadata.alpha"', 'unknown field "alpha"']
    strict = await api("POST", f"{CONFIG_MAPS}?fieldValidation=Strict", body)
    assert strict.message == (
        f'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: {", ".join(told)}')
    warned = await api("POST", f"{CONFIG_MAPS}?dryRun=All", body)
    assert warned.warnings == ["299 - " + orjson.dumps(text).decode() for text in told]


async def test_strictness_of_yaml(api: Api) -> None:
    """Given a key twice in YAML / when validation is strict or warning / then the line is named."""
    body = b"metadata: {name: a}\ndata:\n  k: one\n  k: two\n"
    assert (await api("POST", f"{CONFIG_MAPS}?fieldValidation=Strict", body, YAML)).message == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n'
        '  line 4: key "k" already set in map'
    )
    assert (await api("POST", CONFIG_MAPS, body, YAML)).warnings == [r'299 - "line 4: key \"k\" already set in map"']


async def test_warnings_come_with_errors_too(api: Api) -> None:
    """Given an unknown field in an object that is invalid besides / when it is posted / then 422,
    and the Warning.
    """
    answer = await api("POST", CONFIG_MAPS, {"Metadata": {"name": "b"}})
    assert (answer.status, answer.warnings) == (422, [r'299 - "unknown field \"Metadata\""'])


@pytest.mark.spec("API-035")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "dryRun=Some&fieldValidation=Maybe",
            (
                'CreateOptions.meta.k8s.io "" is invalid: [dryRun: Unsupported value: ["Some"]: supported '
                'values: "All", fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"]'
            ),
        ),
        (
            f"fieldManager={'m' * 129}",
            'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
        ),
        (
            "fieldManager=a%09b",
            (
                'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\tb": invalid character '
                "U+0009 (at position 1)"
            ),
        ),
    ],
)
async def test_options_that_are_none(api: Api, query: str, message: str) -> None:
    """Given bad query options / when something is created / then one 422 lists them all."""
    answer = await api("POST", f"{CONFIG_MAPS}?{query}", {"metadata": {"name": "a"}})
    assert (answer.status, answer.message) == (422, message)


@pytest.mark.spec("API-035")
async def test_dry_run_stores_nothing(api: Api) -> None:
    """Given dryRun=All / when something is created / then the answer has a uid and nothing is
    there.
    """
    answer = await api("POST", f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"name": "a"}})
    assert answer.status == 201
    assert answer.tree["metadata"]["uid"]
    assert (await api("GET", f"{CONFIG_MAPS}/a")).status == 404


@pytest.mark.spec("API-092", "API-093", "API-095", "API-097")
async def test_update(api: Api) -> None:
    """Given an object / when it is put: unchanged, without a version, stale, under another name /
    then as upstream.
    """
    made = (await api("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})).tree
    same = await api("PUT", f"{CONFIG_MAPS}/a", made)
    assert same.tree["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    changed = await api("PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a"}, "data": {"k": "w"}})
    assert (changed.status, changed.tree["data"]) == (200, {"k": "w"})
    stale = await api("PUT", f"{CONFIG_MAPS}/a", {**made, "data": {}})
    assert (stale.status, stale.tree["reason"]) == (409, "Conflict")
    other = await api("PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "b"}})
    assert other.message == "the name of the object (b) does not match the name on the URL (a)"
    nameless = await api("PUT", f"{CONFIG_MAPS}/a", {})
    assert nameless.message == "the name of the object (a based on URL) was undeterminable: name must be provided"


@pytest.mark.spec("API-094")
async def test_update_of_what_is_not_there(api: Api) -> None:
    """Given nothing / when a ConfigMap and a Lease are put / then 404, and 201 for the kind that
    PUT may create.
    """
    assert (await api("PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a"}})).status == 404
    assert (await api("PUT", f"{LEASES}/a", {"metadata": {"name": "a"}})).status == 201


async def test_owner_of_a_write_is_the_user_agent(api: Api) -> None:
    """Given no fieldManager / when something is written / then its manager is the User-Agent up to
    the slash.
    """
    made = await api(
        "POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}}, {"user-agent": "kubectl/v1.37 (linux)"}
    )
    assert made.tree["metadata"]["managedFields"][0]["manager"] == "kubectl"
    forgotten = await api("PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a", "managedFields": []}, "data": {"k": "v"}})
    assert "managedFields" not in forgotten.tree["metadata"]


async def test_answer_is_what_is_stored(api: Api) -> None:
    """Given a create / when the object is read / then the bytes are those that the create answered.
    """
    made = await api("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    read = await api("GET", f"{CONFIG_MAPS}/a")
    assert made.response.body == read.response.body
    assert orjson.loads(read.response.body)["metadata"]["name"] == "a"


async def test_an_overhead_with_nothing_in_it(api: Api) -> None:
    """Given a pod with an empty overhead / when it is posted, once and again / then it is refused
    as one with an overhead; a PUT that has it changes nothing.
    """
    pods = "/api/v1/namespaces/t/pods"
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    for _ in range(2):
        refused = await api("POST", pods, {**pod, "spec": {**pod["spec"], "overhead": {}}})
        assert (refused.status, refused.message) == (403, (
            'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'))
    made = (await api("POST", pods, pod)).tree
    kept = await api("PUT", f"{pods}/p", {**made, "spec": {**made["spec"], "overhead": {}}})
    assert (kept.status, kept.tree["metadata"]["resourceVersion"]) == (200, made["metadata"]["resourceVersion"])


DEEP = b"[" * 9_000 + b"]" * 9_000


async def test_what_is_deep_and_unknown_is_dropped(api: Api) -> None:
    """Given an unknown field thousands of lists deep / when it is sent / then it is told and
    dropped like any other.
    """
    body = b'{"metadata":{"name":"a"},"foo":%b,"data":{"k":"v"}}' % DEEP
    refused = await api("POST", f"{CONFIG_MAPS}?fieldValidation=Strict", body)
    assert refused.message.endswith('cannot be handled as a ConfigMap: strict decoding error: unknown field "foo"')
    made = await api("POST", CONFIG_MAPS, body)
    assert (made.status, made.tree["data"], made.warnings) == (201, {"k": "v"}, ['299 - "unknown field \\"foo\\""'])
    for media in ("application/merge-patch+json", "application/strategic-merge-patch+json"):
        patched = await api("PATCH", f"{CONFIG_MAPS}/a", b'{"foo":%b,"data":{"k":"w"}}' % DEEP, {"content-type": media})
        assert (patched.status, patched.tree["data"]) == (200, {"k": "w"})


async def test_what_is_deep_and_would_be_kept_is_refused(api: Api) -> None:
    """Given data of any form that is thousands of lists deep / when it is sent / then it is too
    deep, as more is upstream.
    """
    revisions = "/apis/apps/v1/namespaces/t/controllerrevisions"
    refused = await api("POST", revisions, b'{"metadata":{"name":"a"},"revision":1,"data":{"a":%b}}' % DEEP)
    assert refused.status == 400
    assert "json parse error: invalid character '[' exceeded max depth" in refused.message
    assert (await api("POST", revisions, b'{"metadata":{"name":"a"},"revision":1,"data":{"a":[1]}}')).status == 201
    refused = await api("PATCH", f"{revisions}/a", b'{"data":{"a":%b}}' % DEEP, {"content-type": "application/merge-patch+json"})
    assert (refused.status, refused.message) == (400, "invalid JSON patch")


@pytest.mark.parametrize(("path", "body", "message"), [
    ("apis/batch/v1/namespaces/t/jobs", {}, "metadata.name: Required value: name or generateName is required"),
    ("apis/events.k8s.io/v1/namespaces/t/events", {"metadata": {"name": "A_b"}}, 'Event "A_b" is invalid: '),
])
async def test_objects_without_a_name_to_be_had(api: Api, path: str, body: dict[str, object], message: str) -> None:
    """Given a body without a name, or with a bad one / when it is posted / then 422 says so, of
    Events without a group.
    """
    answer = await api("POST", f"/{path}", body)
    assert answer.status == 422
    assert message in answer.message


async def test_limit_ranges_get_a_name(api: Api) -> None:
    """Given a LimitRange without a name / when it is posted / then its name is a uid."""
    made = await api("POST", "/api/v1/namespaces/t/limitranges", {"spec": {"limits": []}})
    assert (made.status, len(made.tree["metadata"]["name"])) == (201, 36)


@pytest.mark.parametrize(("path", "folder"), [
    ("api/v1/nodes", "minions"), ("apis/apiregistration.k8s.io/v1/apiservices", "apiregistration.k8s.io/apiservices"),
])
async def test_where_an_object_is_kept(api: Api, path: str, folder: str) -> None:
    """Given an object / when a PUT names another uid / then the Conflict names the key of the one
    that is stored, in a dry run without the prefix of the storage.
    """
    spec = {"group": "a", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
    body = {"metadata": {"name": "v1.a"}, "spec": spec}
    made = (await api("POST", f"/{path}", body)).tree
    answer = await api("PUT", f"/{path}/v1.a", {**made, "metadata": {**made["metadata"], "uid": "u"}})
    assert f"Key: /registry/{folder}/v1.a, " in answer.message
    tried = await api("PUT", f"/{path}/v1.a?dryRun=All", {**made, "metadata": {**made["metadata"], "uid": "u"}})
    assert tried.message == answer.message.replace("/registry/", "/")


async def test_a_field_shown_as_an_annotation_is_no_metadata(api: Api) -> None:
    """Given a DaemonSet / when its metadata alone is asked for / then the annotation for its
    template's generation is missing.
    """
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    path = "/apis/apps/v1/namespaces/t/daemonsets"
    made = await api("POST", path, {"metadata": {"name": "d", "annotations": {"x": "y"}}, "spec": spec})
    assert len(made.tree["metadata"]["annotations"]) == 2
    partial = {"accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
    assert (await api("GET", f"{path}/d", None, partial)).tree["metadata"]["annotations"] == {"x": "y"}


async def test_a_dry_run_leaves_versions_to_storage(api: Api) -> None:
    """Given a new object with a resourceVersion / when it is made or applied as a dry run / then it
    is told as it came.
    """
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "5"}}
    assert (await api("POST", CONFIG_MAPS, body)).message == "resourceVersion should not be set on objects to be created"
    posted = await api("POST", f"{CONFIG_MAPS}?dryRun=All", body)
    media = {"content-type": "application/apply-patch+yaml"}
    applied = await api("PATCH", f"{CONFIG_MAPS}/a?dryRun=All&fieldManager=m", body, media)
    assert [answer.tree["metadata"]["resourceVersion"] for answer in (posted, applied)] == ["5", "5"]


async def test_a_dry_run_echoes_a_self_link(api: Api) -> None:
    """Given an object / when it is updated with a selfLink / then a dry run shows it, and a real
    write does not.
    """
    path = "/api/v1/namespaces/t/configmaps"
    made = (await api("POST", path, {"metadata": {"name": "a"}})).tree
    linked = {**made, "metadata": {**made["metadata"], "selfLink": "/x"}}
    assert (await api("PUT", f"{path}/a?dryRun=All", linked)).tree["metadata"]["selfLink"] == "/x"
    assert "selfLink" not in (await api("PUT", f"{path}/a", linked)).tree["metadata"]


async def test_entries_of_removed_versions_are_dropped(api: Api) -> None:
    """Given an object that brings owners of a version that its kind has no more / when it is made /
    then they are gone, and those of a version that the kind has stay.
    """
    fields = {"f:metadata": {"f:labels": {"f:z": {}}}}
    entry = {"manager": "m", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": fields}
    entries = [{**entry, "apiVersion": version} for version in ("x/y/z", "apps/v1", "v1")]
    body = {"metadata": {"name": "a", "managedFields": entries}, "data": {"k": "v"}}
    made = (await api("POST", "/api/v1/namespaces/t/configmaps", body)).tree
    assert {found["apiVersion"] for found in made["metadata"]["managedFields"]} == {"v1"}


async def test_what_cannot_be_converted_is_told_before_unknown_fields(api: Api) -> None:
    """Given a body of another kind with fields that it has not / when it is posted / then the
    conversion fails, whatever is to be said of unknown fields.
    """
    for directive in ("Strict", "Warn"):
        body = {"kind": "Pod", "apiVersion": "v1", "x": 1}
        answer = await api("POST", f"/api/v1/namespaces/t/configmaps?fieldValidation={directive}", body)
        assert (answer.status, answer.warnings) == (400, [])
        assert answer.message.endswith("converting (v1.Pod) to (core.ConfigMap): unknown conversion")
