"""What a custom object may hold: reading it by its schema, defaults, and all that can be wrong.

Pure functions over schemas; ``strategy.py`` and ``reading.py`` one level up put them in the order
of a write. Read ``violations`` first: it says in words what ``acceptors`` says quickly.
"""
