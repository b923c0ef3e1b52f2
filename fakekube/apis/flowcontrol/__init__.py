"""API group flowcontrol.apiserver.k8s.io: `declarations.py` is the table, other modules hold what
differs.
"""
