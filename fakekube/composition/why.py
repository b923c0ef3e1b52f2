"""Why an object waits: what controllers answer, with what the object and its Events say, and the
same of what it has made.

``Cluster.why`` asks here. A component answers for its kinds through ``Context.why``; what is said
of all kinds (suspended, conditions, Warnings, owned objects that wait) is told here.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.gvk import GroupKind, GroupResource
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.composition import whyquota
from fakekube.composition.objectnames import object_named
from fakekube.runtime.why import Answer, Change, Reason

if TYPE_CHECKING:
    from fakekube.client.client import Client
    from fakekube.storage.memory import Storage

PODS, EVENTS = GroupResource("", "pods"), GroupResource("events.k8s.io", "events")
EVENTS_OF_CORE = GroupResource("", "events")
ENDED = ("Complete", "Failed", "Completed")
MAX_CHILDREN, MAX_WARNINGS, MAX_DEPTH = 5, 3, 4

Ask = Callable[[GroupResource, ReadOnlyTree], list[Answer]]


async def answer(client: "Client", storage: "Storage", ask: Ask, what: str, namespace: str) -> Answer:
    """The answer for an object named as kubectl does: ``pod/web-0``, ``jobs.batch/report``.

    ``ask`` asks the controllers. Raises APIError: 400 where the text names no resource that is
    served, 404 where there is no such object.
    """
    resource, name = await object_named(client, what)
    obj = await client.get(resource, name, namespace if resource.namespaced else "")
    return _Asking(storage, ask).about(resource.group_resource, resource.group_kind, obj, 0)


class _Asking:
    """Asks about one object and those below it, each once."""

    def __init__(self, storage: "Storage", ask: Ask) -> None:
        self._storage, self._ask = storage, ask
        self._asked: dict[str, None] = {}  # by uid
        self._told: dict[str, None] = {}

    def about(self, resource: GroupResource, kind: GroupKind, obj: ReadOnlyTree, depth: int) -> Answer:
        """The answer for one object."""
        self._asked[meta.uid_of(obj)] = None
        told = self._ask(resource, obj)
        warnings = tuple(self._warnings(obj))
        own = (*_conditions(obj), *warnings)
        below = tuple(self._children(obj, depth)) if depth < MAX_DEPTH else ()
        if told:
            first, *more = told
            said = [attempt.message for attempt in first.attempts]
            own = tuple(each for each in own if not _is_well(first) and not any(text in each.message for text in said))
            return first._replace(reasons=(*first.reasons, *own), because=(*first.because, *more, *below))
        about = "/".join(part for part in (kind.kind.lower(), meta.namespace_of(obj), meta.name_of(obj)) if part)
        if _is_ended(obj):
            return Answer(about, "Finished", "has finished", own)
        if obj.get("spec", {}).get("suspend") is True:
            resume = Change("Resume", about, f"set spec.suspend of {kind.kind.lower()} {meta.name_of(obj)} to false")
            return Answer(about, "Suspended", "is suspended", own, changes=(resume,), because=below)
        refused = whyquota.refused(self._storage, resource, obj)
        if refused is not None:
            return Answer(
                about, "QuotaExceeded", f"is to make {refused.pods} more pods, which quotas do not allow",
                (*refused.reasons, *own), changes=refused.changes, because=below)
        if below:
            return Answer(about, "Waiting", "has made what waits", own, changes=below[0].changes, because=below)
        if resource == PODS and not obj["spec"].get("nodeName"):
            return Answer(about, "NoScheduler", "has no node, and no scheduler runs", own)
        if warnings:
            return Answer(about, "Waiting", "is warned about", own)
        return Answer(about, "Well", "waits for nothing that is known", own)

    def _warnings(self, obj: ReadOnlyTree) -> Iterator[Reason]:
        """The latest Warnings about an object."""
        uid, found = meta.uid_of(obj), dict[str, Reason]()
        if not self._storage.has(EVENTS_OF_CORE):
            return
        for record in self._storage.bucket(EVENTS_OF_CORE).records(meta.namespace_of(obj) or "default"):
            event = record.tree()
            if event.get("type") == "Warning" and (event.get("involvedObject") or {}).get("uid") == uid:
                message = str(event.get("message") or "")
                found.pop(message, None)
                found[message] = Reason(f"Event {event.get('reason')}", message)
        yield from list(found.values())[-MAX_WARNINGS:]

    def _children(self, obj: ReadOnlyTree, depth: int) -> Iterator[Answer]:
        """The answers for what an object owns and that waits, groups of pods first."""
        owned = self._owned(obj)
        owned.sort(key=lambda each: each[0] == PODS)
        told = 0
        for resource, child in owned:
            if told == MAX_CHILDREN:
                return
            if meta.uid_of(child) in self._asked:
                continue
            api, kind = child.get("apiVersion", ""), str(child.get("kind", ""))
            found = self.about(resource, GroupKind(api.rpartition("/")[0], kind), child, depth + 1)
            waits_with = [each.about for each in found.because]
            if _is_well(found) or (resource == PODS and waits_with and all(each in self._told for each in waits_with)):
                continue  # the group that a pod waits with was told of
            told += 1
            self._told[found.about] = None
            yield found

    def _owned(self, obj: ReadOnlyTree) -> list[tuple[GroupResource, ReadOnlyTree]]:
        uid, found = meta.uid_of(obj), list[tuple[GroupResource, ReadOnlyTree]]()
        mark = uid.encode()
        for bucket in self._storage.buckets:
            if bucket.resource in (EVENTS, EVENTS_OF_CORE):
                continue
            for record in bucket.records(meta.namespace_of(obj)):
                if record.has_owners and mark in record.data:
                    tree = record.tree()
                    if any(owner.get("uid") == uid for owner in tree["metadata"].get("ownerReferences") or ()):
                        found.append((bucket.resource, tree))
        return found


def _conditions(obj: ReadOnlyTree) -> Iterator[Reason]:
    """What an object's conditions say."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        said = ": ".join(str(condition[field]) for field in ("reason", "message") if condition.get(field))
        yield Reason(f"{condition.get('type')}={condition.get('status')}", said)


def _is_ended(obj: ReadOnlyTree) -> bool:
    return any(meta.is_condition_true(obj, type_) for type_ in ENDED)


def _is_well(told: Answer) -> bool:
    return told.state in ("Finished", "Scheduled", "Well")
