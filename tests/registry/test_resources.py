"""One registry names what is served: every answer about types follows it while the server serves.
"""

from dataclasses import replace
from typing import Any

import pytest

from fakekube.apis.catalog import catalog
from fakekube.registry.kind import Conversion, Kind
from fakekube.registry.resources import ResourceRegistry
from tests.apiserver.conftest import Api, api

__all__ = ["api"]

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
DISCOVERY = ("/apis/coordination.k8s.io/v1", "/apis")
DESCRIPTIONS = ("/openapi/v2", "/openapi/v3")


def lease() -> Kind:
    found = catalog("1.37").kind("coordination.k8s.io", "v1", "leases")
    assert found is not None
    return found


async def said(api: Api) -> dict[str, Any]:
    """Everything that the server says of its types, by path."""
    answers = {path: await api("GET", path) for path in (*DISCOVERY, *DESCRIPTIONS, LEASES)}
    return {path: (answer.status, bytes(answer.response.body)) for path, answer in answers.items()}


async def test_every_answer_about_types_follows_the_registry(api: Api) -> None:
    """Given a server that has told what it serves
    When a kind is removed, and installed again
    Then routes, discovery and both OpenAPI forms leave it out, and then are as they were before."""
    before = await said(api)
    [kind] = [kind for kind in api.server.resources.kinds if kind.plural == "leases" and kind.version == "v1"]
    api.server.resources.remove(kind)
    without = await said(api)
    assert without[LEASES][0] == 404
    for path in (*DISCOVERY, *DESCRIPTIONS):
        assert without[path] != before[path], path
    api.server.resources.install(kind)
    again = await said(api)
    assert again["/openapi/v2"][0] == before["/openapi/v2"][0] == 200
    assert again[DISCOVERY[0]] == before[DISCOVERY[0]]
    assert again[LEASES][0] == 200


def test_observers_are_told_once_for_each_kind() -> None:
    """Given an observer / when two versions of a resource are installed in one step, and removed
    one by one Then it is told of each, with the flag for the last one alone, and the generation
    grows with each step.
    """
    stored = lease()
    other = replace(stored, version="v1beta1", conversion=Conversion(stored.gvk, dict, dict))
    registry, told = ResourceRegistry(), []
    registry.on_change(lambda kind, last: told.append((kind.version, last)))
    registry.install(stored, other)
    assert [registry.kind("coordination.k8s.io", version, "leases") for version in ("v1", "v1beta1")] == [stored, other]
    registry.remove(other)
    registry.remove(stored)
    assert told == [("v1", False), ("v1beta1", False), ("v1beta1", False), ("v1", True)]
    assert (registry.generation, registry.kinds, registry.has_group("coordination.k8s.io")) == (3, (), False)


@pytest.mark.parametrize("installed", [True, False])
def test_what_is_stored_follows_what_is_served(installed: bool) -> None:
    """Given a registry that was asked / when a kind comes or goes / then the next answer knows it.
    """
    kind = lease()
    registry = ResourceRegistry(() if installed else (kind,))
    assert (kind.group_resource in registry.stored, registry.has_version("coordination.k8s.io", "v1")) == (not installed,) * 2
    if installed:
        registry.install(kind)
    else:
        registry.remove(kind)
    assert (kind.group_resource in registry.stored, registry.has_version("coordination.k8s.io", "v1")) == (installed,) * 2
