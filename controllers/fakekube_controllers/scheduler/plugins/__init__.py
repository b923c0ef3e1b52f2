"""The plugins, one idea a file.

``registry.py`` is the only wiring; ``node_name.py`` is the smallest to copy.
"""
