"""Kueue: queues, quotas and priorities for jobs. An add-on, with upstream's kinds, webhooks,
Events, metrics and configuration.

Read ``manager.py`` first: it is the one component, and says what runs in it. ``core`` keeps the
queues and the cache up to date, ``scheduler`` admits Workloads, ``jobframework`` makes Workloads of
jobs, and the folders of ``jobs`` say what each kind of job needs. ``webhooks`` has those of Kueue's
own kinds. Upstream: sigs.k8s.io/kueue v0.19.1; packages have its names.
"""

from fakekube.runtime.addon import AddOn


def addon() -> AddOn:
    """Kueue as an add-on."""
    return AddOn("kueue")
