"""A type that is served no longer and comes back as another one: with another scope, in another
version, with other rules.
"""

from dataclasses import replace

import pytest

from tests.apiserver.conftest import Api, api

__all__ = ["api"]

ROOT = "/apis/coordination.k8s.io/v1"
LEASE = {"metadata": {"name": "x"}, "spec": {}}


@pytest.mark.parametrize("used", [False, True], ids=["never used", "used"])
@pytest.mark.parametrize("namespaced", [True, False], ids=["from cluster", "from namespaces"])
async def test_a_type_comes_back_with_another_scope(api: Api, used: bool, namespaced: bool) -> None:
    """Given a type in a scope / when it is removed and comes back with the other one Then its
    objects are created, read, listed and deleted where the new scope has them, and nowhere else.
    """
    kind = next(kind for kind in api.server.resources.kinds if kind.plural == "leases")
    paths = {True: f"{ROOT}/namespaces/t/leases", False: f"{ROOT}/leases"}
    if namespaced:
        await turn_into(api, kind, False)
    if used:
        before = paths[not namespaced]
        assert (await api("POST", before, LEASE)).status == 201
        assert (await api("DELETE", f"{before}/x")).status == 200
    await turn_into(api, kind, namespaced)
    path = paths[namespaced]
    created = await api("POST", path, LEASE)
    assert created.status == 201, created.tree
    assert created.tree["metadata"].get("namespace") == ("t" if namespaced else None)
    assert (await api("GET", f"{path}/x")).tree["metadata"]["uid"] == created.tree["metadata"]["uid"]
    listed = (await api("GET", f"{ROOT}/leases")).tree["items"]
    assert [item["metadata"]["name"] for item in listed if item["metadata"]["name"] == "x"] == ["x"]
    if not namespaced:
        assert (await api("GET", f"{paths[True]}/x")).status == 404
    patched = await api.patch(f"{path}/x", {"metadata": {"labels": {"a": "b"}}})
    assert (patched.status, patched.tree["metadata"].get("namespace")) == (200, "t" if namespaced else None)
    assert (await api("DELETE", f"{path}/x")).status == 200
    assert (await api("GET", f"{path}/x")).status == 404


async def turn_into(api: Api, kind, namespaced: bool) -> None:
    api.server.resources.remove(kind)
    assert (await api("GET", f"{ROOT}/leases")).status == 404
    api.server.resources.install(replace(kind, namespaced=namespaced))


async def test_a_type_comes_back_with_other_rules(api: Api) -> None:
    """Given a type whose PUT of a missing object creates it, and which has been used
    When it comes back as one that does not / then such a PUT is answered with 404."""
    kind = next(kind for kind in api.server.resources.kinds if kind.plural == "leases")
    path = f"{ROOT}/namespaces/t/leases"
    for creates, expected in ((True, 201), (False, 404), (True, 201)):
        api.server.resources.remove(kind)
        api.server.resources.install(replace(kind, create_on_update=creates))
        answer = await api("PUT", f"{path}/x", LEASE)
        assert answer.status == expected, answer.tree
        await api("DELETE", f"{path}/x")
