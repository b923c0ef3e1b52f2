"""How fast fakekube is: ``python -m benchmarks`` prints one table.

Read ``table.py`` first, then the module of a figure.

What users meet comes first: requests with bodies that the server never saw (``shapes.py``), whole
lives of workloads, creates over HTTP, pauses. CPU time, because a shared machine gives the wall's
to others. Figures depend on the machine all the same; each stands beside a calibration of the same
moment, so that tables of different machines compare.
"""
