"""The resources of apiregistration.k8s.io. Upstream: kube-aggregator/pkg/registry/apiservice/rest.
"""

from fakekube.apis import late
from fakekube.apis.declaration import API_EXTENSIONS, STATUS, Group, Resource

GROUP = Group(
    "apiregistration.k8s.io",
    18000,
    (
        Resource(
            plural="apiservices",
            kind="APIService",
            strategy=late.strategy("apiregistration.apiservice"),
            printer=late.printer("apiregistration.printers:API_SERVICE"),
            namespaced=False,
            categories=API_EXTENSIONS,
            unconditional_update=False,
            name_rule="path_segment",
            subresources=(STATUS,),
        ),
    ),
    by_other_server=True,
)
