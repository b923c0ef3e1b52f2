"""How fast and how far: stabilization, policies and limits, and what is remembered for them.

Upstream: pkg/controller/podautoscaler/horizontal.go (stabilizeRecommendation,
convertDesiredReplicas and their fellows). As there, memory does not outlive the process.
"""

import math
from typing import Any, NamedTuple

DOWNSCALE_STABILIZATION_SECONDS = 300.0  # --horizontal-pod-autoscaler-downscale-stabilization
UP_FACTOR, UP_LEAST = 2.0, 4.0
WITHIN_RANGE = ("DesiredWithinRange", "the desired count is within the acceptable range")
UP_LIMIT = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
DOWN_LIMIT = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
TOO_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
READY = ("ReadyForNewScale", "recommended size matches current size")
UP_STABILIZED = (
    "ScaleUpStabilized", "recent recommendations were lower than current one, applying the lowest recent recommendation")
DOWN_STABILIZED = (
    "ScaleDownStabilized", "recent recommendations were higher than current one, applying the highest recent recommendation")

ReasonAndMessage = tuple[str, str]
"""A condition's reason and message."""
Rules = dict[str, Any]


class Timestamped(NamedTuple):
    """A number at a time (Unix seconds): a recommendation, or by how much the scale was changed."""

    number: int
    time: float


class Normalized(NamedTuple):
    """What becomes of a recommendation, and what the conditions AbleToScale and ScalingLimited say
    of it.
    """

    replicas: int
    able: ReasonAndMessage
    limited: ReasonAndMessage
    is_limited: bool


class ScaleHistory:
    """What is remembered of one autoscaler."""

    def __init__(self, current: int, now: float) -> None:
        self.recommendations = [Timestamped(current, now)]
        self.ups: list[Timestamped] = []
        self.downs: list[Timestamped] = []

    def note_scaled(self, behavior: Rules, before: int, after: int, now: float) -> None:
        """Remember a change, for as long as the longest period of its policies."""
        events, rules = (self.ups, behavior["scaleUp"]) if after > before else (self.downs, behavior["scaleDown"])
        longest = max((policy["periodSeconds"] for policy in rules.get("policies") or ()), default=0)
        events[:] = [event for event in events if event.time >= now - longest] + [Timestamped(abs(after - before), now)]

    def normalize(self, current: int, desired: int, least: int, most: int, now: float) -> Normalized:
        """Without ``spec.behavior``."""
        since = now - DOWNSCALE_STABILIZATION_SECONDS
        kept = [each for each in self.recommendations if each.time >= since]
        stable = max([desired, *(each.number for each in kept)])
        self.recommendations = [*kept, Timestamped(desired, now)]
        able = READY if stable == desired else DOWN_STABILIZED
        limit = int(max(UP_FACTOR * current, UP_LEAST))
        highest, too_many = (limit, UP_LIMIT) if most > limit else (most, TOO_MANY)
        if stable < least:
            return Normalized(least, able, TOO_FEW, is_limited=True)
        if stable > highest:
            return Normalized(highest, able, too_many, is_limited=True)
        return Normalized(stable, able, WITHIN_RANGE, is_limited=False)

    def normalize_with_behavior(
        self, behavior: Rules, current: int, desired: int, least: int, most: int, now: float,
    ) -> Normalized:
        """With ``spec.behavior``, both directions of which are given."""
        up, down = behavior["scaleUp"], behavior["scaleDown"]
        stable = self._stabilized(up, down, current, desired, now)
        able = READY if stable == desired else UP_STABILIZED if desired >= current else DOWN_STABILIZED
        replicas, words = self._limited(up, down, current, stable, least, most, now)
        return Normalized(replicas, able, words, is_limited=replicas != stable)

    def _stabilized(self, up: Rules, down: Rules, current: int, desired: int, now: float) -> int:
        window = down.get("stabilizationWindowSeconds")
        up_since = now - (up.get("stabilizationWindowSeconds") or 0)
        down_since = now - (DOWNSCALE_STABILIZATION_SECONDS if window is None else window)
        lowest = min([desired, *(each.number for each in self.recommendations if each.time > up_since)])
        highest = max([desired, *(each.number for each in self.recommendations if each.time > down_since)])
        oldest = min(up_since, down_since)
        self.recommendations = [*(each for each in self.recommendations if each.time >= oldest), Timestamped(desired, now)]
        return min(max(current, lowest), highest)

    def _limited(
        self, up: Rules, down: Rules, current: int, desired: int, least: int, most: int, now: float,
    ) -> tuple[int, ReasonAndMessage]:
        if desired > current:
            limit = max(self._limit(up, current, now, upwards=True), current)
            highest, words = (limit, UP_LIMIT) if most > limit else (most, TOO_MANY)
            if desired > highest:
                return highest, words
        elif desired < current:
            limit = min(self._limit(down, current, now, upwards=False), current)
            lowest, words = (limit, DOWN_LIMIT) if least < limit else (least, TOO_FEW)
            if desired < lowest:
                return lowest, words
        return desired, WITHIN_RANGE

    def _limit(self, rules: Rules, current: int, now: float, *, upwards: bool) -> int:
        """How far policies let the scale go now."""
        select = rules.get("selectPolicy")
        if select == "Disabled":
            return current
        proposed = [self._proposed(policy, current, now, upwards=upwards) for policy in rules.get("policies") or ()]
        return max(proposed) if (select == "Min") != upwards else min(proposed)

    def _proposed(self, policy: Rules, current: int, now: float, *, upwards: bool) -> int:
        since, value = now - policy["periodSeconds"], policy["value"]
        start = current - _sum(self.ups, since) + _sum(self.downs, since)
        if policy["type"] == "Pods":
            return int(start + value if upwards else start - value)
        return math.ceil(start * (1 + value / 100)) if upwards else int(start * (1 - value / 100))


def _sum(events: list[Timestamped], since: float) -> int:
    return sum(event.number for event in events if event.time > since)
