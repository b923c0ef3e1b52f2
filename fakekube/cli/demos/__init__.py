"""Stories that a cluster plays, told while they happen.

Read ``stage.py`` first; every other module is one story.
"""
