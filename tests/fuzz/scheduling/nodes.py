"""Random nodes and changes of them."""

from typing import TYPE_CHECKING, Any

from tests.fuzz.scheduling.requests import Ask

if TYPE_CHECKING:
    from tests.fuzz.scheduling.drawing import Draw

NODES = "/api/v1/nodes"
MOST = 9
TAINTS = (
    {"key": "dedicated", "value": "a", "effect": "NoSchedule"}, {"key": "dedicated", "value": "b", "effect": "NoSchedule"},
    {"key": "old", "effect": "PreferNoSchedule"}, {"key": "out", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
IMAGES = [{"names": [f"i:{number}"], "sizeBytes": 200_000_000 * number} for number in (1, 2, 3)]


def _resources(draw: "Draw") -> dict[str, str]:
    rnd = draw.rnd
    found = {"cpu": str(rnd.choice((1, 2, 2, 3, 4, 4, 6, 8))), "memory": f"{rnd.choice((2, 4, 4, 8))}Gi",
             "pods": str(rnd.choice((2, 5, 20, 20, 20)))}
    if rnd.random() < 0.3:
        found["example.com/gpu"] = str(rnd.choice((0, 1, 2, 4)))
    if rnd.random() < 0.2:
        found["ephemeral-storage"] = "10Gi"
    return found


def _labels(draw: "Draw", name: str) -> dict[str, str]:
    rnd = draw.rnd
    found = {"kubernetes.io/hostname": name}
    for key, values, likely in (("zone", ("a", "b", "c"), 0.8), ("rack", ("r1", "r2", "r3"), 0.8), ("disk", ("ssd", "hdd"), 0.6)):
        if rnd.random() < likely:
            found[key] = rnd.choice(values)
    if rnd.random() < 0.3:
        found["size"] = str(rnd.randint(1, 5))
    return found


def _taints(draw: "Draw") -> list[dict[str, str]]:
    return draw.rnd.sample(TAINTS, draw.rnd.choice((0, 0, 0, 0, 0, 0, 0, 1, 1, 2)))


def new(draw: "Draw") -> Ask:
    """The request that makes another node."""
    rnd = draw.rnd
    name = next(each for each in (f"n{number}" for number in range(12)) if each not in draw.nodes)
    draw.nodes.append(name)
    resources = _resources(draw)
    spec: dict[str, Any] = {"taints": _taints(draw)}
    if rnd.random() < 0.04:
        spec["unschedulable"] = True
    return Ask("POST", NODES, {
        "metadata": {"name": name, "labels": _labels(draw, name)}, "spec": spec,
        "status": {"capacity": resources, "allocatable": resources, "images": rnd.sample(IMAGES, rnd.choice((0, 0, 1, 2))),
                   "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}]}})


def add(draw: "Draw") -> list[Ask]:
    """One more node, unless there are many."""
    return [new(draw)] if len(draw.nodes) < MOST else []


def remove(draw: "Draw") -> list[Ask]:
    """One node less. Its pods stay."""
    if len(draw.nodes) < 2:
        return []
    name = draw.rnd.choice(draw.nodes)
    draw.nodes.remove(name)
    return [Ask("DELETE", f"{NODES}/{name}")]


def change(draw: "Draw") -> list[Ask]:
    """A node with other labels, taints, resources, or cordoned or not."""
    rnd, name = draw.rnd, draw.rnd.choice(draw.nodes)
    what = rnd.randrange(4)
    if what == 0:
        labels = {"zone": None, "rack": None, "disk": None, "size": None, **_labels(draw, name)}
        return [Ask("PATCH", f"{NODES}/{name}", {"metadata": {"labels": labels}})]
    if what == 1:
        return [Ask("PATCH", f"{NODES}/{name}", {"spec": {"taints": _taints(draw)}})]
    if what == 2:
        resources = _resources(draw)
        return [Ask("PATCH", f"{NODES}/{name}/status", {"status": {"capacity": resources, "allocatable": resources}})]
    return [Ask("PATCH", f"{NODES}/{name}", {"spec": {"unschedulable": rnd.random() < 0.3 or None}})]
