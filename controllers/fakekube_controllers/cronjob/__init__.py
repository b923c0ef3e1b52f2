"""CronJobs: Jobs made from a template, when a schedule says so.

Read ``sync.py``: it is the order of decisions. ``schedule.py`` knows which run is due, ``controller.py`` listens and waits.
Upstream: pkg/controller/cronjob. Left out: metrics.
"""
