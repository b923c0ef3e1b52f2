"""The resources of lifecycle.k8s.io. Upstream: pkg/registry/lifecycle/rest/storage_coordination.go."""

from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource, Served


def _lifecycle(plural: str, kind: str) -> Resource:
    return Resource(
        plural=plural, kind=kind, unconditional_update=False, generation_since=ALWAYS, subresources=(STATUS,),
        versions=(Served("v1alpha1", since=37, gate="EvictionRequestAPI"),),
    )  # fmt: skip


GROUP = Group("lifecycle.k8s.io", 15700, (
    _lifecycle("evictionrequests", "EvictionRequest"),
    _lifecycle("evictions", "Eviction"),
))  # fmt: skip
