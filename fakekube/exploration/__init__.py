"""Seeded exploration: a test runs calm first, and then with seeds, each of which decides otherwise
what is free in a real cluster.

Read ``runner`` first. What is free is chosen by ``fakekube.util.choices``. Upstream has no
counterpart; FoundationDB's and TigerBeetle's simulators do this to their own code, and Sieve (OSDI
2022) to operators on a real cluster, in hours.
"""

PROPERTY = "fakekube explored"
"""The property of a report that says what was explored, as JSON; so it passes through xdist."""
