"""A name for a value: ``cel.bind(d, device.attributes['example.com'], d.a && d.b)``.

Selectors of devices have it. Upstream: cel-go's ext/bindings.go.
"""

from fakekube.cel import macros
from fakekube.cel.libraries import Library


def library() -> Library:
    """The macro."""
    return Library("bindings", macros=macros.BINDINGS)
