"""``python -m tests.fuzz REQUESTS SEED``: blown requests against one server, and what they came to.

Fails when one broke it.

Prints the seed, how many were sent, those that broke a promise (a panic above all), those that cost
more CPU time than their bytes allow, and answers of 500 and above by the first words of what they
say: upstream too has some, for patches that do not fit and versions of the future.
"""

import logging
import sys
from collections import Counter
from typing import Any

from tests.fuzz.blowing import Blower, Spent, spend
from tests.fuzz.conftest import Target
from tests.fuzz.customs import CustomBlower, prepare

EVERY = 20_000
EVERY_CUSTOM = 5
"""One request of so many is about custom resources, admission or identity; every other one of them
by a user who may do little.
"""
FRESH_EVERY = 50_000
"""After so many requests the server is a new one: its log of requests grows."""


def run(requests: int, seed: int) -> int:
    """Send them. How many were not as they should be."""
    blower, target, limited_target = Blower(seed), _prepared(), _prepared(authorization_mode="RBAC")
    customs, limited = CustomBlower(seed), CustomBlower(seed + 1, {"impersonate-user": "limited"})
    failures: Counter[str] = Counter()
    bad: list[Spent] = []
    total_bytes, total_seconds = 0, 0.0
    for number in range(1, requests + 1):
        if number % (2 * EVERY_CUSTOM) == 0:
            spent = spend(limited_target, limited.next())
        else:
            spent = spend(target, (blower if number % EVERY_CUSTOM else customs).next())
        if spent.status >= 500:
            failures[f"{spent.status} {spent.words}"] += 1
        total_bytes, total_seconds = total_bytes + spent.sent.size, total_seconds + spent.cpu_seconds
        if spent.why or spent.over_budget:
            bad.append(spent)
            print(_line(number, spent), flush=True)
        if number % FRESH_EVERY == 0:
            target.loop.close()
            limited_target.loop.close()
            target, limited_target = _prepared(), _prepared(authorization_mode="RBAC")
        if number % EVERY == 0:
            print(f"{number} requests", flush=True)
    broken = sum(bool(spent.why) for spent in bad)
    print(f"seed {seed}: {requests} requests of {total_bytes} bytes in {total_seconds:.0f} s of CPU time")
    for words, count in sorted(failures.items()):
        print(f"answered {words}: {count} times")
    print(f"broken promises: {broken}; over budget: {len(bad) - broken}")
    return len(bad)


def _prepared(**options: Any) -> Target:
    """A server with definitions, a policy and a role."""
    target = Target(**options)
    prepare(target)
    return target


def _line(number: int, spent: Spent) -> str:
    sent = spent.sent
    what = f"{sent.method} {sent.path[:80]} {sent.media[:40]} {dict(list(sent.query.items())[:2])!s:.120} {sent.body[:120]!r}"
    return f"request {number}: {spent.status}, {sent.size} bytes, {spent.cpu_seconds:.3f} s: {what} {spent.why}"


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    sys.exit(run(int(sys.argv[1]), int(sys.argv[2])) > 0)
