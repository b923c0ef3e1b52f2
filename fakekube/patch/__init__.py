"""The three ways to say how an object changes: JSON patch, merge patch, strategic merge patch.

Each module has one function ``apply`` from a tree, which it leaves alone, to another. Read
``merge_patch.py`` first.
Upstream: gopkg.in/evanphx/json-patch and apimachinery/pkg/util/strategicpatch.
"""
