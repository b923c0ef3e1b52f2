"""What is known of a Workload, and the changes of its status.

Who asks reads ``states.py``; who changes takes a copy of its own and calls ``reservation.py``,
``admissionchecks.py`` or ``requeue.py``; who writes calls ``patching.py``, or
``evict.py`` and ``finish.py``, which call it. ``reasons.py`` has the words, ``info.py`` what a
Workload asks for and uses. Upstream: pkg/workload, pkg/workload/patching, evict and finish.
"""
