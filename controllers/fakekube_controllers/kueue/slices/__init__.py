"""Jobs that change their size while they run: each size above the last is another Workload, a
slice, which takes the place of the one before once it is admitted.

``chains.py`` decides which slices a job has, ``replacement.py`` is what the scheduler asks,
``ungater.py`` lets so many pods run as were granted. Upstream: pkg/workloadslicing,
pkg/controller/elasticjobs.
"""
