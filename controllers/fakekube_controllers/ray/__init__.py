"""Ray: clusters of a head and groups of workers, and jobs that run on them. An add-on, with
KubeRay's kinds, conditions and Events.

Read ``clusters.py`` for RayCluster (``pods.py`` makes the pods, ``clusterstatus.py`` the status)
and ``jobs.py`` for RayJob (``submission.py`` says how the job on the cluster fares). Upstream:
kuberay's ray-operator v1.6.2. Left out: RayService and RayCronJob, the autoscaler, GCS fault
tolerance, Ingress and Routes, authentication, other schedulers, multi-host indexing, rules of
deletion (``deletionStrategy``), the environment and probes that Ray's containers get.
"""

from fakekube.client.resources import JOBS, PODS, SERVICES
from fakekube.runtime import builder, predicates
from fakekube.runtime.addon import AddOn
from fakekube_controllers.ray.names import RAY_CLUSTERS, RAY_JOBS


def addon() -> AddOn:
    """Ray as an add-on."""
    from fakekube.runtime import addontables

    clusters = (
        builder.controller("raycluster").with_options(user_agent="kuberay-operator")
        .for_(RAY_CLUSTERS, predicate=_of_clusters()).owns(PODS).owns(SERVICES)
        .starts_with(RAY_CLUSTERS).complete("fakekube_controllers.ray.clusters:RayClusterReconciler"))
    jobs = (
        builder.controller("rayjob").with_options(user_agent="kuberay-operator").for_(RAY_JOBS).owns(RAY_CLUSTERS)
        .owns(JOBS).starts_with(RAY_JOBS).complete("fakekube_controllers.ray.jobs:RayJobReconciler"))
    return AddOn("ray", manifests=tuple(addontables.definitions(__name__)), controllers=(clusters, jobs))


def _of_clusters() -> predicates.Predicate:
    """Not what the operator writes into the status, which would have it try again at once what has
    just failed; but for a step of being suspended, which upstream looks at two seconds later.
    """
    from fakekube_controllers.ray.clusterstatus import suspend_status

    return predicates.any_of(
        predicates.generation_changed(), predicates.labels_changed(), predicates.annotations_changed(),
        predicates.on_update(lambda old, new: suspend_status(old) != suspend_status(new)))
