"""Stories that a cluster plays, told while they happen.

Read ``stage.py`` first; ``joining.py`` and ``groups.py`` help, every other module is one story.
"""
