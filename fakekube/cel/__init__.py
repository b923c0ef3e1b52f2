"""CEL, the Common Expression Language, as Kubernetes speaks it; usable by itself.

``Environment(variables={"self": type}).compile(text).evaluate({"self": value})`` takes and gives
Python values: trees as they come from JSON. Read ``environment`` first, then ``types`` and
``values``. A text goes through ``lexer``, ``parser`` with ``macros`` (``grammar`` and ``recovery``
say what is wrong with it), ``checker`` with ``assignability``, and ``planner``, which makes
closures of ``operators``, ``calls`` and ``folds``. ``decltypes`` makes types of schemas,
``estimate`` says before what an expression may cost. ``functions`` and ``libraries`` are what an
environment can be given; ``standard`` is always there.

Upstream: github.com/google/cel-go. Left out: protobuf messages, unknown values, partial evaluation.
"""
