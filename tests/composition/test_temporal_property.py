"""The verdicts on a history against those of somebody who looks at every state by hand."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube import Cluster
from fakekube.apimachinery.causes import CAUSE, Cause
from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.testing import HistoryError, always, eventually, leads_to, never

KINDS = {"ConfigMap": CONFIG_MAPS, "Secret": SECRETS}
changes = st.lists(
    st.tuples(st.sampled_from(sorted(KINDS)), st.sampled_from("abc"), st.booleans(), st.integers(0, 20)), max_size=14)
claims = st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 3))
limits = st.none() | st.integers(0, 40)


def played(story: list[tuple[str, str, bool, int]]) -> tuple[Cluster, list[tuple[float, dict[str, int]]]]:
    """A cluster in which it happened, and every state: its time, and how many objects of each kind
    there were.
    """
    cluster = Cluster(nodes=0, controllers="", clock="manual")
    now, counts = cluster.clock.time(), dict.fromkeys(KINDS, 0)
    states = [(now, dict(counts))]
    for kind, name, present, seconds in story:
        bucket = cluster.apiserver.buckets.bucket(KINDS[kind].group_resource)
        there = bucket.get("default", name)
        if (there is not None) == present:
            continue
        now += seconds
        CAUSE.set(Cause(now, "POST", "/", "somebody", "test", None))
        if there is None:
            metadata = {"name": name, "namespace": "default", "uid": f"{kind}-{name}"}
            bucket.create({"kind": kind, "apiVersion": "v1", "metadata": metadata})
        else:
            bucket.delete(there)
        CAUSE.set(None)
        counts[kind] += 1 if present else -1
        states.append((now, dict(counts)))
    return cluster, states


def holds(claim: Any) -> bool:
    """Whether a claim is let pass."""
    try:
        claim()
    except HistoryError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(changes, claims, claims, limits)
def test_verdicts_are_those_of_a_patient_reader(story, first, then, within) -> None:
    """Given any story of objects that come and go, when claims about their numbers are judged, then
    each verdict is the one that looking at every state gives.
    """
    cluster, states = played(story)
    one, two = ([(at, counts[kind] >= least) for at, counts in states] for kind, least in (first, then))

    def is_so(claim):
        return lambda state: len(state.list(KINDS[claim[0]], "default")) >= claim[1]

    begin = states[0][0]
    assert holds(lambda: always(cluster, is_so(first))) == all(true for _, true in one)
    assert holds(lambda: never(cluster, is_so(first))) == (not any(true for _, true in one))
    assert holds(lambda: eventually(cluster, is_so(first), within=within)) == any(
        true for at, true in one if within is None or at <= begin + within)
    came = [index for index, (_, true) in enumerate(one) if true and (not index or not one[index - 1][1])]
    assert holds(lambda: leads_to(cluster, is_so(first), is_so(then), within=within)) == all(
        any(true for at, true in two[index:] if within is None or at <= one[index][0] + within) for index in came)
