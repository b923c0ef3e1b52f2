"""A small scripted shell with files in memory: what a command in a container does when nobody else
answers for it.

No program runs. It knows nothing of pods and kubelets, and is of use by itself. Read ``shell.py``
first, then ``session.py``; ``parser.py`` is the language, ``utilities.py`` the commands,
``files.py`` the files.
"""
