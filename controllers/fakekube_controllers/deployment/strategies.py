"""How pods of one template give way to those of the next: little by little, or all of them first.

Upstream: pkg/controller/deployment/{rolling,recreate,rollback}.go, and scale in sync.go.
"""

from collections.abc import Callable, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import pods
from fakekube_controllers.deployment import annotations, facts
from fakekube_controllers.deployment.rollout import Rollout

PodsOf = Callable[[ReadOnlyTree], Sequence[pods.Pod]]


# little by little


async def roll(rollout: Rollout) -> None:
    """One step: more new pods if there is room, or else fewer old ones if enough are available.

    Raises APIError.
    """
    await rollout.find_new(create=True)
    if await _grow_new(rollout) or await _shrink_old(rollout):
        return
    if facts.is_complete(rollout.deployment, rollout.deployment.get("status") or {}):
        await rollout.clean_up()


async def _grow_new(rollout: Rollout) -> bool:
    new, deployment = _new_of(rollout), rollout.deployment
    if facts.wanted(new) >= facts.wanted(deployment):
        return await rollout.scale(new, facts.wanted(deployment))
    return await rollout.scale(new, facts.size_of_new(deployment, rollout.sets, new))


def _new_of(rollout: Rollout) -> Tree:
    assert rollout.new is not None, "it was made"
    return rollout.new


async def _shrink_old(rollout: Rollout) -> bool:
    """Old pods go that are not available, and then as many available ones as are not needed.

    New pods that are not available yet count as if they were not there, so that a template that
    does not work stops here.
    """
    new, deployment = _new_of(rollout), rollout.deployment
    old = facts.with_pods(rollout.old)
    if not old:
        return False
    least = facts.wanted(deployment) - facts.max_unavailable(deployment)
    waiting = facts.wanted(new) - facts.counted(new, "availableReplicas")
    spare = facts.total(rollout.sets) - least - waiting
    if spare <= 0:
        return False
    gone = await _drop_unhealthy(rollout, old, spare)
    available = facts.total_counted([*facts.with_pods(rollout.old), _new_of(rollout)], "availableReplicas")
    return gone + await _drop(rollout, max(0, available - least)) > 0


async def _drop_unhealthy(rollout: Rollout, old: Sequence[Tree], most: int) -> int:
    gone = 0
    for one in old:
        count = min(most - gone, facts.wanted(one) - facts.counted(one, "availableReplicas"))
        if count > 0:
            await rollout.scale(one, facts.wanted(one) - count)
            gone += count
    return gone


async def _drop(rollout: Rollout, most: int) -> int:
    gone = 0
    for one in facts.with_pods(rollout.old):
        count = min(facts.wanted(one), most - gone)
        if count > 0:
            await rollout.scale(one, facts.wanted(one) - count)
            gone += count
    return gone


# all of them first


async def recreate(rollout: Rollout, pods_of: PodsOf) -> None:
    """One step: no old pods, and once none is left that runs, the new ones. Raises APIError."""
    await rollout.find_new()
    shrunk = False
    for one in facts.with_pods(rollout.old):
        shrunk = await rollout.scale(one, 0) or shrunk
    if shrunk or _old_pods_run(rollout, pods_of):
        return
    if rollout.new is None:
        await rollout.find_new(create=True)
    await rollout.scale(_new_of(rollout), facts.wanted(rollout.deployment))
    if facts.is_complete(rollout.deployment, rollout.deployment.get("status") or {}):
        await rollout.clean_up()


def _old_pods_run(rollout: Rollout, pods_of: PodsOf) -> bool:
    if facts.total_counted(rollout.old, "replicas"):
        return True
    return any(not pods.is_finished(pod) for one in rollout.old for pod in pods_of(one))


# sizes


async def resize(rollout: Rollout) -> None:
    """Spread a new number of pods over the sets, in proportion where several have pods.

    Raises APIError.
    """
    deployment, count = rollout.deployment, facts.wanted(rollout.deployment)
    only = facts.only_active(rollout.new, rollout.old)
    if only is not None:
        await rollout.scale(only, count)
    elif facts.is_saturated(deployment, rollout.new):
        for one in facts.with_pods(rollout.old):
            await rollout.scale(one, 0)
    elif facts.is_rolling(deployment):
        await _spread(rollout, count + facts.max_surge(deployment) if count else 0)


async def _spread(rollout: Rollout, allowed: int) -> None:
    sets = facts.with_pods(rollout.sets)
    to_add = allowed - facts.total(sets)
    if to_add > 0:  # the largest first, and of equals the newest
        sets.sort(key=facts.by_age, reverse=True)
    else:
        sets.sort(key=facts.by_age)
    sets.sort(key=facts.wanted, reverse=True)
    sizes, added = [facts.wanted(one) for one in sets], 0
    if to_add:
        for index, one in enumerate(sets):
            share = _share(rollout.deployment, one, to_add, added)
            sizes[index] += share
            added += share
        if sizes:
            sizes[0] = max(0, sizes[0] + to_add - added)
    for one, size in zip(sets, sizes, strict=True):
        await rollout.scale(one, size, always=True)


def _share(deployment: ReadOnlyTree, one: ReadOnlyTree, to_add: int, added: int) -> int:
    """How many pods a set gets (or gives, below 0) of those to be added, of which some are added
    already.
    """
    rest = to_add - added
    if not rest:
        return 0
    fraction = _fraction(deployment, one)
    return min(fraction, rest) if to_add > 0 else max(fraction, rest)


def _fraction(deployment: ReadOnlyTree, one: ReadOnlyTree) -> int:
    size, count = facts.wanted(one), facts.wanted(deployment)
    if not count:
        return -size
    before = facts.integer(meta.annotations_of(one).get(facts.MAX_REPLICAS)) or 0
    if not 0 < before <= facts.MAX_INT32:
        before = facts.counted(deployment, "replicas")
    if not before:
        return 0
    exact = size * (count + facts.max_surge(deployment)) / before
    return int(exact + 0.5) - size


# back


async def roll_back(rollout: Rollout, revision: int) -> None:
    """Take the template of an earlier revision (0: the last one), as the annotation of old clients
    asks. Raises APIError.
    """
    await rollout.find_new(create=True)
    name = meta.name_of(rollout.deployment)
    wanted = revision or facts.last_revision(rollout.sets)
    chosen = next((one for one in rollout.sets if facts.revision_of(one) == wanted), None) if wanted else None
    if chosen is None:
        text = "Unable to find the revision to rollback to." if wanted else "Unable to find last revision."
        rollout.event("Warning", "DeploymentRollbackRevisionNotFound", text)
    elif facts.same_template(rollout.deployment["spec"]["template"], chosen["spec"]["template"]):
        text = f'The rollback revision contains the same template as current deployment "{name}"'
        rollout.event("Warning", "DeploymentRollbackTemplateUnchanged", text)
        chosen = None
    else:
        _take_template(rollout.deployment, chosen)
    rollout.deployment["metadata"].get("annotations", {}).pop(facts.ROLLBACK_TO, None)
    await rollout.write()
    if chosen is not None:
        rollout.event("Normal", "DeploymentRollback", f'Rolled back deployment "{name}" to revision {wanted}')


def _take_template(deployment: Tree, chosen: ReadOnlyTree) -> None:
    template = chosen["spec"]["template"]
    own = {key: value for key, value in meta.labels_of(template).items() if key != facts.HASH_LABEL}
    deployment["spec"]["template"] = {**template, "metadata": {**template["metadata"], "labels": own}}
    deployment["metadata"]["annotations"] = annotations.after_rollback(deployment, chosen)
