"""The core group: `declarations.py` is the table, other modules hold what differs."""
