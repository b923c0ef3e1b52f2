"""The resources of resource.k8s.io. Upstream: pkg/registry/resource/rest/storage_resource.go.

Every release up to 1.34 had another shape; the kinds of classic allocation (ResourceClass, PodSchedulingContext ...)
are declared without behaviour.
"""

from fakekube.apis import selecting
from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource, Served
from fakekube.apis.resource import printers

STRUCTURED = (
    Served("v1", since=34),
    Served("v1beta2", since=33),
    Served("v1beta1", since=32),
    Served("v1alpha3", since=31, until=33),
)
CLASSIC = (Served("v1alpha2", since=27, until=30), Served("v1alpha1", since=26, until=26))
TAINTS = (Served("v1", since=37), Served("v1beta2", since=36), Served("v1alpha3", since=33))

GROUP = Group(
    "resource.k8s.io",
    16200,
    (
        Resource(
            plural="deviceclasses",
            kind="DeviceClass",
            printer=printers.NAME_AND_AGE,
            namespaced=False,
            generation_since=ALWAYS,
            delete_returns_object=True,
            versions=STRUCTURED,
        ),
        Resource(
            plural="devicetaintrules",
            kind="DeviceTaintRule",
            printer=printers.DEVICE_TAINT_RULE,
            namespaced=False,
            generation_since=ALWAYS,
            object_until_v1=True,
            unconditional_until_v1=True,
            subresources=(STATUS,),
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
            printer=printers.RESOURCE_CLAIM,
            subresources=(STATUS,),
            delete_returns_object=True,
            versions=(*STRUCTURED, *CLASSIC),
        ),
        Resource(
            plural="resourceclaimtemplates",
            kind="ResourceClaimTemplate",
            printer=printers.NAME_AND_AGE,
            delete_returns_object=True,
            versions=(*STRUCTURED, *CLASSIC),
        ),
        Resource(
            plural="resourceclasses",
            kind="ResourceClass",
            namespaced=False,
            delete_returns_object=True,
            versions=CLASSIC,
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
            printer=printers.RESOURCE_POOL_STATUS_REQUEST,
            namespaced=False,
            subresources=(STATUS,),
            unconditional_update=False,
            delete_returns_object=True,
            versions=(Served("v1alpha3", since=36),),
        ),
        Resource(
            plural="resourceslices",
            kind="ResourceSlice",
            selectable=selecting.RESOURCE_SLICE,
            printer=printers.RESOURCE_SLICE,
            namespaced=False,
            generation_since=34,
            delete_returns_object=True,
            versions=(*STRUCTURED, Served("v1alpha2", since=30, until=30)),
        ),
    ),
)
