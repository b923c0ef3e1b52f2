"""What each strategy plans for some seeds, for an operator that can die and for one outside.

``python -m tests.exploration.planned.plans`` writes it down again, for review.
"""

from collections.abc import Iterator
from pathlib import Path

import orjson

from fakekube.apiserver.filters import LogEntry
from fakekube.exploration.strategies import STRATEGIES, Calm, Target, crash_points_of, plan_of

FILE = Path(__file__).parent / "plans.txt"
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 30, 31, 45, 46, 100, 201)


def calm(component: str) -> Calm:
    """An operator that watches three resources, one of them in one namespace, and writes."""
    asked = [
        ("", "watch", "", "pods", "", ""), ("", "watch", "batch", "jobs", "", "a"), ("", "watch", "", "events", "", ""),
        ("", "watch", "", "secrets", "", ""), ("", "list", "", "pods", "", ""),
        ("user", "create", "batch", "jobs", "", "a"), ("", "create", "", "pods", "", "a"), ("user", "update", "", "pods",
            "status", "a"),
        ("", "update", "batch", "jobs", "status", "a"), ("user", "create", "batch", "jobs", "", "b"),
        ("", "create", "", "events", "", "a"), ("", "get", "", "pods", "", "a"), ("user", "delete", "", "pods", "", "a"),
        ("", "patch", "batch", "jobs", "", "a"), ("", "update", "batch", "jobs", "", "a"), ("", "deletecollection", "", "pods",
            "", "a")]
    requests = []
    for number, (who, verb, group, resource, subresource, namespace) in enumerate(asked):
        code = 409 if number == 14 else 403 if resource == "secrets" else 200
        requests.append(LogEntry(
            number * 1.5, verb, f"/{number}", group, resource, subresource, namespace, f"n{number}", "somebody",
                who or "web-operator",
            code, 0.0, conditional=verb == "update", dry_run=number == 13))
    own = tuple(entry for entry in requests if entry.user_agent == "web-operator")
    return Calm(Target("web", ("web-operator",), ("u",), component, ("m",) if component else ()), tuple(requests), own)


def lines() -> Iterator[str]:
    """A line for each fault."""
    for component in ("web", ""):
        run = calm(component)
        yield f"# {'an operator that can die' if component else 'one outside'}"
        yield f"writes {[(write.number, write.place) for write in run.writes]}, events {run.events}"
        yield f"watched { {name: sorted(spaces) for name, spaces in run.watched.items()} }"
        for strategy in STRATEGIES:
            for seed in SEEDS:
                for rule in plan_of(strategy, run, seed):
                    text = orjson.dumps(rule.model_dump(mode="json", by_alias=True, exclude_defaults=True)).decode()
                    yield f"{strategy} {seed}: {text}"
    for moment in ("after", "before"):
        for (rule,) in crash_points_of(calm("web"), moment):
            yield f"crash {rule.model_dump_json(by_alias=True, exclude_defaults=True)}"


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n")
