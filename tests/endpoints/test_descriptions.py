"""Descriptions in OpenAPI: those of the extra ``explain``, or where to get them."""

import sys

import orjson
import pytest

from fakekube.apimachinery.http import Request
from fakekube.composition.cluster import Cluster
from fakekube.schema.descriptions import MISSING

JOB, SPEC = "io.k8s.api.batch.v1.Job", "io.k8s.api.batch.v1.JobSpec"


async def schemas(cluster: Cluster, version: str) -> dict:
    path = "/openapi/v2" if version == "v2" else "/openapi/v3/apis/batch/v1"
    document = orjson.loads((await cluster.apiserver.handle(Request("GET", path))).body)
    return document["definitions"] if version == "v2" else document["components"]["schemas"]


async def index(cluster: Cluster) -> dict:
    return orjson.loads((await cluster.apiserver.handle(Request("GET", "/openapi/v3"))).body)["paths"]


@pytest.mark.parametrize("version", ["v2", "v3"])
@pytest.mark.parametrize("release", ["1.25", "1.37"])
async def test_kinds_and_fields_are_described(release: str, version: str) -> None:
    """Given the extra, when OpenAPI of a release is read, then kinds and fields, references among
    them, say what they are.
    """
    pytest.importorskip("kubernetes_validate", reason="the extra explain is not installed")
    async with Cluster(kubernetes_version=release, controllers="") as cluster:
        found = await schemas(cluster, version)
    assert found[JOB]["description"].startswith("Job represents the configuration of a single job")
    assert found[SPEC]["properties"]["backoffLimit"]["description"].startswith("Specifies the number of retries")
    template = found[SPEC]["properties"]["template"]
    assert template["description"].startswith("Describes the pod that will be created")
    assert "$ref" in template or "allOf" in template


@pytest.mark.parametrize("version", ["v2", "v3"])
async def test_without_the_extra_kinds_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Given no such package, when OpenAPI is read, then a kind's description names the extra, and
    fields have none.
    """
    monkeypatch.setitem(sys.modules, "kubernetes_validate", None)
    async with Cluster(controllers="") as cluster:
        found = await schemas(cluster, version)
    assert found[JOB]["description"] == MISSING
    assert "description" not in found[SPEC] | found[SPEC]["properties"]["backoffLimit"]


async def test_documents_with_descriptions_have_another_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given clients that keep a document by its hash, when the extra is installed, then the hashes
    are others.
    """
    pytest.importorskip("kubernetes_validate", reason="the extra explain is not installed")
    async with Cluster(controllers="") as cluster:
        described = await index(cluster)
    monkeypatch.setitem(sys.modules, "kubernetes_validate", None)
    async with Cluster(controllers="") as cluster:
        assert (await index(cluster))["apis/batch/v1"] != described["apis/batch/v1"]
