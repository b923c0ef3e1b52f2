"""The kinds of other projects that have integrations, and what frameworks are called in pods."""

from fakekube.client.resources import Resource

JOBSETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", namespaced=True)
LEADER_WORKER_SETS = Resource("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", namespaced=True)
RAY_CLUSTERS = Resource("ray.io", "v1", "rayclusters", "RayCluster", namespaced=True)
RAY_JOBS = Resource("ray.io", "v1", "rayjobs", "RayJob", namespaced=True)

DEPLOYMENT, STATEFUL_SET = "deployment", "statefulset"
LEADER_WORKER_SET = "leaderworkerset.x-k8s.io/leaderworkerset"
"""Who lets a pod wait, as its annotation says."""
