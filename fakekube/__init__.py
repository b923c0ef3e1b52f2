"""An in-memory fake Kubernetes: one Python process that real clients cannot tell from a cluster.

Names resolve on first use, so that ``import fakekube.util`` (or the pytest plugin) loads nothing
else. Read ``fakekube/composition/cluster.py`` first, then ``registry/store.py``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster as Cluster

__all__ = ["Cluster", "__version__"]

__version__ = "0.1.0"

_LAZY = {"Cluster": "fakekube.composition.cluster"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'fakekube' has no attribute {name!r}")
