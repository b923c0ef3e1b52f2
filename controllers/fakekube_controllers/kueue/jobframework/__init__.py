"""What every kind of job has in common: its Workload, its start and stop, its webhook.

``job.GenericJob`` is what a kind of job brings, ``integrations.Integration`` how it is declared;
the entry-point group ``fakekube.kueue.integrations`` has those of users. ``reconciler.py`` is the
order of decisions; read it first. ``ensuring.py`` finds the one Workload of a job, ``stopping.py``
and ``starting.py`` do what they say, ``webhooks.py`` is asked about writes. Upstream:
pkg/controller/jobframework.
"""
