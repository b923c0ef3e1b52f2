"""Answers why a pod or a group is not scheduled, and what would let it be.

Loaded when somebody asks. Read ``answers.py`` first.
"""
