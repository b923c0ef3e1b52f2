"""Amounts of bytes that are no whole ones."""

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.apis.core.pod_warnings import pod_spec_warnings

TOLD = '{}: fractional byte value "1500m" is invalid, must be an integer'
CONTAINER: Tree = {"name": "c", "image": "i"}


@pytest.mark.parametrize(("fields", "where"), [
    ({"overhead": {"memory": "1500m"}}, ["spec.overhead[memory]"]), ({"overhead": {"cpu": "1500m"}}, []),
    ({"overhead": {"memory": "2"}}, []), ({"overhead": {"ephemeral-storage": "1500m"}}, ["spec.overhead[ephemeral-storage]"]),
    ({"containers": [{**CONTAINER, "resources": {"limits": {"memory": "1500m"}, "requests": {"memory": "1500m"}}}]}, [
        "spec.containers[0].resources.limits[memory]", "spec.containers[0].resources.requests[memory]"]),
])
def test_fractions_are_warned_of(fields: Tree, where: list[str]) -> None:
    """Given a pod whose overhead, limits or requests have a fraction of a byte / when it is looked
    at / then each is warned of; shares of a CPU are not.
    """
    spec: Tree = {"containers": [CONTAINER], **fields}
    assert pod_spec_warnings(spec, {}, "spec", "metadata") == [TOLD.format(each) for each in where]
