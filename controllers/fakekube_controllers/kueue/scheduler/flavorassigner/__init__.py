"""Which flavor each resource of each podset gets, and what stands in the way of it.

Read ``flavorassigner.py`` first: the search. ``assignment.py`` has what it finds, ``granular.py``
what is preferred to what, ``fitting.py`` whether one amount fits, ``podset_reducer.py`` the search
for fewer pods. Upstream: pkg/scheduler/flavorassigner.
"""
