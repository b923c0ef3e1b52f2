"""The words that every other module uses for data.

The server works on plain JSON trees and on bytes; it never builds models.
"""

from collections.abc import Mapping
from typing import Any

Tree = dict[str, Any]
"""A JSON object as ``orjson`` decodes it. Who does not own one does not change it."""

ReadOnlyTree = Mapping[str, Any]
"""A JSON object that is only read: shared, or of another owner."""

Json = Any
"""Any JSON value."""
