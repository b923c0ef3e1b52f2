"""The protobuf forms of OpenAPI: that of v2 is what older kubectls read before they create
anything.
"""

from collections.abc import Iterator

import orjson
import pytest

from fakekube.apimachinery.http import Request
from fakekube.composition.cluster import Cluster

V3_PROTOBUF = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a message: number and content."""
    position = 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, bytes([varint()])
            continue
        size = varint()
        yield key >> 3, data[position:position + size]
        position += size


def of(data: bytes, number: int) -> list[bytes]:
    return [content for found, content in fields(data) if found == number]


@pytest.mark.spec("API-012")
async def test_it_says_what_the_json_form_says() -> None:
    """Given both forms, when their definitions and paths are compared, then names, types,
    extensions and verbs agree.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        answers = [
            await cluster.apiserver.handle(Request("GET", "/openapi/v2", {}, {"accept": accept}))
            for accept in ("application/json", PROTOBUF, f"application/json,{PROTOBUF}")]
    told, data = orjson.loads(answers[0].body), answers[1].body
    assert answers[1].content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert answers[2].content_type == "application/json"
    assert of(data, 1) == [b"2.0"]
    definitions = {of(named, 1)[0].decode(): of(named, 2)[0] for named in of(of(data, 9)[0], 1)}
    assert sorted(definitions) == sorted(told["definitions"])
    job = definitions["io.k8s.api.batch.v1.Job"]
    extension = {of(named, 1)[0].decode(): of(of(named, 2)[0], 2)[0] for named in of(job, 31)}
    assert orjson.loads(extension["x-kubernetes-group-version-kind"]) == [{"group": "batch", "kind": "Job", "version": "v1"}]
    spec = of(definitions["io.k8s.api.batch.v1.JobSpec"], 25)[0]
    properties = {of(named, 1)[0].decode(): of(named, 2)[0] for named in of(spec, 1)}
    assert of(of(properties["parallelism"], 22)[0], 1) == [b"integer"]
    assert of(properties["template"], 1) == [b"#/definitions/io.k8s.api.core.v1.PodTemplateSpec"]
    paths = {of(named, 1)[0].decode(): of(named, 2)[0] for named in of(of(data, 8)[0], 2)}
    assert sorted(paths) == sorted(path for path in told["paths"] if path.startswith("/"))
    patch = of(paths["/apis/batch/v1/namespaces/{namespace}/jobs/{name}"], 8)[0]
    names = [of(content, 4) for parameter in of(patch, 8) for outer in of(parameter, 1) for inner in of(outer, 2)
             for content in of(inner, 3)]
    assert [b"fieldValidation"] in names


@pytest.mark.spec("API-010")
async def test_a_document_of_v3_says_what_the_json_form_says() -> None:
    """Given both forms of a group's document, when compared, then paths, verbs, schemas, references
    and extensions agree.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        answers = [
            await cluster.apiserver.handle(Request("GET", "/openapi/v3/apis/batch/v1", {}, {"accept": accept}))
            for accept in ("application/json", V3_PROTOBUF, f"application/json,{V3_PROTOBUF}")]
    told, data = orjson.loads(answers[0].body), answers[1].body
    assert answers[1].content_type == "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
    assert answers[2].content_type == "application/json"
    assert of(data, 1) == [b"3.0.0"]
    assert of(of(data, 2)[0], 1) == [b"Kubernetes"]
    components = of(data, 5)[0]
    schemas = {of(named, 1)[0].decode(): of(of(named, 2)[0], 1)[0] for named in of(of(components, 1)[0], 1)}
    assert sorted(schemas) == sorted(told["components"]["schemas"])
    job = schemas["io.k8s.api.batch.v1.Job"]
    extension = {of(named, 1)[0].decode(): of(of(named, 2)[0], 2)[0] for named in of(job, 36)}
    assert orjson.loads(extension["x-kubernetes-group-version-kind"]) == [{"group": "batch", "kind": "Job", "version": "v1"}]
    spec = {of(named, 1)[0].decode(): of(named, 2)[0] for named in of(of(job, 31)[0], 1)}["spec"]
    assert of(of(of(of(spec, 1)[0], 26)[0], 2)[0], 1) == [b"#/components/schemas/io.k8s.api.batch.v1.JobSpec"]
    paths = {of(named, 1)[0].decode(): of(named, 2)[0] for named in of(of(data, 4)[0], 1)}
    assert sorted(paths) == sorted(told["paths"])
    one = paths["/apis/batch/v1/namespaces/{namespace}/jobs/{name}"]
    assert [len(of(one, verb)) for verb in (4, 5, 6, 7, 10)] == [1, 1, 0, 1, 1]
    names = [of(of(parameter, 1)[0], 1) for parameter in of(of(one, 10)[0], 6)]
    assert [b"fieldValidation"] in names
