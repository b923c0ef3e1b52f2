"""The stranger's project is run as a stranger would run it, by test_stranger.py; our own run does
not collect it.
"""

collect_ignore = ["project"]
