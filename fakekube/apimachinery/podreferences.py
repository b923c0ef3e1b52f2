"""Which objects a pod speaks of: Secrets, ConfigMaps, claims of volumes and of devices.

Upstream: pkg/api/v1/pod/util.go, pkg/api/v1/persistentvolume/util.go.
"""

from collections.abc import Iterator

from fakekube.apimachinery.types import ReadOnlyTree

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
SECRET_REFERENCES = ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")
"""Volumes with a ``secretRef``."""
NODE_SECRETS_OF_CSI = ("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef")


def secret_names(pod: ReadOnlyTree) -> Iterator[str]:
    """The Secrets that a pod speaks of, in its namespace."""
    spec = pod["spec"]
    for reference in spec.get("imagePullSecrets") or ():
        yield reference.get("name", "")
    yield from _of_environments(spec, "secretRef", "secretKeyRef")
    for volume in spec.get("volumes") or ():
        yield volume.get("azureFile", {}).get("secretName", "")
        yield volume.get("secret", {}).get("secretName", "")
        for kind in SECRET_REFERENCES:
            yield volume.get(kind, {}).get("secretRef", {}).get("name", "")
        yield volume.get("csi", {}).get("nodePublishSecretRef", {}).get("name", "")
        for source in volume.get("projected", {}).get("sources") or ():
            yield source.get("secret", {}).get("name", "")


def config_map_names(pod: ReadOnlyTree) -> Iterator[str]:
    """The ConfigMaps that a pod speaks of, in its namespace."""
    spec = pod["spec"]
    yield from _of_environments(spec, "configMapRef", "configMapKeyRef")
    for volume in spec.get("volumes") or ():
        yield volume.get("configMap", {}).get("name", "")
        for source in volume.get("projected", {}).get("sources") or ():
            yield source.get("configMap", {}).get("name", "")


def volume_claim_names(pod: ReadOnlyTree) -> Iterator[str]:
    """The PersistentVolumeClaims of a pod."""
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"].get("claimName", "")
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}"


def resource_claim_names(pod: ReadOnlyTree) -> Iterator[str]:
    """The ResourceClaims of a pod, those that were made for it as far as its status names them."""
    status = pod.get("status") or {}
    made = {one["name"]: one.get("resourceClaimName", "") for one in status.get("resourceClaimStatuses") or ()}
    for claim in pod["spec"].get("resourceClaims") or ():
        yield claim.get("resourceClaimName") or made.get(claim["name"], "")
    yield status.get("extendedResourceClaimStatus", {}).get("resourceClaimName", "")


def volume_secrets(volume: ReadOnlyTree) -> Iterator[tuple[str, str]]:
    """Namespace and name of the Secrets that a kubelet needs for a PersistentVolume."""
    spec = volume["spec"]
    claims = spec.get("claimRef", {}).get("namespace", "")
    azure = spec.get("azureFile", {})
    yield azure.get("secretNamespace") or claims, azure.get("secretName", "")
    for kind in SECRET_REFERENCES:
        reference = spec.get(kind, {}).get("secretRef", {})
        yield reference.get("namespace") or claims, reference.get("name", "")
    for name in NODE_SECRETS_OF_CSI:
        reference = spec.get("csi", {}).get(name, {})
        yield reference.get("namespace", ""), reference.get("name", "")


def _of_environments(spec: ReadOnlyTree, whole: str, of_key: str) -> Iterator[str]:
    for field in CONTAINERS:
        for container in spec.get(field) or ():
            for source in container.get("envFrom") or ():
                yield source.get(whole, {}).get("name", "")
            for variable in container.get("env") or ():
                yield (variable.get("valueFrom") or {}).get(of_key, {}).get("name", "")
