"""Who is told about a bucket's events, found without asking everybody.

A subscriber wants all of a bucket, one namespace, or the objects with one value in one field (a
kubelet: the pods of its node; a client: the object of one name), so a thousand kubelets cost an
event nothing. Upstream: the cacher's indexed watchers (cacher.go, ``triggerValuesForUser``), which
does so for pods' spec.nodeName and for names.
"""

from collections.abc import Callable

from fakekube.storage.record import Event, Record

Deliver = Callable[[Event], None]
Field = tuple[str, str]
"""A field's label and the value that is wanted; ``metadata.name`` is one."""


class Subscription:
    """One subscriber. ``cancel`` may be called at any time, and more than once."""

    __slots__ = ("_deliver", "_subscribers", "active", "closed", "field", "namespace", "since", "tell")

    def __init__(
        self, subscribers: "Subscribers", since: int, namespace: str, field: Field | None, deliver: Deliver,
        closed: Callable[[], None] | None, *, ahead: bool,
    ) -> None:
        """``ahead``: ``since`` lies in the future, so that not every event that comes is one to
        tell.
        """
        self._subscribers, self._deliver = subscribers, deliver
        self.since, self.namespace, self.field, self.closed = since, namespace, field, closed
        self.active = True
        self.tell: Deliver = self.tell_if_concerned if ahead or (field is not None and namespace) else deliver

    def tell_if_concerned(self, event: Event) -> None:
        """Pass on an event that this subscriber asked for."""
        if self.active and self.concerns(event):
            self._deliver(event)

    def concerns(self, event: Event) -> bool:
        """Whether the event is one that this subscriber asked for."""
        if event.revision <= self.since or (self.namespace and event.record.namespace != self.namespace):
            return False
        if self.field is None:
            return True
        label, value = self.field
        if field_value(event.record, label) == value:
            return True
        return event.previous is not None and field_value(event.previous, label) == value

    def cancel(self) -> None:
        """No event after this."""
        if self.active:
            self.active = False
            self._subscribers.remove(self)


def field_value(record: Record, label: str) -> str:
    """The text of a selectable field; empty when the object has none."""
    if label == "metadata.name":
        return record.name
    return record.namespace if label == "metadata.namespace" else record.field(label)


class Subscribers:
    """The subscribers of one bucket.

    Those that want the same are told in the order in which they came.
    """

    def __init__(self) -> None:
        self._plain: dict[str, dict[Subscription, None]] = {}  # by namespace, "" for all
        self._by_field: dict[str, dict[str, dict[Subscription, None]]] = {}  # by label and value

    def __bool__(self) -> bool:
        return bool(self._plain or self._by_field)

    def add(self, subscription: Subscription) -> None:
        """Tell it of every event from now on."""
        self._group(subscription)[subscription] = None

    def remove(self, subscription: Subscription) -> None:
        """Tell it nothing any more."""
        group = self._group(subscription)
        group.pop(subscription, None)
        if not group:
            self._drop_group(subscription)

    def _group(self, subscription: Subscription) -> dict[Subscription, None]:
        if subscription.field is None:
            return self._plain.setdefault(subscription.namespace, {})
        label, value = subscription.field
        return self._by_field.setdefault(label, {}).setdefault(value, {})

    def _drop_group(self, subscription: Subscription) -> None:
        if subscription.field is None:
            del self._plain[subscription.namespace]
            return
        label, value = subscription.field
        del self._by_field[label][value]
        if not self._by_field[label]:
            del self._by_field[label]

    def close(self) -> None:
        """Cancel all, and tell those who want to know."""
        groups = list(self._plain.values())
        for by_value in self._by_field.values():
            groups.extend(by_value.values())
        for subscription in [subscription for group in groups for subscription in group]:
            subscription.cancel()
            if subscription.closed is not None:
                subscription.closed()

    def deliver(self, event: Event) -> None:
        """Tell everybody whom the event concerns."""
        if self._plain:
            self._tell(self._plain.get(""), event)
            if event.record.namespace:
                self._tell(self._plain.get(event.record.namespace), event)
        if self._by_field:
            for label in tuple(self._by_field):
                self._tell_by_field(label, event)

    def _tell_by_field(self, label: str, event: Event) -> None:
        # gone when a subscriber of another label cancelled the last one
        groups = self._by_field.get(label, {})
        value = field_value(event.record, label)
        self._tell(groups.get(value), event)
        if event.previous is not None:
            before = field_value(event.previous, label)
            if before != value:
                self._tell(groups.get(before), event)

    @staticmethod
    def _tell(group: dict[Subscription, None] | None, event: Event) -> None:
        if group:
            for subscription in tuple(group):  # a subscriber may cancel itself or another
                if subscription.active:
                    subscription.tell(event)
