"""The APIServices of groups with custom kinds: they come and go with what is served.

Those of built-in groups are there from the start (``fakekube/apis/bootstrap.py``), and nobody cares
for them afterwards. Those of custom groups are kept as they are to be: what somebody deletes comes
back, a changed specification is put right. One that is not labelled as the server's own is left
alone: it decides who answers. Nothing is written before somebody asks for APIServices.
Upstream: pkg/controlplane/controller/crdregistration, kube-aggregator/pkg/controllers/autoregister.
"""

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Tree
from fakekube.apis.apiregistration import local
from fakekube.registry.buckets import Buckets
from fakekube.registry.kind import Kind
from fakekube.registry.resources import ResourceRegistry
from fakekube.storage.memory import Bucket, Event
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

API_SERVICES = GroupResource("apiregistration.k8s.io", "apiservices")


class LocalAPIServices:
    """Those of one server."""

    def __init__(self, resources: ResourceRegistry, buckets: Buckets, clock: Clock, rng: Rng) -> None:
        self._resources, self._buckets, self._clock, self._rng = resources, buckets, clock, rng
        self._bucket: Bucket | None = None
        self._custom: dict[tuple[str, str], dict[str, None]] = {}  # plurals by group and version
        for kind in resources.kinds:
            if kind.custom:
                self._note(kind)
        buckets.on_made(self._made)
        buckets.existing(API_SERVICES)  # those of a state that was taken over
        resources.on_change(self._served)

    def _made(self, bucket: Bucket) -> None:
        if bucket.resource != API_SERVICES:
            return
        self._bucket = bucket
        for group, version in list(self._custom):
            self._keep(group, version)
        for record in bucket.records():
            if record.labels.get(local.MANAGED) == local.ALWAYS:
                version, _, group = record.name.partition(".")
                self._keep(group, version)
        bucket.subscribe(bucket.revision, "", self._changed)

    def _served(self, kind: Kind, _last: bool) -> None:
        if self._note(kind) and self._bucket is not None:
            self._keep(kind.group, kind.version)

    def _note(self, kind: Kind) -> bool:
        """Note that a kind has come or gone; whether that changes what is to be there."""
        version, served = (kind.group, kind.version), self._resources.kind(kind.group, kind.version, kind.plural)
        before = version in self._custom
        if served is not None and served.custom:
            self._custom.setdefault(version, {})[kind.plural] = None
        elif before:
            self._custom[version].pop(kind.plural, None)
            if not self._custom[version]:
                del self._custom[version]
        return before != (version in self._custom)

    def _changed(self, event: Event) -> None:
        """Put right what somebody did, once everybody has been told of it."""
        version, _, group = event.record.name.partition(".")
        if (group, version) in self._custom or event.record.labels.get(local.MANAGED) == local.ALWAYS:
            self._buckets.storage.afterwards(lambda: self._keep(group, version))

    def _keep(self, group: str, version: str) -> None:
        """Have the APIService of a version there if it serves custom kinds, and not if not."""
        bucket = self._bucket
        assert bucket is not None, "somebody has asked for APIServices"
        record, is_wanted = bucket.get("", f"{version}.{group}"), (group, version) in self._custom
        if record is None:
            if is_wanted:
                bucket.create(self._new(group, version))
        elif record.labels.get(local.MANAGED) != local.ALWAYS:
            return
        elif not is_wanted:
            bucket.delete(record)
        else:
            wanted = local.of_custom(group, version)["spec"]
            tree = record.tree()
            if tree["spec"] != wanted:
                bucket.update({**tree, "metadata": dict(tree["metadata"]), "spec": wanted}, record)

    def _new(self, group: str, version: str) -> Tree:
        now = format_time(self._clock.time())
        tree = local.of_custom(group, version, now)
        tree["metadata"] |= {"uid": self._rng.uid(), "creationTimestamp": now}
        return tree
