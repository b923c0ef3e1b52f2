"""How fast fakekube is: ``python -m benchmarks`` prints one table. Read ``table.py`` first, then the module of a figure.

Figures depend on the machine; each stands beside a calibration of the same run, so that tables of different machines compare.
"""
