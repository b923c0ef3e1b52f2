"""What an attacher may tell of a volume."""

from typing import Any

import pytest

from fakekube.apis.storage.volumeattachment import STRATEGY

TOO_LONG = "may not be more than 262144 bytes"


@pytest.mark.parametrize(("status", "complaints"), [
    ({"attachError": {"message": "m" * 1024, "errorCode": 0}, "attachmentMetadata": {"k": "v" * (256 * 1024 - 1)}}, []),
    ({"attachError": {"message": "m" * 1025}}, [("status.attachError.message", TOO_LONG)]),
    ({"detachError": {"message": "é" * 513}}, [("status.detachError.message", TOO_LONG)]),
    ({"attachmentMetadata": {"k": "v" * (256 * 1024)}}, [("status.attachmentMetadata", TOO_LONG)]),
    ({"detachError": {"errorCode": -1}}, [("status.detachError.errorCode", "must be between 0 and 2147483647, inclusive")]),
])
def test_what_is_told_of_a_volume_is_bounded(status: dict[str, Any], complaints: list[tuple[str, str]]) -> None:
    """Given a status, when it is written, then messages of up to 1,024 bytes, metadata of up to 256
    KiB and codes that are not negative are taken, and of others the field is told.
    """
    context: Any = None
    found = STRATEGY.validate_status_update({"metadata": {}, "status": status}, {}, context)
    assert [(error.field, error.detail) for error in found] == complaints
