"""Who decides how containers fare: callbacks, annotations, commands, defaults. Read ``outcome.py`` first."""
