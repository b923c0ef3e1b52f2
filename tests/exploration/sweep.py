"""``python -m tests.exploration.sweep FILE [PLAY ...]``: the project's own controllers under all
strategies, each with a thousand seeds, on all cores.

Some plays take a tenth of a second and some a whole one, and there are thousands of plans of each.
So a sweep is cut in slices: FILE gets a line of JSON for each that was played, and another call
plays only those that it does not have. Slow tests do the same, one strategy at a time.
"""

import asyncio
import json
import logging
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from fakekube.exploration.campaign import by_strategies
from fakekube.exploration.crashes import calm_of_play, play_plans
from fakekube.exploration.strategies import STRATEGIES, deviations_of
from fakekube.util.collector import collected_by_run
from tests.exploration.plays.catalog import PLAYS
from tests.exploration.plays.known import unknown
from tests.exploration.plays.play import MANY_SEEDS

SLICE, BETWEEN_COLLECTIONS = 48, 8
NICENESS = 10
BY_NAME = {play.name: play for play in PLAYS}


def _begin():
    """Of a process: in the way of nobody, and silent about what goes wrong on purpose."""
    os.nice(NICENESS)
    logging.disable(logging.ERROR)


async def _plans(play, target, strategies):
    """How the calm run ends, and by strategy the plans of all seeds, each once."""
    end, calm = await calm_of_play(play.story, target, play.options)
    return end, {strategy: [*{
        deviations_of(plan): plan for _, plan in by_strategies([strategy], MANY_SEEDS)(calm) if plan}.values()]
        for strategy in strategies}


def slices_of(name, target):
    """The slices of a play and a component: each a strategy, and the number of its first plan."""
    _, plans = asyncio.run(_plans(BY_NAME[name], target, STRATEGIES))
    return [(name, target, strategy, start) for strategy, found in plans.items() for start in range(0, len(found), SLICE)]


def played(name, target, strategy, start):
    """A slice: what ended otherwise than the calm run, without what is known to."""

    async def differing():
        play, found = BY_NAME[name], []
        end, plans = await _plans(play, target, [strategy])
        mine = plans[strategy][start:start + SLICE]
        with collected_by_run() as collect:
            for first in range(0, len(mine), BETWEEN_COLLECTIONS):
                points = await play_plans(play.story, end, mine[first:first + BETWEEN_COLLECTIONS], play.options)
                found += unknown(points, play, [strategy])
                collect()
        return found

    return asyncio.run(differing())


def main(path, names):
    """Play what the file does not have yet. Returns whether nothing was found by all that it has.
    """
    if strange := [name for name in names if name not in BY_NAME]:
        sys.exit(f"there is no {', '.join(strange)}: there are {', '.join(BY_NAME)}")
    file = Path(path)
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {tuple(line["slice"]) for line in lines}
    pairs = [(play.name, target) for play in PLAYS if not names or play.name in names for target in play.components]
    with ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=_begin) as pool:
        slices = [each for found in pool.map(slices_of, *zip(*pairs, strict=True)) for each in found]
        left = sorted((each for each in slices if each not in done), key=lambda each: each[-1])
        futures = {pool.submit(played, *each): each for each in left}
        for number, future in enumerate(as_completed(futures), len(slices) - len(left) + 1):
            lines.append({"slice": futures[future], "found": future.result()})
            with file.open("a") as output:
                output.write(json.dumps(lines[-1]) + "\n")
            print(f"{number} of {len(slices)}:", *lines[-1]["slice"], *(lines[-1]["found"] or ["as undisturbed"]), flush=True)
    return not any(line["found"] for line in lines)


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1], sys.argv[2:]))
