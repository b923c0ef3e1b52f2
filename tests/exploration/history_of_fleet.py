"""Prints a digest of everything that happened in a fleet with a seed, to the byte: ``python -m
tests.exploration.history_of_fleet 1:17``.
"""

import asyncio
import hashlib
import sys

from tests.exploration.plays import multikueue
from tests.exploration.plays.play import stage_of


async def digest(schedule):
    """Of the event logs of all members; and how many deviations there were."""
    made = hashlib.sha256()
    async with stage_of(multikueue.PLAYS[0], schedule) as fleet:
        await multikueue.PLAYS[0].story(fleet)
        for cluster in fleet.values():
            for bucket in cluster.apiserver.storage.buckets:
                for event in bucket.history():
                    made.update(repr((event.revision, str(bucket.resource), event.type, event.record.data, event.cause)).encode())
        choices = fleet.driver.transit.choices
        made.update("\n".join(map(str, choices.deviations)).encode())
        return made.hexdigest(), len(choices.deviations)


if __name__ == "__main__":
    print(*asyncio.run(digest(sys.argv[1])))
