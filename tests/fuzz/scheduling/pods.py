"""Random pods and what happens to them."""

from typing import TYPE_CHECKING, Any

from tests.fuzz.scheduling import requests
from tests.fuzz.scheduling.requests import Ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.scheduling.drawing import Draw

Tree = dict[str, Any]
APPS = ("web", "db", "job")
KEYS = ("kubernetes.io/hostname", "zone", "rack")
CLASSES = ("", "", "", "low", "low", "mid", "high", "high", "polite")


def _container(draw: "Draw", name: str) -> Tree:
    rnd = draw.rnd
    wants: dict[str, str] = {}
    if rnd.random() < 0.9:
        wants["cpu"] = rnd.choice(("100m", "500m", "1", "1", "1", "2", "2", "3"))
    if rnd.random() < 0.4:
        wants["memory"] = rnd.choice(("256Mi", "1Gi", "2Gi", "3Gi"))
    if rnd.random() < 0.08:
        wants["ephemeral-storage"] = rnd.choice(("1Gi", "20Gi"))
    limits = {}
    if rnd.random() < 0.12:
        wants["example.com/gpu"] = limits["example.com/gpu"] = rnd.choice(("1", "1", "2"))
    made: Tree = {"name": name, "image": f"i:{rnd.randint(1, 4)}", "resources": {"requests": wants, "limits": limits}}
    if rnd.random() < 0.1:
        port, protocol = rnd.choice((80, 80, 443)), rnd.choice(("TCP", "TCP", "UDP"))
        made["ports"] = [{"containerPort": 80, "hostPort": port, "protocol": protocol}]
        if rnd.random() < 0.3:
            made["ports"][0]["hostIP"] = "10.0.0.1"
    return made


def _selector(draw: "Draw") -> Tree:
    rnd = draw.rnd
    if rnd.random() < 0.7:
        return {"matchLabels": {"app": rnd.choice(APPS)}}
    return {"matchExpressions": [rnd.choice((
        {"key": "app", "operator": "In", "values": ["web", "db"]}, {"key": "app", "operator": "Exists"},
        {"key": "app", "operator": "NotIn", "values": ["job"]}, {"key": "track", "operator": "DoesNotExist"}))]}


def _node_term(draw: "Draw") -> Tree:
    rnd = draw.rnd
    chosen = rnd.sample([
        {"key": "zone", "operator": "In", "values": rnd.sample(("a", "b", "c"), 2)},
        {"key": "disk", "operator": "In", "values": ["ssd"]},
        {"key": "disk", "operator": "Exists"}, {"key": "rack", "operator": "NotIn", "values": ["r1"]},
        {"key": "size", "operator": "Gt", "values": ["2"]}, {"key": "size", "operator": "Lt", "values": ["4"]},
        {"key": "disk", "operator": "DoesNotExist"}], rnd.choice((1, 1, 2)))
    term: Tree = {"matchExpressions": chosen}
    if rnd.random() < 0.1:
        names = [rnd.choice(draw.nodes)]
        term = {"matchFields": [{"key": "metadata.name", "operator": rnd.choice(("In", "In", "NotIn")), "values": names}]}
    return term


def _node_affinity(draw: "Draw") -> Tree:
    rnd, found = draw.rnd, {}
    if rnd.random() < 0.6:
        terms = [_node_term(draw) for _ in range(rnd.choice((1, 1, 2)))]
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if rnd.random() < 0.5:
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": 13 * rnd.randint(1, 3), "preference": _node_term(draw)}]
    return found


def _pod_term(draw: "Draw") -> Tree:
    rnd = draw.rnd
    term: Tree = {"labelSelector": _selector(draw), "topologyKey": rnd.choice(KEYS)}
    how = rnd.random()
    if how < 0.1:
        term["namespaces"] = ["other"]
    elif how < 0.2:
        term["namespaceSelector"] = rnd.choice(({}, {"matchLabels": {"team": "of-other"}}))
    if rnd.random() < 0.1:
        term["matchLabelKeys"] = ["track"]
    return term


def _pod_affinity(draw: "Draw") -> Tree:
    rnd, found = draw.rnd, {}
    if rnd.random() < 0.6:
        found["requiredDuringSchedulingIgnoredDuringExecution"] = [_pod_term(draw) for _ in range(rnd.choice((1, 1, 1, 2)))]
    if rnd.random() < 0.5:
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": rnd.choice((1, 10, 100)), "podAffinityTerm": _pod_term(draw)}]
    return found


def _spread(draw: "Draw") -> Tree:
    rnd = draw.rnd
    found: Tree = {
        "maxSkew": rnd.choice((1, 1, 2)), "topologyKey": rnd.choice(KEYS), "labelSelector": _selector(draw),
        "whenUnsatisfiable": rnd.choice(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"))}
    if found["whenUnsatisfiable"] == "DoNotSchedule" and rnd.random() < 0.2:
        found["minDomains"] = rnd.randint(1, 4)
    if rnd.random() < 0.15:
        found["nodeAffinityPolicy"] = rnd.choice(("Honor", "Ignore"))
    if rnd.random() < 0.15:
        found["nodeTaintsPolicy"] = rnd.choice(("Honor", "Ignore"))
    if rnd.random() < 0.1:
        found["matchLabelKeys"] = ["track"]
    return found


def _tolerations(draw: "Draw") -> list[Tree]:
    return draw.rnd.sample([
        {"operator": "Exists"}, {"key": "dedicated", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
        {"key": "dedicated", "operator": "Exists"}, {"key": "old", "operator": "Exists"},
        {"key": "out", "operator": "Exists", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}], draw.rnd.choice((1, 1, 2)))


def spec(draw: "Draw", *, simple: float = 0.5) -> Tree:
    """What a pod asks for; ``simple``: how likely it is nothing but resources."""
    rnd = draw.rnd
    made: Tree = {
        "containers": [_container(draw, name) for name in ("a", "b")[:rnd.choice((1, 1, 1, 2))]],
        "terminationGracePeriodSeconds": rnd.choice((0, 0, 30)), "automountServiceAccountToken": False}
    parts: list[tuple[str, float, Callable[[], Any]]] = [
        ("initContainers", 0.05, lambda: [_container(draw, "init")]), ("overhead", 0.0, dict),
        ("nodeSelector", 0.15, lambda: {"disk": "ssd"}), ("tolerations", 0.25, lambda: _tolerations(draw)),
        ("topologySpreadConstraints", 0.35, lambda: _spreads(draw))]
    if rnd.random() > simple:
        for name, likely, make in parts:
            if rnd.random() < likely:
                made[name] = make()
        affinity = {
            name: found for name, likely, make in (
                ("nodeAffinity", 0.3, _node_affinity), ("podAffinity", 0.25, _pod_affinity),
                ("podAntiAffinity", 0.3, _pod_affinity))
            if rnd.random() < likely and (found := make(draw))}
        if affinity:
            made["affinity"] = affinity
    return made


def _spreads(draw: "Draw") -> list[Tree]:
    drawn = [_spread(draw) for _ in range(draw.rnd.choice((1, 1, 2)))]
    return [*{(each["topologyKey"], each["whenUnsatisfiable"]): each for each in drawn}.values()]


def labels(draw: "Draw") -> dict[str, str]:
    """Labels that the selectors of others look for."""
    found = {"app": draw.rnd.choice(APPS)}
    if draw.rnd.random() < 0.3:
        found["track"] = draw.rnd.choice(("x", "y"))
    return found


def made(draw: "Draw", namespace: str, tree: Tree) -> Ask:
    """The request that makes a pod of this spec."""
    name = draw.name("p")
    draw.pods.append((namespace, name))
    if "schedulingGates" in tree:
        draw.gated.append((namespace, name))
    return Ask("POST", requests.pods(namespace), {"metadata": {"name": name, "labels": labels(draw)}, "spec": tree})


def _with_priority(draw: "Draw") -> Tree:
    rnd, tree = draw.rnd, spec(draw)
    if chosen := rnd.choice(CLASSES):
        tree["priorityClassName"] = chosen
    if rnd.random() < 0.06:
        tree["schedulingGates"] = [{"name": "example.com/wait"}]
    elif rnd.random() < 0.04:
        tree["nodeName"] = rnd.choice(draw.nodes)
    return tree


def new_one(draw: "Draw") -> list[Ask]:
    """A pod."""
    return [made(draw, draw.rnd.choice(requests.NAMESPACES), _with_priority(draw))]


def several(draw: "Draw") -> list[Ask]:
    """Pods of one kind, at once."""
    tree = _with_priority(draw)
    if "priorityClassName" in tree:  # evictions, which go on beside the cycles, would race with the next pod
        tree["priorityClassName"] = "polite"
    namespace, app = draw.rnd.choice(requests.NAMESPACES), labels(draw)
    found = [made(draw, namespace, tree) for _ in range(draw.rnd.randint(2, 3))]
    for each in found:
        each.body["metadata"]["labels"] = app
    return found


def _one(draw: "Draw") -> str | None:
    if not draw.pods:
        return None
    namespace, name = draw.rnd.choice(draw.pods)
    return f"{requests.pods(namespace)}/{name}"


def delete(draw: "Draw") -> list[Ask]:
    """A pod is deleted; that may take until its node has ended it."""
    path = _one(draw)
    return [Ask("DELETE", path, {"gracePeriodSeconds": 0} if draw.rnd.random() < 0.5 else None)] if path else []


def finish_deleted(draw: "Draw") -> list[Ask]:
    """Nodes end all pods that are being deleted; see ``playing.py``."""
    return [Ask("FINISH", "")] if draw.pods else []


def relabel(draw: "Draw") -> list[Ask]:
    """A pod with other labels."""
    path = _one(draw)
    return [Ask("PATCH", path, {"metadata": {"labels": {"track": None, **labels(draw)}}})] if path else []


def lift_gates(draw: "Draw") -> list[Ask]:
    """A pod without its scheduling gates."""
    if not draw.gated:
        return []
    namespace, name = draw.gated.pop(draw.rnd.randrange(len(draw.gated)))
    return [Ask("PATCH", f"{requests.pods(namespace)}/{name}", {"spec": {"schedulingGates": []}})]


def end(draw: "Draw") -> list[Ask]:
    """A pod has done its work."""
    path = _one(draw)
    return [Ask("PATCH", f"{path}/status", {"status": {"phase": draw.rnd.choice(("Succeeded", "Failed"))}})] if path else []


def nominate(draw: "Draw") -> list[Ask]:
    """Somebody else says for which node a new pod is meant."""
    node = draw.rnd.choice(draw.nodes)
    [pod] = [made(draw, "default", {**_with_priority(draw), "schedulingGates": [{"name": "example.com/wait"}]})]
    if "nodeName" in pod.body["spec"]:
        del pod.body["spec"]["nodeName"]
    path = f"{pod.path}/{pod.body['metadata']['name']}"
    return [pod, Ask("PATCH", f"{path}/status", {"status": {"nominatedNodeName": node}})]


def budget(draw: "Draw") -> list[Ask]:
    """A PodDisruptionBudget whose controller has counted already."""
    name, allowed = draw.name("b"), draw.rnd.choice((0, 0, 1, 2))
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    return [
        Ask("POST", path, {"metadata": {"name": name}, "spec": {"minAvailable": 1, "selector": _selector(draw)}}),
        Ask("PATCH", f"{path}/{name}/status", {"status": {
            "disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}})]
