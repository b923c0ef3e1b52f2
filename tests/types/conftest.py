"""The user's project has tests of its own, which run in a process of their own."""

collect_ignore = ["project"]
