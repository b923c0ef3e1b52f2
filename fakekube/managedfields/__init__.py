"""Who set which field: sets of fields, their algebra, ``metadata.managedFields``, server-side
apply.

Read ``manager.py`` first. Upstream: structured-merge-diff and apimachinery/pkg/util/managedfields.
"""
