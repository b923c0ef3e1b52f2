"""How containers run and end: callbacks, annotations, commands, defaults. Read ``outcome.py``
first.
"""
