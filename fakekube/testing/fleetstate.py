"""The present states of all clusters of a fleet, for claims about several of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fakekube.testing.present import Present

if TYPE_CHECKING:
    from fakekube.apimachinery.gvk import GroupResource
    from fakekube.client.resources import Resource
    from fakekube.composition.cluster import Cluster
    from fakekube.testing.history import Change, Look


class FleetState(Mapping[str, Present]):
    """A Present by the name of each member, and what a State tells: a predicate is shown one.

    ``member`` is the one whose change led here.
    """

    def __init__(self, clusters: "Mapping[str, Cluster]") -> None:
        self._states = {name: Present(cluster) for name, cluster in clusters.items()}
        self.member = next(iter(self._states))
        self._is_first = True

    def __getitem__(self, name: str) -> Present:
        return self._states[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    @property
    def _latest(self) -> Present:
        return self._states[self.member]

    @property
    def at(self) -> float:
        """Its time, for who only tells of it."""
        return max(state.at for state in self._states.values())

    @property
    def time(self) -> float:
        """Unix seconds."""
        self._latest.looked_at[None] = None
        return self.at

    @property
    def change(self) -> "Change | None":
        """The change that led here; ``member`` says where."""
        for state in self._states.values():
            state.looked_at[()] = None
        return self._latest.change

    @property
    def started(self) -> float:
        """When the clusters began."""
        return self._latest.started

    @property
    def last(self) -> "Change | None":
        """The change that led here, for who only tells of it."""
        return self._latest.last

    @property
    def number(self) -> int:
        """The version of the member, for who only tells of it."""
        return self._latest.number

    @property
    def moment(self) -> str:
        """``at +31s (version 57 of worker1)``."""
        return f"{self._latest.moment[:-1]} of {self.member})"

    def note(self, member: str, change: "Change") -> None:
        """A change of a member has led here."""
        self.member, self._is_first = member, False
        self._latest.note(change)

    @property
    def looked_at(self) -> "dict[Any, None]":
        """What was looked at since somebody cleared it: the member, then as of a State."""
        return {
            None if look is None else (name, *look): None for name, state in self._states.items() for look in state.looked_at}

    @looked_at.setter
    def looked_at(self, looks: "dict[Any, None]") -> None:
        for state in self._states.values():
            state.looked_at = dict(looks)

    def concerns(self, looks: "Mapping[Any, None]") -> bool:
        """Whether the change that led here is of something that was looked at."""
        return self._is_first or any((self.member, *look) in looks for look in self._latest.concerned if look is not None)

    def changed(self, resource: "Resource") -> Iterable[Any]:
        """The object of a resource that the change that led here is of, if it is there; all of all
        members in the first state.
        """
        if not self._is_first:
            return self._latest.changed(resource)
        return (tree for state in self._states.values() for tree in state.changed(resource))

    def looks_at_all_of(self, resource: "Resource") -> "Mapping[Any, None]":
        """What is looked at by who looks at all objects of a resource."""
        return {(name, *look): None for name, state in self._states.items() for look in state.looks_at_all_of(resource) if look}

    def resources(self, looks: "Iterable[Look]") -> "Iterator[tuple[str, GroupResource | None]]":
        """Of which resources of which member the changes are wanted by who looks at these; None: of
        all.
        """
        for look in looks:
            if look is None:
                yield from ((name, None) for name in self._states)
            else:
                for _, resource in self._states[str(look[0])].resources([look[1:]]):
                    yield str(look[0]), resource
