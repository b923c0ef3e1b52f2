"""managedfields."""
