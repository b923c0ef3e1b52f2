"""Random PodGroups, trees of CompositePodGroups, and their pods.

Upstream tries a group as soon as its quorum is there, or whatever is there of a basic one. So that
all its pods are tried at once, and in one order, the first of them is gated, which holds the group,
until the others have come.
"""

from typing import TYPE_CHECKING, Any

from tests.fuzz.scheduling import pods
from tests.fuzz.scheduling.requests import Ask

if TYPE_CHECKING:
    from tests.fuzz.scheduling.drawing import Draw

Tree = dict[str, Any]
POD_GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
COMPOSITES = "/apis/scheduling.k8s.io/v1alpha3/namespaces/default/compositepodgroups"
REFERENCE = {"workloadName": "w", "templateName": "t"}
CLASSES = ("", "", "low", "mid", "high", "high", "polite")


def _common(draw: "Draw", priority: str) -> Tree:
    rnd = draw.rnd
    found: Tree = {}
    if rnd.random() < 0.35:
        found["schedulingConstraints"] = {"topology": [{"key": rnd.choice(("rack", "rack", "zone"))}]}
    if rnd.random() < 0.4:
        found["disruptionMode"] = {"all": {}}
    if priority:
        found["priorityClassName"] = priority
    if priority == "polite":
        found["preemptionPolicy"] = "Never"
    return found


def _group(draw: "Draw", priority: str, minimum: int | None, **more: Any) -> Ask:
    name = draw.name("g")
    draw.groups[name] = priority
    policy: Tree = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    return Ask("POST", POD_GROUPS, {
        "metadata": {"name": name}, "spec": {"schedulingPolicy": policy, **_common(draw, priority), **more}})


def _members(draw: "Draw", group: str, priority: str, count: int) -> list[Ask]:
    rnd = draw.rnd
    alike = rnd.random() < 0.7
    tree = pods.spec(draw, simple=0.75)
    found = []
    for _ in range(count):
        one = {**(tree if alike else pods.spec(draw, simple=0.75)), "schedulingGroup": {"podGroupName": group}}
        chosen = priority if rnd.random() > 0.02 else "mid"
        if chosen:
            one["priorityClassName"] = chosen
        found.append(pods.made(draw, "default", one))
    return found


def _size(draw: "Draw") -> tuple[int | None, int]:
    """A minimum, None for a basic group, and a number of pods."""
    rnd = draw.rnd
    count = rnd.randint(1, 4)
    minimum = None if rnd.random() < 0.25 else max(1, count + rnd.choice((-1, 0, 0, 0, 0, 1)))
    return minimum, count


def _all_at_once(made: list[Ask]) -> list[list[Ask]]:
    """The requests that make groups, by name as those of one second go by it, then pods that are
    held; and the one that lets them go.
    """
    groups = sorted((each for each in made if "/pods" not in each.path), key=lambda each: str(each.body["metadata"]["name"]))
    members = [each for each in made if "/pods" in each.path]
    members[0].body["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    path = f"{members[0].path}/{members[0].body['metadata']['name']}"
    return [[*groups, *members], [Ask("PATCH", path, {"spec": {"schedulingGates": []}})]]


def new_one(draw: "Draw") -> list[list[Ask]]:
    """A group and its pods."""
    priority = draw.rnd.choice(CLASSES)
    minimum, count = _size(draw)
    group = _group(draw, priority, minimum)
    return _all_at_once([group, *_members(draw, group.body["metadata"]["name"], priority, count)])


def composite(draw: "Draw") -> list[list[Ask]]:
    """A tree of groups, and their pods."""
    priority = draw.rnd.choice(CLASSES)
    made: list[Ask] = []
    root = _composite(draw, priority, 0, made)
    return _all_at_once([*made, root])


def _composite(draw: "Draw", priority: str, depth: int, made: list[Ask]) -> Ask:
    rnd, name, children = draw.rnd, draw.name("c"), draw.rnd.choice((1, 2, 2, 3))
    for _ in range(children):
        if depth < 1 and rnd.random() < 0.25:
            child = _composite(draw, priority, depth + 1, made)
        else:
            minimum, count = _size(draw)
            child = _group(draw, priority, minimum, workloadRef=REFERENCE)
            made += _members(draw, child.body["metadata"]["name"], priority, min(count, 3))
        child.body["spec"]["parentCompositePodGroupName"] = name
        made.append(child)
    policy: Tree = {"basic": {}} if rnd.random() < 0.3 else {"gang": {"minGroupCount": max(1, children - rnd.choice((0, 0, 1)))}}
    return Ask("POST", COMPOSITES, {
        "metadata": {"name": name}, "spec": {"workloadRef": REFERENCE, "schedulingPolicy": policy, **_common(draw, priority)}})


def member(draw: "Draw") -> list[Ask]:
    """One more pod of a group, which is there or not."""
    if not draw.groups:
        return []
    name = draw.rnd.choice([*draw.groups])
    return _members(draw, name, draw.groups[name], 1)


def change_minimum(draw: "Draw") -> list[Ask]:
    """A gang with another minimum; refused where the group is basic."""
    if not draw.groups:
        return []
    path = f"{POD_GROUPS}/{draw.rnd.choice([*draw.groups])}"
    return [Ask("PATCH", path, {"spec": {"schedulingPolicy": {"gang": {"minCount": draw.rnd.randint(1, 4)}}}})]


def delete(draw: "Draw") -> list[Ask]:
    """A group is deleted; its pods stay."""
    return [Ask("DELETE", f"{POD_GROUPS}/{draw.rnd.choice([*draw.groups])}")] if draw.groups else []
