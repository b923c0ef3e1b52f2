"""Why a Workload, a queue or a job waits, and what would let it go on.

``answers.py`` answers; ``queues.py`` says what is wrong with queues, ``room.py`` what quotas and
topologies lack, which ``trial.py`` finds out by running cycles on snapshots.
All is computed when it is asked for, and nothing of it changes what Kueue does. Upstream has
nothing of the kind.
"""
