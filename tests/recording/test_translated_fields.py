"""Which texts of a body name a namespace, or an object without one."""

from typing import Any

import pytest

from fakekube.recording.translation import Translation


@pytest.mark.parametrize(("given", "made"), [
    ({"namespaces": ["default", "other", {"namespace": "default"}]}, {"namespaces": ["pre-default", "other",
    {"namespace": "pre-default"}]}),
    ({"args": ["default", "high"]}, {"args": ["default", "high"]}), ({"namespaces": "default"}, {"namespaces": "default"}),
    ({"namespace": "default"}, {"namespace": "pre-default"}), ({"kubernetes.io/metadata.name": "default"},
                                                               {"kubernetes.io/metadata.name": "pre-default"}),
    *(({name: "high"}, {name: "pre-high"}) for name in (
        "priorityClassName", "storageClassName", "runtimeClassName", "volumeName", "nodeName", "ingressClassName",
        "deviceClassName")),
    *(({"kind": kind, "name": "high"}, {"kind": kind, "name": "pre-high"}) for kind in (
        "ClusterRole", "PersistentVolume", "Node", "Namespace")),
    ({"kind": "Role", "name": "high"}, {"kind": "Role", "name": "high"}), ({"other": "high"}, {"other": "high"}),
    ({"host": "web.default.svc.cluster.local"}, {"host": "web.pre-default.svc.cluster.local"}),
    ({"host": "web.other.svc"}, {"host": "web.other.svc"}),
    ({"group": "system:serviceaccounts:default"}, {"group": "system:serviceaccounts:pre-default"}),
])
def test_what_names_a_namespace(given: dict[str, Any], made: dict[str, Any]) -> None:
    """Given a body / when it is translated / then fields that name a namespace, or an object
    without one, name the one there, and other texts that look alike stay.
    """
    assert Translation("pre-", ["default"], ["high"]).body(given) == made
