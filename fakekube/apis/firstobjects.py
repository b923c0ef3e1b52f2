"""What a cluster holds when it is first seen: the server's own objects, and what controllers have made by then.

A cluster is found at work. Its namespaces, the service ``kubernetes`` and what controllers gave those namespaces were there
before the history that it tells begins, at versions that are set down here, so that nobody can tell when they were put into
storage. The other objects (``bootstrap.py``) are written when somebody first asks for their resource.
"""

from fakekube.apimachinery import namespace_defaults
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.apis.bootstrap import API_SERVICES, KINDS, bootstrap_objects
from fakekube.registry.resources import ResourceRegistry

NAMESPACES, SERVICES = GroupResource("", "namespaces"), GroupResource("", "services")
ACCOUNTS, CONFIG_MAPS = GroupResource("", "serviceaccounts"), GroupResource("", "configmaps")
FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
NAMESPACE_DEFAULTS = (ACCOUNTS, CONFIG_MAPS)
VERSIONS = {NAMESPACES: (2, 1), SERVICES: (6, 1), ACCOUNTS: (7, 2), CONFIG_MAPS: (8, 2)}
"""Of a resource's first object, and how much greater that of each further one is."""
LAST_VERSION, LAST_VERSION_WITH_DEFAULTS = 6, 14

ROOT_CA_OWNERSHIP = {
    "manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": None, "fieldsType": "FieldsV1",
    "fieldsV1": {
        "f:data": {".": {}, f"f:{namespace_defaults.CERTIFICATE_KEY}": {}},
        "f:metadata": {"f:annotations": {".": {}, f"f:{namespace_defaults.DESCRIPTION_KEY}": {}}}},
}


class FirstObjects:
    """Those of one cluster, in the versions that ``resources`` knows.

    ``with_namespace_defaults``: whether the first namespaces have their default objects already.
    """

    def __init__(self, resources: ResourceRegistry, *, with_namespace_defaults: bool) -> None:
        self._resources, self._with_defaults = resources, with_namespace_defaults

    def __contains__(self, resource: GroupResource) -> bool:
        """Whether there are any of a resource."""
        return resource in KINDS or resource == API_SERVICES or (self._with_defaults and resource in NAMESPACE_DEFAULTS)

    @property
    def kept(self) -> tuple[GroupResource, ...]:
        """The resources of which there was something before the history begins."""
        return (NAMESPACES, SERVICES, *NAMESPACE_DEFAULTS) if self._with_defaults else (NAMESPACES, SERVICES)

    @property
    def version(self) -> int:
        """Where the history begins that the cluster tells."""
        return LAST_VERSION_WITH_DEFAULTS if self._with_defaults else LAST_VERSION

    def of(self, resource: GroupResource) -> list[Tree]:
        """The objects of a resource in their stored form, the caller's own, without uid and times.

        Those with a resourceVersion were there before the history begins.
        """
        if resource in NAMESPACE_DEFAULTS:
            trees = [_namespace_default(resource, namespace) for namespace in FIRST_NAMESPACES] if self._with_defaults else []
        else:
            trees = bootstrap_objects(resource, self._resources.kinds)
        if resource in VERSIONS:
            first, step = VERSIONS[resource]
            for number, tree in enumerate(trees):
                tree["metadata"]["resourceVersion"] = str(first + step * number)
        return trees


def _namespace_default(resource: GroupResource, namespace: str) -> Tree:
    if resource == ACCOUNTS:
        return {"kind": "ServiceAccount", "apiVersion": "v1", **namespace_defaults.default_account(namespace)}
    tree = namespace_defaults.root_ca(namespace, "")
    tree["metadata"]["managedFields"] = [dict(ROOT_CA_OWNERSHIP)]
    return {"kind": "ConfigMap", "apiVersion": "v1", **tree}
