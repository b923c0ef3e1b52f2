"""The summaries of a Job's pods, which follow their changes."""

from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import labels
from fakekube.runtime import pods as podstates
from fakekube_controllers.job.podsummaries import PodSummaries
from tests.controllers.world import INDEX, TRACKING

SELECTOR = labels.from_set({"job": "j"})


@st.composite
def pod(draw):
    phase = draw(st.sampled_from(["Pending", "Running", "Succeeded", "Failed"]))
    metadata = {"uid": draw(st.uuids().map(str)), "labels": {"job": draw(st.sampled_from(["j", "other"]))}}
    if draw(st.booleans()):
        metadata["finalizers"] = [TRACKING]
    if draw(st.booleans()):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if draw(st.booleans()):
        metadata["annotations"] = {INDEX: str(draw(st.integers(0, 5)))}
    ready = draw(st.sampled_from(["True", "False"]))
    return {"metadata": metadata, "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}}


def expected(each):
    active, tracked = podstates.is_active(each), TRACKING in each["metadata"].get("finalizers", ())
    index = each["metadata"].get("annotations", {}).get(INDEX)
    return (
        each["metadata"]["labels"]["job"] == "j", active, active and podstates.is_ready(each),
        podstates.is_terminating(each) and not podstates.is_finished(each), tracked, tracked and not active,
        None if index is None else int(index))


@given(st.data())
def test_summaries_are_those_of_the_pods_as_they_are_now(data):
    """Given any pods / when some change, some go and some come, again and again / then the
    summaries are always those that a first look at the pods gives.
    """
    summaries, trees = PodSummaries(SELECTOR), []
    for _ in range(data.draw(st.integers(1, 5))):
        trees = [data.draw(pod()) if data.draw(st.booleans()) else tree for tree in trees if data.draw(st.booleans())]
        trees += data.draw(st.lists(pod(), max_size=4))
        assert summaries.of(trees) == [expected(tree) for tree in trees]


def test_a_pod_that_did_not_change_is_not_summarized_again():
    """Given pods with summaries / when one is another tree now / then only that one is summarized.
    """

    class Recording(PodSummaries):
        def summarize(self, tree):
            summarized.append(tree["metadata"]["uid"])
            return super().summarize(tree)

    summarized = []
    one, two = ({"metadata": {"uid": uid, "labels": {"job": "j"}}, "status": {"phase": "Running"}} for uid in ("one", "two"))
    summaries = Recording(SELECTOR)
    summaries.of([one, two])
    summaries.of([one, {**two, "status": {"phase": "Succeeded"}}])
    assert summarized == ["one", "two", "two"]
