"""``python -m tests.fuzz.lives KUBECONFIG SEEDS``: random lives of Jobs, JobSets and
LeaderWorkerSets on a real cluster and on one of ours, and where they part.

Each seed is one life: an object, then steps in which the pods' status is written as a kubelet
would, and specs, pods and what controllers made are changed or deleted. After each step both
clusters come to rest, and what a user can see of the namespace is compared. The cluster needs
upstream's controllers, but no scheduler, no kubelet, and neither ``podgc`` nor those of nodes;
JobSet 0.12.0 and LeaderWorkerSet 0.9.0 run there for ``jobset`` and ``lws``. It is played first, in
real time, many lives at once, and what is seen goes to a file; with ``--again`` that file is played
on ours alone. Ours lets as much virtual time pass in each step. Upstream's controllers race with
each other: a life that differs is played there twice more, and counts if it differs each time.
"""

import argparse
import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fakekube import Cluster
from fakekube.client.kubeconfig import load_client
from fakekube_controllers import jobset, leaderworkerset
from fakekube_controllers.jobset.features import Features
from tests.fuzz.lives import jobs, sets
from tests.fuzz.lives.acting import Actor
from tests.fuzz.lives.seeing import Tree, differences
from tests.fuzz.lives.sides import Ours, Real, Side, Watched, served, watching

DRAWS: dict[str, Callable[[jobs.Draw], list[Tree]]] = {"job": jobs.steps, "jobset": sets.jobset_steps, "lws": sets.lws_steps}
CONTROLLERS = "*,-podgc,-nodelifecycle,-tainteviction,-scheduler,-kubelet"
CONFIRMATIONS = 2
NUMBER = re.compile(r"\[\d+\]")
QUIET = 4.5  # seconds without a change after which a real cluster is at rest: the Job controller waits one


def drawn(kind: str, seed: int) -> list[Tree]:
    """The steps of a life."""
    return DRAWS[kind](jobs.Draw(seed))


async def played(side: Side, steps: list[Tree], now: Callable[[], datetime], seconds: list[float] | None = None) -> list[Tree]:
    """What was seen after each step; ``seconds`` say how long each takes at least.

    After a step that is ``on`` the next one comes at once, and only the answers are seen.
    """
    actor, seen = Actor(side, now), []
    sight = await side.sight()
    for number, step in enumerate(steps):
        side.step = number
        await actor.act(sight, step)
        answers, lasted, shown = list(side.answers), 0.0, Tree()
        side.answers.clear()
        if not step.get("on") or number + 1 == len(steps):
            lasted = await side.settle(seconds[number] if seconds is not None else step.get("seconds", 0.0))
            sight = await side.sight()
            shown = sight.tree()
        seen.append({"seconds": lasted, "answers": answers, **shown})
        if step["do"] == "create" and answers[0][0] >= 300:
            break
    return seen


async def on_real(watched: Watched, life: Tree, run: str) -> Tree:
    """A life on the real cluster, in a namespace of this run."""
    side = Real(watched, f"{life['kind']}-{life['seed']}-{run}", QUIET, hashes=life["kind"] != "lws")
    await side.begin()
    try:
        seen = await played(side, life["steps"], lambda: datetime.now(UTC))
        return {**life, "namespace": side.namespace, "seen": seen}
    finally:
        await side.end()


async def on_ours(life: Tree, options: Tree) -> list[Tree]:
    """The same life on a cluster of ours."""
    own = {name: on for name, on in options["gates"].items() if name in Features._fields}
    gates = {name: on for name, on in options["gates"].items() if name not in own}
    extra = [jobset.addon(**own), leaderworkerset.addon()] if options["addons"] else []
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, feature_gates=gates, extra=extra) as cluster:
        side = Ours(cluster, await served(cluster.client), life["namespace"], hashes=life["kind"] != "lws")
        await side.begin()
        return await played(side, life["steps"], cluster.clock.now, [each["seconds"] for each in life["seen"]])


def parts(real: list[Tree], ours: list[Tree]) -> tuple[int, list[tuple[str, Any, Any]]] | None:
    """The first step after which the two differ, and in what; None when they never do."""
    for number, (one, other) in enumerate(zip(real, ours, strict=False)):
        found = differences({**one, "seconds": 0}, {**other, "seconds": 0})
        if found:
            return number, found
    return None


async def record(arguments: argparse.Namespace, lives: Iterable[Tree]) -> None:
    """Play lives on the real cluster, into the file."""
    waiting = [*lives]
    client, run = load_client(arguments.kubeconfig), f"at{datetime.now(UTC):%H%M%S}"
    with arguments.out.open("a") as out:
        async with watching(client) as watched:
            async def worker(number: int) -> None:
                await asyncio.sleep(number / 4)  # not all webhooks at once
                while waiting:
                    life = await on_real(watched, waiting.pop(0), run)
                    out.write(json.dumps(life) + "\n")
                    out.flush()

            async with asyncio.TaskGroup() as tasks:
                for number in range(arguments.at_once):
                    tasks.create_task(worker(number))
    await client.close()


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


async def compare(arguments: argparse.Namespace) -> list[Tree]:
    """Play what the file has on ours, and print where lives part; those that do.

    One that was played more than once does not, if it was the same once.
    """
    only = [each for each in arguments.only.split(",") if each]
    places, told, lives = dict[Any, str](), dict[Any, list[str]](), dict[Any, Tree]()
    for line in arguments.out.read_text().splitlines():
        life = json.loads(line)
        key = (life["kind"], life["seed"])
        lives[key] = {name: life[name] for name in ("kind", "seed", "steps")}
        if only and f"{key[0]}-{key[1]}" not in only:
            continue
        found = parts(life["seen"], await on_ours(life, _setup(arguments, life)))
        if found is None or (key in told and key not in places):
            places.pop(key, None)
            told[key] = []
        else:
            places[key] = f"{life['kind']} {NUMBER.sub('[]', found[1][0][0])}"
            told[key] = [*_told(life, *found, arguments.show)]
    counts = Counter(f"{kind}: {'other' if (kind, seed) in places else 'same'}" for kind, seed in told)
    print("\n".join([*(line for key in places for line in told[key]), str(dict(sorted(counts.items())))]))
    for where, count in Counter(places.values()).most_common(20):
        print(f"{count:5} {where[:150]}")
    return [lives[key] for key in places]


def _setup(arguments: argparse.Namespace, life: Tree) -> Tree:
    gates = {name: value != "false" for name, _, value in (each.partition("=") for each in arguments.gates.split(",") if each)}
    return {"gates": gates, "addons": life["kind"] != "job" or arguments.with_addons}


def _told(life: Tree, number: int, places: list[tuple[str, Any, Any]], most: int) -> Iterable[str]:
    yield f"{life['kind']}-{life['seed']} step {number}: {json.dumps(life['steps'][number])}"
    for place, real, ours in places[:most]:
        yield f"  {place}\n    real {json.dumps(real)}\n    ours {json.dumps(ours)}"


async def run(arguments: argparse.Namespace) -> None:
    """Play lives on the real cluster, unless the file is to do, and compare; what differs is played
    there again.
    """
    if not arguments.again:
        await record(arguments, [
            {"kind": kind, "seed": seed, "steps": drawn(kind, seed)}
            for seed in _seeds(arguments.seeds) for kind in arguments.kinds.split(",")])
    different = await compare(arguments)
    for _ in range(CONFIRMATIONS if arguments.kubeconfig is not None else 0):
        await record(arguments, different)
        different = await compare(arguments)


def main() -> None:
    """Read the arguments, and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.lives", description=__doc__)
    parser.add_argument("kubeconfig", type=Path, nargs="?", help="of the real cluster")
    parser.add_argument("seeds", nargs="?", default="1-100", help="1-100")
    parser.add_argument("--kinds", default="job", help="of job, jobset and lws those that live")
    parser.add_argument("--gates", default="", help="those of the real cluster, and of its JobSet")
    parser.add_argument("--with-addons", action="store_true", help="JobSet and LeaderWorkerSet run beside Jobs, too")
    parser.add_argument("--at-once", type=int, default=20, help="lives at a time on the real cluster")
    parser.add_argument("--out", type=Path, default=Path(".lives.jsonl"))
    parser.add_argument("--again", action="store_true", help="play what the file has on ours alone")
    parser.add_argument("--only", default="", help="job-17,lws-3")
    parser.add_argument("--show", type=int, default=6, help="so many differences of a life")
    arguments = parser.parse_args()
    logging.getLogger("fakekube").setLevel(logging.CRITICAL)  # controllers tell every write that is refused
    if not arguments.again and arguments.kubeconfig is None:
        parser.error("a kubeconfig, or --again")
    asyncio.run(run(arguments))


if __name__ == "__main__":
    main()
