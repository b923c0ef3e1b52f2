"""JSON that somebody keeps."""

from typing import Any

import orjson


def encode_to_keep(value: Any, option: int = 0) -> bytes:
    """JSON in as many bytes as it has.

    The encoder's own result holds a buffer that is up to several times as large.

    Raises TypeError for what JSON cannot hold.
    """
    return bytes(memoryview(orjson.dumps(value, option=option)))
