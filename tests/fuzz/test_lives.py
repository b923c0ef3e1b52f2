"""The comparison of lives with a real cluster: what it draws, what it sees, and where two lives
part.
"""

import json

import pytest

from tests.fuzz.lives.__main__ import drawn, on_ours, parts
from tests.fuzz.lives.seeing import Sight, differences, plain

SETUP = {"gates": {"workload-aware": True}, "addons": True}


def pod(name: str, uid: str, **status: object) -> dict[str, object]:
    return {"metadata": {"name": name, "generateName": "j-", "uid": uid, "resourceVersion": "7"}, "spec": {}, "status": status}


def event(message: str, count: int = 1) -> dict[str, object]:
    return {
        "metadata": {"name": "e", "uid": message}, "involvedObject": {"kind": "Job", "name": "j"}, "type": "Normal",
        "reason": "SuccessfulCreate", "message": message, "count": count, "source": {"component": "job-controller"}}


def test_what_a_server_draws_is_not_seen() -> None:
    """Given two servers that named and ordered the same pods otherwise, when both are seen, then
    nothing differs; a pod that was written to in another step does.
    """
    path = "api/v1/pods"
    one = Sight({path: [pod("j-bcdfg", "a", phase="Running"), pod("j-24567", "b")]}, {"a": [0], "b": [0]}, hashes=True)
    other = Sight({path: [pod("j-vwxzz", "c"), pod("j-zzzzz", "d", phase="Running")]}, {"c": [0], "d": [0]}, hashes=True)
    later = Sight({path: [pod("j-vwxzz", "c"), pod("j-zzzzz", "d", phase="Running")]}, {"c": [0], "d": [0, 3]}, hashes=True)
    assert differences(one.tree(), other.tree()) == []
    assert differences(one.tree(), later.tree()) == [(".objects.pods[0].steps[]", [], [3])]
    assert [each["metadata"]["uid"] for each in one.ordered["pods"]] == ["a", "b"]


def test_events_are_counted_by_what_they_say() -> None:
    """Given Events of two pods and a repeated one, when they are seen, then there is one entry with
    the sum.
    """
    seen = Sight({"api/v1/events": [event("Created pod: j-bcdfg"), event("Created pod: j-24567", 2)]}, {}, hashes=True).tree()
    [(text, count)] = seen["events"].items()
    assert (json.loads(text)["message"], count) == ("Created pod: j-?", 3)


@pytest.mark.parametrize(("text", "found", "without_hashes"), [
    ("Created PodGroup j-795dd89fd-j-pgt-0 of 2f5c1b0e-0000-4000-8000-00000000000a",
     "Created PodGroup j-795dd89fd-j-pgt-0 of <uid>", "Created PodGroup j-#-j-pgt-0 of <uid>"),
    ("pod j-0-bcdfg at 2026-01-02T03:04:05Z", "pod j-0-? at <time>", "pod j-0-? at <time>"),
    ("pod s-w-0-1-bcdfa", "pod s-w-0-1-bcdfa", "pod s-w-0-1-bcdfa"),
])
def test_what_is_drawn_in_texts(text: str, found: str, without_hashes: str) -> None:
    """Given a text with names, uids and times, when it is read, then what a server draws is gone,
    and hashes of uids where the kind has such.
    """
    assert (plain(text, hashes=False), plain(text, hashes=True)) == (found, without_hashes)


def test_lists_of_another_length_tell_what_only_one_has() -> None:
    """Given lists, when they are compared, then types count, and of longer ones the rest is told.
    """
    assert differences({"a": [1, 2, 2]}, {"a": [2, 3]}) == [(".a[]", [1, 2], [3])]
    assert differences({"a": [1]}, {"a": [True]}) == [(".a[0]", 1, True)]
    assert differences({"a": 1}, {}) == [(".a", 1, "(absent)")]


@pytest.mark.parametrize(("kind", "seed"), [("job", 6), ("jobset", 4), ("lws", 6)])
async def test_a_life_is_the_same_again(kind: str, seed: int) -> None:
    """Given a seed, when its life is played twice, then it is the same life with the same sights;
    and one that ends otherwise parts at that step.
    """
    steps = drawn(kind, seed)
    assert steps == drawn(kind, seed)
    life = {"kind": kind, "seed": seed, "namespace": f"{kind}-{seed}", "steps": steps, "seen": [{"seconds": 3.0} for _ in steps]}
    one, other = await on_ours(life, SETUP), await on_ours(life, SETUP)
    assert parts(one, other) is None
    assert len(one) == len(steps)
    assert one[-1]["objects"][f"{kind}s" if kind != "lws" else "leaderworkersets"]
    other[-1]["answers"].append([404, ""])
    assert parts(one, other) == (len(steps) - 1, [(".answers[]", [], [[404, ""]])])
