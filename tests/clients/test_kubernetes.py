"""The official synchronous client, doing what its users do."""

import pytest
from kubernetes import client, dynamic, watch


def config_map(name: str, **labels: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels or None), data={"a": "1"})


def refusal(call: object, *arguments: object, **options: object) -> client.ApiException:
    """The error that a call ends in."""
    with pytest.raises(client.ApiException) as caught:
        call(*arguments, **options)  # type: ignore[operator]
    return caught.value


@pytest.mark.spec("API-015", "API-016", "API-051")
def test_create_twice_and_read(api: client.ApiClient, namespace: str) -> None:
    """Given a namespace, when a ConfigMap is created twice, then the first has what a server sets
    and the second is a 409; what is not there is a 404.
    """
    core = client.CoreV1Api(api)
    made = core.create_namespaced_config_map(namespace, config_map("a"))
    assert made.metadata.uid
    assert made.metadata.resource_version.isdecimal()
    assert made.metadata.generation is None
    assert made.metadata.managed_fields[0].operation == "Update"
    error = refusal(core.create_namespaced_config_map, namespace, config_map("a"))
    assert (error.status, error.reason) == (409, "Conflict")
    assert '"configmaps \\"a\\" already exists"' in error.body
    error = refusal(core.read_namespaced_config_map, "b", namespace)
    assert error.status == 404
    assert 'configmaps \\"b\\" not found' in error.body


@pytest.mark.spec("API-092", "API-097")
def test_optimistic_concurrency(api: client.ApiClient, namespace: str) -> None:
    """Given an object read twice, when both copies are written, then the second write is a 409;
    writing what is there already changes nothing.
    """
    core = client.CoreV1Api(api)
    one = core.create_namespaced_config_map(namespace, config_map("a"))
    other = core.read_namespaced_config_map("a", namespace)
    one.data = {"a": "2"}
    written = core.replace_namespaced_config_map("a", namespace, one)
    other.data = {"a": "3"}
    error = refusal(core.replace_namespaced_config_map, "a", namespace, other)
    assert error.status == 409
    assert "the object has been modified" in error.body
    again = core.replace_namespaced_config_map("a", namespace, written)
    assert again.metadata.resource_version == written.metadata.resource_version


@pytest.mark.spec("API-054", "API-055", "API-064")
def test_selectors_and_pages(api: client.ApiClient, namespace: str) -> None:
    """Given five objects, when they are listed by selector and by page, then each list holds what
    it should.
    """
    core = client.CoreV1Api(api)
    for number in range(5):
        core.create_namespaced_config_map(namespace, config_map(f"m{number}", parity=str(number % 2), suite="x"))
    odd = core.list_namespaced_config_map(namespace, label_selector="parity=1")
    assert [item.metadata.name for item in odd.items] == ["m1", "m3"]
    others = core.list_namespaced_config_map(namespace, label_selector="suite,parity notin (1)")
    assert [item.metadata.name for item in others.items] == ["m0", "m2", "m4"]
    named = core.list_namespaced_config_map(namespace, field_selector="metadata.name=m2")
    assert [item.metadata.name for item in named.items] == ["m2"]
    page = core.list_namespaced_config_map(namespace, limit=2, label_selector="suite=x")
    names = [item.metadata.name for item in page.items]
    while page.metadata._continue:
        page = core.list_namespaced_config_map(namespace, limit=2, label_selector="suite=x", _continue=page.metadata._continue)
        names += [item.metadata.name for item in page.items]
    assert names == ["m0", "m1", "m2", "m3", "m4"]


@pytest.mark.spec("API-076", "API-079", "API-086")
def test_watch_sees_every_change_in_order(api: client.ApiClient, namespace: str) -> None:
    """Given a list, when objects change afterwards, then a watch from the list's version sees
    exactly these changes.
    """
    core = client.CoreV1Api(api)
    start = core.list_namespaced_config_map(namespace, label_selector="watched=yes").metadata.resource_version
    core.create_namespaced_config_map(namespace, config_map("a", watched="yes"))
    core.patch_namespaced_config_map("a", namespace, {"data": {"a": "2"}})
    core.create_namespaced_config_map(namespace, config_map("b", watched="no"))
    core.patch_namespaced_config_map("a", namespace, {"metadata": {"labels": {"watched": "no"}}})
    core.patch_namespaced_config_map("b", namespace, {"metadata": {"labels": {"watched": "yes"}}})
    core.delete_namespaced_config_map("b", namespace)
    seen = []
    stream = watch.Watch().stream(
        core.list_namespaced_config_map, namespace, label_selector="watched=yes", resource_version=start, timeout_seconds=5)
    for event in stream:
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 5:
            break
    assert seen == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a"), ("ADDED", "b"), ("DELETED", "b")]


@pytest.mark.spec("API-103", "API-104")
def test_patches(api: client.ApiClient, namespace: str) -> None:
    """Given a Service, when it is patched in three ways, then lists merge by key, replace, or
    change by index.
    """
    core = client.CoreV1Api(api)
    core.create_namespaced_service(namespace, {"metadata": {"name": "s"}, "spec": {
        "selector": {"app": "a"}, "ports": [{"name": "http", "port": 80}]}})
    merged = core.patch_namespaced_service("s", namespace, {"spec": {"ports": [{"name": "https", "port": 443}]}})
    assert sorted(port.port for port in merged.spec.ports) == [80, 443]
    replaced = core.patch_namespaced_service("s", namespace, [{"op": "replace", "path": "/spec/selector/app", "value": "b"}])
    assert replaced.spec.selector == {"app": "b"}
    error = refusal(core.patch_namespaced_service, "gone", namespace, {"spec": {}})
    assert error.status == 404


@pytest.mark.spec("API-036", "API-037")
def test_unknown_fields(api: client.ApiClient, namespace: str) -> None:
    """Given a body with an unknown field, when it is sent strictly, then it is refused in
    upstream's words; else dropped.
    """
    maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}, "spec": {"foo": 1}}
    with pytest.raises(dynamic.exceptions.BadRequestError) as caught:
        maps.create(namespace=namespace, body=body, query_params=[("fieldValidation", "Strict")])
    assert "strict decoding error: unknown field" in str(caught.value.body)
    made = maps.create(namespace=namespace, body=body, query_params=[("fieldValidation", "Ignore")])
    assert made.to_dict()["data"] == {"a": "1"}
    assert "spec" not in made.to_dict()


@pytest.mark.spec("API-023", "API-044", "API-153")
def test_namespaces(api: client.ApiClient, namespace: str) -> None:
    """Given a cluster, when somebody writes where there is no namespace or deletes one that must
    stay, then it is refused.
    """
    core = client.CoreV1Api(api)
    found = core.read_namespace(namespace)
    assert found.metadata.labels["kubernetes.io/metadata.name"] == namespace
    assert (found.spec.finalizers, found.status.phase) == (["kubernetes"], "Active")
    error = refusal(core.create_namespaced_config_map, "nowhere", config_map("a"))
    assert error.status == 404
    assert 'namespaces \\"nowhere\\" not found' in error.body
    assert refusal(core.delete_namespace, "default").status == 403
    names = [item.metadata.name for item in core.list_namespace().items]
    assert {"default", "kube-system", "kube-public", "kube-node-lease"} <= set(names)


@pytest.mark.spec("API-001", "API-006")
def test_the_dynamic_client_finds_its_way(api: client.ApiClient, namespace: str) -> None:
    """Given nothing but discovery, when the dynamic client is asked for Jobs, then it can create,
    list and delete one.
    """
    jobs = dynamic.DynamicClient(api).resources.get(api_version="batch/v1", kind="Job")
    jobs.create(namespace=namespace, body={"metadata": {"name": "j"}, "apiVersion": "batch/v1", "kind": "Job", "spec": {
        "suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
    found = jobs.get(namespace=namespace).items
    assert [item.metadata.name for item in found] == ["j"]
    assert found[0].spec.backoffLimit == 6
    jobs.delete(name="j", namespace=namespace, body={"propagationPolicy": "Background"})
    assert not jobs.get(namespace=namespace).items


@pytest.mark.fake_only(reason="it needs a kubelet, and virtual time")
@pytest.mark.fakekube(nodes=1)
@pytest.mark.spec("API-041")
def test_a_job_of_an_hour_completes_in_virtual_time(api: client.ApiClient, fakekube_server: object) -> None:
    """Given pods that run for an hour each, when a Job of two is created and time is let run, then
    it is Complete after a bit more than an hour of the cluster's time.
    """
    batch = client.BatchV1Api(api)
    batch.create_namespaced_job("default", {"metadata": {"name": "long"}, "spec": {
        "completions": 2, "parallelism": 2, "template": {
            "metadata": {"annotations": {"fakekube.dev/run-duration": "1h"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
    fakekube_server.run_until(lambda: batch.read_namespaced_job("long", "default").status.succeeded == 2)  # type: ignore[attr-defined]
    job = batch.read_namespaced_job("long", "default")
    assert 3600 <= (job.status.completion_time - job.status.start_time).total_seconds() <= 3610
