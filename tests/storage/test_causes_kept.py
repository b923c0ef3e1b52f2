"""What a controller was at work on is kept with each change, whatever its key is."""

import pytest

from fakekube.apimachinery.causes import CAUSE, Acting, Cause
from fakekube.storage.memory import Bucket
from tests.storage.pods import pod


@pytest.mark.parametrize("key", [("ns", "a"), ("a",), (), ("a", "b", "c"), "text", 5, None])
def test_any_key_comes_back(bucket: Bucket, key: object) -> None:
    """Given a write on account of a key / when the history is read / then it has that key."""
    cause = Cause(1.0, "PUT", "/", "u", "agent", Acting("job", key, "7"), "late")
    token = CAUSE.set(cause)
    bucket.create(pod("a"))
    CAUSE.reset(token)
    assert [event.cause for event in bucket.history()] == [cause]
