"""``python -m tests.mutation MUTANTS SEED [PROCESSES] [AREA...]``: do the tests notice a change?

A seeded sample of small changes, as many from every area, each tried in a copy of the checkout with
the tests of its area that execute the changed line. Prints every survivor as a difference, then a
table. Fails when an area kills less than 75 % of its own, or all together less than 88 %.
"""

import difflib
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.areas import Area, areas
from tests.mutation.measures import Measures
from tests.mutation.mutants import Mutant, sample
from tests.mutation.trial import KEPT, Checkout

ROOT = Path(__file__).parents[2]
ALL_PERCENT, AREA_PERCENT = 88, 75
FILES_AT_ONCE = 20
"""Test files that are measured in one process: a run that is broken off keeps what it measured."""


def run(count: int, seed: int, processes: int, tried_areas: list[Area]) -> bool:
    """Try them. Whether enough were killed."""
    with tempfile.TemporaryDirectory(prefix="fakekube-mutation-") as folder, ThreadPoolExecutor(processes) as pool:
        free: SimpleQueue[Checkout] = SimpleQueue()
        measures = Measures(ROOT / KEPT, ROOT)
        for number in range(processes):
            free.put(Checkout(ROOT, Path(folder) / str(number)))
        files = sorted({file for area in tried_areas for file in area.test_files(ROOT)})
        missing = measures.missing(files)
        piles = [missing[start : start + FILES_AT_ONCE] for start in range(0, len(missing), FILES_AT_ONCE)]
        list(pool.map(lambda pile: _measure(pile, free, measures), piles))
        shares = [len(range(number, count, len(tried_areas))) for number in range(len(tried_areas))]
        pairs = zip(tried_areas, shares, strict=True)
        results = list(pool.map(lambda pair: _area(*pair, seed, free, measures), pairs))
    killed, tried = sum(result[0] for result in results), sum(result[1] for result in results)
    enough = [_row(area.name, *result) for area, result in zip(tried_areas, results, strict=True)]
    print(f"seed {seed}: {killed} of {tried} killed, {100 * killed / tried:.1f} %")
    return all(enough) and 100 * killed >= ALL_PERCENT * tried


def _measure(files: list[str], free: "SimpleQueue[Checkout]", measures: Measures) -> None:
    checkout = free.get()
    try:
        measures.complete(files, checkout.measure)
        print(f"measured: {files[0]} to {files[-1]}", flush=True)
    finally:
        free.put(checkout)


def _area(area: Area, count: int, seed: int, free: "SimpleQueue[Checkout]", measures: Measures) -> tuple[int, int, int]:
    """Killed, tried, and drawn ones that change nothing."""
    checkout = free.get()
    try:
        mutants, ignored = sample(area, checkout.root, count, random.Random(f"{seed} {area.name}"))
        files, survivors = area.test_files(checkout.root), 0
        for mutant in mutants:
            code = (checkout.root / mutant.file).read_text()
            tests = measures.tests(str(mutant.file), code, mutant.lines, files)
            if not tests or checkout.survives(mutant, tests):
                survivors += 1
                print(_told(mutant, checkout.root, len(tests)), flush=True)
        print(f"{area.name}: {len(mutants) - survivors} of {len(mutants)}", flush=True)
        return len(mutants) - survivors, len(mutants), ignored
    finally:
        free.put(checkout)


def _told(mutant: Mutant, root: Path, tests: int) -> str:
    before = (root / mutant.file).read_text().splitlines()
    difference = difflib.unified_diff(before, mutant.code.splitlines(), lineterm="", n=1)
    changes = [line for line in difference if not line.startswith(("---", "+++"))]
    return "\n".join([f"survived: {mutant.file}:{mutant.lines[0]} {mutant.operator}, {tests} tests execute it", *changes])


def _row(name: str, killed: int, tried: int, ignored: int) -> bool:
    percent = 100 * killed / tried if tried else 100
    print(f"{name:20} {killed:4} of {tried:4} {percent:5.0f} %   {ignored} change nothing")
    return percent >= AREA_PERCENT


if __name__ == "__main__":
    mutants, seed, *more = sys.argv[1:]
    processes = int(more[0]) if more else 1
    chosen = [area for area in areas(ROOT) if not more[1:] or area.name in more[1:]]
    sys.exit(not run(int(mutants), int(seed), processes, chosen))
