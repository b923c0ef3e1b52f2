"""Small operators that do what real ones do, and look as if they did something wrong."""

import json
from datetime import timedelta

from fakekube.client.resources import CONFIG_MAPS, JOBS, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS
from fakekube.runtime import controller
from fakekube.runtime.reconcile import Result
from tests.exploration.buggy.base import OfOne, Reconciler, Timed, create_once, declared
from tests.exploration.operators import POD

LEADER = "control-plane.alpha.kubernetes.io/leader"
PROGRESS = "kopf.zalando.org/handler"


class RenewsInAConfigMap(Timed):
    """Is the leader, and says so in a ConfigMap, as clients did before there were Leases."""

    seconds = 2.0

    async def tick(self, found):
        record = {"holderIdentity": "a", "renewTime": self.clock.now().isoformat()}
        annotations = {**(found["metadata"].get("annotations") or {}), LEADER: json.dumps(record)}
        await self.client.update(CONFIG_MAPS, {**found, "metadata": {**found["metadata"], "annotations": annotations}})


class BeatsInAStatus(Timed):
    """Writes every second into the status of its pod when it was there, and whether it is odd."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self.beats = 0

    async def tick(self, found):
        self.beats += 1
        for pod in self.pods.list("default"):
            status = {**pod["status"], "message": self.clock.now().isoformat(), "reason": "ab"[self.beats % 2]}
            await self.client.update_status(PODS, {**pod, "status": status})


class TriesOut(Timed):
    """Asks ten times a second whether an update would be taken."""

    seconds = 0.1

    async def tick(self, found):
        await self.client.update(CONFIG_MAPS, {**found, "data": {"a": "b"}}, dry_run=True)


class AppliesUnchanged(Timed):
    """Applies its Secret ten times a second, as it is."""

    seconds = 0.1

    async def tick(self, found):
        metadata = {"name": "web", "namespace": "default"}
        await self.client.apply(
            {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"a": "Yg=="}}, field_manager="web")


class ResyncsByUpdates(Timed):
    """Updates its map once a minute, as it is."""

    seconds = 60.0

    async def tick(self, found):
        await self.client.update(CONFIG_MAPS, found)


class WritesABurst(Reconciler):
    """Says of each of thirty steps that it is done, at once, and rests."""

    async def work(self, name, found):
        if found is None or (found.get("data") or {}).get("step") == "29":
            return
        for step in range(30):
            fresh = await self.client.get(CONFIG_MAPS, name, "default")
            await self.client.update(CONFIG_MAPS, {**fresh, "data": {"step": str(step)}})


class BacksOff(Timed):
    """Notes each attempt at what it cannot do, and tries again later and later."""

    seconds = 0.005

    async def tick(self, found):
        self.seconds *= 2
        self.due = self.clock.time() + self.seconds
        attempts = int((found.get("data") or {}).get("attempts", "0")) + 1
        await self.client.update(CONFIG_MAPS, {**found, "data": {"attempts": str(attempts)}})


class CleansUpSlowly(OfOne):
    """As kopf does: a finalizer, progress in an annotation, and a retry in ten minutes."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self.clock, self.begun = ctx.clock, None

    async def work(self, name, found):
        if found is None:
            return Result()
        metadata = found["metadata"]
        finalizers = metadata.get("finalizers") or []
        if "deletionTimestamp" not in metadata:
            if not finalizers:
                await self.patch(name, finalizers=["kopf.zalando.org/KopfFinalizerMarker"])
            return Result()
        if self.begun is None:
            self.begun = self.clock.time()
            await self.patch(name, annotations={PROGRESS: "retry in ten minutes"})
        if self.clock.time() < self.begun + 600:
            return Result(requeue_after=timedelta(seconds=self.begun + 600 - self.clock.time()))
        await self.patch(name, finalizers=[])
        return Result()

    async def patch(self, name, **metadata):
        await self.client.patch(CONFIG_MAPS, name, "default", {"metadata": metadata})


class MakesAClaim(Reconciler):
    """Makes a pod with a PersistentVolumeClaim, on which the server puts a finalizer."""

    async def work(self, name, found):
        if found is not None:
            await create_once(self.client, PERSISTENT_VOLUME_CLAIMS, name, spec={
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})
            volumes = [{"name": "a", "persistentVolumeClaim": {"claimName": name}}]
            await create_once(self.client, PODS, name, spec={**POD, "volumes": volumes})


class OwnsASecret(Reconciler):
    """Makes a Secret that its map owns, and sets it right when somebody changes it; of which it may
    hear by what it reads, and not by its watch.
    """

    async def work(self, name, found):
        if found is None:
            return
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": found["metadata"]["uid"]}
        wanted = {"a": "Yg=="}
        there = await self.client.get(SECRETS, name, "default", missing_ok=True)
        if there is None:
            await self.client.create(SECRETS, {
                "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]}, "data": wanted})
        elif there.get("data") != wanted:
            await self.client.update(SECRETS, {**there, "data": wanted})


class HearsLate(Reconciler):
    """Makes a Secret for its map when it hears of a pod; of the end of the map it hears later."""

    async def reconcile(self, request):
        found = self.maps.get("default", "web")
        if found is not None and self.pods.list("default"):
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "web", "uid": found["metadata"]["uid"]}
            await self.client.create(SECRETS, {
                "metadata": {"name": "web", "namespace": "default", "ownerReferences": [owner]}})


class DeletesInTheForeground(Reconciler):
    """Makes a Job, and deletes it in the foreground when its map goes."""

    async def work(self, name, found):
        if found is not None:
            template = {"spec": {**POD, "restartPolicy": "Never"}}
            await create_once(self.client, JOBS, name, spec={"template": template})
        elif any(job["metadata"]["name"] == name for job in (await self.client.list(JOBS, "default")).items):
            await self.client.delete(JOBS, name, "default", propagation_policy="Foreground")


renews_in_a_config_map = declared("renews", RenewsInAConfigMap)
beats_in_a_status = declared("beats", BeatsInAStatus)
tries_out = declared("tries-out", TriesOut)
applies_unchanged = declared("applies-unchanged", AppliesUnchanged)
resyncs_by_updates = declared("resyncs", ResyncsByUpdates)
writes_a_burst = declared("writes-a-burst", WritesABurst)
cleans_up_slowly = declared("cleans-up-slowly", CleansUpSlowly)
backs_off = declared("backs-off", BacksOff)
hears_late = controller("hears-late").for_(PODS).complete(HearsLate)
makes_a_claim = declared("makes-a-claim", MakesAClaim)
owns_a_secret = controller("owns-a-secret").for_(CONFIG_MAPS).owns(SECRETS).complete(OwnsASecret)
deletes_in_the_foreground = declared("deletes-in-the-foreground", DeletesInTheForeground)
