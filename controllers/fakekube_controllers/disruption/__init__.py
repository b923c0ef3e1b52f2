"""How many pods a PodDisruptionBudget lets go. Read ``controller.py``; ``expected.py`` knows how many there should be.

Upstream: pkg/controller/disruption.
"""
