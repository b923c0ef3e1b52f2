"""Where the objects of a declared kind are."""

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types import Object, definition_of


class Inside(Object):
    resource: ClassVar[Resource] = Resource("example.com", "v1", "insides", "Inside")


class Outside(Object):
    resource: ClassVar[Resource] = Resource("example.com", "v1", "outsides", "Outside", namespaced=False)


def test_a_definition_says_whether_there_are_namespaces() -> None:
    """Given a kind with namespaces and one without / when their definitions are made / then the
    scopes say so.
    """
    assert [definition_of(kind)["spec"]["scope"] for kind in (Inside, Outside)] == ["Namespaced", "Cluster"]
