"""Traces: the causes of an object's state, back to the first request.

Read ``trace.py`` first: a Trace is data. ``reading.py`` makes one of what a storage retains,
``text.py`` shows it to people, ``chrome.py`` to Perfetto and Chrome, ``otlp.py`` sends it to a
collector. Upstream traces its API server's requests (component-base/tracing), each for itself; what
a request answered to, nothing there knows.
"""
