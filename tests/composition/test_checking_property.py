"""Verdicts of claims while things happen, and after the fact, against those of somebody who has the
whole list of states.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube import Cluster
from fakekube.apimachinery.causes import CAUSE, Cause
from fakekube.client.resources import SECRETS, SERVICE_ACCOUNTS
from fakekube.testing import Always, Eventually, HistoryError, LeadsTo, Never, Until, checking
from fakekube.testing.claims import Claim
from fakekube.testing.temporal import judge

RESOURCES = {"secrets": SECRETS, "serviceaccounts": SERVICE_ACCOUNTS}
SPACES, NAMES = ("default", "other"), "abc"
Objects = dict[tuple[str, str, str], int]
"""The number that stands in each object, by resource, namespace and name."""

steps = st.lists(
    st.tuples(
        st.sampled_from(sorted(RESOURCES)), st.sampled_from(SPACES), st.sampled_from(NAMES),
        st.none() | st.integers(0, 2), st.sampled_from((0, 0, 1, 7))),
    max_size=25)
"""An object, what stands in it from then on (None: it goes), and the seconds that pass before."""

looks = st.one_of(
    st.tuples(st.just("number"), st.sampled_from(sorted(RESOURCES)), st.sampled_from(SPACES), st.sampled_from(NAMES)),
    st.tuples(st.just("count"), st.sampled_from(sorted(RESOURCES)), st.sampled_from(("", *SPACES))),
    st.tuples(st.just("seconds")), st.tuples(st.just("parity")))
predicates = st.tuples(looks, st.integers(0, 3), st.booleans())
limits = st.none() | st.integers(0, 12)
claims = st.one_of(
    st.tuples(st.sampled_from(("always", "never")), predicates),
    st.tuples(st.sampled_from(("each always", "each never")), st.sampled_from(sorted(RESOURCES)), st.integers(0, 2)),
    st.tuples(st.just("eventually"), predicates, limits),
    st.tuples(st.sampled_from(("until", "leads to")), predicates, predicates, limits))


class Moment:
    """One state: its time since the first, how many changes led there, and the objects."""

    def __init__(self, seconds: int, number: int, objects: Objects) -> None:
        self.seconds, self.number, self.objects = seconds, number, objects


def truth(predicate: Any, moment: Moment) -> bool:
    """What a predicate says, by hand."""
    (what, *about), least, opposite = predicate
    if what == "number":
        value = moment.objects.get((about[0], about[1], about[2]), -1)
    elif what == "count":
        value = sum(key[0] == about[0] and about[1] in ("", key[1]) for key in moment.objects)
    else:
        value = moment.seconds // 5 if what == "seconds" else moment.number % 4
    return (value >= least) != opposite


def predicate_of(predicate: Any, begun: float, first: int) -> Any:
    """The same, of a State."""
    (what, *about), least, opposite = predicate

    def holds(state: Any) -> bool:
        if what == "number":
            found = state.get(RESOURCES[about[0]], about[2], about[1])
            value = -1 if found is None else found["number"]
        elif what == "count":
            value = len(state.list(RESOURCES[about[0]], about[1]))
        else:
            value = (state.time - begun) // 5 if what == "seconds" else (state.revision - first) % 4
        return (value >= least) != opposite

    return holds


def claim_of(claim: Any, begun: float, first: int) -> Claim:
    what, *parts = claim
    if what.startswith("each"):
        return (Always if what == "each always" else Never)(lambda found: found["number"] >= parts[1], each=RESOURCES[parts[0]])
    made = [predicate_of(part, begun, first) if isinstance(part, tuple) else part for part in parts]
    return {"always": Always, "never": Never, "eventually": Eventually, "until": Until, "leads to": LeadsTo}[what](*made)


def verdict(claim: Any, moments: list[Moment]) -> bool:
    """Whether a claim is true of all states, read from its definition."""
    what, *parts = claim
    if what.startswith("each"):
        numbers = [number for moment in moments for key, number in moment.objects.items() if key[0] == parts[0]]
        return all((number >= parts[1]) == (what == "each always") for number in numbers)
    one = [truth(parts[0], moment) for moment in moments]
    if what in ("always", "never"):
        return all(one) if what == "always" else not any(one)
    if what == "eventually":
        return any(true and (parts[1] is None or moment.seconds <= parts[1]) for true, moment in zip(one, moments, strict=True))
    two, within = [truth(parts[1], moment) for moment in moments], parts[2]

    def comes(index: int) -> list[int]:
        limit = None if within is None else moments[index].seconds + within
        return [later for later in range(index, len(two)) if two[later] and (limit is None or moments[later].seconds <= limit)]

    if what == "until":
        return any(all(one[:index]) for index in comes(0))
    return all(comes(index) for index in range(len(one)) if one[index] and not (index and one[index - 1]))


def play(cluster: Cluster, story: Any) -> tuple[list[Moment], list[bool]]:
    """Let it happen. Every state, and for each change whether it was of a state still to come."""
    seconds, objects = 0, {}
    begun = cluster.clock.time()
    moments = [Moment(0, 0, {})]
    for resource, space, name, number, pause in story:
        bucket = cluster.apiserver.buckets.bucket(RESOURCES[resource].group_resource)
        there = bucket.get(space, name)
        if there is None and number is None:
            continue
        seconds += pause
        CAUSE.set(Cause(begun + seconds, "POST", "/", "somebody", "test", None))
        metadata = {"name": name, "namespace": space, "uid": f"{resource}-{space}-{name}"}
        tree = {"kind": RESOURCES[resource].kind, "apiVersion": "v1", "metadata": metadata, "number": number}
        if there is None:
            bucket.create(tree)
        elif number is None:
            bucket.delete(there)
        else:
            bucket.update(tree, there)
        CAUSE.set(None)
        objects = {key: value for key, value in objects.items() if key != (resource, space, name)}
        if number is not None:
            objects[resource, space, name] = number
        moments.append(Moment(seconds, len(moments), objects))
    return moments


def holds(run: Any) -> bool:
    try:
        run()
    except HistoryError:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(steps, st.lists(claims, min_size=1, max_size=4))
def test_one_verdict(story, several) -> None:
    """Given any story of objects that come, change and go, when claims are checked meanwhile, then
    each verdict is the one that its definition gives for the whole list of states; so it is
    when the same claim is judged afterwards.
    """
    for claim in several:
        cluster = Cluster(nodes=0, controllers="", clock="manual")
        begun, first = cluster.clock.time(), cluster.apiserver.storage.revision
        made = claim_of(claim, begun, first)
        moments: list[Moment] = []

        def live(cluster=cluster, made=made, moments=moments) -> None:
            with checking(cluster, made):
                moments += play(cluster, story)

        is_true = holds(live)
        moments = moments or play(cluster, story)  # where the first state breaks it, nothing happened yet
        assert is_true == verdict(claim, moments)
        assert holds(lambda cluster=cluster, made=made: judge(cluster, made)) == is_true
