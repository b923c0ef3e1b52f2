"""API group apps: `declarations.py` is the table, other modules hold what differs."""
