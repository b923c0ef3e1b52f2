"""Clients never see the server, so they name resources by themselves: the names must be those that
are served.
"""

import pytest

from fakekube.apis.catalog import catalog, metrics_kinds
from fakekube.client import resources
from fakekube.client.resources import Resource

SERVED = {
    (kind.group, kind.version, kind.plural): kind
    for kinds in (catalog("1.37", {}, {"api/all": True}).kinds, metrics_kinds()) for kind in kinds}
NAMED = {name: value for name, value in vars(resources).items() if isinstance(value, Resource)}


@pytest.mark.parametrize("name", sorted(NAMED))
def test_what_clients_name_is_what_is_served(name: str) -> None:
    """Given a resource that clients have a constant for / when its kind is looked up in the
    catalogue Then it is served under that group, version and plural, as that kind and in that
    scope.
    """
    named = NAMED[name]
    kind = SERVED[named.group, named.version, named.plural]
    assert (named.kind, named.namespaced) == (kind.kind, kind.namespaced)


def test_there_are_constants() -> None:
    """Given the module / when its constants are counted / then there are as many as controllers
    need, not none.
    """
    assert len(NAMED) > 30
