"""API group policy: `declarations.py` is the table, other modules hold what differs."""
