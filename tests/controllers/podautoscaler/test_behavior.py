"""Policies, stabilization and limits: what becomes of a recommendation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.podautoscaler.behavior import ScaleHistory


def policy(kind, value, period=60):
    return {"type": kind, "value": value, "periodSeconds": period}


def rules(*policies, select="Max", window=0):
    return {"policies": list(policies) or [policy("Percent", 100, 15)], "selectPolicy": select,
            "stabilizationWindowSeconds": window}


def behavior(up=None, down=None):
    return {"scaleUp": up or rules(policy("Pods", 100)), "scaleDown": down or rules()}


def decide(history, spec, current, desired, now, *, least=1, most=100):
    found = history.normalize_with_behavior(spec, current, desired, least, most, now)
    if found.replicas != current:
        history.note_scaled(spec, current, found.replicas, now)
    return found


@pytest.mark.parametrize(("current", "desired", "replicas", "reason"), [
    (1, 10, 4, "ScaleUpLimit"), (3, 10, 6, "ScaleUpLimit"), (40, 200, 80, "ScaleUpLimit"), (60, 200, 100, "TooManyReplicas"),
    (5, 0, 1, "TooFewReplicas"), (5, 3, 3, "DesiredWithinRange"),
])
def test_without_behavior(current, desired, replicas, reason):
    """Given no behavior / then the scale at most doubles, or becomes four, within minimum and
    maximum.
    """
    history = ScaleHistory(desired, 0.0)
    found = history.normalize(current, desired, 1, 100, 1000.0)
    assert (found.replicas, found.limited[0], found.is_limited) == (replicas, reason, reason != "DesiredWithinRange")


def test_the_highest_recommendation_of_five_minutes():
    """Given recommendations that fall / then the highest of the last five minutes counts, and is
    told.
    """
    history = ScaleHistory(8, 0.0)
    asked = ((3, 15.0), (5, 299.0), (2, 300.0), (2, 301.0))
    assert [history.normalize(8, desired, 1, 10, now)[:2] for desired, now in asked] == [
        (8, ("ScaleDownStabilized", (
            "recent recommendations were higher than current one, applying the highest recent recommendation")))] * 3 + [
        (5, ("ScaleDownStabilized", (
            "recent recommendations were higher than current one, applying the highest recent recommendation")))]


def test_windows_of_both_directions():
    """Given a window upwards / then the lowest recommendation in it counts, and ScaleUpStabilized
    is told / given one downwards / then the highest.
    """
    spec = behavior(up=rules(policy("Pods", 100), window=60), down=rules(window=120))
    history = ScaleHistory(5, 0.0)
    assert decide(history, spec, 5, 9, 30.0)[:2] == (5, ("ScaleUpStabilized", (
        "recent recommendations were lower than current one, applying the lowest recent recommendation")))
    assert decide(history, spec, 5, 9, 61.0).replicas == 9
    assert decide(history, spec, 9, 2, 100.0)[:2] == (9, ("ScaleDownStabilized", (
        "recent recommendations were higher than current one, applying the highest recent recommendation")))
    assert decide(history, spec, 9, 2, 200.0).replicas == 2


@pytest.mark.parametrize(("select", "up", "down"), [("Max", 20, 4), ("Min", 13, 7), ("Disabled", 10, 10)])
def test_policies_and_which_of_them_counts(select, up, down):
    """Given policies of pods and of percents / then the one that changes most counts, or the one
    that changes least, or none.
    """
    of_both = rules(policy("Pods", 3), policy("Percent", 100), select=select)
    assert decide(ScaleHistory(10, 0.0), behavior(up=of_both), 10, 50, 100.0).replicas == up
    of_both = rules(policy("Pods", 3), policy("Percent", 60), select=select)
    assert decide(ScaleHistory(1, 0.0), behavior(down=of_both), 10, 1, 100.0).replicas == down


def test_periods():
    """Given at most four pods in a minute / when there should be many more / then four come each
    minute, however often one looks, and ScaleUpLimit is told; pods that went meanwhile may come
    again.
    """
    spec = behavior(up=rules(policy("Pods", 4)))
    history, current, seen = ScaleHistory(1, 0.0), 1, []
    for now in range(15, 135, 15):
        found = decide(history, spec, current, 50, float(now))
        assert found.limited[0] == "ScaleUpLimit"
        current = found.replicas
        seen.append(current)
    assert seen == [5, 5, 5, 5, 9, 9, 9, 9]
    history.note_scaled(spec, 9, 6, 130.0)
    assert decide(history, spec, 6, 50, 134.0).replicas == 9


def test_downwards_in_periods():
    """Given at most a half in a minute / then so many go each minute, down to the minimum, and the
    limits are told.
    """
    spec = behavior(down=rules(policy("Percent", 50)))
    history, current, seen = ScaleHistory(0, 0.0), 16, []
    for now in range(30, 210, 30):
        found = decide(history, spec, current, 1, float(now), least=3)
        current = found.replicas
        seen.append((current, found.limited[0]))
    assert seen == [
        (8, "ScaleDownLimit"), (8, "ScaleDownLimit"), (4, "ScaleDownLimit"), (4, "ScaleDownLimit"), (3, "TooFewReplicas"),
        (3, "TooFewReplicas")]


@given(
    steps=st.lists(st.tuples(st.integers(1, 120), st.integers(0, 200)), min_size=1, max_size=20),
    up=st.tuples(st.integers(1, 20), st.integers(1, 300), st.sampled_from(["Max", "Min", "Disabled"]), st.integers(0, 300)),
    down=st.tuples(st.integers(1, 20), st.integers(1, 100), st.sampled_from(["Max", "Min", "Disabled"]), st.integers(0, 300)))
def test_no_step_leaves_the_rules(steps, up, down):
    """Given any rules and recommendations / then every step stays between what is and what is asked
    for, and within the bounds; a direction that is disabled is never taken.
    """
    spec = behavior(*(
        rules(policy("Pods", pods), policy("Percent", percent), select=select, window=window)
        for pods, percent, select, window in (up, down)))
    history, current, now = ScaleHistory(10, 0.0), 10, 0.0
    for seconds, desired in steps:
        now += seconds
        found = decide(history, spec, current, desired, now, least=1, most=100)
        assert 1 <= found.replicas <= 100
        assert min(current, max(desired, 1)) <= found.replicas <= max(current, desired)
        if found.replicas > current:
            assert up[2] != "Disabled"
        if found.replicas < current:
            assert down[2] != "Disabled"
        current = found.replicas
