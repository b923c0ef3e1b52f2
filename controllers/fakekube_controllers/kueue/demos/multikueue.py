"""``fakekube demo multikueue``: a Job that runs on another cluster."""

from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, PODS, SECRETS
from fakekube.runtime.demo import Demo
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.demos import scenery
from fakekube_controllers.kueue.names import WORKLOADS

WORKERS = ("worker1", "worker2")


def _objects() -> list[Tree]:
    """MultiKueue on the manager, and the check of its queue."""
    group, version = names.GROUP, f"{names.GROUP}/{names.VERSION}"
    clusters = [{
        "apiVersion": version, "kind": "MultiKueueCluster", "metadata": {"name": name},
        "spec": {"clusterSource": {"kubeConfig": {"location": name, "locationType": "Secret"}}}} for name in WORKERS]
    config = {"apiVersion": version, "kind": "MultiKueueConfig", "metadata": {"name": "all"}, "spec": {"clusters": [*WORKERS]}}
    parameters = {"apiGroup": group, "kind": "MultiKueueConfig", "name": "all"}
    check = {
        "apiVersion": version, "kind": "AdmissionCheck", "metadata": {"name": "elsewhere"},
        "spec": {"controllerName": names.MULTIKUEUE_CONTROLLER_NAME, "parameters": parameters}}
    return [*clusters, config, check]


async def _set_up(stage: Any) -> None:
    for name, cpu in zip(WORKERS, ("1", "4"), strict=True):
        await stage.fleet[name].load([scenery.flavor(), scenery.cluster_queue("all", cpu), scenery.local_queue("team", "all")])
        secret = {"metadata": {"name": name}, "stringData": {"kubeconfig": stage.fleet.kubeconfig(name)}}
        await stage.cluster.client.create(SECRETS, secret, "kueue-system")
    await scenery.create(stage, _objects())
    await stage.pass_seconds(2)
    checks = {"admissionChecks": [{"name": "elsewhere"}]}
    await scenery.create(stage, [
        scenery.flavor(), scenery.cluster_queue("all", "9", admissionChecksStrategy=checks), scenery.local_queue("team", "all")])
    await stage.pass_seconds(2)


async def tell(stage: Any) -> None:
    """A Job goes where there is room; its cluster is lost, and it goes elsewhere."""
    await stage.say(
        "Three clusters. The manager's queue has an admission check: MultiKueue sends its Workloads to worker1, which has one "
        "cpu, and worker2, which has four.")
    await _set_up(stage)
    await scenery.create(stage, [scenery.job("big", "team", "2", seconds=60)])
    await stage.until(lambda: stage.rows(kind="Pod", status="Running", cluster="worker2"))
    await stage.say(
        "Both workers got a copy of the Workload. worker2 admitted it, keeps it and runs the Job; the other copy is gone. The "
        "manager's Job is not suspended, and has no pod here.")
    await stage.until(lambda: stage.rows(object="big", status="Complete", cluster="manager"))
    await stage.say("The Job is done on worker2, and so it is on the manager; nothing is left on the worker.")
    await scenery.create(stage, [scenery.job("small", "team", "1", seconds=3000)])
    await stage.until(lambda: stage.rows(kind="Pod", status="Running"))
    [(_, _, _, _, where)] = stage.rows(kind="Pod", status="Running")
    [other] = [name for name in WORKERS if name != where]
    stage.fleet.cut(where)
    await stage.say(f"The next Job runs on {where}, which we cut off now. For fifteen minutes nothing happens.")
    await stage.until(lambda: stage.rows(kind="Pod", status="Running", cluster=other))
    await stage.say(f"{where} was lost for too long: the Job runs on {other}.")
    stage.fleet.mend(where)
    await stage.until(lambda: not stage.rows(kind="Pod", cluster=where))
    await stage.say(f"{where} is back, and what was left there is collected.")


def _workload_row(workload: Tree) -> tuple[str, ...]:
    """Without what it says: there is no room beside the name of the cluster."""
    name, status, _, kind = scenery.workload_row(workload)
    return name, status, "", kind


def demo() -> Demo:
    """The demonstration."""
    rows = {**scenery.follows(JOBS, WORKLOADS, PODS), WORKLOADS: _workload_row}
    return scenery.demo(
        tell, "Jobs run on other clusters, and outlive one of them.", JOBS, WORKLOADS, PODS,
        header=(*scenery.HEADER, "CLUSTER"), told={"MultiKueue": "MultiKueue"}, fleet=("manager", *WORKERS),
        follows=rows, nodes=2, speed=60.0)
