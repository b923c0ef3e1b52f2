"""What pods need of ConfigMaps and Secrets: a container with a variable from one that is missing is
not made, a pod with a volume of one is not started. Both go on when it appears.

Upstream: pkg/kubelet/kubelet_pods.go (makeEnvironmentVariables),
pkg/volume/{configmap,secret,projected}, whose texts these are.
Left out: the back-off of upstream's kubelet, which may look up to two minutes later; what
containers see of the values; ``kube-root-ca.crt``, which every namespace has.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import CONFIG_MAPS, SECRETS, Resource
from fakekube.runtime.context import Context

if TYPE_CHECKING:
    from fakekube.cache.lister import Lister

ROOT_CA = "kube-root-ca.crt"

Spec = Mapping[str, Any]


class Reference(NamedTuple):
    """What is needed of one object: it, or some of its keys."""

    resource: Resource
    name: str
    keys: tuple[str, ...] = ()


class References:
    """Looks references up, and has pods looked at again when what they miss appears.

    The caches are there once a pod has any: most clusters never pay for them.
    """

    def __init__(self, ctx: Context, look_at: Callable[[ObjectKey], object]) -> None:
        self._ctx, self._look_at = ctx, look_at
        self._listers: dict[Resource, Lister] = {}
        self._waiting: dict[tuple[Resource, str, str], dict[ObjectKey, None]] = {}

    async def watch(self) -> None:
        """Return once the caches are there."""
        if self._listers:
            return
        for resource in (CONFIG_MAPS, SECRETS):
            self._listers[resource] = self._ctx.lister(resource)
            self._watch(resource)
        await self._ctx.wait_for_sync()

    def _watch(self, resource: Resource) -> None:
        def seen(obj: Tree) -> None:
            for key in self._waiting.pop((resource, *meta.key_of(obj)), ()):
                self._look_at(key)

        self._ctx.add_handler(resource, seen, lambda _, new: seen(new))

    def check_of(self, pod: ReadOnlyTree, container: Spec) -> Callable[[], str] | None:
        """A function that says why a container of a pod cannot be made; None for one that needs
        nothing.
        """
        found = list(_of_container(container)) if container.get("env") or container.get("envFrom") else []
        if not found:
            return None
        key = meta.key_of(pod)

        def missing() -> str:
            for reference in found:
                if why := self._why_missing(key, reference, _no_key):
                    return why
            return ""

        return missing

    def unmounted(self, pod: ReadOnlyTree) -> list[str]:
        """Why volumes of a pod cannot be mounted; nothing where all can."""
        complaints: list[str] = []
        for volume, references in _of_volumes(pod["spec"]):
            whys = [self._why_missing(meta.key_of(pod), each, _no_item) for each in references]
            if any(whys):
                text = ", ".join(filter(None, whys))
                complaints.append(f'MountVolume.SetUp failed for volume "{volume}" : {text}')
        return complaints

    def _why_missing(self, pod: ObjectKey, reference: Reference, no_key: Callable[[Reference, str, str], str]) -> str:
        """Why a reference cannot be met, empty where it can; the pod is then looked at when the
        object is written.
        """
        resource, name, keys = reference
        found = self._listers[resource].get(pod.namespace, name)
        why = ""
        if found is None:
            why = f'{resource.kind.lower()} "{name}" not found'
        else:
            known = {**(found.get("data") or {}), **(found.get("binaryData") or {})}
            missing = next((key for key in keys if key not in known), None)
            if missing is not None:
                why = no_key(reference, pod.namespace, missing)
        if why:
            self._waiting.setdefault((resource, pod.namespace, name), {})[pod] = None
        return why


def has_references(pod: ReadOnlyTree) -> bool:
    """Whether a pod needs any ConfigMap or Secret."""
    spec = pod["spec"]
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        if (container.get("env") or container.get("envFrom")) and any(_of_container(container)):
            return True
    return any(_of_volumes(spec))


def _of_container(container: Spec) -> Iterator[Reference]:
    for source in container.get("envFrom") or ():
        for field, resource in (("configMapRef", CONFIG_MAPS), ("secretRef", SECRETS)):
            if field in source and not source[field].get("optional"):
                yield Reference(resource, source[field].get("name", ""))
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        for field, resource in (("configMapKeyRef", CONFIG_MAPS), ("secretKeyRef", SECRETS)):
            if field in source and not source[field].get("optional"):
                yield Reference(resource, source[field].get("name", ""), (source[field]["key"],))


def _of_volumes(spec: Spec) -> Iterator[tuple[str, list[Reference]]]:
    """The volumes with references, by name."""
    for volume in spec.get("volumes") or ():
        found: list[Reference] = []
        if "configMap" in volume:
            found += _of_source(CONFIG_MAPS, volume["configMap"], "name")
        elif "secret" in volume:
            found += _of_source(SECRETS, volume["secret"], "secretName")
        elif "projected" in volume:
            for source in volume["projected"].get("sources") or ():
                if "configMap" in source and source["configMap"].get("name") != ROOT_CA:
                    found += _of_source(CONFIG_MAPS, source["configMap"], "name")
                elif "secret" in source:
                    found += _of_source(SECRETS, source["secret"], "name")
        if found:
            yield volume["name"], found


def _of_source(resource: Resource, source: Spec, name: str) -> list[Reference]:
    if source.get("optional"):
        return []
    return [Reference(resource, source.get(name, ""), tuple([item["key"] for item in source.get("items") or ()]))]


def _no_key(reference: Reference, namespace: str, key: str) -> str:
    return f"couldn't find key {key} in {reference.resource.kind} {namespace}/{reference.name}"


def _no_item(reference: Reference, _: str, key: str) -> str:
    return f"references non-existent {'config' if reference.resource is CONFIG_MAPS else 'secret'} key: {key}"
