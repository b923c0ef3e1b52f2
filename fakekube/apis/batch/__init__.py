"""API group batch: `declarations.py` is the table, other modules hold what differs."""
