"""Rules in CEL that a schema has for its values (``x-kubernetes-validations``).

``compiling`` makes programs of the rules of one node, ``checking`` runs those of a whole schema.
"""
