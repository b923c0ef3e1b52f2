"""Custom resources: what a CustomResourceDefinition makes the server serve.

Read ``kinds.py`` first: it makes Kinds of a definition, so that custom objects take the road of all
others. ``serving.py`` follows the definitions in storage: it accepts their names, installs and
removes their kinds. ``strategy.py`` has the rules of custom objects. Upstream:
apiextensions-apiserver. Nothing here is imported before the first definition is written.
"""
