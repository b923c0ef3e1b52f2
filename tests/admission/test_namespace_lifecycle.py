"""NamespaceLifecycle."""

import pytest

from fakekube.admission.namespace_lifecycle import NamespaceLifecycle
from fakekube.apimachinery.errors import APIError
from tests.admission.world import World, kind

CONFIG_MAPS = kind("", "v1", "configmaps")
NAMESPACES = kind("", "v1", "namespaces")


@pytest.mark.spec("API-023")
def test_nothing_is_created_in_a_missing_namespace():
    """Given no namespace / when something is created in it / then 404 names the namespace."""
    attrs = World().attributes(CONFIG_MAPS, {"metadata": {"name": "a"}}, namespace="zz")
    with pytest.raises(APIError) as caught:
        NamespaceLifecycle().admit(attrs)
    assert (caught.value.code, caught.value.message) == (404, 'namespaces "zz" not found')


@pytest.mark.spec("API-024")
def test_nothing_is_created_in_a_terminating_namespace():
    """Given a terminating namespace / when something is created in it / then 403 with a cause of
    its own.
    """
    world = World()
    world.put("", "namespaces", {"metadata": {"name": "t"}, "status": {"phase": "Terminating"}})
    with pytest.raises(APIError) as caught:
        NamespaceLifecycle().admit(world.attributes(CONFIG_MAPS, {"metadata": {"name": "a"}}))
    assert caught.value.message == (
        'configmaps "a" is forbidden: unable to create new content in namespace t because it is being terminated'
    )
    assert caught.value.causes == [
        {"reason": "NamespaceTerminating", "message": "namespace t is being terminated", "field": "metadata.namespace"},
    ]


def test_the_systems_namespaces_stay():
    """Given a DELETE of kube-system / then 403; of another namespace / then nothing."""
    world = World()
    with pytest.raises(APIError, match='namespaces "kube-system" is forbidden: this namespace may not be deleted'):
        NamespaceLifecycle().admit(world.attributes(NAMESPACES, None, {"metadata": {"name": "kube-system"}}))
    NamespaceLifecycle().admit(world.attributes(NAMESPACES, None, {"metadata": {"name": "mine"}}))


def test_what_it_looks_at():
    """Given writes of all sorts / then only creation in a namespace and deletion of one is looked
    at.
    """
    plugin = NamespaceLifecycle()
    assert plugin.handles(CONFIG_MAPS, "CREATE", "")
    assert not plugin.handles(CONFIG_MAPS, "UPDATE", "")
    assert not plugin.handles(CONFIG_MAPS, "DELETE", "")
    assert not plugin.handles(NAMESPACES, "CREATE", "")
    review = kind("authorization.k8s.io", "v1", "localsubjectaccessreviews")
    assert not plugin.handles(review, "CREATE", "")
