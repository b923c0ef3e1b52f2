"""The kinds of jobs that Kueue manages, a folder each. ``builtin.py`` lists them."""
