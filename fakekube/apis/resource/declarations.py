"""The resources of resource.k8s.io. Upstream: pkg/registry/resource/rest/storage_resource.go.

Every release up to 1.33 had another shape. Versions before v1beta2 are converted since 1.33;
earlier releases keep and serve them without defaults and rules, and so are the kinds of classic
allocation (ResourceClass ...).
"""

from fakekube.apis import late
from fakekube.apis.declaration import (
    ALWAYS,
    STATUS,
    WHOLE_AND_UPDATE,
    Deprecated,
    Group,
    Resource,
    Served,
    Sub,
)
from fakekube.apis.selecting import selectable
from fakekube.registry.kind import Convert
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy

V1BETA1, V1BETA2 = Deprecated(35, 38), Deprecated(36, 39)
STRUCTURED = (
    Served("v1", since=34),
    Served("v1beta2", since=33, deprecated=V1BETA2),
    Served("v1beta1", since=32, deprecated=V1BETA1),
    Served("v1alpha3", since=31, until=33),
)


WITH_STATUS, PLAIN = late.strategy("base:WITH_STATUS"), late.strategy("base:PLAIN")


def _flattened(to_stored: Convert, from_stored: Convert, older: Lazy[Strategy]) -> tuple[Served, ...]:
    """Since 1.33 there is ``exactly`` around a request; strategies know that shape only."""
    return (
        Served("v1", since=34),
        Served("v1beta2", since=33, deprecated=V1BETA2),
        Served("v1beta1", since=33, to_stored=to_stored, from_stored=from_stored, deprecated=V1BETA1),
        Served("v1beta1", since=32, until=32, strategy=older),
        Served("v1alpha3", since=33, until=33, to_stored=to_stored, from_stored=from_stored),
        Served("v1alpha3", since=31, until=32, strategy=older),
    )


def _classic(strategy: Lazy[Strategy]) -> tuple[Served, ...]:
    return (
        Served("v1alpha2", since=27, until=30, strategy=strategy), Served("v1alpha1", since=26, until=26, strategy=strategy))


CLAIMS = (
    *_flattened(
        late.convert("resource.conversion:claim_to_exactly"), late.convert("resource.conversion:claim_from_exactly"),
        WITH_STATUS,
    ),
    *_classic(WITH_STATUS),
)
TEMPLATES = (
    *_flattened(
        late.convert("resource.conversion:template_to_exactly"), late.convert("resource.conversion:template_from_exactly"),
        PLAIN,
    ),
    *_classic(PLAIN),
)
SLICES = (
    Served("v1", since=34),
    Served("v1beta2", since=33, deprecated=V1BETA2),
    Served(
        "v1beta1",
        since=33,
        to_stored=late.convert("resource.conversion:slice_from_basic"),
        from_stored=late.convert("resource.conversion:slice_to_basic"),
        deprecated=V1BETA1,
    ),
    Served("v1beta1", since=32, until=32, strategy=PLAIN),
    Served(
        "v1alpha3",
        since=33,
        until=33,
        to_stored=late.convert("resource.conversion:slice_from_alpha"),
        from_stored=late.convert("resource.conversion:slice_to_alpha"),
    ),
    Served(
        "v1alpha3",
        since=32,
        until=32,
        strategy=PLAIN,
        to_stored=late.convert("resource.conversion:slice_from_plain_capacity"),
        from_stored=late.convert("resource.conversion:slice_to_plain_capacity"),
    ),
    Served("v1alpha3", since=31, until=31, strategy=PLAIN),
    Served("v1alpha2", since=30, until=30, strategy=PLAIN),
)
TAINTS = (
    Served("v1", since=37, unconditional_update=False),
    Served("v1beta2", since=36),
    Served("v1alpha3", since=35, deprecated=V1BETA2),
    Served("v1alpha3", since=33, until=34, strategy=PLAIN),
)

GROUP = Group(
    "resource.k8s.io",
    16200,
    (
        Resource(
            plural="deviceclasses",
            kind="DeviceClass",
            strategy=late.strategy("resource.deviceclass"),
            printer=late.columns(),
            namespaced=False,
            generation_since=ALWAYS,
            delete_returns_object=True,
            versions=STRUCTURED,
        ),
        Resource(
            plural="devicetaintrules",
            kind="DeviceTaintRule",
            status_keeps_metadata=True,
            printer=late.printer("resource.printers:DEVICE_TAINT_RULE"),
            namespaced=False,
            generation_since=ALWAYS,
            object_until_v1=True,
            strategy=late.strategy("resource.devicetaintrule"),
            subresources=(Sub("status", since=35),),
            versions=TAINTS,
        ),
        Resource(
            plural="podschedulingcontexts",
            kind="PodSchedulingContext",
            subresources=(STATUS,),
            delete_returns_object=True,
            versions=(Served("v1alpha3", since=31, until=31), Served("v1alpha2", since=27, until=30)),
        ),
        Resource(
            plural="podschedulings",
            kind="PodScheduling",
            subresources=(STATUS,),
            delete_returns_object=True,
            versions=(Served("v1alpha1", since=26, until=26),),
        ),
        Resource(
            plural="resourceclaimparameters",
            kind="ResourceClaimParameters",
            singular="resourceclaimparameters",
            delete_returns_object=True,
            versions=(Served("v1alpha2", since=30, until=30),),
        ),
        Resource(
            plural="resourceclaims",
            kind="ResourceClaim",
            status_keeps_metadata=True,
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("resource.resourceclaim"),
            printer=late.printer("resource.printers:RESOURCE_CLAIM"),
            subresources=(STATUS,),
            delete_returns_object=True,
            versions=CLAIMS,
        ),
        Resource(
            plural="resourceclaimtemplates",
            kind="ResourceClaimTemplate",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("resource.resourceclaimtemplate"),
            printer=late.columns(),
            delete_returns_object=True,
            versions=TEMPLATES,
        ),
        Resource(
            plural="resourceclasses",
            kind="ResourceClass",
            namespaced=False,
            delete_returns_object=True,
            versions=_classic(PLAIN),
        ),
        Resource(
            plural="resourceclassparameters",
            kind="ResourceClassParameters",
            singular="resourceclassparameters",
            delete_returns_object=True,
            versions=(Served("v1alpha2", since=30, until=30),),
        ),
        Resource(
            plural="resourcepoolstatusrequests",
            kind="ResourcePoolStatusRequest",
            status_keeps_metadata=True,
            strategy=late.strategy("resource.resourcepoolstatusrequest"),
            printer=late.printer("resource.printers:RESOURCE_POOL_STATUS_REQUEST"),
            namespaced=False,
            subresources=(STATUS,),
            unconditional_update=False,
            delete_returns_object=True,
            versions=(Served("v1alpha3", since=36),),
        ),
        Resource(
            plural="resourceslices",
            kind="ResourceSlice",
            strategy=late.strategy("resource.resourceslice"),
            selectable=selectable(
                "spec.nodeName", "spec.driver", unknown="field label not supported for {gvk}: {label}",
            ),
            printer=late.columns(("Node", "spec.nodeName"), ("Driver", "spec.driver"), ("Pool", "spec.pool.name")),
            namespaced=False,
            generation_since=34,
            delete_returns_object=True,
            versions=SLICES,
        ),
    ),
    version_priorities={"v1": 21, "v1beta2": 15},
)
