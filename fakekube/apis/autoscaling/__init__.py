"""API group autoscaling: `declarations.py` is the table, other modules hold what differs."""
