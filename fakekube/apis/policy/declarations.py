"""The resources of policy. Upstream: pkg/registry/policy/rest/storage_policy.go."""

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource

GROUP = Group(
    "policy",
    17100,
    (
        Resource(
            plural="poddisruptionbudgets",
            kind="PodDisruptionBudget",
            metadata_checks=(),
            name_rule="any",
            strategy=late.strategy("policy.poddisruptionbudget"),
            printer=late.printer("policy.printers:POD_DISRUPTION_BUDGET"),
            short_names=("pdb",),
            generation_since=ALWAYS,
            unconditional_update=False,
            subresources=(STATUS,),
        ),
    ),
)
