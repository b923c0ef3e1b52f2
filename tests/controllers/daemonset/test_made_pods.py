"""Where daemon pods may be, of which template they are, and what they look like."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.daemonset import placing
from tests.controllers.daemonset.test_steps import node, owner

GENERATION = "deprecated.daemonset.template.generation"


@pytest.mark.parametrize(
    ("generation", "labels", "revision", "expected"),
    [
        ("3", {"pod-template-generation": "3"}, "h", True),
        ("3", {"pod-template-generation": "2"}, "h", False),
        ("3", {"controller-revision-hash": "h"}, "h", True),
        ("", {"controller-revision-hash": "h"}, "h", True),
        ("x", {"pod-template-generation": "x"}, "h", False),
        ("", {"pod-template-generation": ""}, "h", False),
        ("", {"controller-revision-hash": ""}, "", False),
        ("\u0663", {"pod-template-generation": "\u0663"}, "h", False),
    ],
)
def test_whether_a_pod_is_of_the_present_template(generation: str, labels: Tree, revision: str, expected: bool) -> None:
    """Given the generation of an old annotation and the hash of the revision / then either will do.
    """
    assert placing.is_updated(owner(annotations={GENERATION: generation}), {"metadata": {"labels": labels}}, revision) is expected


def exists(name: str, effect: str, **more: Any) -> Tree:
    return {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect, **more}


DAEMONS = [
    exists("not-ready", "NoExecute"),
    exists("unreachable", "NoExecute"),
    exists("disk-pressure", "NoSchedule"),
    exists("memory-pressure", "NoSchedule"),
    exists("pid-pressure", "NoSchedule"),
    exists("unschedulable", "NoSchedule"),
]


def test_the_tolerations_of_daemons() -> None:
    """Given tolerations of a template / then those of daemons are added, and take the place of one
    that is the same but for its seconds.
    """
    other = {"key": "x", "operator": "Exists"}
    same = exists("unreachable", "NoExecute", tolerationSeconds=5)
    almost = [
        exists("not-ready", "NoSchedule"),
        {**exists("not-ready", "NoExecute"), "operator": "Equal"},
        exists("not-ready", "NoExecute", value="v"),
    ]
    assert placing.tolerations_of({}) == DAEMONS
    assert placing.tolerations_of({"hostNetwork": False}) == DAEMONS
    assert placing.tolerations_of({"hostNetwork": True}) == [*DAEMONS, exists("network-unavailable", "NoSchedule")]
    assert placing.tolerations_of({"tolerations": [other, same]}) == [other, DAEMONS[1], DAEMONS[0], *DAEMONS[2:]]
    assert placing.tolerations_of({"tolerations": almost}) == [*almost, *DAEMONS]


@pytest.mark.parametrize(
    ("spec", "effects", "expected"),
    [
        ({}, (), (True, True)),
        ({"nodeName": "a"}, (), (True, True)),
        ({"nodeName": "b"}, (), (False, False)),
        ({"nodeSelector": {"x": "y"}}, (), (False, False)),
        ({}, ("PreferNoSchedule",), (True, True)),
        ({}, ("NoSchedule",), (False, True)),
        ({}, ("NoExecute",), (False, False)),
        ({}, ("NoSchedule", "NoExecute"), (False, False)),
    ],
)
def test_whether_a_daemon_is_to_be_on_a_node(spec: Tree, effects: tuple[str, ...], expected: tuple[bool, bool]) -> None:
    """Given a template and the taints of a node / then a pod is to be there, or may stay, or not.
    """
    assert placing.node_should_run(owner(pod=spec), [], node("a", *effects)) == expected
    assert placing.node_should_run(owner(pod=spec), [{"operator": "Exists"}], node("a"))[0] is (not spec or "a" in spec.values())


def test_a_pod_made_for_a_node() -> None:
    """Given a template with preferences and an affinity to pods / then the pod requires its node by
    name, keeps the rest, and carries hash and generation.
    """
    preferred: Tree = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}
    spec = {
        "containers": [],
        "affinity": {
            "nodeAffinity": {**preferred, "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}},
            "podAffinity": {"x": 1},
        },
    }
    made = placing.new_pod(owner(annotations={GENERATION: "7"}, pod=spec), [{"key": "t"}], "a", "h")
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    assert made["metadata"]["labels"] == {"app": "a", "pod-template-generation": "7", "controller-revision-hash": "h"}
    assert made["spec"] == {
        "containers": [],
        "tolerations": [{"key": "t"}],
        "affinity": {
            "podAffinity": {"x": 1},
            "nodeAffinity": {**preferred, "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}},
        },
    }
    plain = placing.new_pod(owner(), [], "a", "h")
    assert plain["metadata"]["labels"] == {"app": "a", "controller-revision-hash": "h"}
