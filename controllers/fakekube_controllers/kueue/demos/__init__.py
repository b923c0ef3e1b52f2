"""What ``fakekube demo`` tells of Kueue: ``queue``, ``borrow``, ``elastic``, ``pod-group`` and
``multikueue``.

``scenery.py`` has what they share: queues, Jobs, and the rows of the table.
"""
