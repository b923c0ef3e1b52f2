"""What makes the tables of facts about Kubernetes that ship with fakekube.

Read ``releases.py`` first, then ``facts.py``.

A table holds facts only: names, types, numbers and switches. No sentence and no code of upstream's
is taken.
"""
