"""Endpoints below an object that are more than a write to it: binding and eviction.

Upstream: pkg/registry/core/pod/storage. The third, scale, is in ``scale.py``. Those that are a
write with other rules (status, finalize, approval, resize) are strategies of their Subresource
instead.
"""


from fakekube.apimachinery import conditions, errors, field_errors, labels, names
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.registry import deletion, preconditions
from fakekube.registry.deletion import DeleteOptions
from fakekube.registry.store import Store
from fakekube.registry.strategy import SERVER_MANAGER, WriteContext
from fakekube.storage.memory import Record, Stale

# the minor number of the release in which a Binding must name what can be a node
NODE_NAME_CHECKED_SINCE = 37
BLOCKED = "Cannot evict pod as it would violate the pod's disruption budget."
TOO_MANY_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def success() -> Tree:
    """The Status that binding and eviction answer; it is the one Success that has a code."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(store: Store, ctx: WriteContext, namespace: str, name: str, binding: Tree) -> Tree:
    """Put a pod on the node that a Binding names. ``store`` is that of pods.

    Raises APIError: BadRequest, Conflict (assigned, terminating, gated, another uid), NotFound, 500
    for a bad target.
    """
    meta, target = binding.get("metadata") or {}, binding.get("target") or {}
    if meta.get("name", "") != name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    binding = await store.admitted(ctx, namespace, name, binding)
    meta, target = binding.get("metadata") or {}, binding.get("target") or {}
    _check_target(target, ctx.minor)
    if not name:
        raise errors.bad_request("Name parameter required.")
    while True:
        record = store.find(namespace, name)
        old = store.load(record)
        _check_bindable(store, record, old, meta, dry_run=ctx.dry_run)
        pod = _bound(old, target["name"], meta, ctx)
        if ctx.dry_run:
            return success()
        try:
            store.replace(pod, record)
        except Stale:
            continue
        return success()


def _check_target(target: Tree, minor: int) -> None:
    kind, name = target.get("kind", ""), target.get("name", "")
    found = []
    if kind not in ("", "Node"):
        found.append(field_errors.not_supported("target.kind", kind, ["Node", "<empty>"]))
    if not name:
        found.append(field_errors.required("target.name"))
    elif kind in ("", "Node") and minor >= NODE_NAME_CHECKED_SINCE:
        found += field_errors.complaints("target.name", name, names.dns1123_subdomain(name))
    if found:
        raise errors.raw(field_errors.aggregate(found))


def _check_bindable(store: Store, record: Record, pod: Tree, meta: Tree, *, dry_run: bool) -> None:
    preconditions.check_preconditions(
        store.kind, record, meta.get("uid", ""), meta.get("resourceVersion", ""), dry_run=dry_run)
    name, subject = record.name, GroupResource("", "pods/binding")
    if "deletionTimestamp" in pod["metadata"]:
        raise errors.conflict(subject, name, f"pod {name} is being deleted, cannot be assigned to a host")
    if node := pod["spec"].get("nodeName"):
        raise errors.conflict(subject, name, f"pod {name} is already assigned to node {field_errors.go_quote(node)}")
    if pod["spec"].get("schedulingGates"):
        raise errors.conflict(subject, name, f"pod {name} has non-empty .spec.schedulingGates")


def _bound(old: Tree, node: str, meta: Tree, ctx: WriteContext) -> Tree:
    pod_meta, status = dict(old["metadata"]), dict(old.get("status") or {})
    for key in ("annotations", "labels"):
        if meta.get(key):
            pod_meta[key] = {**pod_meta.get(key, {}), **meta[key]}
    status.pop("nominatedNodeName", None)
    status["conditions"] = with_condition(status.get("conditions") or [], {"type": "PodScheduled", "status": "True"}, ctx.now)
    return {**old, "metadata": pod_meta, "spec": {**old["spec"], "nodeName": node}, "status": status}


def with_condition(present: list[Tree], condition: Tree, now: str) -> list[Tree]:
    """The pod conditions with one of them set; its transition time moves only when its status does.
    """
    result = list(present)
    since = conditions.transition_time(conditions.find(present, condition["type"]), condition["status"], now)
    conditions.put(result, {"lastProbeTime": None, "lastTransitionTime": since, **condition})
    return result


async def evict(
    pods: Store, budgets: Store, ctx: WriteContext, namespace: str, name: str, eviction: Tree, options: DeleteOptions,
) -> Tree:
    """Delete a pod unless a PodDisruptionBudget says no.

    Raises APIError: 400 for another name, 404, 429 when a budget blocks, 500 when there are two
    budgets.
    """
    if (eviction.get("metadata") or {}).get("name") != name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    await pods.admitted(ctx, namespace, name, eviction)
    pod = pods.load(pods.find(namespace, name))
    if not _may_ignore_budgets(pod):
        matching = [record for record in budgets.bucket.records(namespace) if _covers(budgets.load(record), pod)]
        if len(matching) > 1:
            raise APIError(500, "", TOO_MANY_BUDGETS)
        if matching and not _healthy_enough_without(pod, budgets.load(matching[0])):
            _take_disruption(budgets, ctx, matching[0], name)
    if not ctx.dry_run:
        _mark_disrupted(pods, ctx, namespace, name, options)
        if options.resource_version is not None:
            version = pods.find(namespace, name).revision
            options = options._replace(resource_version=str(version))
    await deletion.delete(pods, ctx, namespace, name, options, admitted=True)
    return success()


def _may_ignore_budgets(pod: Tree) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]


def _covers(budget: Tree, pod: Tree) -> bool:
    selector = budget["spec"].get("selector")
    return selector is not None and labels.from_label_selector(selector).matches(pod["metadata"].get("labels") or {})


def _healthy_enough_without(pod: Tree, budget: Tree) -> bool:
    """Whether an unready pod may go without being counted."""
    ready = conditions.is_true(pod["status"].get("conditions"), "Ready")
    if ready:
        return False
    status = budget["status"]
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    return bool(status["currentHealthy"] >= status["desiredHealthy"] > 0)


def _take_disruption(budgets: Store, ctx: WriteContext, record: Record, pod_name: str) -> None:
    budget = budgets.load(record)
    name, status = record.name, budget["status"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise errors.too_many_requests(BLOCKED, 10, [
            {"reason": "DisruptionBudget", "message": f"The disruption budget {name} is still being processed by the server."}])
    if not status["disruptionsAllowed"]:
        raise errors.too_many_requests(BLOCKED, 0, [{"reason": "DisruptionBudget", "message": _why_blocked(name, status)}])
    if ctx.dry_run:
        return
    allowed = status["disruptionsAllowed"] - 1
    changed = {**status, "disruptionsAllowed": allowed, "disruptedPods": {**status.get("disruptedPods", {}), pod_name: ctx.now}}
    if not allowed:
        condition = {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": ""}
        others = [c for c in status.get("conditions") or () if c["type"] != "DisruptionAllowed"]
        generation = {"observedGeneration": status["observedGeneration"]} if "observedGeneration" in status else {}
        changed["conditions"] = [*others, {**condition, **generation, "lastTransitionTime": ctx.now}]
    new = {**budget, "metadata": dict(budget["metadata"]), "status": changed}
    budgets.fields.update(budget, new, manager=SERVER_MANAGER, now=ctx.now, subresource="status")
    budgets.replace(new, record)


def _why_blocked(name: str, status: Tree) -> str:
    denials = [c for c in status.get("conditions") or () if c["type"] == "DisruptionAllowed" and c["status"] == "False"]
    condition = denials[0] if denials else None
    told = condition.get("message") if condition else ""
    if told and condition and condition.get("reason") == "SyncFailed":
        return f"The disruption budget {name} does not allow evicting pods currently because it failed sync: {told}"
    if status["currentHealthy"] <= status["desiredHealthy"]:
        needed, present = status["desiredHealthy"], status["currentHealthy"]
        return f"The disruption budget {name} needs {needed} healthy pods and has {present} currently"
    if told and condition:
        return f"The disruption budget {name} does not allow evicting pods currently ({condition.get('reason')}): {told}"
    return f"The disruption budget {name} does not allow evicting pods currently"


def _mark_disrupted(pods: Store, ctx: WriteContext, namespace: str, name: str, options: DeleteOptions) -> None:
    record = pods.find(namespace, name)
    old = pods.load(record)
    deletion.check_preconditions(pods, old, options)
    condition = {
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
    }
    status = {**old["status"], "conditions": with_condition(old["status"].get("conditions") or [], condition, ctx.now)}
    pods.replace({**old, "metadata": dict(old["metadata"]), "status": status}, record)
