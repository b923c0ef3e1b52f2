"""The resources of policy. Upstream: pkg/registry/policy/rest/storage_policy.go."""

from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource
from fakekube.apis.policy import poddisruptionbudget, printers

GROUP = Group(
    "policy",
    17100,
    (
        Resource(
            plural="poddisruptionbudgets",
            kind="PodDisruptionBudget",
            name_rule="path_segment",
            strategy=poddisruptionbudget.STRATEGY,
            printer=printers.POD_DISRUPTION_BUDGET,
            short_names=("pdb",),
            generation_since=ALWAYS,
            unconditional_update=False,
            subresources=(STATUS,),
        ),
    ),
)
