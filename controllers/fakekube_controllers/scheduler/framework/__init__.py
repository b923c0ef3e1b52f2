"""The vocabulary that plugins and the scheduler share. Read ``interface.py`` first."""
