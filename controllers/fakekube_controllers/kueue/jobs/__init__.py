"""The kinds that Kueue has an integration for, a package each; ``builtin.py`` lists them.

Upstream: pkg/controller/jobs.
"""
