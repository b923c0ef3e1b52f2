"""A ``Configuration`` of Kueue as somebody wrote it, read into what ``configuration`` holds.

``model.py`` has the fields of both versions, ``validation.py`` upstream's complaints,
``reading.py`` the defaults and what becomes of it. Imported only where a configuration is given.
"""
