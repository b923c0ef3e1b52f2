"""``python -m tests.fuzz.scheduling SECONDS SEED``: random scenarios of nodes, pods and groups,
each played beside upstream's kube-scheduler and with ours, and where what they show differs.

Upstream's is the binary that the variable KUBE_SCHEDULER names, or the first on the PATH, of the
release that a cluster plays by default. Seeds follow one another until the time is over. What
differs is written as one line of JSON for each scenario; a scenario ends with its first difference.
"""

import argparse
import json
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.scheduling.drawing import Draw
from tests.fuzz.scheduling.playing import play

NAMES = re.compile(r"\b[a-z]\d+\b|\b\d+\b")


def run(arguments: argparse.Namespace) -> None:
    """Play scenarios for so many seconds, and print what came of them."""
    end, seed = time.monotonic() + arguments.seconds, arguments.seed
    counts, kinds = Counter[str](), Counter[str]()
    with arguments.out.open("w") as out:
        while time.monotonic() < end or seed == arguments.seed:
            scenario = Draw(seed, arguments.sort).scenario(arguments.steps)
            with tempfile.TemporaryDirectory() as folder:
                found = play(scenario, arguments.scheduler, Path(folder))
                if arguments.log:
                    shutil.copy(Path(folder) / "scheduler.log", arguments.log)
            counts["scenarios"] += 1
            counts["steps"] += len(scenario.steps) if found is None else found.step
            if found is not None:
                counts["differences"] += 1
                kinds[NAMES.sub("_", next(iter(found.parts)))[:120]] += 1
                out.write(json.dumps({"seed": seed, "gates": bool(scenario.gates), **found._asdict()}) + "\n")
                out.flush()
            seed += 1
    for kind, number in kinds.most_common():
        print(f"{number:5}  {kind}")
    print(f"seeds {arguments.seed} to {seed - 1}: {dict(counts)}; see {arguments.out}")


def main() -> None:
    """Read the arguments, and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.scheduling", description=__doc__)
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int)
    parser.add_argument(
        "--sort", default="", choices=("", "pods", "groups"), help="what there is besides nodes; else it is drawn")
    parser.add_argument("--steps", type=int, default=14, help="of each scenario")
    parser.add_argument("--out", type=Path, default=Path(".scheduling.jsonl"))
    parser.add_argument("--log", type=Path, help="keep what upstream's scheduler said last")
    arguments = parser.parse_args()
    arguments.scheduler = os.environ.get("KUBE_SCHEDULER") or shutil.which("kube-scheduler")
    if not arguments.scheduler:
        parser.error("there is no kube-scheduler: set KUBE_SCHEDULER to its path")
    run(arguments)


if __name__ == "__main__":
    main()
