"""What a cluster holds when it is first seen: the server's own objects, and what controllers have
made by then.

A cluster is found at work. Its namespaces, the service ``kubernetes`` and what controllers gave
those namespaces were there before the history that it tells begins, at versions that are set down
here, so that nobody can tell when they were put into storage. The other objects (``bootstrap.py``)
are written when somebody first asks for their resource.
"""

from typing import NamedTuple

from fakekube.apimachinery import namespace_defaults
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.apis import server_objects
from fakekube.apis.bootstrap import API_SERVICES, KINDS, bootstrap_objects
from fakekube.registry.resources import ResourceRegistry

NAMESPACES, SERVICES = GroupResource("", "namespaces"), GroupResource("", "services")
ACCOUNTS, CONFIG_MAPS = GroupResource("", "serviceaccounts"), GroupResource("", "configmaps")
FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
NAMESPACE_DEFAULTS = (ACCOUNTS, CONFIG_MAPS)
ENDPOINTS = (GroupResource("", "endpoints"), GroupResource("discovery.k8s.io", "endpointslices"))
VERSIONS = {NAMESPACES: (2, 1), SERVICES: (6, 1), ACCOUNTS: (7, 2), CONFIG_MAPS: (8, 2)}
"""Of a resource's first object, and how much greater that of each further one is."""
LAST_VERSION, LAST_VERSION_WITH_DEFAULTS = 6, 14

ROOT_CA_OWNERSHIP = {
    "manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": None, "fieldsType": "FieldsV1",
    "fieldsV1": {
        "f:data": {".": {}, f"f:{namespace_defaults.CERTIFICATE_KEY}": {}},
        "f:metadata": {"f:annotations": {".": {}, f"f:{namespace_defaults.DESCRIPTION_KEY}": {}}}},
}


class ServerFacts(NamedTuple):
    """What an API server tells of itself in objects.

    ``tracks_tokens``: whether it notes since when it has been watching the use of old tokens.
    ``client_ca`` is the PEM of the CA whose clients it says to know, ``advertise_address`` the IP
    address at which it says to be; empty for none. ``root_ca`` is the PEM of the cluster's own CA.
    ``gates`` are those of ``bootstrap.GATES`` that are on.
    """

    tracks_tokens: bool
    client_ca: str = ""
    advertise_address: str = ""
    root_ca: str = namespace_defaults.CERTIFICATE
    gates: tuple[str, ...] = ()


class FirstObjects:
    """Those of one cluster, in the versions that ``resources`` knows.

    ``with_namespace_defaults``: whether the first namespaces have their default objects already.
    """

    def __init__(self, resources: ResourceRegistry, *, with_namespace_defaults: bool, facts: ServerFacts) -> None:
        self._resources, self._with_defaults, self._facts = resources, with_namespace_defaults, facts

    def __contains__(self, resource: GroupResource) -> bool:
        """Whether there are any of a resource."""
        return resource in KINDS or resource == API_SERVICES or resource in self.kept

    @property
    def kept(self) -> tuple[GroupResource, ...]:
        """The resources of which there was something before the history begins."""
        facts = self._facts
        found = [NAMESPACES, SERVICES, *(NAMESPACE_DEFAULTS if self._with_defaults else ())]
        if CONFIG_MAPS not in found and (facts.tracks_tokens or facts.client_ca):
            found.append(CONFIG_MAPS)
        return (*found, *(ENDPOINTS if facts.advertise_address else ()))

    @property
    def version(self) -> int:
        """Where the history begins that the cluster tells."""
        return LAST_VERSION_WITH_DEFAULTS if self._with_defaults else LAST_VERSION

    def of(self, resource: GroupResource, started: str) -> list[Tree]:
        """The objects of a resource in their stored form, the caller's own, without uid and times.

        ``started`` is when the cluster was. Those with a resourceVersion were there before the
        history begins.
        """
        if resource in NAMESPACE_DEFAULTS:
            namespaces = FIRST_NAMESPACES if self._with_defaults else ()
            trees = [self._namespace_default(resource, namespace) for namespace in namespaces]
        else:
            trees = bootstrap_objects(resource, self._resources.kinds, self._facts.gates)
        if resource == API_SERVICES:
            for tree in trees:
                tree["status"]["conditions"][0]["lastTransitionTime"] = started
        if resource in VERSIONS:
            first, step = VERSIONS[resource]
            for number, tree in enumerate(trees):
                tree["metadata"]["resourceVersion"] = str(first + step * number)
        if resource == CONFIG_MAPS:
            trees += server_objects.config_maps(self._facts.client_ca, started if self._facts.tracks_tokens else "")
        elif resource in ENDPOINTS and self._facts.advertise_address:
            trees.append(server_objects.endpoints(resource, self._facts.advertise_address))
        return trees

    def _namespace_default(self, resource: GroupResource, namespace: str) -> Tree:
        if resource == ACCOUNTS:
            return {"kind": "ServiceAccount", "apiVersion": "v1", **namespace_defaults.default_account(namespace)}
        tree = namespace_defaults.root_ca(namespace, self._facts.root_ca)
        tree["metadata"]["managedFields"] = [dict(ROOT_CA_OWNERSHIP)]
        return {"kind": "ConfigMap", "apiVersion": "v1", **tree}
